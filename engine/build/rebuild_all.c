/*
 * Rebuilding many collections. Small ones are built side by side, one thread each, and begin, are
 * written and are published together: a sync for all of them instead of three for each. What each
 * has computed is written at once and freed, so a group takes no more memory than its largest
 * members. A group in which something goes wrong is done again, one by one, so that one that fails
 * does not take others with it.
 */
#include "engine/build/internal.h"

#include "base/memory.h"
#include "vectorize/rows/lexicon.h"

enum { SMALL_DOCUMENTS = 2000, GROUP_JOBS = 256, GROUP_DOCUMENTS = 20000 };

/* What is to be rebuilt: collection and configuration, one after the other, as strings. */
typedef struct work_list {
    gf_store *store;
    gf_slice name_space;
    gf_slice configuration; /* empty: all that each collection has */
    gf_buffer names;
    gf_slice collection; /* at hand */
    uint64_t n;
} work_list;

typedef struct rebuilding_all {
    gf_store *store;
    const gf_rebuild_options *options;
    gf_rebuild_options in_group; /* without the progress of each, which would come from threads */
    gf_visit_rebuild *visit;
    void *context;
    gf_pool *pool;
    gf_job *group[GROUP_JOBS]; /* n */
    size_t n;
    gf_error errors[GROUP_JOBS]; /* of computing each */
    unsigned n_workers;
    gf_batch **batches;    /* n_workers: what each has computed in the group */
    gf_lexicon **lexicons; /* n_workers: what words mean, from one collection to the next */
    uint64_t documents;    /* in the group */
    uint64_t done, total;
} rebuilding_all;

/* A store that takes no more writes ends it all, and so does a cancel; all else was one job's. */
static bool ends_all(gf_status st)
{
    return st == GF_ECANCELLED || st == GF_EIO;
}

/* ---- the list -------------------------------------------------------------------------------- */

static gf_status add_name(work_list *l, gf_slice name, gf_error *err)
{
    if (l->configuration.len && !gf_slice_equal(name, l->configuration)) return GF_OK;
    gf_buffer_string(&l->names, l->collection);
    gf_buffer_string(&l->names, name);
    l->n++;
    return gf_buffer_check(&l->names, err);
}

static gf_status add_configuration(void *context, const gf_configuration_info *info, gf_error *err)
{
    return info->rebuilt ? add_name(context, info->name, err) : GF_OK;
}

/* Where the settings are damaged, one entry stays: its rebuild fails, and is told like any other.
 */
static gf_status add_damaged(work_list *l, size_t names, uint64_t n, gf_error *err)
{
    gf_slice named = l->configuration.len ? l->configuration : GF_SLICE("default");
    l->names.len = names;
    l->n = n;
    return add_name(l, named, err);
}

static gf_status add_collection(void *context, const gf_collection_info *info, gf_error *err)
{
    work_list *l = context;
    gf_place where = {l->name_space, info->name};
    size_t names = l->names.len;
    uint64_t n = l->n;
    l->collection = info->name;
    gf_status st = gf_configurations_visit(l->store, where, add_configuration, l, err);
    if (st == GF_ECORRUPT) return add_damaged(l, names, n, err);
    return st == GF_ENOTFOUND ? GF_OK : st; /* deleted meanwhile */
}

static gf_status list_work(work_list *l, gf_slice prefix, gf_error *err)
{
    gf_status st = gf_collections_visit(l->store, l->name_space, prefix, add_collection, l, err);
    if (st != GF_OK || l->n || !l->configuration.len) return st;
    return gf_fail(err, GF_ENOTFOUND, "no collection has a configuration \"%.*s\"",
                   GF_SLICE_ARG(l->configuration));
}

/* ---- telling --------------------------------------------------------------------------------- */

static void count_done(rebuilding_all *r, gf_place where)
{
    r->done++;
    if (r->options->progress)
        r->options->progress(r->options->context, where, "rebuilding", r->done, r->total);
}

static gf_status tell(rebuilding_all *r, const gf_job *j, const gf_error *why,
                      const gf_rebuild_result *result, gf_error *err)
{
    count_done(r, j->where);
    bool good = why->status == GF_OK;
    if (!r->options->dry_run)
        gf_note_failure(j->store, j->where, j->configuration, why->status, why->message);
    return r->visit(r->context, j->where, j->configuration, why->status, why->message,
                    good ? result : NULL, err);
}

