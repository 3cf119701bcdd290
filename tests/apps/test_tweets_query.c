/* Queries on tweets: the checks' examples, and random boxes against a look at every tweet. */
#include "tests/apps/tweet_store.h"

#include "apps/tweets/ask/earth.h"

#include "base/memory.h"
#include "base/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const gf_tweets_query everything = {.fields = GF_TWEETS_TERM_TEXT | GF_TWEETS_TERM_USER,
                                           .to = GF_TWEET_LAST_SECOND};

/* ---- what is found --------------------------------------------------------------------------- */

static gf_status note_id(void *context, gf_slice json, const gf_tweet *t,
                         const gf_tweets_parser *parser, gf_error *err)
{
    gf_buffer *ids = context;
    (void)json, (void)parser;
    gf_buffer_format(ids, "%s%.*s", ids->len ? " " : "", GF_SLICE_ARG(t->id));
    return gf_buffer_check(ids, err);
}

/* The ids that a query gives, in its order. */
static void assert_found(tweet_store *s, const gf_tweets_query *q, const char *expected)
{
    gf_error err;
    gf_buffer ids = {0};
    assert_ok(gf_tweets_query_run(s->tweets, q, note_id, &ids, &err));
    if (!gf_slice_equal(gf_buffer_view(&ids), gf_slice_str(expected)))
        fail_msg("\"%s\", not \"%s\"", gf_buffer_cstr(&ids), expected);
    gf_buffer_release(&ids);
}

static void assert_tokens(tweet_store *s, unsigned fields, const char *a, const char *b,
                          const char *expected)
{
    gf_slice tokens[2] = {gf_slice_str(a), gf_slice_str(b)};
    gf_tweets_query q = everything;
    q.tokens = tokens;
    q.n_tokens = b ? 2 : 1;
    q.fields = fields;
    assert_found(s, &q, expected);
}

enum { BOTH = GF_TWEETS_TERM_TEXT | GF_TWEETS_TERM_USER };

/* SYSTEMS B, check 8. */
static void test_tweets__check_8(void **state)
{
    tweet_store s;
    (void)state;
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_HASELNUSS "\n" TWEET_APACHE "\n"));
    assert_tokens(&s, BOTH, "apa*", NULL, "1");
    assert_tokens(&s, BOTH, "apa", NULL, "");
    assert_tokens(&s, BOTH, "Das", NULL, "725974381906804738");
    assert_tokens(&s, BOTH, "das", NULL, "725974381906804738");
    assert_tokens(&s, BOTH, "#APACHE*", NULL, "1");
    assert_tokens(&s, GF_TWEETS_TERM_USER, "das", NULL, "");
    assert_tokens(&s, GF_TWEETS_TERM_USER, "Peter TOSH", NULL, "725974381906804738");
    assert_tokens(&s, GF_TWEETS_TERM_USER, "peter", NULL, "");
    assert_tokens(&s, GF_TWEETS_TERM_USER, "u*", NULL, "1");
    assert_tokens(&s, GF_TWEETS_TERM_TEXT, "peto", NULL, "");
    assert_tokens(&s, BOTH, "tweet", "u1scr", "1");
    assert_tokens(&s, BOTH, "tweet", "das", "");
    assert_tokens(&s, BOTH, "(nie!)", NULL, "725974381906804738");
    gf_error err;
    gf_buffer ids = {0};
    gf_slice none = GF_SLICE("*");
    gf_tweets_query q = everything;
    q.tokens = &none;
    q.n_tokens = 1;
    assert_status(GF_EINVAL, gf_tweets_query_run(s.tweets, &q, note_id, &ids, &err));
    tweet_store_close(&s);
}

