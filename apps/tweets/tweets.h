/**
 * Tweets: kept in four tables by their JSON, their words, their minutes and their places, and in a
 * fifth by ids that do not say their time. A sixth has the deletions that a stream told of.
 *
 *     table             row                                          column               value
 *     RawTwitterData    raw row: int64 BE seconds, uint32 BE hash    t, empty             the JSON
 *     TermIndex         term                                         text|user, raw row   count
 *     TweetFrequency    YYYYMMDDhhmm (UTC)                           language             count
 *     GeoTemporalIndex  spreading byte, int16 BE day, geohash of 8   raw row              lat, lon
 *     TweetIds          id                                           raw row              empty
 *     TweetDeletions    uint64 BE seconds that the id says, id       told, empty          empty
 *
 * Each row key has the namespace before it. A count is decimal text, in TermIndex empty where it is
 * 1; lat and lon are float32 BE. The hash is murmur2 or murmur3 of the JSON as it came, without its
 * line end; the spreading byte is that hash modulo 255. docs/tweets.md says more.
 *
 * A tweet is its JSON: the same bytes twice are one tweet. The indexes derive from it by rules, which
 * the namespace's settings name: tables that were made by earlier ones stay right until they are
 * made anew.
 *
 * Threads: a gf_tweets may be used by several threads at once, everything else by one.
 * Source: ScaDS/OSTMap, wiki page "Accumulo schema" (2016).
 */
#ifndef GF_APPS_TWEETS_TWEETS_H
#define GF_APPS_TWEETS_TWEETS_H

#include "apps/tweets/read/geo.h"
#include "base/json/json.h"
#include "formats/reader.h"
#include "grouperfish.h"

enum {
    GF_TWEET_ROW = 12,             /* bytes of a raw row */
    GF_TWEET_MINUTE = 12,          /* bytes of YYYYMMDDhhmm */
    GF_TWEET_GEO_ROW = 11,         /* bytes of a row of GeoTemporalIndex */
    GF_TWEETS_MOST_TERM = 32 << 10 /* bytes of a term, or of a user's name */
};

/** The last second of the days that a row of GeoTemporalIndex can name: 2059-09-18T23:59:59Z. */
#define GF_TWEET_LAST_SECOND (INT64_C(32768) * 86400 - 1)

typedef enum gf_tweets_hash { GF_TWEETS_MURMUR2, GF_TWEETS_MURMUR3 } gf_tweets_hash;
#define GF_TWEET_HASH_NAMES "murmur2|murmur3"
const char *gf_tweets_hash_name(gf_tweets_hash hash);

/** By which of a tweet's texts the indexes are made, and whether there is one of odd ids. */
typedef enum gf_tweets_rules {
    GF_TWEETS_RULES_SHORT = 1,              /* text, else full_text: stores that name no rules */
    GF_TWEETS_RULES_WHOLE = 2,              /* the whole text: see gf_tweet; odd ids */
    GF_TWEETS_RULES = GF_TWEETS_RULES_WHOLE /* those of new tables */
} gf_tweets_rules;

/* ---- one tweet ------------------------------------------------------------------------------- */

/** The members of a tweet that are read; slices are borrowed, empty for members it lacks. */
typedef struct gf_tweet {
    int64_t seconds; /* created_at, since 1970 */
    gf_slice id;     /* id_str, else id */
    gf_slice text;   /* the whole: of note_tweet, else extended_tweet, else full_text, else text;
                         of a retweet "RT @name: " and that of retweeted_status */
    gf_slice short_text; /* text, else full_text */
    gf_json_value
        hashtags;      /* of the entities that go with `text`: an array; of the parser, as all */
    bool has_hashtags; /* false: there are no entities, and the text tells */
    gf_slice lang;     /* "und" where it has none */
    gf_slice user_id;  /* of user: id_str, else id */
    gf_slice name, screen_name;
    bool has_place;
    gf_geo_point place;  /* coordinates, else the mean of the corners of place.bounding_box */
    gf_slice row;        /* of a stored tweet that a query visits: its raw row */
    const char *message; /* not NULL: it is a stream's message of this name, such as "limit"; of a
                            "delete" id is the tweet's that goes, and all else is empty */
} gf_tweet;

typedef struct gf_tweets_parser gf_tweets_parser;

gf_status gf_tweets_parser_create(gf_tweets_parser **parser, gf_error *err);
void gf_tweets_parser_free(gf_tweets_parser *parser);

