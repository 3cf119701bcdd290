/**
 * The tables of tweets: families, keys, the row of settings.
 */
#ifndef GF_APPS_TWEETS_TABLES_INTERNAL_H
#define GF_APPS_TWEETS_TABLES_INTERNAL_H

#include "apps/tweets/tweets.h"
#include "storage/backend.h"
#include "storage/description.h"

struct gf_tweets {
    gf_store *store;
    gf_database *db;
    gf_table *raw, *terms, *frequency, *geo, *ids, *deletions, *settings;
    gf_buffer name_space;   /* as the first part of a row key; empty where the tables are of one */
    gf_buffer settings_key; /* there, of its row of settings */
    gf_buffer name;         /* of the namespace */
};

#define GF_TWEETS_RAW      "RawTwitterData"
#define GF_TWEETS_SETTINGS "TweetSettings"

enum { GF_TWEETS_RAW_T };
enum { GF_TWEETS_TERMS_TEXT, GF_TWEETS_TERMS_USER };
enum { GF_TWEETS_FREQUENCY_LANGUAGE };
enum { GF_TWEETS_GEO_PLACES };
enum { GF_TWEETS_IDS_ROWS };
enum { GF_TWEETS_DELETIONS_TOLD };
enum { GF_TWEETS_SETTINGS_MAIN };

/** The tables, as `table scan --system` and its siblings show them. */
enum { GF_TWEETS_TABLES = 7 };
extern const gf_table_description gf_tweets_descriptions[GF_TWEETS_TABLES];

/** Open the tables of all namespaces. */
gf_status gf_tweets_open_tables(gf_store *store, gf_tweets *tweets, gf_error *err);

/** Hold the tweets of the namespace (engine/store/hold.h); let go of it by gf_hold_let_go. */
gf_status gf_tweets_hold(const gf_tweets *tweets, gf_hold *hold, gf_error *err);

/** Set key to the row of that table: the namespace, then the part. */
void gf_tweets_key(const gf_tweets *tweets, gf_buffer *key, gf_slice part);
void gf_tweets_term_key(const gf_tweets *tweets, gf_buffer *key, gf_slice term);

/** The row of TweetDeletions: the second that the id says (0: none), and the id. */
void gf_tweets_deletion_key(const gf_tweets *tweets, gf_buffer *key, gf_slice id);

/** A row key without its namespace; GF_ECORRUPT where that is not `length` bytes. */
gf_status gf_tweets_part(const gf_tweets *tweets, gf_slice key, size_t length, gf_slice *part,
                         gf_error *err);

static inline gf_slice gf_tweets_prefix(const gf_tweets *tweets)
{
    return gf_buffer_view(&tweets->name_space);
}

static inline gf_slice gf_tweets_settings_key(const gf_tweets *tweets)
{
    return gf_buffer_view(tweets->settings_key.len ? &tweets->settings_key : &tweets->name_space);
}

/**
 * Whether the database writes one row after another: the namespace is then held for each batch, which
 * is made by a journal, and an index may for a moment name a tweet that is not there yet.
 */
static inline bool gf_tweets_by_rows(const gf_tweets *tweets)
{
    return gf_database_holds_in_rows(tweets->db);
}

/** Seconds of a raw row. */
static inline int64_t gf_tweets_row_seconds(gf_slice row)
{
    return (int64_t)gf_read_u64be(row.ptr);
}

/** Put the row of settings of the namespace whose start of keys that is, all of it. */
void gf_tweets_put_settings(const gf_tweets *tweets, gf_batch *batch, const gf_tweets_info *info,
                            gf_slice version);

/** Row of the settings, likewise GF_ENOTFOUND where there is none. */
gf_status gf_tweets_read_settings(gf_tweets *tweets, gf_row *row, gf_tweets_info *info,
                                  gf_slice *version, gf_error *err);
/** The same in a snapshot; NULL: now. */
gf_status gf_tweets_read_settings_at(gf_tweets *tweets, const gf_snapshot *snapshot, gf_row *row,
                                     gf_tweets_info *info, gf_slice *version, gf_error *err);

