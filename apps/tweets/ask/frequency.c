/* Numbers of tweets in each minute, hour or day, by language. */
#include "apps/tweets/tables_internal.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"
#include "engine/rows/scan.h"

#include <stdlib.h>

typedef struct counting {
    gf_tweets *tweets;
    int64_t unit, from; /* minutes of a period; the first period */
    size_t n_periods;
    bool some; /* only the languages that are there already */
    gf_strings languages;
    uint64_t **counts; /* counts[language][n_periods]; capacity */
    size_t capacity;
} counting;

static gf_status add_language(counting *c, gf_slice language, uint32_t *id, gf_error *err)
{
    bool added;
    if (!gf_grow(&c->counts, &c->capacity, (size_t)c->languages.n + 1, sizeof *c->counts))
        return gf_fail_memory(err, "counts");
    uint64_t *fresh = gf_calloc(c->n_periods, sizeof *fresh);
    if (!fresh) return gf_fail_memory(err, "counts");
    gf_status st = gf_strings_add(&c->languages, language, id, &added, err);
    if (st == GF_OK && added)
        c->counts[*id] = fresh;
    else
        gf_free(fresh);
    return st;
}

static gf_status count_row(void *context, const gf_row *row, gf_error *err)
{
    counting *c = context;
    gf_slice part, language = row->cells[0].qualifier;
    int64_t minute;
    uint64_t n;
    gf_status st = gf_tweets_part(c->tweets, row->key, GF_TWEET_MINUTE, &part, err);
    if (st != GF_OK) return st;
    if (!gf_tweets_read_minute(part, &minute) || !gf_rows_cell_number(&row->cells[0], &n) ||
        minute / c->unit < c->from || minute / c->unit >= c->from + (int64_t)c->n_periods)
        return gf_fail(err, GF_ECORRUPT, "table TweetFrequency: a row is damaged");
    uint32_t id = gf_strings_find(&c->languages, language);
    if (id == GF_STRING_NONE && c->some) return GF_OK;
    if (id == GF_STRING_NONE) st = add_language(c, language, &id, err);
    if (st == GF_OK) c->counts[id][minute / c->unit - c->from] += n;
    return st;
}

static gf_status count_rows(counting *c, gf_error *err)
{
    char first[GF_TWEET_MINUTE], last[GF_TWEET_MINUTE];
    gf_buffer start = {0}, end = {0};
    gf_tweets_minute(c->from * c->unit * 60, first);
    gf_tweets_minute((c->from + (int64_t)c->n_periods) * c->unit * 60, last);
    gf_tweets_key(c->tweets, &start, gf_slice_of(first, sizeof first));
    gf_tweets_key(c->tweets, &end, gf_slice_of(last, sizeof last));
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = GF_TWEETS_FREQUENCY_LANGUAGE, .start = gf_buffer_view(&start),
                        .end = gf_buffer_view(&end));
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    if (st == GF_OK) st = gf_scan_each(c->tweets->frequency, &o, count_row, c, err);
    gf_buffer_release(&start);
    gf_buffer_release(&end);
    return st;
}

typedef struct named {
    gf_slice language;
    const uint64_t *counts;
} named;

static int compare_languages(const void *a, const void *b)
{
    return gf_slice_compare(((const named *)a)->language, ((const named *)b)->language);
}

static gf_status visit_all(const counting *c, gf_tweets_visit_language *visit, void *context,
                           gf_error *err)
{
    size_t n = c->languages.n;
    named *sorted = gf_array(n, sizeof *sorted);
    gf_status st = sorted ? GF_OK : gf_fail_memory(err, "languages");
    for (size_t i = 0; i < n && st == GF_OK; i++)
        sorted[i] = (named){gf_strings_at(&c->languages, (uint32_t)i), c->counts[i]};
    if (st == GF_OK && n) qsort(sorted, n, sizeof *sorted, compare_languages);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = visit(context, sorted[i].language, sorted[i].counts, err);
    gf_free(sorted);
    return st;
}

/* ---- the range ------------------------------------------------------------------------------- */

static gf_status read_edge(gf_tweets *tweets, bool last, int64_t *minute, gf_error *err)
{
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = GF_TWEETS_FREQUENCY_LANGUAGE, .prefix = gf_tweets_prefix(tweets),
                        .limit = 1, .reverse = last, .keys_only = true);
    gf_scan *scan = NULL;
    gf_row row = {0};
    gf_slice part;
    gf_status st = gf_scan_open(tweets->frequency, &o, &scan, err);
    if (st == GF_OK) st = gf_scan_next(scan, &row, err);
    if (st == GF_OK) st = gf_tweets_part(tweets, row.key, GF_TWEET_MINUTE, &part, err);
    if (st == GF_OK && !gf_tweets_read_minute(part, minute))
        st = gf_fail(err, GF_ECORRUPT, "table TweetFrequency: a row is damaged");
    gf_scan_close(scan);
    gf_row_release(&row);
    return st;
}

gf_status gf_tweets_minutes(gf_tweets *tweets, int64_t *first, int64_t *last, gf_error *err)
{
    int64_t from, to;
    gf_status st = read_edge(tweets, false, &from, err);
    if (st == GF_OK) st = read_edge(tweets, true, &to, err);
    if (st != GF_OK) return st;
    *first = from;
    *last = to;
    return GF_OK;
}

/* A key has four digits for the year, and so have the minutes that may be asked for. */
static gf_status check_range(int64_t unit, int64_t from, int64_t to, gf_error *err)
{
    if (to < from) return gf_fail(err, GF_EINVAL, "the range ends before it begins");
    if (from < 0 || to > GF_TWEET_LAST_SECOND / 60 / unit)
        return gf_fail(err, GF_EINVAL, "the range is not in the days 1970-01-01 to 2059-09-18");
    if (to - from < GF_MOST_PERIODS) return GF_OK;
    if (unit == 1)
        return gf_fail(err, GF_ELIMIT,
                       "a range of more than %d minutes, a year; by hours and days "
                       "it may be longer",
                       GF_MOST_PERIODS);
    return gf_fail(err, GF_ELIMIT, "a range of more than %d %s", GF_MOST_PERIODS,
                   unit == 60 ? "hours; by days it may be longer" : "days");
}

gf_status gf_tweets_frequency(gf_tweets *tweets, gf_tweets_unit unit, int64_t from, int64_t to,
                              const gf_slice *languages, size_t n_languages,
                              gf_tweets_visit_language *visit, void *context, gf_error *err)
{
    gf_status st = check_range(unit, from, to, err);
    if (st != GF_OK) return st;
    counting c = {.tweets = tweets,
                  .unit = unit,
                  .from = from,
                  .n_periods = (size_t)(to - from) + 1,
                  .some = n_languages > 0};
    for (size_t i = 0; i < n_languages && st == GF_OK; i++) {
        uint32_t id;
        st = add_language(&c, languages[i], &id, err);
    }
    if (st == GF_OK) st = count_rows(&c, err);
    if (st == GF_OK) st = visit_all(&c, visit, context, err);
    for (uint32_t i = 0; i < c.languages.n; i++)
        gf_free(c.counts[i]);
    gf_free(c.counts);
    gf_strings_release(&c.languages);
    return st;
}
