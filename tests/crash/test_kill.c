/*
 * kill -9 at random moments of putting, deleting, rebuilding, publishing, dropping, editing clusters
 * and taking edits back, again and again on one store: after each the store is sound, holds every
 * acknowledged step, and the work goes on with it. Likewise while a build of many batches of blocks is written and the one before
 * it dropped.
 */
#include "support/test.h"

#include "base/clock.h"
#include "base/random.h"
#include "grouperfish.h"
#include "tests/crash/workload.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLS = 200, LONGEST_MS = 250, MOST_WAITS = 60000 };

static bool go_on(void *context)
{
    (void)context;
    return true;
}

static pid_t work(const char *store, crash_journal *journal, uint64_t seed)
{
    pid_t child = fork();
    if (child != 0) return child;
    crash_work(store, journal, seed, go_on, NULL);
    _exit(0);
}

/* Until a child has begun a step since the journal had so many changes: a busy machine opens slowly. */
static void wait_for_a_step(const crash_journal *journal, uint32_t writes)
{
    for (int i = 0; i < MOST_WAITS; i++) {
        if (__atomic_load_n(&journal->writes, __ATOMIC_SEQ_CST) != writes) return;
        usleep(1000);
    }
}

static void kill_after(pid_t child, uint64_t microseconds)
{
    int status;
    usleep((useconds_t)microseconds);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status)) fail_msg("the work ended by itself");
}

static void test_nothing_acknowledged_is_lost(void **state)
{
    (void)state;
    static const char *const kinds[] = {"between steps", "put",  "delete", "rebuild",
                                        "rebuild all",   "drop", "edit",   "undo"};
    char store[256];
    int kills = crash_rounds(KILLS);
    crash_journal *journal = crash_journal_new();
    assert_non_null(journal);
    uint64_t seed = gf_test_seed(), killed[CRASH_KINDS] = {0};
    gf_random random = gf_random_seed(seed, 0);
    snprintf(store, sizeof store, "%s/store", gf_test_folder());
    pid_t first = work(store, journal, seed); /* a store to begin with */
    wait_for_a_step(journal, 0);
    kill_after(first, 2000000);
    for (int i = 0; i < kills; i++) {
        assert_true(crash_check_apart(store, journal));
        uint32_t writes = journal->writes;
        pid_t child = work(store, journal, seed + (uint64_t)i);
        if (i % 2) wait_for_a_step(journal, writes); /* the others while they open, too */
        kill_after(child, 1000 * gf_random_below(&random, LONGEST_MS));
        killed[journal->pending.kind]++;
    }
    assert_true(crash_check_apart(store, journal));
    for (int kind = 0; kind < CRASH_KINDS; kind++)
        print_message("%-14s %5d done, killed %3d times\n", kinds[kind], (int)journal->done[kind],
                      (int)killed[kind]);
    assert_true(killed[CRASH_PUT] && killed[CRASH_REBUILD] + killed[CRASH_ALL]);
    assert_true(journal->done[CRASH_EDIT] && journal->done[CRASH_UNDO]);
}

/* ---- a build of many batches ----------------------------------------------------------------- */

enum { MANY = 20000, BUILD_KILLS = 12, EACH_TEXTS = 40 };

static void must(gf_status st, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "%s\n", err->message);
    _exit(1);
}

static gf_place many_place(void)
{
    return (gf_place){GF_SLICE("default"), GF_SLICE("many")};
}

static void put_many(gf_store *store)
{
    gf_error err;
    gf_put *put;
    must(gf_put_open(store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("default")), &put, &err), &err);
    for (unsigned i = 0; i < MANY; i++) {
        char id[16], text[64];
        snprintf(id, sizeof id, "%06u", i * 7);
        snprintf(text, sizeof text, "apple%u stone%u", i % EACH_TEXTS, i % EACH_TEXTS / 4);
        gf_document d = {.id = gf_slice_str(id), .text = gf_slice_str(text)};
        must(gf_put_document(put, GF_SLICE("many"), &d, &err), &err);
    }
    must(gf_put_flush(put, &err), &err);
    gf_put_close(put);
    must(gf_configuration_set(
             store, many_place(), GF_SLICE("default"),
             (const gf_pair[]){{GF_SLICE("k"), GF_SLICE("5")}, {GF_SLICE("keep"), GF_SLICE("1")}},
             2, &err),
         &err);
}

/* One build, or one after another, of which each drops the one before; `steps` counts what began. */
static pid_t build_many(const char *path, uint32_t *steps, bool first)
{
    gf_error err;
    gf_store *store;
    gf_rebuild_result result;
    pid_t child = fork();
    if (child != 0) return child;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 2);
    must(gf_store_open(path, &GF_STORE_OPTIONS(.create = first), &store, &err), &err);
    if (first) put_many(store);
    do {
        __atomic_fetch_add(steps, 1, __ATOMIC_SEQ_CST);
        must(gf_rebuild(store, many_place(), GF_SLICE("default"), &o, &result, &err), &err);
    } while (!first);
    gf_store_close(store);
    _exit(0);
}

static gf_status count_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)id, (void)m, (void)err;
    ++*(unsigned *)context;
    return GF_OK;
}

/* In a process of its own: threads of this one would be lost in those that it forks. */
static void check_many(const char *path)
{
    int status;
    gf_error err;
    gf_store *store;
    gf_view *view;
    gf_verified verified;
    unsigned members = 0;
    pid_t child = fork();
    if (child == 0) {
        must(gf_verify(path, &GF_STORE_OPTIONS(), NULL, NULL, &verified, &err), &err);
        must(gf_store_open(path, &GF_STORE_OPTIONS(), &store, &err), &err);
        must(gf_view_open(store, many_place(), GF_SLICE("default"), 0, &view, &err), &err);
        must(gf_view_memberships(view, count_member, &members, &err), &err);
        gf_view_close(view);
        gf_store_close(store);
        _exit(verified.faults || members != MANY);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_a_build_in_blocks_is_there_or_not(void **state)
{
    (void)state;
    char store[256];
    int status;
    uint32_t *steps =
        mmap(NULL, sizeof *steps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(steps != MAP_FAILED);
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    snprintf(store, sizeof store, "%s/store", gf_test_folder());
    double begun = gf_clock_seconds();
    pid_t first = build_many(store, steps, true);
    assert_int_equal(waitpid(first, &status, 0), first);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uint64_t took = (uint64_t)(1e6 * (gf_clock_seconds() - begun));
    for (int i = 0; i < BUILD_KILLS; i++) {
        check_many(store);
        uint32_t before = *steps;
        pid_t child = build_many(store, steps, false);
        for (int w = 0; w < MOST_WAITS && __atomic_load_n(steps, __ATOMIC_SEQ_CST) == before; w++)
            usleep(1000);
        kill_after(child, gf_random_below(&random, took));
    }
    check_many(store);
    munmap(steps, sizeof *steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_acknowledged_is_lost),
                                       cmocka_unit_test(test_a_build_in_blocks_is_there_or_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
