/* Tweets come out and go: found by their ids, exported, deleted. */
#include "apps/tweets/arguments_internal.h"
#include "base/clock.h"
#include "base/random.h"
#include "engine/store/delete.h"
#include "tests/api/transport.h"
#include "tests/apps/tweet_store.h"

#include <inttypes.h>
#include <pthread.h>

/* A tweet whose id says its time, `ms` milliseconds behind 2016-05-05T14:30. */
static uint64_t snowflake(int64_t ms)
{
    return (uint64_t)(INT64_C(1462458600000) + ms - INT64_C(1288834974657)) << 22 | 5;
}

static void write_tweet(gf_buffer *b, uint64_t id, int second, const char *text)
{
    gf_buffer_format(b,
                     "{\"created_at\":\"Thu May 05 14:%02d:%02d +0000 2016\",\"id\":%" PRIu64
                     ",\"text\":\"%s\",\"lang\":\"en\",\"user\":{\"id\":%d,\"name\":\"N\","
                     "\"screen_name\":\"user%d\"},\"coordinates\":{\"coordinates\":[%d,50]}}\n",
                     30 + second / 60, second % 60, id, text, second % 3, second % 3, second % 9);
}

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

static void import(transport *t, const gf_buffer *lines)
{
    transport_input(t, "a.jsonl", gf_buffer_view(lines));
    assert_run(t, "tweets import");
    assert_int_equal(transport_number(t, 0, "refused"), 0);
}

/* ---- by id ----------------------------------------------------------------------------------- */

static void test_ids_and_times(void **state)
{
    int64_t seconds;
    (void)state;
    assert_true(gf_tweets_id_seconds(GF_SLICE("725974381906804738"), &seconds));
    assert_int_equal(seconds, 1461920755); /* 2016-04-29T09:05:55Z, as SYSTEMS has it */
    assert_true(gf_tweets_id_seconds(GF_SLICE("0"), &seconds));
    assert_int_equal(seconds, 1288834974);
    assert_false(gf_tweets_id_seconds(GF_SLICE(""), &seconds));
    assert_false(gf_tweets_id_seconds(GF_SLICE("x"), &seconds));
    assert_false(gf_tweets_id_seconds(GF_SLICE("-1"), &seconds));
    assert_false(gf_tweets_id_seconds(GF_SLICE("18446744073709551616"), &seconds));
    assert_false(gf_tweets_id_seconds(GF_SLICE("18446744073709551615"), &seconds));
}

/* Ids that say their time, ids that do not, one id twice, an id in another tweet's text. */
static void test_found_by_id(void **state)
{
    gf_buffer lines = {0};
    char id[24];
    transport t;
    (void)state;
    transport_open(&t);
    write_tweet(&lines, snowflake(7999), 7, "in the last millisecond of its second");
    write_tweet(&lines, snowflake(7000), 8, "odd: a second too late");
    write_tweet(&lines, 17, 9, "odd");
    write_tweet(&lines, 17, 10, "odd, of the same id");
    write_tweet(&lines, 18, 9, "not 17");
    import(&t, &lines);
    snprintf(id, sizeof id, "%" PRIu64, snowflake(7999));
    assert_run(&t, "tweets show", "id", id);
    assert_int_equal(t.n_rows, 1);
    snprintf(id, sizeof id, "%" PRIu64, snowflake(7000));
    assert_run(&t, "tweets show", "id", id);
    assert_int_equal(t.n_rows, 1);
    assert_slice(transport_text(&t, 0, "text"), "odd: a second too late");
    assert_run(&t, "tweets show", "id", "17", "id", "19");
    assert_int_equal(t.n_rows, 2);
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_ABSENT);
    assert_int_equal(t.n_notices, 1);
    assert_string_equal(t.notices[0].source, "19");
    assert_refused(GF_ENOTFOUND, "no tweet has the id 1", &t, "tweets show", "id", "1");
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* ---- export ---------------------------------------------------------------------------------- */

