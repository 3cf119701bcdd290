/**
 * Bytes as hexadecimal digits: two a byte, the upper half first.
 */
#ifndef GF_BASE_HEX_H
#define GF_BASE_HEX_H

#include "grouperfish/buffer.h"

/** The value of a digit in either case, 0 to 15; -1 where it is none. */
int gf_hex_digit(char c);

/** Append the bytes to out as lower-case digits. */
void gf_hex_append(gf_buffer *out, gf_slice bytes);

/** Append the bytes that the digits stand for; false, with out unchanged, for other text. */
bool gf_hex_read(gf_slice digits, gf_buffer *out);

#endif