/* No namespace sees another's, and none sees terms that only begin alike. */
static void test_namespaces(void **state)
{
    tweet_store s;
    gf_error err;
    gf_tweets *other;
    (void)state;
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_APACHE "\n"));
    assert_ok(gf_tweets_open(s.store, GF_SLICE("defaul"), &other, &err));
    gf_tweets *mine = s.tweets;
    gf_geo_box world = {-180, -90, 180, 90};
    gf_tweets_query boxed = everything;
    boxed.box = &world;
    s.tweets = other;
    assert_tokens(&s, BOTH, "a*", NULL, "");
    assert_found(&s, &everything, "");
    assert_found(&s, &boxed, "");
    s.tweets = mine;
    assert_found(&s, &everything, "1");
    assert_found(&s, &boxed, "1");
    gf_tweets_close(other);
    tweet_store_close(&s);
}

/* SYSTEMS B, check 7: by the edge, and over the antimeridian. */
static void test_tweets__check_7(void **state)
{
    static const char fiji[] =
        "{\"created_at\":\"Thu May 05 14:30:01 +0000 2016\",\"id\":2,\"text\":\"a\","
        "\"coordinates\":{\"coordinates\":[179.9,-17]}}\n"
        "{\"created_at\":\"Thu May 05 14:30:02 +0000 2016\",\"id\":3,\"text\":\"b\","
        "\"coordinates\":{\"coordinates\":[-179.9,-17]}}\n"
        "{\"created_at\":\"Thu May 05 14:30:03 +0000 2016\",\"id\":4,\"text\":\"c\","
        "\"coordinates\":{\"coordinates\":[180,90]}}\n";
    tweet_store s;
    gf_tweets_query q = everything;
    gf_geo_box south = {12, 51.3397, 13, 52}, beside = {12, 51.33970001, 13, 52};
    gf_geo_box crossing = {179, -20, -179, -10}, east = {-180, 80, -170, 90};
    (void)state;
    assert_true(51.3397f < 51.3397);
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_APACHE "\n"));
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_slice_str(fiji));
    q.box = &south;
    assert_found(&s, &q, "1");
    q.box = &beside;
    assert_found(&s, &q, "");
    q.box = &crossing;
    assert_found(&s, &q, "3 2");
    q.oldest_first = true;
    assert_found(&s, &q, "2 3");
    q.limit = 1;
    assert_found(&s, &q, "2");
    q.limit = 0;
    q.from = 1462458602;
    assert_found(&s, &q, "3");
    q.box = &east;
    assert_found(&s, &q, "4");
    gf_error err;
    gf_geo_box none = {0, 1, 1, 0};
    gf_buffer ids = {0};
    q.box = &none;
    assert_status(GF_EINVAL, gf_tweets_query_run(s.tweets, &q, note_id, &ids, &err));
    tweet_store_close(&s);
}

static void test_times(void **state)
{
    tweet_store s;
    gf_tweets_query q = everything;
    (void)state;
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_HASELNUSS "\n" TWEET_APACHE "\n"));
    assert_found(&s, &q, "1 725974381906804738");
    q.limit = 1;
    assert_found(&s, &q, "1");
    q.oldest_first = true;
    assert_found(&s, &q, "725974381906804738");
    q = everything;
    q.from = q.to = 1461920755;
    assert_found(&s, &q, "725974381906804738");
    q.from++;
    assert_found(&s, &q, "");
    q.to = 1462458600;
    assert_found(&s, &q, "1");
    q.to--;
    assert_found(&s, &q, "");
    tweet_store_close(&s);
}

/* ---- random boxes ---------------------------------------------------------------------------- */

enum { TWEETS = 3000, BOXES = 1000, SPOTS = 40 };

typedef struct world {
    gf_random random;
    gf_geo_point places[TWEETS];
    int64_t seconds[TWEETS];
    gf_geo_point spots[SPOTS]; /* where several are, and edges of boxes */
} world;

static double decimals(gf_random *r, double most, int digits)
{
    double scale = pow(10, digits);
    double v = round((2 * gf_random_unit(r) - 1) * most * scale) / scale;
    return v < -most ? -most : v > most ? most : v;
}

static gf_geo_point random_place(world *w)
{
    if (gf_random_below(&w->random, 3) == 0) return w->spots[gf_random_below(&w->random, SPOTS)];
    return (gf_geo_point){decimals(&w->random, 90, 4), decimals(&w->random, 180, 4)};
}

