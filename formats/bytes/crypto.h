/** The functions of OpenSSL's libcrypto, which is loaded when it is needed: see base/library.h. */
#ifndef GF_FORMATS_BYTES_CRYPTO_H
#define GF_FORMATS_BYTES_CRYPTO_H

#include "base/library.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

/* clang-format off */
#define GF_CRYPTO_FUNCTIONS(F) \
    F(EVP_Digest) \
    F(EVP_md5) \
    F(EVP_sha1) \
    F(EVP_sha256) \
    F(HMAC)
/* clang-format on */
GF_LIBRARY_DECLARE(gf_crypto, GF_CRYPTO_FUNCTIONS)

#define EVP_Digest gf_crypto_functions.EVP_Digest
#define EVP_md5    gf_crypto_functions.EVP_md5
#define EVP_sha1   gf_crypto_functions.EVP_sha1
#define EVP_sha256 gf_crypto_functions.EVP_sha256
#define HMAC       gf_crypto_functions.HMAC

#endif
