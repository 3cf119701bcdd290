/**
 * The encoding of a text: what its bytes say, by ICU's detector and by a look at the characters that
 * they would be.
 *
 * Threads: any; nothing is shared.
 */
#ifndef GF_FORMATS_BYTES_ENCODING_H
#define GF_FORMATS_BYTES_ENCODING_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

/** An encoding as ICU calls it: "windows-1252". */
typedef struct gf_encoding {
    char name[64];
} gf_encoding;

/** Whether `said` is a name, or another name, of an encoding that ICU knows: "latin1", "CP1252". */
bool gf_encoding_named(gf_slice said, gf_encoding *encoding);

bool gf_encoding_is_utf8(const gf_encoding *encoding);

/** Counts of a piece of text, taken as UTF-8. */
typedef struct gf_encoding_counts {
    uint64_t characters; /* all, ill-formed ones included */
    uint64_t wide;       /* well-formed, of two bytes and more */
    uint64_t bad;        /* ill-formed sequences */
} gf_encoding_counts;

void gf_encoding_count(gf_slice bytes, gf_encoding_counts *counts);

/** UTF-16 or UTF-32 by a byte order mark. */
bool gf_encoding_of_mark(gf_slice start, gf_encoding *encoding);

/**
 * Recognise the encoding of bytes that are not UTF-8.
 *
 * @param bytes     a decent sample: some words at least, cut at a line end if it can be
 * @param at_start  whether they are the first of their stream, so that they may be UTF-16
 * @param[out] encoding  the best guess where *clear is false; its name is empty where there is none
 * @return GF_OK; GF_EIO (ICU cannot be loaded); GF_ENOMEM
 * Cost: some 0.2 microseconds a byte, and 16 bytes of memory a byte.
 */
gf_status gf_encoding_recognise(gf_slice bytes, bool at_start, gf_encoding *encoding, bool *clear,
                                gf_error *err);

/** Whether these bytes can be of that encoding: of 1,000 characters at most one is none. */
gf_status gf_encoding_fits(const gf_encoding *encoding, gf_slice bytes, bool *fits, gf_error *err);

#endif
