/* The application `tweets`, as api sees it. */
#include "apps/apps.h"
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/tables_internal.h"

static const gf_operation *const operations[] = {
    &gf_tweets_import_operation, &gf_tweets_search_operation,    &gf_tweets_map_operation,
    &gf_tweets_show_operation,   &gf_tweets_export_operation,    &gf_tweets_frequency_operation,
    &gf_tweets_top_operation,    &gf_tweets_highscore_operation, &gf_tweets_grid_operation,
    &gf_tweets_stats_operation,  &gf_tweets_delete_operation,    &gf_tweets_reindex_operation,
};

/* Its other tables are there where the tweets are. */
static bool has_table(const char *table)
{
    return strcmp(table, GF_TWEETS_RAW) == 0;
}

const gf_app gf_tweets_app = {
    .name = "tweets",
    .operations = GF_OPERATION_GROUP(operations),
    .records = gf_tweets_records,
    .filters = true,
    .has_table = has_table,
    .check = gf_tweets_check,
    .repair = gf_tweets_repair,
    .open_tables = gf_tweets_open_joined,
    .tables = gf_tweets_descriptions,
    .n_tables = GF_TWEETS_TABLES,
};
