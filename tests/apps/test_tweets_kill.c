/*
 * kill -9 at random moments of importing tweets, of a stream's deletions and of tweets delete, again
 * and again on one store: after each the tables agree, each tweet is there or gone as it was
 * acknowledged, and one that was under way is as before or as behind.
 */
#include "apps/tweets/arguments_internal.h"
#include "base/random.h"
#include "tests/apps/tweet_store.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 3000, KILLS = 30, LONGEST_MS = 300, AT_ONCE = 400, MOST_WAITS = 60000 };

typedef enum state { ABSENT = 1, PRESENT = 2, HELD = 4 } state;

/* Memory of all processes. */
typedef struct journal {
    char is[N];  /* acknowledged */
    char may[N]; /* of a step that is under way: further states; else 0 */
    uint64_t steps, adds, deletions, removals;
} journal;

/* In a child, where a failure must not go on with the parent's tests. */
static void must(bool good, const char *what, const char *why)
{
    if (good) return;
    fprintf(stderr, "%s: %s\n", what, why);
    _exit(9);
}

static void write_tweet(gf_buffer *b, int i)
{
    uint64_t snowflake = (uint64_t)(INT64_C(1462458600000) + i * 200 - INT64_C(1288834974657))
                         << 22;
    gf_buffer_reset(b);
    gf_buffer_format(b,
                     "{\"created_at\":\"Thu May 05 14:%02d:%02d +0000 2016\",\"id\":%" PRIu64
                     ",\"text\":\"word %d #tag\",\"user\":{\"id\":%d,\"screen_name\":\"u%d\"},"
                     "\"coordinates\":{\"coordinates\":[%d,50]}}",
                     30 + i / 300, i / 5 % 60, i % 7 ? snowflake : (uint64_t)i + 1, i, i % 9, i % 9,
                     i % 100);
}

static gf_slice id_of(const gf_buffer *line)
{
    const char *id = strstr(line->ptr, "\"id\":") + 5;
    return gf_slice_of(id, strspn(id, "0123456789"));
}

static void open_store(tweet_store *s, const char *folder)
{
    gf_error err;
    gf_store_options o = GF_STORE_OPTIONS(.create = true, .purpose = "test", .wait_seconds = 30);
    *s = (tweet_store){.folder = folder};
    must(gf_store_open(folder, &o, &s->store, &err) == GF_OK, "open", err.message);
    must(gf_tweets_open(s->store, GF_SLICE("default"), &s->tweets, &err) == GF_OK, "open",
         err.message);
}

/* ---- the work -------------------------------------------------------------------------------- */

static void import_some(tweet_store *s, journal *j, gf_random *r, gf_tweets_parser *parser)
{
    gf_error err;
    gf_buffer line = {0};
    gf_tweet tweet;
    gf_tweets_import *import;
    gf_tweets_import_options o = {.flush_bytes = 20000};
    static char now[N];
    memcpy(now, j->is, N);
    must(gf_tweets_import_open(s->tweets, &o, &import, &err) == GF_OK, "import", err.message);
    for (int n = 0; n < AT_ONCE; n++) {
        int i = (int)gf_random_below(r, N);
        bool goes = gf_random_below(r, 40) == 0;
        write_tweet(&line, i);
        if (goes)
            now[i] = HELD;
        else if (now[i] == ABSENT)
            now[i] = PRESENT;
        j->may[i] |= now[i];
        gf_slice json = gf_buffer_view(&line);
        gf_status st = goes ? gf_tweets_import_delete(import, id_of(&line), &err)
                            : gf_tweets_parse_stored(parser, json, &tweet, &err);
        if (st == GF_OK && !goes) st = gf_tweets_import_add(import, json, &tweet, &err);
        must(st == GF_OK, "import", err.message);
        j->adds += !goes;
        j->deletions += goes;
    }
    must(gf_tweets_import_flush(import, &err) == GF_OK, "flush", err.message);
    gf_tweets_import_close(import);
    memcpy(j->is, now, N);
    gf_buffer_release(&line);
}

/* All of a user, or some seconds. */
static void delete_some(tweet_store *s, journal *j, gf_random *r)
{
    gf_error err;
    gf_tweets_deleted deleted = {0};
    char user[4];
    int of = (int)gf_random_below(r, 9);
    bool by_user = gf_random_below(r, 2);
    int64_t from = 1462458600 + (int64_t)gf_random_below(r, 600);
    gf_tweets_query q = {.from = from, .to = from + 60};
    snprintf(user, sizeof user, "u%d", of);
    if (by_user) q = (gf_tweets_query){.to = GF_TWEET_LAST_SECOND, .user = gf_slice_str(user)};
    for (int i = 0; i < N; i++) {
        int64_t seconds = 1462458600 + i / 5;
        bool goes = by_user ? i % 9 == of : seconds >= from && seconds <= from + 60;
        if (goes && j->is[i] == PRESENT) j->may[i] = ABSENT;
    }
    must(gf_tweets_delete(s->tweets, &q, false, &deleted, &err) == GF_OK, "delete", err.message);
    j->removals++;
    for (int i = 0; i < N; i++)
        if (j->may[i]) j->is[i] = j->may[i];
}

