#include "formats/bytes/sign.h"

#include "base/hex.h"
#include "formats/bytes/crypto.h"

gf_status gf_sign_bytes(gf_slice secret, gf_slice bytes, gf_buffer *out, gf_error *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    gf_status st = gf_library_load(&gf_crypto, err);
    if (st != GF_OK) return st;
    if (!HMAC(EVP_sha256(), secret.ptr, (int)secret.len, (const unsigned char *)bytes.ptr,
              bytes.len, digest, &n))
        return gf_fail(err, GF_EIO, "libcrypto gives no HMAC");
    gf_hex_append(out, gf_slice_of((const char *)digest, n));
    return gf_buffer_check(out, err);
}
