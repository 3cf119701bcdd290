/* papers show, list, counts, missing. */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/operations/schema.h"

#include "base/memory.h"

/* ---- show ------------------------------------------------------------------------------------ */

static bool is_json(gf_slice column)
{
    static const char *const names[] = {"c", "cdx", "meta", "status", "metadata", "minfo"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gf_slice_equal(column, gf_slice_str(names[i]))) return true;
    return false;
}

static bool is_long(gf_slice column)
{
    return gf_slice_equal(column, GF_SLICE("tei_xml")) ||
           gf_slice_equal(column, GF_SLICE("tei_json"));
}

/* JSON in one line: control bytes stand between its tokens alone. */
static void put_json(gf_json_writer *w, gf_slice json, gf_buffer *line)
{
    gf_buffer_reset(line);
    for (size_t i = 0; i < json.len; i++)
        gf_buffer_byte(line, (unsigned char)json.ptr[i] < ' ' ? ' ' : json.ptr[i]);
    gf_json_raw(w, gf_buffer_view(line));
}

/* A cell as a member: a number, JSON, text, or of a long text its length. */
static gf_status put_cell(gf_json_writer *w, unsigned role, const gf_cell *cell, gf_error *err)
{
    gf_buffer digits = {0};
    gf_status st = GF_OK;
    gf_slice name = cell->qualifier;
    bool known = role < GF_PAPERS_FAMILIES; /* names of other families mean nothing here */
    if (known && is_long(name)) {
        gf_json_put_uint(
            w, gf_slice_equal(name, GF_SLICE("tei_xml")) ? "tei_xml_bytes" : "tei_json_bytes",
            cell->value.len);
        return GF_OK;
    }
    gf_json_key_slice(w, name);
    if (gf_papers_is_number(role, name)) {
        st = gf_papers_number(role, name, cell->value, &digits, err);
        gf_json_raw(w, st == GF_OK ? gf_buffer_view(&digits) : GF_SLICE("0"));
    } else if (known && (is_json(name) || role == GF_PAPERS_CAPTURES) && cell->value.len) {
        put_json(w, cell->value, &digits);
        st = gf_buffer_check(&digits, err);
    } else {
        gf_json_string(w, cell->value);
    }
    gf_buffer_release(&digits);
    return st;
}

static gf_status emit_paper(gf_call *call, const gf_papers *papers, const gf_sha1 *sha1,
                            const gf_row *cells, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    const gf_schema *schema = gf_table_schema(gf_papers_table(papers));
    gf_status st = GF_OK;
    gf_json_put_str(w, "sha1", gf_sha1_base32(sha1).text);
    gf_json_put_str(w, "hex", gf_sha1_hex(sha1).text);
    for (size_t i = 0; i < cells->n_cells && st == GF_OK; i++) {
        bool first = i == 0 || cells->cells[i].family != cells->cells[i - 1].family;
        bool last = i + 1 == cells->n_cells || cells->cells[i].family != cells->cells[i + 1].family;
        if (first) {
            gf_json_key(w, schema->families[cells->cells[i].family].name);
            gf_json_begin(w, '{');
        }
        st = put_cell(w, gf_papers_role(papers, cells->cells[i].family), &cells->cells[i], err);
        if (last) gf_json_end(w, '}');
    }
    if (st == GF_OK) return gf_row_writer_emit_only(&row, err);
    gf_row_writer_release(&row);
    return st;
}

static gf_status emit_column(gf_call *call, gf_papers *papers, const gf_sha1 *sha1, gf_slice column,
                             gf_error *err)
{
    gf_row cells = {0};
    gf_row_writer row = {.call = call};
    gf_buffer digits = {0};
    unsigned family;
    gf_slice name;
    gf_status st = gf_papers_column(papers, column, &family, &name, err);
    if (st != GF_OK) return st;
    st = gf_papers_get_cell_of(papers, NULL, sha1, family, name, &cells, err);
    gf_slice value = st == GF_OK ? cells.cells[0].value : (gf_slice){"", 0};
    unsigned role = gf_papers_role(papers, family);
    if (st == GF_OK && gf_papers_is_number(role, name)) {
        st = gf_papers_number(role, name, value, &digits, err);
        value = gf_buffer_view(&digits);
    }
    if (st == GF_OK) {
        gf_json_writer *w = gf_row_writer_begin(&row);
        gf_json_put_str(w, "sha1", gf_sha1_base32(sha1).text);
        gf_json_put_string(w, "column", column);
        gf_json_put_string(w, "value", value);
        st = gf_row_writer_emit_only(&row, err);
    }
    gf_buffer_release(&digits);
    gf_row_release(&cells);
    return st;
}

static gf_status run_papers_show(gf_call *call, gf_error *err)
{
    gf_papers *papers = NULL;
    gf_row cells = {0};
    gf_sha1 sha1;
    gf_status st = gf_papers_sha1_of_call(call, &sha1, err);
    if (st == GF_OK) st = gf_papers_of_call(call, false, &papers, err);
    if (st == GF_OK && gf_call_has(call, "column")) {
        st = emit_column(call, papers, &sha1, gf_call_text(call, "column"), err);
    } else if (st == GF_OK) {
        st = gf_papers_get(papers, NULL, &sha1, GF_ALL_FAMILIES, &cells, err);
        if (st == GF_OK) st = emit_paper(call, papers, &sha1, &cells, err);
    }
    gf_row_release(&cells);
    gf_papers_close(papers);
    return st;
}

