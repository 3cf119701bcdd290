/* Members of the rows of tweets, in the order of docs/operations.md. */
#include "apps/tweets/operations/schema.h"

const gf_row_member gf_schema_tweets_import[] = {
    M("store", TEXT, "path of the store"),
    M_MAYBE("hash", TEXT, "of the namespace's tables; absent where nothing was ever imported"),
    M("read", INTEGER, "records"),
    M_MAYBE("new", INTEGER, "tweets that were not there"),
    M("changed", INTEGER, "always 0: a tweet is its JSON"),
    M("unchanged", INTEGER, "tweets that were there"),
    M("stored", INTEGER, "as `new`"),
    M("skipped", INTEGER, "records that are no tweets, and tweets that are deleted or too old"),
    M("refused", INTEGER, "records that could not be imported"),
    M("reasons", MAP, "object: for each reason the records skipped or refused for it"),
    M("invalid_utf8", INTEGER,
      "pieces of text that were not valid UTF-8, for which U+FFFD is indexed; the JSON is kept as "
      "it came"),
    M("with_place", INTEGER, "of `new`, those that are on the map"),
    M("tweets", INTEGER, "that the namespace has now"),
    M("messages", MAP, "object: for each kind of message of a stream their number"),
    M("deleted", INTEGER, "tweets that are gone since the stream said so, of `new` or from before"),
    M("dropped", INTEGER, "tweets that are gone since they are older than `keep`"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_tweets_search[] = {
    M_MAYBE("id", TEXT, "its id; absent where it has none"),
    M("time", TIME, "`created_at`, ISO 8601"),
    M_MAYBE("lang", TEXT, "its language; `und` where it has none"),
    M_MAYBE("screen_name", TEXT, "of its user; absent where it has none"),
    M_MAYBE("name", TEXT, "of its user; absent where it has none"),
    M_MAYBE("latitude", NUMBER, "degrees; absent where it has no place"),
    M_MAYBE("longitude", NUMBER, "degrees; absent where it has no place"),
    M("text", TEXT, "its text"),
    M("row", TEXT, "its raw row, 24 hexadecimal digits: the tweet itself, also where it has no id"),
    M_MAYBE("tweet", MAP, "the whole JSON; only with `json`"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_tweets_show[] = {
    M_MAYBE("id", TEXT, "its id; absent where it has none"),
    M("time", TIME, "`created_at`, ISO 8601"),
    M_MAYBE("lang", TEXT, "its language; `und` where it has none"),
    M_MAYBE("screen_name", TEXT, "of its user; absent where it has none"),
    M_MAYBE("name", TEXT, "of its user; absent where it has none"),
    M_MAYBE("latitude", NUMBER, "degrees; absent where it has no place"),
    M_MAYBE("longitude", NUMBER, "degrees; absent where it has no place"),
    M("text", TEXT, "its text"),
    M("row", TEXT, "its raw row, 24 hexadecimal digits"),
    M("tweet", MAP, "the whole JSON"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_tweets_export[] = {
    M("tweets", INTEGER, "written"), M("bytes", INTEGER, "written"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_tweets_frequency[] = {
    M_MAYBE_WORD("by", "minute|hour|day",
                 "`minute`, `hour` or `day`; absent where both ends were given, and not this"),
    M_MAYBE("from", TIME,
            "begin of the first period, ISO 8601; likewise absent, and where there are no tweets"),
    M("data", MAP,
      "object: for each language an array with the number of each period; 0 where there are none"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_tweets_top[] = {M("tag", TEXT, "with its #, in lower case"),
                                              M("tweets", INTEGER, "that have it"),
                                              GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_tweets_highscore[] = {
    M_MAYBE("id", TEXT, "the user's; absent where it has none"),
    M("screen_name", TEXT, "as the user's last tweet has it"),
    M_MAYBE("name", TEXT, "likewise"),
    M("tweets", INTEGER, "with a place"),
    M("path_km", NUMBER, "length of the path"),
    M_MAYBE("area_km2", INTEGER, "only with `by=area`: the area"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_tweets_grid[] = {
    M("tweets", INTEGER, "in the cell"),
    M("latitude", NUMBER, "mean of their places"),
    M_MAYBE("longitude", NUMBER, "likewise"),
    M("west", NUMBER, "the cell's edge, its own"),
    M("south", NUMBER, "the cell's edge, its own"),
    M("east", NUMBER, "the cell's edge, the next one's"),
    M("north", NUMBER, "the cell's edge, the next one's"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_tweets_stats[] = {
    M("tweets", INTEGER, "of the namespace"),
    M("with_place", INTEGER, "of these on the map"),
    M_MAYBE("hash", TEXT, "that their rows are kept under; absent where nothing was imported"),
    M_MAYBE("first", TIME, "time of the first one; absent where there is none"),
    M_MAYBE("last", TIME, "time of the last one; absent where there is none"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_tweets_delete[] = {
    M("asked", INTEGER, "ids that were given"),
    M("deleted", INTEGER, "tweets that are gone"),
    M("absent", INTEGER, "ids that no tweet has"),
    M_MAYBE("would_delete", INTEGER, "only with `dry-run`: tweets that would be deleted"),
    M("tweets", INTEGER, "that the namespace has now"),
    M_MAYBE("purged", TRUTH, "only with `purge`: true"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_tweets_reindex[] = {
    M_MAYBE_WORD("state", "reindexed|mended|unchanged",
                 "`reindexed` where the tables were by earlier rules, `mended` where only "
                 "something was missing, wrong or too much, `unchanged` where nothing was"),
    M("tweets", INTEGER, "that the namespace has"),
    M("changed", INTEGER, "tweets of which cells were missing or changed"),
    M("added", INTEGER, "cells that were written"),
    M("removed", INTEGER, "cells that no tweet makes now"),
    M("rules", INTEGER, "by which the tables are now"),
    GF_ROW_MEMBERS_END};
