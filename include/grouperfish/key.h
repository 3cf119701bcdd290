/**
 * Row keys: tuples whose byte order is their own order, and which delimit themselves.
 *
 *     string part   its bytes, each 00 written as 00 FF, then the terminator 00 01
 *     integer part  8 bytes, big-endian, unsigned
 *     fixed part    its bytes as they are; the schema knows how many
 *
 * The terminator sorts below every content byte (content 00 becomes 00 FF), so ("a") sorts before
 * ("a\0") and ("ab"), and no string can imitate the end of its part: ("a/b", "c") and ("a", "b/c")
 * differ, and the keys that start with the parts of ("ck") are none of ("ck2").
 */
#ifndef GF_GROUPERFISH_KEY_H
#define GF_GROUPERFISH_KEY_H

#include "grouperfish/buffer.h"
#include "grouperfish/export.h"

#include <stdint.h>

GF_PUBLIC_BEGIN

/* Append one part; failures stay in the buffer (gf_buffer_check). */
void gf_key_string(gf_buffer *key, gf_slice part);
void gf_key_u64(gf_buffer *key, uint64_t part);

/** The start of a string part without its terminator: prefix of all strings that start with it. */
void gf_key_string_start(gf_buffer *key, gf_slice start);

/**
 * Take the first part off *key. A string is appended to *part (decoded); *key then starts at the
 * next part. False, with *key unchanged, where the bytes are no such part.
 */
bool gf_key_take_string(gf_slice *key, gf_buffer *part);
bool gf_key_take_u64(gf_slice *key, uint64_t *part);

/** Bytes of the string part that key starts with, its terminator included; 0 where there is none.
 */
size_t gf_key_string_length(gf_slice key);

/**
 * Append the lowest byte string above all that start with prefix; false (nothing appended) where
 * there is none, as for the empty prefix.
 */
bool gf_key_after_prefix(gf_slice prefix, gf_buffer *out);

GF_PUBLIC_END

#endif