static void make_world(world *w)
{
    w->random = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < SPOTS; i++) {
        w->spots[i] =
            (gf_geo_point){decimals(&w->random, 90, i % 7), decimals(&w->random, 180, i % 7)};
        if (i % 8 == 1) w->spots[i].longitude = i % 16 == 1 ? 180 : -180;
        if (i % 8 == 2) w->spots[i].latitude = i % 16 == 2 ? 90 : -90;
    }
    for (int i = 0; i < TWEETS; i++) {
        w->places[i] = random_place(w);
        w->seconds[i] = 1462458600 + (int64_t)gf_random_below(&w->random, 4 * 86400);
    }
}

static void import_world(world *w, tweet_store *s, gf_tweets_hash hash)
{
    gf_buffer lines = {0};
    for (int i = 0; i < TWEETS; i++) {
        gf_buffer time = {0};
        gf_buffer_format(&lines,
                         "{\"created_at\":\"2016-05-%02d"
                         "T%02d:%02d:%02dZ\",\"id\":%d,\"text\":\"\","
                         "\"coordinates\":{\"coordinates\":[%.17g,%.17g]}}\n",
                         (int)((w->seconds[i] - 1462060800) / 86400) + 1,
                         (int)(w->seconds[i] / 3600 % 24), (int)(w->seconds[i] / 60 % 60),
                         (int)(w->seconds[i] % 60), i, w->places[i].longitude,
                         w->places[i].latitude);
        gf_buffer_release(&time);
    }
    assert_int_equal(tweet_store_import(s, hash, gf_buffer_view(&lines)).with_place, TWEETS);
    gf_buffer_release(&lines);
}

typedef struct seen {
    const world *w;
    uint8_t found[TWEETS];
    int64_t last; /* seconds of the one before */
} seen;

static gf_status note_tweet(void *context, gf_slice json, const gf_tweet *t,
                            const gf_tweets_parser *parser, gf_error *err)
{
    seen *to = context;
    char id[16];
    (void)json, (void)parser, (void)err;
    snprintf(id, sizeof id, "%.*s", GF_SLICE_ARG(t->id));
    int i = atoi(id);
    assert_true(to->w->seconds[i] == t->seconds);
    assert_true(t->seconds <= to->last);
    to->last = t->seconds;
    to->found[i]++;
    return GF_OK;
}

static gf_geo_box random_box(world *w)
{
    gf_geo_point a = random_place(w), b = random_place(w);
    uint64_t kind = gf_random_below(&w->random, 4);
    if (kind == 0)
        b = (gf_geo_point){a.latitude + 3 > 90 ? 90 : a.latitude + 3, decimals(&w->random, 180, 1)};
    if (kind == 1) b = a;
    bool swapped = a.latitude > b.latitude;
    return (gf_geo_box){a.longitude, swapped ? b.latitude : a.latitude, b.longitude,
                        swapped ? a.latitude : b.latitude};
}

/* ---- grids ----------------------------------------------------------------------------------- */

enum { MOST_SIDE = 1 << 7 };

typedef struct cells {
    double side;
    uint32_t expected[MOST_SIDE / 2][MOST_SIDE]; /* tweets: [from south][from west] */
    uint64_t last;
} cells;

static int step_of(double from_edge, double side, int n)
{
    int step = (int)floor(from_edge / side);
    return step < n ? step : n - 1;
}

static gf_status note_cell(void *context, const gf_tweets_square *cell, gf_error *err)
{
    cells *to = context;
    int x = (int)lround((cell->box.west + 180) / to->side),
        y = (int)lround((cell->box.south + 90) / to->side);
    (void)err;
    assert_true(cell->box.east == cell->box.west + to->side);
    assert_true(cell->box.north <= 90 && cell->box.north > cell->box.south);
    assert_true(cell->middle.longitude >= cell->box.west - 1e-5);
    assert_true(cell->middle.longitude <= cell->box.east + 1e-5);
    assert_true(cell->middle.latitude >= cell->box.south - 1e-5);
    assert_true(cell->middle.latitude <= cell->box.north + 1e-5);
    assert_true(cell->tweets <= to->last);
    to->last = cell->tweets;
    assert_int_equal(cell->tweets, to->expected[y][x]);
    to->expected[y][x] = 0;
    return GF_OK;
}

