#include "api/tables/wide.h"

#include "api/tables/input.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/memory.h"
#include "formats/bytes/listing.h"
#include "formats/hbase/hbase_result.h"
#include "formats/hbase/sequence_file.h"

#include <stdlib.h>

enum { MOST_FAMILIES = 32, MOST_PARTS = 8 };

struct gf_table_wide {
    gf_table_call *c;
    gf_sequence_reader *files; /* of an export; or */
    gf_listing *listing;
    gf_wide_row of_files; /* the cells of a record */
    gf_wide_row row;      /* at hand, borrowed */
    gf_record record;     /* likewise */
    bool is_held;         /* it was read before it was asked for */
    bool creates;         /* families that are not there are made */
    gf_slice *families;   /* n_families: of which cells are put; none: of all */
    size_t n_families;
    gf_user_table *before[MOST_FAMILIES]; /* n_before: the table before it got its next family */
    size_t n_before;
    gf_wide_cell
        *marks; /* n_marks: deletions in the row of that key, whose pieces may be several records */
    size_t n_marks, marks_capacity;
    bool is_sorted; /* the marks are */
    gf_arena marks_memory;
    gf_slice marks_key;
    gf_wide_cell **sorted; /* cells of the row, the oldest first */
    size_t sorted_capacity;
    gf_buffer text, line;
    uint64_t put, deleted, other_type;
};

bool gf_table_wide_named(gf_slice from)
{
    return gf_slice_equal(from, GF_SLICE("hbase")) ||
           gf_slice_equal(from, GF_SLICE("hbase-scan")) ||
           gf_slice_equal(from, GF_SLICE("accumulo-scan"));
}

/* ---- families -------------------------------------------------------------------------------- */

static bool is_wanted(const gf_table_wide *w, gf_slice family)
{
    for (size_t i = 0; i < w->n_families; i++)
        if (gf_slice_equal(w->families[i], family)) return true;
    return w->n_families == 0;
}

/* A line of Accumulo may be divided in several ways. */
static bool has_family(void *context, gf_slice family)
{
    const gf_table_wide *w = context;
    unsigned number;
    if (w->n_families) return is_wanted(w, family);
    return w->creates ? family.len > 0
                      : gf_user_table_find_family(w->c->table, family, &number, NULL) == GF_OK;
}

static void write_family(const gf_table_wide *w, gf_json_writer *json, gf_slice name)
{
    gf_json_begin(json, '{');
    gf_json_put_string(json, "name", name);
    gf_json_put_string(json, "layout", GF_SLICE("wide"));
    gf_json_put_uint(json, "versions", gf_call_number(w->c->call, "versions", 1));
    gf_json_end(json, '}');
}

/* Rows that were put by the table as it was are written by it: it is closed in the end. */
static gf_status add_family(gf_table_wide *w, gf_slice name, gf_error *err)
{
    const gf_call *call = w->c->call;
    gf_slice table = gf_call_text(call, "table");
    gf_user_table *with;
    if (w->n_before == MOST_FAMILIES) return gf_fail(err, GF_EINVAL, "more than 32 families");
    gf_buffer_reset(&w->text);
    gf_json_writer json = gf_json_writer_to(&w->text);
    gf_json_begin(&json, '{');
    gf_json_key(&json, "families");
    gf_json_begin(&json, '[');
    write_family(w, &json, name);
    gf_json_end(&json, ']');
    gf_json_end(&json, '}');
    gf_status st = gf_buffer_check(&w->text, err);
    if (st == GF_OK)
        st = gf_user_table_alter(w->c->store, call->name_space, table, gf_buffer_view(&w->text),
                                 err);
    if (st == GF_OK) st = gf_user_table_open(w->c->store, call->name_space, table, &with, err);
    if (st != GF_OK) return st;
    w->before[w->n_before++] = w->c->table;
    w->c->table = with;
    return GF_OK;
}

