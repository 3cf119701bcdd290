/*
 * The power fails: at every acknowledgement, and at syncs, renames and removals between them, a
 * copy of the store with every file cut back to what was synced must be sound and hold every
 * acknowledged step.
 */
#include "support/test.h"

#include "base/random.h"
#include "tests/crash/power_loss.h"
#include "tests/crash/workload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IMAGES = 200, LONGEST_GAP = 6 };

static int wanted; /* images */

/* The process that works hands over each image and waits until it was checked. */
typedef struct worker {
    const char *folder; /* where images go */
    int ready, checked; /* pipes: to the parent, and from it */
    int images, gap;    /* made so far; moments until the next between acknowledgements */
    gf_random random;
    bool watching;
} worker;

static void hand_over(worker *w)
{
    char image[256], reply;
    power_loss_tail tail = (power_loss_tail)gf_random_below(&w->random, POWER_LOSS_TAILS);
    snprintf(image, sizeof image, "%s/%d", w->folder, w->images++);
    if (!power_loss_image(image, tail)) _exit(2);
    if (write(w->ready, "i", 1) != 1 || read(w->checked, &reply, 1) != 1) _exit(3);
}

static void at_moment(void *context)
{
    worker *w = context;
    if (!w->watching || w->images >= wanted || w->gap-- > 0) return;
    w->gap = (int)gf_random_below(&w->random, LONGEST_GAP);
    hand_over(w);
}

static bool at_acknowledgement(void *context)
{
    worker *w = context;
    if (w->images >= wanted) return false;
    w->watching = true;
    w->gap = 0;
    power_loss_now();
    return true;
}

static void work(worker *w, const char *store, crash_journal *journal, uint64_t seed)
{
    power_loss_watch(store, at_moment, w);
    crash_work(store, journal, seed, at_acknowledgement, w);
    _exit(0);
}

static void test_nothing_acknowledged_is_lost(void **state)
{
    (void)state;
    char store[256], images[256], image[300], byte;
    int to_parent[2], to_child[2], status, n = 0;
    uint64_t seed = gf_test_seed();
    wanted = crash_rounds(IMAGES);
    crash_journal *journal = crash_journal_new(), *copy = crash_journal_new();
    assert_true(journal && copy && pipe(to_parent) == 0 && pipe(to_child) == 0);
    snprintf(store, sizeof store, "%s/store", gf_test_folder());
    snprintf(images, sizeof images, "%s", gf_test_folder());
    pid_t child = fork();
    if (child == 0) {
        worker w = {images, to_parent[1], to_child[0], 0, 0, gf_random_seed(seed, 1), false};
        close(to_parent[0]);
        close(to_child[1]);
        work(&w, store, journal, seed);
    }
    close(to_parent[1]);
    close(to_child[0]);
    for (; read(to_parent[0], &byte, 1) == 1; n++) {
        crash_journal_copy(journal, copy);
        snprintf(image, sizeof image, "%s/%d", images, n);
        if (!crash_check_apart(image, copy))
            fail_msg("image %d of the store, step %u", n, journal->step);
        gf_test_remove(image);
        assert_int_equal(write(to_child[1], "c", 1), 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(n >= wanted);
    print_message("%d images, %u steps\n", n, journal->step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_acknowledged_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
