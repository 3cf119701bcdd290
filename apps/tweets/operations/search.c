/* tweets search: tweets by words, users and time. tweets map: by where and when. */
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/operations/schema.h"

#include "base/memory.h"

static gf_status emit_all(gf_call *call, const gf_tweets_query *query, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_tweets *tweets = NULL;
    gf_status st = gf_tweets_of_call(call, &tweets, err);
    if (st == GF_OK) st = gf_tweets_query_run(tweets, query, gf_tweets_emit, &row, err);
    gf_tweets_close(tweets);
    gf_row_writer_release(&row);
    return st;
}

static gf_status run_tweets_search(gf_call *call, gf_error *err)
{
    gf_tweets_query query;
    gf_geo_box box;
    gf_slice *tokens = NULL;
    gf_status st = gf_tweets_query_of_call(call, 20, &box, &query, err);
    if (st == GF_OK) st = gf_tweets_tokens_of_call(call, &tokens, &query, err);
    if (st == GF_OK) st = emit_all(call, &query, err);
    gf_free(tokens);
    return st;
}

static gf_status run_tweets_map(gf_call *call, gf_error *err)
{
    gf_tweets_query query;
    gf_geo_box box;
    gf_status st = gf_tweets_query_of_call(call, 100, &box, &query, err);
    return st == GF_OK ? emit_all(call, &query, err) : st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter tweets_search_parameters[] = {
    P_SEVERAL("token", false, "TOKEN",
              "a word or a user's name, or the start of one with * behind it (all tweets)"),
    P_FIELD,
    P_BOX,
    P_FROM,
    P_TO,
    P_USER,
    P_USER_ID,
    P_LANG,
    P_NUMBER("limit", 0, 0, "the newest so many (20); 0: all"),
    P_FLAG("json", "the tweets' whole JSON too")};

static const gf_parameter tweets_map_parameters[] = {
    P_REQUIRED("box", "WEST,SOUTH,EAST,NORTH", "degrees; edges included"), P_FROM, P_TO,
    P_NUMBER("limit", 0, 0, "the newest so many (100); 0: all"),
    P_FLAG("json", "the tweets' whole JSON too")};

const gf_operation gf_tweets_search_operation = {
    .name = "tweets search",
    .method = "GET",
    .path = "/tweets",
    .meaning = "Find tweets by words, users and time",
    GF_PARAMETERS(tweets_search_parameters),
    .members = gf_schema_tweets_search,
    .run = run_tweets_search,
};

const gf_operation gf_tweets_map_operation = {
    .name = "tweets map",
    .method = "GET",
    .path = "/tweets/map",
    .meaning = "Find tweets by place and time",
    GF_PARAMETERS(tweets_map_parameters),
    .members = gf_schema_tweets_search,
    .run = run_tweets_map,
};
