/* One tweet: what is read of it, its rows, its terms; and the rows of the tables, byte for byte. */
#include "tests/apps/tweet_store.h"

#include "base/memory.h"
#include "base/murmur.h"

/* ---- keys ------------------------------------------------------------------------------------ */

static void assert_row(gf_tweets_hash hash, const char *hex)
{
    char row[GF_TWEET_ROW], text[2 * GF_TWEET_ROW + 1];
    gf_tweets_row(hash, 1461920755, GF_SLICE(TWEET_HASELNUSS), row);
    for (int i = 0; i < GF_TWEET_ROW; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)row[i]);
    assert_string_equal(text, hex);
}

/* SYSTEMS B, check 2: the row. */
static void test_tweets__check_2_row(void **state)
{
    (void)state;
    assert_int_equal(sizeof TWEET_HASELNUSS - 1, 238);
    assert_row(GF_TWEETS_MURMUR2, "00000000572323f34d12f1a4");
    assert_row(GF_TWEETS_MURMUR3, "00000000572323f32dac6e8a");
    assert_int_equal(gf_tweets_spread(GF_TWEETS_MURMUR3, 0x2dac6e8a), 210);
}

/* SYSTEMS B, check 5. */
static void test_tweets__check_5(void **state)
{
    (void)state;
    uint32_t a = gf_murmur3(GF_SLICE("{\"id\":391}"), 0),
             b = gf_murmur3(GF_SLICE("{\"id\":766}"), 0);
    assert_int_equal(gf_tweets_spread(GF_TWEETS_MURMUR3, a), 255);
    assert_int_equal(gf_tweets_spread(GF_TWEETS_MURMUR3, b), 0);
    assert_int_equal(gf_tweets_spread(GF_TWEETS_MURMUR2, 0xFFFFFFFE), 0xFFFFFFFE % 255);
}

static void test_minutes(void **state)
{
    char minute[GF_TWEET_MINUTE];
    (void)state;
    gf_tweets_minute(1462458659, minute);
    assert_slice(gf_slice_of(minute, sizeof minute), "201605051430");
    gf_tweets_minute(0, minute);
    assert_slice(gf_slice_of(minute, sizeof minute), "197001010000");
    gf_tweets_minute(GF_TWEET_LAST_SECOND, minute);
    assert_slice(gf_slice_of(minute, sizeof minute), "205909182359");
}

/* ---- terms ----------------------------------------------------------------------------------- */

static void assert_terms(const char *text, const char *expected)
{
    gf_error err;
    gf_tweets_terms terms = {0};
    gf_tweet tweet = {.text = gf_slice_str(text)};
    gf_buffer list = {0};
    assert_ok(gf_tweets_find_terms(&terms, &tweet, GF_TWEETS_RULES, &err));
    for (size_t i = 0; i < terms.n; i++) {
        gf_buffer_format(&list, "%s%.*s", i ? " " : "", GF_SLICE_ARG(terms.terms[i].term));
        if (terms.terms[i].count > 1) gf_buffer_format(&list, "=%u", terms.terms[i].count);
    }
    assert_string_equal(gf_buffer_cstr(&list), expected);
    gf_tweets_terms_release(&terms);
    gf_buffer_release(&list);
}

/* SYSTEMS B, check 3. */
static void test_tweets__check_3(void **state)
{
    (void)state;
    assert_terms("A tweet about #ApacheAccumulo and #ApacheFlink and",
                 "#apacheaccumulo #apacheflink about and=2 apacheaccumulo apacheflink tweet");
}

