/*
 * Watching: every second a walk over the rules of all collections.
 *
 *     one thread     a look at each whose seq or served build is another than at the last look, or
 *                    that has another number of rules
 *     the other one  a round for each: alerts whose time has come are sent
 *
 * A receiver that does not answer holds up other alerts, and no look. A look that took t seconds is
 * followed by a pause of ten times that, 20 seconds at most: what is new is told within a minute where a
 * look takes no longer than some seconds.
 */
#include "server/service/watching.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"
#include "grouperfish/watches.h"

#include <pthread.h>
#include <unistd.h>

enum { SLICE_MICROSECONDS = 50000, PAUSE_FACTOR = 10, LONGEST_PAUSE = 20 };

/* A place as it was at its last look. */
typedef struct looked {
    uint64_t seq, rules;
    int64_t build;
} looked;

typedef struct found_place {
    gf_slice name_space, collection, configuration;
    uint32_t id;
} found_place;

typedef struct walker {
    struct gf_watching *of;
    pthread_t thread;
    bool sends, begun;
    gf_store *store;
    gf_strings names; /* of all places that were seen */
    looked *looked;   /* one for each; room for `capacity` */
    size_t capacity;
    gf_arena memory;    /* of one walk */
    found_place *found; /* n_found of one walk */
    size_t n_found, found_capacity;
} walker;

struct gf_watching {
    gf_service *service;
    const gf_log *log;
    gf_cancel end;
    walker walkers[2];
};

/* ---- a walk ---------------------------------------------------------------------------------- */

