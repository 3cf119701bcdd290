/*
 * A cluster's documents in pages, best first:
 *
 *     GET /v1/collections/{c}/clusters/{cluster}/documents?limit=100&cursor=...
 *     {"build":..., "cluster":..., "documents":[...], "next":"<cursor>"}
 *
 * A cursor names the build and the last document of a page: "<build>-<bits of the score>-<id>". So
 * pages belong together whatever is published meanwhile, and nothing is given twice or left out.
 */
#include "server/http/internal.h"

#include <inttypes.h>
#include <stdio.h>

enum { USUAL = 100, MOST = 1000, MOST_BYTES = 4 << 20 };

typedef struct page {
    gf_request *request;
    gf_view *view;
    gf_json_writer json;
    uint64_t limit, n;
    bool more;
    float score;
    gf_buffer id; /* of the last one given */
} page;

static gf_status put_text(void *context, const gf_document *d, gf_error *err)
{
    (void)err;
    gf_json_put_string(context, "text", d->text);
    return GF_OK;
}

/* One more than the page holds is asked for: it tells that there is a next page. */
static gf_status put_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    page *p = context;
    p->more = p->n == p->limit || p->request->answer.len > MOST_BYTES;
    if (p->more) return gf_fail(err, GF_ECANCELLED, "the page is full");
    p->n++;
    p->score = m->score;
    gf_buffer_reset(&p->id);
    gf_buffer_slice(&p->id, id);
    gf_json_begin(&p->json, '{');
    gf_json_put_string(&p->json, "id", id);
    gf_json_put_float(&p->json, "score", m->score);
    if (m->runner_up) {
        gf_json_put_uint(&p->json, "runner_up", m->runner_up);
        gf_json_put_string(&p->json, "runner_up_label", m->runner_up_label);
        gf_json_put_float(&p->json, "margin", m->score - m->second);
    }
    if (m->replaced) gf_json_put_bool(&p->json, "replaced", true);
    gf_status st = gf_view_document(p->view, id, put_text, &p->json, err);
    gf_json_end(&p->json, '}');
    return st;
}

static gf_status take_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    page *p = context;
    (void)err;
    gf_json_put_uint(&p->json, "build", (uint64_t)gf_view_build(p->view)->build);
    gf_json_put_uint(&p->json, "cluster", info->id);
    gf_json_put_string(&p->json, "label", info->label);
    gf_json_put_uint(&p->json, "size", info->size);
    p->n = info->id; /* until the counting begins */
    return GF_OK;
}

static bool read_number(gf_slice s, uint64_t most, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9' || s.len > 18) return false;
        *v = *v * 10 + (uint64_t)(s.ptr[i] - '0');
    }
    return s.len > 0 && *v <= most;
}

/* ---- cursors --------------------------------------------------------------------------------- */

typedef struct cursor {
    int64_t build; /* 0: none yet */
    float score;
    gf_slice id;
} cursor;

static gf_slice take_part(gf_slice *rest)
{
    const char *end = memchr(rest->ptr, '-', rest->len);
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    gf_slice part = gf_slice_of(rest->ptr, n);
    *rest = gf_slice_skip(*rest, end ? n + 1 : n);
    return part;
}

static gf_status read_cursor(gf_slice text, cursor *c, gf_error *err)
{
    uint64_t build, bits;
    gf_slice rest = text;
    bool good = read_number(take_part(&rest), INT64_MAX, &build) &&
                read_number(take_part(&rest), UINT32_MAX, &bits) && rest.len;
    if (!good) return gf_fail(err, GF_EINVAL, "cursor: this is none that an answer gave");
    uint32_t word = (uint32_t)bits;
    *c = (cursor){.build = (int64_t)build, .id = rest};
    memcpy(&c->score, &word, sizeof word);
    return GF_OK;
}

static void put_next(page *p)
{
    gf_buffer b = {0};
    uint32_t bits;
    if (!p->more) return;
    memcpy(&bits, &p->score, sizeof bits);
    gf_buffer_format(&b, "%" PRId64 "-%" PRIu32 "-", gf_view_build(p->view)->build, bits);
    gf_buffer_slice(&b, gf_buffer_view(&p->id));
    gf_json_put_string(&p->json, "next", gf_buffer_view(&b));
    if (b.state != GF_OK) p->request->answer.state = b.state;
    gf_buffer_release(&b);
}

