/*
 * A row that was read becomes cells, each with the bytes that are stored:
 *
 *     size, status_code    8 bytes of the number
 *     c, cdx, meta, ...    JSON: text as it is, an object or array without white space
 *     all else             text, or the bytes of {"hex": "..."}
 *
 * What is stored already is left as it is, or with `replace` written over. A group of an extraction
 * or of a match is one thing where the row has its first column (status_code, mstatus): all of it is
 * put, and nothing of another stays beside it, or none of it. Cells of a row that waits in the batch
 * are not seen by reads, so the batch is written before that row is met again.
 */
#include "apps/papers/table/rows.h"

#include "apps/papers/table/table_internal.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/hex.h"
#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/strings.h"
#include "storage/schema.h"

enum { MOST_CHANGES = 20000, MOST_BYTES = 7 << 20 };

typedef struct named_column {
    unsigned family;
    gf_slice column; /* ptr NULL: all cells of a family without declared columns */
} named_column;

struct gf_papers_rows {
    gf_papers *papers;
    bool replace;
    gf_batch *batch;
    gf_strings staged; /* digests in the batch */
    gf_json_parser *parser, *inner;
    gf_arena header;       /* of the columns */
    named_column *columns; /* n_columns of columns_capacity */
    size_t n_columns, columns_capacity;
    gf_arena memory; /* of the row */
    gf_sha1 sha1;
    gf_cell *cells; /* n_cells of cells_capacity: of the row that was read */
    size_t n_cells, cells_capacity;
    gf_cell *merged; /* n_merged of merged_capacity: with what is stored */
    size_t n_merged, merged_capacity;
    gf_row stored;
    gf_buffer key, text;
};

gf_status gf_papers_rows_open(gf_papers *papers, bool replace, gf_papers_rows **rows, gf_error *err)
{
    gf_papers_rows *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "an import");
    r->papers = papers;
    r->replace = replace;
    gf_status st = gf_batch_create(papers->db, &r->batch, err);
    if (st == GF_OK) st = gf_json_parser_create(&r->parser, err);
    if (st == GF_OK) st = gf_json_parser_create(&r->inner, err);
    if (st != GF_OK) {
        gf_papers_rows_close(r);
        return st;
    }
    *rows = r;
    return GF_OK;
}

void gf_papers_rows_close(gf_papers_rows *r)
{
    if (!r) return;
    gf_batch_free(r->batch);
    gf_strings_release(&r->staged);
    gf_json_parser_free(r->parser);
    gf_json_parser_free(r->inner);
    gf_arena_release(&r->header);
    gf_arena_release(&r->memory);
    gf_free(r->columns);
    gf_free(r->cells);
    gf_free(r->merged);
    gf_row_release(&r->stored);
    gf_buffer_release(&r->key);
    gf_buffer_release(&r->text);
    gf_free(r);
}

gf_status gf_papers_rows_flush(gf_papers_rows *r, gf_error *err)
{
    gf_strings_release(&r->staged);
    return gf_batch_write(r->batch, GF_SYNC_ON, err);
}

/* ---- values ---------------------------------------------------------------------------------- */

static const gf_family *family_of(const gf_papers_rows *r, unsigned family)
{
    return &gf_table_schema(r->papers->table)->families[family];
}

static gf_status add_cell(gf_papers_rows *r, const named_column *c, gf_slice value, gf_error *err)
{
    gf_slice kept = gf_arena_copy(&r->memory, value), name = gf_arena_copy(&r->memory, c->column);
    if (!kept.ptr || !name.ptr ||
        !gf_grow(&r->cells, &r->cells_capacity, r->n_cells + 1, sizeof *r->cells))
        return gf_fail_memory(err, "a row");
    for (size_t i = 0; i < r->n_cells; i++)
        if (r->cells[i].family == c->family && gf_slice_equal(r->cells[i].qualifier, name))
            return gf_fail(err, GF_EINVAL, "it has %s:%.*s twice", family_of(r, c->family)->name,
                           GF_SLICE_ARG(name));
    r->cells[r->n_cells++] = (gf_cell){.family = c->family, .qualifier = name, .value = kept};
    return GF_OK;
}

