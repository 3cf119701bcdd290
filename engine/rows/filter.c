#include "engine/rows/filter.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/document_row.h"
#include "storage/tables.h"

#include <math.h>

/* Below this, whole numbers that are equal as doubles are equal. */
#define EXACT 9007199254740992.0

/* ---- moments --------------------------------------------------------------------------------- */

static bool read_age(gf_slice text, int64_t now, int64_t *ms)
{
    static const int64_t hour = 3600 * INT64_C(1000), day = 24 * hour;
    enum { LONGEST = 6 }; /* digits: a million weeks are within the range of times */
    uint64_t n;
    if (text.len < 2 || text.len > LONGEST + 1) return false;
    char unit = text.ptr[text.len - 1];
    int64_t step = unit == 'h' ? hour : unit == 'd' ? day : unit == 'w' ? 7 * day : 0;
    int64_t within = unit == 'h' ? hour : day;
    if (!step || !gf_number_read(gf_slice_of(text.ptr, text.len - 1), &n)) return false;
    int64_t begun = now - now % within;
    *ms = begun - (int64_t)n * step;
    return true;
}

bool gf_filter_read_moment(gf_slice text, int64_t now, int64_t *ms)
{
    double number;
    if (gf_clock_parse_iso(text, ms) || read_age(text, now, ms)) return true;
    return gf_number_read_decimal(text, &number) && gf_clock_from_number(number, ms);
}

/* A record's time: a number, or a string in ISO 8601. */
static bool time_of(const gf_cell *cell, int64_t *ms)
{
    double number;
    if (!cell) return false;
    gf_slice json = cell->value;
    if (json.len > 2 && json.ptr[0] == '"')
        return gf_clock_parse_iso(gf_slice_of(json.ptr + 1, json.len - 2), ms);
    return gf_number_read_decimal(json, &number) && gf_clock_from_number(number, ms);
}

/* ---- demands --------------------------------------------------------------------------------- */

void gf_filter_init(gf_filter *f)
{
    *f = (gf_filter){.since = INT64_MIN, .until = INT64_MAX};
}

void gf_filter_release(gf_filter *f)
{
    gf_free(f->demands);
    gf_arena_release(&f->memory);
    gf_json_parser_free(f->parser);
    gf_buffer_release(&f->id);
    gf_filter_init(f);
}

bool gf_filter_is_empty(const gf_filter *f)
{
    return f->n == 0 && f->since == INT64_MIN && f->until == INT64_MAX && !f->within;
}

static gf_status no_demand(gf_slice text, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "\"%.*s\" is not field=value (nor with !=, <, <=, > or >=)",
                   GF_SLICE_ARG(text));
}

/* "type!=praise" -> type, GF_IS_NOT, praise */
static gf_status divide(gf_slice text, gf_slice *field, gf_demand *d, gf_error *err)
{
    size_t n = 0, skip = 1;
    while (n < text.len && !memchr("=!<>", text.ptr[n], 4))
        n++;
    bool equals = n + 1 < text.len && text.ptr[n + 1] == '=';
    if (n == 0 || n == text.len || (text.ptr[n] == '!' && !equals)) return no_demand(text, err);
    switch (text.ptr[n]) {
    case '=':
        d->comparison = GF_IS;
        equals = false;
        break;
    case '!':
        d->comparison = GF_IS_NOT;
        break;
    case '<':
        d->comparison = equals ? GF_IS_AT_MOST : GF_IS_BELOW;
        break;
    default:
        d->comparison = equals ? GF_IS_AT_LEAST : GF_IS_ABOVE;
        break;
    }
    skip += equals;
    *field = gf_slice_of(text.ptr, n);
    d->value = gf_slice_skip(text, n + skip);
    return GF_OK;
}

/* Find the column of the field, and read the value by its kind. */
static gf_status understand(gf_filter *f, gf_slice field, gf_demand *d, gf_error *err)
{
    gf_buffer column = {0};
    if (gf_slice_equal(field, GF_SLICE("id")))
        return gf_fail(err, GF_EINVAL, "documents are not chosen by \"id\" here");
    d->plain = gf_slice_equal(field, GF_SLICE("lang")) || gf_slice_equal(field, GF_SLICE("text"));
    d->of_time = gf_slice_equal(field, GF_SLICE("time"));
    d->is_number = gf_number_read_decimal(d->value, &d->number);
    if (d->of_time && !gf_filter_read_moment(d->value, gf_clock_ms(), &d->moment))
        return gf_fail(err, GF_EINVAL, "time: \"%.*s\" is not a time", GF_SLICE_ARG(d->value));
    if (d->plain || d->of_time)
        gf_buffer_slice(&column, field);
    else
        gf_document_row_column(&column, field);
    gf_status st = gf_buffer_check(&column, err);
    d->column = gf_arena_copy(&f->memory, gf_buffer_view(&column));
    d->value = gf_arena_copy(&f->memory, d->value);
    d->text = gf_arena_copy(&f->memory, d->text);
    gf_buffer_release(&column);
    if (st == GF_OK && (!d->column.ptr || !d->value.ptr || !d->text.ptr))
        st = gf_fail_memory(err, "a filter");
    return st;
}