static void test_words(void **state)
{
    (void)state;
    assert_terms("", "");
    assert_terms(" \t\n", "");
    assert_terms("it's (a) \"test\": 1+1 [x*y]!", "11 its test xy");
    assert_terms("#a @b # @ ## #ab", "## #a #ab @b ab"); /* of #a and @b the rest is too short */
    assert_terms("@Some_One: .#Tag!", "#tag @some_one some_one tag");
    assert_terms("tag #tag #tag", "#tag=2 tag=3");
    assert_terms("a\xC2\xA0"
                 "bc\xE3\x80\x80"
                 "de\xE2\x80\xA8"
                 "fg",
                 "bc de fg");
    assert_terms("\xC3\x84RGER \xC3\x9C \xE6\x97\xA5 \xE6\x97\xA5\xE6\x9C\xAC",
                 "\xC3\xA4rger \xE6\x97\xA5\xE6\x9C\xAC");
    assert_terms("\xCE\x9F\xCE\x94\xCE\x9F\xCE\xA3",
                 "\xCE\xBF\xCE\xB4\xCE\xBF\xCF\x82");       /* final */
    assert_terms("\xC4\xB0\xC4\xB0", "i\xCC\x87i\xCC\x87"); /* longer than before */
}

static void test_users_are_whole(void **state)
{
    gf_error err;
    gf_tweets_terms terms = {0};
    gf_tweet same = {
        .name = GF_SLICE("One"), .screen_name = GF_SLICE("oNE"), .text = GF_SLICE("one")};
    (void)state;
    assert_ok(gf_tweets_find_terms(&terms, &same, GF_TWEETS_RULES, &err));
    assert_int_equal(terms.n, 2);
    assert_false(terms.terms[0].of_user);
    assert_true(terms.terms[1].of_user);
    assert_int_equal(terms.terms[1].count, 2);
    gf_tweets_terms_release(&terms);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reading {
    gf_tweets_parser *parser;
    gf_buffer padded;
    gf_tweet tweet;
    gf_record record;
} reading;

static void read_json(reading *r, const char *json)
{
    gf_error err;
    gf_buffer_reset(&r->padded);
    gf_buffer_str(&r->padded, json);
    assert_non_null(gf_buffer_reserve(&r->padded, 64));
    r->tweet = (gf_tweet){0};
    assert_ok(gf_tweets_parse(r->parser, gf_buffer_view(&r->padded), &r->tweet, &r->record, &err));
}

static void assert_read(reading *r, const char *reason, const char *json)
{
    read_json(r, json);
    if (reason && (r->record.kind == GF_RECORD_DOCUMENT || strcmp(r->record.reason, reason) != 0))
        fail_msg("%s: not %s", json, reason);
    if (!reason && r->record.kind != GF_RECORD_DOCUMENT)
        fail_msg("%s: %s", json, r->record.message);
}

#define AT "\"created_at\":\"Fri Apr 29 09:05:55 +0000 2016\""

static void test_reasons(void **state)
{
    reading r = {0};
    gf_error err;
    (void)state;
    assert_ok(gf_tweets_parser_create(&r.parser, &err));
    assert_read(&r, NULL, "{" AT ",\"text\":\"\"}");
    assert_read(&r, "broken_json", "{" AT ",\"text\":\"\"");
    assert_read(&r, "broken_json", "");
    assert_read(&r, "bad_type", "[1]");
    assert_read(&r, "bad_type", "{" AT ",\"text\":1}");
    assert_read(&r, "bad_type", "{" AT ",\"text\":\"a\",\"user\":\"b\"}");
    assert_read(&r, "bad_type", "{" AT ",\"text\":\"a\",\"user\":{\"name\":1}}");
    assert_read(&r, "bad_type", "{" AT ",\"text\":\"a\",\"lang\":[]}");
    assert_read(&r, "no_text", "{" AT "}");
    assert_read(&r, "no_text", "{" AT ",\"text\":null}");
    assert_read(&r, "no_time", "{\"text\":\"a\"}");
    assert_read(&r, "bad_time", "{\"text\":\"a\",\"created_at\":\"yesterday\"}");
    assert_read(&r, "bad_time", "{\"text\":\"a\",\"created_at\":\"1969-12-31T23:59:59Z\"}");
    assert_read(&r, "stream_message", "{\"delete\":{\"status\":{\"id\":1}}}");
    assert_read(&r, "stream_message", "{\"limit\":{\"track\":5}}");
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.padded);
}