/* Against a look at every tweet: none is in a cell that was not told. */
static void check_grid(world *w, tweet_store *s, const gf_tweets_query *q)
{
    static cells c;
    unsigned level = 1 + (unsigned)gf_random_below(&w->random, 7);
    int wide = 1 << level, high = 1 << (level - 1);
    gf_error err;
    memset(&c, 0, sizeof c);
    c.side = 360.0 / wide;
    c.last = UINT64_MAX;
    for (int i = 0; i < TWEETS; i++)
        if (gf_geo_box_has(q->box, w->places[i]) && w->seconds[i] >= q->from &&
            w->seconds[i] <= q->to)
            c.expected[step_of(w->places[i].latitude + 90, c.side, high)]
                      [step_of(w->places[i].longitude + 180, c.side, wide)]++;
    assert_ok(gf_tweets_grid(s->tweets, q, level, SIZE_MAX, note_cell, &c, &err));
    for (int y = 0; y < high; y++)
        for (int x = 0; x < wide; x++)
            if (c.expected[y][x]) fail_msg("level %u: cell %d, %d is missing", level, x, y);
}

static gf_status write_cell(void *context, const gf_tweets_square *cell, gf_error *err)
{
    gf_buffer *to = context;
    gf_buffer_format(to, "%" PRIu64 " at %g,%g; ", cell->tweets, cell->box.west, cell->box.south);
    return gf_buffer_check(to, err);
}

/* By hand; and with tokens, which reads the tweets, as by the index alone. */
static void test_grid(void **state)
{
    static const char others[] =
        "{\"created_at\":\"Thu May 05 14:30:01 +0000 2016\",\"id\":2,\"text\":\"a tweet\","
        "\"coordinates\":{\"coordinates\":[12.4,51.4]}}\n"
        "{\"created_at\":\"Thu May 05 14:30:02 +0000 2016\",\"id\":3,\"text\":\"tweet\","
        "\"coordinates\":{\"coordinates\":[180,90]}}\n"
        "{\"created_at\":\"Thu May 05 14:30:03 +0000 2016\",\"id\":4,\"text\":\"tweet\"}\n";
    gf_slice token = GF_SLICE("tweet"), none = GF_SLICE("rain");
    gf_tweets_query q = everything;
    gf_buffer got = {0};
    gf_error err;
    tweet_store s;
    (void)state;
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_APACHE "\n"));
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_slice_str(others));
    for (int i = 0; i < 2; i++) {
        gf_buffer_reset(&got);
        q.tokens = &token;
        q.n_tokens = (size_t)i;
        assert_ok(gf_tweets_grid(s.tweets, &q, 3, SIZE_MAX, write_cell, &got, &err));
        assert_string_equal(gf_buffer_cstr(&got), "2 at 0,45; 1 at 135,45; ");
        gf_buffer_reset(&got);
        assert_ok(gf_tweets_grid(s.tweets, &q, 20, 1, write_cell, &got, &err));
        assert_true(gf_slice_starts(gf_buffer_view(&got), GF_SLICE("1 at 180,")));
    }
    q.tokens = &none;
    gf_buffer_reset(&got);
    assert_ok(gf_tweets_grid(s.tweets, &q, 3, SIZE_MAX, write_cell, &got, &err));
    assert_int_equal(got.len, 0);
    assert_status(GF_EINVAL, gf_tweets_grid(s.tweets, &q, 0, 1, write_cell, &got, &err));
    assert_status(GF_EINVAL, gf_tweets_grid(s.tweets, &q, 21, 1, write_cell, &got, &err));
    gf_buffer_release(&got);
    tweet_store_close(&s);
}

