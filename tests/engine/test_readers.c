/*
 * Readers at work while builds are made, published and dropped, documents come and go, and another
 * collection is made and deleted. Whatever a reader opens is one whole build.
 *
 * Under ThreadSanitizer: TSAN_OPTIONS=suppressions=tests/engine/tsan.supp
 */
#include "tests/engine/fixture.h"

#include "base/random.h"

#include <pthread.h>
#include <stdlib.h>

enum { POSTS = 60, PASSING = 8, REBUILDS = 25, READERS = 2 };

typedef struct shared {
    gf_store *store;
    int stopped;
    uint64_t seed;
} shared;

/* A thread and the fault that it found: threads other than cmocka's own cannot fail the test. */
typedef struct worker {
    shared *s;
    pthread_t thread;
    uint64_t number, rounds;
    char fault[600];
} worker;

static bool is_stopped(const shared *s)
{
    return __atomic_load_n(&s->stopped, __ATOMIC_ACQUIRE);
}

static void stop(shared *s)
{
    __atomic_store_n(&s->stopped, 1, __ATOMIC_RELEASE);
}

static void report(worker *w, const char *what, const char *why)
{
    snprintf(w->fault, sizeof w->fault, "%s: %s", what, why);
    stop(w->s);
}

/* ---- readers --------------------------------------------------------------------------------- */

static void check_view(worker *w, gf_view *view)
{
    uint64_t memberships = 0;
    const char *fault = fixture_fault_of(view, &memberships);
    const gf_build_info *b = gf_view_build(view);
    if (fault)
        report(w, "a view", fault);
    else if (memberships > b->documents || memberships + PASSING < b->documents)
        report(w, "a view", "another number of documents than the build has");
}

static void read_served(worker *w, int64_t *last)
{
    gf_error err;
    gf_view *view;
    if (gf_view_open(w->s->store, fixture_place("c"), fixture_default(), 0, &view, &err) != GF_OK) {
        report(w, "opening the served build", err.message);
        return;
    }
    check_view(w, view);
    if (gf_view_build(view)->build < *last) report(w, "the served build", "an older one");
    *last = gf_view_build(view)->build;
    gf_view_close(view);
}

static gf_status note_oldest(void *context, const gf_build_info *info, gf_error *err)
{
    (void)err;
    *(int64_t *)context = info->build;
    return GF_OK;
}

/* The oldest build may be dropped between the two calls, but not be half there. */
static void read_oldest(worker *w)
{
    gf_error err;
    gf_view *view;
    int64_t oldest = 0;
    gf_place where = fixture_place("c");
    gf_status st =
        gf_builds_visit(w->s->store, where, fixture_default(), note_oldest, &oldest, &err);
    if (st == GF_OK && !oldest) {
        report(w, "the list of builds", "it is empty");
        return;
    }
    if (st == GF_OK) st = gf_view_open(w->s->store, where, fixture_default(), oldest, &view, &err);
    if (st == GF_OK) {
        check_view(w, view);
        gf_view_close(view);
    } else if (st != GF_ENOTFOUND) {
        report(w, "the oldest build", err.message);
    }
}

static void *read_all_the_time(void *context)
{
    worker *w = context;
    int64_t last = 0;
    for (; !is_stopped(w->s); w->rounds++) {
        if (w->rounds % 3 == w->number)
            read_oldest(w);
        else
            read_served(w, &last);
    }
    return NULL;
}

/* ---- writers --------------------------------------------------------------------------------- */

static void put_or_delete(worker *w, gf_random *r)
{
    gf_error err;
    char id[16];
    snprintf(id, sizeof id, "passing-%d", (int)gf_random_below(r, PASSING));
    gf_document d = {.id = gf_slice_str(id),
                     .text = gf_random_below(r, 2) ? GF_SLICE("it comes and goes")
                                                   : GF_SLICE("going, coming")};
    gf_status st = gf_random_below(r, 3) ? fixture_try_put(w->s->store, "c", &d, &err)
                                         : fixture_try_delete(w->s->store, "c", id, &err);
    if (st != GF_OK) report(w, "a put or delete", err.message);
}

static void *write_all_the_time(void *context)
{
    worker *w = context;
    gf_random r = gf_random_seed(w->s->seed, w->number);
    for (; !is_stopped(w->s); w->rounds++)
        put_or_delete(w, &r);
    return NULL;
}

static gf_status build_and_delete(worker *w, gf_error *err)
{
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    gf_document d = {.id = GF_SLICE("1"), .text = GF_SLICE("a short life")};
    gf_status st = fixture_try_put(w->s->store, "short-lived", &d, err);
    if (st == GF_OK)
        st = gf_rebuild(w->s->store, fixture_place("short-lived"), fixture_default(), &o, &result,
                        err);
    return st == GF_OK ? gf_collection_delete(w->s->store, fixture_place("short-lived"), err) : st;
}

static void *make_and_delete_all_the_time(void *context)
{
    worker *w = context;
    gf_error err;
    for (; !is_stopped(w->s); w->rounds++)
        if (build_and_delete(w, &err) != GF_OK) report(w, "another collection", err.message);
    return NULL;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void rebuild_many_times(shared *s)
{
    gf_error err;
    gf_rebuild_result result;
    for (int i = 0; i < REBUILDS && !is_stopped(s); i++) {
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1 + (unsigned)i % 2);
        assert_ok(gf_rebuild(s->store, fixture_place("c"), fixture_default(), &o, &result, &err));
    }
}

static void readers_see_whole_builds(void **state)
{
    (void)state;
    enum { ALL = READERS + 2 };
    fixture f;
    fixture_open(&f);
    fixture_put_posts(&f, "c", POSTS);
    fixture_rebuild(&f, "c");
    shared s = {f.store, 0, gf_test_seed()};
    worker workers[ALL] = {{.number = 0}};
    void *(*const work[ALL])(void *) = {read_all_the_time, read_all_the_time, write_all_the_time,
                                        make_and_delete_all_the_time};
    for (int i = 0; i < ALL; i++) {
        workers[i].s = &s;
        workers[i].number = (uint64_t)i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work[i], &workers[i]), 0);
    }
    rebuild_many_times(&s);
    stop(&s);
    for (int i = 0; i < ALL; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < ALL; i++) {
        if (workers[i].fault[0]) fail_msg("%s", workers[i].fault);
        assert_true(workers[i].rounds > 0);
    }
    print_message("reads %d and %d, writes %d, collections %d\n", (int)workers[0].rounds,
                  (int)workers[1].rounds, (int)workers[2].rounds, (int)workers[3].rounds);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(readers_see_whole_builds)};
    return cmocka_run_group_tests_name("readers", tests, NULL, NULL);
}
