/*
 * Queries: raw rows are selected by the indexes, put in order, and their tweets read. A query
 * without tokens, user and box walks over RawTwitterData itself, which lies by time. What no index
 * has is looked for in the tweets that were read.
 */
#include "apps/tweets/ask/query_internal.h"

/* ---- reading tweets -------------------------------------------------------------------------- */

gf_status gf_tweets_read(gf_tweets_reading *r, gf_slice raw_row, gf_slice *json, gf_tweet *tweet,
                         gf_error *err)
{
    gf_tweets_key(r->tweets, &r->key, raw_row);
    gf_status st = gf_buffer_check(&r->key, err);
    if (st != GF_OK) return st;
    st = gf_table_get_cell(r->tweets->raw, r->snapshot, gf_buffer_view(&r->key), GF_TWEETS_RAW_T,
                           GF_SLICE(""), 1, &r->row, err);
    if (st == GF_ENOTFOUND && gf_tweets_by_rows(r->tweets)) return st;
    if (st == GF_ENOTFOUND)
        return gf_fail(err, GF_ECORRUPT, "an index names a tweet that RawTwitterData lacks");
    if (st != GF_OK) return st;
    *json = r->row.cells[0].value;
    st = gf_tweets_parse_stored(r->parser, *json, tweet, err);
    if (st == GF_OK) tweet->row = raw_row;
    return st;
}

static bool has_language(gf_slice languages, gf_slice language)
{
    while (languages.len) {
        const char *comma = memchr(languages.ptr, ',', languages.len);
        size_t n = comma ? (size_t)(comma - languages.ptr) : languages.len;
        if (gf_slice_equal(gf_slice_of(languages.ptr, n), language)) return true;
        languages = gf_slice_skip(languages, comma ? n + 1 : n);
    }
    return false;
}

/* The conditions that no index has, or not alone: a name in TermIndex is also that of others. */
static gf_status is_meant(gf_tweets_reading *r, const gf_tweet *t, bool *meant, gf_error *err)
{
    const gf_tweets_query *q = r->query;
    *meant = (!q->user_id.len || gf_slice_equal(q->user_id, t->user_id)) &&
             (!q->languages.len || has_language(q->languages, t->lang));
    if (!*meant || !q->user.len) return GF_OK;
    gf_buffer_reset(&r->lower);
    gf_status st = gf_tweets_lower_case(t->screen_name, &r->lower, err);
    if (st == GF_OK) st = gf_buffer_check(&r->lower, err);
    *meant = gf_slice_equal(gf_buffer_view(&r->lower), gf_buffer_view(&r->user));
    return st;
}

static bool has_enough(const gf_tweets_reading *r)
{
    return r->query->limit && r->visited == r->query->limit;
}

/* Hand a tweet on that was parsed, if it is meant. */
static gf_status visit_tweet(gf_tweets_reading *r, gf_slice json, const gf_tweet *tweet,
                             gf_tweets_visit *visit, void *context, gf_error *err)
{
    bool meant;
    gf_status st = is_meant(r, tweet, &meant, err);
    if (st != GF_OK || !meant) return st;
    r->visited++;
    return visit(context, json, tweet, r->parser, err);
}

static gf_status visit_rows(gf_tweets_reading *r, const gf_raw_rows *rows, gf_tweets_visit *visit,
                            void *context, gf_error *err)
{
    const gf_tweets_query *q = r->query;
    gf_status st = GF_OK;
    for (size_t i = 0; i < rows->n && !has_enough(r) && st == GF_OK; i++) {
        gf_tweet tweet;
        gf_slice json;
        size_t at = q->oldest_first ? i : rows->n - 1 - i;
        gf_slice row = gf_slice_of(rows->bytes + at * GF_TWEET_ROW, GF_TWEET_ROW);
        st = gf_cancel_check(q->cancel, err);
        if (st == GF_OK) st = gf_tweets_read(r, row, &json, &tweet, err);
        if (st == GF_ENOTFOUND) { /* not there yet, or not any more */
            st = GF_OK;
            continue;
        }
        if (st == GF_OK) st = visit_tweet(r, json, &tweet, visit, context, err);
    }
    return st;
}

/* ---- without an index ------------------------------------------------------------------------ */

static void seconds_key(gf_tweets_reading *r, gf_buffer *key, int64_t seconds)
{
    gf_tweets_key(r->tweets, key, (gf_slice){"", 0});
    gf_buffer_u64be(key, (uint64_t)(seconds < 0 ? 0 : seconds));
}

