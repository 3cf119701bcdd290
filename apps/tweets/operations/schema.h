/** The members of rows: tables that the operations of tweets name (api/row_member.h). */
#ifndef GF_APPS_TWEETS_OPERATIONS_SCHEMA_H
#define GF_APPS_TWEETS_OPERATIONS_SCHEMA_H

#include "api/row_member.h"

extern const gf_row_member gf_schema_tweets_import[], gf_schema_tweets_search[],
    gf_schema_tweets_show[], gf_schema_tweets_export[], gf_schema_tweets_frequency[],
    gf_schema_tweets_top[], gf_schema_tweets_highscore[], gf_schema_tweets_grid[],
    gf_schema_tweets_stats[], gf_schema_tweets_delete[], gf_schema_tweets_reindex[];

#endif