/* What is exported is what came, and makes equal tables; of both hashes. */
static void test_export_makes_equal_tables(void **state)
{
    static const char *const hashes[] = {"murmur2", "murmur3"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        gf_buffer lines = {0}, whole = {0}, again = {0};
        transport t, other;
        transport_open(&t);
        transport_open(&other);
        t.takes_file = true;
        for (int n = 0; n < 200; n++)
            write_tweet(&lines, n % 2 ? snowflake(n * 1000) : (uint64_t)n, n, "#rain \\u00e4 x");
        gf_buffer_str(&lines, "{ \"created_at\" : \"Thu May 05 14:59:00 +0000 2016\" , "
                              "\"text\":\"as it c\\u0061me\", \"x\":1.50e3 }\n");
        transport_input(&t, "a.jsonl", gf_buffer_view(&lines));
        assert_run(&t, "tweets import", "hash", hashes[i]);
        dump(&t, &whole);
        assert_run(&t, "tweets export");
        assert_int_equal(transport_number(&t, 0, "tweets"), 201);
        assert_int_equal(transport_number(&t, 0, "bytes"), lines.len);
        assert_slice(gf_buffer_view(&t.written), gf_buffer_cstr(&lines));
        transport_input(&other, "b.jsonl", gf_buffer_view(&t.written));
        assert_run(&other, "tweets import", "hash", hashes[i]);
        assert_string_equal(dump(&other, &again), gf_buffer_cstr(&whole));
        transport_close(&t);
        transport_close(&other);
        gf_buffer_release(&lines);
        gf_buffer_release(&whole);
        gf_buffer_release(&again);
    }
}

/* ---- deletion -------------------------------------------------------------------------------- */

static void assert_sound(transport *t)
{
    transport_close_store(t);
    assert_run(t, "verify");
    if (t->outcome != GF_OUTCOME_DONE) fail_msg("%.*s", GF_SLICE_ARG(transport_bytes(t, 0)));
}

/* Any tweets in any order: what stays is as if the others had never been; then they come back. */
static void test_deleted_as_if_never_there(void **state)
{
    enum { N = 120 };
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    (void)state;
    for (int round = 0; round < 6; round++) {
        gf_buffer all = {0}, rest = {0}, whole = {0}, got = {0}, expected = {0}, ids = {0};
        transport t, fresh;
        uint64_t share = gf_random_below(&r, 4), deleted = 0;
        const char *hash = round % 2 ? "murmur3" : "murmur2";
        transport_open(&t);
        transport_open(&fresh);
        for (int i = 0; i < N; i++) {
            int second = (int)gf_random_below(&r, 90);
            uint64_t id = gf_random_below(&r, 2) ? snowflake(second * 1000 + i) : (uint64_t)i;
            bool goes = gf_random_below(&r, 3) < share;
            size_t start = all.len;
            write_tweet(&all, id, second, i % 5 ? "word word #tag" : "other");
            if (!goes) gf_buffer_append(&rest, all.ptr + start, all.len - start);
            if (goes) gf_buffer_format(&ids, "%" PRIu64 "\r\n", id);
            deleted += goes;
        }
        transport_input(&t, "a.jsonl", gf_buffer_view(&all));
        assert_run(&t, "tweets import", "hash", hash);
        dump(&t, &whole);
        transport_input(&t, "ids", gf_buffer_view(&ids));
        assert_run(&t, "tweets delete", "dry-run", "true");
        assert_int_equal(transport_number(&t, 0, "would_delete"), deleted);
        assert_string_equal(dump(&t, &got), gf_buffer_cstr(&whole));
        transport_input(&t, "ids", gf_buffer_view(&ids));
        assert_run(&t, "tweets delete");
        assert_int_equal(transport_number(&t, 0, "asked"), deleted);
        assert_int_equal(transport_number(&t, 0, "deleted"), deleted);
        assert_int_equal(transport_number(&t, 0, "absent"), 0);
        assert_int_equal(transport_number(&t, 0, "tweets"), N - deleted);
        transport_input(&fresh, "b.jsonl", gf_buffer_view(&rest));
        assert_run(&fresh, "tweets import", "hash", hash);
        if (deleted < N)
            assert_string_equal(dump(&t, &got), dump(&fresh, &expected));
        else
            assert_string_equal(dump(&t, &got), "");
        assert_sound(&t);
        import(&t, &all);
        assert_int_equal(transport_number(&t, 0, "new"), deleted);
        assert_string_equal(dump(&t, &got), gf_buffer_cstr(&whole));
        assert_run(&t, "tweets delete", "from", "1970-01-01");
        assert_int_equal(transport_number(&t, 0, "deleted"), N);
        assert_string_equal(dump(&t, &got), "");
        assert_sound(&t);
        transport_close(&t);
        transport_close(&fresh);
        gf_buffer *const buffers[] = {&all, &rest, &whole, &got, &expected, &ids};
        for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
            gf_buffer_release(buffers[i]);
    }
}