static void check_box(world *w, tweet_store *s)
{
    gf_geo_box box = random_box(w);
    gf_tweets_query q = everything;
    gf_error err;
    q.box = &box;
    if (gf_random_below(&w->random, 2)) {
        q.from = 1462458600 + (int64_t)gf_random_below(&w->random, 4 * 86400);
        q.to = q.from + (int64_t)gf_random_below(&w->random, 2 * 86400);
    }
    seen found = {.w = w, .last = INT64_MAX};
    assert_ok(gf_tweets_query_run(s->tweets, &q, note_tweet, &found, &err));
    for (int i = 0; i < TWEETS; i++) {
        bool meant =
            gf_geo_box_has(&box, w->places[i]) && w->seconds[i] >= q.from && w->seconds[i] <= q.to;
        if (found.found[i] != meant)
            fail_msg("tweet %d at %.17g, %.17g: found %d times in %.17g,%.17g,%.17g,%.17g", i,
                     w->places[i].latitude, w->places[i].longitude, found.found[i], box.west,
                     box.south, box.east, box.north);
    }
    check_grid(w, s, &q);
}

static void test_random_boxes(void **state)
{
    static world w;
    tweet_store s;
    (void)state;
    for (int hash = 0; hash < 2; hash++) {
        make_world(&w);
        tweet_store_open(&s);
        import_world(&w, &s, (gf_tweets_hash)hash);
        for (int i = 0; i < BOXES / 2; i++)
            check_box(&w, &s);
        tweet_store_close(&s);
    }
}

/* ---- frequencies ----------------------------------------------------------------------------- */

static gf_status note_counts(void *context, gf_slice language, const uint64_t *counts,
                             gf_error *err)
{
    gf_buffer *to = context;
    gf_buffer_format(to, "%.*s:", GF_SLICE_ARG(language));
    for (int i = 0; i < 4; i++)
        gf_buffer_format(to, " %" PRIu64, counts[i]);
    gf_buffer_byte(to, '\n');
    return gf_buffer_check(to, err);
}

static void write_minute(gf_buffer *lines, int minute, const char *language, int n)
{
    static int id;
    for (int i = 0; i < n; i++)
        gf_buffer_format(lines,
                         "{\"created_at\":\"Thu May 05 14:%d:%02d +0000 2016\",\"id\":%d,"
                         "\"text\":\"x\",\"lang\":\"%s\"}\n",
                         minute, i, id++, language);
}

/* SYSTEMS B, check 6: the table's rows, and four minutes from 14:30. */
static void test_tweets__check_6(void **state)
{
    tweet_store s;
    gf_error err;
    gf_buffer lines = {0}, got = {0};
    gf_slice some[] = {GF_SLICE("fr"), GF_SLICE("en")};
    const int64_t from = 1462458600 / 60;
    (void)state;
    tweet_store_open(&s);
    write_minute(&lines, 30, "en", 3);
    write_minute(&lines, 31, "en", 5);
    write_minute(&lines, 34, "en", 2);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    assert_slice(tweet_store_dump_of(&s, "TweetFrequency"),
                 "TweetFrequency\t201605051430\tlanguage\ten\t3\n"
                 "TweetFrequency\t201605051431\tlanguage\ten\t5\n"
                 "TweetFrequency\t201605051434\tlanguage\ten\t2\n");
    assert_ok(gf_tweets_frequency(s.tweets, GF_TWEETS_MINUTE, from, from + 3, NULL, 0, note_counts,
                                  &got, &err));
    assert_string_equal(gf_buffer_cstr(&got), "en: 3 5 0 0\n");
    gf_buffer_reset(&lines);
    write_minute(&lines, 33, "de", 1);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    gf_buffer_reset(&got);
    assert_ok(gf_tweets_frequency(s.tweets, GF_TWEETS_MINUTE, from, from + 3, NULL, 0, note_counts,
                                  &got, &err));
    assert_string_equal(gf_buffer_cstr(&got), "de: 0 0 0 1\nen: 3 5 0 0\n");
    gf_buffer_reset(&got);
    assert_ok(gf_tweets_frequency(s.tweets, GF_TWEETS_MINUTE, from, from + 3, some, 2, note_counts,
                                  &got, &err));
    assert_string_equal(gf_buffer_cstr(&got), "en: 3 5 0 0\nfr: 0 0 0 0\n");
    assert_status(GF_EINVAL, gf_tweets_frequency(s.tweets, GF_TWEETS_MINUTE, 2, 1, NULL, 0,
                                                 note_counts, &got, &err));
    assert_status(GF_ELIMIT, gf_tweets_frequency(s.tweets, GF_TWEETS_MINUTE, 0, GF_MOST_PERIODS,
                                                 NULL, 0, note_counts, &got, &err));
    gf_buffer_release(&lines);
    gf_buffer_release(&got);
    tweet_store_close(&s);
}

