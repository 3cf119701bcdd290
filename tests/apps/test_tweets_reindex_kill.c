/*
 * tweets reindex and kill -9 at random moments: after each the store is sound, and in the end it has,
 * cell for cell, what an import by the rules of today makes. This process never opens a store.
 */
#include "api/app.h"
#include "apps/apps.h"
#include "base/random.h"
#include "tests/apps/tweet_store.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

enum { KILLS = 40, TWEETS = 20000, LONGEST_MS = 400 };

typedef int work(const char *folder);

static int run_apart(work *does, const char *folder)
{
    int status;
    pid_t child = fork();
    if (child == 0) _exit(does(folder));
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) fail_msg("%s: the process was ended by a signal", folder);
    return WEXITSTATUS(status);
}

static void open_store(tweet_store *s, const char *folder)
{
    gf_error err;
    gf_store_options o = GF_STORE_OPTIONS(.create = true, .purpose = "test");
    *s = (tweet_store){.folder = folder};
    if (gf_store_open(folder, &o, &s->store, &err) != GF_OK ||
        gf_tweets_open(s->store, GF_SLICE("default"), &s->tweets, &err) != GF_OK) {
        fprintf(stderr, "%s\n", err.message);
        _exit(9);
    }
}

static void import_lines(tweet_store *s)
{
    gf_buffer lines = {0};
    tweet_store_write_lines(&lines, 0, TWEETS);
    tweet_store_import(s, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    gf_buffer_release(&lines);
}

static int make_old(const char *folder)
{
    tweet_store s;
    open_store(&s, folder);
    tweet_store_make_old(&s, GF_TWEETS_MURMUR2);
    import_lines(&s);
    return 0;
}

static int make_new(const char *folder)
{
    tweet_store s;
    open_store(&s, folder);
    import_lines(&s);
    return 0;
}

static int reindex(const char *folder)
{
    gf_error err;
    tweet_store s;
    gf_tweets_reindexed r;
    gf_tweets_reindex_options o = {.cancel = NULL};
    open_store(&s, folder);
    return gf_tweets_reindex(s.tweets, &o, &r, &err) == GF_OK ? 0 : 9;
}

static gf_status tell_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)err;
    fprintf(stderr, "%s: %s\n", where, what);
    return GF_OK;
}

/* 0: by the new rules, 1: by the earlier ones, 2: in between; 9: not sound. */
static int check(const char *folder)
{
    gf_error err;
    tweet_store s;
    gf_tweets_info info;
    gf_app_count counts[GF_MOST_APPS];
    open_store(&s, folder);
    gf_app_check c = {.store = s.store, .visit = tell_fault};
    if (gf_apps_check(&c, counts, &err) != GF_OK || c.faults ||
        gf_tweets_read_info(s.tweets, &info, &err) != GF_OK || info.tweets != TWEETS)
        return 9;
    return info.reindexing ? 2 : info.rules == GF_TWEETS_RULES ? 0 : 1;
}

/* Of the dump of all cells, as a file beside the store. */
static int write_sum(const char *folder)
{
    tweet_store s;
    char path[300];
    open_store(&s, folder);
    const char *dump = tweet_store_dump(&s);
    uint64_t sum = XXH3_64bits(dump, strlen(dump));
    snprintf(path, sizeof path, "%s.sum", folder);
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "%016llx", (unsigned long long)sum) < 0 || fclose(f) != 0) return 9;
    return 0;
}

static void read_sum(const char *folder, char sum[17])
{
    char path[300];
    assert_int_equal(run_apart(write_sum, folder), 0);
    snprintf(path, sizeof path, "%s.sum", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fread(sum, 1, 16, f), 16);
    sum[16] = '\0';
    fclose(f);
}

static void test_killed_anywhere(void **state)
{
    char old[256], fresh[256], expected[17], got[17];
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    int killed = 0, between = 0;
    (void)state;
    const char *folder = gf_test_folder();
    snprintf(fresh, sizeof fresh, "%s/fresh", folder);
    assert_int_equal(run_apart(make_new, fresh), 0);
    read_sum(fresh, expected);
    for (int stores = 0; killed < KILLS; stores++) {
        bool done = false;
        uint64_t longest =
            LONGEST_MS; /* more after many kills: a busy machine has to get on, too */
        snprintf(old, sizeof old, "%s/old%d", folder, stores);
        assert_int_equal(run_apart(make_old, old), 0);
        for (int tries = 0; !done;) {
            int status;
            pid_t child = fork();
            if (child == 0) _exit(reindex(old));
            usleep((useconds_t)(1000 * gf_random_below(&random, longest)));
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &status, 0), child);
            done = WIFEXITED(status);
            if (done) assert_int_equal(WEXITSTATUS(status), 0);
            killed += !done;
            if (++tries % 16 == 0) longest *= 2;
            int is = run_apart(check, old);
            assert_int_not_equal(is, 9);
            between += is == 2;
        }
        read_sum(old, got);
        assert_string_equal(got, expected);
        gf_test_remove(old);
    }
    print_message("%d kills, %d of them between the rules\n", killed, between);
    assert_true(between > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_killed_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
