/* tweets top: the commonest hashtags. tweets highscore: the users that went farthest. */
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/operations/schema.h"

#include "base/memory.h"

static gf_status emit_tag(void *context, const gf_tweets_tag_count *tag, gf_error *err)
{
    gf_row_writer *row = context;
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_json_put_string(w, "tag", tag->tag);
    gf_json_put_uint(w, "tweets", tag->tweets);
    return gf_row_writer_emit(row, err);
}

static gf_status emit_user(void *context, const gf_tweets_user *user, gf_error *err)
{
    gf_row_writer *row = context;
    gf_json_writer *w = gf_row_writer_begin(row);
    if (user->id.len) gf_json_put_string(w, "id", user->id);
    gf_json_put_string(w, "screen_name", user->screen_name);
    gf_json_put_string(w, "name", user->name);
    gf_json_put_uint(w, "tweets", user->tweets);
    gf_json_put_double(w, "path_km", user->path);
    if (gf_slice_equal(gf_call_text(row->call, "by"), GF_SLICE("area")))
        gf_json_put_double(w, "area_km2", user->area);
    return gf_row_writer_emit(row, err);
}

/* The number of rows that are wanted; the query itself is of all tweets. */
static size_t take_limit(gf_tweets_query *query)
{
    size_t most = query->limit && query->limit < SIZE_MAX ? (size_t)query->limit : SIZE_MAX;
    query->limit = 0;
    return most;
}

static gf_status run_tweets_top(gf_call *call, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_tweets_query query;
    gf_geo_box box;
    gf_slice *tokens = NULL;
    gf_tweets *tweets = NULL;
    gf_status st = gf_tweets_query_of_call(call, 10, &box, &query, err);
    if (st == GF_OK) st = gf_tweets_tokens_of_call(call, &tokens, &query, err);
    if (st == GF_OK) st = gf_tweets_of_call(call, &tweets, err);
    size_t most = st == GF_OK ? take_limit(&query) : 0;
    if (st == GF_OK) st = gf_tweets_top(tweets, &query, most, emit_tag, &row, err);
    gf_tweets_close(tweets);
    gf_free(tokens);
    gf_row_writer_release(&row);
    return st;
}

static gf_status run_tweets_highscore(gf_call *call, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_tweets_query query;
    gf_geo_box box;
    gf_tweets *tweets = NULL;
    bool by_area = gf_slice_equal(gf_call_text(call, "by"), GF_SLICE("area"));
    gf_status st = gf_tweets_query_of_call(call, 10, &box, &query, err);
    if (st == GF_OK) st = gf_tweets_of_call(call, &tweets, err);
    size_t most = st == GF_OK ? take_limit(&query) : 0;
    if (st == GF_OK) st = gf_tweets_highscore(tweets, &query, by_area, most, emit_user, &row, err);
    gf_tweets_close(tweets);
    gf_row_writer_release(&row);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter tweets_top_parameters[] = {
    P_BOX,   P_SEVERAL("token", false, "TOKEN", "only tweets that have it, as in tweets search"),
    P_FIELD, P_FROM,
    P_TO,    P_USER,
    P_LANG,  P_NUMBER("limit", 0, 0, "so many hashtags (10); 0: all")};

static const gf_parameter tweets_highscore_parameters[] = {
    P_CHOICE("by", "path|area", "what counts (path)"),    P_BOX, P_FROM, P_TO, P_LANG,
    P_NUMBER("limit", 0, 0, "so many users (10); 0: all")};

const gf_operation gf_tweets_top_operation = {
    .name = "tweets top",
    .method = "GET",
    .path = "/tweets/top",
    .meaning = "Count the commonest hashtags",
    GF_PARAMETERS(tweets_top_parameters),
    .members = gf_schema_tweets_top,
    .run = run_tweets_top,
};

const gf_operation gf_tweets_highscore_operation = {
    .name = "tweets highscore",
    .method = "GET",
    .path = "/tweets/highscore",
    .meaning = "Rank users by how far they went",
    GF_PARAMETERS(tweets_highscore_parameters),
    .members = gf_schema_tweets_highscore,
    .run = run_tweets_highscore,
};
