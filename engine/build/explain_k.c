/* How k=auto chooses: the steps of a rebuild up to the choice of k, over a snapshot. */
#include "base/memory.h"
#include "engine/build/cluster.h"

#include <inttypes.h>

static gf_status choose_k(gf_build_plan *plan, gf_choice *choice, uint32_t *kept, gf_error *err)
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
    if (st == GF_OK) st = gf_build_choose_k(plan, pool, &documents, choice, kept, err);
    gf_build_gathered_release(&documents);
    gf_pool_free(pool);
    gf_snapshot_free(snapshot);
    return st;
}

/* ---- the reason in words --------------------------------------------------------------------- */

static double worth_of(const gf_choice *choice, uint32_t k)
{
    for (uint32_t i = 0; i < choice->n_steps; i++)
        if (choice->steps[i].k == k) return gf_k_curve_worth(k, choice->steps[i].separation);
    return 0;
}

static void say_choice(gf_buffer *b, const gf_choice *choice)
{
    const gf_k_reason *r = &choice->reason;
    if (choice->n_steps == 1) {
        gf_buffer_str(b, "there are too few different documents for more");
    } else if (r->k == 1) {
        gf_buffer_str(b, "documents are no nearer to clusters of their own than to others, "
                         "however many there are");
    } else {
        if (r->few)
            gf_buffer_format(b,
                             "%" PRIu32 " are worth most, but a few frequent words may cut any "
                             "collection so; of finer ones ",
                             r->few);
        gf_buffer_format(b, "%" PRIu32 " %s", r->best, r->few ? "is best" : "are worth most");
        if (r->few)
            gf_buffer_format(b, ", and holds %.0f %% of that",
                             100 * r->worth / worth_of(choice, r->few));
        if (r->from == r->to)
            gf_buffer_str(b, "; no number beside it comes within 1 % of that");
        else
            gf_buffer_format(b,
                             "; from %" PRIu32 " to %" PRIu32
                             " they come within about 1 %% of that, and %" PRIu32
                             " lies two thirds of the way up",
                             r->from, r->to, r->k);
    }
}

/* A rebuild that begins from the served clusters: what it does. */
static void say_kept(gf_buffer *b, const gf_choice *choice, uint32_t kept)
{
    if (kept == 0 || kept == choice->k) return;
    gf_buffer_format(b,
                     "; a rebuild keeps the %" PRIu32
                     " that are served: the documents are about as many as when those were chosen, "
                     "or those are worth all but 2 %% of the best",
                     kept);
}

gf_status gf_explain_k(gf_store *s, gf_place where, gf_slice configuration,
                       const gf_rebuild_options *options, gf_visit_k *visit, void *context,
                       gf_error *err)
{
    gf_status known = gf_build_plan_check_options(options, err);
    if (known != GF_OK) return known;
    gf_build_plan plan;
    gf_choice choice = {0};
    uint32_t kept = 0;
    gf_status st = gf_build_plan_init(&plan, s, where, configuration, options, err);
    if (st != GF_OK) return st;
    st = choose_k(&plan, &choice, &kept, err);
    gf_buffer why = {0};
    if (st == GF_OK && choice.n_steps) {
        say_choice(&why, &choice);
        say_kept(&why, &choice, kept);
        gf_buffer_byte(&why, '\0');
        st = gf_buffer_check(&why, err);
    }
    for (uint32_t i = 0; i < choice.n_steps && st == GF_OK; i++) {
        const gf_choice_step *step = &choice.steps[i];
        bool chosen = step->k == choice.k;
        gf_k_step k = {.k = step->k,
                       .separation = step->separation,
                       .worth = gf_k_curve_worth(step->k, step->separation),
                       .chosen = chosen,
                       .plateau = step->k >= choice.reason.from && step->k <= choice.reason.to,
                       .why = chosen ? gf_buffer_view(&why).ptr : NULL};
        st = visit(context, &k, err);
    }
    gf_buffer_release(&why);
    gf_free(choice.steps);
    gf_build_plan_release(&plan);
    return st;
}
