#include "engine/config/candidates.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "engine/config/watches.h"

#include <string.h>

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "table collections: a candidate is damaged");
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reading {
    gf_store *store;
    const gf_snapshot *snapshot;
    gf_place where;
    gf_slice configuration;
    int64_t build;
    gf_candidates *out;
    gf_json_parser *parser;
    gf_buffer json;
} reading;

static uint64_t take_number(gf_json_value object, const char *name)
{
    gf_json_value v;
    if (!gf_json_member(object, name, &v) || gf_json_kind_of(v) != GF_JSON_INT) return 0;
    return gf_json_get_int(v) < 0 ? 0 : (uint64_t)gf_json_get_int(v);
}

/* Documents with scores; there are none where a version kept the ids alone. */
static gf_status read_documents(reading *r, gf_new_candidate *c, gf_error *err)
{
    gf_row row = {0};
    gf_slice left, id;
    size_t most = 0;
    gf_status st = gf_watches_get(r->store, r->snapshot, r->where, r->configuration,
                                  GF_WATCH_MEMBERS_SCORED, c->id, &row, err);
    if (st != GF_OK) {
        gf_row_release(&row);
        return st == GF_ENOTFOUND ? GF_OK : st;
    }
    for (left = row.cells[0].value; gf_slice_take_string(&left, &id) && left.len >= 4; most++)
        left = gf_slice_skip(left, 4);
    c->documents = gf_arena_alloc(&r->out->memory, (most + 1) * sizeof *c->documents);
    if (!c->documents) st = gf_fail_memory(err, "candidates");
    for (left = row.cells[0].value; st == GF_OK && c->n < most;) {
        gf_candidate_document *d = &c->documents[c->n++];
        gf_slice_take_string(&left, &id);
        uint32_t bits = gf_read_u32be(left.ptr);
        left = gf_slice_skip(left, 4);
        memcpy(&d->score, &bits, sizeof bits);
        d->id = gf_arena_copy(&r->out->memory, id);
        if (!d->id.ptr) st = gf_fail_memory(err, "candidates");
    }
    gf_row_release(&row);
    return st;
}

static gf_status take_candidate(void *context, uint64_t number, gf_slice json, gf_error *err)
{
    reading *r = context;
    gf_json_value root, part;
    gf_new_candidate c = {.id = (uint32_t)number, .label = {"", 0}, .terms = GF_SLICE("[]")};
    gf_status st = gf_json_parse_copy(r->parser, json, &root, err);
    if (st == GF_EINVAL || number == 0 || number > UINT32_MAX) return damaged(err);
    if (st != GF_OK) return st;
    if (gf_json_kind_of(root) != GF_JSON_OBJECT) return damaged(err);
    c.build = (int64_t)take_number(root, "build");
    if (c.build != r->build || gf_json_member(root, "over", &part)) return GF_OK;
    c.seq = take_number(root, "seq");
    c.size = take_number(root, "size");
    c.nearest = (uint32_t)take_number(root, "nearest");
    if (gf_json_member(root, "label", &part) && gf_json_kind_of(part) == GF_JSON_STRING)
        c.label = gf_arena_copy(&r->out->memory, gf_json_get_string(part));
    if (gf_json_member(root, "terms", &part)) {
        gf_buffer_reset(&r->json);
        st = gf_json_write(part, &r->json, err);
        c.terms = gf_arena_copy(&r->out->memory, gf_buffer_view(&r->json));
    }
    if (st == GF_OK && (!c.label.ptr || !c.terms.ptr)) st = gf_fail_memory(err, "candidates");
    if (st == GF_OK) st = read_documents(r, &c, err);
    if (st != GF_OK || c.n == 0) return st;
    if (!gf_grow(&r->out->at, &r->out->capacity, r->out->n + 1, sizeof *r->out->at))
        return gf_fail_memory(err, "candidates");
    r->out->at[r->out->n++] = c;
    return GF_OK;
}

