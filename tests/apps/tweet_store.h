/**
 * Tables of tweets in a temporary store, and what tests look at in them.
 */
#ifndef GF_TESTS_APPS_TWEET_STORE_H
#define GF_TESTS_APPS_TWEET_STORE_H

#include "apps/tweets/tables_internal.h"
#include "tests/support/test.h"

typedef struct tweet_store {
    const char *folder;
    gf_store *store;
    gf_tweets *tweets;
    gf_buffer dump; /* of the last tweet_store_dump */
} tweet_store;

void tweet_store_open(tweet_store *s);
void tweet_store_close(tweet_store *s);

/** As a version before the rules left a namespace that has no tweet any more. */
void tweet_store_make_old(tweet_store *s, gf_tweets_hash hash);

/**
 * Append the tweets from..to-1 of all kinds: whole, cut, told on, notes; with a place and without; of
 * some minutes and languages. The same number is the same tweet.
 */
void tweet_store_write_lines(gf_buffer *lines, int from, int to);

/** Import lines; the test fails where one is refused. */
gf_tweets_counts tweet_store_import(tweet_store *s, gf_tweets_hash hash, gf_slice lines);

/**
 * Every cell of the four tables, a line each: table, row, family, qualifier, value; bytes that are
 * no text in hexadecimal.
 */
const char *tweet_store_dump(tweet_store *s);
gf_slice tweet_store_dump_of(tweet_store *s, const char *table);

/** Two seeds' tweets: that of check 2, and that of check 3. */
#define TWEET_HASELNUSS                                                                            \
    "{\"created_at\":\"Fri Apr 29 09:05:55 +0000 2016\",\"id\":725974381906804738,"                \
    "\"id_str\":\"725974381906804738\",\"text\":\"Das sage ich dir gleich, das funktioniert doch " \
    "nie! #haselnuss\",\"user\":{\"id\":179905182,\"name\":\"Peter Tosh\","                        \
    "\"screen_name\":\"PeTo\"}}"
#define TWEET_APACHE                                                                               \
    "{\"created_at\":\"Thu May 05 14:30:00 +0000 2016\",\"id_str\":\"1\",\"lang\":\"en\","         \
    "\"text\":\"A tweet about #ApacheAccumulo and #ApacheFlink and\","                             \
    "\"user\":{\"name\":\"user1\",\"screen_name\":\"u1scr\"},"                                     \
    "\"coordinates\":{\"type\":\"Point\",\"coordinates\":[12.3731,51.3397]}}"

/** One whose whole text has the words "behind" and "#later", and its short one "cut" in their place. */
#define TWEET_EXTENDED                                                                             \
    "{\"created_at\":\"Thu May 05 14:30:20 +0000 2016\",\"id_str\":\"7\",\"lang\":\"en\","         \
    "\"text\":\"What is cut\",\"truncated\":true,\"extended_tweet\":{\"full_text\":\"What is "     \
    "behind #later\"},\"user\":{\"name\":\"user1\",\"screen_name\":\"u1scr\"}}"

#endif
