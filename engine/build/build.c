#include "engine/build/build.h"

#include "base/clock.h"
#include "base/memory.h"
#include "engine/build/once.h"
#include "engine/build/topics.h"
#include "grouperfish.h"

#include <inttypes.h>
#include <stdio.h>

void gf_build_release(gf_build *b)
{
    gf_build_gathered_release(&b->documents);
    gf_build_clustered_release(&b->clustered);
    gf_build_named_release(&b->named);
    gf_build_figures_release(&b->figures);
    gf_build_best_release(&b->best);
    gf_build_previous_release(&b->previous);
    gf_build_matched_release(&b->matched);
    gf_build_obeying_release(&b->obeying);
    b->info = (gf_build_info){0};
}

static gf_build_info summarise_build(const gf_build_plan *plan, const gf_build_gathered *documents,
                                     const gf_build_clustered *clustered)
{
    const gf_kmeans *c = &clustered->kmeans;
    const gf_term_vectors *words = &clustered->words;
    const gf_vectors *v = &documents->vectors;
    const gf_matrix *m = plan->matrix;
    gf_build_info info = {.build = plan->build,
                          .served = true,
                          .documents = documents->n,
                          .without_terms = documents->n - c->n - clustered->n_unplaced,
                          .unplaced = clustered->n_unplaced,
                          .distinct = c->distinct,
                          .terms = m          ? m->n_cols
                                   : words->n ? words->d
                                              : v->x.n_cols,
                          .k = c->k,
                          .objective = c->n ? c->objective / c->n : 0,
                          .seq = plan->seq,
                          .settings = gf_buffer_view(&plan->settings_json),
                          .versions = gf_slice_str(gf_version_libraries())};
    if (m)
        info.rows = m->sparse ? GF_ROWS_SPARSE : GF_ROWS_DENSE;
    else if (words->n)
        info.rows = GF_ROWS_OF_WORDS;
    return info;
}

/* The table of word vectors that the rows were made of, beside the libraries. */
static void name_table(gf_build *b)
{
    snprintf(b->versions, sizeof b->versions, "%s, word vectors %016" PRIx64,
             gf_version_libraries(), b->clustered.words.hash);
    b->info.versions = gf_slice_str(b->versions);
}

/* Return free pages to the system before the next step, if memory is bounded. */
static void return_memory(const gf_build_plan *plan)
{
    if (plan->options->memory) gf_memory_trim();
}

/* Names are of documents that count: in each cluster one of a group of near-duplicates. */
static gf_status name_clusters(gf_build_plan *plan, gf_pool *pool, gf_build *b, gf_error *err)
{
    gf_build_clustered counted = b->clustered; /* which borrows all but its members */
    uint32_t *members = NULL, *start = NULL;
    gf_status st = gf_build_once_members(&b->clustered, b->documents.n, &members, &start, err);
    if (members) {
        counted.members = members;
        counted.start = start;
    }
    if (st == GF_OK)
        st = gf_build_name(plan, pool, &b->documents, &b->previous, &counted, &b->matched,
                           &b->named, err);
    gf_free(members);
    gf_free(start);
    return st;
}

gf_status gf_build_make(gf_build_plan *plan, gf_pool *pool, gf_build *b, gf_error *err)
{
    b->begun = gf_clock_seconds();
    gf_status st = gf_build_plan_memory(plan, pool, err);
    return_memory(plan);
    if (st != GF_OK) return st;

    if (plan->again) st = gf_given_rows_read(plan, err);
    if (st != GF_OK) return st;

    st = gf_build_gather(plan, pool, &b->documents, err);
    return_memory(plan);
    if (st != GF_OK) return st;

    st = gf_build_read_previous(plan, pool, &b->documents, &b->previous, err);
    if (st == GF_OK)
        st = gf_build_cluster(plan, pool, &b->documents, &b->previous, &b->clustered, err);
    if (st == GF_OK)
        st = gf_build_obey_groups(plan, &b->documents, &b->clustered, &b->obeying, err);
    return_memory(plan);
    if (st != GF_OK) return st;

    st = gf_build_match(plan, &b->documents, &b->previous, &b->clustered, &b->matched, err);
    if (st == GF_OK) st = gf_build_obey_ids(plan, &b->clustered, &b->obeying, &b->matched, err);
    if (st == GF_OK)
        st = gf_build_obey_places(plan, pool, &b->documents, &b->clustered, &b->obeying,
                                  &b->matched, err);
    if (st == GF_OK) st = gf_build_topics_place(plan, &b->documents, &b->clustered, err);
    if (st == GF_OK) st = gf_build_rank(plan, pool, &b->clustered, err);
    if (st == GF_OK) st = name_clusters(plan, pool, b, err);
    if (st == GF_OK)
        st = gf_build_match_groups(plan, &b->documents, &b->previous, &b->clustered, &b->named.tree,
                                   &b->matched, err);
    if (st == GF_OK)
        st = gf_build_figure(plan, pool, &b->documents, &b->clustered, &b->matched, &b->named,
                             &b->figures, err);
    return_memory(plan);
    if (st == GF_OK)
        st = gf_build_best_choose(plan, pool, &b->documents, &b->clustered, &b->best, err);
    if (st == GF_OK) b->info = summarise_build(plan, &b->documents, &b->clustered);
    if (st == GF_OK && b->clustered.words.n) name_table(b);
    return st;
}
