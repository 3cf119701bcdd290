/* From a tweet to the cells of its indexes: the one place that says what an index has of it. */
#include "apps/tweets/tables_internal.h"

#include "base/number.h"

#include <xxhash.h>

void gf_tweets_deriving_release(gf_tweets_deriving *d)
{
    gf_tweets_terms_release(&d->terms);
    gf_buffer_release(&d->key);
    *d = (gf_tweets_deriving){.key = {0}};
}

gf_table *gf_tweets_index_table(const gf_tweets *t, gf_tweets_index index)
{
    switch (index) {
    case GF_TWEETS_TERMS:
        return t->terms;
    case GF_TWEETS_MINUTES:
        return t->frequency;
    case GF_TWEETS_IDS:
        return t->ids;
    default:
        return t->geo;
    }
}

static gf_status visit_terms(gf_tweets_deriving *d, gf_slice row, gf_tweets_visit_cell *visit,
                             void *context, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < d->terms.n && st == GF_OK; i++) {
        const gf_tweets_term *t = &d->terms.terms[i];
        gf_number_digits digits;
        gf_tweets_cell cell = {.index = GF_TWEETS_TERMS,
                               .family = t->of_user ? GF_TWEETS_TERMS_USER : GF_TWEETS_TERMS_TEXT,
                               .qualifier = row,
                               .value = GF_SLICE(""),
                               .count = t->count};
        if (t->count > 1) cell.value = gf_number_write(&digits, t->count);
        gf_buffer_reset(&d->key);
        gf_key_string(&d->key, t->term);
        cell.key = gf_buffer_view(&d->key);
        st = gf_buffer_check(&d->key, err);
        if (st == GF_OK) st = visit(context, &cell, err);
    }
    return st;
}

static gf_status visit_minute(const gf_tweet *tweet, gf_tweets_visit_cell *visit, void *context,
                              gf_error *err)
{
    char minute[GF_TWEET_MINUTE];
    gf_tweets_minute(tweet->seconds, minute);
    gf_tweets_cell cell = {.index = GF_TWEETS_MINUTES,
                           .family = GF_TWEETS_FREQUENCY_LANGUAGE,
                           .key = gf_slice_of(minute, sizeof minute),
                           .qualifier = tweet->lang,
                           .value = GF_SLICE("1"),
                           .count = 1};
    return visit(context, &cell, err);
}

static gf_status visit_place(gf_tweets_hash hash, gf_slice row, const gf_tweet *tweet,
                             gf_tweets_visit_cell *visit, void *context, gf_error *err)
{
    char key[GF_TWEET_GEO_ROW], value[8];
    gf_tweets_geo_row(gf_tweets_spread(hash, gf_read_u32be(row.ptr + 8)), tweet->seconds,
                      gf_geohash(tweet->place), key);
    gf_tweets_geo_value(tweet->place, value);
    gf_tweets_cell cell = {.index = GF_TWEETS_PLACES,
                           .family = GF_TWEETS_GEO_PLACES,
                           .key = gf_slice_of(key, sizeof key),
                           .qualifier = row,
                           .value = gf_slice_of(value, sizeof value),
                           .count = 1};
    return visit(context, &cell, err);
}

static gf_status visit_id(gf_tweets_deriving *d, gf_slice row, const gf_tweet *tweet,
                          gf_tweets_visit_cell *visit, void *context, gf_error *err)
{
    gf_buffer_reset(&d->key);
    gf_key_string(&d->key, tweet->id);
    gf_tweets_cell cell = {.index = GF_TWEETS_IDS,
                           .family = GF_TWEETS_IDS_ROWS,
                           .key = gf_buffer_view(&d->key),
                           .qualifier = row,
                           .value = GF_SLICE(""),
                           .count = 1};
    gf_status st = gf_buffer_check(&d->key, err);
    return st == GF_OK ? visit(context, &cell, err) : st;
}

gf_status gf_tweets_derive(gf_tweets_deriving *d, gf_tweets_hash hash, gf_tweets_rules rules,
                           gf_slice row, const gf_tweet *tweet, gf_tweets_visit_cell *visit,
                           void *context, gf_error *err)
{
    gf_status st = gf_tweets_find_terms(&d->terms, tweet, rules, err);
    if (st == GF_OK) st = visit_terms(d, row, visit, context, err);
    if (st == GF_OK) st = visit_minute(tweet, visit, context, err);
    if (st == GF_OK && tweet->has_place) st = visit_place(hash, row, tweet, visit, context, err);
    if (st == GF_OK && rules != GF_TWEETS_RULES_SHORT && gf_tweets_id_is_odd(tweet))
        st = visit_id(d, row, tweet, visit, context, err);
    return st;
}

bool gf_tweets_rules_differ(const gf_tweet *tweet, gf_tweets_rules a, gf_tweets_rules b)
{
    return a != b &&
           (!gf_slice_equal(tweet->text, tweet->short_text) || gf_tweets_id_is_odd(tweet));
}

void gf_tweets_sum_add(gf_tweets_sum *sum, gf_tweets_index index, unsigned family, gf_slice key,
                       gf_slice qualifier, gf_slice value)
{
    uint64_t hash = XXH3_64bits_withSeed(key.ptr, key.len, (uint64_t)index << 8 | family);
    hash = XXH3_64bits_withSeed(qualifier.ptr ? qualifier.ptr : "", qualifier.len, hash);
    sum->hash += XXH3_64bits_withSeed(value.ptr ? value.ptr : "", value.len, hash);
    sum->n++;
}
