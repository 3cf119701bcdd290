/* The table of operations: names, paths, parameters and their help. */
#include "api/call.h"

#include "apps/tweets/tweets.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "formats/reader.h"

/* clang-format off */
#define REQUIRED(name, value, meaning)        {name, GF_TEXT, true, value, meaning, 0, 0}
#define TEXT(name, value, meaning)            {name, GF_TEXT, false, value, meaning, 0, 0}
#define NUMBER(name, least, most, meaning)    {name, GF_NUMBER, false, "N", meaning, least, most}
#define CHOICE(name, words, meaning)          {name, GF_CHOICE, false, words, meaning, 0, 0}
#define FLAG(name, meaning)                   {name, GF_FLAG, false, NULL, meaning, 0, 0}
#define LIST(name, value, meaning)            {name, GF_LIST, false, value, meaning, 0, 0}
#define SEVERAL(name, required, value, meaning) {name, GF_SEVERAL, required, value, meaning, 0, 0}

#define COLLECTION  REQUIRED("collection", "NAME", "the collection")
#define COLLECTIONS REQUIRED("collection", "NAME", "the collection, or a pattern such as 'feedback-*'")
#define EVERY       FLAG("all", "all collections instead")
#define NAMESPACE   FLAG("all", "the namespace's defaults instead")
#define CONFIG      TEXT("config", "NAME", "configuration (default)")
#define EACH_CONFIG TEXT("config", "NAME", "only this configuration (all of them)")
#define BUILD       {"build", GF_MOMENT, false, "TIME", "a build that is kept (the served one)", 1, 0}
#define PURGE       FLAG("purge", "leave nothing of it in the store's files")
#define MIN_SCORE(meaning) {"min-score", GF_SHARE, false, "S", meaning, 0, 0}
#define FROM        TEXT("from", "TIME", "not before: 201605051430, ISO 8601, or an age such as 30d")
#define TO          TEXT("to", "TIME", "not after, included; of a day or a minute its end")
#define BOX         TEXT("box", "WEST,SOUTH,EAST,NORTH", "only these degrees; edges included")
#define PAPERS      TEXT("table", "VERSION-ENV", "of the table wbgrp-journal-extract-... (0-prod)")
#define COLUMNS     FLAG("columns", "every column of the table instead")

static const gf_parameter one_collection[] = {COLLECTION};
static const gf_parameter collection_list[] = {
    TEXT("prefix", "TEXT", "only names that start so"),
    CHOICE("sort", "name|size|modified", "order (name)"),
    NUMBER("limit", 0, 0, "at most so many (all)")};
static const gf_parameter collection_show[] = {COLLECTIONS, EVERY, COLUMNS};
static const gf_parameter put[] = {
    COLLECTION,
    TEXT("id", "FIELD", "field that is the id (id)"),
    LIST("text", "FIELD[,FIELD...]", "field or fields that are the text (text)"),
    TEXT("time", "FIELD", "field that is the time (time)"),
    TEXT("lang", "FIELD", "field that is the language (lang)"),
    LIST("fields", "FIELD,...|all", "other fields to keep (all)"),
    CHOICE("from", GF_FORMAT_NAMES "|papers|tweets", "format, where the name does not tell it; or what the store has"),
    SEVERAL("where", false, "F=V", "from tweets: those of which this holds; also !=, <, <=, >, >="),
    TEXT("table", "VERSION-ENV", "from papers: their table (0-prod)"),
    SEVERAL("also", false, "PATTERN", "a further collection for each record, such as '{type}-{product}'"),
    {"max-document", GF_BYTES, false, "SIZE", "refuse larger documents (16M)", 1, GF_LARGEST_MAX_DOCUMENT},
    NUMBER("max-collections", 1, UINT32_MAX, "make at most so many collections (100000)"),
    CHOICE("results", "each", "instead a row for each record, once it is stored")};
static const gf_parameter delete_documents[] = {
    COLLECTION,
    SEVERAL("id", false, "ID", "ids to delete; else one on each line of the input"),
    TEXT("before", "TIME", "documents whose time is before this, or of this age (30d)"),
    SEVERAL("where", false, "F=V", "documents of which this holds; also !=, <, <=, >, >="),
    FLAG("dry-run", "count what would be deleted, and do nothing"),
    PURGE};
