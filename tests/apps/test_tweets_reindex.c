/*
 * tweets reindex: what it leaves is what an import by the rules of today makes, cell for cell: after
 * an earlier version's import, after losses, after being stopped anywhere, beside imports.
 */
#include "api/app.h"
#include "base/random.h"
#include "tests/api/transport.h"
#include "tests/apps/tweet_store.h"

#include <pthread.h>

static gf_tweets_reindexed reindex(tweet_store *s)
{
    gf_error err;
    gf_tweets_reindexed r = {.tweets = 0};
    gf_tweets_reindex_options o = {.cancel = NULL};
    assert_ok(gf_tweets_reindex(s->tweets, &o, &r, &err));
    return r;
}

static gf_status tell_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)err;
    print_error("%s: %s\n", where, what);
    return GF_OK;
}

static void assert_sound(tweet_store *s)
{
    gf_error err;
    gf_app_count counts[GF_MOST_APPS];
    gf_app_check check = {.store = s->store, .visit = tell_fault};
    assert_ok(gf_apps_check(&check, counts, &err));
    assert_int_equal(check.faults, 0);
}

static void assert_unchanged(tweet_store *s, uint64_t tweets)
{
    gf_tweets_reindexed r = reindex(s);
    assert_false(r.by_rules || r.mended);
    assert_int_equal(r.added + r.removed + r.changed, 0);
    assert_int_equal(r.tweets, tweets);
}

/* The cells that a new store has of the lines. */
static void dump_fresh(gf_buffer *dump, gf_tweets_hash hash, gf_slice lines)
{
    tweet_store s;
    tweet_store_open(&s);
    tweet_store_import(&s, hash, lines);
    gf_buffer_reset(dump);
    gf_buffer_str(dump, tweet_store_dump(&s));
    tweet_store_close(&s);
}

static void assert_dump(tweet_store *s, const gf_buffer *expected)
{
    tweet_store_dump(s);
    if (!gf_slice_equal(gf_buffer_view(&s->dump), gf_buffer_view(expected)))
        fail_msg("%zu bytes of cells, and others than the %zu of an import", s->dump.len,
                 expected->len);
}

/* ---- the earlier rules ----------------------------------------------------------------------- */

static void test_old_rules_become_new(void **state)
{
    static const gf_tweets_hash hashes[] = {GF_TWEETS_MURMUR2, GF_TWEETS_MURMUR3};
    gf_buffer lines = {0}, fresh = {0};
    (void)state;
    tweet_store_write_lines(&lines, 0, 5000);
    for (int i = 0; i < 2; i++) {
        tweet_store s;
        gf_error err;
        gf_tweets_info info;
        dump_fresh(&fresh, hashes[i], gf_buffer_view(&lines));
        tweet_store_open(&s);
        tweet_store_make_old(&s, hashes[i]);
        tweet_store_import(&s, hashes[i], gf_buffer_view(&lines));
        assert_sound(&s);
        gf_tweets_reindexed r = reindex(&s);
        assert_true(r.by_rules && !r.mended);
        assert_true(r.changed > 1000 && r.added > r.changed && r.removed > 1000);
        assert_int_equal(r.tweets, 5000);
        assert_ok(gf_tweets_read_info(s.tweets, &info, &err));
        assert_int_equal(info.rules, GF_TWEETS_RULES);
        assert_int_equal(info.hash, hashes[i]);
        assert_false(info.reindexing);
        assert_dump(&s, &fresh);
        assert_sound(&s);
        assert_unchanged(&s, 5000);
        tweet_store_close(&s);
    }
    gf_buffer_release(&lines);
    gf_buffer_release(&fresh);
}

/* Another namespace of the store is left as it is. */
static void test_one_namespace(void **state)
{
    gf_error err;
    tweet_store s;
    gf_buffer before = {0};
    (void)state;
    tweet_store_open(&s);
    tweet_store_make_old(&s, GF_TWEETS_MURMUR2);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_EXTENDED "\n" TWEET_APACHE));
    gf_buffer_str(&before, tweet_store_dump(&s));
    gf_tweets *first = s.tweets;
    assert_ok(gf_tweets_open(s.store, GF_SLICE("defaul"), &s.tweets, &err));
    tweet_store_make_old(&s, GF_TWEETS_MURMUR3);
    tweet_store_import(&s, GF_TWEETS_MURMUR3, GF_SLICE(TWEET_EXTENDED "\n" TWEET_HASELNUSS));
    assert_true(reindex(&s).by_rules);
    assert_unchanged(&s, 2);
    gf_tweets_close(s.tweets);
    s.tweets = first;
    assert_dump(&s, &before);
    assert_sound(&s);
    gf_buffer_release(&before);
    tweet_store_close(&s);
}