/**
 * Read a tweet.
 *
 * Reasons for a refusal: broken_json, bad_type, no_time, bad_time, no_text, too_long, bad_deletion
 * (a stream's "delete" that names no tweet). Skipped are a stream's messages that are no tweets
 * (stream_message): these set tweet->message.
 *
 * @param json         with GF_JSON_PADDING readable bytes behind it
 * @param[out] tweet   borrowed from the parser until its next call; of GF_RECORD_DOCUMENT, and of messages
 * @param[out] record  kind, reason, message, replaced; the rest stays as it is
 * @return GF_OK; GF_ENOMEM
 */
gf_status gf_tweets_parse(gf_tweets_parser *parser, gf_slice json, gf_tweet *tweet,
                          gf_record *record, gf_error *err);

/** The same for JSON without padding, which is copied; what is no tweet is GF_ECORRUPT. */
gf_status gf_tweets_parse_stored(gf_tweets_parser *parser, gf_slice json, gf_tweet *tweet,
                                 gf_error *err);

/** Append the tweet that was parsed last as JSON: its own, with its damaged UTF-8 replaced. */
gf_status gf_tweets_write_json(const gf_tweets_parser *parser, gf_buffer *out, gf_error *err);

/** The raw row; and its hash, which is the last four bytes of it. */
void gf_tweets_row(gf_tweets_hash hash, int64_t seconds, gf_slice json, char row[GF_TWEET_ROW]);
/** The spreading byte: of murmur2 the hash modulo 255, of murmur3 the low byte of the remainder of
 * the hash as a signed number, which has its sign. */
unsigned char gf_tweets_spread(gf_tweets_hash hash, uint32_t value);
/** The second that an id says, since 1970; false where it says none. */
bool gf_tweets_id_seconds(gf_slice id, int64_t *seconds);
/** Ids that say an earlier second, of the first day, were counted before there were such ids, or are
 * made up: they say nothing of a time. 2010-11-05T01:42:54Z. */
#define GF_TWEET_FIRST_SAID_SECOND INT64_C(1288921374)
/** Whether the tweet's id is one that can be asked for, and does not say the second of its time. */
bool gf_tweets_id_is_odd(const gf_tweet *tweet);

/** YYYYMMDDhhmm of a time in the years 0 to 9999. */
void gf_tweets_minute(int64_t seconds, char minute[GF_TWEET_MINUTE]);

/* ---- terms ----------------------------------------------------------------------------------- */

typedef struct gf_tweets_term {
    gf_slice term;
    bool of_user; /* family user, else text */
    uint32_t count;
} gf_tweets_term;

/** The terms of a tweet, by family and bytes. Start with {0}. */
typedef struct gf_tweets_terms {
    gf_tweets_term *terms; /* n; borrowed until the next call */
    size_t n, capacity;
    gf_buffer lower, bytes;
} gf_tweets_terms;

void gf_tweets_terms_release(gf_tweets_terms *terms);

/**
 * Terms of the text: split on white space, lower case, without . , ; : + / * ! ? ( ) [ ] < > { } ' ", of
 * two characters or more; one that begins with # or @ counts without it, too. Of the user: name and
 * screen name, whole, in lower case.
 */
gf_status gf_tweets_find_terms(gf_tweets_terms *terms, const gf_tweet *tweet, gf_tweets_rules rules,
                               gf_error *err);

/** The hashtags of a tweet, with their #, in lower case, by their bytes, each once. Start with {0}. */
typedef struct gf_tweets_tags {
    gf_slice *tags; /* n, capacity; borrowed until the next call */
    size_t n, capacity;
    gf_buffer bytes;
    size_t *ends; /* of those that were found, in bytes; end_capacity */
    size_t end_capacity;
} gf_tweets_tags;

void gf_tweets_tags_release(gf_tweets_tags *tags);

/** As the entities have them; without entities # and the word characters behind it in the text. */
gf_status gf_tweets_find_tags(gf_tweets_tags *tags, const gf_tweet *tweet, gf_error *err);

/** Append text in lower case (Unicode, no language's own rules). */
gf_status gf_tweets_lower_case(gf_slice text, gf_buffer *out, gf_error *err);

/* ---- the tables of a namespace --------------------------------------------------------------- */

typedef struct gf_tweets gf_tweets;

/** Open the tables; those that the store lacks are made. */
gf_status gf_tweets_open(gf_store *store, gf_slice name_space, gf_tweets **tweets, gf_error *err);
void gf_tweets_close(gf_tweets *tweets);

