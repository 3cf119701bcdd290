/*
 * The routes of v0.2, as they were:
 *
 *     POST /collections/{ns}/{key}         {"id":..., "text":...}   201, "/docs/<ns>/<key>/<id>"
 *                                          {"bulk":[doc, ...]}      201, a result for each
 *     GET  /docs/{ns}/{key}/{id}           the document with its memberships
 *     GET  /clusters/{ns}/{key}            {label: [ids...], ...} of the served clustering
 *     GET  /clusters/{ns}/{key}/{label}    [ids...]
 *
 * A post becomes a put of JSON Lines, one for each document that has what it must have.
 */
#include "server/http/answer.h"
#include "server/http/route.h"

#include "base/json/json.h"
#include "base/memory.h"

#include <inttypes.h>

/* ---- posting --------------------------------------------------------------------------------- */

typedef struct posting {
    gf_request *request;
    gf_buffer lines; /* what is put; taken of it were read */
    size_t taken;
    bool given;
    gf_json_value *documents; /* n */
    size_t n;
    const char **faults; /* n: why a document is not put; NULL where it is */
    size_t *document_of; /* n_lines: of each line that is put */
    size_t n_lines;
    bool too_long;      /* that is why */
    gf_buffer refusals; /* what the put said of the first line that it refused */
} posting;

static const char *fault_of(gf_json_value d)
{
    gf_json_value id, text;
    if (gf_json_kind_of(d) != GF_JSON_OBJECT) return "a document is an object";
    if (!gf_json_member(d, "id", &id)) return "the document has no id";
    gf_json_kind kind = gf_json_kind_of(id);
    if (kind != GF_JSON_STRING && kind != GF_JSON_INT && kind != GF_JSON_UINT)
        return "the id is neither a string nor a whole number";
    if (kind == GF_JSON_STRING && gf_json_get_string(id).len == 0) return "the id is empty";
    if (!gf_json_member(d, "text", &text)) return "the document has no text";
    if (gf_json_kind_of(text) != GF_JSON_STRING) return "the text is not a string";
    return NULL;
}

static void put_path(gf_buffer *b, const gf_request *r, gf_json_value d)
{
    gf_json_value id;
    gf_buffer_str(b, "/docs/");
    gf_route_percent_encode(b, r->name_space);
    gf_buffer_byte(b, '/');
    gf_route_percent_encode(b, gf_route_argument(r, "key"));
    gf_buffer_byte(b, '/');
    if (!gf_json_member(d, "id", &id)) return;
    if (gf_json_kind_of(id) == GF_JSON_STRING)
        gf_route_percent_encode(b, gf_json_get_string(id));
    else
        gf_json_write(id, b, NULL);
}

static gf_status take_documents(posting *p, gf_json_value root, bool bulk, gf_error *err)
{
    gf_json_value item, list = root;
    if (bulk) gf_json_member(root, "bulk", &list);
    size_t room = 1;
    if (bulk) {
        gf_json_iterator it = gf_json_items(list);
        for (room = 0; gf_json_next(&it, NULL, &item);)
            room++;
    }
    p->documents = gf_array(room + 1, sizeof *p->documents);
    p->faults = gf_calloc(room + 1, sizeof *p->faults);
    p->document_of = gf_array(room + 1, sizeof *p->document_of);
    if (!p->documents || !p->faults || !p->document_of) return gf_fail_memory(err, "documents");
    if (!bulk) p->documents[p->n++] = root;
    gf_json_iterator it = bulk ? gf_json_items(list) : (gf_json_iterator){.is_object = 0};
    while (bulk && gf_json_next(&it, NULL, &item))
        p->documents[p->n++] = item;
    for (size_t i = 0; i < p->n; i++) {
        p->faults[i] = fault_of(p->documents[i]);
        if (p->faults[i]) continue;
        gf_status st = gf_json_write(p->documents[i], &p->lines, err);
        if (st != GF_OK) return st;
        gf_buffer_byte(&p->lines, '\n');
        p->document_of[p->n_lines++] = i;
    }
    return gf_buffer_check(&p->lines, err);
}