/* ---- the whole text -------------------------------------------------------------------------- */

#define RETWEETED(members)                                                                         \
    "{" AT ",\"text\":\"RT @ada: cut\u2026\",\"retweeted_status\":{" members "}}"
#define ADA "\"user\":{\"screen_name\":\"ada\"}"

static void test_whole_texts(void **state)
{
    static const struct {
        const char *json, *text, *short_text;
    } cases[] = {
        {"{" AT ",\"text\":\"a\"}", "a", "a"},
        {"{" AT ",\"full_text\":\"a\"}", "a", "a"},
        {"{" AT ",\"full_text\":\"all\",\"text\":\"a\"}", "all", "a"},
        {"{" AT ",\"extended_tweet\":{\"full_text\":\"a b\"},\"text\":\"a\"}", "a b", "a"},
        {"{" AT ",\"text\":\"a\",\"note_tweet\":{\"text\":\"a note\"}}", "a note", "a"},
        {"{" AT ",\"text\":\"a\",\"note_tweet\":{\"is_expandable\":true,\"note_tweet_results\":"
         "{\"result\":{\"id\":\"x\",\"text\":\"a long note\"}}}}",
         "a long note", "a"},
        {"{" AT ",\"text\":\"a\",\"extended_tweet\":{\"full_text\":\"b\"},"
         "\"note_tweet\":{\"text\":\"note\"}}",
         "note", "a"},
        {RETWEETED("\"text\":\"not cut\"," ADA), "RT @ada: not cut", "RT @ada: cut\xE2\x80\xA6"},
        {RETWEETED("\"text\":\"b\",\"extended_tweet\":{\"full_text\":\"all\"}," ADA),
         "RT @ada: all", "RT @ada: cut\xE2\x80\xA6"},
        {RETWEETED("\"text\":\"b\",\"note_tweet\":{\"text\":\"note\"}," ADA), "RT @ada: note",
         "RT @ada: cut\xE2\x80\xA6"},
        {RETWEETED("\"full_text\":\"full\"," ADA), "RT @ada: full", "RT @ada: cut\xE2\x80\xA6"},
        /* a quoted tweet is another one */
        {"{" AT ",\"text\":\"a\",\"quoted_status\":{\"text\":\"b\"}}", "a", "a"},
        /* no texts: passed over */
        {RETWEETED("\"text\":\"no user\""), "RT @ada: cut\xE2\x80\xA6", "RT @ada: cut\xE2\x80\xA6"},
        {RETWEETED("\"text\":1," ADA), "RT @ada: cut\xE2\x80\xA6", "RT @ada: cut\xE2\x80\xA6"},
        {"{" AT ",\"text\":\"a\",\"extended_tweet\":{\"full_text\":null},\"note_tweet\":[1],"
         "\"retweeted_status\":null}",
         "a", "a"},
        {"{" AT ",\"text\":\"a\",\"extended_tweet\":{\"full_text\":\"\"},\"note_tweet\":{},"
         "\"retweeted_status\":{}}",
         "a", "a"},
    };
    reading r = {0};
    gf_error err;
    (void)state;
    assert_ok(gf_tweets_parser_create(&r.parser, &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_read(&r, NULL, cases[i].json);
        assert_slice(r.tweet.text, cases[i].text);
        assert_slice(r.tweet.short_text, cases[i].short_text);
    }
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.padded);
}

