/* A stream's window, as an input that is read from. */
#include "formats/unpacked.h"

#include "base/memory.h"
#include "formats/stream_internal.h"

#include <string.h>

struct gf_unpacked {
    gf_stream *stream;
};

static gf_status next(void *context, gf_slice *name, gf_error *err)
{
    gf_unpacked *u = context;
    gf_status st = gf_stream_next(u->stream, err);
    if (st == GF_OK) *name = gf_stream_name(u->stream);
    return st;
}

static gf_status read_some(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_unpacked *u = context;
    gf_window *w = gf_stream_window(u->stream);
    gf_slice bytes;
    gf_status st = gf_window_peek(w, 1, &bytes, err);
    if (st != GF_OK) return st;
    bytes = gf_window_unread(w);
    *got = bytes.len < n ? bytes.len : n;
    if (*got) memcpy(to, bytes.ptr, *got);
    gf_window_consume(w, *got);
    return GF_OK;
}

gf_status gf_unpacked_open(const gf_input *packed, gf_unpacked **unpacked, gf_input *out,
                           gf_error *err)
{
    gf_unpacked *u = gf_calloc(1, sizeof *u);
    if (!u) return gf_fail_memory(err, "an input");
    gf_status st = gf_stream_open(packed, &u->stream, err);
    if (st != GF_OK) {
        gf_free(u);
        return st;
    }
    *unpacked = u;
    *out = (gf_input){.context = u, .next = next, .read = read_some};
    return GF_OK;
}

void gf_unpacked_close(gf_unpacked *unpacked)
{
    if (!unpacked) return;
    gf_stream_close(unpacked->stream);
    gf_free(unpacked);
}
