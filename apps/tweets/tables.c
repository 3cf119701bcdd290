/* The tables of tweets: schemas, keys, and the settings of a namespace. */
#include "apps/tweets/tables_internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/murmur.h"
#include "base/number.h"
#include "engine/rows/names.h"
#include "engine/rows/scan.h"
#include "engine/store/hold.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- schemas --------------------------------------------------------------------------------- */

#define NAMESPACE                                                                                  \
    {                                                                                              \
        .name = "namespace", .kind = GF_PART_STRING                                                \
    }
#define FIXED(part, bytes)                                                                         \
    {                                                                                              \
        .name = (part), .kind = GF_PART_FIXED, .width = (bytes)                                    \
    }

static const gf_key_part raw_parts[] = {NAMESPACE, FIXED("row", GF_TWEET_ROW)};
static const gf_key_part term_parts[] = {NAMESPACE, {.name = "term", .kind = GF_PART_STRING}};
static const gf_key_part minute_parts[] = {NAMESPACE, FIXED("minute", GF_TWEET_MINUTE)};
static const gf_key_part geo_parts[] = {NAMESPACE, FIXED("row", GF_TWEET_GEO_ROW)};
static const gf_key_part deletion_parts[] = {
    NAMESPACE, {.name = "seconds", .kind = GF_PART_U64}, {.name = "id", .kind = GF_PART_STRING}};
static const gf_key_part id_parts[] = {NAMESPACE, {.name = "id", .kind = GF_PART_STRING}};

static const char *const settings_columns[] = {"hash",  "version",   "tweets",    "with_place",
                                               "rules", "reindexed", "deletions", NULL};

static const gf_family raw_families[] = {{.name = "t", .layout = GF_LAYOUT_WIDE}};
static const gf_family term_families[] = {{.name = "text", .layout = GF_LAYOUT_WIDE},
                                          {.name = "user", .layout = GF_LAYOUT_WIDE}};
static const gf_family frequency_families[] = {{.name = "language", .layout = GF_LAYOUT_WIDE}};
static const gf_family geo_families[] = {{.name = "tweets", .layout = GF_LAYOUT_WIDE}};
static const gf_family id_families[] = {{.name = "rows", .layout = GF_LAYOUT_WIDE}};
static const gf_family deletion_families[] = {{.name = "told", .layout = GF_LAYOUT_WIDE}};
static const gf_family settings_families[] = {{.name = "main", .columns = settings_columns}};

#define SCHEMA(table, key_parts, n_key_parts, table_families)                                      \
    {                                                                                              \
        .name = (table), .parts = (key_parts), .n_parts = (n_key_parts),                           \
        .families = (table_families),                                                              \
        .n_families = sizeof(table_families) / sizeof(table_families[0])                           \
    }
static const gf_schema raw = SCHEMA(GF_TWEETS_RAW, raw_parts, 2, raw_families);
static const gf_schema terms = SCHEMA("TermIndex", term_parts, 2, term_families);
static const gf_schema frequency = SCHEMA("TweetFrequency", minute_parts, 2, frequency_families);
static const gf_schema geo = SCHEMA("GeoTemporalIndex", geo_parts, 2, geo_families);
static const gf_schema ids = SCHEMA("TweetIds", id_parts, 2, id_families);
static const gf_schema gone = SCHEMA("TweetDeletions", deletion_parts, 3, deletion_families);
static const gf_schema settings = SCHEMA(GF_TWEETS_SETTINGS, raw_parts, 1, settings_families);

#define NAMESPACE_PART                                                                             \
    {                                                                                              \
        "namespace", GF_TYPE_TEXT, 0                                                               \
    }
static const gf_part_description raw_row[] = {
    NAMESPACE_PART, {"time", GF_TYPE_INT64, 8}, {"hash", GF_TYPE_BYTES, 4}};
static const gf_part_description term_row[] = {NAMESPACE_PART, {"term", GF_TYPE_TEXT, 0}};
static const gf_part_description minute_row[] = {NAMESPACE_PART,
                                                 {"minute", GF_TYPE_TEXT, GF_TWEET_MINUTE}};
static const gf_part_description geo_row[] = {NAMESPACE_PART,
                                              {"spread", GF_TYPE_UINT64, 1},
                                              {"day", GF_TYPE_INT64, 2},
                                              {"geohash", GF_TYPE_TEXT, 8}};