static void assert_tags(reading *r, const char *json, const char *expected)
{
    gf_error err;
    gf_tweets_tags tags = {0};
    gf_buffer list = {0};
    assert_read(r, NULL, json);
    assert_ok(gf_tweets_find_tags(&tags, &r->tweet, &err));
    for (size_t i = 0; i < tags.n; i++)
        gf_buffer_format(&list, "%s%.*s", i ? " " : "", GF_SLICE_ARG(tags.tags[i]));
    assert_string_equal(gf_buffer_cstr(&list), expected);
    gf_tweets_tags_release(&tags);
    gf_buffer_release(&list);
}

#define TAGS(name, tag) "\"entities\":{\"hashtags\":[{\"" name "\":\"" tag "\"}]}"

static void test_hashtags(void **state)
{
    reading r = {0};
    gf_error err;
    (void)state;
    assert_ok(gf_tweets_parser_create(&r.parser, &err));
    /* from the text: # and word characters, wherever they are */
    assert_tags(&r, "{" AT ",\"text\":\"\"}", "");
    assert_tags(&r, "{" AT ",\"text\":\"#B, (#a)! it's x#c's #B: # #- ##d #e-f\"}",
                "#a #b #c #d #e");
    assert_tags(&r, "{" AT ",\"text\":\"&#39;tis #snow_2 #\u00dcber\u2026 #\u65e5\u672c\u3002\"}",
                "#snow_2 #\xC3\xBC"
                "ber #\xE6\x97\xA5\xE6\x9C\xAC");
    /* from the entities, where they are */
    assert_tags(&r, "{" AT ",\"text\":\"#a #1\"," TAGS("text", "A") "}", "#a");
    assert_tags(&r, "{" AT ",\"text\":\"#a #1\"," TAGS("tag", "B") "}", "#b");
    assert_tags(&r, "{" AT ",\"text\":\"#1\",\"entities\":{\"hashtags\":[]}}", "");
    assert_tags(&r,
                "{" AT ",\"text\":\"#x\",\"entities\":{\"hashtags\":[1,{},{\"text\":\"\"},"
                "{\"text\":2},{\"text\":\"q\"},{\"text\":\"Q\"}]}}",
                "#q");
    assert_tags(&r, "{" AT ",\"text\":\"#a\",\"entities\":{\"urls\":[]}}", "#a");
    assert_tags(&r, "{" AT ",\"text\":\"#a\",\"entities\":[]}", "#a");
    /* of the whole text, and with it */
    assert_tags(&r,
                "{" AT ",\"text\":\"#a\"," TAGS("text", "a") ",\"extended_tweet\":{"
                                                             "\"full_text\":\"#a #b\"," TAGS(
                                                                 "text", "b") "}}",
                "#b");
    assert_tags(&r,
                "{" AT ",\"text\":\"#a\"," TAGS("text", "a") ",\"extended_tweet\":{"
                                                             "\"full_text\":\"#a #b\"}}",
                "#a #b");
    assert_tags(&r,
                "{" AT ",\"text\":\"RT @ada: #cu\u2026\"," TAGS(
                    "text", "cu") ",\"retweeted_status\":{\"text\":\"#cut\"," ADA
                                  "," TAGS("text", "Cut") "}}",
                "#cut");
    assert_tags(&r,
                "{" AT ",\"text\":\"a\",\"note_tweet\":{\"note_tweet_results\":{\"result\":{"
                "\"text\":\"b\",\"entity_set\":{\"hashtags\":[{\"text\":\"n\"}]}}}}}",
                "#n");
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.padded);
}

/* A whole text that cannot be indexed refuses no tweet that was taken without it. */
static void test_whole_text_with_a_long_word(void **state)
{
    reading r = {0};
    gf_error err;
    gf_buffer json = {0};
    (void)state;
    assert_ok(gf_tweets_parser_create(&r.parser, &err));
    for (int more = 0; more < 2; more++) {
        gf_buffer_reset(&json);
        gf_buffer_str(&json, "{" AT ",\"text\":\"a\",\"extended_tweet\":{\"full_text\":\"");
        for (int i = 0; i < GF_TWEETS_MOST_TERM + more; i++)
            gf_buffer_byte(&json, 'x');
        gf_buffer_str(&json, "\"}}");
        assert_read(&r, NULL, gf_buffer_cstr(&json));
        assert_int_equal(r.tweet.text.len, more ? 1 : GF_TWEETS_MOST_TERM);
    }
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.padded);
    gf_buffer_release(&json);
}

