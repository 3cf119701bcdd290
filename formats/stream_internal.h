/**
 * From the transport's byte streams to the byte streams that hold records or texts: decompresses,
 * and walks the members of archives. See stream.c.
 */
#ifndef GF_FORMATS_STREAM_INTERNAL_H
#define GF_FORMATS_STREAM_INTERNAL_H

#include "formats/input.h"
#include "formats/window_internal.h"

typedef struct gf_stream gf_stream;

/** The input is copied, its context is borrowed until close. */
gf_status gf_stream_open(const gf_input *input, gf_stream **stream, gf_error *err);
void gf_stream_close(gf_stream *stream);

/**
 * Go to the next file, or member of an archive. An archive without members is one empty stream.
 * @return GF_OK; GF_ENOTFOUND at the end; GF_ECORRUPT (a damaged archive, named, with what
 *         libarchive said); the input's failure; GF_ENOMEM
 */
gf_status gf_stream_next(gf_stream *stream, gf_error *err);

/** The current stream's bytes. Reading it may fail as gf_stream_next does. */
gf_window *gf_stream_window(gf_stream *stream);

/** "data.zip/notes/a.txt": valid UTF-8, borrowed until the next call of gf_stream_next. */
gf_slice gf_stream_name(const gf_stream *stream);

/** "notes/a.txt": what names it inside the folder or archive that was handed in; likewise. */
gf_slice gf_stream_path(const gf_stream *stream);

/** Whether it was found in a folder or an archive. */
bool gf_stream_is_member(const gf_stream *stream);

#endif