static const gf_part_description id_row[] = {NAMESPACE_PART, {"id", GF_TYPE_TEXT, 0}};
static const gf_part_description deletion_row[] = {
    NAMESPACE_PART, {"time", GF_TYPE_UINT64, 0}, {"id", GF_TYPE_TEXT, 0}};
static const gf_part_description settings_row[] = {NAMESPACE_PART};

/* Qualifiers of the indexes are rows of RawTwitterData. */
static const gf_cell_description raw_cells[] = {{"t", NULL, GF_TYPE_TEXT, GF_TYPE_JSON}};
static const gf_cell_description term_cells[] = {{"text", NULL, GF_TYPE_BYTES, GF_TYPE_TEXT},
                                                 {"user", NULL, GF_TYPE_BYTES, GF_TYPE_TEXT}};
static const gf_cell_description frequency_cells[] = {
    {"language", NULL, GF_TYPE_TEXT, GF_TYPE_DECIMAL}};
static const gf_cell_description geo_cells[] = {{"tweets", NULL, GF_TYPE_BYTES, GF_TYPE_POINT}};
static const gf_cell_description id_cells[] = {{"rows", NULL, GF_TYPE_BYTES, GF_TYPE_TEXT}};
static const gf_cell_description deletion_cells[] = {{"told", NULL, GF_TYPE_TEXT, GF_TYPE_TEXT}};
static const gf_cell_description settings_cells[] = {
    {"main", "hash", GF_TYPE_TEXT, GF_TYPE_TEXT},
    {"main", "version", GF_TYPE_TEXT, GF_TYPE_TEXT},
    {"main", "reindexed", GF_TYPE_TEXT, GF_TYPE_TEXT}, /* a row, in hexadecimal */
    {"main", NULL, GF_TYPE_TEXT, GF_TYPE_DECIMAL}};

const gf_table_description gf_tweets_descriptions[GF_TWEETS_TABLES] = {
    {"RawTwitterData", GF_DESCRIBED_PARTS(raw_row), GF_DESCRIBED_CELLS(raw_cells)},
    {"TermIndex", GF_DESCRIBED_PARTS(term_row), GF_DESCRIBED_CELLS(term_cells)},
    {"TweetFrequency", GF_DESCRIBED_PARTS(minute_row), GF_DESCRIBED_CELLS(frequency_cells)},
    {"GeoTemporalIndex", GF_DESCRIBED_PARTS(geo_row), GF_DESCRIBED_CELLS(geo_cells)},
    {"TweetIds", GF_DESCRIBED_PARTS(id_row), GF_DESCRIBED_CELLS(id_cells)},
    {"TweetDeletions", GF_DESCRIBED_PARTS(deletion_row), GF_DESCRIBED_CELLS(deletion_cells)},
    {"TweetSettings", GF_DESCRIBED_PARTS(settings_row), GF_DESCRIBED_CELLS(settings_cells)}};

gf_status gf_tweets_hold(const gf_tweets *t, gf_hold *hold, gf_error *err)
{
    gf_slice key = gf_buffer_view(&t->name_space);
    *hold = (gf_hold){0};
    /* A row of `collections` is held where rows hold themselves: that of none is the namespace's own. */
    if (gf_tweets_by_rows(t))
        return gf_hold_collection(t->store, (gf_place){.name_space = gf_buffer_view(&t->name)},
                                  hold, err);
    gf_status st = gf_store_tidy(t->store, err);
    return st == GF_OK ? gf_hold_take(t->settings, &key, 1, hold, err) : st;
}

/* A database whose tables others know has the namespace in its own, and rows without it, but for that
 * of the settings, which would have no key. */
static bool is_named(const gf_database *db)
{
    return gf_database_capabilities(db) & GF_BACKEND_NAMED;
}

static gf_status open_table(gf_tweets *t, const gf_schema *schema, gf_table **table, gf_error *err)
{
    gf_schema opened = *schema;
    if (is_named(t->db) && schema != &settings) {
        opened.parts++;
        opened.n_parts--;
    }
    return gf_table_open(t->db, &opened, table, err);
}

gf_status gf_tweets_open_tables(gf_store *store, gf_tweets *t, gf_error *err)
{
    t->store = store;
    t->db = gf_store_database(store);
    gf_status st = open_table(t, &raw, &t->raw, err);
    if (st == GF_OK) st = open_table(t, &terms, &t->terms, err);
    if (st == GF_OK) st = open_table(t, &frequency, &t->frequency, err);
    if (st == GF_OK) st = open_table(t, &geo, &t->geo, err);
    if (st == GF_OK) st = open_table(t, &ids, &t->ids, err);
    if (st == GF_OK) st = open_table(t, &gone, &t->deletions, err);
    if (st == GF_OK) st = open_table(t, &settings, &t->settings, err);
    return st;
}

