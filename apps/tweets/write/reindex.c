/*
 * Making the indexes anew.
 *
 *     RawTwitterData   |---- by the new rules ----|---- by those before ----|
 *                                              position
 *
 * First, where the tables are by earlier rules: a walk over the tweets in steps. A step takes the
 * next tweets, writes the difference between what each makes by the rules before and by the new
 * ones, and the position behind them, in one batch. An import meanwhile stores a tweet by the rules
 * of its side; the last step names the new rules for all. Then the indexes are held against the
 * tweets, and mended (mend.c).
 *
 * A step is written on top of the version that it read, under the store's lock, so that it and a
 * large batch of an import do not undo each other's work again and again. Only the last step is
 * synced: LevelDB's log is in order, so what a loss of power takes away are the last steps, whole.
 */
#include "apps/tweets/write/reindex_internal.h"

#include "base/arena.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"

#include <time.h>

enum { TWEETS_PER_STEP = 2000, BYTES_PER_STEP = 4 << 20, MOST_TRIES = 100 };

/* ---- steps ----------------------------------------------------------------------------------- */

static gf_status read_settings(gf_tweets_reindexing *r, gf_error *err)
{
    gf_slice version = {0};
    gf_status st = gf_tweets_read_settings(r->tweets, &r->row, &r->info, &version, err);
    if (st != GF_OK) return st;
    gf_buffer_reset(&r->version);
    gf_buffer_slice(&r->version, version);
    return gf_buffer_check(&r->version, err);
}

static gf_status write_step(gf_tweets_reindexing *r, gf_sync sync, gf_error *err)
{
    gf_slice expected = gf_buffer_view(&r->version);
    uint64_t number = 0;
    gf_number_digits digits;
    gf_number_read(expected, &number);
    gf_tweets_put_settings(r->tweets, r->batch, &r->info, gf_number_write(&digits, number + 1));
    return gf_batch_write_if(r->batch, r->tweets->settings, gf_tweets_settings_key(r->tweets),
                             GF_TWEETS_SETTINGS_MAIN, GF_SLICE("version"), &expected, sync, err);
}

static gf_status try_step(gf_tweets_reindexing *r, gf_tweets_fill_step *fill, void *context,
                          bool always, gf_sync sync, gf_error *err)
{
    gf_batch_reset(r->batch);
    r->step = (gf_tweets_reindexed){.tweets = 0};
    gf_status st = read_settings(r, err);
    if (st == GF_OK) st = fill(r, context, err);
    /* A put that failed is no change of the batch, and told of by the write alone. */
    if (st != GF_OK || (r->step.added + r->step.removed == 0 && !always)) return st;
    return write_step(r, sync, err);
}

gf_status gf_tweets_reindex_step(gf_tweets_reindexing *r, gf_tweets_fill_step *fill, void *context,
                                 bool always, gf_sync sync, gf_error *err)
{
    const struct timespec moment = {0, 500000}; /* whoever waits for the hold has it meanwhile */
    gf_hold hold;
    gf_status st = GF_ECONFLICT;
    for (int i = 0; i < MOST_TRIES && st == GF_ECONFLICT; i++) {
        st = gf_tweets_hold(r->tweets, &hold, err);
        if (st == GF_OK) st = try_step(r, fill, context, always, sync, err);
        gf_hold_let_go(&hold);
        nanosleep(&moment, NULL);
    }
    if (st != GF_OK) return st;
    r->out->changed += r->step.changed;
    r->out->added += r->step.added;
    r->out->removed += r->step.removed;
    return GF_OK;
}

gf_status gf_tweets_reindex_tell(const gf_tweets_reindexing *r, const char *phase, uint64_t done,
                                 uint64_t total, gf_error *err)
{
    enum { OFTEN = 1000 };
    if (r->options->progress && done % OFTEN == 0)
        r->options->progress(r->options->context, phase, done, done > total ? done : total);
    return gf_cancel_check(r->options->cancel, err);
}

/* ---- from rules to rules --------------------------------------------------------------------- */

/* The cells of a tweet, in the order of their visit. */
typedef struct cells {
    gf_tweets_cell *items; /* n, capacity */
    size_t n, capacity;
    gf_arena memory;
} cells;

typedef struct changing {
    cells before, after;
    gf_buffer next; /* the row after the position */
    uint64_t done;
    bool ended; /* all is by the new rules */
} changing;