static gf_status find_family(gf_table_wide *w, gf_slice name, unsigned *family, gf_error *err)
{
    gf_status st = gf_user_table_find_family(w->c->table, name, family, w->creates ? NULL : err);
    if (st != GF_EINVAL || !w->creates) return st;
    st = add_family(w, name, err);
    return st == GF_OK ? gf_user_table_find_family(w->c->table, name, family, err) : st;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Make the table of the families of the first row, which is at hand. */
static gf_status create_table(gf_table_wide *w, gf_error *err)
{
    const gf_call *call = w->c->call;
    gf_slice names[MOST_FAMILIES];
    size_t n = 0;
    gf_buffer_reset(&w->text);
    gf_json_writer json = gf_json_writer_to(&w->text);
    gf_json_begin(&json, '{');
    gf_json_key(&json, "key");
    gf_json_begin(&json, '[');
    gf_json_begin(&json, '{');
    gf_json_put_string(&json, "name", GF_SLICE("row"));
    gf_json_put_string(&json, "type", gf_call_text(call, "create"));
    gf_json_end(&json, '}');
    gf_json_end(&json, ']');
    gf_json_key(&json, "families");
    gf_json_begin(&json, '[');
    for (size_t i = 0; i < w->row.n; i++) {
        gf_slice name = w->row.cells[i].family;
        bool is_new = is_wanted(w, name);
        for (size_t k = 0; k < n && is_new; k++)
            is_new = !gf_slice_equal(names[k], name);
        if (is_new && n == MOST_FAMILIES) return gf_fail(err, GF_EINVAL, "more than 32 families");
        if (!is_new) continue;
        names[n++] = name;
        write_family(w, &json, name);
    }
    gf_json_end(&json, ']');
    gf_json_end(&json, '}');
    gf_status st = gf_buffer_check(&w->text, err);
    if (st != GF_OK) return st;
    return gf_user_table_create(w->c->store, call->name_space, gf_call_text(call, "table"),
                                gf_buffer_view(&w->text), err);
}

static gf_status read_first(gf_table_wide *w, gf_error *err)
{
    gf_status st = gf_table_wide_next(w, &w->record, err);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, GF_EINVAL, "there is no row that a table could be made for");
    if (st != GF_OK) return st;
    if (w->record.kind == GF_RECORD_REFUSED)
        return gf_fail(err, GF_EINVAL, "%.*s, line %llu: %s: no table can be made for it",
                       GF_SLICE_ARG(w->record.source), (unsigned long long)w->record.line,
                       w->record.message);
    w->is_held = true;
    return GF_OK;
}

/* The families that are asked for are the table's, unless they may still be made. */
static gf_status check_families(const gf_table_wide *w, gf_error *err)
{
    unsigned number;
    gf_status st = GF_OK;
    for (size_t i = 0; i < w->n_families && st == GF_OK && !w->creates; i++)
        st = gf_user_table_find_family(w->c->table, w->families[i], &number, err);
    return st;
}

static gf_status open_table(gf_table_wide *w, gf_error *err)
{
    gf_table_call *c = w->c;
    const gf_call *call = c->call;
    gf_slice name = gf_call_text(call, "table");
    c->writer.call = c->call;
    gf_status st = gf_call_open_store(call, w->creates, &c->store, err);
    if (st != GF_OK) return st;
    st = gf_user_table_open(c->store, call->name_space, name, &c->table, err);
    if (st == GF_ENOTFOUND && w->creates) {
        st = read_first(w, err);
        if (st == GF_OK) st = create_table(w, err);
        if (st == GF_OK) st = gf_user_table_open(c->store, call->name_space, name, &c->table, err);
    } else if (st == GF_ENOTFOUND)
        return gf_fail(
            err, st,
            "there is no table \"%.*s\": make it by table create, or by --create text|bytes",
            GF_SLICE_ARG(name));
    if (st == GF_OK) st = check_families(w, err);
    if (st == GF_OK) st = gf_batch_create(gf_store_database(c->store), &c->batch, err);
    return st;
}

static gf_status open_input(gf_table_wide *w, gf_slice from, gf_error *err)
{
    const gf_input *input = &w->c->call->input;
    if (!input->next) return gf_fail(err, GF_EINVAL, "there is no input");
    if (gf_slice_equal(from, GF_SLICE("hbase")))
        return gf_sequence_reader_open(input, GF_HBASE_KEY_CLASS, GF_HBASE_VALUE_CLASS, &w->files,
                                       err);
    bool accumulo = gf_slice_equal(from, GF_SLICE("accumulo-scan"));
    gf_status st =
        gf_listing_open(input, accumulo ? GF_LISTING_ACCUMULO : GF_LISTING_HBASE, &w->listing, err);
    if (st == GF_OK) gf_listing_know_families(w->listing, has_family, w);
    return st;
}

