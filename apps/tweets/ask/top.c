/* The commonest hashtags: in how many tweets each is, of those that are meant. */
#include "apps/tweets/tweets.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"

#include <stdlib.h>

typedef struct counting {
    gf_tweets_tags of_tweet;
    gf_strings tags;
    uint64_t *counts; /* of tags; capacity */
    size_t capacity;
} counting;

static gf_status count_tag(counting *c, gf_slice tag, gf_error *err)
{
    uint32_t id;
    bool added;
    if (!gf_grow(&c->counts, &c->capacity, (size_t)c->tags.n + 1, sizeof *c->counts))
        return gf_fail_memory(err, "hashtags");
    gf_status st = gf_strings_add(&c->tags, tag, &id, &added, err);
    if (st == GF_OK) c->counts[id] = added ? 1 : c->counts[id] + 1;
    return st;
}

static gf_status count_tweet(void *context, gf_slice json, const gf_tweet *tweet,
                             const gf_tweets_parser *parser, gf_error *err)
{
    counting *c = context;
    (void)json, (void)parser;
    gf_status st = gf_tweets_find_tags(&c->of_tweet, tweet, err);
    for (size_t i = 0; i < c->of_tweet.n && st == GF_OK; i++)
        st = count_tag(c, c->of_tweet.tags[i], err);
    return st;
}

static int compare_tags(const void *a, const void *b)
{
    const gf_tweets_tag_count *x = a, *y = b;
    if (x->tweets != y->tweets) return x->tweets > y->tweets ? -1 : 1;
    return gf_slice_compare(x->tag, y->tag);
}

static gf_status visit_first(const counting *c, size_t most, gf_tweets_visit_tag *visit,
                             void *context, gf_error *err)
{
    size_t n = c->tags.n;
    gf_tweets_tag_count *sorted = gf_array(n, sizeof *sorted);
    gf_status st = sorted ? GF_OK : gf_fail_memory(err, "hashtags");
    for (size_t i = 0; i < n && st == GF_OK; i++)
        sorted[i] = (gf_tweets_tag_count){gf_strings_at(&c->tags, (uint32_t)i), c->counts[i]};
    if (st == GF_OK && n) qsort(sorted, n, sizeof *sorted, compare_tags);
    for (size_t i = 0; i < n && i < most && st == GF_OK; i++)
        st = visit(context, &sorted[i], err);
    gf_free(sorted);
    return st;
}

gf_status gf_tweets_top(gf_tweets *tweets, const gf_tweets_query *query, size_t most,
                        gf_tweets_visit_tag *visit, void *context, gf_error *err)
{
    counting c = {.capacity = 0};
    gf_status st = gf_tweets_query_run(tweets, query, count_tweet, &c, err);
    if (st == GF_OK) st = visit_first(&c, most, visit, context, err);
    gf_tweets_tags_release(&c.of_tweet);
    gf_strings_release(&c.tags);
    gf_free(c.counts);
    return st;
}