static void test_deleted_by_what_they_are(void **state)
{
    gf_buffer lines = {0};
    transport t;
    (void)state;
    transport_open(&t);
    for (int i = 0; i < 120; i++)
        write_tweet(&lines, snowflake(i * 1000), i, "word");
    import(&t, &lines);
    assert_run(&t, "tweets delete", "before", "201605051431");
    assert_int_equal(transport_number(&t, 0, "deleted"), 60);
    assert_run(&t, "tweets delete", "user", "@User1", "to", "2016-05-05T14:31:29Z");
    assert_int_equal(transport_number(&t, 0, "deleted"), 10);
    assert_run(&t, "tweets delete", "user-id", "2");
    assert_int_equal(transport_number(&t, 0, "deleted"), 20);
    assert_run(&t, "tweets delete", "box", "0,49,3,51", "lang", "de");
    assert_int_equal(transport_number(&t, 0, "deleted"), 0);
    assert_run(&t, "tweets delete", "box", "0,49,3,51", "lang", "en,de");
    assert_int_equal(transport_number(&t, 0, "tweets"), 13);
    assert_run(&t, "tweets delete", "id", "19", "id", "20");
    assert_int_equal(transport_number(&t, 0, "absent"), 2);
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_ABSENT);
    assert_refused(GF_EINVAL, "either ids", &t, "tweets delete", "id", "19", "user", "user1");
    assert_refused(GF_EINVAL, "delete needs ids", &t, "tweets delete");
    assert_sound(&t);
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* Tables of rules 1, as the last version left them: no index of ids, the short text. */
static void test_deleted_from_older_tables(void **state)
{
    gf_error err;
    gf_buffer lines = {0}, got = {0};
    gf_batch *batch;
    transport t;
    (void)state;
    transport_open(&t);
    write_tweet(&lines, 17, 1, "odd");
    write_tweet(&lines, 18, 1, "odd");
    write_tweet(&lines, snowflake(2000), 2, "even");
    import(&t, &lines);
    tweet_store s = {.store = t.store};
    assert_ok(gf_tweets_open(t.store, GF_SLICE("default"), &s.tweets, &err));
    assert_ok(gf_batch_create(s.tweets->db, &batch, &err));
    gf_batch_put(batch, s.tweets->settings, gf_tweets_prefix(s.tweets), GF_TWEETS_SETTINGS_MAIN,
                 GF_SLICE("rules"), GF_SLICE("1"), 0);
    assert_ok(gf_delete_rows(s.tweets->ids, (gf_slice){0}, batch, &err));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_tweets_close(s.tweets);
    assert_sound(&t);
    assert_run(&t, "tweets show", "id", "17");
    assert_run(&t, "tweets delete", "id", "17", "id", "19", "id", "18");
    assert_int_equal(transport_number(&t, 0, "deleted"), 2);
    assert_int_equal(transport_number(&t, 0, "absent"), 1);
    assert_sound(&t);
    assert_run(&t, "tweets delete", "from", "1970-01-01");
    assert_string_equal(dump(&t, &got), "");
    assert_sound(&t);
    gf_buffer_release(&lines);
    gf_buffer_release(&got);
    transport_close(&t);
}

