/*
 * Rebuilding many collections. Small ones are built side by side, one thread each, and begin, are
 * written and are published together: a sync for all of them instead of three for each. While a
 * thread of its own writes and publishes a group, the pool makes the next:
 *
 *     pool             make 1 | make 2            | make 3            | ...
 *     a thread                | write, publish 1  | write, publish 2  | ...
 *     the caller's            |          report 1 |          report 2 | ...
 *
 * The rows of each build go into a batch at once and its results are freed, so a group takes no more
 * memory than its largest members, and its batches. If a group fails as a whole, its builds are made
 * again one by one, so that one that fails does not take others with it.
 */
#include "base/memory.h"
#include "engine/build/build.h"
#include "engine/build/publish.h"
#include "engine/config/failure.h"
#include "storage/backend.h"
#include "vectorize/rows/lexicon.h"

#include <pthread.h>

enum { SMALL_DOCUMENTS = 2000, GROUP_BUILDS = 256, GROUP_DOCUMENTS = 20000 };

/* The rebuilds to be made: collection and configuration, one after the other, as strings. */
typedef struct work_list {
    gf_store *store;
    gf_slice name_space;
    gf_slice configuration; /* empty: all that each collection has */
    gf_buffer names;
    gf_slice collection; /* whose configurations are being added */
    uint64_t n;
} work_list;

/* Builds that are begun, written and published together. */
typedef struct group {
    gf_store *store;
    gf_build_plan *plans[GROUP_BUILDS];
    gf_build_info made[GROUP_BUILDS];
    gf_error errors[GROUP_BUILDS]; /* of making each */
    bool published[GROUP_BUILDS];
    size_t n;
    uint64_t documents; /* of all n */
    gf_snapshot *snapshot;
    gf_batch **batches; /* n_workers: rows of the builds */
    unsigned n_workers;
    pthread_t writer; /* where it is `written_beside` */
    bool written_beside;
    gf_error why; /* of all together */
} group;

typedef struct rebuilding_all {
    gf_store *store;
    const gf_rebuild_options *options;
    gf_rebuild_options in_group; /* without progress, which would be reported by several threads */
    gf_visit_rebuild *visit;
    void *context;
    gf_pool *pool;

    group groups[2];
    group *filling; /* one of them: plans are added, and its builds made */
    group *written; /* the other, while it is written and published; else NULL */

    unsigned n_workers;
    gf_lexicon **lexicons; /* n_workers: analyses of words, kept from collection to collection */
    gf_weak_terms *weak;   /* n_workers: likewise */
    uint64_t done, total;  /* builds */
    bool stopped;          /* by the visitor, who is not called again */
    bool ended;            /* by a failure that ends it all: nothing is tried again */
} rebuilding_all;

/* A store that cannot be written any more, or a cancel, ends it all; others fail one build. */
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

/* A collection whose settings are damaged gets one entry: its rebuild fails, and is reported. */
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
    gf_status st = gf_configuration_list_visit(l->store, where, add_configuration, l, err);
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

/* ---- reports --------------------------------------------------------------------------------- */

static void count_done(rebuilding_all *r, gf_place where)
{
    r->done++;
    if (r->options->progress)
        r->options->progress(r->options->context, where, "rebuilding", r->done, r->total);
}

static gf_status report_end(rebuilding_all *r, const gf_build_plan *p, const gf_error *why,
                            const gf_rebuild_result *result, gf_error *err)
{
    count_done(r, p->where);
    bool good = why->status == GF_OK;
    if (!r->options->dry_run && !r->options->n_set)
        gf_failure_note(p->store, p->where, p->configuration, why->status, why->message);
    gf_status st = r->visit(r->context, p->where, p->configuration, why->status, why->message,
                            good ? result : NULL, err);
    if (st != GF_OK) r->stopped = true;
    return st;
}

static gf_status report_success(rebuilding_all *r, const gf_build_plan *p,
                                gf_rebuild_outcome outcome, const gf_build_info *build,
                                gf_error *err)
{
    gf_rebuild_result result = {.outcome = outcome, .build = *build};
    result.build.settings = result.build.versions = (gf_slice){0};
    return report_end(r, p, &(gf_error){GF_OK, ""}, &result, err);
}

/* ---- one build by itself --------------------------------------------------------------------- */

static gf_status rebuild_alone(rebuilding_all *r, const gf_build_plan *p, gf_error *err)
{
    gf_rebuild_result result;
    gf_error why = {GF_OK, ""};
    why.status = gf_rebuild(r->store, p->where, p->configuration, r->options, &result, &why);
    if (!ends_all(why.status)) return report_end(r, p, &why, &result, err);
    if (err) *err = why;
    return why.status;
}

/* ---- a group --------------------------------------------------------------------------------- */

