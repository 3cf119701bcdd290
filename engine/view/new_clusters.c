#include "engine/view/new_clusters.h"

#include "engine/view/view.h"

#include "base/grow.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>

void gf_new_clusters_release(gf_new_clusters *c)
{
    gf_candidates_release(&c->list);
    gf_strings_release(&c->documents);
    gf_free(c->of);
    gf_free(c->rank);
    *c = (gf_new_clusters){0};
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Whether a document is there as the look saw it: put after the build, and not since the look. */
static gf_status is_as_seen(gf_view *v, const gf_new_candidate *c, gf_slice id, bool *as_seen,
                            gf_error *err)
{
    uint64_t seq = 0;
    gf_status st = gf_state_row(v->state, id, &v->document_row, err);
    *as_seen = st == GF_OK &&
               gf_rows_cell_number(gf_row_find(&v->document_row, GF_DOCUMENTS_MAIN, "seq"), &seq) &&
               seq > v->info.seq && seq <= c->seq;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Documents all stay where nothing was put since the look. */
static gf_status drop_others(gf_view *v, gf_new_candidate *c, gf_error *err)
{
    size_t n = 0;
    gf_status st = GF_OK;
    if (v->seq == c->seq) return GF_OK;
    for (size_t i = 0; i < c->n && st == GF_OK; i++) {
        bool as_seen;
        st = is_as_seen(v, c, c->documents[i].id, &as_seen, NULL);
        if (st == GF_OK && as_seen) c->documents[n++] = c->documents[i];
    }
    if (st != GF_OK) return gf_fail(err, st, "the documents of candidate %u", c->id);
    c->size -= c->n - n < c->size ? c->n - n : c->size;
    c->n = n;
    return GF_OK;
}

static gf_status index_documents(gf_new_clusters *all, uint32_t place, gf_error *err)
{
    const gf_new_candidate *c = &all->list.at[place];
    for (size_t i = 0; i < c->n; i++) {
        uint32_t at;
        bool added;
        gf_status st = gf_strings_add(&all->documents, c->documents[i].id, &at, &added, err);
        if (st != GF_OK) return st;
        if (!added) continue;
        if (!gf_grow(&all->of, &all->of_capacity, (size_t)at + 1, sizeof *all->of) ||
            !gf_grow(&all->rank, &all->rank_capacity, (size_t)at + 1, sizeof *all->rank))
            return gf_fail_memory(err, "candidates");
        all->of[at] = place;
        all->rank[at] = (uint32_t)i;
    }
    return GF_OK;
}

static gf_status load(gf_view *v, gf_new_clusters *all, gf_error *err)
{
    size_t n = 0;
    gf_candidates *l = &all->list;
    gf_status st = gf_candidates_read(v->store, v->snapshot, v->where, v->configuration,
                                      v->info.build, l, err);
    for (size_t i = 0; i < l->n && st == GF_OK; i++) {
        st = drop_others(v, &l->at[i], err);
        if (st == GF_OK && l->at[i].n) l->at[n++] = l->at[i];
    }
    if (st == GF_OK) l->n = n;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        const gf_slice *pinned = gf_pins_label(&v->pins, l->at[i].id);
        if (pinned) l->at[i].label = *pinned;
        st = index_documents(all, (uint32_t)i, err);
    }
    return st;
}

gf_status gf_view_load_new(gf_view *v, gf_error *err)
{
    gf_new_clusters *all = &v->new_clusters;
    if (all->loaded) return GF_OK;
    gf_status st = v->info.served ? load(v, all, err) : GF_OK;
    if (st != GF_OK) gf_new_clusters_release(all);
    all->loaded = st == GF_OK;
    return st;
}

/* ---- finding --------------------------------------------------------------------------------- */

gf_new_candidate *gf_view_find_new(const gf_view *v, uint32_t id)
{
    const gf_candidates *l = &v->new_clusters.list;
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].id == id) return &l->at[i];
    return NULL;
}

gf_new_candidate *gf_view_find_new_label(const gf_view *v, gf_slice label)
{
    const gf_candidates *l = &v->new_clusters.list;
    for (size_t i = 0; i < l->n; i++)
        if (gf_utf8_same_letters(l->at[i].label, label)) return &l->at[i];
    return NULL;
}

