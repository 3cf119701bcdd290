/*
 * Queries: raw rows are selected by the indexes, put in order, and their tweets read. A query
 * without tokens and box walks over RawTwitterData itself, which lies by time.
 */
#include "apps/tweets/query_internal.h"

/* ---- reading tweets -------------------------------------------------------------------------- */

gf_status gf_tweets_read(gf_tweets_reading *r, gf_slice raw_row, gf_slice *json, gf_tweet *tweet,
                         gf_error *err)
{
    gf_tweets_key(r->tweets, &r->key, raw_row);
    gf_status st = gf_buffer_check(&r->key, err);
    if (st != GF_OK) return st;
    st = gf_table_get_cell(r->tweets->raw, r->snapshot, gf_buffer_view(&r->key), GF_TWEETS_RAW_T,
                           GF_SLICE(""), 1, &r->row, err);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, GF_ECORRUPT, "an index names a tweet that RawTwitterData lacks");
    if (st != GF_OK) return st;
    *json = r->row.cells[0].value;
    return gf_tweets_parse_stored(r->parser, *json, tweet, err);
}

static gf_status visit_rows(gf_tweets_reading *r, const gf_raw_rows *rows, gf_tweets_visit *visit,
                            void *context, gf_error *err)
{
    const gf_tweets_query *q = r->query;
    size_t n = q->limit && q->limit < rows->n ? (size_t)q->limit : rows->n;
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        gf_tweet tweet;
        gf_slice json;
        size_t at = q->oldest_first ? i : rows->n - 1 - i;
        st = gf_cancel_check(q->cancel, err);
        if (st == GF_OK)
            st = gf_tweets_read(r, gf_slice_of(rows->bytes + at * GF_TWEET_ROW, GF_TWEET_ROW),
                                &json, &tweet, err);
        if (st == GF_OK) st = visit(context, json, &tweet, r->parser, err);
    }
    return st;
}

/* ---- without an index ------------------------------------------------------------------------ */

static void seconds_key(gf_tweets_reading *r, gf_buffer *key, int64_t seconds)
{
    gf_tweets_key(r->tweets, key, (gf_slice){"", 0});
    gf_buffer_u64be(key, (uint64_t)(seconds < 0 ? 0 : seconds));
}

static gf_status visit_row(gf_tweets_reading *r, gf_slice json, gf_tweets_visit *visit,
                           void *context, gf_error *err)
{
    gf_tweet tweet;
    gf_status st = gf_cancel_check(r->query->cancel, err);
    if (st == GF_OK) st = gf_tweets_parse_stored(r->parser, json, &tweet, err);
    return st == GF_OK ? visit(context, json, &tweet, r->parser, err) : st;
}

static gf_status visit_time(gf_tweets_reading *r, gf_tweets_visit *visit, void *context,
                            gf_error *err)
{
    const gf_tweets_query *q = r->query;
    gf_buffer end = {0};
    gf_scan *scan = NULL;
    seconds_key(r, &r->key, q->from);
    seconds_key(r, &end, q->to < GF_TWEET_LAST_SECOND ? q->to + 1 : GF_TWEET_LAST_SECOND + 1);
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = r->snapshot, .family = GF_TWEETS_RAW_T,
                        .start = gf_buffer_view(&r->key), .end = gf_buffer_view(&end),
                        .limit = q->limit, .reverse = !q->oldest_first);
    gf_status st = gf_buffer_check(&r->key, err);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    if (st == GF_OK) st = gf_scan_open(r->tweets->raw, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &r->row, err)) == GF_OK)
        st = visit_row(r, r->row.cells[0].value, visit, context, err);
    gf_scan_close(scan);
    gf_buffer_release(&end);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- queries --------------------------------------------------------------------------------- */

static gf_status select_all(gf_tweets_reading *r, gf_raw_rows *rows, gf_error *err)
{
    const gf_tweets_query *q = r->query;
    gf_status st = q->box ? gf_tweets_select_box(r, rows, err) : GF_OK;
    gf_raw_rows_sort(rows);
    for (size_t i = 0; i < q->n_tokens && st == GF_OK; i++) {
        gf_raw_rows of_token = {0};
        st = gf_tweets_select_token(r, q->tokens[i], &of_token, err);
        gf_raw_rows_sort(&of_token);
        if (i == 0 && !q->box) {
            *rows = of_token;
            continue;
        }
        gf_raw_rows_intersect(rows, &of_token);
        gf_raw_rows_release(&of_token);
    }
    return st;
}

static gf_status run_query(gf_tweets_reading *r, gf_tweets_visit *visit, void *context,
                           gf_error *err)
{
    gf_raw_rows rows = {0};
    if (!r->query->box && r->query->n_tokens == 0) return visit_time(r, visit, context, err);
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
    gf_status st = gf_snapshot_create(tweets->db, &r.snapshot, err);
    if (st == GF_OK) st = gf_tweets_parser_create(&r.parser, err);
    if (st == GF_OK) st = run_query(&r, visit, context, err);
    gf_snapshot_free(r.snapshot);
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.key);
    gf_row_release(&r.row);
    return st;
}