/* ---- what a stream says ---------------------------------------------------------------------- */

static void write_deletion(gf_buffer *b, uint64_t id, bool as_text)
{
    gf_buffer_format(b,
                     as_text ? "{\"delete\":{\"status\":{\"id_str\":\"%" PRIu64
                               "\",\"user_id\":3},\"timestamp_ms\":\"1\"}}\n"
                             : "{\"delete\":{\"status\":{\"id\":%" PRIu64 ",\"user_id\":3}}}\n",
                     id);
}

static double member_of(transport *t, const char *object, const char *name)
{
    gf_json_value n, all = transport_member(t, 0, object);
    return gf_json_member(all, name, &n) ? gf_json_number(n) : 0;
}

/* A deletion behind its tweet, before it, twice, of no tweet; messages that are none. */
static void test_stream_deletes(void **state)
{
    gf_buffer lines = {0};
    transport t;
    (void)state;
    transport_open(&t);
    write_tweet(&lines, snowflake(1000), 1, "goes");
    write_tweet(&lines, 17, 2, "goes, odd");
    write_deletion(&lines, snowflake(1000), true);
    write_deletion(&lines, 17, false);
    write_deletion(&lines, 18, true);
    write_deletion(&lines, snowflake(5000), false);
    write_deletion(&lines, snowflake(5000), true);
    write_tweet(&lines, snowflake(5000), 5, "comes too late");
    write_tweet(&lines, snowflake(6000), 6, "stays");
    write_tweet(&lines, 17, 2, "goes, odd");
    gf_buffer_str(&lines, "{\"limit\":{\"track\":3}}\n{\"delete\":{\"direct_message\":{}}}\n"
                          "{\"status_withheld\":{\"id\":1}}\n{\"limit\":{\"track\":4}}\n");
    import(&t, &lines);
    assert_int_equal(transport_number(&t, 0, "read"), 14);
    assert_int_equal(transport_number(&t, 0, "new"), 3);
    assert_int_equal(transport_number(&t, 0, "skipped"), 11);
    assert_int_equal(transport_number(&t, 0, "deleted"), 2);
    assert_int_equal(transport_number(&t, 0, "tweets"), 1);
    assert_int_equal(member_of(&t, "reasons", "stream_message"), 9);
    assert_int_equal(member_of(&t, "reasons", "deleted"), 2);
    assert_int_equal(member_of(&t, "messages", "delete"), 5);
    assert_int_equal(member_of(&t, "messages", "direct_message"), 1);
    assert_int_equal(member_of(&t, "messages", "limit"), 2);
    assert_int_equal(member_of(&t, "messages", "status_withheld"), 1);
    assert_sound(&t);
    import(&t, &lines); /* once more: nothing comes back */
    assert_int_equal(transport_number(&t, 0, "new"), 0);
    assert_int_equal(transport_number(&t, 0, "unchanged"), 1);
    assert_int_equal(transport_number(&t, 0, "deleted"), 0);
    assert_int_equal(member_of(&t, "reasons", "deleted"), 4);
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* The id as text in "id", with white space; deletions that name no tweet are refused. */
static void test_ids_of_deletions(void **state)
{
    gf_buffer lines = {0};
    transport t;
    (void)state;
    transport_open(&t);
    for (int i = 1; i < 7; i++)
        write_tweet(&lines, (uint64_t)i, i, "a tweet");
    gf_buffer_str(&lines, "{\"delete\":{\"status\":{\"id\":\"1\"}}}\n"
                          "{\"delete\":{\"status\":{\"id_str\":\" 2\\n\"}}}\n"
                          "{\"delete\":{\"status\":{\"id\":\"\\t3 \",\"id_str\":null}}}\n"
                          "{\"delete\":{\"status\":{\"id_str\":\"\",\"id\":4}}}\n");
    import(&t, &lines);
    assert_int_equal(transport_number(&t, 0, "deleted"), 4);
    assert_int_equal(transport_number(&t, 0, "tweets"), 2);
    gf_buffer_reset(&lines);
    gf_buffer_str(&lines, "{\"delete\":7}\n{\"delete\":{\"status\":5}}\n"
                          "{\"delete\":{\"status\":{\"id_str\":\"\"}}}\n"
                          "{\"delete\":{\"status\":{\"id\":-5}}}\n"
                          "{\"delete\":{\"status\":{\"id\":5.5}}}\n"
                          "{\"delete\":{\"status\":{\"id_str\":\"5 6\"}}}\n"
                          "{\"delete\":{\"status\":{\"id_str\":\"5\",\"id\":6}}}\n");
    transport_input(&t, "a.jsonl", gf_buffer_view(&lines));
    assert_run(&t, "tweets import");
    assert_int_equal(member_of(&t, "reasons", "bad_deletion"), 6);
    assert_int_equal(transport_number(&t, 0, "refused"), 6);
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_string_equal(t.notices[0].reason, "bad_deletion");
    assert_int_equal(member_of(&t, "messages", "delete"), 1);
    assert_int_equal(transport_number(&t, 0, "tweets"), 1);
    assert_sound(&t);
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* Streams of tweets and deletions in any order: what is there has come, and no deletion of it. */
static void test_random_streams(void **state)
{
    enum { N = 60, RUNS = 5, LINES = 80 };
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    (void)state;
    for (int round = 0; round < 8; round++) {
        bool came[N] = {false}, gone[N] = {false};
        gf_buffer lines = {0}, rest = {0}, got = {0}, expected = {0};
        transport t, fresh;
        uint64_t n = 0;
        transport_open(&t);
        transport_open(&fresh);
        for (int run = 0; run < RUNS; run++) {
            gf_buffer_reset(&lines);
            for (int i = 0; i < LINES; i++) {
                int at = (int)gf_random_below(&r, N);
                uint64_t id = at % 3 ? snowflake(at * 1000) : (uint64_t)at + 1;
                bool goes = gf_random_below(&r, 5) == 0;
                gone[at] |= goes;
                came[at] |= !goes;
                if (goes)
                    write_deletion(&lines, id, at % 2);
                else
                    write_tweet(&lines, id, at, "word");
            }
            import(&t, &lines);
        }
        for (int at = 0; at < N; at++) {
            if (!came[at] || gone[at]) continue;
            write_tweet(&rest, at % 3 ? snowflake(at * 1000) : (uint64_t)at + 1, at, "word");
            n++;
        }
        assert_int_equal(transport_number(&t, 0, "tweets"), n);
        import(&fresh, &rest);
        assert_string_equal(dump(&t, &got), n ? dump(&fresh, &expected) : "");
        assert_sound(&t);
        transport_close(&t);
        transport_close(&fresh);
        gf_buffer *const buffers[] = {&lines, &rest, &got, &expected};
        for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
            gf_buffer_release(buffers[i]);
    }
}

typedef struct crowd {
    gf_tweets *tweets;
    gf_buffer lines;
} crowd;

static void *import_crowd(void *context)
{
    crowd *c = context;
    gf_error err;
    gf_slice rest = gf_buffer_view(&c->lines), line;
    gf_tweets_import *import;
    gf_tweets_parser *parser;
    gf_tweets_import_options o = {.flush_bytes = 4000};
    assert_ok(gf_tweets_parser_create(&parser, &err));
    assert_ok(gf_tweets_import_open(c->tweets, &o, &import, &err));
    while (gf_test_next_line(&rest, &line)) {
        gf_tweet tweet = {0};
        gf_status st = gf_tweets_parse_stored(parser, line, &tweet, &err);
        if (tweet.message)
            assert_ok(gf_tweets_import_delete(import, tweet.id, &err));
        else if (st == GF_OK)
            assert_ok(gf_tweets_import_add(import, line, &tweet, &err));
        else
            fail_msg("%s", err.message);
    }
    assert_ok(gf_tweets_import_flush(import, &err));
    gf_tweets_import_close(import);
    gf_tweets_parser_free(parser);
    return NULL;
}

static gf_status tell_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)err;
    fail_msg("%s: %s", where, what);
    return GF_OK;
}

