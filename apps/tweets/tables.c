/* The tables of tweets: schemas, keys, and the settings of a namespace. */
#include "apps/tweets/tables_internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/murmur.h"
#include "engine/rows/names.h"
#include "engine/rows/scan.h"

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

static const char *const settings_columns[] = {"hash", "version", "tweets", "with_place", NULL};

static const gf_family raw_families[] = {{.name = "t", .layout = GF_LAYOUT_WIDE}};
static const gf_family term_families[] = {{.name = "text", .layout = GF_LAYOUT_WIDE},
                                          {.name = "user", .layout = GF_LAYOUT_WIDE}};
static const gf_family frequency_families[] = {{.name = "language", .layout = GF_LAYOUT_WIDE}};
static const gf_family geo_families[] = {{.name = "tweets", .layout = GF_LAYOUT_WIDE}};
static const gf_family settings_families[] = {{.name = "main", .columns = settings_columns}};

#define SCHEMA(table, key_parts, n_key_parts, table_families)                                      \
    {                                                                                              \
        .name = (table), .parts = (key_parts), .n_parts = (n_key_parts),                           \
        .families = (table_families),                                                              \
        .n_families = sizeof(table_families) / sizeof(table_families[0])                           \
    }
static const gf_schema raw = SCHEMA("RawTwitterData", raw_parts, 2, raw_families);
static const gf_schema terms = SCHEMA("TermIndex", term_parts, 2, term_families);
static const gf_schema frequency = SCHEMA("TweetFrequency", minute_parts, 2, frequency_families);
static const gf_schema geo = SCHEMA("GeoTemporalIndex", geo_parts, 2, geo_families);
static const gf_schema settings = SCHEMA("TweetSettings", raw_parts, 1, settings_families);

gf_status gf_tweets_open_tables(gf_store *store, gf_tweets *t, gf_error *err)
{
    t->db = gf_store_database(store);
    gf_status st = gf_table_open(t->db, &raw, &t->raw, err);
    if (st == GF_OK) st = gf_table_open(t->db, &terms, &t->terms, err);
    if (st == GF_OK) st = gf_table_open(t->db, &frequency, &t->frequency, err);
    if (st == GF_OK) st = gf_table_open(t->db, &geo, &t->geo, err);
    if (st == GF_OK) st = gf_table_open(t->db, &settings, &t->settings, err);
    return st;
}

gf_status gf_tweets_open(gf_store *store, gf_slice name_space, gf_tweets **tweets, gf_error *err)
{
    gf_status st = gf_name_check("namespace", name_space, err);
    if (st != GF_OK) return st;
    gf_tweets *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "tables of tweets");
    gf_key_string(&t->name_space, name_space);
    st = gf_buffer_check(&t->name_space, err);
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

gf_status gf_tweets_read_settings(gf_tweets *t, gf_row *row, gf_tweets_info *info,
                                  gf_slice *version, gf_error *err)
{
    gf_tweets_info read = {.any = true};
    gf_status st = gf_table_get(t->settings, NULL, gf_tweets_prefix(t), GF_ALL_FAMILIES, row, err);
    *info = (gf_tweets_info){.any = false};
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
    *info = read;
    if (version) *version = seen->value;
    return GF_OK;
}

gf_status gf_tweets_read_info(gf_tweets *t, gf_tweets_info *info, gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_tweets_read_settings(t, &row, info, NULL, err);
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}
