/* tweets grid: how many tweets are where. tweets stats: how many there are, and of which time. */
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/operations/schema.h"
#include "apps/tweets/tables_internal.h"

#include "base/memory.h"

/* ---- tweets grid ----------------------------------------------------------------------------- */

static gf_status emit_cell(void *context, const gf_tweets_square *cell, gf_error *err)
{
    gf_row_writer *row = context;
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_json_put_uint(w, "tweets", cell->tweets);
    gf_json_put_double(w, "latitude", cell->middle.latitude);
    gf_json_put_double(w, "longitude", cell->middle.longitude);
    gf_json_put_double(w, "west", cell->box.west);
    gf_json_put_double(w, "south", cell->box.south);
    gf_json_put_double(w, "east", cell->box.east);
    gf_json_put_double(w, "north", cell->box.north);
    return gf_row_writer_emit(row, err);
}

static gf_status run_tweets_grid(gf_call *call, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_tweets_query query;
    gf_geo_box box;
    gf_slice *tokens = NULL;
    gf_tweets *tweets = NULL;
    gf_status st = gf_tweets_query_of_call(call, 1000, &box, &query, err);
    if (st == GF_OK) st = gf_tweets_tokens_of_call(call, &tokens, &query, err);
    if (st == GF_OK) st = gf_tweets_of_call(call, &tweets, err);
    if (st == GF_OK)
        st = gf_tweets_grid(tweets, &query, (unsigned)gf_call_number(call, "level", 6),
                            query.limit && query.limit < SIZE_MAX ? (size_t)query.limit : SIZE_MAX,
                            emit_cell, &row, err);
    gf_tweets_close(tweets);
    gf_free(tokens);
    gf_row_writer_release(&row);
    return st;
}

/* ---- tweets stats ---------------------------------------------------------------------------- */

static gf_status emit_stats(gf_call *call, gf_tweets *tweets, gf_error *err)
{
    gf_tweets_info info = {.any = false};
    gf_row_writer row = {.call = call};
    int64_t first, last;
    gf_status st = gf_tweets_read_info(tweets, &info, err);
    if (st == GF_OK && info.of_others) st = gf_tweets_count(tweets, &info, err);
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_uint(w, "tweets", info.tweets);
    gf_json_put_uint(w, "with_place", info.with_place);
    if (info.any) gf_json_put_str(w, "hash", gf_tweets_hash_name(info.hash));
    if (st == GF_OK) st = gf_tweets_extent(tweets, &first, &last, err);
    if (st == GF_OK) {
        gf_row_put_time(w, "first", first * 1000);
        gf_row_put_time(w, "last", last * 1000);
    }
    if (st == GF_ENOTFOUND) st = GF_OK;
    if (st == GF_OK) st = gf_row_writer_emit(&row, err);
    gf_row_writer_release(&row);
    return st;
}

static gf_status run_tweets_stats(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_tweets *tweets = NULL;
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_tweets_open(store, call->name_space, &tweets, err);
    if (st == GF_OK) st = emit_stats(call, tweets, err);
    gf_tweets_close(tweets);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter tweets_grid_parameters[] = {
    P_NUMBER("level", 1, GF_TWEETS_MOST_LEVEL, "cells of 360 / 2^N degrees (6: 5.625)"),
    P_BOX,
    P_SEVERAL("token", false, "TOKEN", "only tweets that have it, as in tweets search"),
    P_FIELD,
    P_FROM,
    P_TO,
    P_USER,
    P_LANG,
    P_NUMBER("limit", 0, 0, "the fullest so many cells (1000); 0: all")};

const gf_operation gf_tweets_grid_operation = {
    .name = "tweets grid",
    .method = "GET",
    .path = "/tweets/grid",
    .meaning = "Count tweets by place",
    GF_PARAMETERS(tweets_grid_parameters),
    .members = gf_schema_tweets_grid,
    .run = run_tweets_grid,
};

const gf_operation gf_tweets_stats_operation = {
    .name = "tweets stats",
    .method = "GET",
    .path = "/tweets/stats",
    .meaning = "Tell how many tweets there are",
    .members = gf_schema_tweets_stats,
    .run = run_tweets_stats,
    .single = true,
};