static gf_status check_namespace(const gf_database *db, gf_slice name_space, gf_error *err)
{
    if (!is_named(db) || gf_slice_equal(name_space, GF_SLICE("default"))) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "namespace: a store in HBase has that of its URL, hbase://HOST:PORT/NAMESPACE");
}

gf_status gf_tweets_open(gf_store *store, gf_slice name_space, gf_tweets **tweets, gf_error *err)
{
    gf_database *db = gf_store_database(store);
    gf_status st = gf_name_check("namespace", name_space, err);
    if (st == GF_OK) st = check_namespace(db, name_space, err);
    if (st != GF_OK) return st;
    gf_tweets *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "tables of tweets");
    gf_buffer_slice(&t->name, name_space);
    if (!is_named(db)) gf_key_string(&t->name_space, name_space);
    if (is_named(db)) gf_key_string(&t->settings_key, name_space);
    st = gf_buffer_check(&t->name, err);
    if (st == GF_OK) st = gf_buffer_check(&t->name_space, err);
    if (st == GF_OK) st = gf_buffer_check(&t->settings_key, err);
    if (st == GF_OK) st = gf_tweets_open_tables(store, t, err);
    if (st != GF_OK) {
        gf_tweets_close(t);
        return st;
    }
    *tweets = t;
    return GF_OK;
}

void gf_tweets_close(gf_tweets *t)
{
    if (!t) return;
    gf_buffer_release(&t->name_space);
    gf_buffer_release(&t->settings_key);
    gf_buffer_release(&t->name);
    gf_free(t);
}

/* ---- keys ------------------------------------------------------------------------------------ */

void gf_tweets_key(const gf_tweets *t, gf_buffer *key, gf_slice part)
{
    gf_buffer_reset(key);
    gf_buffer_slice(key, gf_buffer_view(&t->name_space));
    gf_buffer_slice(key, part);
}

void gf_tweets_term_key(const gf_tweets *t, gf_buffer *key, gf_slice term)
{
    gf_tweets_key(t, key, (gf_slice){"", 0});
    gf_key_string(key, term);
}

void gf_tweets_deletion_key(const gf_tweets *t, gf_buffer *key, gf_slice id)
{
    int64_t seconds = 0;
    gf_tweets_key(t, key, (gf_slice){"", 0});
    gf_key_u64(key, gf_tweets_id_seconds(id, &seconds) ? (uint64_t)seconds : 0);
    gf_key_string(key, id);
}

gf_status gf_tweets_part(const gf_tweets *t, gf_slice key, size_t length, gf_slice *part,
                         gf_error *err)
{
    if (key.len != t->name_space.len + length)
        return gf_fail(err, GF_ECORRUPT, "a table of tweets: a key is damaged");
    *part = gf_slice_skip(key, t->name_space.len);
    return GF_OK;
}

const char *gf_tweets_hash_name(gf_tweets_hash hash)
{
    return hash == GF_TWEETS_MURMUR3 ? "murmur3" : "murmur2";
}

static void write_be(char *to, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (char)(v >> (8 * (n - 1 - i)));
}

void gf_tweets_row(gf_tweets_hash hash, int64_t seconds, gf_slice json, char row[GF_TWEET_ROW])
{
    write_be(row, (uint64_t)seconds, 8);
    write_be(row + 8, hash == GF_TWEETS_MURMUR3 ? gf_murmur3(json, 0) : gf_murmur2(json, 0), 4);
}

unsigned char gf_tweets_spread(gf_tweets_hash hash, uint32_t value)
{
    if (hash == GF_TWEETS_MURMUR3) return (unsigned char)((int32_t)value % 255);
    return (unsigned char)(value % 255);
}

void gf_tweets_minute(int64_t seconds, char minute[GF_TWEET_MINUTE])
{
    int64_t days = seconds / 86400, year;
    int of_day = (int)(seconds % 86400), month, day;
    char text[48];
    if (of_day < 0) {
        days--;
        of_day += 86400;
    }
    gf_clock_date_from_days(days, &year, &month, &day);
    snprintf(text, sizeof text, "%04d%02d%02d%02d%02d", (int)year, month, day, of_day / 3600,
             of_day / 60 % 60);
    memcpy(minute, text, GF_TWEET_MINUTE);
}

