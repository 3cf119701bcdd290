/*
 * Rebuilding by itself: a thread that looks over all collections now and then.
 *
 * The changes of a collection since its build are the difference of two numbers: its seq, and the
 * seq that the build was made of. The latter is read once for each build and remembered, so a look is
 * one walk over the collections' rows. Between two looks lies a second, or fifty times as long as
 * the last one took.
 */
#include "server/service/tasks.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/strings.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLICE_MICROSECONDS = 50000, PAUSE_FACTOR = 50 };

typedef struct known {
    uint64_t base;  /* seq that the oldest of the served builds was made of; 0: there is none */
    int64_t builds; /* sum of their times: tells whether they still are the same */
    uint64_t asked; /* seq when a rebuild was last asked for */
} known;

typedef struct due {
    gf_slice name_space, collection;
    uint32_t id; /* among the known */
    uint64_t seq, changes;
} due;

struct gf_rebuild_watcher {
    gf_tasks *tasks;
    gf_rebuild_after after;
    unsigned workers;
    pthread_t thread;
    gf_cancel end;
    gf_strings names; /* of all collections that were seen: a namespace's length, it, a name */
    known *known;     /* one for each; room for `capacity` */
    size_t capacity;
    gf_arena memory; /* of one look */
    gf_store *store; /* during a look */
    gf_slice name_space;
    due *due; /* n_due of one look */
    size_t n_due, due_capacity;
};

/* ---- the rule -------------------------------------------------------------------------------- */

static bool read_digits(gf_slice s, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
        *v = *v * 10 + (uint64_t)(s.ptr[i] - '0');
    }
    return s.len > 0 && s.len < 12 && *v > 0;
}

static bool parse_part(gf_slice part, gf_rebuild_after *after)
{
    uint64_t n;
    if (part.len == 0) return false;
    char unit = part.ptr[part.len - 1];
    int64_t ms = unit == 's'   ? 1000
                 : unit == 'm' ? 60 * 1000
                 : unit == 'h' ? 3600 * 1000
                 : unit == 'd' ? 24 * 3600 * 1000
                               : 0;
    bool plain = ms == 0 && unit != '%';
    if (!read_digits(gf_slice_of(part.ptr, plain ? part.len : part.len - 1), &n)) return false;
    if (plain)
        after->documents = n;
    else if (ms == 0)
        after->share = (double)n / 100;
    else
        after->ms = (int64_t)n * ms;
    return true;
}

gf_status gf_tasks_after_parse(gf_slice text, gf_rebuild_after *after, gf_error *err)
{
    gf_rebuild_after a = {0};
    gf_slice rest = text;
    bool good = rest.len > 0;
    while (good && rest.len) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t n = comma ? (size_t)(comma - rest.ptr) : rest.len;
        good = parse_part(gf_slice_of(rest.ptr, n), &a) && !(comma && n + 1 == rest.len);
        rest = gf_slice_skip(rest, comma ? n + 1 : n);
    }
    if (!good)
        return gf_fail(err, GF_EINVAL,
                       "rebuild-after: \"%.*s\" is no number of documents (1000), share (10%%) or "
                       "time (30m, 6h, 1d), nor several with commas",
                       GF_SLICE_ARG(text));
    *after = a;
    return GF_OK;
}

/* ---- one collection -------------------------------------------------------------------------- */

typedef struct oldest {
    uint64_t seq;
    bool any;
} oldest;

static gf_status take_seq(void *context, const gf_build_info *info, gf_error *err)
{
    oldest *o = context;
    (void)err;
    if (!info->served || gf_rows_are_given(info->rows)) return GF_OK; /* given rows are kept */
    if (!o->any || info->seq < o->seq) o->seq = info->seq;
    o->any = true;
    return GF_OK;
}

static gf_status read_base(struct gf_rebuild_watcher *k, const gf_collection_info *info,
                           uint64_t *base, gf_error *err)
{
    gf_place where = {k->name_space, info->name};
    oldest o = {0};
    bool has_default = false;
    gf_status st = GF_OK;
    for (size_t i = 0; i < info->n_configurations && st == GF_OK; i++) {
        has_default |= gf_slice_equal(info->configurations[i].name, GF_SLICE("default"));
        st = gf_builds_visit(k->store, where, info->configurations[i].name, take_seq, &o, err);
    }
    *base = has_default && o.any ? o.seq : 0;
    return st;
}

static bool holds(const struct gf_rebuild_watcher *k, const gf_collection_info *info,
                  uint64_t changes, int64_t newest)
{
    const gf_rebuild_after *a = &k->after;
    if (changes == 0) return false;
    if (a->documents && changes >= a->documents) return true;
    if (a->share > 0 && (double)changes >= a->share * (double)info->size) return true;
    return a->ms && gf_clock_ms() - newest >= a->ms;
}

static gf_status keep_due(struct gf_rebuild_watcher *k, const due *d, gf_error *err)
{
    if (k->n_due == k->due_capacity) {
        size_t capacity = k->due_capacity ? 2 * k->due_capacity : 64;
        due *grown = gf_realloc(k->due, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "collections");
        k->due = grown;
        k->due_capacity = capacity;
    }
    k->due[k->n_due] = *d;
    k->due[k->n_due].name_space = gf_arena_copy(&k->memory, d->name_space);
    k->due[k->n_due].collection = gf_arena_copy(&k->memory, d->collection);
    if (!k->due[k->n_due].collection.ptr || !k->due[k->n_due].name_space.ptr)
        return gf_fail_memory(err, "collections");
    k->n_due++;
    return GF_OK;
}