/* ---- the put --------------------------------------------------------------------------------- */

static gf_status next(void *context, gf_slice *name, gf_error *err)
{
    posting *p = context;
    if (p->given) return gf_fail(err, GF_ENOTFOUND, "no more input");
    p->given = true;
    *name = GF_SLICE("body.jsonl");
    return GF_OK;
}

static gf_status read_lines(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    posting *p = context;
    (void)err;
    if (n > p->lines.len - p->taken) n = p->lines.len - p->taken;
    if (n) memcpy(to, p->lines.ptr + p->taken, n);
    p->taken += n;
    *got = n;
    return GF_OK;
}

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    (void)context, (void)row, (void)err;
    return GF_OK;
}

static void notice(void *context, const gf_notice *n)
{
    posting *p = context;
    if (!n->refused || n->line == 0 || n->line > p->n_lines) return;
    p->faults[p->document_of[n->line - 1]] = "the document was refused";
    if (p->refusals.len) return;
    p->too_long = strcmp(n->reason, "too_long") == 0;
    gf_buffer_str(&p->refusals, n->message);
}

/* A name is a name here: what a put takes for a pattern is written so that it is none. */
static gf_slice literal(gf_request *r, gf_slice name)
{
    char *to = gf_arena_alloc(&r->memory, 2 * name.len + 1);
    size_t n = 0;
    for (size_t i = 0; to && i < name.len; i++) {
        if (name.ptr[i] == '{' || name.ptr[i] == '}') to[n++] = name.ptr[i];
        to[n++] = name.ptr[i];
    }
    return gf_slice_of(to, to ? n : 0);
}

static gf_status put_lines(posting *p, gf_error *err)
{
    gf_request *r = p->request;
    char most[24];
    snprintf(most, sizeof most, "%" PRIu64, r->http->options.max_document);
    gf_argument arguments[] = {{GF_SLICE("collection"), literal(r, gf_route_argument(r, "key"))},
                               {GF_SLICE("from"), GF_SLICE("jsonl")},
                               {GF_SLICE("max-document"), gf_slice_str(most)}};
    gf_call call = {.arguments = arguments,
                    .n_arguments = 3,
                    .name_space = r->name_space,
                    .input = {p, next, read_lines, NULL, NULL},
                    .sink = {p, emit, .notice = notice}};
    if (p->n_lines == 0) return GF_OK;
    return gf_service_run(r->http->options.service, gf_operation_find("put"), &call, err);
}

/* ---- its answer ------------------------------------------------------------------------------ */

static void answer_one(posting *p)
{
    gf_request *r = p->request;
    if (p->faults[0]) {
        gf_answer_problem(r, p->too_long ? 413 : 400,
                          p->refusals.len ? gf_buffer_cstr(&p->refusals) : p->faults[0]);
        return;
    }
    gf_buffer path = {0};
    put_path(&path, r, p->documents[0]);
    gf_answer(r, 201, "application/json", (gf_slice){0});
    gf_json_append_string(&r->answer, gf_buffer_view(&path));
    gf_buffer_byte(&r->answer, '\n');
    if (path.state == GF_OK) r->location = gf_arena_copy(&r->memory, gf_buffer_view(&path));
    if (path.state != GF_OK) r->answer.state = path.state;
    gf_buffer_release(&path);
}

static void answer_bulk(posting *p)
{
    gf_request *r = p->request;
    gf_answer(r, 201, "application/json", (gf_slice){0});
    gf_json_writer w = gf_json_writer_to(&r->answer);
    gf_json_begin(&w, '[');
    for (size_t i = 0; i < p->n; i++) {
        gf_buffer path = {0};
        if (!p->faults[i]) put_path(&path, r, p->documents[i]);
        if (p->faults[i]) {
            gf_json_begin(&w, '{');
            gf_json_put_str(&w, "error", p->faults[i]);
            gf_json_end(&w, '}');
        } else {
            gf_json_string(&w, gf_buffer_view(&path));
        }
        if (path.state != GF_OK) r->answer.state = path.state;
        gf_buffer_release(&path);
    }
    gf_json_end(&w, ']');
    gf_buffer_byte(&r->answer, '\n');
}

