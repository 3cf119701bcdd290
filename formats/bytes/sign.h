/** Signatures with a shared secret: HMAC-SHA256 (RFC 2104), by libcrypto. */
#ifndef GF_FORMATS_BYTES_SIGN_H
#define GF_FORMATS_BYTES_SIGN_H

#include "grouperfish/buffer.h"

/** Append the signature of bytes as 64 hexadecimal digits; GF_EIO where libcrypto has none. */
gf_status gf_sign_bytes(gf_slice secret, gf_slice bytes, gf_buffer *out, gf_error *err);

#endif
