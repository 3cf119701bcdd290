/**
 * The source of bytes: a pull stream of named byte streams, implemented by each transport (the
 * command's list of files, the body of a request).
 *
 *     next -> "a.jsonl"   read, read, ... -> 0 bytes
 *     next -> "b.zip"     read, read, ... -> 0 bytes
 *     next -> GF_ENOTFOUND
 */
#ifndef GF_FORMATS_BYTES_INPUT_H
#define GF_FORMATS_BYTES_INPUT_H

#include "grouperfish/cancel.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdbool.h>
#include <stdint.h>

/** The bounds of whatever reads an input. Set to {0} for the usual ones. */
typedef struct gf_input_bounds {
    const gf_cancel *cancel; /* looked at for each piece that is read or unpacked; may be NULL */
    unsigned layers;         /* of compression around one another that are unpacked; 0: 1 */
    uint64_t max_unpacked;   /* most bytes out of one stream; 0: gf_input_check_unpacked says */

    /* Set by the reader. */
    bool damaged; /* a GF_ECORRUPT is about the input's bytes: an archive is cut or damaged */
} gf_input_bounds;

typedef struct gf_input {
    void *context; /* handed to each call */

    /**
     * Go to the next byte stream, also where the current one has not been read to its end.
     * @param[out] name  as messages shall give it; borrowed until the next call of next
     * @return GF_OK; GF_ENOTFOUND at the end; any other status ends the import
     */
    gf_status (*next)(void *context, gf_slice *name, gf_error *err);

    /** Put up to n (at least 1) bytes at `to`; *got is 0 only at the end of the current stream. */
    gf_status (*read)(void *context, char *to, size_t n, size_t *got, gf_error *err);

    /**
     * Whether the current stream was found in a folder, so that a name without a known suffix means a
     * text. May be NULL: then none was.
     */
    bool (*in_folder)(void *context);

    /**
     * Whether nothing has come for so many milliseconds, or until a signal, so that a read would
     * still wait. May be NULL: then it is not known.
     */
    bool (*waits)(void *context, unsigned milliseconds);

    /**
     * Whether whoever gave the bytes has gone, so that nobody waits for what becomes of them. May
     * be NULL: then they are waited for.
     */
    bool (*gone)(void *context);

    /** Borrowed as long as the input; NULL: the usual ones, and nothing can be cancelled. */
    gf_input_bounds *bounds;
} gf_input;

/** GF_ECANCELLED where a stop was requested, or whoever gave the bytes has gone. */
gf_status gf_input_check(const gf_input *input, gf_error *err);

/** Check, and read a piece. */
gf_status gf_input_read(const gf_input *input, char *to, size_t n, size_t *got, gf_error *err);

/** Layers of compression that are unpacked: 1 at least. */
unsigned gf_input_layers(const gf_input *input);

/**
 * Check how much came out of a stream of which `packed` bytes were read: a thousand times as much
 * and 64 MiB, or what the bounds say. GF_ELIMIT names the stream, and how more is allowed.
 */
gf_status gf_input_check_unpacked(const gf_input *input, gf_slice name, uint64_t packed,
                                  uint64_t unpacked, gf_error *err);

/** Note that the input's bytes are at fault, and pass the status on. */
gf_status gf_input_damaged(const gf_input *input, gf_status status);

#endif