static void release(posting *p)
{
    gf_buffer_release(&p->lines);
    gf_buffer_release(&p->refusals);
    gf_free(p->documents);
    gf_free(p->faults);
    gf_free(p->document_of);
}

static void post_parsed(gf_request *r, gf_json_value root)
{
    gf_error err = {GF_OK, ""};
    gf_json_value list;
    posting p = {.request = r};
    bool bulk = gf_json_kind_of(root) == GF_JSON_OBJECT && gf_json_member(root, "bulk", &list) &&
                gf_json_kind_of(list) == GF_JSON_ARRAY;
    gf_status st = take_documents(&p, root, bulk, &err);
    if (st == GF_OK) st = put_lines(&p, &err);
    if (st != GF_OK)
        gf_answer_failure(r, &err);
    else if (bulk)
        answer_bulk(&p);
    else
        answer_one(&p);
    release(&p);
}

static void post(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    gf_json_parser *parser = NULL;
    gf_json_value root;
    gf_status st = gf_buffer_check(&r->collected, &err);
    if (st == GF_OK) st = gf_json_parser_create(&parser, &err);
    if (st == GF_OK) st = gf_json_parse_copy(parser, gf_buffer_view(&r->collected), &root, &err);
    if (st == GF_OK)
        post_parsed(r, root);
    else
        gf_answer_failure(r, &err);
    gf_json_parser_free(parser);
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status emit_whole(void *context, gf_slice row, gf_error *err)
{
    gf_request *r = context;
    gf_buffer_slice(&r->answer, row);
    gf_buffer_byte(&r->answer, '\n');
    return gf_buffer_check(&r->answer, err);
}

static void show(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    gf_argument arguments[] = {{GF_SLICE("collection"), gf_route_argument(r, "key")},
                               {GF_SLICE("id"), gf_route_argument(r, "id")}};
    gf_call call = {.arguments = arguments,
                    .n_arguments = 2,
                    .name_space = r->name_space,
                    .sink = {r, emit_whole},
                    .cancel = &r->cancel};
    gf_answer(r, 200, "application/json", (gf_slice){0});
    gf_status st = gf_service_run(r->http->options.service, gf_operation_find("doc"), &call, &err);
    if (st != GF_OK) gf_answer_failure(r, &err);
}

typedef struct listing {
    gf_request *request;
    gf_view *view;
    bool taken;    /* the store is */
    uint32_t *ids; /* n: of all clusters */
    gf_slice *labels;
    size_t n, at;
    bool any;
} listing;

static gf_status count(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)info, (void)err;
    ((listing *)context)->n++;
    return GF_OK;
}

static gf_status keep(void *context, const gf_cluster_info *info, gf_error *err)
{
    listing *l = context;
    gf_slice label = gf_arena_copy(&l->request->memory, info->label);
    if (!label.ptr || l->at == l->n) return gf_fail_memory(err, "clusters");
    l->ids[l->at] = info->id;
    l->labels[l->at++] = label;
    return GF_OK;
}

static gf_status put_id(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    listing *l = context;
    (void)m;
    if (l->any) gf_buffer_byte(&l->request->answer, ',');
    l->any = true;
    gf_json_append_string(&l->request->answer, id);
    return gf_answer_piece(l->request, GF_SLICE(""), err);
}

static gf_status put_ids(listing *l, uint32_t cluster, gf_error *err)
{
    gf_buffer_byte(&l->request->answer, '[');
    l->any = false;
    gf_status st = gf_view_members(l->view, cluster, 0, put_id, l, err);
    gf_buffer_byte(&l->request->answer, ']');
    return st;
}

