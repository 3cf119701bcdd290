/* put with from=tweets: the namespace's stored tweets as records. */
#include "apps/tweets/arguments_internal.h"

#include "base/memory.h"
#include "engine/rows/document_row.h"
#include "engine/rows/filter.h"
#include "storage/tables.h"

typedef struct reading {
    gf_filter filter;
    gf_tweets_document document;
    gf_document_cells cells;
    gf_cell *row; /* cells.capacity */
    size_t capacity;
    gf_visit_record *visit;
    void *context;
} reading;

/* Does the filter select the document, as a row of documents:main? */
static gf_status test_filter(reading *r, bool *meant, gf_error *err)
{
    *meant = true;
    if (gf_filter_is_empty(&r->filter)) return GF_OK;
    gf_status st = gf_document_row_to_cells(&r->document.document, &r->cells, err);
    if (st != GF_OK) return st;
    if (r->cells.n > r->capacity) {
        gf_cell *grown = gf_realloc(r->row, r->cells.n, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "a document");
        r->row = grown;
        r->capacity = r->cells.n;
    }
    for (size_t i = 0; i < r->cells.n; i++)
        r->row[i] = (gf_cell){.family = GF_DOCUMENTS_MAIN,
                              .qualifier = r->cells.columns[i].name,
                              .value = r->cells.columns[i].value};
    gf_row row = {.cells = r->row, .n_cells = r->cells.n};
    return gf_filter_test(&r->filter, &row, meant, err);
}

static gf_status visit_tweet(void *context, gf_slice json, const gf_tweet *tweet,
                             const gf_tweets_parser *parser, gf_error *err)
{
    reading *r = context;
    bool meant;
    (void)parser;
    gf_status st = gf_tweets_to_document(&r->document, json, tweet, err);
    if (st == GF_OK) st = test_filter(r, &meant, err);
    if (st != GF_OK || !meant) return st;
    gf_record record = {.kind = GF_RECORD_DOCUMENT,
                        .document = r->document.document,
                        .source = GF_SLICE("tweets"),
                        .raw = json};
    return r->visit(r->context, &record, err);
}

static gf_status check_arguments(const gf_call *call, gf_error *err)
{
    static const char *const of_input[] = {"id", "text", "time", "lang", "fields"};
    if (call->input.next)
        return gf_fail(err, GF_EINVAL, "from: the stored tweets are no input; leave it out");
    for (size_t i = 0; i < sizeof of_input / sizeof of_input[0]; i++)
        if (gf_call_has(call, of_input[i]))
            return gf_fail(err, GF_EINVAL, "%s: not with --from tweets, which has its own fields",
                           of_input[i]);
    return GF_OK;
}

gf_status gf_tweets_records(const gf_call *call, gf_visit_record *visit, void *context,
                            gf_error *err)
{
    reading r = {.visit = visit, .context = context};
    gf_tweets *tweets = NULL;
    gf_tweets_query query = {
        .to = GF_TWEET_LAST_SECOND, .oldest_first = true, .cancel = call->cancel};
    gf_filter_init(&r.filter);
    gf_status st = check_arguments(call, err);
    for (size_t i = 0; i < gf_call_count(call, "where") && st == GF_OK; i++)
        st = gf_filter_add(&r.filter, gf_call_nth(call, "where", i), err);
    if (st == GF_OK) st = gf_tweets_of_call(call, &tweets, err);
    if (st == GF_OK) st = gf_tweets_query_run(tweets, &query, visit_tweet, &r, err);
    gf_tweets_close(tweets);
    gf_filter_release(&r.filter);
    gf_tweets_document_release(&r.document);
    gf_document_row_release_cells(&r.cells);
    gf_free(r.row);
    return st;
}