/* By its namespace and name, with the former's length before both. */
static gf_status find_known(struct gf_rebuild_watcher *k, gf_slice collection, uint32_t *id,
                            gf_error *err)
{
    gf_buffer key = {0};
    gf_buffer_string(&key, k->name_space);
    gf_buffer_slice(&key, collection);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_strings_add(&k->names, gf_buffer_view(&key), id, NULL, err);
    gf_buffer_release(&key);
    if (st != GF_OK || *id < k->capacity) return st;
    size_t capacity = k->capacity ? 2 * k->capacity : 64;
    known *grown = gf_realloc(k->known, capacity, sizeof *grown);
    if (!grown) return gf_fail_memory(err, "collections");
    memset(grown + k->capacity, 0, (capacity - k->capacity) * sizeof *grown);
    k->known = grown;
    k->capacity = capacity;
    return GF_OK;
}

static gf_status visit(void *context, const gf_collection_info *info, gf_error *err)
{
    struct gf_rebuild_watcher *k = context;
    uint32_t id = 0;
    int64_t builds = 0, newest = 0;
    gf_status st = gf_cancel_check(&k->end, err);
    if (st == GF_OK) st = find_known(k, info->name, &id, err);
    if (st != GF_OK) return st;
    known *mine = &k->known[id];
    for (size_t i = 0; i < info->n_configurations; i++) {
        builds += info->configurations[i].rebuilt;
        if (info->configurations[i].rebuilt > newest) newest = info->configurations[i].rebuilt;
    }
    if (builds != mine->builds) {
        st = read_base(k, info, &mine->base, err);
        if (st != GF_OK) return st;
        mine->builds = builds;
    }
    due d = {.name_space = k->name_space,
             .collection = info->name,
             .id = id,
             .seq = info->seq,
             .changes = info->seq - (mine->base < info->seq ? mine->base : info->seq)};
    if (mine->asked == info->seq || !holds(k, info, d.changes, newest)) return GF_OK;
    return keep_due(k, &d, err);
}

/* ---- a look ---------------------------------------------------------------------------------- */

static gf_status visit_namespace(void *context, gf_slice name, gf_error *err)
{
    struct gf_rebuild_watcher *k = context;
    k->name_space = name;
    return gf_collections_visit(k->store, name, GF_SLICE(""), visit, k, err);
}

static int most_active_first(const void *a, const void *b)
{
    const due *x = a, *y = b;
    return x->changes < y->changes ? 1 : x->changes > y->changes ? -1 : 0;
}

static gf_status ask(struct gf_rebuild_watcher *k, const due *d, gf_error *err)
{
    char id[32];
    bool is_new;
    gf_argument argument = {GF_SLICE("collection"), d->collection};
    gf_status st = gf_tasks_ask(k->tasks, d->name_space, &argument, 1, id, &is_new, err);
    if (st == GF_OK) k->known[d->id].asked = d->seq;
    return st;
}

static gf_status look(struct gf_rebuild_watcher *k, gf_error *err)
{
    size_t queued, running;
    k->n_due = 0;
    gf_arena_reset(&k->memory);
    gf_status st = gf_service_take(gf_tasks_service(k->tasks), &k->store, err);
    if (st != GF_OK) return st;
    st = gf_collections_visit_namespaces(k->store, visit_namespace, k, err);
    gf_service_give(gf_tasks_service(k->tasks));
    if (st != GF_OK) return st;
    if (k->n_due) qsort(k->due, k->n_due, sizeof *k->due, most_active_first);
    gf_tasks_count(k->tasks, &queued, &running);
    for (size_t i = 0; i < k->n_due && queued + running < k->workers && st == GF_OK; i++, queued++)
        st = ask(k, &k->due[i], err);
    return st;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static bool is_over(struct gf_rebuild_watcher *k)
{
    return gf_cancel_check(&k->end, NULL) != GF_OK;
}

static void pause_for(struct gf_rebuild_watcher *k, double seconds)
{
    double until = gf_clock_seconds() + seconds;
    while (!is_over(k) && gf_clock_seconds() < until)
        usleep(SLICE_MICROSECONDS);
}

static void *keep_looking(void *context)
{
    struct gf_rebuild_watcher *k = context;
    while (!is_over(k)) {
        gf_error err = {GF_OK, ""};
        double begun = gf_clock_seconds();
        gf_status st = look(k, &err);
        if (st != GF_OK && !is_over(k))
            GF_LOG(gf_tasks_log(k->tasks), GF_LOG_ERROR, "rebuild_after_failed",
                   GF_LOG_STR("error", err.message));
        double took = gf_clock_seconds() - begun;
        pause_for(k, took * PAUSE_FACTOR > 1 ? took * PAUSE_FACTOR : 1);
    }
    return NULL;
}

gf_status gf_tasks_after_watch(gf_tasks *tasks, const gf_rebuild_after *after, unsigned workers,
                               gf_error *err)
{
    struct gf_rebuild_watcher *k = gf_calloc(1, sizeof *k);
    if (!k) return gf_fail_memory(err, "rebuild-after");
    k->tasks = tasks;
    k->after = *after;
    k->workers = workers;
    if (pthread_create(&k->thread, NULL, keep_looking, k) != 0) {
        gf_free(k);
        return gf_fail(err, GF_ENOMEM, "cannot make a further thread");
    }
    gf_tasks_set_watcher(tasks, k);
    return GF_OK;
}

void gf_tasks_after_end(struct gf_rebuild_watcher *k)
{
    if (!k) return;
    gf_cancel_request(&k->end);
    pthread_join(k->thread, NULL);
    gf_strings_release(&k->names);
    gf_arena_release(&k->memory);
    gf_free(k->known);
    gf_free(k->due);
    gf_free(k);
}