/* ---- stopped anywhere ------------------------------------------------------------------------ */

typedef struct stopping {
    gf_cancel cancel;
    int left; /* tellings until it is stopped */
} stopping;

static void stop_later(void *context, const char *phase, uint64_t done, uint64_t total)
{
    stopping *s = context;
    assert_true(phase[0] && done <= total);
    if (s->left-- == 0) gf_cancel_request(&s->cancel);
}

static void test_stopped_anywhere(void **state)
{
    gf_buffer lines = {0}, fresh = {0};
    tweet_store s;
    gf_tweets_info info;
    gf_error err;
    int stopped = 0, halves = 0;
    (void)state;
    tweet_store_write_lines(&lines, 0, 7000);
    dump_fresh(&fresh, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    tweet_store_open(&s);
    tweet_store_make_old(&s, GF_TWEETS_MURMUR2);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    for (int i = 1;; i++) {
        stopping at = {.left = i};
        gf_tweets_reindexed r;
        gf_tweets_reindex_options o = {&at.cancel, stop_later, &at};
        gf_status st = gf_tweets_reindex(s.tweets, &o, &r, &err);
        assert_sound(&s);
        if (st == GF_OK) break;
        assert_int_equal(st, GF_ECANCELLED);
        assert_ok(gf_tweets_read_info(s.tweets, &info, &err));
        stopped++;
        halves += info.reindexing;
    }
    assert_true(stopped > 3 && halves > 1);
    assert_dump(&s, &fresh);
    assert_unchanged(&s, 7000);
    tweet_store_close(&s);
    gf_buffer_release(&lines);
    gf_buffer_release(&fresh);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static void damage_cell(tweet_store *s, gf_batch *batch, gf_table *table, const gf_row *row,
                        uint64_t kind)
{
    gf_slice qualifier = row->cells[0].qualifier;
    unsigned family = row->cells[0].family;
    char other[GF_TWEET_ROW];
    (void)s;
    if (kind == 0) gf_batch_delete_cell(batch, table, row->key, family, qualifier);
    if (kind == 1) gf_batch_put(batch, table, row->key, family, qualifier, GF_SLICE("77"), 0);
    /* and one that no tweet makes */
    if (qualifier.len != GF_TWEET_ROW) {
        gf_batch_put(batch, table, row->key, family, GF_SLICE("tlh"), GF_SLICE("1"), 0);
        return;
    }
    memcpy(other, qualifier.ptr, sizeof other);
    other[9] ^= 1;
    gf_batch_put(batch, table, row->key, family, gf_slice_of(other, sizeof other), GF_SLICE(""), 0);
}

/* The first cell is always lost, so that there is damage in small tables, too. */
static void damage_table(tweet_store *s, gf_table *table, gf_random *random, unsigned one_of)
{
    gf_error err;
    gf_batch *batch;
    size_t n = 0;
    assert_ok(gf_batch_create(gf_store_database(s->store), &batch, &err));
    for (unsigned f = 0; f < gf_table_schema(table)->n_families; f++) {
        gf_scan_options o = GF_SCAN_OPTIONS(.family = f, .prefix = gf_tweets_prefix(s->tweets));
        gf_scan *scan;
        gf_row row = {0};
        assert_ok(gf_scan_open(table, &o, &scan, &err));
        while (gf_scan_next(scan, &row, &err) == GF_OK)
            if (n++ == 0)
                damage_cell(s, batch, table, &row, 0);
            else if (gf_random_below(random, one_of) == 0)
                damage_cell(s, batch, table, &row, gf_random_below(random, 2));
        gf_scan_close(scan);
        gf_row_release(&row);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
}

static void drop_table(tweet_store *s, gf_table *table)
{
    gf_error err;
    gf_batch *batch;
    gf_scan *scan;
    gf_row row = {0};
    assert_ok(gf_batch_create(gf_store_database(s->store), &batch, &err));
    for (unsigned f = 0; f < gf_table_schema(table)->n_families; f++) {
        gf_scan_options o = GF_SCAN_OPTIONS(.family = f, .keys_only = true);
        assert_ok(gf_scan_open(table, &o, &scan, &err));
        while (gf_scan_next(scan, &row, &err) == GF_OK)
            gf_batch_delete_row(batch, table, row.key, GF_ALL_FAMILIES);
        gf_scan_close(scan);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
    gf_row_release(&row);
}

static void spoil_settings(tweet_store *s)
{
    gf_error err;
    gf_batch *batch;
    gf_tweets_info info;
    assert_ok(gf_tweets_read_info(s->tweets, &info, &err));
    info.tweets += 5;
    info.with_place -= 3;
    assert_ok(gf_batch_create(gf_store_database(s->store), &batch, &err));
    gf_tweets_put_settings(s->tweets, batch, &info, GF_SLICE("99"));
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
}

/* Cells that are lost, changed or no tweet's, in each index and in all; one that is gone whole. */
static void test_losses_are_mended(void **state)
{
    gf_buffer lines = {0}, fresh = {0};
    tweet_store s;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    (void)state;
    tweet_store_write_lines(&lines, 0, 3000);
    dump_fresh(&fresh, GF_TWEETS_MURMUR3, gf_buffer_view(&lines));
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR3, gf_buffer_view(&lines));
    gf_table *const tables[] = {s.tweets->terms, s.tweets->frequency, s.tweets->geo};
    for (int which = 1; which < 8; which++) {
        for (int i = 0; i < 3; i++)
            if (which & 1 << i) damage_table(&s, tables[i], &random, 1U << (which % 4 * 2));
        gf_tweets_reindexed r = reindex(&s);
        assert_true(!r.by_rules && r.mended);
        assert_dump(&s, &fresh);
        assert_sound(&s);
        assert_unchanged(&s, 3000);
    }
    for (int i = 0; i < 3; i++) {
        drop_table(&s, tables[i]);
        assert_true(reindex(&s).mended);
        assert_dump(&s, &fresh);
        assert_unchanged(&s, 3000);
    }
    spoil_settings(&s);
    assert_true(reindex(&s).mended);
    assert_sound(&s);
    assert_unchanged(&s, 3000);
    tweet_store_close(&s);
    gf_buffer_release(&lines);
    gf_buffer_release(&fresh);
}

/* An index of the earlier rules that lost something, too. */
static void test_old_rules_and_losses(void **state)
{
    gf_buffer lines = {0}, fresh = {0};
    tweet_store s;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    (void)state;
    tweet_store_write_lines(&lines, 0, 3000);
    dump_fresh(&fresh, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    tweet_store_open(&s);
    tweet_store_make_old(&s, GF_TWEETS_MURMUR2);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    damage_table(&s, s.tweets->terms, &random, 10);
    damage_table(&s, s.tweets->frequency, &random, 10);
    gf_tweets_reindexed r = reindex(&s);
    assert_true(r.by_rules && r.mended);
    assert_dump(&s, &fresh);
    assert_unchanged(&s, 3000);
    tweet_store_close(&s);
    gf_buffer_release(&lines);
    gf_buffer_release(&fresh);
}

/* ---- beside imports -------------------------------------------------------------------------- */

typedef struct beside {
    tweet_store *s;
    gf_slice lines;
} beside;

static void *import_beside(void *context)
{
    beside *b = context;
    tweet_store_import(b->s, GF_TWEETS_MURMUR2, b->lines);
    return NULL;
}

/* Two importers, one of many small batches, while tables of the earlier rules that have losses are
 * made anew: all comes through, and is as if all had been imported by the new rules. */
static void test_beside_imports(void **state)
{
    gf_buffer stored = {0}, more = {0}, all = {0}, fresh = {0};
    tweet_store s;
    pthread_t threads[2];
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    (void)state;
    tweet_store_write_lines(&stored, 0, 8000);
    tweet_store_write_lines(&more, 8000, 12000);
    gf_buffer_slice(&all, gf_buffer_view(&stored));
    gf_buffer_slice(&all, gf_buffer_view(&more));
    dump_fresh(&fresh, GF_TWEETS_MURMUR2, gf_buffer_view(&all));
    for (int round = 0; round < 3; round++) {
        tweet_store_open(&s);
        tweet_store_make_old(&s, GF_TWEETS_MURMUR2);
        tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_buffer_view(&stored));
        if (round == 1) damage_table(&s, s.tweets->terms, &random, 50);
        beside b[2] = {{&s, gf_buffer_view(&more)}, {&s, gf_buffer_view(&all)}};
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, import_beside, &b[i]), 0);
        assert_true(reindex(&s).by_rules);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        assert_sound(&s);
        if (round == 1) reindex(&s);
        assert_dump(&s, &fresh);
        assert_unchanged(&s, 12000);
        tweet_store_close(&s);
    }
    gf_buffer_release(&stored);
    gf_buffer_release(&more);
    gf_buffer_release(&all);
    gf_buffer_release(&fresh);
}

/* ---- the operation --------------------------------------------------------------------------- */

static void test_operation(void **state)
{
    transport t;
    tweet_store s;
    gf_error err;
    (void)state;
    transport_open(&t);
    transport_input(&t, "a", GF_SLICE(TWEET_APACHE));
    assert_run(&t, "tweets import");
    assert_int_equal(t.n_notices, 0);
    assert_run(&t, "tweets reindex");
    assert_slice(transport_text(&t, 0, "state"), "unchanged");
    t.namespace = "old";
    assert_refused(GF_ENOTFOUND, "has no tweets", &t, "tweets reindex");
    s = (tweet_store){.store = t.store};
    assert_ok(gf_tweets_open(t.store, GF_SLICE("old"), &s.tweets, &err));
    tweet_store_make_old(&s, GF_TWEETS_MURMUR2);
    gf_tweets_close(s.tweets);
    transport_input(&t, "a", GF_SLICE(TWEET_EXTENDED "\n" TWEET_HASELNUSS));
    assert_run(&t, "tweets import");
    assert_int_equal(t.n_notices, 1);
    assert_string_equal(t.notices[0].reason, "old_rules");
    assert_run(&t, "tweets search", "token", "behind");
    assert_int_equal(t.n_rows, 0);
    assert_run(&t, "tweets reindex");
    assert_slice(transport_text(&t, 0, "state"), "reindexed");
    assert_int_equal(transport_number(&t, 0, "tweets"), 2);
    assert_int_equal(transport_number(&t, 0, "changed"), 1);
    assert_int_equal(transport_number(&t, 0, "added"), 4); /* behind, #later, later, the id */
    assert_int_equal(transport_number(&t, 0, "removed"), 1);
    assert_int_equal(transport_number(&t, 0, "rules"), 2);
    assert_run(&t, "tweets search", "token", "behind");
    assert_int_equal(t.n_rows, 1);
    transport_input(&t, "a", GF_SLICE(TWEET_APACHE));
    assert_run(&t, "tweets import");
    assert_int_equal(t.n_notices, 0);
    transport_close(&t);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static gf_status reindex_spoiled(void *context, gf_error *err)
{
    tweet_store *s = context;
    gf_tweets_reindexed r;
    gf_tweets_reindex_options o = {.cancel = NULL};
    return gf_tweets_reindex(s->tweets, &o, &r, err);
}

static void test_allocation_sweep(void **state)
{
    gf_buffer lines = {0}, fresh = {0};
    tweet_store s;
    gf_random random = gf_random_seed(1, 0);
    (void)state;
    tweet_store_write_lines(&lines, 0, 12);
    dump_fresh(&fresh, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    tweet_store_open(&s);
    tweet_store_make_old(&s, GF_TWEETS_MURMUR2);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    damage_table(&s, s.tweets->terms, &random, 3);
    damage_table(&s, s.tweets->frequency, &random, 2);
    gf_test_sweep(reindex_spoiled, NULL, &s);
    assert_dump(&s, &fresh);
    assert_sound(&s);
    tweet_store_close(&s);
    gf_buffer_release(&lines);
    gf_buffer_release(&fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_old_rules_become_new),
                                       cmocka_unit_test(test_one_namespace),
                                       cmocka_unit_test(test_stopped_anywhere),
                                       cmocka_unit_test(test_losses_are_mended),
                                       cmocka_unit_test(test_old_rules_and_losses),
                                       cmocka_unit_test(test_beside_imports),
                                       cmocka_unit_test(test_operation),
                                       cmocka_unit_test(test_allocation_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