static pid_t work(const char *folder, journal *j, uint64_t seed)
{
    pid_t child = fork();
    if (child != 0) return child;
    gf_random r = gf_random_seed(seed, 0);
    gf_error err;
    tweet_store s;
    gf_tweets_parser *parser;
    open_store(&s, folder);
    must(gf_tweets_parser_create(&parser, &err) == GF_OK, "parser", err.message);
    for (;;) {
        if (gf_random_below(&r, 3))
            import_some(&s, j, &r, parser);
        else
            delete_some(&s, j, &r);
        memset(j->may, 0, N);
        j->steps++;
    }
}

/* ---- the check ------------------------------------------------------------------------------- */

static gf_status tell_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)err;
    must(false, where, what);
    return GF_OK;
}

static state look_at(tweet_store *s, gf_slice json, gf_slice id, gf_row *row, gf_buffer *key, int i)
{
    gf_error err;
    char raw[GF_TWEET_ROW];
    gf_tweets_row(GF_TWEETS_MURMUR2, 1462458600 + i / 5, json, raw);
    gf_tweets_key(s->tweets, key, gf_slice_of(raw, sizeof raw));
    gf_status there = gf_table_get_cell(s->tweets->raw, NULL, gf_buffer_view(key), GF_TWEETS_RAW_T,
                                        GF_SLICE(""), 1, row, &err);
    gf_tweets_deletion_key(s->tweets, key, id);
    gf_status held = gf_table_get_cell(s->tweets->deletions, NULL, gf_buffer_view(key),
                                       GF_TWEETS_DELETIONS_TOLD, GF_SLICE(""), 1, row, &err);
    must(there == GF_OK || there == GF_ENOTFOUND, "look", err.message);
    must(held == GF_OK || held == GF_ENOTFOUND, "look", err.message);
    must(there != GF_OK || held != GF_OK, "look", "a tweet is there, and its deletion");
    return there == GF_OK ? PRESENT : held == GF_OK ? HELD : ABSENT;
}

static void check(const char *folder, journal *j)
{
    gf_error err;
    tweet_store s;
    gf_row row = {0};
    gf_buffer line = {0}, key = {0};
    open_store(&s, folder);
    gf_app_check c = {.store = s.store, .visit = tell_fault};
    must(gf_tweets_check(&c, "RawTwitterData", &err) == GF_OK, "check", err.message);
    for (int i = 0; i < N; i++) {
        write_tweet(&line, i);
        int is = (int)look_at(&s, gf_buffer_view(&line), id_of(&line), &row, &key, i);
        if (is != j->is[i] && !(j->may[i] & is)) {
            fprintf(stderr, "tweet %d is %d, and not %d or %d\n", i, is, j->is[i], j->may[i]);
            _exit(9);
        }
        j->is[i] = (char)is;
    }
    memset(j->may, 0, N);
    gf_buffer_release(&line);
    gf_buffer_release(&key);
    gf_row_release(&row);
    gf_tweets_close(s.tweets);
    gf_store_close(s.store);
}

static void check_apart(const char *folder, journal *j)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        check(folder, j);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_killed_anywhere(void **state_of_test)
{
    (void)state_of_test;
    char folder[256];
    int status;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    uint64_t seed = gf_random_u64(&r);
    journal *j = mmap(NULL, sizeof *j, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(j != MAP_FAILED);
    memset(j->is, ABSENT, N);
    snprintf(folder, sizeof folder, "%s/store", gf_test_folder());
    for (int i = 0; i < KILLS; i++) {
        uint64_t before = __atomic_load_n(&j->steps, __ATOMIC_SEQ_CST);
        pid_t child = work(folder, j, seed + (uint64_t)i);
        /* Every second one after its first step, however long a busy machine takes to open the store. */
        for (int t = 0; i % 2 && t < MOST_WAITS; t++) {
            if (__atomic_load_n(&j->steps, __ATOMIC_SEQ_CST) != before) break;
            usleep(1000);
        }
        usleep((useconds_t)(30000 + 1000 * gf_random_below(&r, LONGEST_MS)));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status)) fail_msg("the work ended by itself");
        check_apart(folder, j);
    }
    print_message("%" PRIu64 " steps, %" PRIu64 " tweets added, %" PRIu64 " deletions, %" PRIu64
                  " times tweets deleted\n",
                  j->steps, j->adds, j->deletions, j->removals);
    assert_true(j->steps > 0 && j->adds > 0 && j->deletions > 0 && j->removals > 0);
    munmap(j, sizeof *j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_killed_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