typedef struct gf_tweets_info {
    bool any;                /* false: nothing was ever imported, and the rest says nothing */
    bool of_others;          /* others made the tables: nothing was counted yet */
    gf_tweets_hash hash;     /* fixed by the first import */
    uint64_t tweets;         /* stored */
    uint64_t with_place;     /* of these on the map */
    uint64_t deletions;      /* that a stream told of, and that hold */
    gf_tweets_rules rules;   /* by which the indexes are made; without any tweets GF_TWEETS_RULES */
    bool reindexing;         /* begun: of the tweets up to this row by GF_TWEETS_RULES */
    size_t reindexed_length; /* of the row: GF_TWEET_ROW, or 0 before the first */
    char reindexed[GF_TWEET_ROW];
} gf_tweets_info;

/** The rules by which the indexes have, or are to have, the tweet of a raw row. */
gf_tweets_rules gf_tweets_rules_of(const gf_tweets_info *info, gf_slice row);

gf_status gf_tweets_read_info(gf_tweets *tweets, gf_tweets_info *info, gf_error *err);

/** Times of the first and the last tweet; GF_ENOTFOUND where there is none. */
gf_status gf_tweets_extent(gf_tweets *tweets, int64_t *first, int64_t *last, gf_error *err);

/* ---- import ---------------------------------------------------------------------------------- */

/** Reads records of one tweet a line from an input, compressed or not. */
typedef struct gf_tweets_reader gf_tweets_reader;

/**
 * @param max_record  most bytes of a tweet's JSON; 0: 1 MB
 * @param decoding    of the input; NULL for the defaults
 */
gf_status gf_tweets_reader_open(const gf_input *input, uint64_t max_record,
                                const gf_decoding_options *decoding, gf_tweets_reader **reader,
                                gf_error *err);
void gf_tweets_reader_close(gf_tweets_reader *reader);

/** The next record, as gf_reader_next; its JSON is record->raw. Empty lines are no records. */
gf_status gf_tweets_reader_next(gf_tweets_reader *reader, gf_tweet *tweet, gf_record *record,
                                gf_error *err);

typedef struct gf_tweets_import gf_tweets_import;

typedef struct gf_tweets_import_options {
    bool hash_given; /* refuse tables that have another */
    gf_tweets_hash hash;
    gf_slice keep;      /* an age, such as 90d, borrowed: older tweets go; empty: none */
    unsigned flush_ms;  /* tweets wait no longer than this; 0: half a second */
    size_t flush_bytes; /* nor until more than this has come; 0: 16 MB */
} gf_tweets_import_options;

typedef struct gf_tweets_counts {
    uint64_t created, unchanged, with_place; /* written and synced; with_place: of created */
    uint64_t held;                           /* not added: their deletion had come */
    uint64_t old;                            /* not added: older than keep */
    uint64_t deleted;                        /* that a deletion found, of created or from before */
    uint64_t dropped;                        /* that became older than keep */
} gf_tweets_counts;

/**
 * Begin to add tweets. A thread of the import's own writes and syncs them, in batches over all four
 * tables: a crash leaves a tweet in all of them or in none, and the frequencies right.
 * @return GF_EINVAL where the tables have another hash
 */
gf_status gf_tweets_import_open(gf_tweets *tweets, const gf_tweets_import_options *options,
                                gf_tweets_import **import, gf_error *err);

/**
 * Add a tweet, which may wait for what was added before.
 * @return GF_OK; GF_ECONFLICT where another tweet of that second has its hash, GF_ELIMIT where the
 *         database takes no row so large: it is not added, and the import goes on; else a failure
 *         after which it is only good to be closed
 */
gf_status gf_tweets_import_add(gf_tweets_import *import, gf_slice json, const gf_tweet *tweet,
                               gf_error *err);

/**
 * A stream told that a tweet is deleted: it goes if it is there, and is held where it comes later,
 * also from other inputs. The deletion stays for good, with keep as long as a tweet of the time that
 * its id says; of an id that says none for good, too.
 */
gf_status gf_tweets_import_delete(gf_tweets_import *import, gf_slice id, gf_error *err);

/** Write and sync what was added and deleted; with keep all that was older is gone then. */
gf_status gf_tweets_import_flush(gf_tweets_import *import, gf_error *err);
/** Delete no more for being old: what is under way ends with its batch. */
void gf_tweets_import_keep_all(gf_tweets_import *import);
gf_tweets_counts gf_tweets_import_counted(gf_tweets_import *import);
/** Forgets what was not flushed. */
void gf_tweets_import_close(gf_tweets_import *import);

/* ---- reindex --------------------------------------------------------------------------------- */