static gf_status bad_value(const gf_papers_rows *r, const named_column *c, const char *wanted,
                           gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "%s:%.*s is not %s", family_of(r, c->family)->name,
                   (int)(c->column.len > 80 ? 80 : c->column.len), c->column.ptr, wanted);
}

static bool is_digits(gf_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
    return s.len > 0;
}

/* ISO 8601 in its long form, or in its short one: 20170706T005950Z, 20170706005950. */
static bool is_date(gf_slice s)
{
    int64_t ms;
    if (gf_clock_parse_iso(s, &ms)) return true;
    if (s.len == 16 && s.ptr[8] == 'T' && s.ptr[15] == 'Z')
        return is_digits(gf_slice_of(s.ptr, 8)) && is_digits(gf_slice_of(s.ptr + 9, 6));
    return s.len == 14 && is_digits(s);
}

static bool has_text(gf_json_value object, const char *name, gf_slice *text)
{
    gf_json_value v;
    if (!gf_json_member(object, name, &v) || gf_json_kind_of(v) != GF_JSON_STRING) return false;
    *text = gf_json_get_string(v);
    return text->len > 0;
}

/* f:c as a crawler writes it: u and d are required. */
static gf_status check_history(const gf_papers_rows *r, const named_column *c, gf_json_value v,
                               gf_error *err)
{
    gf_slice text;
    if (!has_text(v, "u", &text)) return bad_value(r, c, "an object with the URL as u", err);
    if (!has_text(v, "d", &text) || !is_date(text))
        return bad_value(r, c, "an object with a date of ISO 8601 as d", err);
    return GF_OK;
}

static bool is_json(unsigned role, gf_slice column)
{
    static const char *const names[] = {"c",        "cdx",      "meta", "status",
                                        "tei_json", "metadata", "minfo"};
    if (role == GF_PAPERS_FAMILIES) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gf_slice_equal(column, gf_slice_str(names[i]))) return true;
    return false;
}

static gf_status add_json(gf_papers_rows *r, const named_column *c, unsigned role, gf_slice text,
                          gf_error *err)
{
    gf_json_value v;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_json_parse_copy(r->inner, text, &v, &why);
    if (st == GF_EINVAL || (st == GF_OK && gf_json_kind_of(v) != GF_JSON_OBJECT))
        return bad_value(r, c, "a JSON object", err);
    if (st != GF_OK) return gf_fail(err, st, "%s", why.message);
    if (role == GF_PAPERS_F) st = check_history(r, c, v, err);
    return st == GF_OK ? add_cell(r, c, text, err) : st;
}

static gf_status add_number(gf_papers_rows *r, const named_column *c, unsigned role, gf_slice text,
                            gf_error *err)
{
    int64_t v = 0;
    uint64_t u = 0;
    bool good = role == GF_PAPERS_FILE ? gf_number_read(text, &u) : gf_number_read_signed(text, &v);
    if (!good) return bad_value(r, c, "a whole number of 64 bits", err);
    gf_buffer_reset(&r->text);
    gf_papers_put_number(&r->text, role == GF_PAPERS_FILE ? (int64_t)u : v);
    gf_status st = gf_buffer_check(&r->text, err);
    return st == GF_OK ? add_cell(r, c, gf_buffer_view(&r->text), err) : st;
}

/* The column's text as a value of its kind. */
static gf_status add_text(gf_papers_rows *r, const named_column *c, gf_slice text, gf_error *err)
{
    unsigned role = gf_papers_role(r->papers, c->family);
    if (gf_papers_is_number(role, c->column)) return add_number(r, c, role, text, err);
    if (is_json(role, c->column)) return add_json(r, c, role, text, err);
    return add_cell(r, c, text, err);
}

