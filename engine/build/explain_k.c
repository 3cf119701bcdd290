/* How k=auto chooses: the steps of a rebuild up to the choice, over a snapshot, and nothing after.
 */
#include "engine/build/internal.h"

#include "base/memory.h"

static gf_status choose(gf_job *j, gf_choice *choice, gf_error *err)
{
    gf_snapshot *snapshot = NULL;
    bool modified;
    gf_status st = gf_snapshot_create(j->store->db, &snapshot, err);
    j->snapshot = snapshot;
    if (st == GF_OK) st = gf_job_look(j, &modified, err);
    if (st == GF_OK) st = gf_pool_create(j->options->threads, &j->pool, err);
    if (st == GF_OK) st = gf_job_gather(j, err);
    if (st == GF_OK) st = gf_job_choose_k(j, choice, err);
    gf_pool_free(j->pool);
    gf_snapshot_free(snapshot);
    return st;
}

gf_status gf_explain_k(gf_store *s, gf_place where, gf_slice configuration,
                       const gf_rebuild_options *options, gf_visit_k *visit, void *context,
                       gf_error *err)
{
    gf_job job;
    gf_choice choice = {0};
    gf_status st = gf_job_init(&job, s, where, configuration, options, err);
    if (st != GF_OK) return st;
    st = choose(&job, &choice, err);
    for (uint32_t i = 0; i < choice.n_steps && st == GF_OK; i++) {
        const gf_choice_step *step = &choice.steps[i];
        gf_k_step k = {step->k, step->separation, step->k == choice.k};
        st = visit(context, &k, err);
    }
    gf_free(choice.steps);
    gf_job_release(&job);
    return st;
}