/* ---- the page -------------------------------------------------------------------------------- */

static gf_status find_cluster(page *p, uint32_t *id, gf_error *err)
{
    gf_slice text = gf_request_argument(p->request, "cluster"), label = {0};
    uint64_t number = 0;
    if (gf_slice_starts(text, GF_SLICE("label:")))
        label = gf_slice_skip(text, 6);
    else if (!read_number(text, UINT32_MAX, &number) || number == 0)
        return gf_fail(err, GF_EINVAL,
                       "\"%.*s\" is not a cluster's id; a label is given as label:%.*s",
                       GF_SLICE_ARG(text), GF_SLICE_ARG(text));
    gf_status st = gf_view_cluster(p->view, (uint32_t)number, label, take_cluster, p, err);
    *id = (uint32_t)p->n;
    p->n = 0;
    return st;
}

static gf_status put_page(page *p, const cursor *c, gf_error *err)
{
    uint32_t id = 0;
    p->json = gf_json_writer_to(&p->request->answer);
    gf_json_begin(&p->json, '{');
    gf_status st = find_cluster(p, &id, err);
    if (st != GF_OK) return st;
    gf_json_key(&p->json, "documents");
    gf_json_begin(&p->json, '[');
    st = c->build
             ? gf_view_members_after(p->view, id, c->score, c->id, p->limit + 1, put_member, p, err)
             : gf_view_members(p->view, id, p->limit + 1, put_member, p, err);
    if (st != GF_OK && !(st == GF_ECANCELLED && p->more)) return st;
    gf_json_end(&p->json, ']');
    put_next(p);
    gf_json_end(&p->json, '}');
    gf_buffer_byte(&p->request->answer, '\n');
    return gf_buffer_check(&p->request->answer, err);
}

static gf_status open_view(page *p, gf_store *store, cursor *c, gf_error *err)
{
    const gf_request *r = p->request;
    gf_slice configuration = gf_request_argument(r, "config");
    gf_slice build = gf_request_argument(r, "build"), text = gf_request_argument(r, "cursor");
    gf_slice limit = gf_request_argument(r, "limit");
    uint64_t number = 0;
    p->limit = USUAL;
    if (limit.len && (!read_number(limit, MOST, &p->limit) || p->limit == 0))
        return gf_fail(err, GF_EINVAL, "limit is a whole number from 1 to %d", MOST);
    if (build.len && !read_number(build, INT64_MAX, &number))
        return gf_fail(err, GF_EINVAL, "build: \"%.*s\" is not a build", GF_SLICE_ARG(build));
    gf_status st = text.len ? read_cursor(text, c, err) : GF_OK;
    if (st != GF_OK) return st;
    return gf_view_open(store, (gf_place){r->name_space, gf_request_argument(r, "collection")},
                        configuration.len ? configuration : GF_SLICE("default"),
                        c->build ? c->build : (int64_t)number, &p->view, err);
}

static void members(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    page p = {.request = r};
    cursor c = {0};
    gf_store *store;
    if (gf_etag_settles(r)) return;
    gf_answer(r, 200, "application/json", (gf_slice){0});
    gf_status taken = gf_service_take(r->http->options.service, &store, &err), st = taken;
    if (st == GF_OK) st = open_view(&p, store, &c, &err);
    if (st == GF_OK) st = put_page(&p, &c, &err);
    if (p.view) gf_view_close(p.view);
    if (taken == GF_OK) gf_service_give(r->http->options.service);
    gf_buffer_release(&p.id);
    if (st != GF_OK) gf_answer_failure(r, &err);
}

static const char *const parameters[] = {"limit", "cursor", "config", "build", NULL};
const gf_route gf_routes_of_members[] = {
    {.name = "members",
     .method = "GET",
     .path = "/v1/collections/{collection}/clusters/{cluster}/documents",
     .run = members,
     .scope = GF_SCOPE_NAMESPACE,
     .parameters = parameters,
     .meaning = "Page through a cluster's documents, best first"}};
const size_t gf_n_routes_of_members = 1;
