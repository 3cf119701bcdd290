/* tweets frequency: tweets per minute and language, with 0 where there are none. */
#include "apps/tweets/arguments_internal.h"

#include "base/memory.h"

typedef struct writing {
    gf_json_writer *w;
    size_t n_minutes;
} writing;

static gf_status visit_language(void *context, gf_slice language, const uint64_t *counts,
                                gf_error *err)
{
    writing *to = context;
    gf_json_key_slice(to->w, language);
    gf_json_begin(to->w, '[');
    for (size_t i = 0; i < to->n_minutes; i++)
        gf_json_uint(to->w, counts[i]);
    gf_json_end(to->w, ']');
    return gf_buffer_check(to->w->out, err);
}

static gf_status emit_counts(gf_call *call, gf_tweets *tweets, int64_t from, int64_t to,
                             gf_error *err)
{
    gf_slice *languages = NULL;
    size_t n = 0;
    gf_row_writer row = {.call = call};
    writing w = {gf_row_writer_begin(&row), (size_t)(to - from + 1)};
    gf_json_key(w.w, "data");
    gf_json_begin(w.w, '{');
    gf_status st = gf_call_list(call, "lang", &languages, &n, err);
    if (st == GF_OK)
        st = gf_tweets_frequency(tweets, from, to, languages, n, visit_language, &w, err);
    gf_json_end(w.w, '}');
    gf_free(languages);
    if (st == GF_OK) st = gf_row_writer_emit(&row, err);
    gf_row_writer_release(&row);
    return st;
}

static gf_status run_tweets_frequency(gf_call *call, gf_error *err)
{
    int64_t from, to;
    gf_tweets *tweets = NULL;
    gf_status st = gf_tweets_time_of_call(call, "from", false, 0, &from, err);
    if (st == GF_OK) st = gf_tweets_time_of_call(call, "to", true, 0, &to, err);
    if (st == GF_OK) st = gf_tweets_of_call(call, &tweets, err);
    if (st == GF_OK) st = emit_counts(call, tweets, from / 60, to / 60, err);
    gf_tweets_close(tweets);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter tweets_frequency_parameters[] = {
    P_REQUIRED("from", "TIME", "the first minute: 201605051430, or ISO 8601"),
    P_REQUIRED("to", "TIME", "the last minute, included; of a day its last"),
    P_LIST("lang", "LANG,...", "only these languages (all that are there)")};

const gf_operation gf_tweets_frequency_operation = {
    .name = "tweets frequency",
    .method = "GET",
    .path = "/tweets/frequency",
    .meaning = "Count tweets by minute and language",
    GF_PARAMETERS(tweets_frequency_parameters),
    .run = run_tweets_frequency,
};