static gf_status find_place(void *context, gf_place where, gf_slice configuration, gf_error *err)
{
    walker *w = context;
    gf_buffer key = {0};
    found_place p = {.name_space = gf_arena_copy(&w->memory, where.name_space),
                     .collection = gf_arena_copy(&w->memory, where.collection),
                     .configuration = gf_arena_copy(&w->memory, configuration)};
    gf_buffer_string(&key, where.name_space);
    gf_buffer_string(&key, where.collection);
    gf_buffer_slice(&key, configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_strings_add(&w->names, gf_buffer_view(&key), &p.id, NULL, err);
    gf_buffer_release(&key);
    if (st != GF_OK) return st;
    size_t before = w->capacity;
    if (!gf_grow(&w->looked, &w->capacity, (size_t)p.id + 1, sizeof *w->looked) ||
        !gf_grow(&w->found, &w->found_capacity, w->n_found + 1, sizeof *w->found) ||
        !p.name_space.ptr || !p.collection.ptr || !p.configuration.ptr)
        return gf_fail_memory(err, "watches");
    for (size_t i = before; i < w->capacity; i++)
        w->looked[i] = (looked){0};
    w->found[w->n_found++] = p;
    return GF_OK;
}

static gf_status count_rule(void *context, const gf_watch *watch, gf_error *err)
{
    uint64_t *last = context;
    (void)err;
    *last = watch->number; /* numbers are never used again */
    return GF_OK;
}

typedef struct reading {
    gf_slice configuration;
    looked *now;
} reading;

static gf_status take_collection(void *context, const gf_collection_info *info, gf_error *err)
{
    const reading *r = context;
    (void)err;
    r->now->seq = info->seq;
    for (size_t i = 0; i < info->n_configurations; i++)
        if (gf_slice_equal(info->configurations[i].name, r->configuration))
            r->now->build = info->configurations[i].rebuilt;
    return GF_OK;
}

/* Last change, number of rules and build of a place: a look that would see the same is left out. */
static gf_status read_now(walker *w, const found_place *p, looked *now, gf_error *err)
{
    gf_place where = {p->name_space, p->collection};
    reading r = {p->configuration, now};
    gf_status st = gf_watch_visit(w->store, where, p->configuration, count_rule, &now->rules, err);
    return st == GF_OK ? gf_collection_read(w->store, where, take_collection, &r, err) : st;
}

static gf_status look_at(walker *w, const found_place *p, gf_error *err)
{
    gf_watch_outcome out = {0};
    gf_place where = {p->name_space, p->collection};
    looked now = {0}, *last = &w->looked[p->id];
    gf_status st = read_now(w, p, &now, err);
    if (st != GF_OK || !now.build) return st;
    if (now.seq == last->seq && now.rules == last->rules && now.build == last->build) return GF_OK;
    st = gf_watch_check(w->store, where, p->configuration, &w->of->end, &out, err);
    if (st != GF_OK || !out.build) return st; /* it is being rebuilt: the next walk looks again */
    *last = (looked){out.seq, now.rules, out.build};
    if (out.told)
        GF_LOG(w->of->log, GF_LOG_INFO, "alerts", GF_LOG_TEXT("collection", p->collection),
               GF_LOG_NUMBER("told", out.told));
    return GF_OK;
}

static gf_status send_of(walker *w, const found_place *p, gf_error *err)
{
    gf_watch_outcome out = {0};
    gf_place where = {p->name_space, p->collection};
    gf_status st =
        gf_watch_deliver(w->store, where, p->configuration, false, &w->of->end, &out, err);
    if (st == GF_OK && out.delivered)
        GF_LOG(w->of->log, GF_LOG_INFO, "alerts_delivered",
               GF_LOG_TEXT("collection", p->collection), GF_LOG_NUMBER("delivered", out.delivered));
    return st;
}

static bool is_over(const walker *w)
{
    return gf_cancel_check(&w->of->end, NULL) != GF_OK;
}

/* A place that fails does not keep the others from their turn. */
static void walk(walker *w)
{
    gf_error err = {GF_OK, ""};
    w->n_found = 0;
    gf_arena_reset(&w->memory);
    gf_status st = gf_service_take(w->of->service, &w->store, &err);
    if (st != GF_OK) return; /* it closes, or opens the store again */
    st = gf_watch_visit_places(w->store, find_place, w, &err);
    for (size_t i = 0; st == GF_OK && i < w->n_found && !is_over(w); i++) {
        const found_place *p = &w->found[i];
        gf_status one = w->sends ? send_of(w, p, &err) : look_at(w, p, &err);
        if (one != GF_OK && one != GF_ENOTFOUND && !is_over(w))
            GF_LOG(w->of->log, GF_LOG_ERROR, "watch_failed",
                   GF_LOG_TEXT("collection", p->collection), GF_LOG_STR("error", err.message));
    }
    gf_service_give(w->of->service);
    if (st != GF_OK && !is_over(w))
        GF_LOG(w->of->log, GF_LOG_ERROR, "watch_failed", GF_LOG_STR("error", err.message));
}

/* ---- the threads ----------------------------------------------------------------------------- */

static void pause_for(const walker *w, double seconds)
{
    double until = gf_clock_seconds() + seconds;
    while (!is_over(w) && gf_clock_seconds() < until)
        usleep(SLICE_MICROSECONDS);
}

static void *keep_walking(void *context)
{
    walker *w = context;
    while (!is_over(w)) {
        double begun = gf_clock_seconds();
        walk(w);
        double pause = w->sends ? 0 : PAUSE_FACTOR * (gf_clock_seconds() - begun);
        pause_for(w, pause < 1 ? 1 : pause > LONGEST_PAUSE ? LONGEST_PAUSE : pause);
    }
    return NULL;
}

gf_status gf_watching_begin(gf_service *service, const gf_log *log, gf_watching **watching,
                            gf_error *err)
{
    gf_watching *k = gf_calloc(1, sizeof *k);
    if (!k) return gf_fail_memory(err, "watches");
    k->service = service;
    k->log = log;
    for (size_t i = 0; i < 2; i++) {
        walker *w = &k->walkers[i];
        w->of = k;
        w->sends = i == 1;
        w->begun = pthread_create(&w->thread, NULL, keep_walking, w) == 0;
        if (w->begun) continue;
        gf_watching_end(k);
        return gf_fail(err, GF_ENOMEM, "cannot make a further thread");
    }
    *watching = k;
    return GF_OK;
}

void gf_watching_end(gf_watching *k)
{
    if (!k) return;
    gf_cancel_request(&k->end);
    for (size_t i = 0; i < 2; i++) {
        walker *w = &k->walkers[i];
        if (w->begun) pthread_join(w->thread, NULL);
        gf_strings_release(&w->names);
        gf_arena_release(&w->memory);
        gf_free(w->looked);
        gf_free(w->found);
    }
    gf_free(k);
}
