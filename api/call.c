/* Arguments in, rows out. */
#include "api/call_internal.h"

#include "base/clock.h"
#include "base/memory.h"

static const gf_argument *find(const gf_call *call, const char *name)
{
    const gf_argument *last = NULL;
    for (size_t i = 0; i < call->n_arguments; i++)
        if (gf_slice_equal(call->arguments[i].name, gf_slice_str(name))) last = &call->arguments[i];
    return last;
}

bool gf_call_has(const gf_call *call, const char *name)
{
    return find(call, name) != NULL;
}

gf_slice gf_call_text(const gf_call *call, const char *name)
{
    const gf_argument *a = find(call, name);
    return a ? a->value : (gf_slice){0};
}

gf_slice gf_call_text_or(const gf_call *call, const char *name, const char *otherwise)
{
    const gf_argument *a = find(call, name);
    return a ? a->value : gf_slice_str(otherwise);
}

bool gf_call_flag(const gf_call *call, const char *name)
{
    const gf_argument *a = find(call, name);
    return a && !gf_slice_equal(a->value, GF_SLICE("false"));
}

uint64_t gf_call_number(const gf_call *call, const char *name, uint64_t otherwise)
{
    const gf_argument *a = find(call, name);
    uint64_t v = 0;
    for (size_t i = 0; a && i < a->value.len; i++)
        v = v * 10 + (uint64_t)(a->value.ptr[i] - '0');
    return a ? v : otherwise;
}

size_t gf_call_count(const gf_call *call, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < call->n_arguments; i++)
        n += gf_slice_equal(call->arguments[i].name, gf_slice_str(name));
    return n;
}

gf_slice gf_call_nth(const gf_call *call, const char *name, size_t nth)
{
    for (size_t i = 0; i < call->n_arguments; i++)
        if (gf_slice_equal(call->arguments[i].name, gf_slice_str(name)) && nth-- == 0)
            return call->arguments[i].value;
    return (gf_slice){0};
}

static size_t count_commas(gf_slice s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += s.ptr[i] == ',';
    return n;
}

static size_t split(gf_slice s, gf_slice *values)
{
    size_t n = 0;
    for (;;) {
        const char *comma = s.len ? memchr(s.ptr, ',', s.len) : NULL;
        size_t length = comma ? (size_t)(comma - s.ptr) : s.len;
        if (length) values[n++] = gf_slice_of(s.ptr, length);
        if (!comma) return n;
        s = gf_slice_skip(s, length + 1);
    }
}

gf_status gf_call_list(const gf_call *call, const char *name, gf_slice **values, size_t *n,
                       gf_error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < gf_call_count(call, name); i++)
        most += count_commas(gf_call_nth(call, name, i)) + 1;
    gf_slice *list = gf_array(most, sizeof *list);
    if (!list) return gf_fail_memory(err, "arguments");
    *n = 0;
    for (size_t i = 0; i < gf_call_count(call, name); i++)
        *n += split(gf_call_nth(call, name, i), list + *n);
    *values = list;
    return GF_OK;
}

bool gf_parse_bytes(gf_slice text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    unsigned shift = 0;
    const char *unit = text.len ? strchr(units, text.ptr[text.len - 1] & ~0x20) : NULL;
    if (unit && *unit) {
        shift = 10 * (unsigned)(unit - units + 1);
        text.len--;
    }
    if (text.len == 0 || text.len > 12) return false;
    uint64_t v = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        v = v * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    if (v > UINT64_MAX >> shift) return false;
    *bytes = v << shift;
    return true;
}

gf_place gf_call_place(const gf_call *call)
{
    return (gf_place){call->name_space, gf_call_text(call, "collection")};
}

gf_status gf_call_store(const gf_call *call, gf_store **store, gf_error *err)
{
    return call->store(call->context, false, store, err);
}

gf_status gf_call_view(const gf_call *call, gf_view **view, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    return gf_view_open(store, gf_call_place(call), gf_call_text_or(call, "config", "default"),
                        (int64_t)gf_call_number(call, "build", 0), view, err);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

void gf_row_open(gf_row_writer *row)
{
    row->buffer = (gf_buffer){0};
    row->json = gf_json_writer_to(&row->buffer);
}

gf_status gf_row_emit(gf_row_writer *row, const gf_call *call, gf_error *err)
{
    gf_status st = gf_buffer_check(&row->buffer, err);
    if (st == GF_OK) st = call->emit(call->context, gf_buffer_view(&row->buffer), err);
    gf_buffer_reset(&row->buffer);
    row->json = gf_json_writer_to(&row->buffer);
    return st;
}

void gf_row_release_writer(gf_row_writer *row)
{
    gf_buffer_release(&row->buffer);
}

void gf_json_put_time(gf_json_writer *w, const char *name, int64_t ms)
{
    gf_buffer text = {0};
    if (ms == 0) return;
    gf_clock_write_iso(&text, ms);
    gf_json_put_string(w, name, gf_buffer_view(&text));
    if (text.state != GF_OK) w->out->state = text.state;
    gf_buffer_release(&text);
}

void gf_json_put_document(gf_json_writer *w, const gf_document *d, bool with_text)
{
    gf_json_put_string(w, "id", d->id);
    if (with_text) gf_json_put_string(w, "text", d->text);
    if (d->time.len) {
        gf_json_key(w, "time");
        gf_json_raw(w, d->time);
    }
    if (d->language.len) gf_json_put_string(w, "lang", d->language);
    if (d->n_fields == 0) return;
    gf_json_key(w, "fields");
    gf_json_begin(w, '{');
    for (size_t i = 0; i < d->n_fields; i++) {
        gf_json_key_slice(w, d->fields[i].name);
        gf_json_raw(w, d->fields[i].json);
    }
    gf_json_end(w, '}');
}

void gf_json_put_build(gf_json_writer *w, const gf_build_info *b)
{
    gf_json_put_uint(w, "build", (uint64_t)b->build);
    gf_json_put_time(w, "time", b->build);
    gf_json_put_bool(w, "served", b->served);
    gf_json_put_uint(w, "documents", b->documents);
    gf_json_put_uint(w, "without_terms", b->without_terms);
    gf_json_put_uint(w, "distinct", b->distinct);
    gf_json_put_uint(w, "terms", b->terms);
    gf_json_put_uint(w, "k", b->k);
    gf_json_put_double(w, "objective", b->objective);
    gf_json_put_double(w, "seconds", b->seconds);
    if (b->settings.len) {
        gf_json_key(w, "settings");
        gf_json_raw(w, b->settings);
    }
    if (b->versions.len) gf_json_put_string(w, "versions", b->versions);
}

void gf_json_put_membership(gf_json_writer *w, const gf_membership *m)
{
    if (m->cluster)
        gf_json_put_uint(w, "cluster", m->cluster);
    else {
        gf_json_key(w, "cluster");
        gf_json_null(w);
    }
    gf_json_put_string(w, "label", m->label);
    gf_json_put_float(w, "score", m->score);
    if (m->runner_up) {
        gf_json_put_uint(w, "runner_up", m->runner_up);
        gf_json_put_string(w, "runner_up_label", m->runner_up_label);
        gf_json_put_float(w, "runner_up_score", m->second);
        gf_json_put_float(w, "margin", m->score - m->second);
    }
    if (m->replaced) gf_json_put_bool(w, "replaced", true);
}