/* Hours and days are the sums of their minutes, whichever minute of them the range names. */
static void test_hours_and_days(void **state)
{
    static const struct {
        const char *time;
        int n;
    } given[] = {
        {"May 05 14:59", 3}, {"May 05 15:00", 2}, {"May 05 17:59", 1}, {"May 08 00:00", 4}};
    tweet_store s;
    gf_error err;
    gf_buffer lines = {0}, got = {0};
    int64_t first, last;
    (void)state;
    tweet_store_open(&s);
    assert_status(GF_ENOTFOUND, gf_tweets_minutes(s.tweets, &first, &last, &err));
    for (int i = 0; i < 4; i++)
        for (int n = 0; n < given[i].n; n++)
            gf_buffer_format(&lines,
                             "{\"created_at\":\"Thu %s:%02d +0000 2016\",\"id_str\":\"%d%d\","
                             "\"text\":\"x\",\"lang\":\"en\"}\n",
                             given[i].time, n, i, n);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    assert_ok(gf_tweets_minutes(s.tweets, &first, &last, &err));
    assert_int_equal(first, 1462460340 / 60);
    assert_int_equal(last, 1462665600 / 60);
    int64_t hour = first / 60, day = first / 1440;
    assert_ok(gf_tweets_frequency(s.tweets, GF_TWEETS_HOUR, hour, hour + 3, NULL, 0, note_counts,
                                  &got, &err));
    assert_ok(gf_tweets_frequency(s.tweets, GF_TWEETS_DAY, day, day + 3, NULL, 0, note_counts, &got,
                                  &err));
    assert_string_equal(gf_buffer_cstr(&got), "en: 3 2 0 1\nen: 6 0 0 4\n");
    gf_buffer_release(&lines);
    gf_buffer_release(&got);
    tweet_store_close(&s);
}

/* A display name that is another's screen name is not the user; the limit counts what is meant. */
static void test_users_and_languages(void **state)
{
    static const char *const users[] = {
        "{\"id_str\":\"7\",\"name\":\"x\",\"screen_name\":\"Ada\"}",
        "{\"id_str\":\"8\",\"name\":\"ada\",\"screen_name\":\"bob\"}"};
    static const char *const languages[] = {"en", "de", "fr"};
    gf_buffer lines = {0};
    tweet_store s;
    (void)state;
    tweet_store_open(&s);
    for (int i = 0; i < 6; i++)
        gf_buffer_format(&lines,
                         "{\"created_at\":\"Thu May 05 14:30:%02d +0000 2016\",\"id\":%d,"
                         "\"text\":\"word\",\"lang\":\"%s\",\"user\":%s}\n",
                         i, i, languages[i % 3], users[i % 2]);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    gf_tweets_query q = everything;
    gf_slice word = GF_SLICE("word");
    q.user = GF_SLICE("ADA");
    assert_found(&s, &q, "4 2 0");
    q.tokens = &word;
    q.n_tokens = 1;
    q.limit = 2;
    assert_found(&s, &q, "4 2");
    q.languages = GF_SLICE("d,en,de");
    assert_found(&s, &q, "4 0");
    q.user = GF_SLICE("");
    q.n_tokens = 0;
    q.user_id = GF_SLICE("8");
    assert_found(&s, &q, "3 1");
    q.oldest_first = true;
    q.limit = 1;
    assert_found(&s, &q, "1");
    q.languages = GF_SLICE("e");
    assert_found(&s, &q, "");
    gf_buffer_release(&lines);
    tweet_store_close(&s);
}

