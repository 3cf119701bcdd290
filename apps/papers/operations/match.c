/*
 * papers match: each paper with a title is looked up in a catalogue, which is the input, or a part of
 * one. What comes out is joined with what earlier parts gave: see works.h.
 *
 *     titles of the papers | records of the input that have one of these | papers, one by one
 */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/matching/doi.h"
#include "apps/papers/matching/works.h"
#include "apps/papers/operations/schema.h"
#include "base/utf8.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

typedef struct matching {
    gf_call *call;
    gf_catalogue *catalogue;
    gf_works *works;
    gf_reader *reader;        /* of the catalogue */
    gf_papers_import *import; /* NULL with dry-run, and before the first */
    gf_json_parser *json;     /* of what is stored */
    gf_buffer info, doi;
    uint64_t titled, authored; /* records of the input that have a title, and authors besides */
    uint64_t records;
} matching;

/* ---- the catalogue --------------------------------------------------------------------------- */

static gf_status next_work(void *context, gf_record *record, gf_error *err)
{
    return gf_reader_next(((matching *)context)->reader, record, err);
}

static gf_status add_work(void *context, const gf_record *record, gf_error *err)
{
    matching *m = context;
    gf_work work;
    gf_status st = gf_catalogue_read(m->catalogue, record, &work, err);
    if (st != GF_OK) return st;
    m->records++;
    m->titled += work.n_titles > 0;
    m->authored += work.n_titles > 0 && work.surnames.len > 0;
    return gf_works_add(m->works, &work, err);
}

/* Say what the records lack, where that is more than a few of them. */
static void tell_missing(const matching *m)
{
    char message[200] = "";
    const char *reason = "without_authors";
    if (m->records && m->titled == 0) {
        reason = "without_titles";
        snprintf(message, sizeof message, "no record has a title (--title FIELD names its field)");
    } else if (m->titled && m->authored == 0) {
        snprintf(message, sizeof message,
                 "no record has authors (--authors FIELD names their field): without them a paper "
                 "is ambiguous at most");
    } else if (m->authored < m->titled / 2) {
        snprintf(message, sizeof message,
                 "%llu of %llu records have no authors: by these a paper is ambiguous at most",
                 (unsigned long long)(m->titled - m->authored), (unsigned long long)m->titled);
    }
    if (!message[0]) return;
    gf_notice n = {reason, GF_SLICE("the catalogue"), 0, message, false};
    gf_call_notify(m->call, &n);
}

static gf_status read_catalogue(gf_call *call, matching *m, gf_error *err)
{
    gf_reader_options o = {.decoding = gf_records_decoding(call)};
    gf_intake intake = {.call = call, .context = m, .next = next_work, .take = add_work};
    gf_catalogue_options(m->catalogue, &o);
    gf_format_named(gf_call_text_or(call, "from", "auto"), &o.format);
    gf_status st = gf_reader_open(&call->input, &o, &m->reader, err);
    if (st == GF_OK) st = gf_intake_run(&intake, err);
    gf_reader_close(m->reader);
    if (st == GF_OK && m->records && m->titled == 0 && gf_call_has(call, "title"))
        return gf_fail(err, GF_EINVAL, "no record has a title in the field \"%.*s\"",
                       GF_SLICE_ARG(gf_utf8_cut(gf_call_text(call, "title"), 80)));
    if (st == GF_OK) tell_missing(m);
    return st;
}

/* ---- papers ---------------------------------------------------------------------------------- */

/* The paper's metadata, and its title; an empty title where it has none. */
static gf_status read_paper(gf_papers_visit *w, const gf_sha1 *sha1, gf_json_value *root,
                            gf_slice *title, gf_error *err)
{
    gf_json_value v;
    gf_slice value;
    bool found;
    *title = (gf_slice){"", 0};
    gf_status st = gf_papers_visit_cell(w, sha1, GF_PAPERS_GROBID, "metadata", &value, &found, err);
    if (st != GF_OK || !found) return st;
    st = gf_json_parse_copy(w->json, value, root, err);
    if (st != GF_OK) return st == GF_EINVAL ? GF_ECORRUPT : st;
    if (gf_json_member(*root, "title", &v) && gf_json_kind_of(v) == GF_JSON_STRING)
        *title = gf_json_get_string(v);
    return GF_OK;
}

static gf_status want_title(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    gf_json_value root;
    gf_slice title;
    gf_status st = read_paper(w, sha1, &root, &title, err);
    return st == GF_OK && title.len ? gf_works_want(((matching *)w->context)->works, title, err)
                                    : st;
}

static gf_slice text_of(gf_json_value root, const char *name)
{
    gf_json_value v;
    bool has = gf_json_member(root, name, &v) && gf_json_kind_of(v) == GF_JSON_STRING;
    return has ? gf_json_get_string(v) : (gf_slice){"", 0};
}

