/*
 * Tables that others made and filled: their rows are those that an import makes, but there is no row
 * of settings. The first tweet tells the hash; the rules are taken to be the first ones, by which an
 * index of ids is not asked for.
 */
#include "apps/tweets/tables_internal.h"

#include "engine/rows/scan.h"

/* The hash of the first tweet's row; *known is false where it is none of ours. GF_ENOTFOUND. */
static gf_status read_first_hash(const gf_tweets *t, gf_tweets_hash *hash, bool *known,
                                 gf_error *err)
{
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_TWEETS_RAW_T, .limit = 1);
    gf_scan *scan = NULL;
    gf_row row = {0};
    gf_slice raw;
    char made[GF_TWEET_ROW];
    *known = false;
    gf_status st = gf_scan_open(t->raw, &o, &scan, err);
    if (st == GF_OK) st = gf_scan_next(scan, &row, err);
    if (st == GF_OK) st = gf_tweets_part(t, row.key, GF_TWEET_ROW, &raw, err);
    for (int i = 0; i < 2 && st == GF_OK && !*known; i++) {
        *hash = i ? GF_TWEETS_MURMUR3 : GF_TWEETS_MURMUR2;
        gf_tweets_row(*hash, gf_tweets_row_seconds(raw), row.cells[0].value, made);
        *known = memcmp(made, raw.ptr, GF_TWEET_ROW) == 0;
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    return st;
}

gf_status gf_tweets_look_at_others(const gf_tweets *t, gf_tweets_info *info, gf_error *err)
{
    gf_tweets_hash hash = GF_TWEETS_MURMUR2;
    bool known;
    gf_status st = read_first_hash(t, &hash, &known, err);
    if (st == GF_OK)
        *info = (gf_tweets_info){
            .any = true, .of_others = true, .hash = hash, .rules = GF_TWEETS_RULES_SHORT};
    return st;
}

gf_status gf_tweets_count(const gf_tweets *t, gf_tweets_info *info, gf_error *err)
{
    gf_slice prefix = gf_tweets_prefix(t);
    gf_status st = gf_scan_count(t->raw, NULL, GF_TWEETS_RAW_T, prefix, &info->tweets, err);
    if (st != GF_OK) return st;
    return gf_scan_count(t->geo, NULL, GF_TWEETS_GEO_PLACES, prefix, &info->with_place, err);
}

/* Faults of a table are told before a batch is begun, which could not be finished. */
static gf_status look_at_tables(const gf_tweets *t, gf_error *err)
{
    gf_table *const tables[] = {t->raw, t->terms,     t->frequency, t->geo,
                                t->ids, t->deletions, t->settings};
    gf_status st = GF_OK;
    bool found;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (unsigned f = 0; f < gf_table_schema(tables[i])->n_families && st == GF_OK; f++)
            st = gf_scan_finds(tables[i], NULL, f, (gf_slice){0}, &found, err);
    return st;
}

static gf_status check_hash(const gf_tweets *t, gf_error *err)
{
    gf_tweets_hash hash;
    bool known;
    gf_status st = read_first_hash(t, &hash, &known, err);
    if (st != GF_OK || known) return st;
    return gf_fail(err, GF_EINVAL,
                   "table RawTwitterData has a row that is not of its tweet's time and hash, "
                   "murmur2 or murmur3: none is written beside it");
}

static gf_status put_settings(gf_tweets *t, const gf_tweets_info *info, gf_error *err)
{
    gf_batch *batch = NULL;
    gf_hold hold;
    gf_status st = gf_tweets_hold(t, &hold, err);
    if (st == GF_OK) st = gf_batch_create(t->db, &batch, err);
    if (st == GF_OK) {
        gf_tweets_put_settings(t, batch, info, GF_SLICE("1"));
        st = gf_batch_write_if(batch, t->settings, gf_tweets_settings_key(t),
                               GF_TWEETS_SETTINGS_MAIN, GF_SLICE("version"), NULL, GF_SYNC_ON, err);
    }
    gf_batch_free(batch);
    gf_hold_let_go(&hold);
    return st == GF_ECONFLICT ? GF_OK : st; /* another was first */
}

gf_status gf_tweets_join(gf_tweets *t, gf_error *err)
{
    gf_tweets_info info;
    gf_hold hold;
    if (!gf_tweets_by_rows(t)) return GF_OK;
    gf_status st = look_at_tables(t, err);
    if (st == GF_OK) st = gf_tweets_hold(t, &hold, err);
    if (st != GF_OK) return st;
    gf_hold_let_go(&hold);
    st = gf_tweets_read_info(t, &info, err);
    if (st != GF_OK || !info.of_others) return st;
    st = check_hash(t, err);
    if (st == GF_OK) st = gf_tweets_count(t, &info, err);
    return st == GF_OK ? put_settings(t, &info, err) : st;
}

gf_status gf_tweets_open_joined(gf_store *store, bool cut_short, gf_error *err)
{
    bool settings;
    gf_tweets *t;
    gf_tweets_info info;
    gf_database *db = gf_store_database(store);
    gf_status st = gf_database_has_table(db, GF_TWEETS_SETTINGS, &settings, err);
    if (st != GF_OK || (!settings && !cut_short)) return st;
    st = gf_tweets_open(store, GF_SLICE("default"), &t, err);
    if (st != GF_OK) return st;
    if (!cut_short) st = gf_tweets_read_info(t, &info, err);
    gf_tweets_close(t);
    if (st != GF_OK || cut_short || !info.of_others) return st;
    return gf_fail(
        err, GF_EINVAL,
        "table RawTwitterData has tweets that nobody counted: \"grouperfish tweets reindex\" "
        "does, and then they can be copied");
}