/* A build that cannot be made fails by itself; one that cannot be written fails the group. */
static gf_status make_task(void *context, size_t i, unsigned worker, gf_error *err)
{
    rebuilding_all *r = context;
    group *g = r->filling;
    gf_build_plan *p = g->plans[i];
    gf_error *why = &g->errors[i];
    gf_build build = {.begun = 0};
    p->settings.vectorizer.analysis.lexicon = r->lexicons[worker];
    p->weak = &r->weak[worker];
    gf_status st = why->status = gf_build_make(p, NULL, &build, why);
    if (ends_all(st) && err) *err = *why;
    if (st == GF_OK)
        st = gf_build_write(p, NULL, &build, g->batches[worker], err);
    else if (!ends_all(st))
        st = GF_OK;
    g->made[i] = build.info;
    gf_build_release(&build);
    return st;
}

static gf_status make_group(rebuilding_all *r, group *g, gf_error *err)
{
    gf_status st = GF_OK;
    for (unsigned w = 0; w < g->n_workers && st == GF_OK; w++)
        st = gf_batch_create(g->store->db, &g->batches[w], err);
    if (st == GF_OK) st = gf_build_plans_begin(g->plans, g->n, &g->snapshot, err);
    return st == GF_OK ? gf_pool_run(r->pool, g->n, make_task, r, r->options->cancel, err) : st;
}

/* Publish the builds that could be made. */
static gf_status publish_group(group *g, gf_error *err)
{
    const gf_build_plan *good[GROUP_BUILDS];
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->errors[i].status == GF_OK) good[n++] = g->plans[i];
    gf_status st = n ? gf_build_move_pointers(good, n, err) : GF_OK;
    for (size_t i = 0; i < g->n; i++)
        g->published[i] = st == GF_OK && g->errors[i].status == GF_OK;
    return st;
}

static void end_group(group *g)
{
    gf_build_plans_end(g->plans, g->published, g->n);
    gf_snapshot_free(g->snapshot);
    g->snapshot = NULL;
    for (unsigned w = 0; w < g->n_workers; w++) {
        gf_batch_free(g->batches[w]);
        g->batches[w] = NULL;
    }
}

/* The work of a thread of its own, where there is one. */
static void *write_group(void *context)
{
    group *g = context;
    gf_status st = GF_OK;
    for (unsigned w = 0; w < g->n_workers && st == GF_OK; w++)
        st = gf_batch_write(g->batches[w], GF_SYNC_ON, &g->why);
    if (st == GF_OK) st = publish_group(g, &g->why);
    end_group(g);
    g->why.status = st;
    return NULL;
}

static gf_status report_group(rebuilding_all *r, const group *g, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < g->n && st == GF_OK; i++)
        st = g->errors[i].status == GF_OK
                 ? report_success(r, g->plans[i], GF_REBUILD_MADE, &g->made[i], err)
                 : report_end(r, g->plans[i], &g->errors[i], NULL, err);
    return st;
}

/* The end of a group, after g->why: reports, or each by itself. */
static gf_status conclude_group(rebuilding_all *r, const group *g, gf_error *err)
{
    gf_status st = g->why.status;
    if (r->stopped) return GF_OK;
    if (st == GF_OK) return report_group(r, g, err);
    if (ends_all(st) || r->ended) {
        if (err) *err = g->why;
        return st;
    }
    st = GF_OK;
    for (size_t i = 0; i < g->n && st == GF_OK; i++)
        st = rebuild_alone(r, g->plans[i], err);
    return st;
}

static void free_plan(gf_build_plan *p)
{
    gf_build_plan_release(p);
    gf_free(p);
}

static void empty_group(group *g)
{
    for (size_t i = 0; i < g->n; i++) {
        free_plan(g->plans[i]);
        g->published[i] = false;
    }
    g->n = 0;
    g->documents = 0;
    g->why = (gf_error){GF_OK, ""};
}

/* Wait for the group that is being written, if there is one. */
static gf_status finish_written(rebuilding_all *r, gf_error *err)
{
    group *g = r->written;
    if (!g) return GF_OK;
    if (g->written_beside) pthread_join(g->writer, NULL);
    gf_status st = conclude_group(r, g, err);
    empty_group(g);
    r->written = NULL;
    return st;
}

static gf_status rebuild_group(rebuilding_all *r, gf_error *err)
{
    group *g = r->filling;
    if (g->n == 0) return GF_OK;
    g->why.status = make_group(r, g, &g->why);
    r->ended = ends_all(g->why.status);
    gf_status st = finish_written(r, r->ended ? NULL : err);
    if (r->ended) st = GF_OK; /* this group's failure is the one to tell of */
    if (st == GF_OK && !r->ended) st = gf_cancel_check(r->options->cancel, err);
    if (st == GF_OK && g->why.status == GF_OK) {
        g->written_beside = pthread_create(&g->writer, NULL, write_group, g) == 0;
        if (!g->written_beside) write_group(g);
        r->written = g;
        r->filling = g == r->groups ? r->groups + 1 : r->groups;
        return GF_OK;
    }
    end_group(g);
    if (st == GF_OK) st = conclude_group(r, g, err);
    empty_group(g);
    return st;
}