gf_status gf_candidates_read(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                             gf_slice configuration, int64_t build, gf_candidates *out,
                             gf_error *err)
{
    reading r = {.store = s,
                 .snapshot = snapshot,
                 .where = where,
                 .configuration = configuration,
                 .build = build,
                 .out = out};
    gf_status st = gf_json_parser_create(&r.parser, err);
    if (st == GF_OK)
        st = gf_watches_visit_part(s, snapshot, where, configuration, GF_WATCH_CANDIDATE,
                                   take_candidate, &r, err);
    gf_json_parser_free(r.parser);
    gf_buffer_release(&r.json);
    if (st != GF_OK) gf_candidates_release(out);
    return st;
}

void gf_candidates_release(gf_candidates *c)
{
    gf_free(c->at);
    gf_arena_release(&c->memory);
    *c = (gf_candidates){0};
}

gf_status gf_candidates_build(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                              gf_slice configuration, uint64_t id, int64_t *build, gf_error *err)
{
    gf_row row = {0};
    gf_json_parser *parser = NULL;
    gf_json_value root;
    gf_status st =
        gf_watches_get(s, snapshot, where, configuration, GF_WATCH_CANDIDATE, id, &row, err);
    *build = 0;
    if (st == GF_OK) st = gf_json_parser_create(&parser, err);
    if (st == GF_OK) {
        st = gf_json_parse_copy(parser, row.cells[0].value, &root, err);
        if (st == GF_EINVAL || (st == GF_OK && gf_json_kind_of(root) != GF_JSON_OBJECT))
            st = damaged(err);
        if (st == GF_OK) *build = (int64_t)take_number(root, "build");
    }
    gf_json_parser_free(parser);
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static gf_status put_documents(gf_store *s, gf_place where, gf_slice configuration,
                               const gf_new_candidate *c, gf_batch *batch, gf_error *err)
{
    gf_buffer ids = {0}, scored = {0};
    for (size_t i = 0; i < c->n; i++) {
        uint32_t bits;
        memcpy(&bits, &c->documents[i].score, sizeof bits);
        gf_buffer_string(&ids, c->documents[i].id);
        gf_buffer_string(&scored, c->documents[i].id);
        gf_buffer_u32be(&scored, bits);
    }
    gf_status st = gf_buffer_check(&ids, err);
    if (st == GF_OK) st = gf_buffer_check(&scored, err);
    if (st == GF_OK)
        st = gf_watches_put(s, where, configuration, GF_WATCH_MEMBER_IDS, c->id,
                            gf_buffer_view(&ids), batch, err);
    if (st == GF_OK)
        st = gf_watches_put(s, where, configuration, GF_WATCH_MEMBERS_SCORED, c->id,
                            gf_buffer_view(&scored), batch, err);
    gf_buffer_release(&ids);
    gf_buffer_release(&scored);
    return st;
}

gf_status gf_candidates_put(gf_store *s, gf_place where, gf_slice configuration,
                            const gf_new_candidate *c, gf_batch *batch, gf_error *err)
{
    gf_buffer json = {0};
    gf_json_writer w = gf_json_writer_to(&json);
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "build", (uint64_t)c->build);
    gf_json_put_uint(&w, "seq", c->seq);
    gf_json_put_uint(&w, "when", (uint64_t)gf_clock_ms());
    gf_json_put_uint(&w, "size", c->size);
    gf_json_put_string(&w, "label", c->label);
    if (c->nearest) gf_json_put_uint(&w, "nearest", c->nearest);
    gf_json_key(&w, "terms");
    gf_json_raw(&w, c->terms);
    gf_json_end(&w, '}');
    gf_status st = gf_buffer_check(&json, err);
    if (st == GF_OK)
        st = gf_watches_put(s, where, configuration, GF_WATCH_CANDIDATE, c->id,
                            gf_buffer_view(&json), batch, err);
    gf_buffer_release(&json);
    return st == GF_OK ? put_documents(s, where, configuration, c, batch, err) : st;
}

/* ---- ending ---------------------------------------------------------------------------------- */

