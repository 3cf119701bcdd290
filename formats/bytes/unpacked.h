/**
 * From the transport's byte streams to the byte streams that hold records or texts: decompresses,
 * and walks the members of archives. See unpacked.c.
 */
#ifndef GF_FORMATS_BYTES_UNPACKED_H
#define GF_FORMATS_BYTES_UNPACKED_H

#include "formats/bytes/input.h"
#include "formats/read_buffer.h"

typedef struct gf_unpacked gf_unpacked;

/** The input is copied, its context is borrowed until close. */
gf_status gf_unpacked_open(const gf_input *input, gf_unpacked **stream, gf_error *err);
void gf_unpacked_close(gf_unpacked *stream);

/**
 * Go to the next file, or member of an archive. An archive without members is one empty stream.
 * @return GF_OK; GF_ENOTFOUND at the end; GF_ECORRUPT (a damaged archive, named, with what
 *         libarchive said); the input's failure; GF_ENOMEM
 */
gf_status gf_unpacked_next(gf_unpacked *stream, gf_error *err);

/** The input, for its bounds; borrowed. */
const gf_input *gf_unpacked_input(const gf_unpacked *stream);

/** The bytes of the current stream. Reading it may fail as gf_unpacked_next does. */
gf_read_buffer *gf_unpacked_buffer(gf_unpacked *stream);

/** "data.zip/notes/a.txt": valid UTF-8, borrowed until the next call of gf_unpacked_next. */
gf_slice gf_unpacked_name(const gf_unpacked *stream);

/** "notes/a.txt": its path inside the folder or archive that was handed in; likewise. */
gf_slice gf_unpacked_path(const gf_unpacked *stream);

/** Is the current stream a member of a folder or an archive? */
bool gf_unpacked_is_member(const gf_unpacked *stream);

#endif