typedef struct gf_tweets_reindex_options {
    const gf_cancel *cancel;
    /* NULL, or told of tweets done; total may be lower where tweets come meanwhile. */
    void (*progress)(void *context, const char *phase, uint64_t done, uint64_t total);
    void *context;
} gf_tweets_reindex_options;

typedef struct gf_tweets_reindexed {
    uint64_t tweets;         /* stored at the end */
    uint64_t changed;        /* tweets whose cells were not by the rules, or not all there */
    uint64_t added, removed; /* cells; one that had another value counts as added */
    bool by_rules;           /* the tables were by earlier rules */
    bool mended;             /* something was missing, wrong or too much */
} gf_tweets_reindexed;

/**
 * Make the indexes of a namespace what its tweets make by GF_TWEETS_RULES, also where they lost
 * something. Searches and imports go on meanwhile. Written in batches, each of which leaves every
 * tweet either by the rules before or by the new ones, as the settings say: what is cut short is
 * right, and goes on with the next call.
 * @return GF_OK; GF_ECANCELLED; GF_ECORRUPT where a tweet itself is damaged
 * Cost: the tweets are read twice and the indexes once, where something is wrong thrice; memory for
 *       a batch.
 */
gf_status gf_tweets_reindex(gf_tweets *tweets, const gf_tweets_reindex_options *options,
                            gf_tweets_reindexed *reindexed, gf_error *err);

/* ---- queries --------------------------------------------------------------------------------- */

enum { GF_TWEETS_TERM_TEXT = 1, GF_TWEETS_TERM_USER = 2 };

/** A selection of tweets: all conditions that are given must hold. */
typedef struct gf_tweets_query {
    const gf_slice *tokens; /* n_tokens: terms, or starts of terms with a * behind; any case */
    size_t n_tokens;
    unsigned fields;       /* of the tokens: GF_TWEETS_TERM_TEXT, GF_TWEETS_TERM_USER, or both */
    const gf_geo_box *box; /* NULL: anywhere, also without a place */
    int64_t from, to;      /* seconds, both included */
    gf_slice user;         /* its screen name, in any case; empty: of anybody */
    gf_slice user_id;      /* likewise */
    gf_slice languages;    /* as the tweets have them, with commas between; empty: any */

    /* Only tweets of these ids, or of these raw rows in hexadecimal: tokens, box and time then do
     * not count. absent is told of those that are not there; NULL: nobody is. */
    const gf_slice *ids; /* n_ids */
    size_t n_ids;
    gf_status (*absent)(void *context, gf_slice id, gf_error *err);
    void *context;

    bool oldest_first; /* else newest first */
    uint64_t limit;    /* at most so many, of the first in that order; 0: all */
    const gf_cancel *cancel;
} gf_tweets_query;

/** Everything is borrowed until the visitor returns; the parser is for gf_tweets_write_json. */
typedef gf_status gf_tweets_visit(void *context, gf_slice json, const gf_tweet *tweet,
                                  const gf_tweets_parser *parser, gf_error *err);

/**
 * Visit the tweets that are meant, by their time, and within a second by their hash; in one state.
 * @return GF_OK; GF_EINVAL (a token without a letter, a box that is none); GF_ECORRUPT where an
 *         index names a tweet that is not there
 * Cost: with tokens, a user or a box 12 bytes and a read for each tweet found; else a walk over the
 *       time. user_id and languages have no index: they choose among what is read.
 */
gf_status gf_tweets_query_run(gf_tweets *tweets, const gf_tweets_query *query,
                              gf_tweets_visit *visit, void *context, gf_error *err);

enum { GF_MOST_PERIODS = 366 * 24 * 60 };

/** The length of a period in minutes. */
typedef enum gf_tweets_unit {
    GF_TWEETS_MINUTE = 1,
    GF_TWEETS_HOUR = 60,
    GF_TWEETS_DAY = 24 * 60
} gf_tweets_unit;

/** Tweets of a language in each period: counts[n_periods]. */
typedef gf_status gf_tweets_visit_language(void *context, gf_slice language, const uint64_t *counts,
                                           gf_error *err);

/**
 * The tweets of each period (UTC) from one to another, both included and counted since 1970, by
 * language. Without languages all that have any there, by name; else those, with 0 where there are
 * none.
 * @return GF_OK; GF_EINVAL (to before from); GF_ELIMIT (over GF_MOST_PERIODS)
 * Cost: a walk over the rows of these minutes, whatever the unit.
 */
gf_status gf_tweets_frequency(gf_tweets *tweets, gf_tweets_unit unit, int64_t from, int64_t to,
                              const gf_slice *languages, size_t n_languages,
                              gf_tweets_visit_language *visit, void *context, gf_error *err);

