/*
 * Rebuilding many collections. Small ones are built side by side, one thread each, and begin, are
 * written and are published together: a sync for all of them instead of three for each.
 */
#include "engine/rebuild_internal.h"

#include "base/memory.h"

enum { SMALL_DOCUMENTS = 2000, GROUP_JOBS = 256, GROUP_DOCUMENTS = 20000 };

/* What is to be rebuilt: collection and configuration, one after the other, as strings. */
typedef struct work_list {
    gf_store *store;
    gf_slice name_space;
    gf_slice configuration; /* empty: all that each collection has */
    gf_buffer names;
    gf_slice collection; /* at hand */
} work_list;

typedef struct rebuilding_all {
    gf_store *store;
    gf_slice name_space;
    const gf_rebuild_options *options;
    gf_visit_rebuild *visit;
    void *context;
    gf_pool *pool;
    gf_job *group[GROUP_JOBS];
    gf_status status[GROUP_JOBS];
    gf_error errors[GROUP_JOBS];
    size_t n;
    uint64_t documents; /* in the group */
    uint64_t done, total;
} rebuilding_all;

/* ---- the list ---------------------------------------------------------------------------------
 */

static gf_status add_name(void *context, gf_slice name, gf_error *err)
{
    work_list *l = context;
    if (l->configuration.len && !gf_slice_equal(name, l->configuration)) return GF_OK;
    gf_buffer_string(&l->names, l->collection);
    gf_buffer_string(&l->names, name);
    return gf_buffer_check(&l->names, err);
}

static gf_status add_collection(void *context, const gf_collection_info *info, gf_error *err)
{
    work_list *l = context;
    l->collection = info->name;
    return gf_configurations_visit(l->store, (gf_place){l->name_space, info->name}, add_name, l,
                                   err);
}

/* ---- a group ----------------------------------------------------------------------------------
 */

static gf_status tell(rebuilding_all *r, gf_place where, gf_slice configuration, gf_status status,
                      const char *message, const gf_rebuild_result *result, gf_error *err)
{
    r->done++;
    if (r->options->progress)
        r->options->progress(r->options->context, where, "rebuilding", r->done, r->total);
    return r->visit(r->context, where, configuration, status, message, result, err);
}

static gf_status tell_job(rebuilding_all *r, gf_job *j, gf_status status, const char *message,
                          gf_rebuild_outcome outcome, gf_error *err)
{
    gf_rebuild_result result = {.outcome = outcome, .build = j->info};
    return tell(r, j->where, j->configuration, status, message, status == GF_OK ? &result : NULL,
                err);
}

static gf_status compute_task(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    rebuilding_all *r = context;
    r->errors[i] = (gf_error){GF_OK, ""};
    r->status[i] = gf_job_compute(r->group[i], &r->errors[i]);
    return GF_OK;
}

/* Write and publish those of the group that were computed. */
static gf_status finish_group(rebuilding_all *r, gf_error *err)
{
    gf_job *good[GROUP_JOBS];
    size_t n = 0;
    gf_batch *batch;
    gf_status st = gf_batch_create(r->store->db, &batch, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < r->n && st == GF_OK; i++) {
        if (r->status[i] != GF_OK) continue;
        st = gf_job_write(r->group[i], batch, err);
        good[n++] = r->group[i];
    }
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC, err);
    gf_batch_free(batch);
    return st == GF_OK && n ? gf_jobs_publish(good, n, err) : st;
}

/* The group's jobs have all been tried; report them and empty the group. */
static gf_status report_group(rebuilding_all *r, gf_status group_status,
                              const gf_error *group_error, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < r->n; i++) {
        gf_job *j = r->group[i];
        bool computed = r->status[i] == GF_OK;
        gf_status status = computed ? group_status : r->status[i];
        const char *message = computed ? group_error->message : r->errors[i].message;
        if (st == GF_OK) st = tell_job(r, j, status, message, GF_REBUILT, err);
        gf_job_release(j);
        gf_free(j);
    }
    r->n = 0;
    r->documents = 0;
    return st;
}

static gf_status build_group(rebuilding_all *r, gf_error *err)
{
    gf_snapshot *snapshot = NULL;
    gf_error error = {GF_OK, ""};
    if (r->n == 0) return GF_OK;
    for (size_t i = 0; i < r->n; i++)
        r->status[i] = GF_OK;
    gf_status st = gf_jobs_begin(r->group, r->n, &snapshot, &error);
    if (st == GF_OK) st = gf_pool_run(r->pool, r->n, compute_task, r, r->options->cancel, &error);
    if (st == GF_OK) st = finish_group(r, &error);
    gf_jobs_end(r->group, r->n);
    gf_snapshot_free(snapshot);
    /* A cancel, and a store that takes no more writes, end it all; anything else was these jobs'.
     */
    gf_status told = report_group(r, st, &error, err);
    if (st == GF_ECANCELLED || st == GF_EIO) {
        if (err) *err = error;
        return st;
    }
    return told;
}