/* Several at once: tweets, deletions of the same, and tweets delete of a part. */
static void test_importers_and_deletions_at_once(void **state)
{
    enum { CROWDS = 3, N = 400 };
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    crowd crowds[CROWDS] = {{.tweets = NULL}};
    pthread_t threads[CROWDS];
    gf_buffer rest = {0}, got = {0};
    bool came[N] = {false}, gone[N] = {false};
    tweet_store s;
    transport fresh;
    gf_error err;
    (void)state;
    tweet_store_open(&s);
    transport_open(&fresh);
    for (int c = 0; c < CROWDS; c++) {
        crowds[c].tweets = s.tweets;
        for (int i = 0; i < 2 * N; i++) {
            int at = (int)gf_random_below(&r, N);
            uint64_t id = at % 3 ? snowflake(at % 90 * 1000 + at) : (uint64_t)at + 1;
            bool goes = gf_random_below(&r, 8) == 0;
            gone[at] |= goes;
            came[at] |= !goes;
            if (goes)
                write_deletion(&crowds[c].lines, id, true);
            else
                write_tweet(&crowds[c].lines, id, at % 90, "word");
        }
        assert_int_equal(pthread_create(&threads[c], NULL, import_crowd, &crowds[c]), 0);
    }
    gf_tweets_query q = {.to = GF_TWEET_LAST_SECOND, .user = GF_SLICE("user1")};
    gf_tweets_deleted deleted = {0};
    assert_ok(gf_tweets_delete(s.tweets, &q, false, &deleted, &err));
    for (int c = 0; c < CROWDS; c++) {
        pthread_join(threads[c], NULL);
        gf_buffer_release(&crowds[c].lines);
    }
    assert_ok(gf_tweets_delete(s.tweets, &q, false, &deleted, &err));
    for (int at = 0; at < N; at++)
        if (came[at] && !gone[at] && at % 90 % 3 != 1)
            write_tweet(&rest, at % 3 ? snowflake(at % 90 * 1000 + at) : (uint64_t)at + 1, at % 90,
                        "word");
    import(&fresh, &rest);
    assert_string_equal(tweet_store_dump(&s), dump(&fresh, &got));
    transport_close(&fresh);
    gf_app_check check = {.store = s.store, .visit = tell_fault};
    assert_ok(gf_tweets_check(&check, "RawTwitterData", &err));
    assert_int_equal(check.faults, 0);
    tweet_store_close(&s);
    gf_buffer_release(&rest);
    gf_buffer_release(&got);
}

