/**
 * SHA-1 digests: of bytes, and as text in hexadecimal digits or base32.
 */
#ifndef GF_FORMATS_BYTES_SHA1_H
#define GF_FORMATS_BYTES_SHA1_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

enum { GF_SHA1_BYTES = 20, GF_SHA1_BASE32 = 32, GF_SHA1_HEX = 40 };

typedef struct gf_sha1 {
    char bytes[GF_SHA1_BYTES];
} gf_sha1;

typedef struct gf_sha1_text {
    char text[GF_SHA1_HEX + 1]; /* ends in NUL */
} gf_sha1_text;

/** Read 40 hexadecimal digits or 32 of base32, either with "sha1:" before it, in either case. */
bool gf_sha1_parse(gf_slice text, gf_sha1 *sha1);

/** The digest that a file's name begins with: all up to its first dot, without folders. */
bool gf_sha1_of_name(gf_slice path, gf_sha1 *sha1);

/** Write as upper-case base32 (RFC 4648), or as lower-case hexadecimal digits. */
gf_sha1_text gf_sha1_base32(const gf_sha1 *sha1);
gf_sha1_text gf_sha1_hex(const gf_sha1 *sha1);

/** The digest of bytes; GF_EIO where libcrypto has none. */
gf_status gf_sha1_of(gf_slice bytes, gf_sha1 *sha1, gf_error *err);

#endif
