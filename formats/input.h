/**
 * The source of bytes: a pull stream of named byte streams, implemented by each transport (the
 * command's list of files, the body of a request).
 *
 *     next -> "a.jsonl"   read, read, ... -> 0 bytes
 *     next -> "b.zip"     read, read, ... -> 0 bytes
 *     next -> GF_ENOTFOUND
 */
#ifndef GF_FORMATS_INPUT_H
#define GF_FORMATS_INPUT_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

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
} gf_input;

#endif
