/* tweets show: tweets by their ids, or by their raw rows. */
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/operations/schema.h"

#include "base/memory.h"

#include <stdio.h>

typedef struct showing {
    gf_row_writer row; /* first: gf_tweets_emit takes it */
    uint64_t absent;
} showing;

static gf_status tell_absent(void *context, gf_slice id, gf_error *err)
{
    showing *s = context;
    (void)err;
    gf_notice n = {.reason = "absent", .source = id, .message = "no tweet has this id"};
    s->absent++;
    gf_call_notify(s->row.call, &n);
    return GF_OK;
}

static gf_status show_all(gf_call *call, gf_tweets *tweets, const gf_slice *ids, size_t n,
                          gf_error *err)
{
    showing s = {.row = {.call = call}};
    gf_tweets_query query = {.to = GF_TWEET_LAST_SECOND,
                             .ids = ids,
                             .n_ids = n,
                             .absent = n > 1 ? tell_absent : NULL,
                             .context = &s,
                             .oldest_first = true,
                             .cancel = call->cancel};
    gf_status st = gf_tweets_query_run(tweets, &query, gf_tweets_emit_whole, &s.row, err);
    if (st == GF_OK && s.absent) call->outcome = GF_OUTCOME_SOME_ABSENT;
    if (st == GF_OK && !s.row.buffer.len && n == 1)
        st = gf_fail(err, GF_ENOTFOUND, "no tweet has the id %.*s", GF_SLICE_ARG(ids[0]));
    gf_row_writer_release(&s.row);
    return st;
}

gf_status gf_tweets_ids_of_call(const gf_call *call, gf_slice **ids, size_t *n, gf_error *err)
{
    *n = gf_call_count(call, "id");
    *ids = gf_array(*n, sizeof **ids);
    if (!*ids) return gf_fail_memory(err, "arguments");
    for (size_t i = 0, k = 0; i < call->n_arguments; i++)
        if (gf_slice_equal(call->arguments[i].name, GF_SLICE("id")))
            (*ids)[k++] = call->arguments[i].value;
    return GF_OK;
}

static gf_status run_tweets_show(gf_call *call, gf_error *err)
{
    gf_slice *ids = NULL;
    size_t n = 0;
    gf_tweets *tweets = NULL;
    gf_status st = gf_tweets_of_call(call, &tweets, err);
    if (st == GF_OK) st = gf_tweets_ids_of_call(call, &ids, &n, err);
    if (st == GF_OK) st = show_all(call, tweets, ids, n, err);
    gf_free(ids);
    gf_tweets_close(tweets);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter tweets_show_parameters[] = {
    P_SEVERAL("id", true, "ID", "a tweet's id, or its raw row: 24 hexadecimal digits")};

const gf_operation gf_tweets_show_operation = {
    .name = "tweets show",
    .method = "GET",
    .path = "/tweets/{id}",
    .meaning = "Show tweets by their ids",
    GF_PARAMETERS(tweets_show_parameters),
    .members = gf_schema_tweets_show,
    .run = run_tweets_show,
};
