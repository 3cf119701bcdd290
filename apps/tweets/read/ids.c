/*
 * Ids of tweets that say their time (since November 2010, "snowflake"):
 *
 *     id >> 22    milliseconds behind 1288834974657, in the second of created_at
 */
#include "apps/tweets/tweets.h"
#include "base/number.h"

bool gf_tweets_id_seconds(gf_slice id, int64_t *seconds)
{
    const uint64_t epoch = UINT64_C(1288834974657);
    uint64_t number;
    if (id.len == 0 || id.ptr[0] < '0' || id.ptr[0] > '9' || !gf_number_read(id, &number))
        return false;
    *seconds = (int64_t)(((number >> 22) + epoch) / 1000);
    return *seconds <= GF_TWEET_LAST_SECOND;
}

bool gf_tweets_id_is_odd(const gf_tweet *t)
{
    int64_t seconds;
    return t->id.len && t->id.len <= GF_MAX_ID &&
           (!gf_tweets_id_seconds(t->id, &seconds) || seconds != t->seconds);
}