static gf_status tell_job(rebuilding_all *r, const gf_job *j, gf_rebuild_outcome outcome,
                          gf_error *err)
{
    gf_rebuild_result result = {.outcome = outcome, .build = j->info};
    result.build.settings = result.build.versions = (gf_slice){0};
    return tell(r, j, &(gf_error){GF_OK, ""}, &result, err);
}

/* ---- one by itself --------------------------------------------------------------------------- */

static gf_status build_alone(rebuilding_all *r, const gf_job *j, gf_error *err)
{
    gf_rebuild_result result;
    gf_error why = {GF_OK, ""};
    why.status = gf_rebuild(r->store, j->where, j->configuration, r->options, &result, &why);
    if (!ends_all(why.status)) return tell(r, j, &why, &result, err);
    if (err) *err = why;
    return why.status;
}

/* ---- a group --------------------------------------------------------------------------------- */

/* What cannot be computed is that job's failure, what cannot be written is the group's. */
static gf_status build_task(void *context, size_t i, unsigned worker, gf_error *err)
{
    rebuilding_all *r = context;
    gf_job *j = r->group[i];
    gf_error *why = &r->errors[i];
    j->settings.vectorizer.analysis.lexicon = r->lexicons[worker];
    gf_status st = why->status = gf_job_compute(j, why);
    if (ends_all(st) && err) *err = *why;
    if (st == GF_OK)
        st = gf_job_write(j, r->batches[worker], err);
    else if (!ends_all(st))
        st = GF_OK;
    gf_job_release_results(j);
    return st;
}

static gf_status publish_group(rebuilding_all *r, gf_error *err)
{
    gf_job *good[GROUP_JOBS];
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->errors[i].status == GF_OK) good[n++] = r->group[i];
    gf_status st = GF_OK;
    for (unsigned w = 0; w < r->n_workers && st == GF_OK; w++)
        st = gf_batch_write(r->batches[w], GF_SYNC, err);
    return st == GF_OK && n ? gf_jobs_publish(good, n, err) : st;
}

static gf_status create_batches(rebuilding_all *r, gf_error *err)
{
    gf_status st = GF_OK;
    for (unsigned w = 0; w < r->n_workers && st == GF_OK; w++)
        st = gf_batch_create(r->store->db, &r->batches[w], err);
    return st;
}

static void free_batches(rebuilding_all *r)
{
    for (unsigned w = 0; w < r->n_workers; w++) {
        gf_batch_free(r->batches[w]);
        r->batches[w] = NULL;
    }
}

static gf_status try_group(rebuilding_all *r, gf_error *err)
{
    gf_snapshot *snapshot = NULL;
    gf_status st = create_batches(r, err);
    if (st == GF_OK) st = gf_jobs_begin(r->group, r->n, &snapshot, err);
    if (st == GF_OK) st = gf_pool_run(r->pool, r->n, build_task, r, r->options->cancel, err);
    if (st == GF_OK) st = publish_group(r, err);
    gf_jobs_end(r->group, r->n);
    gf_snapshot_free(snapshot);
    free_batches(r);
    return st;
}

static gf_status tell_group(rebuilding_all *r, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < r->n && st == GF_OK; i++)
        st = r->errors[i].status == GF_OK ? tell_job(r, r->group[i], GF_REBUILT, err)
                                          : tell(r, r->group[i], &r->errors[i], NULL, err);
    return st;
}

static gf_status one_by_one(rebuilding_all *r, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < r->n && st == GF_OK; i++)
        st = build_alone(r, r->group[i], err);
    return st;
}

static void free_job(gf_job *j)
{
    gf_job_release(j);
    gf_free(j);
}

static gf_status build_group(rebuilding_all *r, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    if (r->n == 0) return GF_OK;
    gf_status st = try_group(r, &why);
    if (st == GF_OK)
        st = tell_group(r, err);
    else if (!ends_all(st))
        st = one_by_one(r, err);
    else if (err)
        *err = why;
    for (size_t i = 0; i < r->n; i++)
        free_job(r->group[i]);
    r->n = 0;
    r->documents = 0;
    return st;
}

