/* papers dump: chosen columns of every paper, as members or as a line of TSV. */
#include "apps/papers/arguments_internal.h"

#include "base/memory.h"

enum { MOST_COLUMNS = 32, LONGEST_NAME = 16 };

typedef struct dumping {
    struct {
        unsigned family;
        char name[LONGEST_NAME];
    } columns[MOST_COLUMNS];
    size_t n;
    bool tsv;
    gf_buffer line, digits;
} dumping;

static gf_status choose_columns(gf_call *call, dumping *d, gf_error *err)
{
    static const char *const usual[] = {"mime",   "cdx",     "status_code", "quality",
                                        "status", "mstatus", "doi"};
    gf_slice *names = NULL;
    size_t n = 0;
    gf_status st = gf_call_list(call, "fields", &names, &n, err);
    bool given = n > 0;
    if (!given) n = sizeof usual / sizeof *usual;
    if (st == GF_OK && n > MOST_COLUMNS)
        st = gf_fail(err, GF_EINVAL, "more than %d columns", (int)MOST_COLUMNS);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        gf_slice name = given ? names[i] : gf_slice_str(usual[i]);
        st = gf_papers_column(name, &d->columns[i].family, err);
        if (st == GF_OK) memcpy(d->columns[i].name, name.ptr, name.len);
    }
    d->n = n;
    gf_free(names);
    return st;
}

/* TAB, LF, CR and backslash, as the readers of TSV take them back. */
static void append_escaped(gf_buffer *b, gf_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        const char *escape = c == '\t' ? "\\t" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : NULL;
        if (c == '\\') escape = "\\\\";
        if (escape)
            gf_buffer_str(b, escape);
        else
            gf_buffer_byte(b, c);
    }
}

/* The column's text; *is_number where it stands without quotes. */
static gf_status read_column(gf_papers_visit *w, const gf_sha1 *sha1, size_t i, gf_slice *value,
                             bool *found, bool *is_number, gf_error *err)
{
    dumping *d = w->context;
    gf_slice name = gf_slice_str(d->columns[i].name);
    gf_status st =
        gf_papers_visit_cell(w, sha1, d->columns[i].family, d->columns[i].name, value, found, err);
    *is_number = gf_papers_is_number(d->columns[i].family, name);
    if (st != GF_OK || !*found || !*is_number) return st;
    gf_buffer_reset(&d->digits);
    st = gf_papers_number(d->columns[i].family, name, *value, &d->digits, err);
    *value = gf_buffer_view(&d->digits);
    return st;
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

static gf_status dump_one(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    dumping *d = w->context;
    bool wanted = true, found, is_number;
    gf_slice value;
    gf_status st = gf_call_has(w->call, "only") ? check_wanted(w, sha1, &wanted, err) : GF_OK;
    if (st != GF_OK || !wanted) return st;
    gf_json_writer *json = gf_row_writer_begin(&w->to);
    gf_sha1_text key = gf_sha1_base32(sha1);
    gf_buffer_reset(&d->line);
    gf_buffer_str(&d->line, key.text);
    if (!d->tsv) gf_json_put_str(json, "sha1", key.text);
    for (size_t i = 0; i < d->n && st == GF_OK; i++) {
        st = read_column(w, sha1, i, &value, &found, &is_number, err);
        if (st != GF_OK) return st;
        gf_buffer_byte(&d->line, '\t');
        if (d->tsv && !found)
            gf_buffer_str(&d->line, "\\N");
        else if (d->tsv)
            append_escaped(&d->line, value);
        else if (found && is_number) {
            gf_json_key(json, d->columns[i].name);
            gf_json_raw(json, value);
        } else if (found) {
            gf_json_put_string(json, d->columns[i].name, value);
        }
    }
    gf_buffer_byte(&d->line, '\n');
    st = gf_buffer_check(&d->line, err);
    if (d->tsv) gf_json_put_string(json, "line", gf_buffer_view(&d->line));
    w->n++;
    return st == GF_OK ? gf_row_writer_emit(&w->to, err) : st;
}

static gf_status run_papers_dump(gf_call *call, gf_error *err)
{
    dumping d = {.tsv = gf_call_flag(call, "tsv")};
    gf_status st = choose_columns(call, &d, err);
    if (st == GF_OK) st = gf_papers_visit_all(call, dump_one, NULL, &d, err);
    gf_buffer_release(&d.line);
    gf_buffer_release(&d.digits);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter papers_dump_parameters[] = {
    P_LIST("fields", "COLUMN,...",
           "columns beside the SHA-1 (mime,cdx,status_code,quality,status,mstatus,doi)"),
    P_CHOICE("only", "all|extracted|missing|matched", "only papers of that state (all)"),
    P_FLAG("tsv", "each as a line of tab-separated values"),
    P_NUMBER("limit", 0, 0, "at most so many (all)"), P_PAPERS};

const gf_operation gf_papers_dump_operation = {
    .name = "papers dump",
    .method = "GET",
    .path = "/papers/dump",
    .meaning = "Give chosen columns of every paper",
    GF_PARAMETERS(papers_dump_parameters),
    .run = run_papers_dump,
};
