/* How k=auto chooses: the steps of a rebuild up to the choice of k, over a snapshot. */
#include "base/memory.h"
#include "base/options.h"
#include "engine/build/cluster.h"

static gf_status choose_k(gf_build_plan *plan, gf_choice *choice, gf_error *err)
{
    gf_snapshot *snapshot = NULL;
    gf_pool *pool = NULL;
    gf_build_gathered documents = {0};
    bool modified;
    gf_status st = gf_snapshot_create(plan->store->db, &snapshot, err);
    plan->snapshot = snapshot;
    if (st == GF_OK) st = gf_build_plan_read(plan, &modified, err);
    if (st == GF_OK) st = gf_pool_create(plan->options->threads, &pool, err);
    if (st == GF_OK) st = gf_build_gather(plan, pool, &documents, err);
    if (st == GF_OK) st = gf_build_choose_k(plan, pool, &documents, choice, err);
    gf_build_gathered_release(&documents);
    gf_pool_free(pool);
    gf_snapshot_free(snapshot);
    return st;
}

gf_status gf_explain_k(gf_store *s, gf_place where, gf_slice configuration,
                       const gf_rebuild_options *options, gf_visit_k *visit, void *context,
                       gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_REBUILD_OPTIONS_VERSION, "gf_rebuild_options", err);
    if (known != GF_OK) return known;
    gf_build_plan plan;
    gf_choice choice = {0};
    gf_status st = gf_build_plan_init(&plan, s, where, configuration, options, err);
    if (st != GF_OK) return st;
    st = choose_k(&plan, &choice, err);
    for (uint32_t i = 0; i < choice.n_steps && st == GF_OK; i++) {
        const gf_choice_step *step = &choice.steps[i];
        gf_k_step k = {step->k, step->separation, step->k == choice.k};
        st = visit(context, &k, err);
    }
    gf_free(choice.steps);
    gf_build_plan_release(&plan);
    return st;
}