/* The match that minfo tells of, with what mstatus and the column doi add to it. */
static void read_info(gf_json_value root, bool is_match, bool is_ambiguous, gf_slice doi,
                      gf_works_match *match)
{
    gf_json_value v;
    bool by_title = gf_slice_equal(text_of(root, "by"), GF_SLICE("title"));
    bool has_score = gf_json_member(root, "score", &v) && gf_json_is_number(v);
    double score = has_score ? gf_json_number(v) : 0;
    has_score = has_score && score >= 0 && score <= GF_SCORE_MOST; /* else it is no score of ours */
    match->id = text_of(root, "record");
    match->doi = text_of(root, "doi");
    match->also = text_of(root, "also");
    if (!match->doi.len) match->doi = doi; /* of a version that did not write it */
    match->score = has_score ? (int)score : 0;
    match->kind = is_match                   ? GF_MATCH_AGREES
                  : is_ambiguous && by_title ? GF_MATCH_TITLE
                  : is_ambiguous             ? GF_MATCH_AGREES
                  : has_score                ? GF_MATCH_DIFFERS
                                             : GF_MATCH_NONE;
    match->others = is_ambiguous && !by_title && !match->also.len;
}

/* The match that is stored, borrowed from m; *found is false where the row has none. */
static gf_status read_stored(gf_papers_visit *w, matching *m, const gf_sha1 *sha1,
                             gf_works_match *match, bool *found, gf_error *err)
{
    gf_json_value root;
    gf_slice value;
    bool has_doi, has_info;
    *match = (gf_works_match){.id = {"", 0}, .doi = {"", 0}, .also = {"", 0}};
    gf_status st = gf_papers_visit_cell(w, sha1, GF_PAPERS_MATCH, "mstatus", &value, found, err);
    if (st != GF_OK || !*found) return st;
    bool is_match = gf_slice_equal(value, GF_SLICE("match"));
    bool is_ambiguous = gf_slice_equal(value, GF_SLICE("ambiguous"));
    gf_buffer_reset(&m->doi);
    st = gf_papers_visit_cell(w, sha1, GF_PAPERS_MATCH, "doi", &value, &has_doi, err);
    if (st == GF_OK && has_doi) gf_doi_append(value, &m->doi);
    if (st == GF_OK) st = gf_buffer_check(&m->doi, err);
    if (st == GF_OK)
        st = gf_papers_visit_cell(w, sha1, GF_PAPERS_MATCH, "minfo", &value, &has_info, err);
    if (st == GF_OK)
        st = gf_json_parse_copy(m->json, has_info ? value : GF_SLICE("{}"), &root, err);
    if (st == GF_EINVAL)
        return gf_fail(err, GF_ECORRUPT, "table of papers: match0:minfo is no JSON");
    if (st == GF_OK)
        read_info(root, is_match, is_ambiguous,
                  m->doi.len ? gf_buffer_view(&m->doi) : (gf_slice){"", 0}, match);
    return st;
}

/* As members of minfo, and of a row: the DOI, where the row has not got it already. */
static void put_match(gf_json_writer *json, const gf_works_match *match, bool with_doi)
{
    if (match->kind == GF_MATCH_NONE) return;
    gf_json_put_string(json, "record", match->id);
    gf_json_put_uint(json, "score", (uint64_t)match->score);
    if (with_doi && match->doi.len) gf_json_put_string(json, "doi", match->doi);
    if (match->also.len) gf_json_put_string(json, "also", match->also);
    if (match->kind == GF_MATCH_TITLE) gf_json_put_str(json, "by", "title");
}

static gf_status store_match(gf_papers_visit *w, matching *m, const gf_sha1 *sha1,
                             const gf_works_match *match, gf_error *err)
{
    gf_status st = GF_OK;
    if (!m->import) st = gf_papers_import_open(w->papers, true, &m->import, err);
    gf_buffer_reset(&m->info);
    gf_json_writer json = gf_json_writer_to(&m->info);
    gf_json_begin(&json, '{');
    put_match(&json, match, true);
    gf_json_end(&json, '}');
    if (st == GF_OK) st = gf_buffer_check(&m->info, err);
    gf_papers_match stored = {gf_works_match_status(match), gf_works_match_doi(match),
                              gf_buffer_view(&m->info)};
    return st == GF_OK ? gf_papers_import_match(m->import, sha1, &stored, err) : st;
}

static gf_status emit_match(gf_papers_visit *w, const gf_sha1 *sha1, const gf_works_match *match,
                            gf_slice title, gf_error *err)
{
    gf_slice doi = gf_works_match_doi(match);
    gf_json_writer *json = gf_row_writer_begin(&w->to);
    gf_json_put_str(json, "sha1", gf_sha1_base32(sha1).text);
    gf_json_put_str(json, "mstatus", gf_works_match_status(match));
    if (doi.len) gf_json_put_string(json, "doi", doi);
    put_match(json, match, false);
    gf_json_put_string(json, "title", title);
    return gf_row_writer_emit(&w->to, err);
}