/* SYSTEMS B, check 7: a day after 2059 is an error, not a wrong row. */
static void test_tweets__check_7_day(void **state)
{
    reading r = {0};
    gf_error err;
    (void)state;
    assert_ok(gf_tweets_parser_create(&r.parser, &err));
    assert_read(&r, NULL, "{\"text\":\"a\",\"created_at\":\"2059-09-18T23:59:59Z\"}");
    assert_true(r.tweet.seconds == GF_TWEET_LAST_SECOND);
    assert_read(&r, "bad_time", "{\"text\":\"a\",\"created_at\":\"2059-09-19T00:00:00Z\"}");
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.padded);
}

static void test_long_names_are_refused(void **state)
{
    reading r = {0};
    gf_error err;
    gf_buffer json = {0};
    (void)state;
    assert_ok(gf_tweets_parser_create(&r.parser, &err));
    for (int more = 0; more < 2; more++) {
        gf_buffer_reset(&json);
        gf_buffer_str(&json, "{" AT ",\"text\":\"");
        for (int i = 0; i < GF_TWEETS_MOST_TERM + more; i++)
            gf_buffer_byte(&json, 'x');
        gf_buffer_str(&json, "\"}");
        assert_read(&r, more ? "too_long" : NULL, gf_buffer_cstr(&json));
    }
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.padded);
    gf_buffer_release(&json);
}

static void assert_place(reading *r, const char *members, double latitude, double longitude)
{
    gf_buffer json = {0};
    gf_buffer_format(&json, "{" AT ",\"text\":\"\",%s}", members);
    assert_read(r, NULL, gf_buffer_cstr(&json));
    assert_true(r->tweet.has_place);
    assert_true(r->tweet.place.latitude == latitude && r->tweet.place.longitude == longitude);
    gf_buffer_release(&json);
}

#define BOX(ring) "\"place\":{\"bounding_box\":{\"type\":\"Polygon\",\"coordinates\":[" ring "]}}"
#define CORNERS   "[[10,50],[10,52],[14,52],[14,50]]"

static void test_places(void **state)
{
    reading r = {0};
    gf_error err;
    static const char *const nowhere[] = {"\"coordinates\":null,\"place\":null",
                                          "\"coordinates\":{\"coordinates\":[181,0]}",
                                          "\"coordinates\":{\"coordinates\":[1]}",
                                          "\"coordinates\":{\"coordinates\":[\"1\",2]}",
                                          "\"coordinates\":[1,2]",
                                          BOX("[[10,50],[10,52],[14,52]]"),
                                          BOX("[[10,50],[10,52],[14,52],[14,95]]"),
                                          "\"place\":{\"bounding_box\":null}"};
    (void)state;
    assert_ok(gf_tweets_parser_create(&r.parser, &err));
    assert_place(&r, "\"coordinates\":{\"coordinates\":[12.3731,51.3397]}", 51.3397, 12.3731);
    assert_place(&r, BOX(CORNERS), 51, 12);
    assert_place(&r, BOX("[[10,50],[10,52],[14,52],[14,50],[10,50]]"), 51, 12);
    assert_place(&r, "\"coordinates\":{\"coordinates\":[1,2]}," BOX(CORNERS), 2, 1);
    assert_place(&r, "\"coordinates\":null," BOX(CORNERS), 51, 12);
    assert_place(&r, "\"coordinates\":{\"coordinates\":[1,99]}," BOX(CORNERS), 51, 12);
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        gf_buffer json = {0};
        gf_buffer_format(&json, "{" AT ",\"text\":\"\",%s}", nowhere[i]);
        assert_read(&r, NULL, gf_buffer_cstr(&json));
        if (r.tweet.has_place) fail_msg("%s", nowhere[i]);
        gf_buffer_release(&json);
    }
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.padded);
}