gf_status gf_tweets_open_time(gf_tweets_reading *r, int64_t from, int64_t to, bool reverse,
                              gf_scan **scan, gf_error *err)
{
    gf_buffer end = {0};
    seconds_key(r, &r->key, from);
    seconds_key(r, &end, to < GF_TWEET_LAST_SECOND ? to + 1 : GF_TWEET_LAST_SECOND + 1);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = r->snapshot, .family = GF_TWEETS_RAW_T,
                                        .start = gf_buffer_view(&r->key),
                                        .end = gf_buffer_view(&end), .reverse = reverse);
    gf_status st = gf_buffer_check(&r->key, err);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    if (st == GF_OK) st = gf_scan_open(r->tweets->raw, &o, scan, err);
    gf_buffer_release(&end);
    return st;
}

static gf_status visit_row(gf_tweets_reading *r, gf_tweets_visit *visit, void *context,
                           gf_error *err)
{
    gf_tweet tweet;
    gf_slice json = r->row.cells[0].value, row;
    gf_status st = gf_cancel_check(r->query->cancel, err);
    if (st == GF_OK) st = gf_tweets_part(r->tweets, r->row.key, GF_TWEET_ROW, &row, err);
    if (st == GF_OK) st = gf_tweets_parse_stored(r->parser, json, &tweet, err);
    if (st != GF_OK) return st;
    tweet.row = row;
    return visit_tweet(r, json, &tweet, visit, context, err);
}

static gf_status visit_time(gf_tweets_reading *r, gf_tweets_visit *visit, void *context,
                            gf_error *err)
{
    const gf_tweets_query *q = r->query;
    gf_scan *scan = NULL;
    gf_status st = gf_tweets_open_time(r, q->from, q->to, !q->oldest_first, &scan, err);
    while (st == GF_OK && !has_enough(r) && (st = gf_scan_next(scan, &r->row, err)) == GF_OK)
        st = visit_row(r, visit, context, err);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Keep of the rows those that are in the others, too; the first ones are taken as they are. */
static void narrow(gf_raw_rows *rows, gf_raw_rows *others, bool first)
{
    gf_raw_rows_sort(others);
    if (first) {
        *rows = *others;
        return;
    }
    gf_raw_rows_intersect(rows, others);
    gf_raw_rows_release(others);
}

static gf_status select_all(gf_tweets_reading *r, gf_raw_rows *rows, gf_error *err)
{
    const gf_tweets_query *q = r->query;
    gf_status st = q->box ? gf_tweets_select_box(r, rows, err) : GF_OK;
    bool first = !q->box;
    gf_raw_rows_sort(rows);
    if (st == GF_OK && q->user.len) {
        gf_raw_rows others = {0};
        st = gf_tweets_select_user(r, gf_buffer_view(&r->user), &others, err);
        narrow(rows, &others, first);
        first = false;
    }
    for (size_t i = 0; i < q->n_tokens && st == GF_OK; i++, first = false) {
        gf_raw_rows others = {0};
        st = gf_tweets_select_token(r, q->tokens[i], &others, err);
        narrow(rows, &others, first);
    }
    return st;
}

static gf_status run_query(gf_tweets_reading *r, bool indexed, gf_tweets_visit *visit,
                           void *context, gf_error *err)
{
    gf_raw_rows rows = {0};
    const gf_tweets_query *q = r->query;
    if (q->n_ids) {
        gf_status found = gf_tweets_select_ids(r, indexed, &rows, err);
        if (found == GF_OK) found = visit_rows(r, &rows, visit, context, err);
        gf_raw_rows_release(&rows);
        return found;
    }
    if (!q->box && !q->user.len && q->n_tokens == 0) return visit_time(r, visit, context, err);
    gf_status st = select_all(r, &rows, err);
    if (st == GF_OK) st = visit_rows(r, &rows, visit, context, err);
    gf_raw_rows_release(&rows);
    return st;
}

gf_status gf_tweets_query_run(gf_tweets *tweets, const gf_tweets_query *query,
                              gf_tweets_visit *visit, void *context, gf_error *err)
{
    gf_tweets_reading r = {.tweets = tweets, .query = query};
    if (query->box && !gf_geo_box_is_valid(query->box))
        return gf_fail(err, GF_EINVAL,
                       "a box has latitudes -90 to 90, south first, and longitudes -180 to 180");
    if (query->from > query->to) return GF_OK;
    gf_tweets_info info;
    gf_status st = gf_tweets_read_info(tweets, &info, err); /* before the state that is read */
    bool indexed = info.rules != GF_TWEETS_RULES_SHORT && !info.reindexing;
    if (st == GF_OK) st = gf_snapshot_create(tweets->db, &r.snapshot, err);
    if (st == GF_OK) st = gf_tweets_parser_create(&r.parser, err);
    if (st == GF_OK) st = gf_tweets_lower_case(query->user, &r.user, err);
    if (st == GF_OK) st = gf_buffer_check(&r.user, err);
    if (st == GF_OK) st = run_query(&r, indexed, visit, context, err);
    gf_snapshot_free(r.snapshot);
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.user);
    gf_buffer_release(&r.lower);
    gf_buffer_release(&r.key);
    gf_row_release(&r.row);
    return st;
}