static gf_status keep_cell(void *context, const gf_tweets_cell *cell, gf_error *err)
{
    cells *c = context;
    gf_tweets_cell kept = *cell;
    if (cell->index == GF_TWEETS_MINUTES) return GF_OK; /* no rules change the second */
    if (!gf_grow(&c->items, &c->capacity, c->n + 1, sizeof *c->items))
        return gf_fail_memory(err, "a tweet's terms");
    kept.key = gf_arena_copy(&c->memory, cell->key);
    kept.qualifier = gf_arena_copy(&c->memory, cell->qualifier);
    kept.value = gf_arena_copy(&c->memory, cell->value);
    if (!kept.key.ptr || !kept.qualifier.ptr || !kept.value.ptr)
        return gf_fail_memory(err, "a tweet's terms");
    c->items[c->n++] = kept;
    return GF_OK;
}

static gf_status derive_cells(gf_tweets_reindexing *r, cells *c, gf_tweets_rules rules,
                              gf_slice row, const gf_tweet *tweet, gf_error *err)
{
    c->n = 0;
    gf_arena_reset(&c->memory);
    return gf_tweets_derive(&r->deriving, r->info.hash, rules, row, tweet, keep_cell, c, err);
}

static void release_cells(cells *c)
{
    gf_free(c->items);
    gf_arena_release(&c->memory);
}

static int compare_cells(const gf_tweets_cell *a, const gf_tweets_cell *b)
{
    if (a->index != b->index) return a->index < b->index ? -1 : 1;
    if (a->family != b->family) return a->family < b->family ? -1 : 1;
    return gf_slice_compare(a->key, b->key);
}

static gf_status change_cell(gf_tweets_reindexing *r, const gf_tweets_cell *cell, bool there,
                             gf_error *err)
{
    gf_table *table = gf_tweets_index_table(r->tweets, cell->index);
    gf_tweets_key(r->tweets, &r->key, cell->key);
    gf_slice key = gf_buffer_view(&r->key);
    gf_status st = gf_buffer_check(&r->key, err);
    if (st != GF_OK) return st;
    if (there)
        gf_batch_put(r->batch, table, key, cell->family, cell->qualifier, cell->value, 0);
    else
        gf_batch_delete_cell(r->batch, table, key, cell->family, cell->qualifier);
    r->step.added += there;
    r->step.removed += !there;
    return GF_OK;
}

/* Both lists are in order: what is in one alone, or has another value, is what changes. */
static gf_status put_difference(gf_tweets_reindexing *r, const cells *before, const cells *after,
                                gf_error *err)
{
    uint64_t changes = r->step.added + r->step.removed;
    gf_status st = GF_OK;
    size_t i = 0, k = 0;
    while (st == GF_OK && (i < before->n || k < after->n)) {
        int order = i == before->n  ? 1
                    : k == after->n ? -1
                                    : compare_cells(&before->items[i], &after->items[k]);
        if (order < 0) {
            st = change_cell(r, &before->items[i++], false, err);
            continue;
        }
        const gf_tweets_cell *cell = &after->items[k++];
        if (order == 0 && gf_slice_equal(before->items[i++].value, cell->value)) continue;
        st = change_cell(r, cell, true, err);
    }
    r->step.changed += r->step.added + r->step.removed > changes;
    return st;
}

static gf_status change_tweet(gf_tweets_reindexing *r, changing *c, gf_slice row, gf_slice json,
                              gf_error *err)
{
    gf_tweet tweet;
    gf_status st = gf_tweets_parse_stored(r->parser, json, &tweet, err);
    if (st != GF_OK || !gf_tweets_rules_differ(&tweet, r->info.rules, GF_TWEETS_RULES)) return st;
    st = derive_cells(r, &c->before, r->info.rules, row, &tweet, err);
    if (st == GF_OK) st = derive_cells(r, &c->after, GF_TWEETS_RULES, row, &tweet, err);
    return st == GF_OK ? put_difference(r, &c->before, &c->after, err) : st;
}

/* The key of the first row behind the position; false where there can be none. */
static bool write_next(gf_tweets_reindexing *r, gf_buffer *next)
{
    char row[GF_TWEET_ROW];
    size_t i = GF_TWEET_ROW;
    memcpy(row, r->info.reindexed, sizeof row);
    while (i > 0 && ++row[i - 1] == 0)
        i--;
    gf_tweets_key(r->tweets, next, gf_slice_of(row, r->info.reindexed_length));
    return i > 0 || r->info.reindexed_length == 0;
}