static void test_damaged_text_is_repaired(void **state)
{
    reading r = {0};
    gf_error err;
    gf_buffer json = {0};
    (void)state;
    assert_ok(gf_tweets_parser_create(&r.parser, &err));
    assert_read(&r, NULL, "{" AT ",\"text\":\"a\xFF \\ud83d\",\"id\":18446744073709551615}");
    assert_int_equal(r.record.replaced, 2);
    assert_slice(r.tweet.text, "a\xEF\xBF\xBD \xEF\xBF\xBD");
    assert_slice(r.tweet.id, "18446744073709551615");
    assert_slice(r.tweet.lang, "und");
    assert_ok(gf_tweets_write_json(r.parser, &json, &err));
    assert_slice(gf_buffer_view(&json), "{" AT ",\"text\":\"a\xEF\xBF\xBD \xEF\xBF\xBD\","
                                        "\"id\":18446744073709551615}");
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.padded);
    gf_buffer_release(&json);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* SYSTEMS B, check 2: all rows of a tweet without a place. */
static void test_tweets__check_2(void **state)
{
    tweet_store s;
    (void)state;
    tweet_store_open(&s);
    gf_tweets_counts c = tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_HASELNUSS "\n"));
    assert_int_equal(c.created, 1);
    assert_int_equal(c.with_place, 0);
#define ROW "00000000572323f34d12f1a4"
    assert_string_equal(tweet_store_dump(&s), "RawTwitterData\t" ROW "\tt\t\t" TWEET_HASELNUSS "\n"
                                              "TermIndex\t#haselnuss\ttext\t" ROW "\t\n"
                                              "TermIndex\tdas\ttext\t" ROW "\t2\n"
                                              "TermIndex\tdir\ttext\t" ROW "\t\n"
                                              "TermIndex\tdoch\ttext\t" ROW "\t\n"
                                              "TermIndex\tfunktioniert\ttext\t" ROW "\t\n"
                                              "TermIndex\tgleich\ttext\t" ROW "\t\n"
                                              "TermIndex\thaselnuss\ttext\t" ROW "\t\n"
                                              "TermIndex\tich\ttext\t" ROW "\t\n"
                                              "TermIndex\tnie\ttext\t" ROW "\t\n"
                                              "TermIndex\tsage\ttext\t" ROW "\t\n"
                                              "TermIndex\tpeter tosh\tuser\t" ROW "\t\n"
                                              "TermIndex\tpeto\tuser\t" ROW "\t\n"
                                              "TweetFrequency\t201604290905\tlanguage\tund\t1\n");
#undef ROW
    tweet_store_close(&s);
}

/* SYSTEMS B, check 9: twice is once; without a place the other three tables are filled. */
static void test_tweets__check_9(void **state)
{
    tweet_store s;
    gf_buffer first = {0};
    (void)state;
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_HASELNUSS "\n" TWEET_APACHE "\n"));
    gf_buffer_str(&first, tweet_store_dump(&s));
    gf_tweets_counts c = tweet_store_import(
        &s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_APACHE "\n" TWEET_APACHE "\n" TWEET_HASELNUSS "\n"));
    assert_int_equal(c.created, 0);
    assert_int_equal(c.unchanged, 3);
    assert_string_equal(tweet_store_dump(&s), gf_buffer_cstr(&first));
    assert_non_null(
        strstr(gf_buffer_cstr(&first), "TweetFrequency\t201605051430\tlanguage\ten\t1\n"));
    assert_non_null(
        strstr(gf_buffer_cstr(&first), "TweetFrequency\t201604290905\tlanguage\tund\t1\n"));
    gf_buffer_release(&first);
    tweet_store_close(&s);
}

