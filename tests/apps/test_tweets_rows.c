/*
 * Imports of tweets over a database that writes one row after another: the first process ends before
 * any row's write, another one goes on, and each tweet is in all tables or in none, and counts once.
 */
#include "engine/copy/copy_internal.h"
#include "tests/apps/tweet_store.h"
#include "tests/engine/fixture_shared.h"

enum { TWEETS = 40, MOST_ENDS = 4000, EVERY = 7 };

typedef struct process {
    gf_backend *backend;
    gf_store *store;
    gf_tweets *tweets;
} process;

static void open_process_of(process *p, process *first, unsigned capabilities)
{
    gf_error err;
    p->store = fixture_share_as(first ? first->backend : NULL, capabilities, &p->backend);
    if (first) fixture_know_ended(p->store);
    assert_ok(gf_tweets_open(p->store, GF_SLICE("default"), &p->tweets, &err));
}

static void open_process(process *p, process *first)
{
    open_process_of(p, first, GF_BACKEND_SHARED);
}

static void close_process(process *p)
{
    gf_tweets_close(p->tweets);
    gf_store_close(p->store);
}

static gf_status add_lines(gf_tweets_import *m, gf_slice lines, gf_error *err)
{
    gf_tweets_parser *parser;
    gf_tweet tweet;
    gf_status st = gf_tweets_parser_create(&parser, err);
    while (lines.len && st == GF_OK) {
        const char *end = memchr(lines.ptr, '\n', lines.len);
        size_t n = (size_t)(end - lines.ptr);
        gf_slice line = gf_slice_of(lines.ptr, n);
        st = gf_tweets_parse_stored(parser, line, &tweet, err);
        if (st == GF_OK) st = gf_tweets_import_add(m, line, &tweet, err);
        lines = gf_slice_skip(lines, n + 1);
    }
    gf_tweets_parser_free(parser);
    return st;
}

/* In small batches; whatever fails ends it. */
static gf_status import_lines(process *p, gf_slice lines, uint64_t *created, gf_error *err)
{
    gf_tweets_import *m = NULL;
    gf_tweets_import_options o = {.flush_bytes = 8192};
    gf_status st = gf_tweets_import_open(p->tweets, &o, &m, err);
    if (st == GF_OK) st = add_lines(m, lines, err);
    if (st == GF_OK) st = gf_tweets_import_flush(m, err);
    if (m) *created = gf_tweets_import_counted(m).created;
    gf_tweets_import_close(m);
    return st;
}

/* Every cell of the indexes is one that the tweets make, and none is missing; the counts are right. */
static void check_whole(process *p, uint64_t tweets)
{
    gf_error err;
    gf_tweets_reindex_options o = {.progress = NULL};
    gf_tweets_reindexed done;
    gf_tweets_info info;
    assert_ok(gf_tweets_reindex(p->tweets, &o, &done, &err));
    assert_false(done.mended || done.by_rules);
    assert_ok(gf_tweets_read_info(p->tweets, &info, &err));
    assert_int_equal(info.tweets, tweets);
}

static void an_end_before_any_row(void **state)
{
    gf_buffer lines = {0};
    bool ended = true;
    int ends = 0;
    (void)state;
    tweet_store_write_lines(&lines, 0, TWEETS);
    for (unsigned end = 1; ended && end < MOST_ENDS; end += EVERY, ends++) {
        process p[2];
        gf_error err;
        uint64_t first = 0, created = 0;
        open_process(&p[0], NULL);
        open_process(&p[1], &p[0]);
        gf_model_end_after(p[0].backend, end);
        ended = import_lines(&p[0], gf_buffer_view(&lines), &first, &err) != GF_OK;
        assert_ok(import_lines(&p[1], gf_buffer_view(&lines), &created, &err));
        assert_true(first + created <= TWEETS); /* what was acknowledged is not new */
        check_whole(&p[1], TWEETS);
        assert_ok(import_lines(&p[1], gf_buffer_view(&lines), &created, &err));
        assert_int_equal(created, 0);
        close_process(&p[1]);
        close_process(&p[0]);
    }
    assert_false(ended);
    assert_true(ends > 20);
    gf_buffer_release(&lines);
}

/* A copy finishes the batch first: its journal stays behind. */
static void a_copy_of_an_import_that_ended(void **state)
{
    gf_buffer lines = {0};
    bool ended = true;
    (void)state;
    tweet_store_write_lines(&lines, 0, TWEETS);
    for (unsigned end = 5; ended && end < MOST_ENDS; end += 5 * EVERY) {
        process p[2], copy;
        gf_error err;
        gf_copied copied;
        gf_copy_options o = GF_COPY_OPTIONS(.wait_seconds = 0);
        uint64_t created = 0, again = 0;
        gf_tweets_info info;
        open_process_of(&p[0], NULL, GF_BACKEND_SHARED | GF_BACKEND_NAMED);
        open_process_of(&p[1], &p[0], GF_BACKEND_SHARED | GF_BACKEND_NAMED);
        open_process(&copy, NULL);
        gf_model_end_after(p[0].backend, end);
        ended = import_lines(&p[0], gf_buffer_view(&lines), &created, &err) != GF_OK;
        assert_ok(fixture_copy(p[1].store, copy.store->db, &o, &copied, &err));
        assert_ok(gf_tweets_read_info(copy.tweets, &info, &err));
        if (info.tweets) check_whole(&copy, info.tweets);
        assert_ok(import_lines(&copy, gf_buffer_view(&lines), &again, &err));
        check_whole(&copy, TWEETS);
        close_process(&copy);
        close_process(&p[1]);
        close_process(&p[0]);
    }
    assert_false(ended);
    gf_buffer_release(&lines);
}

/* Deletions end likewise: a tweet is gone from all tables, or whole. */
static void a_deletion_that_ends(void **state)
{
    gf_buffer lines = {0};
    bool ended = true;
    (void)state;
    tweet_store_write_lines(&lines, 0, TWEETS);
    for (unsigned end = 1; ended && end < MOST_ENDS; end += EVERY) {
        process p[2];
        gf_error err;
        uint64_t created;
        gf_tweets_deleted deleted = {0}, late = {0};
        gf_tweets_query query = {.to = GF_TWEET_LAST_SECOND, .languages = GF_SLICE("de")};
        gf_tweets_info info;
        open_process(&p[0], NULL);
        open_process(&p[1], &p[0]);
        assert_ok(import_lines(&p[0], gf_buffer_view(&lines), &created, &err));
        gf_model_end_after(p[0].backend, end);
        ended = gf_tweets_delete(p[0].tweets, &query, false, &deleted, &err) != GF_OK;
        assert_ok(gf_tweets_delete(p[1].tweets, &query, false, &late, &err));
        assert_ok(gf_tweets_read_info(p[1].tweets, &info, &err));
        assert_in_range(info.tweets, 1, TWEETS - 1);
        check_whole(&p[1], info.tweets);
        close_process(&p[1]);
        close_process(&p[0]);
    }
    assert_false(ended);
    gf_buffer_release(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_end_before_any_row),
                                       cmocka_unit_test(a_copy_of_an_import_that_ended),
                                       cmocka_unit_test(a_deletion_that_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
