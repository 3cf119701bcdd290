/* A call as handlers use it: rows and notices out, arguments in, which were checked before. */
#include "api/call.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "engine/view/view.h"

#include <inttypes.h>

gf_status gf_call_emit(const gf_call *call, gf_slice row, gf_error *err)
{
    return call->sink.emit(call->sink.context, row, err);
}

gf_status gf_call_write(const gf_call *call, gf_slice bytes, gf_error *err)
{
    return call->sink.write(call->sink.context, bytes, err);
}

void gf_call_notify(const gf_call *call, const gf_notice *notice)
{
    if (call->sink.notice) call->sink.notice(call->sink.context, notice);
}

void gf_call_progress(const gf_call *call, gf_slice what, const char *phase, uint64_t done,
                      uint64_t total)
{
    if (call->sink.progress) call->sink.progress(call->sink.context, what, phase, done, total);
}

gf_status gf_call_reject(const gf_call *call, gf_slice record, gf_error *err)
{
    return call->sink.reject ? call->sink.reject(call->sink.context, record, err) : GF_OK;
}

gf_status gf_call_open_store(const gf_call *call, bool create, gf_store **store, gf_error *err)
{
    return call->holder.store(call->holder.context, create, store, err);
}

gf_status gf_call_store(const gf_call *call, gf_store **store, gf_error *err)
{
    return gf_call_open_store(call, false, store, err);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* At most 18 digits, so that nothing overflows. */
static bool parse_number(gf_slice text, uint64_t *number)
{
    uint64_t v = 0;
    if (text.len == 0 || text.len > 18) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        v = v * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *number = v;
    return true;
}

/* "16M" */
static bool parse_bytes(gf_slice text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    unsigned shift = 0;
    uint64_t v;
    for (unsigned i = 0; text.len && units[i]; i++)
        if ((text.ptr[text.len - 1] & ~0x20) == units[i]) shift = 10 * (i + 1);
    if (shift) text.len--;
    if (!parse_number(text, &v) || v > UINT64_MAX >> shift) return false;
    *bytes = v << shift;
    return true;
}

/* "0.25": with up to 17 digits, whatever the locale. */
static bool parse_share(gf_slice text, double *share)
{
    double digits = 0, unit = 1;
    bool point = false, any = false;
    if (text.len > 18) return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9') return false;
        any = true;
        digits = digits * 10 + (c - '0');
        if (point) unit *= 10;
    }
    if (!any || digits > unit) return false;
    *share = digits / unit;
    return true;
}

static bool parse_moment(gf_slice text, uint64_t *ms)
{
    int64_t v;
    if (parse_number(text, ms)) return true;
    if (!gf_clock_parse_iso(text, &v) || v < 0) return false;
    *ms = (uint64_t)v;
    return true;
}

static bool is_choice(const char *words, gf_slice value)
{
    for (gf_slice rest = gf_slice_str(words); rest.len;) {
        const char *bar = memchr(rest.ptr, '|', rest.len);
        size_t n = bar ? (size_t)(bar - rest.ptr) : rest.len;
        if (gf_slice_equal(value, gf_slice_of(rest.ptr, n))) return true;
        rest = gf_slice_skip(rest, bar ? n + 1 : n);
    }
    return false;
}

static gf_status check_range(const gf_parameter *p, uint64_t v, gf_error *err)
{
    if (v < p->least) return gf_fail(err, GF_EINVAL, "%s is at least %" PRIu64, p->name, p->least);
    if (p->most && v > p->most)
        return gf_fail(err, GF_EINVAL, "%s is at most %" PRIu64, p->name, p->most);
    return GF_OK;
}

/* Anything else would be taken for the opposite of what was meant. */
static gf_status check_flag(const gf_parameter *p, gf_slice value, gf_error *err)
{
    if (value.len == 0 || is_choice("true|false", value)) return GF_OK;
    return gf_fail(err, GF_EINVAL, "%s is either true or false", p->name);
}

static gf_status check_setting(gf_slice value, gf_error *err)
{
    const char *equals = memchr(value.ptr, '=', value.len);
    if (!equals) return gf_fail(err, GF_EINVAL, "\"%.*s\" is not key=value", GF_SLICE_ARG(value));
    size_t n = (size_t)(equals - value.ptr);
    return gf_setting_check_value(gf_slice_of(value.ptr, n), gf_slice_skip(value, n + 1), err);
}