static gf_status change_tweets(gf_tweets_reindexing *r, changing *c, gf_error *err)
{
    gf_scan *scan = NULL;
    size_t n = 0, bytes = 0;
    c->ended = !write_next(r, &c->next);
    if (c->ended) return GF_OK;
    gf_status st = gf_buffer_check(&c->next, err);
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = GF_TWEETS_RAW_T, .prefix = gf_tweets_prefix(r->tweets),
                        .start = gf_buffer_view(&c->next));
    if (st == GF_OK) st = gf_scan_open(r->tweets->raw, &o, &scan, err);
    while (st == GF_OK && n < TWEETS_PER_STEP && bytes < BYTES_PER_STEP &&
           gf_batch_bytes(r->batch) < BYTES_PER_STEP) {
        gf_slice row;
        st = gf_scan_next(scan, &r->row, err);
        if (st == GF_OK) st = gf_tweets_part(r->tweets, r->row.key, GF_TWEET_ROW, &row, err);
        if (st == GF_OK) st = change_tweet(r, c, row, r->row.cells[0].value, err);
        if (st == GF_OK)
            st = gf_tweets_reindex_tell(r, "indexing", c->done + n, r->info.tweets, err);
        if (st != GF_OK) break;
        memcpy(r->info.reindexed, row.ptr, GF_TWEET_ROW);
        r->info.reindexed_length = GF_TWEET_ROW;
        bytes += r->row.cells[0].value.len;
        n++;
    }
    gf_scan_close(scan);
    c->ended = st == GF_ENOTFOUND;
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    c->done += n;
    return GF_OK;
}

static bool is_by_rules(const gf_tweets_info *info)
{
    return info->rules == GF_TWEETS_RULES && !info->reindexing;
}

/* A step of the walk. */
static gf_status fill_rules(gf_tweets_reindexing *r, void *context, gf_error *err)
{
    changing *c = context;
    c->ended = is_by_rules(&r->info); /* another reindex was first */
    if (c->ended) return GF_OK;
    r->info.reindexing = true;
    gf_status st = change_tweets(r, c, err);
    if (st != GF_OK || !c->ended) return st;
    r->info.rules = GF_TWEETS_RULES;
    r->info.reindexing = false;
    r->info.reindexed_length = 0;
    return GF_OK;
}

static gf_status change_rules(gf_tweets_reindexing *r, gf_error *err)
{
    changing c = {.done = 0};
    gf_status st = GF_OK;
    while (st == GF_OK && !c.ended && !is_by_rules(&r->info)) {
        r->out->by_rules = true;
        st = gf_tweets_reindex_step(r, fill_rules, &c, true, GF_SYNC_OFF, err);
    }
    release_cells(&c.before);
    release_cells(&c.after);
    gf_buffer_release(&c.next);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Nothing changes: the version is raised, and all before it is on disk. */
static gf_status fill_nothing(gf_tweets_reindexing *r, void *context, gf_error *err)
{
    (void)r, (void)context, (void)err;
    return GF_OK;
}

static gf_status reindex_all(gf_tweets_reindexing *r, gf_error *err)
{
    gf_status st = gf_tweets_join(r->tweets, err);
    if (st == GF_OK) st = gf_batch_create(r->tweets->db, &r->batch, err);
    if (st == GF_OK) st = gf_tweets_parser_create(&r->parser, err);
    if (st == GF_OK) st = read_settings(r, err);
    if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
    st = change_rules(r, err);
    if (st == GF_OK) st = gf_tweets_mend(r, err);
    if (st == GF_OK && (r->out->by_rules || r->out->mended))
        st = gf_tweets_reindex_step(r, fill_nothing, NULL, true, GF_SYNC_ON, err);
    r->out->tweets = r->info.tweets;
    return st;
}

gf_status gf_tweets_reindex(gf_tweets *tweets, const gf_tweets_reindex_options *options,
                            gf_tweets_reindexed *reindexed, gf_error *err)
{
    gf_tweets_reindexed out = {.tweets = 0};
    gf_tweets_reindexing r = {.tweets = tweets, .options = options, .out = &out};
    gf_status st = reindex_all(&r, err);
    gf_batch_free(r.batch);
    gf_tweets_parser_free(r.parser);
    gf_tweets_deriving_release(&r.deriving);
    gf_buffer_release(&r.key);
    gf_buffer_release(&r.version);
    gf_row_release(&r.row);
    if (st == GF_OK) *reindexed = out;
    return st;
}
