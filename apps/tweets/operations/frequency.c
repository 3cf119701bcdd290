/* tweets frequency: tweets per minute, hour or day and language, with 0 where there are none. */
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/operations/schema.h"

#include "base/memory.h"

typedef struct writing {
    gf_json_writer *w;
    size_t n_periods;
} writing;

/* Periods since 1970. */
typedef struct range {
    gf_tweets_unit unit;
    int64_t from, to;
    bool any, told; /* told: the row says the unit and where it begins */
} range;

static gf_status visit_language(void *context, gf_slice language, const uint64_t *counts,
                                gf_error *err)
{
    writing *to = context;
    gf_json_key_slice(to->w, language);
    gf_json_begin(to->w, '[');
    for (size_t i = 0; i < to->n_periods; i++)
        gf_json_uint(to->w, counts[i]);
    gf_json_end(to->w, ']');
    return gf_buffer_check(to->w->out, err);
}

static gf_status emit_counts(gf_call *call, gf_tweets *tweets, const range *r, gf_error *err)
{
    gf_slice *languages = NULL;
    size_t n = 0;
    gf_row_writer row = {.call = call};
    writing w = {gf_row_writer_begin(&row), r->any ? (size_t)(r->to - r->from + 1) : 0};
    gf_status st = gf_call_list(call, "lang", &languages, &n, err);
    if (r->told) {
        gf_json_put_string(w.w, "by", gf_call_text_or(call, "by", "minute"));
        if (r->any) gf_row_put_time(w.w, "from", r->from * r->unit * 60 * 1000);
    }
    gf_json_key(w.w, "data");
    gf_json_begin(w.w, '{');
    if (st == GF_OK && r->any)
        st = gf_tweets_frequency(tweets, r->unit, r->from, r->to, languages, n, visit_language, &w,
                                 err);
    for (size_t i = 0; i < n && st == GF_OK && !r->any; i++)
        st = visit_language(&w, languages[i], NULL, err);
    gf_json_end(w.w, '}');
    gf_free(languages);
    if (st == GF_OK) st = gf_row_writer_emit(&row, err);
    gf_row_writer_release(&row);
    return st;
}

static gf_tweets_unit unit_of(const gf_call *call)
{
    gf_slice by = gf_call_text(call, "by");
    if (gf_slice_equal(by, GF_SLICE("hour"))) return GF_TWEETS_HOUR;
    if (gf_slice_equal(by, GF_SLICE("day"))) return GF_TWEETS_DAY;
    return GF_TWEETS_MINUTE;
}

/* An end that is not given is that of the tweets. */
static gf_status read_range(const gf_call *call, gf_tweets *tweets, range *r, gf_error *err)
{
    int64_t from, to, first = 0, last = 0;
    bool open = !gf_call_has(call, "from") || !gf_call_has(call, "to");
    *r = (range){.unit = unit_of(call), .any = true};
    r->told = open || gf_call_has(call, "by");
    gf_status st = open ? gf_tweets_minutes(tweets, &first, &last, err) : GF_OK;
    if (st == GF_ENOTFOUND) {
        r->any = false;
        st = GF_OK;
    }
    if (st == GF_OK) st = gf_tweets_time_of_call(call, "from", false, first * 60, &from, err);
    if (st == GF_OK) st = gf_tweets_time_of_call(call, "to", true, last * 60, &to, err);
    if (st != GF_OK) return st;
    if (open && to < from) r->any = false;
    r->from = from / 60 / r->unit;
    r->to = to / 60 / r->unit;
    return GF_OK;
}

static gf_status run_tweets_frequency(gf_call *call, gf_error *err)
{
    range r;
    gf_tweets *tweets = NULL;
    gf_status st = gf_tweets_of_call(call, &tweets, err);
    if (st == GF_OK) st = read_range(call, tweets, &r, err);
    if (st == GF_OK) st = emit_counts(call, tweets, &r, err);
    gf_tweets_close(tweets);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter tweets_frequency_parameters[] = {
    P_TEXT("from", "TIME", "in the first period: 201605051430, or ISO 8601 (the first tweet's)"),
    P_TEXT("to", "TIME", "in the last one, included; of a day its last (the last tweet's)"),
    P_CHOICE("by", "minute|hour|day", "a period, UTC (minute)"),
    P_LIST("lang", "LANG,...", "only these languages (all that are there)")};

const gf_operation gf_tweets_frequency_operation = {
    .name = "tweets frequency",
    .method = "GET",
    .path = "/tweets/frequency",
    .meaning = "Count tweets by time and language",
    GF_PARAMETERS(tweets_frequency_parameters),
    .members = gf_schema_tweets_frequency,
    .run = run_tweets_frequency,
};