gf_status gf_filter_add(gf_filter *f, gf_slice text, gf_error *err)
{
    gf_demand d = {.text = text};
    gf_slice field = {0};
    gf_status st = divide(text, &field, &d, err);
    if (st == GF_OK) st = understand(f, field, &d, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&f->demands, &f->capacity, f->n + 1, sizeof *f->demands))
        return gf_fail_memory(err, "a filter");
    f->demands[f->n++] = d;
    return GF_OK;
}

gf_status gf_filter_add_list(gf_filter *f, gf_slice list, gf_error *err)
{
    gf_buffer one = {0};
    gf_status st = GF_OK;
    for (size_t i = 0; i <= list.len && st == GF_OK; i++) {
        bool escape = i + 1 < list.len && list.ptr[i] == '\\' &&
                      (list.ptr[i + 1] == ',' || list.ptr[i + 1] == '\\');
        if (i < list.len && (escape || list.ptr[i] != ',')) {
            gf_buffer_byte(&one, list.ptr[escape ? ++i : i]);
            continue;
        }
        st = gf_buffer_check(&one, err);
        if (st == GF_OK) st = gf_filter_add(f, gf_buffer_view(&one), err);
        gf_buffer_reset(&one);
    }
    gf_buffer_release(&one);
    return st;
}

/* ---- testing --------------------------------------------------------------------------------- */

