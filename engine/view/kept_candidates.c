#include "engine/view/kept_candidates.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/config/candidates.h"
#include "engine/config/watches.h"

static gf_status keep_document(gf_kept_candidates *k, gf_slice id, uint32_t candidate,
                               gf_error *err)
{
    uint32_t at;
    bool added;
    gf_status st = gf_strings_add(&k->documents, id, &at, &added, err);
    if (st != GF_OK || !added) return st;
    if (!gf_grow(&k->of, &k->of_capacity, (size_t)at + 1, sizeof *k->of))
        return gf_fail_memory(err, "candidates");
    k->of[at] = candidate;
    return GF_OK;
}

typedef struct keeping {
    gf_view *view;
    gf_kept_candidates *to;
} keeping;

static gf_status keep_candidate(void *context, uint64_t number, gf_slice ids, gf_error *err)
{
    const keeping *w = context;
    const gf_view *v = w->view;
    gf_kept_candidates *k = w->to;
    gf_slice id;
    int64_t build;
    if (number == 0 || number > UINT32_MAX)
        return gf_fail(err, GF_ECORRUPT, "table collections: a candidate is damaged");
    gf_status st =
        gf_candidates_build(v->store, v->snapshot, v->where, v->configuration, number, &build, err);
    if (st != GF_OK || build != v->info.build) return st;
    if (!gf_grow(&k->at, &k->capacity, k->n + 1, sizeof *k->at))
        return gf_fail_memory(err, "candidates");
    gf_kept_candidate *c = &k->at[k->n++];
    *c = (gf_kept_candidate){.id = (uint32_t)number};
    while (st == GF_OK && gf_slice_take_string(&ids, &id)) {
        c->members++;
        st = keep_document(k, id, (uint32_t)(k->n - 1), err);
    }
    return st;
}

gf_status gf_kept_candidates_read(gf_view *v, gf_kept_candidates *out, gf_error *err)
{
    keeping w = {v, out};
    return gf_watches_visit_part(v->store, v->snapshot, v->where, v->configuration,
                                 GF_WATCH_MEMBER_IDS, keep_candidate, &w, err);
}

void gf_kept_candidates_release(gf_kept_candidates *k)
{
    gf_free(k->at);
    gf_free(k->of);
    gf_strings_release(&k->documents);
    *k = (gf_kept_candidates){0};
}

uint32_t gf_kept_candidates_claim(gf_kept_candidates *k, const gf_slice *ids, uint32_t n)
{
    gf_kept_candidate *best = NULL;
    for (size_t i = 0; i < k->n; i++)
        k->at[i].shared = 0;
    for (uint32_t i = 0; i < n && k->n; i++) {
        uint32_t at = gf_strings_find(&k->documents, ids[i]);
        if (at != GF_STRING_NONE) k->at[k->of[at]].shared++;
    }
    for (size_t i = 0; i < k->n; i++) {
        gf_kept_candidate *c = &k->at[i];
        bool most = 2 * (uint64_t)c->shared > c->members || 2 * (uint64_t)c->shared > n;
        if (!c->claimed && c->shared && most && (!best || c->shared > best->shared)) best = c;
    }
    if (!best) return 0;
    best->claimed = true;
    return best->id;
}
