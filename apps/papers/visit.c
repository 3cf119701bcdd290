/* Operations that go over all papers, one by one. */
#include "apps/papers/arguments_internal.h"

gf_status gf_papers_visit_all(gf_call *call, gf_papers_visitor *each, gf_papers_visitor *end,
                              void *context, gf_error *err)
{
    gf_papers_visit w = {.call = call, .context = context, .to = {.call = call}};
    gf_sha1 sha1 = {{0}};
    w.limit = gf_call_number(call, "limit", UINT64_MAX);
    gf_status st = gf_papers_of_call(call, false, &w.papers, err);
    if (st == GF_OK) st = gf_json_parser_create(&w.json, err);
    if (st == GF_OK) st = gf_papers_scan_open(w.papers, &w.walk, err);
    while (st == GF_OK && w.n < w.limit) {
        st = gf_cancel_check(call->cancel, err);
        if (st == GF_OK) st = gf_papers_scan_next(w.walk, &sha1, err);
        if (st == GF_ENOTFOUND) {
            st = GF_OK;
            break;
        }
        if (st == GF_OK) st = each(&w, &sha1, err);
    }
    if (st == GF_OK && end) st = end(&w, &sha1, err);
    gf_papers_scan_close(w.walk);
    gf_json_parser_free(w.json);
    gf_row_release(&w.row);
    gf_row_writer_release(&w.to);
    gf_papers_close(w.papers);
    return st;
}

gf_status gf_papers_visit_cell(gf_papers_visit *w, const gf_sha1 *sha1, unsigned family,
                               const char *column, gf_slice *value, bool *found, gf_error *err)
{
    gf_status st = gf_papers_get_cell(w->papers, gf_papers_scan_snapshot(w->walk), sha1, family,
                                      column, &w->row, err);
    *found = st == GF_OK;
    *value = *found ? w->row.cells[0].value : (gf_slice){"", 0};
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_papers_visit_member(gf_papers_visit *w, gf_slice json, const char *name,
                                 gf_slice *text, gf_error *err)
{
    gf_json_value root, v;
    *text = (gf_slice){"", 0};
    if (json.len == 0) return GF_OK;
    gf_status st = gf_json_parse_copy(w->json, json, &root, err);
    if (st == GF_EINVAL) return gf_fail(err, GF_ECORRUPT, "table of papers: a cell is no JSON");
    if (st != GF_OK) return st;
    if (gf_json_member(root, name, &v) && gf_json_kind_of(v) == GF_JSON_STRING)
        *text = gf_json_get_string(v);
    return GF_OK;
}

gf_status gf_papers_visit_code(gf_papers_visit *w, const gf_sha1 *sha1, int64_t *code, bool *found,
                               gf_error *err)
{
    gf_slice value;
    gf_status st =
        gf_papers_visit_cell(w, sha1, GF_PAPERS_GROBID, "status_code", &value, found, err);
    if (st != GF_OK || !*found) return st;
    if (value.len != 8)
        return gf_fail(err, GF_ECORRUPT, "table of papers: grobid0:status_code is not 8 bytes");
    *code = (int64_t)gf_read_u64be(value.ptr);
    return GF_OK;
}