/* The best of the catalogue for a paper with that title; none where it has no title. */
static gf_status find_match(matching *m, gf_json_value root, gf_slice title, gf_works_match *match,
                            gf_error *err)
{
    gf_json_value authors;
    *match = (gf_works_match){.id = {"", 0}, .doi = {"", 0}, .also = {"", 0}};
    if (title.len == 0) return GF_OK;
    if (!gf_json_member(root, "authors", &authors)) authors = root; /* which is no list of them */
    return gf_works_find(m->works, title, authors, m->call->cancel, match, err);
}

/* A paper that has no title, or lost it, has no match; only --replace forgets the one it had. */
static gf_status match_one(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    matching *m = w->context;
    gf_works_match match, stored;
    gf_json_value root;
    gf_slice title;
    bool has = false, replaces = gf_call_flag(m->call, "replace");
    gf_status st = read_paper(w, sha1, &root, &title, err);
    if (st != GF_OK || (title.len == 0 && !replaces)) return st;
    st = find_match(m, root, title, &match, err);
    if (st == GF_OK) st = read_stored(w, m, sha1, &stored, &has, err);
    if (st != GF_OK || (title.len == 0 && !has)) return st;
    if (has && !replaces) match = gf_works_match_join(&stored, &match);
    bool same = has && gf_works_match_equal(&stored, &match);
    if (!same && !gf_call_flag(m->call, "dry-run")) st = store_match(w, m, sha1, &match, err);
    return st == GF_OK ? emit_match(w, sha1, &match, title, err) : st;
}

static gf_status flush_matches(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    matching *m = w->context;
    (void)sha1;
    return m->import ? gf_papers_import_flush(m->import, err) : GF_OK;
}

/* Parts that are matched at once by a server are joined one after the other. */
static gf_status match_all(gf_call *call, matching *m, gf_error *err)
{
    static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;
    const struct timespec pause = {0, 20000000};
    gf_status st = GF_OK;
    while (pthread_mutex_trylock(&joining) != 0) {
        st = gf_cancel_check(call->cancel, err);
        if (st != GF_OK) return st;
        nanosleep(&pause, NULL);
    }
    st = gf_papers_visit_all(call, match_one, flush_matches, m, err);
    pthread_mutex_unlock(&joining);
    return st;
}

static gf_status run_papers_match(gf_call *call, gf_error *err)
{
    matching m = {.call = call};
    gf_catalogue_fields fields = {gf_call_text(call, "id"), gf_call_text(call, "title"),
                                  gf_call_text(call, "doi"), gf_call_text(call, "authors")};
    gf_status st = gf_papers_role_check(call, "group", GF_PAPERS_MATCH, err);
    if (st == GF_OK) st = gf_papers_role_check(call, "from-group", GF_PAPERS_GROBID, err);
    if (st == GF_OK) st = gf_catalogue_create(&fields, &m.catalogue, err);
    if (st == GF_OK) st = gf_works_create(&m.works, err);
    if (st == GF_OK) st = gf_json_parser_create(&m.json, err);
    if (st == GF_OK && gf_call_has(call, "group") && !gf_call_flag(call, "dry-run"))
        st = gf_papers_make_group(call, err);
    if (st == GF_OK) st = gf_papers_visit_all(call, want_title, NULL, &m, err);
    if (st == GF_OK) st = read_catalogue(call, &m, err);
    if (st == GF_OK) st = match_all(call, &m, err);
    gf_papers_import_close(m.import);
    gf_json_parser_free(m.json);
    gf_works_free(m.works);
    gf_catalogue_free(m.catalogue);
    gf_buffer_release(&m.info);
    gf_buffer_release(&m.doi);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter papers_match_parameters[] = {
    P_TEXT("id", "FIELD", "field of the catalogue that is the id (id, ident, DOI)"),
    P_TEXT("title", "FIELD", "field that is the title, such as bib.title (title)"),
    P_TEXT("doi", "FIELD", "field that is the DOI (DOI, doi, ext_ids.doi)"),
    P_TEXT("authors", "FIELD", "field that has the authors (authors, author, contribs)"),
    P_CHOICE("from", GF_FORMAT_NAMES, "format of the catalogue, where the name does not tell it"),
    P_ENCODING,
    P_FLAG("replace", "forget what earlier catalogues gave, instead of joining it"),
    P_FLAG("dry-run", "store nothing"),
    P_UNPACKED,
    P_TEXT("group", "GROUP", "the group to write, made where it is missing (match0)"),
    P_TEXT("from-group", "GROUP", "the group whose metadata is matched (grobid0)"),
    P_PAPERS};

const gf_operation gf_papers_match_operation = {
    .name = "papers match",
    .method = "POST",
    .path = "/papers/matches",
    .meaning = "Match papers against a catalogue",
    GF_PARAMETERS(papers_match_parameters),
    .members = gf_schema_papers_match,
    .run = run_papers_match,
    .input = GF_INPUT_REQUIRED,
};