static const gf_parameter collection_delete[] = {COLLECTION, PURGE};
static const gf_parameter config_set[] = {
    COLLECTIONS,
    NAMESPACE,
    CONFIG,
    SEVERAL("set", true, "KEY=VALUE", "KEY= takes the key back to its default")};
static const gf_parameter config_one[] = {COLLECTIONS, NAMESPACE, CONFIG};
static const gf_parameter config_list[] = {COLLECTIONS, NAMESPACE};
static const gf_parameter builds[] = {COLLECTIONS, EVERY, CONFIG};
static const gf_parameter rebuild[] = {
    TEXT("collection", "NAME", "the collection, or a pattern such as 'feedback-*'"),
    FLAG("all", "all collections"),
    TEXT("prefix", "TEXT", "with all: only names that start so"),
    EACH_CONFIG,
    FLAG("force", "also where nothing has changed"),
    CHOICE("start", "served|fresh", "begin from the served clusters or anew (as configured)"),
    FLAG("dry-run", "say what would be rebuilt and how much memory that takes, and do nothing"),
    FLAG("explain-k", "instead show how many clusters k=auto chooses, and why; nothing is built"),
    NUMBER("threads", 0, 1024, "threads (one per processor)"),
    {"memory", GF_BYTES, false, "SIZE", "hold no more than that: where all rows are more, mini-batches of rows in a file", 1 << 20, 0},
    FLAG("matrix", "cluster the rows of an .npz file, which is the input")};
static const gf_parameter clusters[] = {
    COLLECTIONS,
    EVERY,
    CONFIG,
    BUILD,
    CHOICE("sort", "size|label|id", "order (size)"),
    MIN_SCORE("count only documents with at least that score (0)"),
    FLAG("pending", "instead the documents put after the build, and where they would be"),
    CHOICE("by", "day|week|month", "count documents by their time (UTC), rising and falling clusters first"),
    NUMBER("periods", 1, 1000, "with by: the latest so many (12)"),
    FLAG("tree", "the hierarchy over the clusters, with labels at its inner nodes"),
    NUMBER("depth", 0, 10000, "with tree: down to this depth (all)")};
static const gf_parameter cluster[] = {
    COLLECTION,
    REQUIRED("cluster", "ID|label:TEXT", "the cluster, by id or label"),
    CONFIG,
    BUILD,
    NUMBER("docs", 0, 0, "documents to show, best first (10)"),
    NUMBER("weakest", 1, 0, "instead so many that fit worst, worst first"),
    NUMBER("terms", 0, 0, "terms to show, heaviest first (10; 20 are kept)"),
    COLUMNS};
static const gf_parameter one_build[] = {
    COLLECTION,
    {"build", GF_MOMENT, true, "TIME", "a build that is kept", 1, 0},
    CONFIG};
static const gf_parameter label[] = {
    COLLECTION,
    {"cluster", GF_NUMBER, true, "ID", "the cluster", 1, UINT32_MAX},
    TEXT("text", "TEXT", "what it is to be called"),
    FLAG("unpin", "take that back"),
    CONFIG};
static const gf_parameter doc[] = {
    COLLECTION,
    REQUIRED("id", "ID", "the document"),
    EACH_CONFIG,
    BUILD,
    FLAG("why", "the terms that put it where it is"),
    NUMBER("terms", 0, 0, "with why: terms to show (10)"),
    COLUMNS};
static const gf_parameter export_rows[] = {
    COLLECTIONS,
    EVERY,
    CONFIG,
    BUILD,
    MIN_SCORE("only documents with at least that score (0)"),
    FLAG("with-text", "the documents' texts too"),
    FLAG("documents", "the documents as put reads them; needs no build"),
    FLAG("matrix", "rows, terms, centroids and labels as an .npz file"),
    FLAG("geojson", "the documents that have a place, as GeoJSON features")};