/* The same within one import, which has not written it yet. */
static void test_twice_in_a_batch(void **state)
{
    tweet_store s;
    (void)state;
    tweet_store_open(&s);
    gf_tweets_counts c =
        tweet_store_import(&s, GF_TWEETS_MURMUR3, GF_SLICE(TWEET_APACHE "\n" TWEET_APACHE "\n"));
    assert_int_equal(c.created, 1);
    assert_int_equal(c.unchanged, 1);
    assert_non_null(
        strstr(tweet_store_dump(&s), "TweetFrequency\t201605051430\tlanguage\ten\t1\n"));
    tweet_store_close(&s);
}

/* The geographic row: spreading byte, day 16926 = 421e, geohash; the two floats. */
static void test_geo_row(void **state)
{
    tweet_store s;
    char expected[256];
    (void)state;
    for (int hash = 0; hash < 2; hash++) {
        tweet_store_open(&s);
        uint32_t h =
            hash ? gf_murmur3(GF_SLICE(TWEET_APACHE), 0) : gf_murmur2(GF_SLICE(TWEET_APACHE), 0);
        unsigned spread = hash ? (unsigned)((int32_t)h % 255) & 255 : h % 255;
        tweet_store_import(&s, (gf_tweets_hash)hash, GF_SLICE(TWEET_APACHE "\n"));
        /* 51.3397f = 424d5bda, 12.3731f = 4145f838 */
        snprintf(expected, sizeof expected,
                 "GeoTemporalIndex\t%02x421e7533307531643167\ttweets\t00000000572b58e8%08x\t"
                 "424d5bda4145f838\n",
                 spread, h);
        gf_buffer got = {0};
        gf_buffer_slice(&got, tweet_store_dump_of(&s, "GeoTemporalIndex"));
        assert_string_equal(gf_buffer_cstr(&got), expected);
        gf_buffer_release(&got);
        tweet_store_close(&s);
    }
}

static void test_hash_is_kept(void **state)
{
    tweet_store s;
    gf_error err;
    gf_tweets_import *import;
    gf_tweets_info info;
    (void)state;
    tweet_store_open(&s);
    assert_ok(gf_tweets_read_info(s.tweets, &info, &err));
    assert_false(info.any);
    tweet_store_import(&s, GF_TWEETS_MURMUR3, GF_SLICE(TWEET_APACHE "\n"));
    assert_ok(gf_tweets_read_info(s.tweets, &info, &err));
    assert_true(info.any && info.hash == GF_TWEETS_MURMUR3 && info.tweets == 1 &&
                info.with_place == 1);
    gf_tweets_import_options o = {.hash_given = true, .hash = GF_TWEETS_MURMUR2};
    assert_status(GF_EINVAL, gf_tweets_import_open(s.tweets, &o, &import, &err));
    assert_non_null(strstr(err.message, "murmur3"));
    o.hash_given = false; /* whatever they are kept under */
    assert_ok(gf_tweets_import_open(s.tweets, &o, &import, &err));
    gf_tweets_import_close(import);
    tweet_store_close(&s);
}

/* ---- several importers, time, memory --------------------------------------------------------- */

static void add_one(gf_tweets_import *import, gf_tweets_parser *parser, const char *json)
{
    gf_error err;
    gf_tweet tweet;
    assert_ok(gf_tweets_parse_stored(parser, gf_slice_str(json), &tweet, &err));
    assert_ok(gf_tweets_import_add(import, gf_slice_str(json), &tweet, &err));
}