/* ---- one after the other --------------------------------------------------------------------- */

/* Look at a job and do what it needs; *kept where it went into the group. */
static gf_status handle(rebuilding_all *r, gf_job *j, bool *kept, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    bool modified = true;
    why.status = gf_job_look(j, &modified, &why);
    if (why.status == GF_ENOTFOUND) { /* deleted meanwhile */
        count_done(r, j->where);
        return GF_OK;
    }
    if (ends_all(why.status)) {
        if (err) *err = why;
        return why.status;
    }
    if (why.status != GF_OK) return tell(r, j, &why, NULL, err);
    if (!modified && !r->options->force) return tell_job(r, j, GF_UNMODIFIED, err);
    bool alone = r->options->dry_run || r->options->memory || j->size > SMALL_DOCUMENTS;
    if (alone) return build_alone(r, j, err);
    *kept = true;
    r->group[r->n++] = j;
    r->documents += j->size;
    return r->n == GROUP_JOBS || r->documents >= GROUP_DOCUMENTS ? build_group(r, err) : GF_OK;
}

static gf_status handle_named(rebuilding_all *r, gf_place where, gf_slice configuration,
                              gf_error *err)
{
    bool kept = false;
    gf_status st = gf_cancel_check(r->options->cancel, err);
    if (st != GF_OK) return st;
    gf_job *j = gf_calloc(1, sizeof *j);
    if (!j) return gf_fail_memory(err, "a rebuild");
    st = gf_job_init(j, r->store, where, configuration, &r->in_group, err);
    if (st == GF_OK) st = handle(r, j, &kept, err);
    if (!kept) free_job(j);
    return st;
}

static gf_status make_workers(rebuilding_all *r, gf_error *err)
{
    gf_status st = gf_pool_create(r->options->threads, &r->pool, err);
    if (st != GF_OK) return st;
    r->n_workers = gf_pool_size(r->pool);
    r->batches = gf_calloc(r->n_workers, sizeof *r->batches);
    r->lexicons = gf_calloc(r->n_workers, sizeof *r->lexicons);
    if (!r->batches || !r->lexicons) return gf_fail_memory(err, "a rebuild");
    for (unsigned w = 0; w < r->n_workers && st == GF_OK; w++)
        st = gf_lexicon_create(&r->lexicons[w], err);
    return st;
}

static void free_workers(rebuilding_all *r)
{
    for (unsigned w = 0; r->lexicons && w < r->n_workers; w++)
        gf_lexicon_free(r->lexicons[w]);
    gf_free(r->lexicons);
    gf_free(r->batches);
    gf_pool_free(r->pool);
}

static gf_status rebuild_listed(rebuilding_all *r, const work_list *list, gf_error *err)
{
    gf_slice names = gf_buffer_view(&list->names), collection, configuration;
    gf_status st = make_workers(r, err);
    r->total = list->n;
    while (st == GF_OK && gf_take_string(&names, &collection) &&
           gf_take_string(&names, &configuration))
        st = handle_named(r, (gf_place){list->name_space, collection}, configuration, err);
    if (st == GF_OK) st = build_group(r, err);
    for (size_t i = 0; i < r->n; i++)
        free_job(r->group[i]);
    free_workers(r);
    return st;
}

gf_status gf_rebuild_all(gf_store *s, gf_slice name_space, gf_slice prefix, gf_slice configuration,
                         const gf_rebuild_options *options, gf_visit_rebuild *visit, void *context,
                         gf_error *err)
{
    work_list list = {.store = s, .name_space = name_space, .configuration = configuration};
    if (options->matrix) return gf_fail(err, GF_EINVAL, "a matrix is for one collection");
    gf_status st = list_work(&list, prefix, err);
    rebuilding_all *r = st == GF_OK ? gf_calloc(1, sizeof *r) : NULL;
    if (st == GF_OK && !r) st = gf_fail_memory(err, "a rebuild");
    if (r) {
        r->store = s;
        r->options = options;
        r->visit = visit;
        r->context = context;
        r->in_group = *options;
        r->in_group.progress = NULL;
        st = rebuild_listed(r, &list, err);
        gf_free(r);
    }
    gf_buffer_release(&list.names);
    return st;
}
