/* Removing tweets, and the deletion of all that a query means. */
#include "apps/tweets/write/remove_internal.h"

enum { BATCH_BYTES = 8 << 20, BATCH_ROWS = 8192, MOST_TRIES = 100 };

gf_status gf_tweets_removing_init(gf_tweets_removing *m, gf_tweets *tweets, gf_error *err)
{
    *m = (gf_tweets_removing){.tweets = tweets, .stage = {.removes = true}};
    gf_status st = gf_batch_create(tweets->db, &m->stage.batch, err);
    return st == GF_OK ? gf_tweets_parser_create(&m->parser, err) : st;
}

void gf_tweets_removing_release(gf_tweets_removing *m)
{
    gf_tweets_stage_release(&m->stage);
    gf_tweets_parser_free(m->parser);
    gf_tweets_deriving_release(&m->work.deriving);
    gf_buffer_release(&m->work.key);
    gf_row_release(&m->work.row);
}

/* Stage a tweet, if it is there. */
static gf_status stage_row(gf_tweets_removing *m, gf_slice raw, const gf_tweets_info *info,
                           gf_error *err)
{
    gf_tweets_scratch *w = &m->work;
    gf_tweet tweet;
    gf_tweets_key(m->tweets, &w->key, raw);
    gf_status st = gf_buffer_check(&w->key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(m->tweets->raw, NULL, gf_buffer_view(&w->key), GF_TWEETS_RAW_T,
                               GF_SLICE(""), 1, &w->row, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st == GF_OK) st = gf_tweets_parse_stored(m->parser, w->row.cells[0].value, &tweet, err);
    if (st != GF_OK) return st;
    return gf_tweets_stage_add(&m->stage, info->hash, gf_tweets_rules_of(info, raw), w, raw,
                               GF_SLICE(""), &tweet, err);
}

gf_status gf_tweets_remove(gf_tweets_removing *m, const gf_raw_rows *rows, size_t *at,
                           gf_tweets_info *info, gf_buffer *version, gf_error *err)
{
    gf_tweets_stage *s = &m->stage;
    gf_status st = GF_OK;
    size_t next = *at;
    while (next < rows->n && s->rows.n < BATCH_ROWS && s->bytes < BATCH_BYTES && st == GF_OK)
        st =
            stage_row(m, gf_slice_of(rows->bytes + next++ * GF_TWEET_ROW, GF_TWEET_ROW), info, err);
    if (st == GF_OK && (s->rows.n || gf_batch_changes(s->batch)))
        st = gf_tweets_stage_write(s, m->tweets, info, version, &m->work, err);
    if (st == GF_OK) {
        *at = next;
        m->done.tweets += s->rows.n;
        m->done.with_place += s->with_place;
    }
    gf_tweets_stage_reset(s);
    return st;
}

/* ---- a deletion ------------------------------------------------------------------------------ */

static gf_status collect_row(void *context, gf_slice json, const gf_tweet *tweet,
                             const gf_tweets_parser *parser, gf_error *err)
{
    (void)json, (void)parser;
    return gf_raw_rows_add(context, tweet->row, err);
}

static gf_status read_settings(gf_tweets_removing *m, gf_tweets_info *info, gf_buffer *version,
                               gf_error *err)
{
    gf_slice seen = {0};
    gf_status st = gf_tweets_read_settings(m->tweets, &m->work.row, info, &seen, err);
    gf_buffer_reset(version);
    gf_buffer_slice(version, seen);
    return st == GF_OK ? gf_buffer_check(version, err) : st;
}

/* One batch, whoever else writes meanwhile: tried again nobody else does, and by rows at once. */
static gf_status remove_some(gf_tweets_removing *m, const gf_raw_rows *rows, size_t *at,
                             gf_tweets_info *info, gf_buffer *version, gf_error *err)
{
    gf_hold hold = {0};
    gf_status st = GF_ECONFLICT;
    bool by_rows = gf_tweets_by_rows(m->tweets);
    for (int i = 0; i < MOST_TRIES && st == GF_ECONFLICT; i++) {
        st = i || by_rows ? gf_tweets_hold(m->tweets, &hold, err) : GF_OK;
        if (st == GF_OK && (i || !version->len)) st = read_settings(m, info, version, err);
        if (st == GF_OK) st = gf_tweets_remove(m, rows, at, info, version, err);
        gf_hold_let_go(&hold);
    }
    return st;
}

static gf_status remove_all(gf_tweets_removing *m, const gf_raw_rows *rows, const gf_cancel *cancel,
                            gf_error *err)
{
    gf_tweets_info info;
    gf_buffer version = {0};
    gf_status st = GF_OK;
    for (size_t at = 0; at < rows->n && st == GF_OK;) {
        st = gf_cancel_check(cancel, err);
        if (st == GF_OK) st = remove_some(m, rows, &at, &info, &version, err);
    }
    gf_buffer_release(&version);
    return st;
}

gf_status gf_tweets_delete(gf_tweets *tweets, const gf_tweets_query *query, bool only_count,
                           gf_tweets_deleted *deleted, gf_error *err)
{
    gf_tweets_removing m;
    gf_raw_rows rows = {0};
    gf_status st = gf_tweets_removing_init(&m, tweets, err);
    if (st == GF_OK) st = gf_tweets_query_run(tweets, query, collect_row, &rows, err);
    if (st == GF_OK) gf_raw_rows_sort(&rows);
    if (st == GF_OK && only_count) m.done.tweets = rows.n;
    if (st == GF_OK && !only_count) st = gf_tweets_join(tweets, err);
    if (st == GF_OK && !only_count) st = remove_all(&m, &rows, query->cancel, err);
    deleted->tweets += m.done.tweets;
    deleted->with_place += m.done.with_place;
    gf_raw_rows_release(&rows);
    gf_tweets_removing_release(&m);
    return st;
}
