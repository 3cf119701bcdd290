/* One line for each paper, made when it is read. */
#include "apps/papers/arguments_internal.h"

#include "base/clock.h"
#include "base/memory.h"

typedef struct gf_papers_source {
    const gf_call *call;
    gf_papers *papers;
    gf_papers_scan *scan;
    gf_json_parser *json;
    gf_row row;
    gf_buffer line;
    size_t at; /* of the line, what was read */
    bool begun, at_end, abstract, body;
} gf_papers_source;

static gf_status choose_text(gf_papers_source *s, gf_error *err)
{
    gf_slice *names = NULL;
    size_t n = 0;
    gf_status st = gf_call_list(s->call, "text", &names, &n, err);
    s->abstract = s->body = n == 0;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        s->abstract |= gf_slice_equal(names[i], GF_SLICE("abstract"));
        s->body |= gf_slice_equal(names[i], GF_SLICE("body"));
    }
    gf_free(names);
    return st;
}

static void put_member(gf_json_writer *w, gf_json_value paper, const char *name, bool always)
{
    gf_json_value v;
    if (gf_json_member(paper, name, &v) && gf_json_kind_of(v) == GF_JSON_STRING)
        gf_json_put_string(w, name, gf_json_get_string(v));
    else if (always)
        gf_json_put_str(w, name, "");
}

/* A date that is a day is the document's time. */
static void put_date(gf_json_writer *w, gf_json_value paper)
{
    gf_json_value v;
    int64_t ms;
    put_member(w, paper, "date", false);
    if (gf_json_member(paper, "date", &v) && gf_json_kind_of(v) == GF_JSON_STRING &&
        gf_clock_parse_iso(gf_json_get_string(v), &ms))
        gf_json_put_string(w, "time", gf_json_get_string(v));
}

static gf_status write_line(gf_papers_source *s, const gf_sha1 *sha1, gf_slice text, gf_error *err)
{
    gf_json_value paper;
    gf_status st = gf_json_parse_copy(s->json, text, &paper, err);
    if (st != GF_OK) return st == GF_EINVAL ? GF_ECORRUPT : st;
    gf_json_writer w = gf_json_writer_to(&s->line);
    gf_json_begin(&w, '{');
    gf_json_put_str(&w, "id", gf_sha1_base32(sha1).text);
    put_member(&w, paper, "title", true);
    if (s->abstract) put_member(&w, paper, "abstract", true);
    if (s->body) put_member(&w, paper, "body", true);
    put_member(&w, paper, "doi", false);
    put_date(&w, paper);
    gf_json_end(&w, '}');
    gf_buffer_byte(&s->line, '\n');
    return gf_buffer_check(&s->line, err);
}

/* The next paper that has a text. */
static gf_status make_line(gf_papers_source *s, gf_error *err)
{
    gf_sha1 sha1;
    gf_status st = GF_ENOTFOUND;
    gf_buffer_reset(&s->line);
    s->at = 0;
    while (st == GF_ENOTFOUND) {
        st = gf_papers_scan_next(s->scan, &sha1, err);
        if (st == GF_ENOTFOUND) {
            s->at_end = true;
            return GF_OK;
        }
        if (st == GF_OK)
            st = gf_papers_get_cell(s->papers, gf_papers_scan_snapshot(s->scan), &sha1,
                                    GF_PAPERS_GROBID, s->body ? "tei_json" : "metadata", &s->row,
                                    err);
    }
    return st == GF_OK ? write_line(s, &sha1, s->row.cells[0].value, err) : st;
}

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    gf_papers_source *s = context;
    if (s->begun) return gf_fail(err, GF_ENOTFOUND, "no more papers");
    s->begun = true;
    *name = GF_SLICE("papers");
    return GF_OK;
}

static gf_status read_stream(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_papers_source *s = context;
    gf_status st = GF_OK;
    *got = 0;
    if (s->at == s->line.len && !s->at_end) st = make_line(s, err);
    if (st != GF_OK || s->at_end) return st;
    *got = s->line.len - s->at < n ? s->line.len - s->at : n;
    memcpy(to, s->line.ptr + s->at, *got);
    s->at += *got;
    return GF_OK;
}

gf_status gf_papers_records(const gf_call *call, gf_visit_record *visit, void *context,
                            gf_error *err)
{
    static const gf_slice text[] = {{"title", 5}, {"abstract", 8}, {"body", 4}};
    gf_papers_source s = {.call = call};
    gf_input input = {.context = &s, .next = next_stream, .read = read_stream};
    gf_reader *reader = NULL;
    gf_record record;
    gf_status st = choose_text(&s, err);
    if (st == GF_OK) st = gf_papers_of_call(call, false, &s.papers, err);
    if (st == GF_OK) st = gf_json_parser_create(&s.json, err);
    if (st == GF_OK) st = gf_papers_scan_open(s.papers, &s.scan, err);
    if (st == GF_OK) st = gf_records_reader_of(call, &input, text, 3, &reader, err);
    while (st == GF_OK && (st = gf_reader_next(reader, &record, err)) == GF_OK) {
        st = gf_cancel_check(call->cancel, err);
        if (st == GF_OK) st = visit(context, &record, err);
    }
    gf_reader_close(reader);
    gf_papers_scan_close(s.scan);
    gf_json_parser_free(s.json);
    gf_row_release(&s.row);
    gf_buffer_release(&s.line);
    gf_papers_close(s.papers);
    return st == GF_ENOTFOUND ? GF_OK : st;
}
