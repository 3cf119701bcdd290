/**
 * From a stream's bytes, in whatever encoding, to UTF-8, between what was unpacked and what is parsed.
 *
 *     gf_unpacked -> gf_decoding -> parser
 *
 * A stream that is UTF-8 goes through as it is; see decoding.c for what else is done.
 *
 * Memory: GF_DECODING_WINDOW bytes twice, and 16 of them each while an encoding is recognised.
 * Threads: a decoding is for one thread.
 */
#ifndef GF_FORMATS_BYTES_DECODING_H
#define GF_FORMATS_BYTES_DECODING_H

#include "formats/read_buffer.h"

typedef struct gf_decoding gf_decoding;

/** Bytes that an encoding is recognised by. */
enum { GF_DECODING_WINDOW = 64 << 10 };

typedef struct gf_decoding_options {
    gf_slice encoding; /* of all streams; empty: UTF-8, or what their bytes say */
    bool as_it_is;     /* without `encoding` convert UTF-16 and UTF-32 alone */

    /* A stream is read in another encoding than UTF-8: told once, before its records. May be NULL. */
    void (*converted)(void *context, gf_slice source, const char *encoding, bool was_said);
    void *context;
} gf_decoding_options;

/** @return GF_OK; GF_EINVAL (an encoding that is not known); GF_ENOMEM */
gf_status gf_decoding_create(const gf_decoding_options *options, gf_decoding **decoding,
                             gf_error *err);
void gf_decoding_free(gf_decoding *decoding);

/**
 * Have the buffer, of whose stream nothing was parsed yet, filled through the decoding from now on.
 * Filling it may then fail with GF_EINVAL: the encoding is not clear.
 *
 * @param name  of the stream; borrowed until the next begin
 */
gf_status gf_decoding_begin(gf_decoding *decoding, gf_read_buffer *buffer, gf_slice name,
                            gf_error *err);

/** The reason of a failure, where it is that the current stream's encoding is not clear; else NULL. */
const char *gf_decoding_unclear(const gf_decoding *decoding);

/** Characters that a conversion replaced by U+FFFD since it was last asked. */
uint64_t gf_decoding_take_replaced(gf_decoding *decoding);

#endif