/** The first and the last minute that has tweets, since 1970; GF_ENOTFOUND where there are none. */
gf_status gf_tweets_minutes(gf_tweets *tweets, int64_t *first, int64_t *last, gf_error *err);

typedef struct gf_tweets_tag_count {
    gf_slice tag;    /* with its #, in lower case */
    uint64_t tweets; /* that have it */
} gf_tweets_tag_count;

typedef gf_status gf_tweets_visit_tag(void *context, const gf_tweets_tag_count *tag, gf_error *err);

/** The commonest hashtags of the tweets that are meant: by falling number, then by their bytes. */
gf_status gf_tweets_top(gf_tweets *tweets, const gf_tweets_query *query, size_t most,
                        gf_tweets_visit_tag *visit, void *context, gf_error *err);

enum { GF_TWEETS_MOST_LEVEL = 20 };

/** A cell of a grid, and the tweets in it. */
typedef struct gf_tweets_square {
    gf_geo_box box; /* its west and south edge are its own; the east and north one of the next */
    uint64_t tweets;
    gf_geo_point middle; /* mean of their places */
} gf_tweets_square;

typedef gf_status gf_tweets_visit_square(void *context, const gf_tweets_square *cell,
                                         gf_error *err);

/**
 * The tweets that are meant and have a place, counted by the cells of a grid of 360 / 2^level
 * degrees from the south-west corner of the map on: by falling number, then from the north-west on.
 *
 * @param level  1..GF_TWEETS_MOST_LEVEL
 * Cost: a walk over the index of places in the box and time; with more conditions a
 *       read for each tweet.
 */
gf_status gf_tweets_grid(gf_tweets *tweets, const gf_tweets_query *query, unsigned level,
                         size_t most, gf_tweets_visit_square *visit, void *context, gf_error *err);

/** Path and area of a user's tweets with a place. */
typedef struct gf_tweets_user {
    gf_slice id, screen_name, name; /* as the user's last tweet has them; empty where it has none */
    uint64_t tweets;                /* with a place */
    double path;                    /* km from each to the next, along great circles */
    double area;                    /* km2 of their convex hull; 0 where not asked for */
} gf_tweets_user;

typedef gf_status gf_tweets_visit_user(void *context, const gf_tweets_user *user, gf_error *err);

/**
 * The users with the longest paths, or the largest areas, of the tweets that are meant. A user is
 * told by id, where there is none by the screen name in any case.
 *
 * Cost: a walk over the tweets; by area 24 bytes for each that has a place.
 */
gf_status gf_tweets_highscore(gf_tweets *tweets, const gf_tweets_query *query, bool by_area,
                              size_t most, gf_tweets_visit_user *visit, void *context,
                              gf_error *err);

/* ---- deletion -------------------------------------------------------------------------------- */

typedef struct gf_tweets_deleted {
    uint64_t tweets;     /* that are gone, synced; or that would go */
    uint64_t with_place; /* of these; 0 where they are only counted */
} gf_tweets_deleted;

/**
 * Delete the tweets that are meant: from all tables, in batches that are each written as a whole.
 * What another importer adds meanwhile stays. Imported again, a tweet is there as it was.
 *
 * @param only_count  delete nothing
 * @param deleted     added to, also where the deletion fails later
 * @return as gf_tweets_query_run; GF_ECANCELLED
 * Cost: that of the query, 12 bytes for each tweet, and about that of its import.
 */
gf_status gf_tweets_delete(gf_tweets *tweets, const gf_tweets_query *query, bool only_count,
                           gf_tweets_deleted *deleted, gf_error *err);

/* ---- tweets as documents, documents on a map ------------------------------------------------- */

enum { GF_TWEET_FIELDS = 6 };

/** A tweet as a document. Start with {0}. */
typedef struct gf_tweets_document {
    gf_document document; /* borrowed from the tweet, and from here until the next */
    gf_field fields[GF_TWEET_FIELDS];
    gf_buffer bytes;
    gf_tweets_tags tags;
} gf_tweets_document;

void gf_tweets_document_release(gf_tweets_document *d);

/**
 * Id: the tweet's, else its time and murmur2 in hexadecimal, as in a raw row. Text, time (ISO
 * 8601), language where it is known; fields, those that it has: screen_name, name, user_id,
 * latitude, longitude, hashtags (a list, in lower case).
 */
gf_status gf_tweets_to_document(gf_tweets_document *d, gf_slice json, const gf_tweet *tweet,
                                gf_error *err);

#endif