static gf_status open_listing(listing *l, gf_error *err)
{
    gf_request *r = l->request;
    gf_store *store;
    gf_answer(r, 200, "application/json", (gf_slice){0});
    gf_status st = gf_service_take(r->http->options.service, &store, err);
    if (st != GF_OK) return st;
    l->taken = true;
    return gf_view_open(store, (gf_place){r->name_space, gf_route_argument(r, "key")},
                        GF_SLICE("default"), 0, &l->view, err);
}

static void end_listing(listing *l, gf_status st, const gf_error *err)
{
    gf_request *r = l->request;
    if (l->view) gf_view_close(l->view);
    if (l->taken) gf_service_give(r->http->options.service);
    if (st == GF_OK)
        gf_buffer_byte(&r->answer, '\n');
    else if (r->streams)
        r->broken = true;
    else
        gf_answer_failure(r, err);
}

static gf_status put_all(listing *l, gf_error *err)
{
    gf_status st = gf_view_clusters(l->view, count, l, err);
    if (st != GF_OK) return st;
    l->ids = gf_arena_alloc(&l->request->memory, (l->n + 1) * sizeof *l->ids);
    l->labels = gf_arena_alloc(&l->request->memory, (l->n + 1) * sizeof *l->labels);
    if (!l->ids || !l->labels) return gf_fail_memory(err, "clusters");
    st = gf_view_clusters(l->view, keep, l, err);
    gf_buffer_byte(&l->request->answer, '{');
    for (size_t i = 0; i < l->at && st == GF_OK; i++) {
        if (i) gf_buffer_byte(&l->request->answer, ',');
        gf_json_append_string(&l->request->answer, l->labels[i]);
        gf_buffer_byte(&l->request->answer, ':');
        st = put_ids(l, l->ids[i], err);
    }
    gf_buffer_byte(&l->request->answer, '}');
    return st;
}

static void list_all(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    listing l = {.request = r};
    gf_status st = open_listing(&l, &err);
    if (st == GF_OK) st = put_all(&l, &err);
    end_listing(&l, st, &err);
}

static gf_status take_id(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    *(uint32_t *)context = info->id;
    return GF_OK;
}

static void list_one(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    listing l = {.request = r};
    uint32_t id = 0;
    gf_status st = open_listing(&l, &err);
    if (st == GF_OK)
        st = gf_view_cluster(l.view, 0, gf_route_argument(r, "label"), take_id, &id, &err);
    if (st == GF_OK) st = put_ids(&l, id, &err);
    end_listing(&l, st, &err);
}

const gf_route gf_routes_of_old[] = {{.name = "v0.2 post",
                                      .method = "POST",
                                      .path = "/collections/{ns}/{key}",
                                      .run = post,
                                      .scope = GF_SCOPE_NAMESPACE,
                                      .writes = true,
                                      .body = GF_BODY_COLLECT,
                                      .status = 201,
                                      .meaning = "Put a document, or several"},
                                     {.name = "v0.2 document",
                                      .method = "GET",
                                      .path = "/docs/{ns}/{key}/{id}",
                                      .run = show,
                                      .scope = GF_SCOPE_NAMESPACE,
                                      .meaning = "Show a document and its memberships"},
                                     {.name = "v0.2 clusters",
                                      .method = "GET",
                                      .path = "/clusters/{ns}/{key}",
                                      .run = list_all,
                                      .scope = GF_SCOPE_NAMESPACE,
                                      .meaning = "Give the ids of each cluster by its label"},
                                     {.name = "v0.2 cluster",
                                      .method = "GET",
                                      .path = "/clusters/{ns}/{key}/{label}",
                                      .run = list_one,
                                      .scope = GF_SCOPE_NAMESPACE,
                                      .meaning = "Give the ids of one cluster"}};
const size_t gf_n_routes_of_old = sizeof gf_routes_of_old / sizeof gf_routes_of_old[0];
