/*
 * tweets export: the stored JSON, byte for byte, a tweet a line, the oldest first. What tweets import
 * makes of it under the same hash are the same tables.
 */
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/operations/schema.h"

#include "base/memory.h"

enum { PIECE = 64 << 10 };

typedef struct exporting {
    gf_call *call;
    gf_buffer lines; /* not yet written */
    uint64_t tweets, bytes;
} exporting;

static gf_status write_lines(exporting *e, gf_error *err)
{
    gf_status st = gf_buffer_check(&e->lines, err);
    if (st == GF_OK && e->lines.len) st = gf_call_write(e->call, gf_buffer_view(&e->lines), err);
    e->bytes += e->lines.len;
    gf_buffer_reset(&e->lines);
    return st;
}

static gf_status add_line(void *context, gf_slice json, const gf_tweet *tweet,
                          const gf_tweets_parser *parser, gf_error *err)
{
    exporting *e = context;
    (void)tweet, (void)parser;
    gf_buffer_slice(&e->lines, json);
    gf_buffer_byte(&e->lines, '\n');
    if (++e->tweets % 1000 == 0)
        gf_call_progress(e->call, GF_SLICE("tweets"), "writing", e->tweets, 0);
    return e->lines.len < PIECE ? gf_buffer_check(&e->lines, err) : write_lines(e, err);
}

static gf_status emit_counts(const exporting *e, gf_error *err)
{
    gf_row_writer row = {.call = e->call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_uint(w, "tweets", e->tweets);
    gf_json_put_uint(w, "bytes", e->bytes);
    return gf_row_writer_emit_only(&row, err);
}

static gf_status run_tweets_export(gf_call *call, gf_error *err)
{
    exporting e = {.call = call};
    gf_tweets_query query;
    gf_geo_box box;
    gf_tweets *tweets = NULL;
    if (!call->sink.write) return gf_fail(err, GF_EINVAL, "there is no file to write to");
    gf_status st = gf_tweets_query_of_call(call, 0, &box, &query, err);
    query.oldest_first = true;
    if (st == GF_OK) st = gf_tweets_of_call(call, &tweets, err);
    if (st == GF_OK) st = gf_tweets_query_run(tweets, &query, add_line, &e, err);
    if (st == GF_OK) st = write_lines(&e, err);
    if (st == GF_OK) st = emit_counts(&e, err);
    gf_tweets_close(tweets);
    gf_buffer_release(&e.lines);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter tweets_export_parameters[] = {P_FROM, P_TO,      P_BOX,
                                                        P_USER, P_USER_ID, P_LANG};

const gf_operation gf_tweets_export_operation = {
    .name = "tweets export",
    .method = "GET",
    .path = "/tweets/export",
    .meaning = "Give the JSON of tweets as it came",
    GF_PARAMETERS(tweets_export_parameters),
    .members = gf_schema_tweets_export,
    .run = run_tweets_export,
    .file_type = "application/x-ndjson",
    .file_only = true,
    .single = true,
};