gf_status gf_table_wide_open(gf_table_call *c, gf_slice from, gf_table_wide **wide, gf_error *err)
{
    gf_table_wide *w = gf_calloc(1, sizeof *w);
    if (!w) return gf_fail_memory(err, "a reader");
    w->c = c;
    w->creates = gf_call_has(c->call, "create");
    gf_arena_init(&w->marks_memory);
    gf_status st = GF_OK;
    if (gf_call_has(c->call, "family"))
        st = gf_call_list(c->call, "family", &w->families, &w->n_families, err);
    if (st == GF_OK) st = open_input(w, from, err);
    if (st == GF_OK) st = open_table(w, err);
    if (st == GF_OK)
        *wide = w;
    else
        gf_table_wide_close(w);
    return st;
}

void gf_table_wide_close(gf_table_wide *w)
{
    if (!w) return;
    for (size_t i = 0; i < w->n_before; i++)
        gf_user_table_close(w->before[i]);
    gf_sequence_reader_close(w->files);
    gf_listing_close(w->listing);
    gf_wide_row_release(&w->of_files);
    gf_free(w->families);
    gf_free(w->marks);
    gf_free(w->sorted);
    gf_arena_release(&w->marks_memory);
    gf_buffer_release(&w->text);
    gf_buffer_release(&w->line);
    gf_free(w);
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status next_of_files(gf_table_wide *w, gf_record *record, gf_error *err)
{
    gf_sequence_record r;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_sequence_reader_next(w->files, &r, err);
    if (st != GF_OK) return st;
    *record = (gf_record){.source = r.source, .line = r.number, .raw = r.value};
    st = gf_hbase_result_read(r.key, r.value, &w->of_files, &why);
    w->row = w->of_files;
    if (st == GF_EINVAL) {
        gf_buffer_reset(&w->text);
        gf_buffer_str(&w->text, why.message);
        record->kind = GF_RECORD_REFUSED;
        record->reason = "bad_row";
        record->message = gf_buffer_cstr(&w->text);
        return gf_buffer_check(&w->text, err);
    }
    if (st != GF_OK && err) *err = why;
    return st;
}

gf_status gf_table_wide_next(gf_table_wide *w, gf_record *record, gf_error *err)
{
    if (w->is_held) {
        w->is_held = false;
        *record = w->record;
        return GF_OK;
    }
    return w->files ? next_of_files(w, record, err)
                    : gf_listing_next(w->listing, record, &w->row, err);
}

gf_status gf_table_wide_line(gf_table_wide *w, gf_slice *line, gf_error *err)
{
    gf_buffer_reset(&w->line);
    gf_listing_write(&w->row, &w->line);
    *line = gf_buffer_view(&w->line);
    if (line->len) line->len--; /* the keeper ends it */
    return gf_buffer_check(&w->line, err);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* At a separator each part is in its text form; the last takes what is left. */
static gf_status write_key(gf_table_wide *w, gf_slice key, gf_error *err)
{
    gf_slice separator = gf_call_text(w->c->call, "separator"), parts[MOST_PARTS], rest = key;
    unsigned n = gf_user_table_schema(w->c->table)->n_parts;
    gf_buffer_reset(&w->c->key);
    if (separator.len == 0) return gf_user_table_key_divide(w->c->table, key, &w->c->key, err);
    for (unsigned i = 0; i < n; i++) {
        const char *at = rest.len ? memmem(rest.ptr, rest.len, separator.ptr, separator.len) : NULL;
        parts[i] = rest;
        if (i + 1 == n) break;
        if (!at)
            return gf_fail(err, GF_EINVAL, "the row key has %u part%s, not %u", i + 1, i ? "s" : "",
                           n);
        parts[i].len = (size_t)(at - rest.ptr);
        rest = gf_slice_skip(rest, parts[i].len + separator.len);
    }
    return gf_user_table_key_write(w->c->table, parts, n, &w->c->key, err);
}

/* ---- deletions ------------------------------------------------------------------------------- */

static bool is_of_family(const gf_wide_cell *mark)
{
    return mark->kind == GF_WIDE_DELETE_FAMILY || mark->kind == GF_WIDE_DELETE_FAMILY_VERSION;
}

static bool is_of_one_time(const gf_wide_cell *mark)
{
    return mark->kind == GF_WIDE_DELETE_VERSION || mark->kind == GF_WIDE_DELETE_FAMILY_VERSION;
}

/* Marks that take the same cells lie together, by their times. */
static int compare_groups(const gf_wide_cell *x, const gf_wide_cell *y)
{
    int order = gf_slice_compare(x->family, y->family);
    if (!order) order = is_of_family(x) - is_of_family(y);
    if (!order && !is_of_family(x)) order = gf_slice_compare(x->qualifier, y->qualifier);
    return order ? order : is_of_one_time(x) - is_of_one_time(y);
}

static int compare_marks(const void *a, const void *b)
{
    const gf_wide_cell *x = a, *y = b;
    int order = compare_groups(x, y);
    return order ? order : (x->timestamp > y->timestamp) - (x->timestamp < y->timestamp);
}

static gf_status keep_mark(gf_table_wide *w, const gf_wide_cell *mark, gf_error *err)
{
    gf_wide_cell kept = *mark;
    if (!gf_grow(&w->marks, &w->marks_capacity, w->n_marks + 1, sizeof *w->marks))
        return gf_fail_memory(err, "a row");
    kept.family = gf_arena_copy(&w->marks_memory, mark->family);
    kept.qualifier = gf_arena_copy(&w->marks_memory, mark->qualifier);
    if (!kept.family.ptr || !kept.qualifier.ptr) return gf_fail_memory(err, "a row");
    w->marks[w->n_marks++] = kept;
    w->is_sorted = false;
    return GF_OK;
}

static gf_status begin_marks(gf_table_wide *w, gf_error *err)
{
    if (w->marks_key.ptr && gf_slice_equal(w->marks_key, w->row.key)) return GF_OK;
    gf_arena_reset(&w->marks_memory);
    w->n_marks = 0;
    w->marks_key = gf_arena_copy(&w->marks_memory, w->row.key);
    return w->marks_key.ptr ? GF_OK : gf_fail_memory(err, "a row");
}

/* Whether one of the marks of that kind takes the cell: the first that is not older, if any. */
static bool is_taken(const gf_table_wide *w, const gf_wide_cell *cell, gf_wide_kind kind)
{
    gf_wide_cell sought = *cell;
    size_t from = 0, to = w->n_marks;
    sought.kind = kind;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_marks(&w->marks[middle], &sought) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < w->n_marks && compare_groups(&w->marks[from], &sought) == 0 &&
           (!is_of_one_time(&sought) || w->marks[from].timestamp == cell->timestamp);
}

static bool is_deleted(gf_table_wide *w, const gf_wide_cell *cell)
{
    if (w->n_marks == 0) return false;
    if (!w->is_sorted) qsort(w->marks, w->n_marks, sizeof *w->marks, compare_marks);
    w->is_sorted = true;
    return is_taken(w, cell, GF_WIDE_DELETE_FAMILY) ||
           is_taken(w, cell, GF_WIDE_DELETE_FAMILY_VERSION) ||
           is_taken(w, cell, GF_WIDE_DELETE_CELL) || is_taken(w, cell, GF_WIDE_DELETE_VERSION);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* A column that another packed family declares is that one's. */
static gf_status check_column(const gf_table_wide *w, unsigned family, gf_slice name, gf_error *err)
{
    const gf_schema *s = gf_user_table_schema(w->c->table);
    if (s->families[family].layout != GF_LAYOUT_PACKED) return GF_OK;
    for (unsigned f = 0; f < s->n_families; f++)
        for (const char *const *n = s->families[f].columns; n && *n && f != family; n++)
            if (gf_slice_equal(name, gf_slice_str(*n)))
                return gf_fail(err, GF_EINVAL, "column %s is one of family %s, not of %s", *n,
                               s->families[f].name, s->families[family].name);
    return GF_OK;
}

/* Whether the bytes are of a type. */
static gf_status is_of_type(gf_table_wide *w, gf_type type, gf_slice bytes, bool *is, gf_error *err)
{
    gf_buffer_reset(&w->text);
    *is = gf_user_table_value_print(type, bytes, &w->text);
    return gf_buffer_check(&w->text, err);
}

static gf_status check_cell(gf_table_wide *w, unsigned family, const gf_wide_cell *cell,
                            gf_error *err)
{
    bool is;
    gf_type type = gf_user_table_qualifier_type(w->c->table, family);
    if (cell->qualifier.len > GF_MAX_KEY)
        return gf_fail(err, GF_EINVAL, "a column's name of %zu bytes, of %d at most",
                       cell->qualifier.len, GF_MAX_KEY);
    gf_status st = is_of_type(w, type, cell->qualifier, &is, err);
    if (st == GF_OK && !is)
        st = gf_fail(err, GF_EINVAL,
                     "family %.*s: the bytes of a column's name are not of its type %s",
                     GF_SLICE_ARG(cell->family), gf_type_name(type));
    return st == GF_OK ? check_column(w, family, cell->qualifier, err) : st;
}

static gf_status put_cell(gf_table_wide *w, gf_batch *batch, const gf_wide_cell *cell,
                          gf_error *err)
{
    unsigned family = 0;
    gf_status st = find_family(w, cell->family, &family, err);
    if (st == GF_OK) st = check_cell(w, family, cell, err);
    if (st != GF_OK) return st;
    gf_table *rows = gf_user_table_rows(w->c->table);
    gf_slice key = gf_buffer_view(&w->c->key);
    if (cell->kind == GF_WIDE_DELETE_FAMILY)
        gf_batch_delete_row(batch, rows, key, UINT32_C(1) << family);
    else if (cell->kind == GF_WIDE_DELETE_CELL)
        gf_batch_delete_cell(batch, rows, key, family, cell->qualifier);
    if (cell->kind != GF_WIDE_PUT) {
        w->deleted++;
        return keep_mark(w, cell, err);
    }
    if (is_deleted(w, cell)) return GF_OK;
    int64_t time = cell->timestamp == INT64_MAX ? 0 : cell->timestamp;
    bool is;
    st = is_of_type(w, gf_user_table_cell_type(w->c->table, family, cell->qualifier), cell->value,
                    &is, err);
    if (st != GF_OK) return st;
    w->other_type += !is;
    w->put++;
    gf_batch_put(batch, rows, key, family, cell->qualifier, cell->value, time);
    return GF_OK;
}

static gf_status check_time(const gf_wide_cell *cell, gf_error *err)
{
    gf_status st = gf_table_check_time(cell->timestamp, err);
    if (st != GF_OK) gf_error_prefix(err, "a cell of family %.*s", GF_SLICE_ARG(cell->family));
    return st;
}

/* Marks come first, then the oldest cells; of one time they stay as they were. */
static int compare_cells(const void *a, const void *b)
{
    const gf_wide_cell *x = *(gf_wide_cell *const *)a, *y = *(gf_wide_cell *const *)b;
    int marks = (x->kind == GF_WIDE_PUT) - (y->kind == GF_WIDE_PUT);
    if (marks) return marks;
    if (x->timestamp != y->timestamp) return x->timestamp < y->timestamp ? -1 : 1;
    return (x > y) - (x < y);
}

gf_status gf_table_wide_put(gf_table_wide *w, gf_batch *batch, uint64_t *put, gf_error *err)
{
    size_t n = 0;
    uint64_t deleted = w->deleted, other_type = w->other_type, before = w->put;
    if (w->row.key.len > GF_MAX_KEY)
        return gf_fail(err, GF_EINVAL, "a row key of %zu bytes, of %d at most", w->row.key.len,
                       GF_MAX_KEY);
    gf_status st = write_key(w, w->row.key, err);
    if (st == GF_OK) st = begin_marks(w, err);
    if (st == GF_OK && !gf_grow(&w->sorted, &w->sorted_capacity, w->row.n, sizeof *w->sorted))
        st = gf_fail_memory(err, "a row");
    if (st != GF_OK) return st;
    for (size_t i = 0; i < w->row.n && st == GF_OK; i++) {
        if (!is_wanted(w, w->row.cells[i].family)) continue;
        w->sorted[n++] = &w->row.cells[i];
        st = check_time(&w->row.cells[i], err);
    }
    if (st != GF_OK) return st;
    if (n) qsort(w->sorted, n, sizeof *w->sorted, compare_cells);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = put_cell(w, batch, w->sorted[i], err);
    if (st != GF_OK) {
        w->deleted = deleted;
        w->other_type = other_type;
        w->put = before;
    }
    *put = w->put - before;
    return st;
}

void gf_table_wide_put_counts(const gf_table_wide *w, gf_json_writer *json)
{
    gf_json_put_uint(json, "deleted", w->deleted);
    gf_json_put_uint(json, "other_type", w->other_type);
}
