/* Rebuilding one configuration of one collection. */
#include "engine/build/build.h"

#include "engine/build/publish.h"
#include "engine/config/failure.h"
#include "engine/store/collections.h"
#include "engine/store/delete.h"
#include "engine/store/hold.h"
#include "storage/backend.h"

enum { LARGE = 50000 /* documents */ };

static gf_status create_pool(const gf_rebuild_options *o, gf_pool **pool, gf_error *err)
{
    gf_status st = gf_pool_create(o->threads, pool, err);
    if (st != GF_OK || !o->memory || gf_pool_size(*pool) <= GF_BOUND_THREADS) return st;
    gf_pool_free(*pool);
    *pool = NULL;
    return gf_pool_create(GF_BOUND_THREADS, pool, err);
}

static gf_status write_rows(const gf_build_plan *plan, gf_pool *pool, gf_build *build,
                            gf_error *err)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(plan->store->db, &batch, err);
    if (st != GF_OK) return st;
    st = gf_build_write(plan, pool, build, batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_batch_free(batch);
    /* The last of a large build becomes a table before it is served, so that nothing waits then. */
    if (st == GF_OK && build->info.documents >= LARGE) gf_database_flush(plan->store->db);
    return st;
}

/*
 * Where rows hold themselves a failure does not say that the build is not published: once its journal is
 * there the next hold publishes it. So that is taken, and if it cannot be, the build is left to others.
 */
static gf_status ask_published(const gf_build_plan *p, bool *published)
{
    gf_hold hold;
    gf_collection_row row = {0};
    gf_status st = gf_hold_collection(p->store, p->where, &hold, NULL);
    if (st == GF_OK) st = gf_collection_row_read(p->store, NULL, p->where, &row, NULL);
    *published = st == GF_OK && gf_collection_row_served(&row, p->configuration) == p->build;
    gf_collection_row_release(&row);
    gf_hold_let_go(&hold);
    return st == GF_ENOTFOUND ? GF_OK : st; /* deleted */
}

static gf_status make_and_publish(gf_build_plan *plan, gf_rebuild_result *result, gf_error *err)
{
    gf_build build = {.begun = 0};
    gf_pool *pool = NULL;
    gf_snapshot *snapshot = NULL;
    gf_status st = gf_reclaim_builds(plan->store, plan->where, err); /* beside what takes longer */
    if (st == GF_OK) st = create_pool(plan->options, &pool, err);
    if (st == GF_OK) st = gf_build_plans_begin(&plan, 1, &snapshot, err);
    if (st == GF_OK) st = gf_build_make(plan, pool, &build, err);
    if (st == GF_OK) st = write_rows(plan, pool, &build, err);
    /* Dropping old builds takes memory of its own: what is written is not held beside it. */
    result->build = build.info;
    result->unknown = build.clustered.unknown;
    gf_build_release(&build);
    if (st == GF_OK) st = gf_cancel_check(plan->options->cancel, err);
    bool publishes = st == GF_OK;
    if (publishes) st = gf_build_move_pointers(&(const gf_build_plan *){plan}, 1, err);
    bool in_doubt = publishes && st != GF_OK && gf_database_holds_in_rows(plan->store->db);
    if (in_doubt) {
        bool published = false;
        in_doubt = ask_published(plan, &published) != GF_OK;
        if (published) st = GF_OK;
        if (in_doubt) gf_store_leave_untidy(plan->store);
    }
    gf_build_plans_end(&plan, &(bool){st == GF_OK || in_doubt}, 1);
    gf_snapshot_free(snapshot);
    gf_pool_free(pool);
    return st;
}

static gf_status estimate_memory(const gf_build_plan *plan, gf_memory_estimate *e, gf_error *err)
{
    gf_pool *pool = NULL;
    gf_status st = gf_pool_create(plan->options->threads, &pool, err);
    if (st == GF_OK) st = gf_build_estimate(plan, pool, e, err);
    gf_pool_free(pool);
    return st;
}

gf_status gf_rebuild(gf_store *s, gf_place where, gf_slice configuration,
                     const gf_rebuild_options *options, gf_rebuild_result *result, gf_error *err)
{
    gf_status known = gf_build_plan_check_options(options, err);
    if (known != GF_OK) return known;
    gf_build_plan plan;
    bool modified = true;
    gf_error why = {GF_OK, ""}; /* also where the caller wants none: the store keeps the reason */
    gf_status st = gf_build_plan_init(&plan, s, where, configuration, options, err);
    if (st != GF_OK) return st;
    st = gf_build_plan_read(&plan, &modified, &why);
    gf_rebuild_result r = {.outcome = gf_build_plan_outcome(&plan, modified), .build = plan.served};
    if (st == GF_OK && r.outcome == GF_REBUILD_DUE)
        st = estimate_memory(&plan, &r.memory, &why);
    else if (st == GF_OK && r.outcome == GF_REBUILD_MADE)
        st = make_and_publish(&plan, &r, &why);
    r.build.settings = r.build.versions = (gf_slice){0};
    gf_build_plan_release(&plan);
    /* A failure by settings of one build is no news of the configuration. */
    if (!options->dry_run && !options->n_set)
        gf_failure_note(s, where, configuration, st, why.message);
    if (st == GF_OK)
        *result = r;
    else if (err)
        *err = why;
    return st;
}