gf_status gf_arguments_check_value(const gf_parameter *p, gf_slice value, gf_error *err)
{
    uint64_t v = p->least;
    double share;
    const char *what = NULL;
    if (p->kind == GF_PARAMETER_FLAG) return check_flag(p, value, err);
    if (gf_utf8_valid_length(value) != value.len)
        return gf_fail(err, GF_EINVAL, "%s is not valid UTF-8", p->name);
    if (value.len == 0) return gf_fail(err, GF_EINVAL, "%s is empty", p->name);
    if (p->kind == GF_PARAMETER_NUMBER && !parse_number(value, &v)) what = "a whole number";
    if (p->kind == GF_PARAMETER_BYTES && !parse_bytes(value, &v)) what = "a size such as 16M";
    if (p->kind == GF_PARAMETER_MOMENT && !parse_moment(value, &v))
        what = p->least ? "a build's time, as grouperfish builds gives it" /* none is 0 */
                        : "a time: ISO 8601, or milliseconds since 1970";
    if (p->kind == GF_PARAMETER_SHARE && !parse_share(value, &share)) what = "a number from 0 to 1";
    if (p->kind == GF_PARAMETER_CHOICE && !is_choice(p->value, value)) what = p->value;
    if (p->kind == GF_PARAMETER_SETTINGS) return check_setting(value, err);
    if (p->kind == GF_PARAMETER_SETTING)
        return gf_setting_check_value(gf_slice_str(p->name), value, err);
    if (what)
        return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is %s %s", p->name, GF_SLICE_ARG(value),
                       p->kind == GF_PARAMETER_CHOICE ? "none of" : "not", what);
    return check_range(p, v, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

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

/* Each kind reads what the others refuse, and plain numbers alike. */
uint64_t gf_call_number(const gf_call *call, const char *name, uint64_t otherwise)
{
    uint64_t v = otherwise;
    gf_slice text = gf_call_text(call, name);
    if (!parse_moment(text, &v)) parse_bytes(text, &v);
    return v;
}

double gf_call_share(const gf_call *call, const char *name, double otherwise)
{
    double v = otherwise;
    parse_share(gf_call_text(call, name), &v);
    return v;
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

gf_status gf_call_settings(const gf_call *call, gf_pair **pairs, size_t *n, gf_error *err)
{
    size_t given = gf_call_count(call, "set");
    gf_pair *list = given ? gf_array(given, sizeof *list) : NULL;
    if (given && !list) return gf_fail_memory(err, "settings");
    for (size_t i = 0; i < given; i++) {
        gf_slice text = gf_call_nth(call, "set", i); /* checked before: it has a = */
        size_t name = (size_t)((const char *)memchr(text.ptr, '=', text.len) - text.ptr);
        list[i] = (gf_pair){gf_slice_of(text.ptr, name), gf_slice_skip(text, name + 1)};
        for (size_t j = 0; j < i; j++) {
            if (!gf_slice_equal(list[j].name, list[i].name)) continue;
            gf_fail(err, GF_EINVAL, "%.*s is given twice, as \"%.*s\" and as \"%.*s\"",
                    GF_SLICE_ARG(list[i].name), GF_SLICE_ARG(list[j].value),
                    GF_SLICE_ARG(list[i].value));
            gf_free(list);
            return GF_EINVAL;
        }
    }
    *pairs = list;
    *n = given;
    return GF_OK;
}

static size_t count_commas(gf_slice s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += s.ptr[i] == ',';
    return n;
}

/* The values between commas; empty ones are left out. */
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
    size_t most = 0, given = gf_call_count(call, name), found = 0;
    for (size_t i = 0; i < given; i++)
        most += count_commas(gf_call_nth(call, name, i)) + 1;
    gf_slice *list = gf_array(most, sizeof *list);
    if (!list) return gf_fail_memory(err, "arguments");
    for (size_t i = 0; i < given; i++)
        found += split(gf_call_nth(call, name, i), list + found);
    if (given && !found) {
        gf_free(list);
        return gf_fail(err, GF_EINVAL, "%s names nothing", name);
    }
    *values = list;
    *n = found;
    return GF_OK;
}

/* ---- what arguments name --------------------------------------------------------------------- */

gf_place gf_call_place(const gf_call *call)
{
    return (gf_place){call->name_space, gf_call_text(call, "collection")};
}

gf_slice gf_call_configuration(const gf_call *call)
{
    return gf_call_text_or(call, "config", "default");
}

typedef gf_status open_view(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                            gf_view **view, gf_error *err);

static gf_status open_by(open_view *open, const gf_call *call, gf_view **view, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    return open(store, gf_call_place(call), gf_call_configuration(call),
                (int64_t)gf_call_number(call, "build", 0), view, err);
}

gf_status gf_call_view(const gf_call *call, gf_view **view, gf_error *err)
{
    return open_by(gf_view_open, call, view, err);
}

gf_status gf_call_view_warm(const gf_call *call, gf_view **view, gf_error *err)
{
    return open_by(gf_view_open_warm, call, view, err);
}
