/* tweets import: what is counted, refused, kept; live streams; imports that were cut short. */
#include "base/clock.h"
#include "tests/api/transport.h"
#include "tests/apps/tweet_store.h"

#include <pthread.h>
#include <unistd.h>

static const char *dump(transport *t, gf_buffer *out)
{
    gf_error err;
    tweet_store s = {.store = t->store};
    assert_ok(gf_tweets_open(t->store, gf_slice_str(t->namespace), &s.tweets, &err));
    gf_buffer_reset(out);
    gf_buffer_str(out, tweet_store_dump(&s));
    gf_tweets_close(s.tweets);
    gf_buffer_release(&s.dump);
    return gf_buffer_cstr(out);
}

static void assert_numbers(transport *t, int read, int created, int unchanged, int skipped,
                           int refused)
{
    assert_int_equal(transport_number(t, 0, "read"), read);
    assert_int_equal(transport_number(t, 0, "new"), created);
    assert_int_equal(transport_number(t, 0, "stored"), created);
    assert_int_equal(transport_number(t, 0, "changed"), 0);
    assert_int_equal(transport_number(t, 0, "unchanged"), unchanged);
    assert_int_equal(transport_number(t, 0, "skipped"), skipped);
    assert_int_equal(transport_number(t, 0, "refused"), refused);
}

static double reason(transport *t, const char *name)
{
    gf_json_value n, reasons = transport_member(t, 0, "reasons");
    return gf_json_member(reasons, name, &n) ? gf_json_number(n) : 0;
}

static void test_summary(void **state)
{
    transport t;
    (void)state;
    transport_open(&t);
    transport_input(&t, "a.jsonl",
                    GF_SLICE("\xEF\xBB\xBF" TWEET_APACHE "\r\n\r\n{broken\n" TWEET_HASELNUSS
                             "\n{\"limit\":{\"track\":3}}\n{\"text\":\"no time\"}\n" TWEET_APACHE));
    transport_input(&t, "b.jsonl", GF_SLICE("  " TWEET_HASELNUSS "\n"));
    assert_run(&t, "tweets import");
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_numbers(&t, 7, 2, 2, 1, 2);
    assert_int_equal(reason(&t, "broken_json"), 1);
    assert_int_equal(reason(&t, "no_time"), 1);
    assert_int_equal(reason(&t, "stream_message"), 1);
    assert_int_equal(transport_number(&t, 0, "with_place"), 1);
    assert_int_equal(transport_number(&t, 0, "tweets"), 2);
    assert_slice(transport_text(&t, 0, "hash"), "murmur2");
    assert_int_equal(t.n_notices, 2);
    assert_string_equal(t.notices[0].reason, "broken_json");
    assert_int_equal(t.notices[0].line, 3);
    assert_string_equal(t.notices[1].source, "a.jsonl");
    assert_int_equal(t.notices[1].line, 6);
    assert_slice(gf_buffer_view(&t.rejected), "{broken\n{\"text\":\"no time\"}\n");
    transport_close(&t);
}

static void test_hash_is_a_setting_of_the_namespace(void **state)
{
    transport t;
    (void)state;
    transport_open(&t);
    transport_input(&t, "a", GF_SLICE(TWEET_APACHE));
    assert_run(&t, "tweets import", "hash", "murmur3");
    assert_slice(transport_text(&t, 0, "hash"), "murmur3");
    transport_input(&t, "a", GF_SLICE(TWEET_HASELNUSS));
    assert_refused(GF_EINVAL, "kept under murmur3, and not under murmur2", &t, "tweets import",
                   "hash", "murmur2");
    transport_input(&t, "a", GF_SLICE(TWEET_HASELNUSS));
    assert_run(&t, "tweets import");
    assert_slice(transport_text(&t, 0, "hash"), "murmur3");
    t.namespace = "other";
    transport_input(&t, "a", GF_SLICE(TWEET_APACHE));
    assert_run(&t, "tweets import", "hash", "murmur2");
    assert_numbers(&t, 1, 1, 0, 0, 0);
    transport_input(&t, "a", GF_SLICE(TWEET_APACHE));
    assert_refused(GF_EINVAL, "murmur2|murmur3", &t, "tweets import", "hash", "md5");
    transport_close(&t);
}

/* Nothing to import: no store is made. */
static void test_nothing(void **state)
{
    transport t;
    (void)state;
    transport_open(&t);
    assert_refused(GF_EINVAL, "needs an input", &t, "tweets import");
    transport_input(&t, "a", GF_SLICE("\n \n"));
    assert_run(&t, "tweets import");
    assert_numbers(&t, 0, 0, 0, 0, 0);
    assert_false(transport_has(&t, 0, "hash"));
    assert_null(t.store);
    transport_close(&t);
}

static void test_long_records(void **state)
{
    transport t;
    (void)state;
    transport_open(&t);
    transport_input(&t, "a", GF_SLICE(TWEET_HASELNUSS "\r\n" TWEET_APACHE "\n"));
    assert_run(&t, "tweets import", "max-tweet", "238");
    assert_numbers(&t, 2, 1, 0, 0, 1);
    assert_int_equal(reason(&t, "too_long"), 1);
    transport_close(&t);
}

/* ---- cut short ------------------------------------------------------------------------------- */

