/**
 * Arguments of operations on tweets, and a tweet as a row.
 */
#ifndef GF_APPS_TWEETS_ARGUMENTS_INTERNAL_H
#define GF_APPS_TWEETS_ARGUMENTS_INTERNAL_H

#include "api/app.h"
#include "api/call.h"
#include "api/parameters.h"
#include "apps/tweets/tweets.h"

/** The tables of the call's namespace; GF_ENOTFOUND where it has no tweets. */
gf_status gf_tweets_of_call(const gf_call *call, gf_tweets **tweets, gf_error *err);

/**
 * Arguments "box", "from", "to", "user", "user-id", "lang", "limit" and the call's cancel; *box is where the box is kept.
 *
 * A time is YYYYMMDDhhmm, or what gf_filter_read_moment takes. As the end of a range a day or a minute
 * means its last second.
 */
gf_status gf_tweets_query_of_call(const gf_call *call, uint64_t limit, gf_geo_box *box,
                                  gf_tweets_query *query, gf_error *err);

/** Arguments "token" and "field"; *tokens is where the tokens are kept, which the caller frees. */
gf_status gf_tweets_tokens_of_call(const gf_call *call, gf_slice **tokens, gf_tweets_query *query,
                                   gf_error *err);

/** One of these times in seconds, `otherwise` where it is not given. */
gf_status gf_tweets_time_of_call(const gf_call *call, const char *name, bool is_end,
                                 int64_t otherwise, int64_t *seconds, gf_error *err);

/** The namespace's tweets that argument "where" means, as records of put, the oldest first. */
gf_status gf_tweets_records(const gf_call *call, gf_visit_record *visit, void *context,
                            gf_error *err);

/** Count the tweets of all namespaces; check all tables of tweets. `table` is that of the raw ones. */
gf_status gf_tweets_check(gf_app_check *check, const char *table, gf_error *err);

/** Make what derives from the tweets of all namespaces anew, where a check finds a fault. */
gf_status gf_tweets_repair(gf_app_repair *repair, const char *table, gf_error *err);

/** Visits tweets and emits each; the context is a gf_row_writer. */
gf_status gf_tweets_emit(void *row_writer, gf_slice json, const gf_tweet *tweet,
                         const gf_tweets_parser *parser, gf_error *err);
/** The same with the whole JSON, whatever the arguments say. */
gf_status gf_tweets_emit_whole(void *row_writer, gf_slice json, const gf_tweet *tweet,
                               const gf_tweets_parser *parser, gf_error *err);

/** Arguments "id", in the order given; free with gf_free. */
gf_status gf_tweets_ids_of_call(const gf_call *call, gf_slice **ids, size_t *n, gf_error *err);

/* ---- the operations, each behind its handler ------------------------------------------------- */

extern const gf_operation gf_tweets_import_operation, gf_tweets_search_operation,
    gf_tweets_map_operation, gf_tweets_show_operation, gf_tweets_export_operation,
    gf_tweets_frequency_operation, gf_tweets_top_operation, gf_tweets_highscore_operation,
    gf_tweets_grid_operation, gf_tweets_stats_operation, gf_tweets_delete_operation,
    gf_tweets_reindex_operation;

/* clang-format off */
#define P_FROM  P_TEXT("from", "TIME", "not before: 201605051430, ISO 8601, or an age such as 30d")
#define P_TO    P_TEXT("to", "TIME", "not after, included; of a day or a minute its end")
#define P_USER  P_TEXT("user", "NAME", "only of the user with this screen name, in any case")
#define P_USER_ID P_TEXT("user-id", "ID", "only of the user with this id")
#define P_LANG  P_TEXT("lang", "LANG,...", "only in these languages")
#define P_BOX   P_TEXT("box", "WEST,SOUTH,EAST,NORTH", "only these degrees; edges included")
#define P_FIELD P_CHOICE("field", "text|user|both", "where the tokens are to be (both)")
/* clang-format on */

#endif