static int two_digits(const char *p)
{
    return (p[0] - '0') * 10 + p[1] - '0';
}

bool gf_tweets_read_minute(gf_slice text, int64_t *minute)
{
    const char *p = text.ptr;
    if (text.len != GF_TWEET_MINUTE) return false;
    for (size_t i = 0; i < text.len; i++)
        if (p[i] < '0' || p[i] > '9') return false;
    int64_t days = gf_clock_days_from_date(two_digits(p) * 100 + two_digits(p + 2),
                                           two_digits(p + 4), two_digits(p + 6));
    *minute = days * 1440 + two_digits(p + 8) * 60 + two_digits(p + 10);
    return true;
}

void gf_tweets_geo_row(unsigned char spread, int64_t seconds, uint64_t geohash,
                       char row[GF_TWEET_GEO_ROW])
{
    row[0] = (char)spread;
    write_be(row + 1, (uint64_t)(seconds / 86400), 2);
    gf_geohash_write(geohash, row + 3);
}

static uint32_t float_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

void gf_tweets_geo_value(gf_geo_point p, char value[8])
{
    write_be(value, float_bits((float)p.latitude), 4);
    write_be(value + 4, float_bits((float)p.longitude), 4);
}

bool gf_tweets_read_geo_value(gf_slice value, float *latitude, float *longitude)
{
    if (value.len != 8) return false;
    uint32_t bits[2] = {gf_read_u32be(value.ptr), gf_read_u32be(value.ptr + 4)};
    memcpy(latitude, &bits[0], 4);
    memcpy(longitude, &bits[1], 4);
    return true;
}

/* ---- settings -------------------------------------------------------------------------------- */

static gf_status damaged_settings(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "table TweetSettings: a row is damaged");
}