/* ---- one after the other --------------------------------------------------------------------- */

/* Rebuild what the plan needs, now or in the group; *grouped: the group has the plan. */
static gf_status rebuild_planned(rebuilding_all *r, gf_build_plan *p, bool *grouped, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    bool modified = true;
    why.status = gf_build_plan_read(p, &modified, &why);
    if (why.status == GF_ENOTFOUND) { /* deleted meanwhile */
        count_done(r, p->where);
        return GF_OK;
    }
    if (ends_all(why.status)) {
        if (err) *err = why;
        return why.status;
    }
    if (why.status != GF_OK) return report_end(r, p, &why, NULL, err);
    gf_rebuild_outcome outcome = gf_build_plan_outcome(p, modified);
    if (outcome == GF_REBUILD_UNMODIFIED || outcome == GF_REBUILD_KEPT)
        return report_success(r, p, outcome, &p->served, err);
    const gf_rebuild_options *o = r->options;
    bool alone = o->dry_run || o->memory || o->ranks || o->hosts || p->size > SMALL_DOCUMENTS;
    if (alone) return rebuild_alone(r, p, err);
    *grouped = true;
    group *g = r->filling;
    g->plans[g->n++] = p;
    g->documents += p->size;
    bool is_full = g->n == GROUP_BUILDS || g->documents >= GROUP_DOCUMENTS;
    return is_full ? rebuild_group(r, err) : GF_OK;
}

static gf_status rebuild_named(rebuilding_all *r, gf_place where, gf_slice configuration,
                               gf_error *err)
{
    bool grouped = false;
    gf_status st = gf_cancel_check(r->options->cancel, err);
    if (st != GF_OK) return st;
    gf_build_plan *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a rebuild");
    st = gf_build_plan_init(p, r->store, where, configuration, &r->in_group, err);
    if (st == GF_OK) st = rebuild_planned(r, p, &grouped, err);
    if (!grouped) free_plan(p);
    return st;
}

static gf_status make_workers(rebuilding_all *r, gf_error *err)
{
    gf_database_begin_upkeep(r->store->db);
    gf_status st = gf_pool_create(r->options->threads, &r->pool, err);
    if (st != GF_OK) return st;
    r->n_workers = gf_pool_size(r->pool);
    r->filling = r->groups;
    for (size_t i = 0; i < 2; i++) {
        r->groups[i].store = r->store;
        r->groups[i].n_workers = r->n_workers;
        r->groups[i].batches = gf_calloc(r->n_workers, sizeof(gf_batch *));
        if (!r->groups[i].batches) return gf_fail_memory(err, "a rebuild");
    }
    r->lexicons = gf_calloc(r->n_workers, sizeof *r->lexicons);
    r->weak = gf_calloc(r->n_workers, sizeof *r->weak);
    if (!r->lexicons || !r->weak) return gf_fail_memory(err, "a rebuild");
    for (unsigned w = 0; w < r->n_workers && st == GF_OK; w++)
        st = gf_lexicon_create(&r->lexicons[w], err);
    return st;
}

static void free_workers(rebuilding_all *r)
{
    for (unsigned w = 0; r->lexicons && w < r->n_workers; w++)
        gf_lexicon_free(r->lexicons[w]);
    for (unsigned w = 0; r->weak && w < r->n_workers; w++)
        gf_weak_terms_release(&r->weak[w]);
    gf_free(r->weak);
    gf_free(r->lexicons);
    for (size_t i = 0; i < 2; i++)
        gf_free(r->groups[i].batches);
    gf_pool_free(r->pool);
}

static gf_status rebuild_listed(rebuilding_all *r, const work_list *list, gf_error *err)
{
    gf_slice names = gf_buffer_view(&list->names), collection, configuration;
    gf_status st = make_workers(r, err);
    r->total = list->n;
    while (st == GF_OK && gf_slice_take_string(&names, &collection) &&
           gf_slice_take_string(&names, &configuration))
        st = rebuild_named(r, (gf_place){list->name_space, collection}, configuration, err);
    if (st == GF_OK) st = rebuild_group(r, err);
    r->ended = st != GF_OK;
    gf_status last = finish_written(r, st == GF_OK ? err : NULL);
    if (st == GF_OK) st = last;
    if (r->filling) empty_group(r->filling);
    free_workers(r);
    return st;
}

gf_status gf_rebuild_all(gf_store *s, gf_slice name_space, gf_slice prefix, gf_slice configuration,
                         const gf_rebuild_options *options, gf_visit_rebuild *visit, void *context,
                         gf_error *err)
{
    gf_status known = gf_build_plan_check_options(options, err);
    if (known != GF_OK) return known;
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
