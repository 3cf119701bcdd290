#include "formats/bytes/sha1.h"

#include "base/hex.h"
#include "formats/bytes/crypto.h"

#include <strings.h>

GF_LIBRARY_DEFINE(gf_crypto, GF_LIBCRYPTO, GF_CRYPTO_FUNCTIONS)

static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/* The value of a digit in either case; -1 where it is none. */
static int digit_of(char c, int bits)
{
    if (bits == 4) return gf_hex_digit(c);
    if (c >= '2' && c <= '7') return c - '2' + 26;
    c = (char)(c | 0x20); /* lower case */
    return c >= 'a' && c <= 'z' ? c - 'a' : -1;
}

/* Digits of `bits` bits each into bytes; both lengths are without a rest, so none is left over. */
static bool read_digits(gf_slice text, int bits, gf_sha1 *sha1)
{
    uint32_t held = 0;
    int n_held = 0;
    size_t at = 0;
    gf_sha1 read;
    for (size_t i = 0; i < text.len; i++) {
        int digit = digit_of(text.ptr[i], bits);
        if (digit < 0) return false;
        held = held << bits | (uint32_t)digit;
        n_held += bits;
        if (n_held < 8) continue;
        n_held -= 8;
        read.bytes[at++] = (char)(held >> n_held);
    }
    *sha1 = read;
    return true;
}

bool gf_sha1_parse(gf_slice text, gf_sha1 *sha1)
{
    if (text.len > 5 && strncasecmp(text.ptr, "sha1:", 5) == 0) text = gf_slice_skip(text, 5);
    if (text.len == GF_SHA1_HEX) return read_digits(text, 4, sha1);
    return text.len == GF_SHA1_BASE32 && read_digits(text, 5, sha1);
}

bool gf_sha1_of_name(gf_slice path, gf_sha1 *sha1)
{
    size_t from = path.len, n = 0;
    while (from > 0 && path.ptr[from - 1] != '/')
        from--;
    path = gf_slice_skip(path, from);
    while (n < path.len && path.ptr[n] != '.')
        n++;
    return gf_sha1_parse(gf_slice_of(path.ptr, n), sha1);
}

static gf_sha1_text write_digits(const gf_sha1 *sha1, const char *digits, int bits)
{
    gf_sha1_text t = {""};
    uint32_t held = 0;
    int n_held = 0;
    size_t at = 0;
    for (size_t i = 0; i < GF_SHA1_BYTES; i++) {
        held = held << 8 | (unsigned char)sha1->bytes[i];
        for (n_held += 8; n_held >= bits;) {
            n_held -= bits;
            t.text[at++] = digits[held >> n_held & ((1u << bits) - 1)];
        }
    }
    return t;
}

gf_sha1_text gf_sha1_base32(const gf_sha1 *sha1)
{
    return write_digits(sha1, base32, 5);
}

gf_sha1_text gf_sha1_hex(const gf_sha1 *sha1)
{
    return write_digits(sha1, "0123456789abcdef", 4);
}

gf_status gf_sha1_of(gf_slice bytes, gf_sha1 *sha1, gf_error *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    gf_status st = gf_library_load(&gf_crypto, err);
    if (st != GF_OK) return st;
    if (!EVP_Digest(bytes.ptr ? bytes.ptr : "", bytes.len, digest, &n, EVP_sha1(), NULL) ||
        n != GF_SHA1_BYTES)
        return gf_fail(err, GF_EIO, "libcrypto gives no SHA-1");
    memcpy(sha1->bytes, digest, GF_SHA1_BYTES);
    return GF_OK;
}