static const gf_parameter assign[] = {
    COLLECTION,
    CONFIG,
    BUILD,
    TEXT("id", "FIELD", "field that is the id (id)"),
    LIST("text", "FIELD[,FIELD...]", "field or fields that are the text (text)"),
    TEXT("lang", "FIELD", "field that is the language (lang)"),
    CHOICE("from", GF_FORMAT_NAMES, "format, where the name does not tell it"),
    {"max-document", GF_BYTES, false, "SIZE", "refuse larger records (16M)", 1, GF_LARGEST_MAX_DOCUMENT},
    FLAG("with-text", "the records' texts too"),
    NUMBER("threads", 0, 1024, "threads (one per processor)")};
static const gf_parameter search[] = {
    COLLECTIONS,
    EVERY,
    REQUIRED("query", "QUERY", "words, word*, \"a phrase\"; - before what must not be there"),
    CONFIG,
    TEXT("cluster", "ID|label:TEXT", "only documents of this cluster"),
    SEVERAL("where", false, "F=V", "only documents of which this holds; also !=, <, <=, >, >="),
    TEXT("since", "TIME", "only documents whose time is not before this, or an age (30d)"),
    TEXT("until", "TIME", "only documents whose time is before this, or an age"),
    NUMBER("limit", 0, 0, "documents to show, best first (10; 0 for all)")};
static const gf_parameter similar[] = {
    COLLECTION,
    TEXT("id", "ID", "the document"),
    TEXT("text", "TEXT", "instead a text that is not stored"),
    TEXT("lang", "LANG", "language of that text"),
    NUMBER("limit", 0, 0, "documents to show, most similar first (10; 0 for all)")};
static const gf_parameter diff[] = {
    COLLECTIONS,
    EVERY,
    {"from", GF_MOMENT, false, "TIME", "a build that is kept (the newest before the other)", 1, 0},
    {"to", GF_MOMENT, false, "TIME", "a build that is kept (the served one)", 1, 0},
    CONFIG,
    FLAG("docs", "instead the documents that are in another cluster than before")};
static const gf_parameter report[] = {
    COLLECTION,
    CONFIG,
    BUILD,
    CHOICE("by", "day|week|month", "periods of the trends (month)"),
    NUMBER("periods", 1, 1000, "the latest so many (24)"),
    NUMBER("docs", 0, 1000, "documents of each cluster, best first (3)"),
    NUMBER("terms", 0, 20, "terms of each cluster, heaviest first (10)")};
static const gf_parameter evaluate[] = {
    COLLECTIONS,
    EVERY,
    CONFIG,
    BUILD,
    TEXT("label-field", "FIELD", "field that holds the class; else the input has ids and classes")};
static const gf_parameter status[] = {FLAG("changed", "name the collections that have changed since they were built")};
static const gf_parameter backup[] = {REQUIRED("to", "DIR", "a folder that is not there yet")};
static const gf_parameter restore[] = {
    REQUIRED("from", "DIR", "the backup"),
    REQUIRED("to", "DIR", "a folder that is not there yet")};
#define TABLE       REQUIRED("table", "TABLE", "the table")
#define ROW_KEY     SEVERAL("key", true, "PART", "the row's key, part by part")
#define SETS        SEVERAL("set", true, "F:C=V", "a cell and its value: FAMILY:COLUMN=VALUE")
#define TIMESTAMP   NUMBER("timestamp", 1, 0, "milliseconds since 1970 (now, where the family needs one)")
#define FAMILIES    LIST("family", "FAMILY,...", "only these families")
static const gf_parameter table_one[] = {TABLE};
static const gf_parameter table_create[] = {
    TABLE,
    SEVERAL("key", false, "NAME:TYPE", "a part of the row key: text, bytes, int64, uint64, raw:WIDTH"),
    SEVERAL("family", false, "F[:WORD,...]", "a family: wide, snappy, versions=N, ttl=SECONDS, type=TYPE, qualifier=TYPE"),
    SEVERAL("column", false, "F:C=TYPE", "a column: text, bytes, int64, uint64, decimal, float, json")};
static const gf_parameter table_alter[] = {
    TABLE,
    SEVERAL("add-family", false, "F[:WORD,...]", "a family: wide, snappy, versions=N, ttl=SECONDS, type=TYPE, qualifier=TYPE"),
    SEVERAL("add-column", false, "F:C=TYPE", "a column of a packed family, with its type")};