/* ---- list and missing ------------------------------------------------------------------------ */

static gf_status put_member(gf_papers_visit *w, gf_json_writer *json, const gf_sha1 *sha1,
                            unsigned family, const char *column, const char *member, gf_error *err)
{
    gf_slice value, text;
    bool found;
    gf_status st = gf_papers_visit_cell(w, sha1, family, column, &value, &found, err);
    if (st == GF_OK && found) st = gf_papers_visit_member(w, value, member, &text, err);
    if (st == GF_OK && found && text.len) gf_json_put_string(json, member, text);
    return st;
}

static gf_status put_column(gf_papers_visit *w, gf_json_writer *json, const gf_sha1 *sha1,
                            unsigned family, const char *column, gf_error *err)
{
    gf_slice value;
    bool found;
    gf_status st = gf_papers_visit_cell(w, sha1, family, column, &value, &found, err);
    if (st == GF_OK && found) gf_json_put_string(json, column, value);
    return st;
}

static void put_code(gf_json_writer *json, int64_t code)
{
    gf_json_key(json, "status_code");
    gf_json_int(json, code);
}

static gf_status list_one(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    int64_t code = 0;
    bool extracted;
    gf_json_writer *json = gf_row_writer_begin(&w->to);
    gf_json_put_str(json, "sha1", gf_sha1_base32(sha1).text);
    gf_status st = put_column(w, json, sha1, GF_PAPERS_FILE, "mime", err);
    if (st == GF_OK) st = put_member(w, json, sha1, GF_PAPERS_FILE, "cdx", "url", err);
    if (st == GF_OK) st = gf_papers_visit_code(w, sha1, &code, &extracted, err);
    if (st != GF_OK) return st;
    if (extracted) {
        put_code(json, code);
        st = put_member(w, json, sha1, GF_PAPERS_GROBID, "status", "status", err);
        if (st == GF_OK) st = put_column(w, json, sha1, GF_PAPERS_GROBID, "quality", err);
        if (st == GF_OK) st = put_member(w, json, sha1, GF_PAPERS_GROBID, "metadata", "title", err);
    }
    if (st == GF_OK) st = put_column(w, json, sha1, GF_PAPERS_MATCH, "mstatus", err);
    if (st == GF_OK) st = put_column(w, json, sha1, GF_PAPERS_MATCH, "doi", err);
    w->n++;
    return st == GF_OK ? gf_row_writer_emit(&w->to, err) : st;
}

static gf_status run_papers_list(gf_call *call, gf_error *err)
{
    return gf_papers_visit_all(call, list_one, NULL, NULL, err);
}

/* Members of a failed extraction; *failed is false where it is a text. */
static gf_status put_failure(gf_papers_visit *w, gf_json_writer *json, const gf_sha1 *sha1,
                             int64_t code, bool *failed, gf_error *err)
{
    gf_slice value, text;
    bool found;
    int64_t time = w->row.cells[0].timestamp; /* of the code, which was read last */
    gf_status st = gf_papers_visit_cell(w, sha1, GF_PAPERS_GROBID, "status", &value, &found, err);
    if (st == GF_OK) st = gf_papers_visit_member(w, value, "status", &text, err);
    *failed = st == GF_OK && !gf_slice_equal(text, GF_SLICE("success"));
    if (!*failed) return st;
    put_code(json, code);
    gf_json_put_string(json, "status", text);
    gf_row_put_time(json, "time", time);
    st = put_member(w, json, sha1, GF_PAPERS_GROBID, "status", "reason", err);
    return st == GF_OK ? put_member(w, json, sha1, GF_PAPERS_GROBID, "status", "description", err)
                       : st;
}

static gf_status list_missing(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    int64_t code;
    bool extracted, wants_failed = gf_call_flag(w->call, "failed"), failed = true;
    gf_status st = gf_papers_visit_code(w, sha1, &code, &extracted, err);
    if (st != GF_OK || extracted != wants_failed) return st;
    gf_json_writer *json = gf_row_writer_begin(&w->to);
    gf_json_put_str(json, "sha1", gf_sha1_base32(sha1).text);
    if (wants_failed) st = put_failure(w, json, sha1, code, &failed, err);
    if (st != GF_OK || !failed) return st;
    st = put_column(w, json, sha1, GF_PAPERS_FILE, "mime", err);
    static const char *const members[] = {"url", "dt", "warc", "offset", "c_size"};
    for (size_t i = 0; i < sizeof members / sizeof *members && st == GF_OK; i++)
        st = put_member(w, json, sha1, GF_PAPERS_FILE, "cdx", members[i], err);
    w->n++;
    return st == GF_OK ? gf_row_writer_emit(&w->to, err) : st;
}

