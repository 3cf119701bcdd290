#include "formats/read_buffer.h"

#include "base/json/json.h"
#include "base/memory.h"

#include <assert.h>

enum {
    CHUNK = 256 << 10,     /* bytes asked for at a time: they stay in the L2 cache until parsed */
    LARGEST_KEPT = 4 << 20 /* a buffer that a long record made larger is not kept for the next */
};

void gf_read_buffer_begin(gf_read_buffer *w, gf_read_buffer_source *read, void *context)
{
    if (w->capacity > LARGEST_KEPT) gf_read_buffer_release(w);
    w->start = w->end = 0;
    w->at_end = false;
    w->read = read;
    w->context = context;
}

void gf_read_buffer_release(gf_read_buffer *w)
{
    gf_free(w->ptr);
    w->ptr = NULL;
    w->capacity = w->start = w->end = 0;
}

static gf_status grow_buffer(gf_read_buffer *w, gf_error *err)
{
    size_t capacity = w->capacity ? w->capacity * 2 : CHUNK + CHUNK / 4;
    char *grown = gf_realloc(w->ptr, capacity, 1);
    if (!grown) return gf_fail_memory(err, "an input buffer");
    w->ptr = grown;
    w->capacity = capacity;
    return GF_OK;
}

static size_t free_bytes(const gf_read_buffer *w)
{
    return w->capacity ? w->capacity - GF_JSON_PADDING - w->end : 0;
}

/*
 * Room for a read that is worth it. Moving costs at most as many bytes as were used since the last
 * move, and growing doubles, so that the cost per byte stays constant.
 */
static gf_status make_room(gf_read_buffer *w, gf_error *err)
{
    if (w->start == w->end) w->start = w->end = 0;
    if (free_bytes(w) >= CHUNK / 4) return GF_OK;
    if (w->start < w->capacity / 2 || w->capacity == 0) return grow_buffer(w, err);
    memmove(w->ptr, w->ptr + w->start, w->end - w->start);
    w->end -= w->start;
    w->start = 0;
    return GF_OK;
}

gf_status gf_read_buffer_more(gf_read_buffer *w, gf_error *err)
{
    if (w->at_end) return GF_OK;
    gf_status st = make_room(w, err);
    if (st != GF_OK) return st;
    size_t n = free_bytes(w) < CHUNK ? free_bytes(w) : CHUNK, got = 0;
    st = w->read(w->context, w->ptr + w->end, n, &got, err);
    if (st != GF_OK) return st;
    assert(got <= n);
    w->end += got;
    w->at_end = got == 0;
    return GF_OK;
}

gf_status gf_read_buffer_peek(gf_read_buffer *w, size_t n, gf_slice *bytes, gf_error *err)
{
    while (w->end - w->start < n && !w->at_end) {
        gf_status st = gf_read_buffer_more(w, err);
        if (st != GF_OK) return st;
    }
    *bytes = gf_read_buffer_unread(w);
    return GF_OK;
}

gf_status gf_read_buffer_skip(gf_read_buffer *w, const char *set, uint64_t *lines, gf_error *err)
{
    size_t n_set = strlen(set);
    for (;;) {
        while (w->start < w->end && memchr(set, w->ptr[w->start], n_set))
            *lines += w->ptr[w->start++] == '\n';
        if (w->start < w->end || w->at_end) return GF_OK;
        gf_status st = gf_read_buffer_more(w, err);
        if (st != GF_OK) return st;
    }
}

gf_status gf_read_buffer_skip_mark(gf_read_buffer *w, gf_error *err)
{
    gf_slice start;
    gf_status st = gf_read_buffer_peek(w, 3, &start, err);
    if (st == GF_OK && gf_slice_starts(start, GF_SLICE("\xEF\xBB\xBF")))
        gf_read_buffer_consume(w, 3);
    return st;
}

gf_status gf_read_buffer_record(gf_read_buffer *w, gf_record_scanner *scan, void *state,
                                gf_record_bounds bounds, gf_record_span *span, gf_error *err)
{
    size_t scanned = 0; /* of the unread bytes */
    bool too_long = false, done = false;
    for (;;) {
        size_t n = w->end - w->start - scanned;
        if (n) scanned += scan(state, w->ptr + w->start + scanned, n, &done);
        too_long = too_long || scanned > bounds.most;
        if (done || w->at_end) break;
        if (too_long) {
            w->end = w->start + bounds.kept;
            scanned = bounds.kept;
        }
        gf_status st = gf_read_buffer_more(w, err);
        if (st != GF_OK) return st;
    }
    if (scanned == 0) return GF_ENOTFOUND;
    size_t held = too_long && scanned > bounds.kept ? bounds.kept : scanned;
    *span = (gf_record_span){gf_slice_of(w->ptr + w->start, held), too_long};
    gf_read_buffer_consume(w, scanned);
    return GF_OK;
}

size_t gf_read_buffer_scan_line(void *state, const char *bytes, size_t n, bool *done)
{
    (void)state;
    const char *end = memchr(bytes, '\n', n);
    *done = end != NULL;
    return end ? (size_t)(end - bytes) + 1 : n;
}

gf_slice gf_read_buffer_without_line_end(gf_slice line)
{
    if (line.len && line.ptr[line.len - 1] == '\n') line.len--;
    if (line.len && line.ptr[line.len - 1] == '\r') line.len--;
    return line;
}
