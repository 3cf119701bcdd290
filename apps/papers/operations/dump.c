/*
 * papers dump: chosen columns of every paper, as members or as a line of TSV; `papers import` takes
 * both back.
 *
 *     number   size, status_code        text that is UTF-8        other bytes    not there
 *     JSON     22                       "..."                     {"hex": ".."}  no member
 *     TSV      22                       \t \n \r \\ for four     \xHH           \N
 */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/operations/schema.h"

#include "base/arena.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/utf8.h"

typedef struct dumped_column {
    unsigned family, role;
    const char *name; /* in the family; NULL: all cells of one that declares none */
    gf_slice shown;   /* as it was asked for */
} dumped_column;

typedef struct dumping {
    dumped_column *columns; /* n of capacity */
    size_t n, capacity;
    bool tsv, header;
    bool whole; /* all columns: rows are read at once */
    gf_arena memory;
    gf_buffer line, digits;
} dumping;

/* ---- columns --------------------------------------------------------------------------------- */

static gf_status add_column(dumping *d, const gf_papers *papers, unsigned family, gf_slice column,
                            gf_slice shown, gf_error *err)
{
    dumped_column c = {family, gf_papers_role(papers, family), NULL, {NULL, 0}};
    if (column.ptr) c.name = gf_arena_copy(&d->memory, column).ptr;
    c.shown = gf_arena_copy(&d->memory, shown);
    if ((column.ptr && !c.name) || !c.shown.ptr ||
        !gf_grow(&d->columns, &d->capacity, d->n + 1, sizeof *d->columns))
        return gf_fail_memory(err, "columns");
    d->columns[d->n++] = c;
    return GF_OK;
}

/* Each as family:column, which is unambiguous where there are several groups. */
static gf_status add_all(dumping *d, const gf_papers *papers, gf_error *err)
{
    const gf_schema *schema = gf_table_schema(gf_papers_table(papers));
    gf_buffer name = {0};
    gf_status st = GF_OK;
    unsigned order[GF_PAPERS_MOST_FAMILIES];
    gf_papers_families(papers, order);
    d->whole = true;
    for (unsigned i = 0; i < schema->n_families; i++) {
        unsigned f = order[i];
        const gf_family *family = &schema->families[f];
        if (st == GF_OK && (!family->columns || !family->columns[0]))
            st = add_column(d, papers, f, (gf_slice){NULL, 0}, gf_slice_str(family->name), err);
        for (size_t c = 0; family->columns && family->columns[c] && st == GF_OK; c++) {
            gf_buffer_reset(&name);
            gf_buffer_format(&name, "%s:%s", family->name, family->columns[c]);
            st = gf_buffer_check(&name, err);
            if (st == GF_OK)
                st = add_column(d, papers, f, gf_slice_str(family->columns[c]),
                                gf_buffer_view(&name), err);
        }
    }
    gf_buffer_release(&name);
    return st;
}

static gf_status add_names(dumping *d, const gf_papers *papers, const gf_slice *names, size_t n,
                           gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        unsigned family;
        gf_slice column;
        if (gf_slice_equal(names[i], GF_SLICE("all"))) {
            st = add_all(d, papers, err);
            continue;
        }
        st = gf_papers_column_or_family(papers, names[i], &family, &column, err);
        if (st == GF_OK) st = add_column(d, papers, family, column, names[i], err);
    }
    return st;
}

static gf_status check_twice(const dumping *d, gf_error *err)
{
    for (size_t i = 0; i < d->n; i++)
        for (size_t j = 0; j < i; j++)
            if (gf_slice_equal(d->columns[i].shown, d->columns[j].shown))
                return gf_fail(err, GF_EINVAL, "--fields names %.*s twice",
                               GF_SLICE_ARG(d->columns[i].shown));
    return GF_OK;
}

