#include "apps/papers/extraction/retry.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- versions -------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Take digits as a number; false where there are none. */
static bool take_number(gf_slice *s, uint64_t *n)
{
    size_t i = 0;
    *n = 0;
    for (; i < s->len && is_digit(s->ptr[i]); i++)
        *n = *n < UINT64_MAX / 100 ? *n * 10 + (uint64_t)(s->ptr[i] - '0') : *n;
    *s = gf_slice_skip(*s, i);
    return i > 0;
}

/* The numbers between points; one that is missing is 0. */
static int compare_numbers(gf_slice *a, gf_slice *b)
{
    bool more = true;
    while (more) {
        uint64_t m = 0, n = 0;
        bool in_a = take_number(a, &m), in_b = take_number(b, &n);
        if (m != n) return m < n ? -1 : 1;
        more = (in_a && a->len && *a->ptr == '.') || (in_b && b->len && *b->ptr == '.');
        if (a->len && *a->ptr == '.') *a = gf_slice_skip(*a, 1);
        if (b->len && *b->ptr == '.') *b = gf_slice_skip(*b, 1);
    }
    return 0;
}

int gf_papers_compare_versions(gf_slice a, gf_slice b)
{
    int order = compare_numbers(&a, &b);
    if (order) return order;
    if (!a.len || !b.len) return (a.len == 0) - (b.len == 0);
    size_t n = a.len < b.len ? a.len : b.len;
    order = memcmp(a.ptr, b.ptr, n);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* ---- which ----------------------------------------------------------------------------------- */

static bool take_prefix(gf_slice *s, const char *prefix)
{
    if (!gf_slice_starts(*s, gf_slice_str(prefix))) return false;
    *s = gf_slice_skip(*s, strlen(prefix));
    return true;
}

static bool is_code(gf_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_digit(s.ptr[i])) return false;
    return s.len > 0 && s.len < 10;
}

static bool is_known(gf_slice which)
{
    static const char *const statuses[] = {"failed", "error", "fail", "oversize"};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (gf_slice_equal(which, gf_slice_str(statuses[i]))) return true;
    if (take_prefix(&which, "code:")) return is_code(which);
    return (take_prefix(&which, "version:") || take_prefix(&which, "older-than:")) &&
           which.len > 0 && is_digit(*which.ptr);
}

gf_status gf_papers_retry_open(const gf_call *call, gf_papers_retry *r, gf_error *err)
{
    gf_status st = gf_call_list(call, "retry", &r->which, &r->n, err);
    for (size_t i = 0; i < r->n && st == GF_OK; i++)
        if (!is_known(r->which[i]))
            st = gf_fail(
                err, GF_EINVAL,
                "\"%.*s\" says of no extraction that it is to be made again: failed, error, "
                "fail, oversize, code:500, version:0.5.1 and older-than:0.8.0 do",
                (int)(r->which[i].len > 80 ? 80 : r->which[i].len), r->which[i].ptr);
    return st == GF_OK ? gf_json_parser_create(&r->json, err) : st;
}

void gf_papers_retry_release(gf_papers_retry *r)
{
    gf_free(r->which);
    if (r->json) gf_json_parser_free(r->json);
    gf_row_release(&r->row);
    *r = (gf_papers_retry){.n = 0};
}

/* A text member of a cell's JSON, borrowed until the next; empty where there is none. */
static gf_status read_member(gf_papers_retry *r, gf_papers *papers, const gf_sha1 *sha1,
                             const char *column, const char *member, gf_slice *text, gf_error *err)
{
    gf_json_value root, v;
    *text = (gf_slice){"", 0};
    gf_status st = gf_papers_get_cell(papers, NULL, sha1, GF_PAPERS_GROBID, column, &r->row, err);
    if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
    st = gf_json_parse_copy(r->json, r->row.cells[0].value, &root, err);
    if (st == GF_EINVAL) return gf_fail(err, GF_ECORRUPT, "table of papers: a cell is no JSON");
    if (st == GF_OK && gf_json_member(root, member, &v) && gf_json_kind_of(v) == GF_JSON_STRING)
        *text = gf_json_get_string(v);
    return st;
}

static bool is_meant(gf_slice which, gf_slice status, bool has_text, int64_t code, gf_slice version)
{
    char digits[24];
    if (take_prefix(&which, "code:")) {
        snprintf(digits, sizeof digits, "%" PRId64, code);
        return gf_slice_equal(which, gf_slice_str(digits));
    }
    if (take_prefix(&which, "version:"))
        return has_text && version.len && gf_papers_compare_versions(version, which) == 0;
    if (take_prefix(&which, "older-than:"))
        return has_text && (!version.len || gf_papers_compare_versions(version, which) < 0);
    return gf_slice_equal(which, GF_SLICE("failed")) ? !has_text : gf_slice_equal(which, status);
}

gf_status gf_papers_retry_wants(gf_papers_retry *r, gf_papers *papers, const gf_sha1 *sha1,
                                bool *wanted, bool *has_text, gf_error *err)
{
    gf_slice text;
    char status[16] = "";
    gf_status st =
        gf_papers_get_cell(papers, NULL, sha1, GF_PAPERS_GROBID, "status_code", &r->row, err);
    *wanted = st == GF_ENOTFOUND;
    *has_text = false;
    if (st != GF_OK) return *wanted ? GF_OK : st;
    if (r->row.cells[0].value.len != 8)
        return gf_fail(err, GF_ECORRUPT, "table of papers: grobid0:status_code is not 8 bytes");
    int64_t code = (int64_t)gf_read_u64be(r->row.cells[0].value.ptr);
    st = read_member(r, papers, sha1, "status", "status", &text, err);
    if (st != GF_OK) return st;
    memcpy(status, text.ptr, text.len < sizeof status ? text.len : sizeof status - 1);
    *has_text = strcmp(status, "success") == 0;
    st = read_member(r, papers, sha1, "metadata", "grobid_version", &text, err);
    for (size_t i = 0; i < r->n && st == GF_OK && !*wanted; i++)
        *wanted = is_meant(r->which[i], gf_slice_str(status), *has_text, code, text);
    return st;
}