/* ---- keep ------------------------------------------------------------------------------------ */

static void write_aged(gf_buffer *b, int hours, int i)
{
    gf_buffer_format(b, "{\"created_at\":\"");
    gf_clock_write_iso(b, gf_clock_ms() / 3600000 * 3600000 - INT64_C(3600000) * hours + 1000 * i);
    gf_buffer_format(b, "\",\"id\":%d,\"text\":\"hours %d\"}\n", hours * 1000 + i + 1, hours);
}

/* Tweets that came before, tweets that come, many of them; deletions of their times go, too. */
static void test_keep(void **state)
{
    enum { OLD = 5000 };
    gf_buffer lines = {0};
    transport t;
    (void)state;
    transport_open(&t);
    for (int i = 0; i < OLD; i++)
        write_aged(&lines, 50, i % 3000);
    for (int i = 0; i < 20; i++)
        write_aged(&lines, 40, i);
    write_deletion(&lines, snowflake(1000), true);
    import(&t, &lines);
    assert_int_equal(transport_number(&t, 0, "tweets"), 3020);
    gf_buffer_reset(&lines);
    for (int i = 0; i < 10; i++)
        write_aged(&lines, 60, i);
    write_aged(&lines, 1, 0);
    transport_input(&t, "a.jsonl", gf_buffer_view(&lines));
    assert_run(&t, "tweets import", "keep", "48h");
    assert_int_equal(transport_number(&t, 0, "new"), 1);
    assert_int_equal(member_of(&t, "reasons", "too_old"), 10);
    assert_int_equal(transport_number(&t, 0, "dropped"), 3000);
    assert_int_equal(transport_number(&t, 0, "tweets"), 21);
    assert_sound(&t);
    gf_buffer_reset(&lines);
    write_tweet(&lines, snowflake(1000), 1, "its deletion is forgotten");
    import(&t, &lines);
    assert_int_equal(transport_number(&t, 0, "new"), 1);
    transport_input(&t, "a.jsonl", GF_SLICE("\n"));
    assert_refused(GF_EINVAL, "is no age", &t, "tweets import", "keep", "2016-05-05");
    transport_input(&t, "a.jsonl", GF_SLICE("\n"));
    assert_refused(GF_EINVAL, "is no age", &t, "tweets import", "keep", "d");
    gf_buffer_release(&lines);
    transport_close(&t);
}