const gf_new_candidate *gf_view_new_of(const gf_view *v, gf_slice id,
                                       const gf_candidate_document **at)
{
    const gf_new_clusters *all = &v->new_clusters;
    uint32_t found = all->documents.n ? gf_strings_find(&all->documents, id) : GF_STRING_NONE;
    if (found == GF_STRING_NONE) return NULL;
    const gf_new_candidate *c = &all->list.at[all->of[found]];
    *at = &c->documents[all->rank[found]];
    return c;
}

void gf_view_describe_new(const gf_view *v, const gf_new_candidate *c,
                          const gf_candidate_document *d, gf_membership *m)
{
    gf_membership before = *m;
    *m = (gf_membership){.cluster = c->id,
                         .label = c->label,
                         .score = d->score,
                         .provisional = true,
                         .is_new = true,
                         .state = gf_pins_state(&v->pins, c->id)};
    if (!before.cluster) return;
    m->runner_up = before.cluster;
    m->runner_up_label = before.label;
    m->second = before.score;
}

/* ---- visiting -------------------------------------------------------------------------------- */

/* The place behind that one: behind its document, or where it would be if that is there no more. */
static size_t find_start(const gf_new_candidate *c, const gf_member_place *after)
{
    for (size_t i = 0; after && i < c->n; i++)
        if (gf_slice_equal(c->documents[i].id, after->id)) return i + 1;
    size_t at = 0;
    while (after && at < c->n && c->documents[at].score >= after->score)
        at++;
    return at;
}

gf_status gf_view_visit_new_members(gf_view *v, const gf_new_candidate *c, bool reverse,
                                    const gf_member_place *after, uint64_t limit,
                                    gf_visit_member *visit, void *context, gf_error *err)
{
    gf_status st = GF_OK;
    size_t from = find_start(c, after), n = c->n - from;
    if (limit && limit < n) n = (size_t)limit;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        const gf_candidate_document *d = &c->documents[reverse ? c->n - 1 - i : from + i];
        gf_membership m = {.cluster = 0};
        gf_view_describe_new(v, c, d, &m);
        st = visit(context, d->id, &m, err);
    }
    return st;
}

gf_status gf_view_visit_new(gf_view *v, const gf_new_candidate *c, gf_visit_cluster *visit,
                            void *context, gf_error *err)
{
    gf_json_parser *parser = NULL;
    gf_term *terms = NULL;
    gf_cluster_info info = {.id = c->id,
                            .label = c->label,
                            .size = c->size,
                            .is_new = true,
                            .hidden = gf_pins_hide(&v->pins, c->id),
                            .state = gf_pins_state(&v->pins, c->id)};
    gf_status st = gf_json_parser_create(&parser, err);
    if (st == GF_OK) st = gf_view_take_terms(parser, c->terms, &terms, &info.n_terms, err);
    info.terms = terms;
    if (st == GF_OK) st = visit(context, &info, err);
    gf_free(terms);
    gf_json_parser_free(parser);
    return st;
}

static int by_falling_size(const void *a, const void *b)
{
    const gf_new_candidate *x = *(const gf_new_candidate *const *)a,
                           *y = *(const gf_new_candidate *const *)b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

gf_status gf_view_new_clusters(gf_view *v, gf_visit_cluster *visit, void *context, gf_error *err)
{
    const gf_candidates *l = &v->new_clusters.list;
    gf_status st = gf_view_load_new(v, err);
    if (st != GF_OK || l->n == 0) return st;
    const gf_new_candidate **order = gf_array(l->n, sizeof *order);
    if (!order) return gf_fail_memory(err, "candidates");
    for (size_t i = 0; i < l->n; i++)
        order[i] = &l->at[i];
    qsort(order, l->n, sizeof *order, by_falling_size);
    for (size_t i = 0; i < l->n && st == GF_OK; i++)
        st = gf_view_visit_new(v, order[i], visit, context, err);
    gf_free(order);
    return st;
}