/* ---- tags and users -------------------------------------------------------------------------- */

static gf_status note_tag(void *context, const gf_tweets_tag_count *tag, gf_error *err)
{
    gf_buffer *to = context;
    gf_buffer_format(to, "%.*s %" PRIu64 "\n", GF_SLICE_ARG(tag->tag), tag->tweets);
    return gf_buffer_check(to, err);
}

static void test_top(void **state)
{
    static const char *const texts[] = {"#b #a #a", "#A and b", "#c!", "no tag, a #", "(#b) #a"};
    tweet_store s;
    gf_error err;
    gf_buffer lines = {0}, got = {0};
    (void)state;
    for (int i = 0; i < 5; i++)
        gf_buffer_format(&lines,
                         "{\"created_at\":\"Thu May 05 14:30:00 +0000 2016\",\"id\":%d,"
                         "\"text\":\"%s\"}\n",
                         i, texts[i]);
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    assert_ok(gf_tweets_top(s.tweets, &everything, 3, note_tag, &got, &err));
    assert_string_equal(gf_buffer_cstr(&got), "#a 3\n#b 2\n#c 1\n");
    gf_buffer_reset(&got);
    assert_ok(gf_tweets_top(s.tweets, &everything, 1, note_tag, &got, &err));
    assert_string_equal(gf_buffer_cstr(&got), "#a 3\n");
    gf_buffer_release(&lines);
    gf_buffer_release(&got);
    tweet_store_close(&s);
}

/* SYSTEMS B, check 10. */
static void test_tweets__check_10(void **state)
{
    (void)state;
    assert_near(gf_earth_distance((gf_geo_point){0, 0}, (gf_geo_point){0, 1}), 111.319491, 5e-7);
    assert_near(gf_earth_distance((gf_geo_point){0, 179.5}, (gf_geo_point){0, -179.5}), 111.319491,
                5e-7);
    assert_near(gf_earth_distance((gf_geo_point){90, 0}, (gf_geo_point){-90, 50}), 20037.508343,
                1e-5);
    assert_near(gf_earth_distance((gf_geo_point){5, 5}, (gf_geo_point){5, 5}), 0, 0);
}

static void test_areas(void **state)
{
    gf_geo_point square[12] = {
        {0, 179.95}, {0.1, 179.95}, {0.1, -179.95}, {0, -179.95}, {0.05, 180}};
    gf_geo_point line[6] = {{0, 0}, {0, 1}, {0, 2}};
    gf_geo_point opposite[6] = {{0, 0}, {0, 180}, {0, 90}};
    gf_geo_point cap[72];
    gf_geo_point room[72];
    (void)state;
    assert_near(gf_earth_hull_area(square, 5, room), 11.1319491 * 11.1319491, 0.001);
    assert_near(gf_earth_hull_area(line, 3, room), 0, 1e-6);
    assert_true(gf_earth_hull_area(opposite, 3, room) >= 0);
    assert_near(gf_earth_hull_area(line, 2, room), 0, 0);
    /* Around the pole: 72 points at 80 degrees; a regular polygon in the circle of the cap. */
    for (int i = 0; i < 72; i++)
        cap[i] = (gf_geo_point){80, i * 5 - 180};
    double circle =
        2 * 3.141592653589793 * 6378.137 * 6378.137 * (1 - sin(80 * 0.017453292519943295));
    double polygon = circle * 72 / (2 * 3.141592653589793) * sin(2 * 3.141592653589793 / 72);
    assert_near(gf_earth_hull_area(cap, 72, room) / polygon, 1, 1e-9);
}

static gf_status note_user(void *context, const gf_tweets_user *u, gf_error *err)
{
    gf_buffer *to = context;
    gf_buffer_format(to, "%.*s/%.*s %" PRIu64 " %.3f %.0f\n", GF_SLICE_ARG(u->id),
                     GF_SLICE_ARG(u->screen_name), u->tweets, u->path, u->area);
    return gf_buffer_check(to, err);
}