/* Rules of a later program are none of ours: its tables would be made wrong. */
static gf_status read_rules(const gf_cell *cell, gf_tweets_rules *rules, gf_error *err)
{
    uint64_t n = GF_TWEETS_RULES_SHORT;
    if (cell && !gf_rows_cell_number(cell, &n)) return damaged_settings(err);
    if (n == 0) return damaged_settings(err);
    if (n > GF_TWEETS_RULES)
        return gf_fail(err, GF_EINVAL,
                       "the tweets are indexed by rules %" PRIu64
                       ", and this program knows those up to %d: a newer one is needed",
                       n, (int)GF_TWEETS_RULES);
    *rules = (gf_tweets_rules)n;
    return GF_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Up to where a reindex has come: a raw row in hexadecimal, or nothing. */
static gf_status read_position(const gf_cell *cell, gf_tweets_info *info, gf_error *err)
{
    info->reindexing = cell != NULL;
    if (!cell || cell->value.len == 0) return GF_OK;
    if (cell->value.len != 2 * GF_TWEET_ROW) return damaged_settings(err);
    for (size_t i = 0; i < GF_TWEET_ROW; i++) {
        int high = hex_digit(cell->value.ptr[2 * i]), low = hex_digit(cell->value.ptr[2 * i + 1]);
        if (high < 0 || low < 0) return damaged_settings(err);
        info->reindexed[i] = (char)(high << 4 | low);
    }
    info->reindexed_length = GF_TWEET_ROW;
    return GF_OK;
}

gf_tweets_rules gf_tweets_rules_of(const gf_tweets_info *info, gf_slice row)
{
    gf_slice done = gf_slice_of(info->reindexed, info->reindexed_length);
    if (info->reindexing && done.len && gf_slice_compare(row, done) <= 0) return GF_TWEETS_RULES;
    return info->rules;
}

void gf_tweets_put_settings(const gf_tweets *t, gf_batch *batch, const gf_tweets_info *info,
                            gf_slice version)
{
    gf_number_digits tweets, with_place, rules, deletions;
    char position[2 * GF_TWEET_ROW + 1] = "";
    for (size_t i = 0; i < info->reindexed_length; i++)
        snprintf(position + 2 * i, 3, "%02x", (unsigned char)info->reindexed[i]);
    gf_column columns[] = {{GF_SLICE("hash"), gf_slice_str(gf_tweets_hash_name(info->hash))},
                           {GF_SLICE("version"), version},
                           {GF_SLICE("tweets"), gf_number_write(&tweets, info->tweets)},
                           {GF_SLICE("with_place"), gf_number_write(&with_place, info->with_place)},
                           {GF_SLICE("rules"), gf_number_write(&rules, (uint64_t)info->rules)},
                           {GF_SLICE("deletions"), gf_number_write(&deletions, info->deletions)},
                           {GF_SLICE("reindexed"), gf_slice_str(position)}};
    size_t n = sizeof columns / sizeof *columns - !info->reindexing;
    gf_batch_replace(batch, t->settings, gf_tweets_settings_key(t), GF_TWEETS_SETTINGS_MAIN,
                     columns, n, 0);
}

gf_status gf_tweets_read_settings(gf_tweets *t, gf_row *row, gf_tweets_info *info,
                                  gf_slice *version, gf_error *err)
{
    return gf_tweets_read_settings_at(t, NULL, row, info, version, err);
}

gf_status gf_tweets_read_settings_at(gf_tweets *t, const gf_snapshot *snapshot, gf_row *row,
                                     gf_tweets_info *info, gf_slice *version, gf_error *err)
{
    gf_tweets_info read = {.any = true};
    gf_status st =
        gf_table_get(t->settings, snapshot, gf_tweets_settings_key(t), GF_ALL_FAMILIES, row, err);
    *info = (gf_tweets_info){.rules = GF_TWEETS_RULES};
    if (st == GF_ENOTFOUND && is_named(t->db)) {
        if (version) *version = (gf_slice){0};
        return gf_tweets_look_at_others(t, info, err);
    }
    if (st != GF_OK) return st;
    const gf_cell *hash = gf_row_find(row, GF_TWEETS_SETTINGS_MAIN, "hash");
    const gf_cell *seen = gf_row_find(row, GF_TWEETS_SETTINGS_MAIN, "version");
    if (!hash || !seen ||
        !gf_rows_cell_number(gf_row_find(row, GF_TWEETS_SETTINGS_MAIN, "tweets"), &read.tweets) ||
        !gf_rows_cell_number(gf_row_find(row, GF_TWEETS_SETTINGS_MAIN, "with_place"),
                             &read.with_place))
        return damaged_settings(err);
    if (gf_slice_equal(hash->value, GF_SLICE("murmur3")))
        read.hash = GF_TWEETS_MURMUR3;
    else if (!gf_slice_equal(hash->value, GF_SLICE("murmur2")))
        return damaged_settings(err);
    const gf_cell *deletions = gf_row_find(row, GF_TWEETS_SETTINGS_MAIN, "deletions");
    if (deletions && !gf_rows_cell_number(deletions, &read.deletions)) return damaged_settings(err);
    st = read_rules(gf_row_find(row, GF_TWEETS_SETTINGS_MAIN, "rules"), &read.rules, err);
    if (st == GF_OK)
        st = read_position(gf_row_find(row, GF_TWEETS_SETTINGS_MAIN, "reindexed"), &read, err);
    if (st != GF_OK) return st;
    *info = read;
    if (version) *version = seen->value;
    return GF_OK;
}

static gf_status read_edge(gf_tweets *t, bool last, int64_t *seconds, gf_error *err)
{
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_TWEETS_RAW_T, .prefix = gf_tweets_prefix(t),
                                        .limit = 1, .reverse = last, .keys_only = true);
    gf_scan *scan = NULL;
    gf_row row = {0};
    gf_slice part = {0};
    gf_status st = gf_scan_open(t->raw, &o, &scan, err);
    if (st == GF_OK) st = gf_scan_next(scan, &row, err);
    if (st == GF_OK) st = gf_tweets_part(t, row.key, GF_TWEET_ROW, &part, err);
    if (st == GF_OK) *seconds = gf_tweets_row_seconds(part);
    gf_scan_close(scan);
    gf_row_release(&row);
    return st;
}

gf_status gf_tweets_extent(gf_tweets *t, int64_t *first, int64_t *last, gf_error *err)
{
    int64_t from, to;
    gf_status st = read_edge(t, false, &from, err);
    if (st == GF_OK) st = read_edge(t, true, &to, err);
    if (st != GF_OK) return st;
    *first = from;
    *last = to;
    return GF_OK;
}

gf_status gf_tweets_read_info(gf_tweets *t, gf_tweets_info *info, gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_tweets_read_settings(t, &row, info, NULL, err);
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}
