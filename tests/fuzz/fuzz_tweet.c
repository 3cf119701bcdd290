/*
 * A line of any bytes as a tweet: it is refused with a reason, or read, and what was read of it can
 * be indexed: its second, its place and its terms make keys that the tables take.
 */
#include "apps/tweets/tweets.h"

#include "base/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(bool holds)
{
    if (!holds) abort();
}

static int compare(const gf_tweets_term *a, const gf_tweets_term *b)
{
    if (a->of_user != b->of_user) return a->of_user ? 1 : -1;
    return gf_slice_compare(a->term, b->term);
}

static void check_terms(const gf_tweet *tweet)
{
    gf_tweets_terms terms = {0};
    gf_error err;
    check(gf_tweets_find_terms(&terms, tweet, GF_TWEETS_RULES, &err) == GF_OK);
    for (size_t i = 0; i < terms.n; i++) {
        const gf_tweets_term *t = &terms.terms[i];
        check(t->count > 0 && t->term.len > 0 && t->term.len <= GF_TWEETS_MOST_TERM * 3);
        check(gf_utf8_valid_length(t->term) == t->term.len);
        check(t->of_user || gf_utf8_count(t->term) >= 2 || t->term.ptr[0] != '#');
        check(i == 0 || compare(t - 1, t) < 0);
    }
    gf_tweets_terms_release(&terms);
}

/* What is written reads as the same tweet. */
static void check_again(gf_tweets_parser *parser, const gf_tweet *tweet)
{
    gf_buffer json = {0};
    gf_tweet again;
    gf_tweets_parser *other;
    gf_error err;
    check(gf_tweets_write_json(parser, &json, &err) == GF_OK);
    check(gf_tweets_parser_create(&other, &err) == GF_OK);
    check(gf_tweets_parse_stored(other, gf_buffer_view(&json), &again, &err) == GF_OK);
    check(again.seconds == tweet->seconds && again.has_place == tweet->has_place);
    check(gf_slice_equal(again.text, tweet->text) && gf_slice_equal(again.id, tweet->id));
    gf_tweets_parser_free(other);
    gf_buffer_release(&json);
}

static void check_tweet(gf_tweets_parser *parser, const gf_tweet *tweet)
{
    char text[GF_GEOHASH_LENGTH];
    uint64_t bits;
    check(tweet->seconds >= 0 && tweet->seconds <= GF_TWEET_LAST_SECOND);
    if (tweet->has_place) {
        check(gf_geo_point_is_valid(tweet->place));
        gf_geohash_write(gf_geohash(tweet->place), text);
        check(gf_geohash_read(text, &bits) && bits == gf_geohash(tweet->place));
    }
    check_terms(tweet);
    check_again(parser, tweet);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    gf_tweets_parser *parser;
    gf_tweet tweet;
    gf_record record = {.kind = GF_RECORD_DOCUMENT};
    gf_buffer padded = {0};
    gf_error err;
    check(gf_tweets_parser_create(&parser, &err) == GF_OK);
    gf_buffer_append(&padded, bytes, n);
    check(gf_buffer_reserve(&padded, GF_JSON_PADDING) != NULL);
    check(gf_tweets_parse(parser, gf_buffer_view(&padded), &tweet, &record, &err) == GF_OK);
    if (record.kind == GF_RECORD_DOCUMENT)
        check_tweet(parser, &tweet);
    else
        check(record.reason[0] && record.message[0]);
    gf_buffer_release(&padded);
    gf_tweets_parser_free(parser);
    return 0;
}