static bool read_hex(gf_json_value v, gf_buffer *bytes)
{
    gf_json_iterator it = gf_json_items(v);
    gf_slice name;
    gf_json_value digits, more;
    gf_buffer_reset(bytes);
    return gf_json_next(&it, &name, &digits) && gf_slice_equal(name, GF_SLICE("hex")) &&
           gf_json_kind_of(digits) == GF_JSON_STRING && !gf_json_next(&it, &name, &more) &&
           gf_hex_read(gf_json_get_string(digits), bytes);
}

static gf_status add_value(gf_papers_rows *r, const named_column *c, gf_json_value v,
                           gf_error *err);

/* {"qualifier": value, ...} */
static gf_status add_family(gf_papers_rows *r, unsigned family, gf_json_value v, gf_error *err)
{
    named_column c = {family, {"", 0}};
    gf_json_value value;
    gf_status st = GF_OK;
    if (gf_json_kind_of(v) != GF_JSON_OBJECT)
        return gf_fail(err, GF_EINVAL, "%s is not an object", family_of(r, family)->name);
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && gf_json_next(&it, &c.column, &value))
        st = add_value(r, &c, value, err);
    return st;
}

static gf_status add_value(gf_papers_rows *r, const named_column *c, gf_json_value v, gf_error *err)
{
    gf_status st = GF_OK;
    unsigned role = gf_papers_role(r->papers, c->family);
    if (!c->column.ptr) return add_family(r, c->family, v, err);
    if (gf_json_kind_of(v) == GF_JSON_STRING) return add_text(r, c, gf_json_get_string(v), err);
    if (gf_json_kind_of(v) == GF_JSON_NULL) return GF_OK; /* as one that is not there */
    gf_buffer text = {0};
    if (gf_json_kind_of(v) == GF_JSON_OBJECT && !is_json(role, c->column)) {
        st = read_hex(v, &text) ? gf_buffer_check(&text, err)
                                : bad_value(r, c, "text, or {\"hex\": ...}", err);
        if (st == GF_OK) st = add_cell(r, c, gf_buffer_view(&text), err);
    } else {
        st = gf_json_write(v, &text, err);
        if (st == GF_OK) st = add_text(r, c, gf_buffer_view(&text), err);
    }
    gf_buffer_release(&text);
    return st;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* A group is added when it is first written to. */
static gf_status make_group(gf_papers_rows *r, gf_slice name, gf_error *err)
{
    unsigned family, role = gf_papers_role_named(name);
    if (role != GF_PAPERS_GROBID && role != GF_PAPERS_MATCH) return GF_OK;
    family = r->papers->family[role];
    gf_status st = gf_papers_choose_group(r->papers, role, name, true, err);
    r->papers->family[role] = family;
    return st;
}

static gf_status find_column(gf_papers_rows *r, gf_slice name, named_column *c, gf_error *err)
{
    const char *colon = name.len ? memchr(name.ptr, ':', name.len) : NULL;
    gf_status st = GF_OK;
    if (colon) st = make_group(r, gf_slice_of(name.ptr, (size_t)(colon - name.ptr)), err);
    if (st != GF_OK) return st;
    return gf_papers_column_or_family(r->papers, name, &c->family, &c->column, err);
}

gf_status gf_papers_rows_columns(gf_papers_rows *r, const gf_slice *names, size_t n, gf_error *err)
{
    gf_status st = GF_OK;
    gf_arena_reset(&r->header);
    r->n_columns = 0;
    if (!gf_grow(&r->columns, &r->columns_capacity, n + 1, sizeof *r->columns))
        return gf_fail_memory(err, "columns");
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        gf_slice name = gf_arena_copy(&r->header, names[i]);
        named_column *c = &r->columns[i];
        if (!name.ptr) return gf_fail_memory(err, "columns");
        st = find_column(r, name, c, err);
        for (size_t j = 0; j < i && st == GF_OK; j++)
            if (r->columns[j].family == c->family &&
                gf_slice_equal(r->columns[j].column, c->column))
                st = gf_fail(err, GF_EINVAL, "column %.*s is named twice", GF_SLICE_ARG(name));
    }
    if (st == GF_OK) r->n_columns = n;
    return st;
}

