/* papers match: each paper with a title is looked up in a catalogue, which is the input. */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/works.h"

typedef struct matching {
    gf_works *catalogue;
    gf_reader *reader;        /* of the catalogue */
    gf_papers_import *import; /* NULL with dry-run, and before the first */
    gf_buffer info;
} matching;

static gf_status next_work(void *context, gf_record *record, gf_error *err)
{
    return gf_reader_next(((matching *)context)->reader, record, err);
}

static gf_status add_work(void *context, const gf_record *record, gf_error *err)
{
    bool added;
    return gf_works_add(((matching *)context)->catalogue, &record->document, &added, err);
}

static gf_status read_catalogue(gf_call *call, matching *m, gf_error *err)
{
    gf_slice title = GF_SLICE("title"), fields[] = {GF_SLICE("doi"), GF_SLICE("authors")};
    gf_reader_options o = {.id = gf_call_text(call, "id"),
                           .text = &title,
                           .n_text = 1,
                           .text_is_fixed = true,
                           .some_fields = true,
                           .fields = fields,
                           .n_fields = 2,
                           .decoding = gf_records_decoding(call)};
    gf_intake intake = {.call = call, .context = m, .next = next_work, .take = add_work};
    gf_format_named(gf_call_text_or(call, "from", "auto"), &o.format);
    gf_status st = gf_reader_open(&call->input, &o, &m->reader, err);
    if (st == GF_OK) st = gf_intake_run(&intake, err);
    gf_reader_close(m->reader);
    return st;
}

static const char *status_of(const gf_works_match *match)
{
    return !match->found ? "no-match" : match->ambiguous ? "ambiguous" : "match";
}

static gf_slice doi_of(const gf_works_match *match)
{
    return match->found && !match->ambiguous ? match->doi : (gf_slice){"", 0};
}

static void put_match(gf_json_writer *json, const gf_works_match *match)
{
    if (match->title.ptr) {
        gf_json_put_string(json, "record", match->id);
        gf_json_put_uint(json, "score", (uint64_t)match->score);
    }
}

static gf_status store_match(gf_papers_visit *w, matching *m, const gf_sha1 *sha1,
                             const gf_works_match *match, gf_error *err)
{
    gf_status st = GF_OK;
    if (!m->import) st = gf_papers_import_open(w->papers, true, &m->import, err);
    gf_buffer_reset(&m->info);
    gf_json_writer json = gf_json_writer_to(&m->info);
    gf_json_begin(&json, '{');
    put_match(&json, match);
    gf_json_end(&json, '}');
    if (st == GF_OK) st = gf_buffer_check(&m->info, err);
    gf_papers_match stored = {status_of(match), doi_of(match), gf_buffer_view(&m->info)};
    return st == GF_OK ? gf_papers_import_match(m->import, sha1, &stored, err) : st;
}

static gf_status match_one(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    matching *m = w->context;
    gf_works_match match = {.found = false};
    gf_json_value root, title, authors;
    gf_slice value;
    bool found;
    gf_status st = gf_papers_visit_cell(w, sha1, GF_PAPERS_GROBID, "metadata", &value, &found, err);
    if (st != GF_OK || !found) return st;
    st = gf_json_parse_copy(w->json, value, &root, err);
    if (st != GF_OK) return st == GF_EINVAL ? GF_ECORRUPT : st;
    if (!gf_json_member(root, "title", &title) || gf_json_kind_of(title) != GF_JSON_STRING ||
        gf_json_get_string(title).len == 0)
        return GF_OK;
    if (!gf_json_member(root, "authors", &authors)) authors = title;
    st = gf_works_find(m->catalogue, gf_json_get_string(title), authors, w->call->cancel, &match,
                       err);
    if (st == GF_OK && !gf_call_flag(w->call, "dry-run")) st = store_match(w, m, sha1, &match, err);
    if (st != GF_OK) return st;
    gf_json_writer *json = gf_row_writer_begin(&w->to);
    gf_json_put_str(json, "sha1", gf_sha1_base32(sha1).text);
    gf_json_put_str(json, "mstatus", status_of(&match));
    if (doi_of(&match).len) gf_json_put_string(json, "doi", doi_of(&match));
    put_match(json, &match);
    gf_json_put_string(json, "title", gf_json_get_string(title));
    return gf_row_writer_emit(&w->to, err);
}

static gf_status flush_matches(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err)
{
    matching *m = w->context;
    (void)sha1;
    return m->import ? gf_papers_import_flush(m->import, err) : GF_OK;
}

static gf_status run_papers_match(gf_call *call, gf_error *err)
{
    matching m = {.catalogue = NULL};
    gf_status st = gf_works_create(&m.catalogue, err);
    if (st == GF_OK) st = read_catalogue(call, &m, err);
    if (st == GF_OK) st = gf_papers_visit_all(call, match_one, flush_matches, &m, err);
    gf_papers_import_close(m.import);
    gf_works_free(m.catalogue);
    gf_buffer_release(&m.info);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter papers_match_parameters[] = {
    P_TEXT("id", "FIELD", "field of the catalogue that is the id (id)"),
    P_CHOICE("from", GF_FORMAT_NAMES, "format of the catalogue, where the name does not tell it"),
    P_ENCODING,
    P_FLAG("dry-run", "store nothing"),
    P_UNPACKED,
    P_PAPERS};

const gf_operation gf_papers_match_operation = {
    .name = "papers match",
    .method = "POST",
    .path = "/papers/matches",
    .meaning = "Match papers against a catalogue",
    GF_PARAMETERS(papers_match_parameters),
    .run = run_papers_match,
    .input = GF_INPUT_REQUIRED,
};