/* ---- tables that others filled (join.c) ------------------------------------------------------- */

/**
 * Settings of tables that have none: the hash as the first tweet has it, the first
 * rules, no counts (of_others). GF_ENOTFOUND where there is no tweet.
 */
gf_status gf_tweets_look_at_others(const gf_tweets *tweets, gf_tweets_info *info, gf_error *err);

/** Count the tweets, and those with a place, by walks over the tables. */
gf_status gf_tweets_count(const gf_tweets *tweets, gf_tweets_info *info, gf_error *err);

/**
 * For before the first batch of a process: finish what another one has left, see that the tables
 * can be written to, and put the settings where others made the tables.
 */
gf_status gf_tweets_join(gf_tweets *tweets, gf_error *err);

/**
 * Open the tables, where the store has such and an import of ours has joined them, since those of others
 * alone have no settings to go by; of a copy that was cut short any (gf_app.open_tables).
 */
gf_status gf_tweets_open_joined(gf_store *store, bool cut_short, gf_error *err);

/** A minute's row, in minutes since 1970; false where it is not one of digits. */
bool gf_tweets_read_minute(gf_slice text, int64_t *minute);

/** The row of GeoTemporalIndex. */
void gf_tweets_geo_row(unsigned char spread, int64_t seconds, uint64_t geohash,
                       char row[GF_TWEET_GEO_ROW]);
void gf_tweets_geo_value(gf_geo_point p, char value[8]);
bool gf_tweets_read_geo_value(gf_slice value, float *latitude, float *longitude);

/* ---- what a tweet makes (derive.c) ------------------------------------------------------------ */

typedef enum gf_tweets_index {
    GF_TWEETS_TERMS,
    GF_TWEETS_MINUTES,
    GF_TWEETS_PLACES,
    GF_TWEETS_IDS, /* of odd tweets alone, and not by GF_TWEETS_RULES_SHORT */
    GF_TWEETS_INDEXES
} gf_tweets_index;

gf_table *gf_tweets_index_table(const gf_tweets *tweets, gf_tweets_index index);

/** A cell that a tweet makes; of GF_TWEETS_MINUTES it adds count to one that many make. */
typedef struct gf_tweets_cell {
    gf_tweets_index index;
    unsigned family;
    gf_slice key;       /* behind the namespace, encoded */
    gf_slice qualifier; /* the raw row; of a minute the language */
    gf_slice value;
    uint32_t count; /* of a term how often the tweet has it, else 1 */
} gf_tweets_cell;

/** The cell is borrowed until the visitor returns. */
typedef gf_status gf_tweets_visit_cell(void *context, const gf_tweets_cell *cell, gf_error *err);

/** Scratch memory. Start with {0}. */
typedef struct gf_tweets_deriving {
    gf_tweets_terms terms;
    gf_buffer key;
} gf_tweets_deriving;

void gf_tweets_deriving_release(gf_tweets_deriving *d);

/**
 * Visit all cells that a tweet makes in the indexes: its terms by family and bytes, its minute, its
 * place if it has one, its id if that is odd. They are a function of the tweet's JSON, the hash and the rules alone; each is
 * visited once.
 */
gf_status gf_tweets_derive(gf_tweets_deriving *d, gf_tweets_hash hash, gf_tweets_rules rules,
                           gf_slice row, const gf_tweet *tweet, gf_tweets_visit_cell *visit,
                           void *context, gf_error *err);

/** False: the tweet makes the same cells by both rules. */
bool gf_tweets_rules_differ(const gf_tweet *tweet, gf_tweets_rules a, gf_tweets_rules b);

/** A sum over cells that does not depend on their order. Start with {0}. */
typedef struct gf_tweets_sum {
    uint64_t n, hash;
} gf_tweets_sum;

/** Add a cell, whose key is that of its row. */
void gf_tweets_sum_add(gf_tweets_sum *sum, gf_tweets_index index, unsigned family, gf_slice key,
                       gf_slice qualifier, gf_slice value);

#endif