static bool take_field(gf_slice *rest, gf_slice *field)
{
    if (!rest->ptr) return false;
    const char *tab = rest->len ? memchr(rest->ptr, '\t', rest->len) : NULL;
    *field = tab ? gf_slice_of(rest->ptr, (size_t)(tab - rest->ptr)) : *rest;
    *rest = tab ? gf_slice_skip(*rest, field->len + 1) : (gf_slice){NULL, 0};
    return true;
}

gf_status gf_papers_rows_header(gf_papers_rows *r, gf_slice line, gf_error *err)
{
    gf_slice rest = line, field, *names = NULL;
    size_t n = 0, capacity = 0;
    gf_status st = GF_OK;
    take_field(&rest, &field);
    while (st == GF_OK && take_field(&rest, &field)) {
        if (gf_grow(&names, &capacity, n + 1, sizeof *names))
            names[n++] = field;
        else
            st = gf_fail_memory(err, "columns");
    }
    if (st == GF_OK) st = gf_papers_rows_columns(r, names, n, err);
    gf_free(names);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status read_digest(gf_papers_rows *r, gf_slice text, const char **reason, gf_error *err)
{
    if (gf_sha1_parse(text, &r->sha1)) return GF_OK;
    *reason = "bad_digest";
    return gf_fail(err, GF_EINVAL, "\"%.*s\" is not a SHA-1", (int)(text.len > 80 ? 80 : text.len),
                   text.ptr ? text.ptr : "");
}

static gf_status read_json(gf_papers_rows *r, gf_slice line, const char **reason, gf_error *err)
{
    gf_json_value row, v;
    gf_slice name;
    *reason = "broken_json";
    gf_status st = gf_json_parse(r->parser, line, &row, err);
    if (st == GF_OK && gf_json_kind_of(row) != GF_JSON_OBJECT)
        st = gf_fail(err, GF_EINVAL, "not a JSON object");
    if (st != GF_OK) return st;
    bool has = gf_json_member(row, "sha1", &v) && gf_json_kind_of(v) == GF_JSON_STRING;
    st = read_digest(r, has ? gf_json_get_string(v) : (gf_slice){"", 0}, reason, err);
    gf_json_iterator it = gf_json_items(row);
    bool seen = false;
    while (st == GF_OK && gf_json_next(&it, &name, &v)) {
        named_column c;
        bool digest = gf_slice_equal(name, GF_SLICE("sha1"));
        *reason = digest ? "bad_digest" : "unknown_column";
        if (digest && seen) st = gf_fail(err, GF_EINVAL, "it has sha1 twice");
        seen |= digest;
        if (digest) continue;
        st = find_column(r, name, &c, err);
        if (st != GF_OK) break;
        *reason = "bad_value";
        st = add_value(r, &c, v, err);
    }
    return st;
}

/* Text with \t, \n, \r, \\ and \xHH for their bytes; false for any other escape. */
static bool unescape(gf_slice field, gf_buffer *text)
{
    gf_buffer_reset(text);
    for (size_t i = 0; i < field.len; i++) {
        static const char letters[] = "tnr\\", bytes[] = "\t\n\r\\";
        if (field.ptr[i] != '\\') {
            gf_buffer_byte(text, field.ptr[i]);
            continue;
        }
        if (++i == field.len) return false;
        const char *at = memchr(letters, field.ptr[i], sizeof letters - 1);
        if (at) {
            gf_buffer_byte(text, bytes[at - letters]);
        } else if (field.ptr[i] == 'x' && i + 2 < field.len) {
            if (!gf_hex_read(gf_slice_of(field.ptr + i + 1, 2), text)) return false;
            i += 2;
        } else {
            return false;
        }
    }
    return true;
}

static gf_status add_field(gf_papers_rows *r, const named_column *c, gf_slice field, gf_error *err)
{
    gf_json_value v;
    gf_buffer text = {0};
    gf_status st = GF_OK;
    if (gf_slice_equal(field, GF_SLICE("\\N"))) return GF_OK;
    if (!unescape(field, &text))
        st = gf_fail(err, GF_EINVAL,
                     "a backslash that begins none of \\t, \\n, \\r, \\\\, \\xHH, \\N");
    if (st == GF_OK) st = gf_buffer_check(&text, err);
    if (st == GF_OK && c->column.ptr) {
        st = add_text(r, c, gf_buffer_view(&text), err);
    } else if (st == GF_OK) {
        st = gf_json_parse_copy(r->parser, gf_buffer_view(&text), &v, err);
        if (st == GF_OK) st = add_family(r, c->family, v, err);
    }
    gf_buffer_release(&text);
    return st;
}

static gf_status read_tsv(gf_papers_rows *r, gf_slice line, const char **reason, gf_error *err)
{
    gf_slice rest = line, field = {0};
    size_t n = 0;
    take_field(&rest, &field);
    gf_status st = read_digest(r, field, reason, err);
    for (; st == GF_OK && take_field(&rest, &field); n++) {
        *reason = "bad_value";
        if (n < r->n_columns) st = add_field(r, &r->columns[n], field, err);
    }
    if (st != GF_OK || n == r->n_columns) return st;
    *reason = "bad_fields";
    return gf_fail(err, GF_EINVAL, "%zu fields, not %zu", n + 1, r->n_columns + 1);
}

gf_status gf_papers_rows_read(gf_papers_rows *r, gf_slice line, bool json, const char **reason,
                              gf_error *err)
{
    gf_arena_reset(&r->memory);
    r->n_cells = 0;
    gf_status st = json ? read_json(r, line, reason, err) : read_tsv(r, line, reason, err);
    if (st != GF_OK || r->n_cells > 0) return st;
    *reason = "no_cells";
    return gf_fail(err, GF_EINVAL, "it has no column beside sha1");
}

/* ---- putting --------------------------------------------------------------------------------- */

static gf_status read_stored(gf_papers_rows *r, gf_error *err)
{
    gf_slice digest = gf_slice_of(r->sha1.bytes, GF_SHA1_BYTES);
    gf_status st = GF_OK;
    if (gf_strings_find(&r->staged, digest) != GF_STRING_NONE) st = gf_papers_rows_flush(r, err);
    gf_buffer_reset(&r->key);
    gf_papers_key(r->papers, &r->sha1, &r->key);
    if (st == GF_OK) st = gf_buffer_check(&r->key, err);
    if (st != GF_OK) return st;
    st = gf_table_get(r->papers->table, NULL, gf_buffer_view(&r->key), GF_ALL_FAMILIES, &r->stored,
                      err);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static const gf_cell *find_cell(const gf_cell *cells, size_t n, unsigned family, gf_slice column)
{
    for (size_t i = 0; i < n; i++)
        if (cells[i].family == family && gf_slice_equal(cells[i].qualifier, column))
            return &cells[i];
    return NULL;
}

/* The column by which a group is one thing; NULL of other families. */
static const char *head_of(const gf_papers_rows *r, unsigned family)
{
    unsigned role = gf_papers_role(r->papers, family);
    return role == GF_PAPERS_GROBID ? "status_code" : role == GF_PAPERS_MATCH ? "mstatus" : NULL;
}

/* How the cells of a family that were read meet those that are stored. */
typedef enum meeting { MEET_CELLS, MEET_KEPT, MEET_REPLACED } meeting;

static meeting meet(const gf_papers_rows *r, unsigned family)
{
    const char *head = head_of(r, family);
    gf_slice name = head ? gf_slice_str(head) : (gf_slice){"", 0};
    if (!head || !find_cell(r->cells, r->n_cells, family, name) ||
        !find_cell(r->stored.cells, r->stored.n_cells, family, name))
        return MEET_CELLS;
    return r->replace ? MEET_REPLACED : MEET_KEPT;
}

static gf_status merge_cell(gf_papers_rows *r, const gf_cell *cell, gf_error *err)
{
    if (!gf_grow(&r->merged, &r->merged_capacity, r->n_merged + 1, sizeof *r->merged))
        return gf_fail_memory(err, "a row");
    r->merged[r->n_merged++] = *cell;
    return GF_OK;
}

typedef struct merging {
    bool changed, added;
} merging;

static gf_status merge_family(gf_papers_rows *r, unsigned family, merging *m, gf_error *err)
{
    meeting how = meet(r, family);
    bool same = true; /* of a group: what is read is what is stored */
    size_t n_read = 0, n_stored = 0;
    gf_status st = GF_OK;
    for (size_t i = 0; i < r->stored.n_cells && st == GF_OK; i++) {
        const gf_cell *cell = &r->stored.cells[i];
        if (cell->family != family) continue;
        const gf_cell *read = find_cell(r->cells, r->n_cells, family, cell->qualifier);
        n_stored++;
        if (read && !gf_slice_equal(read->value, cell->value)) same = false;
        if (how == MEET_REPLACED || (how == MEET_CELLS && r->replace && read)) continue;
        st = merge_cell(r, cell, err);
    }
    for (size_t i = 0; i < r->n_cells && st == GF_OK; i++) {
        const gf_cell *cell = &r->cells[i];
        if (cell->family != family) continue;
        bool there = find_cell(r->stored.cells, r->stored.n_cells, family, cell->qualifier);
        n_read++;
        if (how == MEET_KEPT || (how == MEET_CELLS && there && !r->replace)) continue;
        m->added |= !there;
        st = merge_cell(r, cell, err);
    }
    if (how == MEET_REPLACED && n_read != n_stored) same = false;
    if (r->replace && !same) m->changed = true;
    return st;
}

static void put_family(gf_papers_rows *r, unsigned family)
{
    gf_slice key = gf_buffer_view(&r->key);
    if (meet(r, family) == MEET_REPLACED)
        gf_batch_delete_row(r->batch, r->papers->table, key, UINT32_C(1) << family);
    for (size_t i = 0; i < r->n_cells; i++) {
        const gf_cell *cell = &r->cells[i];
        if (cell->family != family) continue;
        const gf_cell *merged = find_cell(r->merged, r->n_merged, family, cell->qualifier);
        if (merged && merged->value.ptr == cell->value.ptr)
            gf_batch_put(r->batch, r->papers->table, key, family, cell->qualifier, cell->value, 0);
    }
}

gf_status gf_papers_rows_put(gf_papers_rows *r, gf_papers_outcome *outcome, const char **reason,
                             gf_error *err)
{
    merging m = {false, false};
    uint32_t id;
    unsigned n = gf_table_schema(r->papers->table)->n_families;
    gf_status st = read_stored(r, err);
    r->n_merged = 0;
    for (unsigned f = 0; f < n && st == GF_OK; f++)
        st = merge_family(r, f, &m, err);
    if (st != GF_OK) return st;
    *outcome = m.changed ? GF_PAPERS_REPLACED : m.added ? GF_PAPERS_NEW : GF_PAPERS_EXISTING;
    if (*outcome == GF_PAPERS_EXISTING) return GF_OK;
    gf_row merged = {.cells = r->merged, .n_cells = r->n_merged};
    *reason = "incomplete";
    st = gf_papers_check_row(r->papers, r->inner, &merged, err);
    if (st == GF_OK)
        st = gf_strings_add(&r->staged, gf_slice_of(r->sha1.bytes, GF_SHA1_BYTES), &id, NULL, err);
    if (st != GF_OK) return st;
    for (unsigned f = 0; f < n; f++)
        put_family(r, f);
    if (gf_batch_changes(r->batch) < MOST_CHANGES && gf_batch_bytes(r->batch) < MOST_BYTES)
        return GF_OK;
    return gf_papers_rows_flush(r, err);
}
