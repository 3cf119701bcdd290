/**
 * Numbers as text: read and written the same whatever locale the program has set.
 *
 * A whole text is read, never the start of one; signs, spaces and separators are no digits.
 */
#ifndef GF_BASE_NUMBER_H
#define GF_BASE_NUMBER_H

#include "grouperfish/slice.h"

#include <stdint.h>

/** A whole number in base 10, 1 to 20 digits; false for anything else, and past 2^64 - 1. */
bool gf_number_read(gf_slice text, uint64_t *v);

/** A whole number of 64 bits in base 10, with a minus before it or without; false for others. */
bool gf_number_read_signed(gf_slice text, int64_t *v);

/** Take the digits off the start of the text, at most `most` of them; false where there is none. */
bool gf_number_take(gf_slice *text, size_t most, uint64_t *v);

/** A finite number with a point and an exponent at most: -1.5e3; false for anything else. */
bool gf_number_read_decimal(gf_slice text, double *v);

typedef struct gf_number_digits {
    char text[24];
} gf_number_digits;

/** The number in base 10, borrowed from *digits. */
gf_slice gf_number_write(gf_number_digits *digits, uint64_t v);

#endif