static const gf_parameter table_list[] = {TEXT("prefix", "TEXT", "only names that start so")};
static const gf_parameter table_put[] = {TABLE, ROW_KEY, SETS, TIMESTAMP};
static const gf_parameter table_get[] = {
    TABLE,
    ROW_KEY,
    FAMILIES,
    TEXT("column", "F:C", "only this cell, FAMILY:COLUMN"),
    NUMBER("versions", 1, 1000000, "with column: the newest so many versions (1)")};
static const gf_parameter table_scan[] = {
    TABLE,
    SEVERAL("key", false, "PART", "only rows whose key begins with these parts"),
    TEXT("prefix", "TEXT", "only rows whose next part starts so"),
    SEVERAL("from", false, "PART", "first row: the parts behind those of key"),
    SEVERAL("to", false, "PART", "first row that is not given any more; likewise"),
    FAMILIES,
    SEVERAL("where", false, "F:C=V", "rows of which this holds; also !=, <, <=, >, >="),
    FLAG("reverse", "from the last row to the first"),
    NUMBER("offset", 0, 0, "leave out so many rows first (0)"),
    NUMBER("limit", 1, 0, "at most so many (all)")};
static const gf_parameter table_import[] = {
    TABLE,
    CHOICE("from", "jsonl|csv", "format: JSON Lines, or CSV with a header (jsonl)")};
static const gf_parameter table_export[] = {
    TABLE,
    SEVERAL("key", false, "PART", "only rows whose key begins with these parts"),
    FAMILIES,
    SEVERAL("where", false, "F:C=V", "rows of which this holds; also !=, <, <=, >, >="),
    FLAG("csv", "rows as the text of a CSV file")};
static const gf_parameter table_delete[] = {
    TABLE,
    ROW_KEY,
    LIST("family", "FAMILY,...", "only these families of the row"),
    SEVERAL("column", false, "F:C", "only this cell")};
static const gf_parameter table_incr[] = {
    TABLE,
    ROW_KEY,
    REQUIRED("column", "F:C", "the cell, FAMILY:COLUMN"),
    TEXT("by", "N", "what is added; may be negative (1)")};
static const gf_parameter table_check_and_put[] = {
    TABLE,
    ROW_KEY,
    TEXT("if", "F:C=V", "only where the cell has this value"),
    TEXT("if-absent", "F:C", "only where there is no such cell"),
    SETS,
    TIMESTAMP};
static const gf_parameter tweets_import[] = {
    CHOICE("hash", GF_TWEET_HASH_NAMES, "hash of the rows, fixed by the first import (murmur2)"),
    {"max-tweet", GF_BYTES, false, "SIZE", "refuse longer records (1M)", 1, 1 << 26}};
static const gf_parameter tweets_search[] = {
    SEVERAL("token", true, "TOKEN", "a word or a user's name, or the start of one with * behind it"),
    CHOICE("field", "text|user|both", "where the tokens are to be (both)"),
    FROM,
    TO,
    NUMBER("limit", 0, 0, "the newest so many (20); 0: all"),
    FLAG("json", "the tweets' whole JSON too")};
static const gf_parameter tweets_map[] = {
    REQUIRED("box", "WEST,SOUTH,EAST,NORTH", "degrees; edges included"),
    FROM,
    TO,
    NUMBER("limit", 0, 0, "the newest so many (100); 0: all"),
    FLAG("json", "the tweets' whole JSON too")};
static const gf_parameter tweets_frequency[] = {
    REQUIRED("from", "TIME", "the first minute: 201605051430, or ISO 8601"),
    REQUIRED("to", "TIME", "the last minute, included; of a day its last"),
    LIST("lang", "LANG,...", "only these languages (all that are there)")};
static const gf_parameter tweets_top[] = {
    BOX,
    FROM,
    TO,
    NUMBER("limit", 0, 0, "so many hashtags (10); 0: all")};
static const gf_parameter tweets_highscore[] = {
    CHOICE("by", "path|area", "what counts (path)"),
    BOX,
    FROM,
    TO,
    NUMBER("limit", 0, 0, "so many users (10); 0: all")};
static const gf_parameter papers_import_cdx[] = {
    FLAG("replace", "also where the paper has a line already"),
    PAPERS};
static const gf_parameter papers_import_tei[] = {
    FLAG("force", "also where the paper has an extraction already"),
    FLAG("hash", "a file whose name is no SHA-1 has that of its bytes"),
    PAPERS};