static int sign(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* The order of a field's text, which may be a number, to what is demanded; false where there is
 * none: a number beside a text has no order, but differs. */
static bool compare(const gf_demand *d, gf_slice text, bool may_be_number, int *order)
{
    double number;
    bool is_number = may_be_number && gf_number_read_decimal(text, &number);
    if (is_number && d->is_number && (number != d->number || fabs(number) < EXACT)) {
        *order = sign(number, d->number);
        return true;
    }
    *order = gf_slice_compare(text, d->value);
    return *order == 0 || is_number == d->is_number;
}

static bool holds(gf_comparison comparison, bool comparable, int order)
{
    if (!comparable) return false;
    switch (comparison) {
    case GF_IS:
    case GF_IS_NOT: /* asked as "is", and turned round behind the last item */
        return order == 0;
    case GF_IS_BELOW:
        return order < 0;
    case GF_IS_AT_MOST:
        return order <= 0;
    case GF_IS_ABOVE:
        return order > 0;
    default:
        return order >= 0;
    }
}

static bool holds_text(const gf_demand *d, gf_slice text)
{
    int order;
    bool comparable = compare(d, text, true, &order);
    return holds(d->comparison, comparable, order);
}

static bool holds_value(const gf_demand *d, gf_json_value v)
{
    switch (gf_json_kind_of(v)) {
    case GF_JSON_STRING:
        return holds_text(d, gf_json_get_string(v));
    case GF_JSON_BOOL:
        return holds_text(d, gf_json_get_bool(v) ? GF_SLICE("true") : GF_SLICE("false"));
    case GF_JSON_INT:
    case GF_JSON_UINT:
    case GF_JSON_DOUBLE:
        return holds(d->comparison, d->is_number, sign(gf_json_number(v), d->number));
    default:
        return false;
    }
}

/* A list, or a string with escapes. */
static gf_status parse_and_test(gf_filter *f, const gf_demand *d, gf_slice json, bool *found,
                                gf_error *err)
{
    gf_json_value root, item;
    gf_slice name;
    gf_status st = f->parser ? GF_OK : gf_json_parser_create(&f->parser, err);
    if (st == GF_OK) st = gf_json_parse_copy(f->parser, json, &root, err);
    if (st == GF_EINVAL) return gf_fail(err, GF_ECORRUPT, "table documents: a field is damaged");
    if (st != GF_OK) return st;
    *found = holds_value(d, root);
    if (gf_json_kind_of(root) != GF_JSON_ARRAY) return GF_OK;
    gf_json_iterator it = gf_json_items(root);
    while (!*found && gf_json_next(&it, &name, &item))
        *found = holds_value(d, item);
    return GF_OK;
}

static gf_status find(gf_filter *f, const gf_demand *d, gf_slice json, bool *found, gf_error *err)
{
    bool quoted = json.len >= 2 && json.ptr[0] == '"';
    *found = false;
    if (json.len == 0 || json.ptr[0] == '{' || gf_slice_equal(json, GF_SLICE("null"))) return GF_OK;
    if (json.ptr[0] == '[' || (quoted && memchr(json.ptr, '\\', json.len)))
        return parse_and_test(f, d, json, found, err);
    *found = holds_text(d, quoted ? gf_slice_of(json.ptr + 1, json.len - 2) : json);
    return GF_OK;
}

static const gf_cell *find_cell(const gf_row *row, gf_slice column)
{
    for (size_t i = 0; i < row->n_cells; i++)
        if (gf_slice_equal(row->cells[i].qualifier, column)) return &row->cells[i];
    return NULL;
}

static gf_status test_one(gf_filter *f, const gf_demand *d, const gf_row *row, bool *meant,
                          gf_error *err)
{
    int64_t ms = 0;
    bool found = false;
    const gf_cell *cell = find_cell(row, d->column);
    gf_status st = GF_OK;
    if (d->of_time)
        found =
            time_of(cell, &ms) && holds(d->comparison, true, ms < d->moment ? -1 : ms > d->moment);
    else if (cell && d->plain)
        found = holds_text(d, cell->value);
    else if (cell)
        st = find(f, d, cell->value, &found, err);
    if (st == GF_OK) *meant = found != (d->comparison == GF_IS_NOT);
    return st;
}

/* Whether the row's document is one of `within`. */
static gf_status test_id(gf_filter *f, const gf_row *row, bool *meant, gf_error *err)
{
    gf_buffer_reset(&f->id);
    gf_status st = gf_tables_key_last_string(f->documents, row->key, &f->id, err);
    if (st == GF_OK) st = gf_buffer_check(&f->id, err);
    if (st == GF_OK) *meant = gf_id_set_has(f->within, gf_buffer_view(&f->id));
    return st;
}

gf_status gf_filter_test(gf_filter *f, const gf_row *row, bool *meant, gf_error *err)
{
    bool all = true;
    int64_t ms = 0;
    gf_status st = f->within ? test_id(f, row, &all, err) : GF_OK;
    if (st != GF_OK || !all) {
        if (st == GF_OK) *meant = false;
        return st;
    }
    if (f->since != INT64_MIN || f->until != INT64_MAX)
        all = time_of(gf_row_find(row, GF_DOCUMENTS_MAIN, "time"), &ms) && f->since <= ms &&
              ms < f->until;
    for (size_t i = 0; i < f->n && all && st == GF_OK; i++)
        st = test_one(f, &f->demands[i], row, &all, err);
    if (st == GF_OK) *meant = all;
    return st;
}

static void write_bound(gf_buffer *out, const char *name, int64_t ms, bool has_time)
{
    gf_buffer_format(out, "%s ", name);
    gf_clock_write_iso(out, ms);
    if (!has_time) gf_buffer_str(out, ", and it has no time");
}

gf_status gf_filter_why_not(gf_filter *f, const gf_row *row, gf_buffer *out, gf_error *err)
{
    int64_t ms = 0;
    bool has_time = time_of(gf_row_find(row, GF_DOCUMENTS_MAIN, "time"), &ms), meant = true;
    gf_status st = f->within ? test_id(f, row, &meant, err) : GF_OK;
    if (st != GF_OK) return st;
    if (!meant) {
        gf_buffer_str(out, "within: it is not of that cluster, or came since");
    } else if (f->since != INT64_MIN && (!has_time || ms < f->since)) {
        write_bound(out, "since", f->since, has_time);
    } else if (f->until != INT64_MAX && (!has_time || ms >= f->until)) {
        write_bound(out, "until", f->until, has_time);
    } else {
        for (size_t i = 0; i < f->n && meant; i++) {
            st = test_one(f, &f->demands[i], row, &meant, err);
            if (st != GF_OK) return st;
            if (meant) continue;
            gf_buffer_str(out, "filter ");
            gf_buffer_slice(out, f->demands[i].text);
        }
    }
    return gf_buffer_check(out, err);
}
