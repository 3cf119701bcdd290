/*
 * Format of `kept`, a list of entries:
 *
 *     'S' or 'F', string   a stream of that name; F where it was found in a folder
 *     'B', string          bytes of it; none: its end
 */
#include "cli/rewind.h"

#include <string.h>

enum { MOST_KEPT = 4 << 20, CHECK_MS = 100 };

void gf_rewind_init(gf_rewind *r, gf_input from, FILE *out, const gf_cancel *cancel)
{
    *r = (gf_rewind){.from = from, .out = out, .cancel = cancel, .keeps = true};
}

void gf_rewind_release(gf_rewind *r)
{
    gf_buffer_release(&r->kept);
    gf_buffer_release(&r->name);
}

bool gf_rewind_can(const gf_rewind *r)
{
    return !r->too_much;
}

void gf_rewind_start(gf_rewind *r)
{
    r->at = r->given = 0;
}

void gf_rewind_end(gf_rewind *r)
{
    r->keeps = false;
}

static void keep_entry(gf_rewind *r, char kind, gf_slice bytes)
{
    if (!r->keeps) return;
    gf_buffer_byte(&r->kept, kind);
    gf_buffer_string(&r->kept, bytes);
    if (r->kept.state == GF_OK && r->kept.len <= MOST_KEPT) {
        r->at = r->kept.len;
        return;
    }
    gf_buffer_release(&r->kept);
    r->at = 0;
    r->keeps = false;
    r->too_much = true;
}

/* The entry at r->at, and where the next begins. */
static bool entry_at(const gf_rewind *r, char *kind, gf_slice *bytes, size_t *next)
{
    gf_slice rest = gf_slice_skip(gf_buffer_view(&r->kept), r->at);
    if (rest.len == 0) return false;
    *kind = rest.ptr[0];
    rest = gf_slice_skip(rest, 1);
    if (!gf_slice_take_string(&rest, bytes)) return false;
    *next = r->kept.len - rest.len;
    return true;
}

static void give_from(gf_rewind *r, size_t entry)
{
    r->at = entry;
    r->given = 0;
}

static gf_status give_name(gf_rewind *r, gf_slice kept, gf_slice *name, gf_error *err)
{
    gf_buffer_reset(&r->name); /* kept moves when it grows */
    gf_buffer_slice(&r->name, kept);
    *name = gf_buffer_view(&r->name);
    return gf_buffer_check(&r->name, err);
}

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    gf_rewind *r = context;
    gf_slice bytes;
    char kind;
    size_t behind;
    while (entry_at(r, &kind, &bytes, &behind)) {
        give_from(r, behind);
        if (kind == 'B') continue;
        r->in_folder = kind == 'F';
        return give_name(r, bytes, name, err);
    }
    gf_status st = r->from.next(r->from.context, name, err);
    if (st != GF_OK) return st;
    r->in_folder = r->from.in_folder && r->from.in_folder(r->from.context);
    keep_entry(r, r->in_folder ? 'F' : 'S', *name);
    return GF_OK;
}

/* True where a read would still wait; output is flushed then, since it may wait for long. */
static bool wait_for_bytes(const gf_rewind *r, unsigned milliseconds)
{
    if (!r->from.waits || !r->from.waits(r->from.context, milliseconds)) return false;
    if (r->out) fflush(r->out);
    return true;
}

static gf_status read_stream(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_rewind *r = context;
    gf_slice bytes;
    char kind;
    size_t behind;
    if (entry_at(r, &kind, &bytes, &behind)) {
        bytes = gf_slice_skip(bytes, r->given);
        *got = bytes.len < n ? bytes.len : n;
        if (*got) memcpy(to, bytes.ptr, *got);
        r->given += *got;
        if (*got == bytes.len) give_from(r, behind);
        return GF_OK;
    }
    gf_status st;
    do {
        st = gf_cancel_check(r->cancel, err);
        if (st != GF_OK) return st;
    } while (wait_for_bytes(r, CHECK_MS));
    st = r->from.read(r->from.context, to, n, got, err);
    if (st == GF_OK) keep_entry(r, 'B', gf_slice_of(to, *got));
    return st;
}

static bool is_in_folder(void *context)
{
    return ((gf_rewind *)context)->in_folder;
}

static bool stream_waits(void *context, unsigned milliseconds)
{
    const gf_rewind *r = context;
    gf_slice bytes;
    char kind;
    size_t behind;
    if (entry_at(r, &kind, &bytes, &behind)) return false;
    return wait_for_bytes(r, milliseconds);
}

gf_input gf_rewind_input(gf_rewind *r)
{
    return (gf_input){.context = r,
                      .next = next_stream,
                      .read = read_stream,
                      .in_folder = is_in_folder,
                      .waits = stream_waits};
}
