/*
 * kill -9 at random moments of putting, deleting, rebuilding, publishing and dropping, again and
 * again on one store: after each the store is sound, holds every acknowledged step, and the work
 * goes on with it.
 */
#include "support/test.h"

#include "base/random.h"
#include "tests/crash/workload.h"

#include <signal.h>
#include <stdlib.h>
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
    static const char *const kinds[] = {"between steps", "put",         "delete",
                                        "rebuild",       "rebuild all", "drop"};
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_acknowledged_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