static void import_keeping(transport *t, const gf_buffer *lines, const char *keep)
{
    transport_input(t, "a.jsonl", gf_buffer_view(lines));
    assert_run(t, "tweets import", "keep", keep);
}

/* A deletion whose id says no time outlives keep: its tweet, which is young, stays away. */
static void test_keep_leaves_deletions_of_odd_ids(void **state)
{
    gf_buffer told = {0}, tweet = {0}, both = {0};
    transport t;
    (void)state;
    transport_open(&t);
    write_aged(&tweet, 1, 0);
    write_deletion(&told, 1001, true);
    import(&t, &told);
    import_keeping(&t, &tweet, "90d"); /* drops what was kept of deletions */
    assert_int_equal(transport_number(&t, 0, "new"), 0);
    import(&t, &tweet);
    assert_int_equal(transport_number(&t, 0, "new"), 0);
    assert_int_equal(member_of(&t, "reasons", "deleted"), 1);
    assert_sound(&t);
    t.namespace = "once"; /* all in one, and keep does not skip it */
    gf_buffer_slice(&both, gf_buffer_view(&told));
    gf_buffer_slice(&both, gf_buffer_view(&tweet));
    import_keeping(&t, &both, "90d");
    assert_int_equal(transport_number(&t, 0, "new"), 0);
    import(&t, &tweet);
    assert_int_equal(transport_number(&t, 0, "new"), 0);
    assert_int_equal(member_of(&t, "reasons", "deleted"), 1);
    gf_buffer_release(&told);
    gf_buffer_release(&tweet);
    gf_buffer_release(&both);
    transport_close(&t);
}

