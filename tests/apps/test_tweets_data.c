/* The tweets of GROUPERFISH_DATA: their counts, and what queries give against a look at each. */
#include "base/clock.h"
#include "base/random.h"
#include "tests/api/transport.h"
#include "tests/apps/tweet_store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { TRIMMED = 4322, FULL = 1014, ALL = TRIMMED + FULL, BOXES = 1000 };

typedef struct seen_tweet {
    uint64_t id;
    int64_t seconds;
    bool has_place;
    gf_geo_point place;
    char lang[8];
} seen_tweet;

static seen_tweet all[ALL];
static size_t n_all;

/* ---- what the files have, read without our tables -------------------------------------------- */

static bool read_place(gf_json_value tweet, gf_geo_point *p)
{
    gf_json_value v, box, ring, corner, item;
    double sum[2] = {0, 0};
    if (gf_json_member(tweet, "coordinates", &v) && gf_json_kind_of(v) == GF_JSON_OBJECT) {
        assert_true(gf_json_member(v, "coordinates", &v));
        gf_json_iterator it = gf_json_items(v);
        assert_true(gf_json_next(&it, NULL, &item));
        p->longitude = gf_json_number(item);
        assert_true(gf_json_next(&it, NULL, &item));
        p->latitude = gf_json_number(item);
        return true;
    }
    if (!gf_json_member(tweet, "place", &v) || gf_json_kind_of(v) != GF_JSON_OBJECT) return false;
    if (!gf_json_member(v, "bounding_box", &box) || gf_json_kind_of(box) != GF_JSON_OBJECT)
        return false;
    assert_true(gf_json_member(box, "coordinates", &v));
    gf_json_iterator rings = gf_json_items(v);
    assert_true(gf_json_next(&rings, NULL, &ring));
    gf_json_iterator corners = gf_json_items(ring);
    while (gf_json_next(&corners, NULL, &corner)) {
        gf_json_iterator it = gf_json_items(corner);
        for (int i = 0; gf_json_next(&it, NULL, &item); i++)
            sum[i] += gf_json_number(item);
    }
    *p = (gf_geo_point){sum[1] / 4, sum[0] / 4};
    return true;
}

static void look_at(gf_json_parser *parser, gf_slice line)
{
    gf_error err;
    gf_json_value root, v;
    int64_t ms;
    seen_tweet *t = &all[n_all++];
    char id[24];
    assert_ok(gf_json_parse_copy(parser, line, &root, &err));
    assert_true(gf_json_member(root, "id_str", &v));
    snprintf(id, sizeof id, "%.*s", GF_SLICE_ARG(gf_json_get_string(v)));
    t->id = strtoull(id, NULL, 10);
    assert_true(gf_json_member(root, "created_at", &v));
    assert_true(gf_clock_parse_words(gf_json_get_string(v), &ms));
    t->seconds = ms / 1000;
    t->has_place = read_place(root, &t->place);
    bool has_lang = gf_json_member(root, "lang", &v);
    snprintf(t->lang, sizeof t->lang, "%.*s",
             GF_SLICE_ARG(has_lang ? gf_json_get_string(v) : GF_SLICE("und")));
}

static void read_file(transport *t, const char *name, int n, int with_place)
{
    gf_error err;
    gf_buffer bytes = {0};
    gf_slice rest, line;
    gf_json_parser *parser;
    gf_test_read_data(name, &bytes);
    assert_ok(gf_json_parser_create(&parser, &err));
    for (rest = gf_buffer_view(&bytes); gf_test_next_line(&rest, &line);)
        look_at(parser, line);
    gf_json_parser_free(parser);
    transport_input(t, name, gf_buffer_view(&bytes));
    assert_run(t, "tweets import");
    assert_int_equal(transport_number(t, 0, "read"), n);
    assert_int_equal(transport_number(t, 0, "new"), n);
    assert_int_equal(transport_number(t, 0, "refused"), 0);
    assert_int_equal(transport_number(t, 0, "skipped"), 0);
    assert_int_equal(transport_number(t, 0, "with_place"), with_place);
    gf_buffer_release(&bytes);
}

static transport t;
static gf_tweets *tweets;

static int open_data(void **state)
{
    gf_error err;
    (void)state;
    transport_open(&t);
    read_file(&t, "tweets/tweets-geo-trimmed.jsonl.gz", TRIMMED, TRIMMED);
    read_file(&t, "tweets/tweets-v1.1.jsonl.gz", FULL, 1005);
    assert_ok(gf_tweets_open(t.store, GF_SLICE("default"), &tweets, &err));
    return 0;
}