static void write_step(gf_buffer *lines, int second, const char *user, double longitude,
                       double latitude)
{
    gf_buffer_format(lines,
                     "{\"created_at\":\"Thu May 05 14:30:%02d +0000 2016\",\"text\":\"x\","
                     "\"user\":{%s},\"coordinates\":{\"coordinates\":[%g,%g]}}\n",
                     second, user, longitude, latitude);
}

static void test_highscore(void **state)
{
    tweet_store s;
    gf_error err;
    gf_buffer lines = {0}, got = {0};
    (void)state;
    write_step(&lines, 2, "\"screen_name\":\"Ann\"", 1, 0);
    write_step(&lines, 1, "\"screen_name\":\"ANN\"", 0, 0);
    write_step(&lines, 3, "\"screen_name\":\"Ann\"", 0, 0);
    write_step(&lines, 1, "\"id\":7,\"screen_name\":\"bo\"", 0, 0);
    write_step(&lines, 2, "\"id_str\":\"7\",\"screen_name\":\"bob\"", 0, 0.5);
    write_step(&lines, 3, "\"id\":7,\"screen_name\":\"bob\"", 0.5, 0.5);
    write_step(&lines, 1, "\"name\":\"nobody\"", 0, 0);
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_buffer_view(&lines));
    assert_ok(gf_tweets_highscore(s.tweets, &everything, false, 10, note_user, &got, &err));
    assert_string_equal(gf_buffer_cstr(&got), "/Ann 3 222.639 0\n7/bob 3 111.317 0\n");
    gf_buffer_reset(&got);
    assert_ok(gf_tweets_highscore(s.tweets, &everything, true, 1, note_user, &got, &err));
    assert_string_equal(gf_buffer_cstr(&got), "7/bob 3 111.317 1549\n");
    gf_buffer_release(&lines);
    gf_buffer_release(&got);
    tweet_store_close(&s);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static gf_status ask_everything(void *context, gf_error *err)
{
    tweet_store *s = context;
    gf_buffer got = {0};
    gf_slice tokens[] = {GF_SLICE("apa*"), GF_SLICE("tweet")};
    gf_geo_box whole = {-180, -90, 180, 90};
    gf_tweets_query q = everything;
    q.tokens = tokens;
    q.n_tokens = 2;
    q.box = &whole;
    gf_status st = gf_tweets_query_run(s->tweets, &q, note_id, &got, err);
    if (st == GF_OK) st = gf_tweets_top(s->tweets, &everything, 9, note_tag, &got, err);
    if (st == GF_OK) st = gf_tweets_highscore(s->tweets, &q, true, 9, note_user, &got, err);
    if (st == GF_OK) st = gf_tweets_grid(s->tweets, &q, 6, 9, write_cell, &got, err);
    if (st == GF_OK) st = gf_tweets_grid(s->tweets, &everything, 6, 9, write_cell, &got, err);
    if (st == GF_OK)
        st = gf_tweets_frequency(s->tweets, GF_TWEETS_MINUTE, 1462458600 / 60, 1462458600 / 60 + 3,
                                 NULL, 0, note_counts, &got, err);
    gf_buffer_release(&got);
    return st;
}

static void test_allocation_sweep(void **state)
{
    tweet_store s;
    (void)state;
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_APACHE "\n"));
    gf_test_sweep(ask_everything, NULL, &s);
    tweet_store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tweets__check_8),
                                       cmocka_unit_test(test_namespaces),
                                       cmocka_unit_test(test_tweets__check_7),
                                       cmocka_unit_test(test_times),
                                       cmocka_unit_test(test_grid),
                                       cmocka_unit_test(test_random_boxes),
                                       cmocka_unit_test(test_tweets__check_6),
                                       cmocka_unit_test(test_hours_and_days),
                                       cmocka_unit_test(test_users_and_languages),
                                       cmocka_unit_test(test_top),
                                       cmocka_unit_test(test_tweets__check_10),
                                       cmocka_unit_test(test_areas),
                                       cmocka_unit_test(test_highscore),
                                       cmocka_unit_test(test_allocation_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
