#include "formats/sources/source_internal.h"

#include "base/hex.h"
#include "base/json/writer.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <xxhash.h>

enum { STEP_MS = 100 };

gf_slice gf_source_name(const gf_source *s)
{
    return gf_buffer_view(&s->name);
}

gf_status gf_source_set_name(gf_source *s, const char *kind, const gf_slice *strings, size_t n,
                             gf_error *err)
{
    gf_buffer all = {0};
    for (size_t i = 0; i < n; i++)
        gf_buffer_string(&all, strings[i]); /* with its length: "a", "bc" is not "ab", "c" */
    XXH128_hash_t h = XXH3_128bits(all.ptr ? all.ptr : "", all.len);
    gf_buffer_format(&s->name, "%s-%016llx%016llx", kind, (unsigned long long)h.high64,
                     (unsigned long long)h.low64);
    gf_status st = gf_buffer_check(&all, err);
    gf_buffer_release(&all);
    return st == GF_OK ? gf_buffer_check(&s->name, err) : st;
}

gf_status gf_source_set_place(gf_source *s, gf_slice place, gf_error *err)
{
    gf_buffer_reset(&s->place);
    gf_buffer_slice(&s->place, place);
    gf_status st = gf_buffer_check(&s->place, err);
    return st == GF_OK ? s->kind->take_place(s, err) : st;
}

void gf_source_put_place(gf_source *s, gf_slice place)
{
    gf_json_writer w = gf_json_writer_to(&s->lines);
    gf_json_begin(&w, '{');
    gf_json_put_string(&w, "$place", place);
    gf_json_end(&w, '}');
    gf_buffer_byte(&s->lines, '\n');
}

void gf_source_close(gf_source *s)
{
    if (!s) return;
    s->kind->close(s);
    gf_buffer_release(&s->name);
    gf_buffer_release(&s->shown);
    gf_buffer_release(&s->place);
    gf_buffer_release(&s->lines);
    gf_free(s);
}

/* ---- waiting --------------------------------------------------------------------------------- */

gf_status gf_source_wait(const gf_source *s, int file, bool writes, bool *is_ready, gf_error *err)
{
    struct pollfd p = {.fd = file, .events = (short)(POLLIN | (writes ? POLLOUT : 0))};
    gf_status st = gf_cancel_check(s->cancel, err);
    int n = st == GF_OK ? poll(&p, 1, STEP_MS) : 0;
    if (n < 0 && errno != EINTR) st = gf_fail_errno(err, "cannot wait for %s", s->shown.ptr);
    *is_ready = n > 0;
    return st == GF_OK ? gf_cancel_check(s->cancel, err) : st;
}

/* ---- the input ------------------------------------------------------------------------------- */

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    gf_source *s = context;
    if (s->has_begun) return GF_ENOTFOUND;
    s->has_begun = true;
    gf_status st = s->kind->begin(s, err);
    if (st == GF_OK) *name = gf_buffer_view(&s->shown);
    return st;
}

static gf_status read_lines(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_source *s = context;
    while (s->given == s->lines.len && !s->at_end) {
        gf_buffer_reset(&s->lines);
        s->given = 0;
        gf_status st = s->kind->more(s, err);
        if (st == GF_OK) st = gf_buffer_check(&s->lines, err);
        if (st != GF_OK) return st;
    }
    *got = s->lines.len - s->given;
    if (*got > n) *got = n;
    if (*got) memcpy(to, s->lines.ptr + s->given, *got);
    s->given += *got;
    return GF_OK;
}

gf_input gf_source_input(gf_source *s)
{
    return (gf_input){.context = s, .next = next_stream, .read = read_lines};
}