static const gf_parameter papers_extract[] = {
    REQUIRED("grobid", "URL", "the GROBID, such as http://localhost:8070"),
    FLAG("force", "also where the paper has an extraction already"),
    NUMBER("retries", 0, 1000, "ask a busy GROBID again so many times (10)"),
    NUMBER("backoff-ms", 0, 3600000, "milliseconds before the first of these (5000)"),
    {"max-file", GF_BYTES, false, "SIZE", "refuse larger files (256M)", 1, GF_LARGEST_MAX_DOCUMENT},
    PAPERS};
static const gf_parameter papers_show[] = {
    REQUIRED("sha1", "SHA1", "the file's SHA-1: hexadecimal, base32 or sha1:BASE32"),
    TEXT("column", "COLUMN", "instead the value of this column, such as tei_xml"),
    PAPERS};
static const gf_parameter papers_list[] = {NUMBER("limit", 0, 0, "at most so many (all)"), PAPERS};
static const gf_parameter papers[] = {PAPERS};
static const gf_parameter papers_dump[] = {
    LIST("fields", "COLUMN,...", "columns beside the SHA-1 (mime,cdx,status_code,quality,status,mstatus,doi)"),
    CHOICE("only", "all|extracted|missing|matched", "only papers of that state (all)"),
    FLAG("tsv", "each as a line of tab-separated values"),
    NUMBER("limit", 0, 0, "at most so many (all)"),
    PAPERS};
static const gf_parameter papers_match[] = {
    TEXT("id", "FIELD", "field of the catalogue that is the id (id)"),
    CHOICE("from", GF_FORMAT_NAMES, "format of the catalogue, where the name does not tell it"),
    FLAG("dry-run", "store nothing"),
    PAPERS};
#define LOG         REQUIRED("log", "LOG", "the access log")
#define SINCE       {"from", GF_MOMENT, false, "TIME", "only lines of this time and later", 0, 0}
#define UNTIL       {"to", GF_MOMENT, false, "TIME", "only lines before this time", 0, 0}
static const gf_parameter log_import[] = {
    LOG,
    TEXT("domain", "DOMAIN", "of lines that do not name one"),
    FLAG("again", "add also lines that were imported before")};
static const gf_parameter log_report[] = {
    LOG,
    CHOICE("every", "5m|hour|day|week|month", "what a bucket is, in UTC; a week begins on Monday (day)"),
    CHOICE("by", "url|domain|status|referrer", "count each value for itself"),
    SINCE,
    UNTIL,
    NUMBER("limit", 1, 0, "of each bucket the most frequent so many (all)")};
static const gf_parameter log_find[] = {
    LOG,
    TEXT("ip", "IP", "lines of this address"),
    TEXT("cookie", "COOKIE", "lines with this browser cookie"),
    TEXT("login", "USER", "lines of this user"),
    SINCE,
    UNTIL,
    FLAG("newest", "the newest first"),
    NUMBER("limit", 1, 0, "at most so many (all)")};
/* clang-format on */

#define OPERATION(operation_name, http_method, http_path, parameter_list, handler, words)          \
    {                                                                                              \
        .name = (operation_name), .method = (http_method), .path = (http_path),                    \
        .meaning = (words), .parameters = (parameter_list),                                        \
        .n_parameters = sizeof(parameter_list) / sizeof(gf_parameter), .run = (handler)            \
    }
#define REACHING(which, operation_name, http_method, http_path, parameter_list, handler, words)    \
    {                                                                                              \
        .name = (operation_name), .method = (http_method), .path = (http_path),                    \
        .meaning = (words), .parameters = (parameter_list),                                        \
        .n_parameters = sizeof(parameter_list) / sizeof(gf_parameter), .run = (handler),           \
        .reach = (which)                                                                           \
    }
#define PLAIN(operation_name, http_method, http_path, handler, words)                              \
    {                                                                                              \
        .name = (operation_name), .method = (http_method), .path = (http_path),                    \
        .meaning = (words), .run = (handler)                                                       \
    }