static gf_status run_papers_missing(gf_call *call, gf_error *err)
{
    gf_status st = gf_papers_role_check(call, "group", GF_PAPERS_GROBID, err);
    return st == GF_OK ? gf_papers_visit_all(call, list_missing, NULL, NULL, err) : st;
}

/* ---- counts ---------------------------------------------------------------------------------- */

typedef struct counting {
    struct {
        int64_t code;
        char status[16];
        uint64_t n;
    } counts[64];
    size_t n_counts;
    uint64_t without;
} counting;

static gf_status count_one(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    int64_t code;
    bool extracted, found;
    gf_slice value, status;
    counting *c = w->context;
    size_t i = 0, most = sizeof c->counts / sizeof *c->counts;
    gf_status st = gf_papers_visit_code(w, sha1, &code, &extracted, err);
    if (st != GF_OK || !extracted) {
        c->without += st == GF_OK;
        return st;
    }
    st = gf_papers_visit_cell(w, sha1, GF_PAPERS_GROBID, "status", &value, &found, err);
    if (st == GF_OK) st = gf_papers_visit_member(w, value, "status", &status, err);
    if (st != GF_OK) return st;
    if (status.len >= sizeof c->counts[0].status) status.len = sizeof c->counts[0].status - 1;
    while (i < c->n_counts && (c->counts[i].code != code ||
                               !gf_slice_equal(status, gf_slice_str(c->counts[i].status))))
        i++;
    if (i == most) return gf_fail(err, GF_ELIMIT, "more than %zu kinds of status", most);
    if (i == c->n_counts) {
        c->counts[i].code = code;
        memcpy(c->counts[i].status, status.ptr, status.len);
        c->n_counts++;
    }
    c->counts[i].n++;
    return GF_OK;
}

static gf_status emit_counts(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    gf_status st = GF_OK;
    counting *c = w->context;
    uint64_t left = c->n_counts;
    (void)sha1;
    while (left > 0 && st == GF_OK) { /* the most frequent that is left */
        size_t best = 0;
        for (size_t i = 1; i < c->n_counts; i++)
            if (c->counts[i].n > c->counts[best].n ||
                (c->counts[i].n == c->counts[best].n && c->counts[i].code < c->counts[best].code))
                best = i;
        gf_json_writer *json = gf_row_writer_begin(&w->to);
        put_code(json, c->counts[best].code);
        gf_json_put_str(json, "status", c->counts[best].status);
        gf_json_put_uint(json, "papers", c->counts[best].n);
        st = gf_row_writer_emit(&w->to, err);
        c->counts[best].n = 0;
        left--;
    }
    if (st != GF_OK || c->without == 0) return st;
    gf_json_writer *json = gf_row_writer_begin(&w->to);
    gf_json_put_str(json, "status", "missing");
    gf_json_put_uint(json, "papers", c->without);
    return gf_row_writer_emit(&w->to, err);
}

static gf_status run_papers_counts(gf_call *call, gf_error *err)
{
    counting c = {.n_counts = 0};
    gf_status st = gf_papers_role_check(call, "group", GF_PAPERS_GROBID, err);
    return st == GF_OK ? gf_papers_visit_all(call, count_one, emit_counts, &c, err) : st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter papers_show_parameters[] = {
    P_REQUIRED("sha1", "SHA1", "the file's SHA-1: hexadecimal, base32 or sha1:BASE32"),
    P_TEXT("column", "COLUMN",
           "instead the value of this column, such as tei_xml, grobid1:tei_xml"),
    P_GROUPS, P_PAPERS};

static const gf_parameter papers_list_parameters[] = {
    P_NUMBER("limit", 0, 0, "at most so many (all)"), P_GROUPS, P_PAPERS};

static const gf_parameter papers_missing_parameters[] = {
    P_FLAG("failed", "instead those whose extraction failed"),
    P_NUMBER("limit", 0, 0, "at most so many (all)"), P_GROUP, P_PAPERS};

static const gf_parameter papers_counts_parameters[] = {P_GROUP, P_PAPERS};

const gf_operation gf_papers_show_operation = {
    .name = "papers show",
    .method = "GET",
    .path = "/papers/{sha1}",
    .meaning = "Show a paper",
    GF_PARAMETERS(papers_show_parameters),
    .members = gf_schema_papers_show,
    .run = run_papers_show,
};

const gf_operation gf_papers_list_operation = {
    .name = "papers list",
    .method = "GET",
    .path = "/papers",
    .meaning = "List papers",
    GF_PARAMETERS(papers_list_parameters),
    .members = gf_schema_papers_list,
    .run = run_papers_list,
};

const gf_operation gf_papers_counts_operation = {
    .name = "papers counts",
    .method = "GET",
    .path = "/papers/counts",
    .meaning = "Count papers by the state of their extraction",
    GF_PARAMETERS(papers_counts_parameters),
    .members = gf_schema_papers_counts,
    .run = run_papers_counts,
};

const gf_operation gf_papers_missing_operation = {
    .name = "papers missing",
    .method = "GET",
    .path = "/papers/missing",
    .meaning = "List papers that lack an extraction",
    GF_PARAMETERS(papers_missing_parameters),
    .members = gf_schema_papers_missing,
    .run = run_papers_missing,
};