typedef struct ending {
    gf_store *store;
    gf_place where;
    gf_slice configuration;
    int64_t build;
    const uint32_t *ids; /* n */
    size_t n;
    gf_batch *batch;
    gf_json_parser *parser;
} ending;

static gf_status delete_candidate(const ending *e, uint64_t number, gf_error *err)
{
    static const gf_watch_part parts[] = {GF_WATCH_CANDIDATE, GF_WATCH_MEMBER_IDS,
                                          GF_WATCH_MEMBERS_SCORED};
    gf_status st = GF_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && st == GF_OK; i++)
        st = gf_watches_delete(e->store, e->where, e->configuration, parts[i], number, e->batch,
                               err);
    return st;
}

/* Its documents stay, by which a group is it again. */
static gf_status note_over(const ending *e, uint64_t number, gf_error *err)
{
    gf_buffer json = {0};
    gf_json_writer w = gf_json_writer_to(&json);
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "build", (uint64_t)e->build);
    gf_json_put_bool(&w, "over", true);
    gf_json_end(&w, '}');
    gf_status st = gf_buffer_check(&json, err);
    if (st == GF_OK)
        st = gf_watches_put(e->store, e->where, e->configuration, GF_WATCH_CANDIDATE, number,
                            gf_buffer_view(&json), e->batch, err);
    gf_buffer_release(&json);
    return st;
}

static gf_status end_candidate(void *context, uint64_t number, gf_slice json, gf_error *err)
{
    const ending *e = context;
    gf_json_value root, part;
    for (size_t i = 0; i < e->n; i++)
        if (e->ids[i] == number) return GF_OK;
    gf_status st = gf_json_parse_copy(e->parser, json, &root, err);
    if (st != GF_OK) return st == GF_EINVAL ? damaged(err) : st;
    if (gf_json_kind_of(root) != GF_JSON_OBJECT) return damaged(err);
    if ((int64_t)take_number(root, "build") != e->build) return delete_candidate(e, number, err);
    return gf_json_member(root, "over", &part) ? GF_OK : note_over(e, number, err);
}

gf_status gf_candidates_end_others(gf_store *s, gf_place where, gf_slice configuration,
                                   int64_t build, const uint32_t *ids, size_t n, gf_batch *batch,
                                   gf_error *err)
{
    ending e = {.store = s,
                .where = where,
                .configuration = configuration,
                .build = build,
                .ids = ids,
                .n = n,
                .batch = batch};
    gf_status st = gf_json_parser_create(&e.parser, err);
    if (st == GF_OK)
        st = gf_watches_visit_part(s, NULL, where, configuration, GF_WATCH_CANDIDATE, end_candidate,
                                   &e, err);
    gf_json_parser_free(e.parser);
    return st;
}

/* ---- fates ----------------------------------------------------------------------------------- */

void gf_candidate_fate_write(const gf_candidate_fate *f, gf_buffer *out)
{
    gf_buffer_varint(out, f->id);
    gf_buffer_varint(out, f->size);
    gf_buffer_string(out, f->label);
    gf_buffer_varint(out, f->n_parts);
    for (size_t i = 0; i < f->n_parts; i++) {
        gf_buffer_varint(out, f->parts[i].cluster);
        gf_buffer_varint(out, f->parts[i].documents);
    }
}

bool gf_candidate_fate_take(gf_slice *bytes, gf_candidate_fate *f)
{
    uint64_t n;
    *f = (gf_candidate_fate){.id = 0};
    if (!gf_slice_take_varint32(bytes, &f->id) || !gf_slice_take_varint(bytes, &f->size) ||
        !gf_slice_take_string(bytes, &f->label) || !gf_slice_take_varint(bytes, &n) ||
        n > GF_CHANGE_MOST_PARTS)
        return false;
    for (f->n_parts = 0; f->n_parts < n; f->n_parts++)
        if (!gf_slice_take_varint32(bytes, &f->parts[f->n_parts].cluster) ||
            !gf_slice_take_varint(bytes, &f->parts[f->n_parts].documents))
            return false;
    return true;
}
