/**
 * A window on a byte stream: the bytes that were read and not yet used lie in one piece.
 *
 *     ptr          start                end              capacity
 *     | used ......| unread ............| free ... | padding |
 *
 * Bytes are read straight into it, records are parsed where they lie, and only the part of a record
 * that the end of a read cut off is ever moved. Behind `end` there are always GF_JSON_PADDING
 * allocated bytes. Each call that may read (all but consume) invalidates pointers into the window.
 *
 * Memory: a record is held up to the bounds that gf_window_record is given; of a longer one the
 * start is kept and the rest is dropped as it comes.
 */
#ifndef GF_FORMATS_WINDOW_INTERNAL_H
#define GF_FORMATS_WINDOW_INTERNAL_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

typedef gf_status gf_window_read(void *context, char *to, size_t n, size_t *got, gf_error *err);

typedef struct gf_window {
    char *ptr; /* capacity bytes */
    size_t capacity;
    size_t start, end; /* unread: start..end-1 */
    bool at_end;       /* the stream has no bytes behind `end` */
    gf_window_read *read;
    void *context;
} gf_window;

/** Set to {0}; begin before the first read. */
void gf_window_begin(gf_window *w, gf_window_read *read, void *context);
void gf_window_release(gf_window *w);

static inline gf_slice gf_window_unread(const gf_window *w)
{
    return gf_slice_of(w->ptr ? w->ptr + w->start : "", w->end - w->start);
}

static inline void gf_window_consume(gf_window *w, size_t n)
{
    w->start += n;
}

/** Read once: the unread part grows, or at_end becomes true. */
gf_status gf_window_more(gf_window *w, gf_error *err);

/** Read until n bytes are unread or the stream ends; *bytes is all that is unread then. */
gf_status gf_window_peek(gf_window *w, size_t n, gf_slice *bytes, gf_error *err);

/** Consume the bytes in front that are of `set`, and add the line feeds among them to *lines. */
gf_status gf_window_skip(gf_window *w, const char *set, uint64_t *lines, gf_error *err);

/** Consume the UTF-8 byte order mark that the stream begins with, if any. */
gf_status gf_window_skip_mark(gf_window *w, gf_error *err);

/** How much of a record is held: a record longer than `most` is too long, and `kept` stay of it. */
typedef struct gf_bounds {
    size_t most, kept; /* kept <= most */
} gf_bounds;

typedef struct gf_span {
    gf_slice raw; /* the record's bytes; of one that is too long the first `kept` */
    bool too_long;
} gf_span;

/**
 * Finds a record's end. It is given the record's bytes one after another in pieces of any size, and
 * returns how many of these n belong to the record; *done where the record ends there.
 */
typedef size_t gf_scanner(void *state, const char *bytes, size_t n, bool *done);

/**
 * Take the next record. What is there when the stream ends is a record, too.
 * @return GF_OK; GF_ENOTFOUND where nothing is left; the read's failure; GF_ENOMEM
 */
gf_status gf_window_record(gf_window *w, gf_scanner *scan, void *state, gf_bounds bounds,
                           gf_span *span, gf_error *err);

/** A scanner for lines (the line feed belongs to the record); state is not used. */
gf_scanner gf_scan_line;

/** A record of lines without its line end (LF or CR LF). */
gf_slice gf_without_line_end(gf_slice line);

#endif