static const gf_operation operations[] = {
    PLAIN("init", "POST", "/store", gf_run_init, "Make a store"),
    OPERATION("collection create", "PUT", "/collections/{collection}", one_collection,
              gf_run_collection_create, "Make an empty collection"),
    OPERATION("collection list", "GET", "/collections", collection_list, gf_run_collection_list,
              "List collections"),
    REACHING(GF_REACH_ALL, "collection show", "GET", "/collections/{collection}", collection_show,
             gf_run_collection_show, "Show a collection"),
    OPERATION("collection delete", "DELETE", "/collections/{collection}", collection_delete,
              gf_run_collection_delete, "Delete a collection with all that is in it"),
    OPERATION("put", "POST", "/collections/{collection}/documents", put, gf_run_put,
              "Put documents into a collection"),
    OPERATION("delete", "DELETE", "/collections/{collection}/documents", delete_documents,
              gf_run_delete, "Delete documents"),
    REACHING(GF_REACH_PATTERN, "config set", "PATCH",
             "/collections/{collection}/configurations/{config}", config_set, gf_run_config_set,
             "Set keys of a configuration"),
    REACHING(GF_REACH_PATTERN, "config show", "GET",
             "/collections/{collection}/configurations/{config}", config_one, gf_run_config_show,
             "Show a configuration"),
    REACHING(GF_REACH_PATTERN, "config list", "GET", "/collections/{collection}/configurations",
             config_list, gf_run_config_list, "List a collection's configurations"),
    REACHING(GF_REACH_PATTERN, "config delete", "DELETE",
             "/collections/{collection}/configurations/{config}", config_one, gf_run_config_delete,
             "Delete a configuration with its builds"),
    PLAIN("config keys", "GET", "/configuration-keys", gf_run_config_keys,
          "List all keys that configurations have"),
    REACHING(GF_REACH_PATTERN, "rebuild", "POST", "/collections/{collection}/builds", rebuild,
             gf_run_rebuild, "Cluster a collection and publish the result"),
    REACHING(GF_REACH_ALL, "builds", "GET", "/collections/{collection}/builds", builds,
             gf_run_builds, "List the builds that are kept"),
    REACHING(GF_REACH_ALL, "clusters", "GET", "/collections/{collection}/clusters", clusters,
             gf_run_clusters, "List clusters"),
    OPERATION("cluster", "GET", "/collections/{collection}/clusters/{cluster}", cluster,
              gf_run_cluster, "Show one cluster with its best documents"),
    OPERATION("publish", "PUT", "/collections/{collection}/served/{build}", one_build,
              gf_run_publish, "Serve a build that is kept again"),
    OPERATION("pin", "PUT", "/collections/{collection}/builds/{build}/pin", one_build, gf_run_pin,
              "Keep a build from being dropped"),
    OPERATION("unpin", "DELETE", "/collections/{collection}/builds/{build}/pin", one_build,
              gf_run_unpin, "Let a pinned build be dropped"),
    OPERATION("label", "PUT", "/collections/{collection}/clusters/{cluster}/label", label,
              gf_run_label, "Pin a cluster's label"),
    OPERATION("doc", "GET", "/collections/{collection}/documents/{id}", doc, gf_run_doc,
              "Show a document and the clusters it is in"),
    REACHING(GF_REACH_ALL, "search", "GET", "/collections/{collection}/search", search,
             gf_run_search, "Find documents by their words"),
    OPERATION("similar", "GET", "/collections/{collection}/similar", similar, gf_run_similar,
              "Find the documents most similar to one"),
    REACHING(GF_REACH_ALL, "export", "GET", "/collections/{collection}/memberships", export_rows,
             gf_run_export, "Give every document with its cluster"),
    OPERATION("assign", "POST", "/collections/{collection}/assignments", assign, gf_run_assign,
              "Tell the clusters of texts that are not stored"),
    REACHING(GF_REACH_ALL, "diff", "GET", "/collections/{collection}/diff", diff, gf_run_diff,
             "Tell what changed from one build to another"),
    OPERATION("report", "GET", "/collections/{collection}/report", report, gf_run_report,
              "Make a page about a build"),
    REACHING(GF_REACH_ALL, "evaluate", "GET", "/collections/{collection}/evaluation", evaluate,
             gf_run_evaluate, "Compare clusters with known classes"),
    OPERATION("table create", "PUT", "/tables/{table}", table_create, gf_run_table_create,
              "Make a table"),
    OPERATION("table list", "GET", "/tables", table_list, gf_run_table_list, "List tables"),
    OPERATION("table describe", "GET", "/tables/{table}", table_one, gf_run_table_describe,
              "Show a table's key and families"),
    OPERATION("table alter", "PATCH", "/tables/{table}", table_alter, gf_run_table_alter,
              "Add families and columns to a table"),
    OPERATION("table drop", "DELETE", "/tables/{table}", table_one, gf_run_table_drop,
              "Drop a table with all that is in it"),
    OPERATION("table put", "PUT", "/tables/{table}/row", table_put, gf_run_table_put,
              "Put cells into a row"),
    OPERATION("table get", "GET", "/tables/{table}/row", table_get, gf_run_table_get, "Show a row"),
    OPERATION("table scan", "GET", "/tables/{table}/rows", table_scan, gf_run_table_scan,
              "Give rows in the order of their keys"),
    OPERATION("table delete", "DELETE", "/tables/{table}/row", table_delete, gf_run_table_delete,
              "Delete a row, or some of its cells"),
    OPERATION("table incr", "POST", "/tables/{table}/row/increment", table_incr, gf_run_table_incr,
              "Add to a number in a cell"),
    OPERATION("table check-and-put", "POST", "/tables/{table}/row/check", table_check_and_put,
              gf_run_table_check_and_put, "Put cells where another cell is as expected"),
    PLAIN("table batch", "POST", "/tables", gf_run_table_batch,
          "Change rows of several tables together or not at all"),
    OPERATION("table import", "POST", "/tables/{table}/rows", table_import, gf_run_table_import,
              "Put the rows of a file into a table"),
    OPERATION("table export", "GET", "/tables/{table}/export", table_export, gf_run_table_scan,
              "Give all rows, as table import reads them"),
    OPERATION("tweets import", "POST", "/tweets", tweets_import, gf_run_tweets_import,
              "Import tweets"),
    OPERATION("tweets search", "GET", "/tweets", tweets_search, gf_run_tweets_search,
              "Find tweets by words and users"),
    OPERATION("tweets map", "GET", "/tweets/map", tweets_map, gf_run_tweets_map,
              "Find tweets by place and time"),
    OPERATION("tweets frequency", "GET", "/tweets/frequency", tweets_frequency,
              gf_run_tweets_frequency, "Count tweets by minute and language"),
    OPERATION("tweets top", "GET", "/tweets/top", tweets_top, gf_run_tweets_top,
              "Count the commonest hashtags"),
    OPERATION("tweets highscore", "GET", "/tweets/highscore", tweets_highscore,
              gf_run_tweets_highscore, "Rank users by how far they went"),
    OPERATION("papers import-cdx", "POST", "/papers/cdx", papers_import_cdx,
              gf_run_papers_import_cdx, "Import lines of a web archive's index"),
    OPERATION("papers import-tei", "POST", "/papers/tei", papers_import_tei,
              gf_run_papers_import_tei, "Import texts that GROBID has extracted"),
    OPERATION("papers extract", "POST", "/papers/extractions", papers_extract,
              gf_run_papers_extract, "Send PDFs to a GROBID and import what it extracts"),
    OPERATION("papers show", "GET", "/papers/{sha1}", papers_show, gf_run_papers_show,
              "Show a paper"),
    OPERATION("papers list", "GET", "/papers", papers_list, gf_run_papers_list, "List papers"),
    OPERATION("papers counts", "GET", "/papers/counts", papers, gf_run_papers_counts,
              "Count papers by the state of their extraction"),
    OPERATION("papers missing", "GET", "/papers/missing", papers_list, gf_run_papers_missing,
              "List papers that lack an extraction"),
    OPERATION("papers dump", "GET", "/papers/dump", papers_dump, gf_run_papers_dump,
              "Give chosen columns of every paper"),
    OPERATION("papers match", "POST", "/papers/matches", papers_match, gf_run_papers_match,
              "Match papers against a catalogue"),
    OPERATION("log import", "POST", "/logs/{log}", log_import, gf_run_log_import,
              "Add lines of a web server's access log"),
    OPERATION("log report", "GET", "/logs/{log}/report", log_report, gf_run_log_report,
              "Count requests by time"),
    OPERATION("log find", "GET", "/logs/{log}/lines", log_find, gf_run_log_find,
              "Find lines by ip, cookie or login"),
    OPERATION("status", "GET", "/status", status, gf_run_status, "Show what the store holds"),
    PLAIN("upgrade", "POST", "/upgrade", gf_run_upgrade, "Bring the store to the newest format"),
    PLAIN("verify", "GET", "/verification", gf_run_verify, "Check a store for damage"),
    OPERATION("backup", "POST", "/backup", backup, gf_run_backup, "Copy the store as it is now"),
    OPERATION("restore", "POST", "/restoration", restore, gf_run_restore,
              "Check a backup and make a store of it"),
    OPERATION("repair", "POST", "/repair", backup, gf_run_repair,
              "Make a new store of what is sound in a damaged one"),
    PLAIN("version", "GET", "/version", gf_run_version, "Show versions"),
};
enum { N_OPERATIONS = sizeof operations / sizeof operations[0], MOST_PARAMETERS = 16 };