/* Two importers that have seen the same state: the second finds out, and counts nothing twice. */
static void test_importers_do_not_count_twice(void **state)
{
    tweet_store s;
    gf_error err;
    gf_tweets_import *a, *b;
    gf_tweets_parser *parser;
    gf_tweets_import_options slow = {.flush_ms = 1000000};
    (void)state;
    tweet_store_open(&s);
    assert_ok(gf_tweets_parser_create(&parser, &err));
    assert_ok(gf_tweets_import_open(s.tweets, &slow, &a, &err));
    assert_ok(gf_tweets_import_open(s.tweets, &slow, &b, &err));
    add_one(a, parser, TWEET_APACHE);
    add_one(b, parser, TWEET_APACHE);
    add_one(b, parser, TWEET_HASELNUSS);
    assert_ok(gf_tweets_import_flush(a, &err));
    assert_ok(gf_tweets_import_flush(b, &err));
    assert_int_equal(gf_tweets_import_counted(a).created, 1);
    assert_int_equal(gf_tweets_import_counted(b).created, 1);
    assert_int_equal(gf_tweets_import_counted(b).unchanged, 1);
    assert_non_null(
        strstr(tweet_store_dump(&s), "TweetFrequency\t201605051430\tlanguage\ten\t1\n"));
    gf_tweets_import_close(a);
    gf_tweets_import_close(b);
    gf_tweets_parser_free(parser);
    tweet_store_close(&s);
}

typedef struct sweep {
    tweet_store store;
    bool swept;
} sweep;

static gf_status import_two(void *context, gf_error *err)
{
    sweep *w = context;
    gf_tweets_import *import = NULL;
    gf_tweets_parser *parser = NULL;
    gf_tweet tweet;
    gf_tweets_import_options o = {.flush_ms = 1000000};
    gf_status st = gf_tweets_import_open(w->store.tweets, &o, &import, err);
    if (st == GF_OK) st = gf_tweets_parser_create(&parser, err);
    if (st == GF_OK) st = gf_tweets_parse_stored(parser, GF_SLICE(TWEET_APACHE), &tweet, err);
    if (st == GF_OK) st = gf_tweets_import_add(import, GF_SLICE(TWEET_APACHE), &tweet, err);
    if (st == GF_OK) st = gf_tweets_import_flush(import, err);
    gf_tweets_import_close(import);
    gf_tweets_parser_free(parser);
    return st;
}

/* A tweet is in all tables, or in none. */
static void check_whole(void *context)
{
    sweep *w = context;
    const char *dump = tweet_store_dump(&w->store);
    if (*dump == '\0') return;
    assert_non_null(strstr(dump, "TweetFrequency\t201605051430\tlanguage\ten\t1\n"));
    assert_non_null(strstr(dump, "RawTwitterData\t"));
    assert_non_null(strstr(dump, "GeoTemporalIndex\t"));
    assert_non_null(strstr(dump, "TermIndex\tuser1\tuser"));
}

static void test_allocation_sweep(void **state)
{
    sweep w = {.swept = false};
    (void)state;
    tweet_store_open(&w.store);
    gf_test_sweep(import_two, check_whole, &w);
    check_whole(&w);
    tweet_store_close(&w.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tweets__check_2_row),
                                       cmocka_unit_test(test_tweets__check_5),
                                       cmocka_unit_test(test_minutes),
                                       cmocka_unit_test(test_tweets__check_3),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_users_are_whole),
                                       cmocka_unit_test(test_reasons),
                                       cmocka_unit_test(test_tweets__check_7_day),
                                       cmocka_unit_test(test_long_names_are_refused),
                                       cmocka_unit_test(test_whole_texts),
                                       cmocka_unit_test(test_hashtags),
                                       cmocka_unit_test(test_whole_text_with_a_long_word),
                                       cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_damaged_text_is_repaired),
                                       cmocka_unit_test(test_tweets__check_2),
                                       cmocka_unit_test(test_tweets__check_9),
                                       cmocka_unit_test(test_twice_in_a_batch),
                                       cmocka_unit_test(test_geo_row),
                                       cmocka_unit_test(test_hash_is_kept),
                                       cmocka_unit_test(test_importers_do_not_count_twice),
                                       cmocka_unit_test(test_allocation_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
