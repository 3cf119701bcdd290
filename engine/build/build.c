#include "engine/build/build.h"

#include "base/clock.h"
#include "base/memory.h"
#include "grouperfish.h"

void gf_build_release(gf_build *b)
{
    gf_build_gathered_release(&b->documents);
    gf_build_clustered_release(&b->clustered);
    gf_build_named_release(&b->named);
    gf_build_previous_release(&b->previous);
    gf_build_matched_release(&b->matched);
    b->info = (gf_build_info){0};
}

static gf_build_info summarise_build(const gf_build_plan *plan, const gf_build_gathered *documents,
                                     const gf_kmeans *c)
{
    const gf_vectors *v = &documents->vectors;
    const gf_matrix *m = plan->options->matrix;
    gf_build_info info = {.build = plan->build,
                          .served = true,
                          .documents = documents->n,
                          .without_terms = m ? documents->n - c->n : v->n_empty,
                          .distinct = c->distinct,
                          .terms = m ? m->n_cols : v->x.n_cols,
                          .k = c->k,
                          .objective = c->n ? c->objective / c->n : 0,
                          .seq = plan->seq,
                          .settings = gf_buffer_view(&plan->settings_json),
                          .versions = gf_slice_str(gf_version_libraries())};
    if (m) info.rows = m->sparse ? GF_ROWS_SPARSE : GF_ROWS_DENSE;
    return info;
}

/* Return free pages to the system before the next step, if memory is bounded. */
static void return_memory(const gf_build_plan *plan)
{
    if (plan->options->memory) gf_memory_trim();
}

gf_status gf_build_make(gf_build_plan *plan, gf_pool *pool, gf_build *b, gf_error *err)
{
    b->begun = gf_clock_seconds();
    gf_status st = gf_build_plan_memory(plan, pool, err);
    return_memory(plan);
    if (st != GF_OK) return st;

    st = gf_build_gather(plan, pool, &b->documents, err);
    return_memory(plan);
    if (st != GF_OK) return st;

    st = gf_build_read_previous(plan, &b->documents, &b->previous, err);
    if (st == GF_OK)
        st = gf_build_cluster(plan, pool, &b->documents, &b->previous, &b->clustered, err);
    return_memory(plan);
    if (st != GF_OK) return st;

    st = gf_build_match(plan, &b->documents, &b->previous, &b->clustered, &b->matched, err);
    if (st == GF_OK)
        st = gf_build_name(plan, pool, &b->documents, &b->clustered, &b->matched, &b->named, err);
    return_memory(plan);
    if (st == GF_OK) b->info = summarise_build(plan, &b->documents, &b->clustered.kmeans);
    return st;
}