const gf_operation *gf_operations(size_t *n)
{
    *n = N_OPERATIONS;
    return operations;
}

const gf_operation *gf_operation_find(const char *name)
{
    for (size_t i = 0; i < N_OPERATIONS; i++)
        if (strcmp(operations[i].name, name) == 0) return &operations[i];
    return NULL;
}

static const gf_parameter *find_parameter(const gf_operation *o, gf_slice name)
{
    for (size_t i = 0; i < o->n_parameters; i++)
        if (gf_slice_equal(name, gf_slice_str(o->parameters[i].name))) return &o->parameters[i];
    return NULL;
}

static gf_status unknown(const gf_operation *o, gf_slice name, gf_error *err)
{
    const char *names[MOST_PARAMETERS];
    if (gf_utf8_valid_length(name) != name.len)
        return gf_fail(err, GF_EINVAL, "the name of an argument is not valid UTF-8");
    for (size_t i = 0; i < o->n_parameters; i++)
        names[i] = o->parameters[i].name;
    const char *nearest = gf_nearest(name, names, o->n_parameters);
    return gf_fail(err, GF_EINVAL, "%s has no argument \"%.*s\"%s%s%s", o->name, GF_SLICE_ARG(name),
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

static bool has_parameter(const gf_operation *o, const char *name)
{
    return find_parameter(o, gf_slice_str(name)) != NULL;
}

/* "all" stands in for the collection. */
static bool stands_in(const gf_operation *o, const gf_call *call, const gf_parameter *p)
{
    return strcmp(p->name, "collection") == 0 && has_parameter(o, "all") &&
           gf_call_flag(call, "all");
}

gf_status gf_operation_check(const gf_operation *o, const gf_call *call, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < call->n_arguments && st == GF_OK; i++) {
        const gf_parameter *p = find_parameter(o, call->arguments[i].name);
        st = p ? gf_check_value(p, call->arguments[i].value, err)
               : unknown(o, call->arguments[i].name, err);
    }
    for (size_t i = 0; i < o->n_parameters && st == GF_OK; i++)
        if (o->parameters[i].required && !gf_call_has(call, o->parameters[i].name) &&
            !stands_in(o, call, &o->parameters[i]))
            st = gf_fail(err, GF_EINVAL, "%s is missing: %s", o->parameters[i].name,
                         o->parameters[i].meaning);
    if (st == GF_OK && has_parameter(o, "all") && gf_call_flag(call, "all") &&
        gf_call_has(call, "collection") && find_parameter(o, GF_SLICE("collection"))->required)
        st = gf_fail(err, GF_EINVAL, "%s needs either a collection, or --all", o->name);
    return st;
}

gf_status gf_operation_run(const gf_operation *o, gf_call *call, gf_error *err)
{
    call->outcome = GF_DONE;
    call->partly = false;
    gf_status st = gf_operation_check(o, call, err);
    if (st != GF_OK) return st;
    if (gf_operation_is_of_several(o, call->arguments, call->n_arguments))
        return gf_call_each(o, call, err);
    st = o->run(call, err);
    if (st == GF_ENOTFOUND) gf_call_suggest(call, err);
    return st;
}