/* n tweets of some minutes; behind the broken-th line (1-based) one that is broken. */
static void write_lines(gf_buffer *b, int n, int broken)
{
    for (int i = 1; i <= n; i++) {
        gf_buffer_format(b,
                         "{\"created_at\":\"Thu May 05 14:%02d:%02d +0000 2016\",\"id\":%d,"
                         "\"text\":\"tweet %d of #many\",\"lang\":\"%s\"}\n",
                         i % 7, i % 60, i, i % 10, i % 3 ? "en" : "de");
        if (i == broken) gf_buffer_str(b, "broken\n");
    }
}

/* Stopped anywhere, and run again: the tables are those of an import that ran through. */
static void test_cut_import_goes_on(void **state)
{
    gf_buffer lines = {0}, whole = {0}, got = {0};
    transport t;
    (void)state;
    write_lines(&lines, 500, 300);
    transport_open(&t);
    transport_input(&t, "a", gf_buffer_view(&lines));
    assert_run(&t, "tweets import");
    dump(&t, &whole);
    transport_close(&t);

    transport_open(&t);
    t.cancel_at = 1; /* at the broken line */
    transport_input(&t, "a", gf_buffer_view(&lines));
    assert_refused(GF_ECANCELLED, "the same command goes on", &t, "tweets import");
    assert_numbers(&t, 301, 300, 0, 0, 1);
    t.cancel_at = 0;
    t.cancel = (gf_cancel){0};
    transport_input(&t, "a", gf_buffer_view(&lines));
    assert_run(&t, "tweets import");
    assert_numbers(&t, 501, 200, 300, 0, 1);
    assert_string_equal(dump(&t, &got), gf_buffer_cstr(&whole));
    transport_close(&t);
    gf_buffer_release(&lines);
    gf_buffer_release(&whole);
    gf_buffer_release(&got);
}

static void test_input_that_fails(void **state)
{
    transport t;
    (void)state;
    transport_open(&t);
    t.read_fails = GF_EIO;
    transport_input(&t, "a", GF_SLICE(TWEET_APACHE "\n"));
    assert_refused(GF_EIO, "reading failed", &t, "tweets import");
    assert_numbers(&t, 1, 1, 0, 0, 0);
    transport_close(&t);
}

/* ---- live ------------------------------------------------------------------------------------ */

typedef struct live {
    transport t;
    int pipe[2];
    bool opened;
    gf_status ended;
} live;

static gf_status next_pipe(void *context, gf_slice *name, gf_error *err)
{
    live *l = context;
    if (l->opened) return gf_fail(err, GF_ENOTFOUND, "no more");
    l->opened = true;
    *name = GF_SLICE("pipe");
    return GF_OK;
}

static gf_status read_pipe(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    ssize_t r = read(((live *)context)->pipe[0], to, n);
    if (r < 0) return gf_fail_errno(err, "pipe");
    *got = (size_t)r;
    return GF_OK;
}

static gf_status give_store(void *context, bool create, gf_store **store, gf_error *err)
{
    (void)create, (void)err;
    *store = ((live *)context)->t.store;
    return GF_OK;
}

static gf_status take_row(void *context, gf_slice row, gf_error *err)
{
    (void)context, (void)row, (void)err;
    return GF_OK;
}

static void *import_pipe(void *context)
{
    live *l = context;
    gf_error err;
    gf_call call = {.name_space = GF_SLICE("default"),
                    .sink = {l, take_row},
                    .holder = {l, give_store, .path = "store"},
                    .input = {l, next_pipe, read_pipe, NULL}};
    l->ended = gf_operation_run(gf_operation_find("tweets import"), &call, &err);
    return NULL;
}

static void write_line(live *l, const char *line)
{
    assert_int_equal(write(l->pipe[1], line, strlen(line)), strlen(line));
}

/* Seconds until the namespace has so many tweets. */
static double wait_for(live *l, uint64_t n)
{
    gf_error err;
    gf_tweets *tweets;
    gf_tweets_info info;
    double begin = gf_clock_seconds();
    assert_ok(gf_tweets_open(l->t.store, GF_SLICE("default"), &tweets, &err));
    do {
        usleep(10000);
        assert_ok(gf_tweets_read_info(tweets, &info, &err));
    } while ((!info.any || info.tweets < n) && gf_clock_seconds() < begin + 60);
    gf_tweets_close(tweets);
    return gf_clock_seconds() - begin;
}

/* Tweets from a pipe that stays open are on disk about half a second later. */
static void test_stream_is_flushed_in_time(void **state)
{
    live l = {.opened = false};
    pthread_t thread;
    gf_store *store;
    gf_error err;
    (void)state;
    transport_open(&l.t);
    gf_store_options o = GF_STORE_OPTIONS(.create = true);
    assert_ok(gf_store_open(l.t.folder, &o, &store, &err));
    l.t.store = store;
    assert_int_equal(pipe(l.pipe), 0);
    assert_int_equal(pthread_create(&thread, NULL, import_pipe, &l), 0);
    write_line(&l, TWEET_HASELNUSS "\n");
    double first = wait_for(&l, 1);
    write_line(&l, TWEET_APACHE "\n");
    double second = wait_for(&l, 2);
    print_message("%.2f s and %.2f s\n", first, second);
    close(l.pipe[1]);
    pthread_join(thread, NULL);
    close(l.pipe[0]);
    assert_status(GF_OK, l.ended);
    assert_true(first < 5 && second < 5); /* a busy machine; without the flush it is the 60 */
    transport_close(&l.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_summary),
                                       cmocka_unit_test(test_hash_is_a_setting_of_the_namespace),
                                       cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_long_records),
                                       cmocka_unit_test(test_cut_import_goes_on),
                                       cmocka_unit_test(test_input_that_fails),
                                       cmocka_unit_test(test_stream_is_flushed_in_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