/* ---- one after the other ----------------------------------------------------------------------
 */

static gf_status build_alone(rebuilding_all *r, gf_job *j, gf_error *err)
{
    gf_rebuild_result result;
    gf_error error = {GF_OK, ""};
    gf_status st = gf_rebuild(r->store, j->where, j->configuration, r->options, &result, &error);
    if (st == GF_ECANCELLED || st == GF_EIO) {
        if (err) *err = error;
        return st;
    }
    return tell(r, j->where, j->configuration, st, error.message, st == GF_OK ? &result : NULL,
                err);
}

static gf_status add_to_group(rebuilding_all *r, gf_job *j, gf_error *err)
{
    r->group[r->n++] = j;
    r->documents += j->info.documents;
    return r->n == GROUP_JOBS || r->documents >= GROUP_DOCUMENTS ? build_group(r, err) : GF_OK;
}

/* Look at a job and do what it needs; it is freed, or goes into the group. */
static gf_status handle(rebuilding_all *r, gf_job *j, bool *grouped, gf_error *err)
{
    gf_error error = {GF_OK, ""};
    bool modified = true;
    gf_status st = gf_job_look(j, NULL, &modified, &error);
    if (st == GF_EIO || st == GF_ECORRUPT || st == GF_ENOMEM) {
        if (err) *err = error;
        return st;
    }
    if (st != GF_OK) return tell_job(r, j, st, error.message, GF_UNMODIFIED, err);
    if (!modified && !r->options->force) return tell_job(r, j, GF_OK, "", GF_UNMODIFIED, err);
    if (r->options->dry_run) return tell_job(r, j, GF_OK, "", GF_WOULD_REBUILD, err);
    if (j->info.documents > SMALL_DOCUMENTS) return build_alone(r, j, err);
    *grouped = true;
    return add_to_group(r, j, err);
}

static gf_status handle_named(rebuilding_all *r, gf_slice collection, gf_slice configuration,
                              gf_error *err)
{
    gf_job *j = gf_calloc(1, sizeof *j);
    if (!j) return gf_fail_memory(err, "a rebuild");
    bool grouped = false;
    gf_place where = {r->name_space, collection};
    gf_status st = gf_job_init(j, r->store, where, configuration, r->options, err);
    if (st == GF_OK) {
        st = gf_cancel_check(r->options->cancel, err);
        if (st == GF_OK) st = handle(r, j, &grouped, err);
        if (!grouped) gf_job_release(j);
    }
    if (!grouped) gf_free(j);
    return st;
}

static void drop_group(rebuilding_all *r)
{
    for (size_t i = 0; i < r->n; i++) {
        gf_job_release(r->group[i]);
        gf_free(r->group[i]);
    }
    r->n = 0;
}

static uint64_t count_work(gf_slice names)
{
    gf_slice name;
    uint64_t n = 0;
    while (gf_take_string(&names, &name))
        n++;
    return n / 2;
}

static gf_status rebuild_listed(rebuilding_all *r, gf_slice names, gf_error *err)
{
    gf_slice collection, configuration;
    gf_status st = gf_pool_create(r->options->threads, &r->pool, err);
    r->total = count_work(names);
    while (st == GF_OK && gf_take_string(&names, &collection) &&
           gf_take_string(&names, &configuration))
        st = handle_named(r, collection, configuration, err);
    if (st == GF_OK) st = build_group(r, err);
    drop_group(r);
    gf_pool_free(r->pool);
    return st;
}

gf_status gf_rebuild_all(gf_store *s, gf_slice name_space, gf_slice prefix, gf_slice configuration,
                         const gf_rebuild_options *options, gf_visit_rebuild *visit, void *context,
                         gf_error *err)
{
    work_list list = {.store = s, .name_space = name_space, .configuration = configuration};
    gf_status st = gf_collections_visit(s, name_space, prefix, add_collection, &list, err);
    if (st == GF_OK) {
        rebuilding_all *r = gf_calloc(1, sizeof *r);
        if (!r) st = gf_fail_memory(err, "a rebuild");
        if (st == GF_OK) {
            r->store = s;
            r->name_space = name_space;
            r->options = options;
            r->visit = visit;
            r->context = context;
            st = rebuild_listed(r, gf_buffer_view(&list.names), err);
        }
        gf_free(r);
    }
    gf_buffer_release(&list.names);
    return st;
}