/* An input without a tweet: what is too old goes all the same, and the count is true. */
static void test_keep_without_a_tweet(void **state)
{
    gf_buffer lines = {0};
    transport t;
    (void)state;
    transport_open(&t);
    for (int i = 0; i < 6; i++)
        write_aged(&lines, i < 4 ? 80 : 1, i);
    import(&t, &lines);
    gf_buffer_reset(&lines);
    import(&t, &lines);
    assert_int_equal(transport_number(&t, 0, "tweets"), 6);
    assert_int_equal(transport_number(&t, 0, "dropped"), 0);
    gf_buffer_str(&lines, "{\"limit\":{\"track\":3}}\n");
    import_keeping(&t, &lines, "100h");
    assert_int_equal(transport_number(&t, 0, "tweets"), 6);
    import_keeping(&t, &lines, "2d");
    assert_int_equal(transport_number(&t, 0, "dropped"), 4);
    assert_int_equal(transport_number(&t, 0, "tweets"), 2);
    assert_slice(transport_text(&t, 0, "hash"), "murmur2");
    assert_sound(&t);
    t.namespace = "empty"; /* which stays so */
    import_keeping(&t, &lines, "2d");
    assert_int_equal(transport_number(&t, 0, "tweets"), 0);
    assert_false(transport_has(&t, 0, "hash"));
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* ---- failures -------------------------------------------------------------------------------- */

static gf_status delete_twice(void *context, gf_error *err)
{
    tweet_store *s = context;
    gf_slice ids[] = {GF_SLICE("1"), GF_SLICE("725974381906804738"), GF_SLICE("3")};
    gf_tweets_query q = {.to = GF_TWEET_LAST_SECOND, .ids = ids, .n_ids = 3};
    gf_tweets_deleted deleted = {0};
    gf_status st = gf_tweets_delete(s->tweets, &q, true, &deleted, err);
    q.n_ids = 0;
    q.user = GF_SLICE("peto");
    return st == GF_OK ? gf_tweets_delete(s->tweets, &q, false, &deleted, err) : st;
}

static void test_allocation_sweep(void **state)
{
    tweet_store s;
    (void)state;
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_APACHE "\n" TWEET_HASELNUSS "\n"));
    gf_test_sweep(delete_twice, NULL, &s);
    gf_tweets_info info;
    gf_error err;
    assert_ok(gf_tweets_read_info(s.tweets, &info, &err));
    assert_int_equal(info.tweets, 1);
    tweet_store_close(&s);
}

static gf_status import_and_delete(void *context, gf_error *err)
{
    tweet_store *s = context;
    gf_tweets_import *import = NULL;
    gf_tweets_parser *parser = NULL;
    gf_tweet tweet;
    gf_tweets_import_options o = {.keep = GF_SLICE("999w")};
    gf_status st = gf_tweets_parser_create(&parser, err);
    if (st == GF_OK) st = gf_tweets_import_open(s->tweets, &o, &import, err);
    if (st == GF_OK) st = gf_tweets_parse_stored(parser, GF_SLICE(TWEET_APACHE), &tweet, err);
    if (st == GF_OK) st = gf_tweets_import_add(import, GF_SLICE(TWEET_APACHE), &tweet, err);
    if (st == GF_OK) st = gf_tweets_import_delete(import, GF_SLICE("1"), err);
    if (st == GF_OK) st = gf_tweets_import_flush(import, err);
    gf_tweets_import_close(import);
    gf_tweets_parser_free(parser);
    return st;
}

static void test_stream_allocation_sweep(void **state)
{
    tweet_store s;
    gf_error err;
    (void)state;
    tweet_store_open(&s);
    gf_test_sweep(import_and_delete, NULL, &s);
    gf_app_check check = {.store = s.store, .visit = tell_fault};
    assert_ok(gf_tweets_check(&check, "RawTwitterData", &err));
    assert_string_equal(tweet_store_dump(&s), "");
    tweet_store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids_and_times),
                                       cmocka_unit_test(test_found_by_id),
                                       cmocka_unit_test(test_export_makes_equal_tables),
                                       cmocka_unit_test(test_deleted_as_if_never_there),
                                       cmocka_unit_test(test_deleted_by_what_they_are),
                                       cmocka_unit_test(test_deleted_from_older_tables),
                                       cmocka_unit_test(test_stream_deletes),
                                       cmocka_unit_test(test_ids_of_deletions),
                                       cmocka_unit_test(test_random_streams),
                                       cmocka_unit_test(test_importers_and_deletions_at_once),
                                       cmocka_unit_test(test_keep),
                                       cmocka_unit_test(test_keep_leaves_deletions_of_odd_ids),
                                       cmocka_unit_test(test_keep_without_a_tweet),
                                       cmocka_unit_test(test_allocation_sweep),
                                       cmocka_unit_test(test_stream_allocation_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
