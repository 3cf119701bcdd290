/**
 * A byte stream with a buffer: the bytes that were read and not yet used lie in one piece.
 *
 *     ptr          start                end              capacity
 *     | used ......| unread ............| free ... | padding |
 *
 * Bytes are read straight into it, records are parsed where they lie, and only the part of a record
 * that the end of a read cut off is ever moved. Behind `end` there are always GF_JSON_PADDING
 * allocated bytes. Each call that may read (all but consume) invalidates pointers into the buffer.
 *
 * Memory: a record is held up to the bounds that gf_read_buffer_record is given; of a longer one the
 * start is kept and the rest is dropped as it comes.
 */
#ifndef GF_FORMATS_READ_BUFFER_H
#define GF_FORMATS_READ_BUFFER_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

typedef gf_status gf_read_buffer_source(void *context, char *to, size_t n, size_t *got,
                                        gf_error *err);

typedef struct gf_read_buffer {
    char *ptr; /* capacity bytes */
    size_t capacity;
    size_t start, end; /* unread: start..end-1 */
    bool at_end;       /* the stream has no bytes behind `end` */
    gf_read_buffer_source *read;
    void *context;
} gf_read_buffer;

/** Set to {0}; begin before the first read. */
void gf_read_buffer_begin(gf_read_buffer *w, gf_read_buffer_source *read, void *context);
void gf_read_buffer_release(gf_read_buffer *w);

static inline gf_slice gf_read_buffer_unread(const gf_read_buffer *w)
{
    return gf_slice_of(w->ptr ? w->ptr + w->start : "", w->end - w->start);
}

static inline void gf_read_buffer_consume(gf_read_buffer *w, size_t n)
{
    w->start += n;
}

/** Read once: the unread part grows, or at_end becomes true. */
gf_status gf_read_buffer_more(gf_read_buffer *w, gf_error *err);

/** Read until n bytes are unread or the stream ends; *bytes is all that is unread then. */
gf_status gf_read_buffer_peek(gf_read_buffer *w, size_t n, gf_slice *bytes, gf_error *err);

/** Consume the bytes in front that are of `set`, and add the line feeds among them to *lines. */
gf_status gf_read_buffer_skip(gf_read_buffer *w, const char *set, uint64_t *lines, gf_error *err);

/** Consume the UTF-8 byte order mark that the stream begins with, if any. */
gf_status gf_read_buffer_skip_mark(gf_read_buffer *w, gf_error *err);

/** Bytes of a record: one of more than `most` is too long, and its first `kept` stay. */
typedef struct gf_record_bounds {
    size_t most, kept; /* kept <= most */
} gf_record_bounds;

typedef struct gf_record_span {
    gf_slice raw; /* the record's bytes; of one that is too long the first `kept` */
    bool too_long;
} gf_record_span;

/**
 * Finds a record's end. It is given the record's bytes one after another in pieces of any size, and
 * returns how many of these n belong to the record; *done where the record ends there.
 */
typedef size_t gf_record_scanner(void *state, const char *bytes, size_t n, bool *done);

/**
 * Take the next record. Bytes left at the end of the stream are a record, too.
 * @return GF_OK; GF_ENOTFOUND where nothing is left; the read's failure; GF_ENOMEM
 */
gf_status gf_read_buffer_record(gf_read_buffer *w, gf_record_scanner *scan, void *state,
                                gf_record_bounds bounds, gf_record_span *span, gf_error *err);

/** A scanner for lines (the line feed belongs to the record); state is not used. */
gf_record_scanner gf_read_buffer_scan_line;

/** A record of lines without its line end (LF or CR LF). */
gf_slice gf_read_buffer_without_line_end(gf_slice line);

#endif