static int close_data(void **state)
{
    (void)state;
    gf_tweets_close(tweets);
    transport_close(&t);
    return 0;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

typedef struct counted {
    uint64_t n, sum; /* of ids */
} counted;

static gf_status count_tweet(void *context, gf_slice json, const gf_tweet *tweet,
                             const gf_tweets_parser *parser, gf_error *err)
{
    counted *c = context;
    char id[24];
    (void)json, (void)parser, (void)err;
    snprintf(id, sizeof id, "%.*s", GF_SLICE_ARG(tweet->id));
    c->n++;
    c->sum += strtoull(id, NULL, 10);
    return GF_OK;
}

static gf_geo_point some_point(gf_random *r)
{
    const seen_tweet *one = &all[gf_random_below(r, n_all)];
    if (one->has_place && gf_random_below(r, 4)) return one->place;
    return (gf_geo_point){gf_random_unit(r) * 180 - 90, gf_random_unit(r) * 360 - 180};
}

/* Edges that lie on tweets, and boxes over the antimeridian. */
static void test_random_boxes(void **state)
{
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_error err;
    uint64_t found = 0, crossing = 0;
    (void)state;
    for (int i = 0; i < BOXES; i++) {
        gf_geo_point a = some_point(&r), b = some_point(&r);
        gf_geo_box box = {a.longitude, fmin(a.latitude, b.latitude), b.longitude,
                          fmax(a.latitude, b.latitude)};
        gf_tweets_query q = {.box = &box, .to = GF_TWEET_LAST_SECOND};
        if (gf_random_below(&r, 2)) q.from = all[gf_random_below(&r, n_all)].seconds;
        counted expected = {0, 0}, got = {0, 0};
        for (size_t k = 0; k < n_all; k++)
            if (all[k].has_place && all[k].seconds >= q.from &&
                gf_geo_box_has(&box, all[k].place)) {
                expected.n++;
                expected.sum += all[k].id;
            }
        assert_ok(gf_tweets_query_run(tweets, &q, count_tweet, &got, &err));
        if (got.n != expected.n || got.sum != expected.sum)
            fail_msg("%.17g,%.17g,%.17g,%.17g from %lld: %d tweets, not %d", box.west, box.south,
                     box.east, box.north, (long long)q.from, (int)got.n, (int)expected.n);
        found += got.n;
        crossing += box.west > box.east;
    }
    assert_true(found > BOXES && crossing > BOXES / 4);
}

/* ---- frequencies ----------------------------------------------------------------------------- */

static gf_status check_language(void *context, gf_slice language, const uint64_t *counts,
                                gf_error *err)
{
    const int64_t *range = context;
    (void)err;
    for (int64_t m = range[0]; m <= range[1]; m++) {
        uint64_t n = 0;
        for (size_t k = 0; k < n_all; k++)
            n += all[k].seconds / 60 == m && gf_slice_equal(language, gf_slice_str(all[k].lang));
        if (counts[m - range[0]] != n)
            fail_msg("%.*s, minute %lld: %d, not %d", GF_SLICE_ARG(language), (long long)m,
                     (int)counts[m - range[0]], (int)n);
    }
    return GF_OK;
}

static void test_frequencies(void **state)
{
    gf_error err;
    (void)state;
    for (size_t k = 0; k < n_all; k += 97) {
        int64_t minute = all[k].seconds / 60, range[2] = {minute - 3, minute + 20};
        assert_ok(gf_tweets_frequency(tweets, GF_TWEETS_MINUTE, range[0], range[1], NULL, 0,
                                      check_language, range, &err));
    }
}

/* ---- again ----------------------------------------------------------------------------------- */

/* SYSTEMS B, check 9, on real tweets: the same files change no row. */
static void test_tweets__check_9_data(void **state)
{
    tweet_store s = {.store = t.store, .tweets = tweets};
    gf_buffer before = {0}, bytes = {0};
    (void)state;
    gf_buffer_str(&before, tweet_store_dump(&s));
    gf_test_read_data("tweets/tweets-v1.1.jsonl.gz", &bytes);
    transport_input(&t, "again", gf_buffer_view(&bytes));
    assert_run(&t, "tweets import");
    assert_int_equal(transport_number(&t, 0, "unchanged"), FULL);
    assert_int_equal(transport_number(&t, 0, "tweets"), ALL);
    assert_string_equal(tweet_store_dump(&s), gf_buffer_cstr(&before));
    gf_buffer_release(&before);
    gf_buffer_release(&bytes);
    gf_buffer_release(&s.dump);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_boxes),
                                       cmocka_unit_test(test_frequencies),
                                       cmocka_unit_test(test_tweets__check_9_data)};
    if (!gf_test_has_data()) return gf_test_skipped("tweets");
    return cmocka_run_group_tests(tests, open_data, close_data);
}