static gf_status choose_columns(gf_call *call, dumping *d, gf_error *err)
{
    static const gf_slice usual[] = {{"mime", 4},    {"cdx", 3},    {"status_code", 11},
                                     {"quality", 7}, {"status", 6}, {"mstatus", 7},
                                     {"doi", 3}};
    gf_slice *names = NULL;
    gf_papers *papers = NULL;
    size_t n = 0;
    gf_status st = gf_call_list(call, "fields", &names, &n, err);
    if (st == GF_OK) st = gf_papers_of_call(call, false, &papers, err);
    if (st == GF_OK)
        st = n ? add_names(d, papers, names, n, err)
               : add_names(d, papers, usual, sizeof usual / sizeof *usual, err);
    if (st == GF_OK) st = check_twice(d, err);
    gf_papers_close(papers);
    gf_free(names);
    return st;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* TAB, LF, CR and backslash, as the readers of TSV take them back; what is no UTF-8 byte by byte. */
static void append_escaped(gf_buffer *b, gf_slice text)
{
    for (size_t i = 0, valid = gf_utf8_valid_length(text); i < text.len; i++) {
        char c = text.ptr[i];
        const char *escape = c == '\t' ? "\\t" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : NULL;
        if (c == '\\') escape = "\\\\";
        if (i >= valid && (c & 0x80))
            gf_buffer_format(b, "\\x%02x", (unsigned)(unsigned char)c);
        else if (c == '\0')
            gf_buffer_str(b, "\\x00");
        else if (escape)
            gf_buffer_str(b, escape);
        else
            gf_buffer_byte(b, c);
    }
}

static void put_hex(gf_json_writer *json, gf_slice bytes, gf_buffer *digits)
{
    gf_buffer_reset(digits);
    for (size_t i = 0; i < bytes.len; i++) {
        gf_buffer_byte(digits, "0123456789abcdef"[(unsigned char)bytes.ptr[i] >> 4]);
        gf_buffer_byte(digits, "0123456789abcdef"[bytes.ptr[i] & 15]);
    }
    gf_json_begin(json, '{');
    gf_json_put_string(json, "hex", gf_buffer_view(digits));
    gf_json_end(json, '}');
}

/* The column's bytes, of a row that was read or by a read of its own. */
static gf_status read_column(gf_papers_visit *w, const gf_sha1 *sha1, const dumped_column *c,
                             gf_slice *value, bool *found, gf_error *err)
{
    dumping *d = w->context;
    gf_status st = GF_OK;
    if (!c->name) {
        if (!d->whole)
            st = gf_papers_get(w->papers, gf_papers_scan_snapshot(w->walk), sha1,
                               UINT32_C(1) << c->family, &w->row, err);
        *found = false;
        for (size_t i = 0; st == GF_OK && i < w->row.n_cells; i++)
            *found |= w->row.cells[i].family == c->family;
        return st == GF_ENOTFOUND ? GF_OK : st;
    }
    if (d->whole) {
        const gf_cell *cell = gf_row_find(&w->row, c->family, c->name);
        *found = cell != NULL;
        *value = cell ? cell->value : (gf_slice){"", 0};
        return GF_OK;
    }
    st = gf_papers_get_cell_of(w->papers, gf_papers_scan_snapshot(w->walk), sha1, c->family,
                               gf_slice_str(c->name), &w->row, err);
    *found = st == GF_OK;
    *value = *found ? w->row.cells[0].value : (gf_slice){"", 0};
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* {"qualifier": "value", ...}, of a family that declares no columns. */
static gf_status put_family(dumping *d, gf_json_writer *json, const dumped_column *c,
                            const gf_row *row, gf_error *err)
{
    gf_buffer object = {0};
    gf_json_writer w = gf_json_writer_to(&object);
    gf_json_begin(&w, '{');
    for (size_t i = 0; i < row->n_cells; i++) {
        if (row->cells[i].family != c->family) continue;
        gf_json_key_slice(&w, row->cells[i].qualifier);
        if (gf_utf8_is_valid(row->cells[i].value))
            gf_json_string(&w, row->cells[i].value);
        else
            put_hex(&w, row->cells[i].value, &d->digits);
    }
    gf_json_end(&w, '}');
    gf_status st = gf_buffer_check(&object, err);
    if (st == GF_OK && d->tsv) {
        append_escaped(&d->line, gf_buffer_view(&object));
    } else if (st == GF_OK) {
        gf_json_key_slice(json, c->shown);
        gf_json_raw(json, gf_buffer_view(&object));
    }
    gf_buffer_release(&object);
    return st;
}

static gf_status put_column(dumping *d, gf_json_writer *json, const dumped_column *c,
                            gf_slice value, gf_error *err)
{
    bool number = gf_papers_is_number(c->role, gf_slice_str(c->name));
    gf_status st = GF_OK;
    if (number) {
        gf_buffer_reset(&d->digits);
        st = gf_papers_number(c->role, gf_slice_str(c->name), value, &d->digits, err);
        if (st != GF_OK) return st;
        value = gf_buffer_view(&d->digits);
    }
    if (d->tsv) {
        append_escaped(&d->line, value);
        return GF_OK;
    }
    gf_json_key_slice(json, c->shown);
    if (number)
        gf_json_raw(json, value);
    else if (gf_utf8_is_valid(value))
        gf_json_string(json, value);
    else
        put_hex(json, value, &d->digits);
    return gf_buffer_check(&d->digits, err);
}

static bool is_wanted(const gf_call *call, bool extracted, bool matched)
{
    gf_slice only = gf_call_text_or(call, "only", "all");
    if (gf_slice_equal(only, GF_SLICE("extracted"))) return extracted;
    if (gf_slice_equal(only, GF_SLICE("missing"))) return !extracted;
    return matched || gf_slice_equal(only, GF_SLICE("all"));
}

static gf_status check_wanted(gf_papers_visit *w, const gf_sha1 *sha1, bool *wanted, gf_error *err)
{
    gf_slice value;
    int64_t code;
    bool extracted, found;
    gf_status st = gf_papers_visit_code(w, sha1, &code, &extracted, err);
    if (st == GF_OK)
        st = gf_papers_visit_cell(w, sha1, GF_PAPERS_MATCH, "mstatus", &value, &found, err);
    if (st == GF_OK)
        *wanted = is_wanted(w->call, extracted, found && gf_slice_equal(value, GF_SLICE("match")));
    return st;
}

static gf_status emit_header(gf_call *call, dumping *d, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_json_writer *json = gf_row_writer_begin(&row);
    gf_buffer_str(&d->line, "sha1");
    for (size_t i = 0; i < d->n; i++) {
        gf_buffer_byte(&d->line, '\t');
        append_escaped(&d->line, d->columns[i].shown);
    }
    gf_buffer_byte(&d->line, '\n');
    gf_json_put_string(json, "line", gf_buffer_view(&d->line));
    gf_status st = gf_buffer_check(&d->line, err);
    if (st == GF_OK) return gf_row_writer_emit_only(&row, err);
    gf_row_writer_release(&row);
    return st;
}

static gf_status dump_one(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    dumping *d = w->context;
    bool wanted = true, found = false;
    gf_slice value = {0};
    gf_status st = gf_call_has(w->call, "only") ? check_wanted(w, sha1, &wanted, err) : GF_OK;
    if (st != GF_OK || !wanted) return st;
    gf_json_writer *json = gf_row_writer_begin(&w->to);
    gf_sha1_text key = gf_sha1_base32(sha1);
    gf_buffer_reset(&d->line);
    gf_buffer_str(&d->line, key.text);
    if (!d->tsv) gf_json_put_str(json, "sha1", key.text);
    if (d->whole)
        st = gf_papers_get(w->papers, gf_papers_scan_snapshot(w->walk), sha1, GF_ALL_FAMILIES,
                           &w->row, err);
    for (size_t i = 0; i < d->n && st == GF_OK; i++) {
        st = read_column(w, sha1, &d->columns[i], &value, &found, err);
        if (st != GF_OK) return st;
        gf_buffer_byte(&d->line, '\t');
        if (found && !d->columns[i].name)
            st = put_family(d, json, &d->columns[i], &w->row, err);
        else if (found)
            st = put_column(d, json, &d->columns[i], value, err);
        else
            gf_buffer_str(&d->line, "\\N");
    }
    gf_buffer_byte(&d->line, '\n');
    if (st == GF_OK) st = gf_buffer_check(&d->line, err);
    if (st != GF_OK) return st;
    if (d->tsv) gf_json_put_string(json, "line", gf_buffer_view(&d->line));
    w->n++;
    return gf_row_writer_emit(&w->to, err);
}

static gf_status run_papers_dump(gf_call *call, gf_error *err)
{
    dumping d = {.tsv = gf_call_flag(call, "tsv") || gf_call_flag(call, "header")};
    gf_status st = choose_columns(call, &d, err);
    if (st == GF_OK && gf_call_flag(call, "header")) st = emit_header(call, &d, err);
    if (st == GF_OK) st = gf_papers_visit_all(call, dump_one, NULL, &d, err);
    gf_free(d.columns);
    gf_arena_release(&d.memory);
    gf_buffer_release(&d.line);
    gf_buffer_release(&d.digits);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter papers_dump_parameters[] = {
    P_LIST("fields", "COLUMN,...",
           "columns beside the SHA-1, or all (mime,cdx,status_code,quality,status,mstatus,doi)"),
    P_CHOICE("only", "all|extracted|missing|matched", "only papers of that state (all)"),
    P_FLAG("tsv", "each as a line of tab-separated values"),
    P_FLAG("header", "such lines, and before them one with the names of the columns"),
    P_NUMBER("limit", 0, 0, "at most so many (all)"),
    P_GROUPS,
    P_PAPERS};

const gf_operation gf_papers_dump_operation = {
    .name = "papers dump",
    .method = "GET",
    .path = "/papers/dump",
    .meaning = "Give chosen columns of every paper",
    GF_PARAMETERS(papers_dump_parameters),
    .members = gf_schema_papers_dump,
    .run = run_papers_dump,
};
