/*
 * Mending the indexes of a namespace.
 *
 * All reading is in one snapshot. First what the tweets make is summed, and what the indexes have:
 * where the sums agree nothing is to be done. Else it is looked up what is missing or wrong, and where
 * there is more than the tweets make, what is too much. Such finds are gathered and mended in steps,
 * each of which looks again at what is stored by then: with a parser of its own, as the tweet that
 * the walk stands on is another one's.
 */
#include "apps/tweets/write/reindex_internal.h"

#include "apps/tweets/raw_rows.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/strings.h"
#include "engine/rows/scan.h"

enum { FINDS_PER_STEP = 1000 };

/* Tweets of a minute by language. */
typedef struct minute_counts {
    int64_t minute;
    gf_strings languages;
    uint64_t *counts; /* of languages; capacity */
    size_t capacity;
} minute_counts;

/* Cells that no tweet makes; their keys are those of their rows. */
typedef struct strays {
    gf_tweets_cell *items; /* n, capacity */
    size_t n, capacity;
    gf_arena memory;
} strays;

typedef struct mending {
    gf_tweets_reindexing *r;
    gf_snapshot *snapshot;
    gf_tweets_info info;      /* of the snapshot */
    gf_tweets_parser *parser; /* of the walks */
    gf_tweets_sum made[GF_TWEETS_INDEXES], there[GF_TWEETS_INDEXES];
    uint64_t tweets, with_place, done;
    uint64_t absent[GF_TWEETS_INDEXES]; /* cells that tweets make and that are not there */
    bool is_wrong;                      /* a cell of the tweet at hand is not as it must be */
    minute_counts at;                   /* of the walk */
    minute_counts again;                /* of a step */
    gf_raw_rows finds;                  /* tweets some of whose cells are missing */
    strays strays;
    const gf_tweets_cell *sought; /* a cell, and whether the tweet at hand makes it */
    bool found;
    gf_buffer key;
    gf_row cell;
} mending;

/* ---- walks ----------------------------------------------------------------------------------- */

typedef gf_status each_tweet(mending *m, gf_slice row, const gf_tweet *tweet, gf_error *err);

static void seconds_key(mending *m, gf_buffer *key, int64_t seconds)
{
    gf_tweets_key(m->r->tweets, key, GF_SLICE(""));
    gf_buffer_u64be(key, (uint64_t)seconds);
}

/* The tweets of a time: in the snapshot, or by a step as they are now. */
static gf_status walk_tweets(mending *m, bool is_step, int64_t from, int64_t end, each_tweet *each,
                             gf_error *err)
{
    gf_tweets *t = m->r->tweets;
    gf_tweets_parser *parser = is_step ? m->r->parser : m->parser;
    gf_buffer first = {0}, last = {0};
    gf_row row = {0};
    gf_scan *scan = NULL;
    seconds_key(m, &first, from);
    seconds_key(m, &last, end);
    gf_status st = gf_buffer_check(&first, err);
    if (st == GF_OK) st = gf_buffer_check(&last, err);
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = is_step ? NULL : m->snapshot, .family = GF_TWEETS_RAW_T,
                        .start = gf_buffer_view(&first), .end = gf_buffer_view(&last));
    if (st == GF_OK) st = gf_scan_open(t->raw, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &row, err)) == GF_OK) {
        gf_slice part;
        gf_tweet tweet;
        st = gf_tweets_part(t, row.key, GF_TWEET_ROW, &part, err);
        if (st == GF_OK) st = gf_tweets_parse_stored(parser, row.cells[0].value, &tweet, err);
        if (st == GF_OK) st = each(m, part, &tweet, err);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    gf_buffer_release(&first);
    gf_buffer_release(&last);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status walk_all(mending *m, each_tweet *each, gf_error *err)
{
    m->done = 0;
    return walk_tweets(m, false, 0, GF_TWEET_LAST_SECOND + 1, each, err);
}

/* The cell's key is that of its row. */
typedef gf_status each_cell(mending *m, const gf_tweets_cell *cell, gf_error *err);

static gf_status walk_index(mending *m, gf_tweets_index index, each_cell *each, gf_error *err)
{
    gf_table *table = gf_tweets_index_table(m->r->tweets, index);
    gf_row row = {0};
    gf_status st = GF_OK;
    for (unsigned f = 0; f < gf_table_schema(table)->n_families && st == GF_OK; f++) {
        gf_scan *scan = NULL;
        gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = m->snapshot, .family = f,
                                            .prefix = gf_tweets_prefix(m->r->tweets));
        st = gf_scan_open(table, &o, &scan, err);
        while (st == GF_OK && (st = gf_scan_next(scan, &row, err)) == GF_OK) {
            gf_tweets_cell cell = {.index = index,
                                   .family = f,
                                   .key = row.key,
                                   .qualifier = row.cells[0].qualifier,
                                   .value = row.cells[0].value};
            st = gf_cancel_check(m->r->options->cancel, err);
            if (st == GF_OK) st = each(m, &cell, err);
        }
        gf_scan_close(scan);
        if (st == GF_ENOTFOUND) st = GF_OK;
    }
    gf_row_release(&row);
    return st;
}

/* ---- minutes --------------------------------------------------------------------------------- */

static gf_status count_tweet(minute_counts *c, const gf_tweet *tweet, gf_error *err)
{
    uint32_t id;
    bool added;
    c->minute = tweet->seconds / 60;
    gf_status st = gf_strings_add(&c->languages, tweet->lang, &id, &added, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&c->counts, &c->capacity, (size_t)id + 1, sizeof *c->counts))
        return gf_fail_memory(err, "counts");
    c->counts[id] = added ? 1 : c->counts[id] + 1;
    return GF_OK;
}

static void release_counts(minute_counts *c)
{
    gf_strings_release(&c->languages);
    gf_free(c->counts);
}

static gf_status write_minute_key(mending *m, int64_t minute, gf_error *err)
{
    char text[GF_TWEET_MINUTE];
    gf_tweets_minute(minute * 60, text);
    gf_tweets_key(m->r->tweets, &m->key, gf_slice_of(text, sizeof text));
    return gf_buffer_check(&m->key, err);
}

/* A cell of TweetFrequency, of the minute that m->key names: GF_ENOTFOUND where it is not there. */
static gf_status read_count(mending *m, const gf_snapshot *snapshot, gf_slice language, uint64_t *n,
                            gf_error *err)
{
    gf_status st = gf_table_get_cell(m->r->tweets->frequency, snapshot, gf_buffer_view(&m->key),
                                     GF_TWEETS_FREQUENCY_LANGUAGE, language, 1, &m->cell, err);
    *n = 0; /* no tweets make that: what is no number is wrong */
    if (st == GF_OK) gf_rows_cell_number(&m->cell.cells[0], n);
    return st;
}

static gf_status count_again(mending *m, gf_slice row, const gf_tweet *tweet, gf_error *err)
{
    (void)row;
    return count_tweet(&m->again, tweet, err);
}

/* Count the minute m->at.minute again, and put its counts. */
static gf_status fill_minute(gf_tweets_reindexing *r, void *context, gf_error *err)
{
    mending *m = context;
    int64_t minute = m->at.minute;
    gf_strings_release(&m->again.languages);
    gf_status st = walk_tweets(m, true, minute * 60, minute * 60 + 60, count_again, err);
    if (st == GF_OK) st = write_minute_key(m, minute, err);
    for (uint32_t i = 0; i < m->again.languages.n && st == GF_OK; i++) {
        gf_slice language = gf_strings_at(&m->again.languages, i);
        gf_number_digits digits;
        uint64_t n;
        st = read_count(m, NULL, language, &n, err);
        if (st != GF_OK && st != GF_ENOTFOUND) return st;
        st = GF_OK;
        if (n == m->again.counts[i]) continue;
        gf_batch_put(r->batch, r->tweets->frequency, gf_buffer_view(&m->key),
                     GF_TWEETS_FREQUENCY_LANGUAGE, language,
                     gf_number_write(&digits, m->again.counts[i]), 0);
        r->step.added++;
    }
    return st;
}

static gf_status end_minute_mended(mending *m, gf_error *err)
{
    bool wrong = false;
    gf_status st = m->at.languages.n ? write_minute_key(m, m->at.minute, err) : GF_OK;
    for (uint32_t i = 0; i < m->at.languages.n && st == GF_OK; i++) {
        uint64_t n;
        st = read_count(m, m->snapshot, gf_strings_at(&m->at.languages, i), &n, err);
        m->absent[GF_TWEETS_MINUTES] += st == GF_ENOTFOUND;
        if (st == GF_ENOTFOUND) st = GF_OK;
        wrong = wrong || n != m->at.counts[i];
    }
    if (st == GF_OK && wrong)
        st = gf_tweets_reindex_step(m->r, fill_minute, m, false, GF_SYNC_OFF, err);
    gf_strings_release(&m->at.languages);
    return st;
}

static gf_status mend_counts(mending *m, gf_slice row, const gf_tweet *tweet, gf_error *err)
{
    (void)row;
    gf_status st = gf_tweets_reindex_tell(m->r, "mending", m->done++, m->info.tweets, err);
    if (st == GF_OK && tweet->seconds / 60 != m->at.minute) st = end_minute_mended(m, err);
    return st == GF_OK ? count_tweet(&m->at, tweet, err) : st;
}

/* ---- what is missing ------------------------------------------------------------------------- */

static gf_status read_cell(mending *m, const gf_snapshot *snapshot, const gf_tweets_cell *cell,
                           bool *same, gf_error *err)
{
    gf_tweets_key(m->r->tweets, &m->key, cell->key);
    gf_status st = gf_buffer_check(&m->key, err);
    if (st != GF_OK) return st;
    st =
        gf_table_get_cell(gf_tweets_index_table(m->r->tweets, cell->index), snapshot,
                          gf_buffer_view(&m->key), cell->family, cell->qualifier, 1, &m->cell, err);
    *same = st == GF_OK && gf_slice_equal(m->cell.cells[0].value, cell->value);
    return st;
}

static gf_status put_missing(void *context, const gf_tweets_cell *cell, gf_error *err)
{
    mending *m = context;
    gf_tweets_reindexing *r = m->r;
    bool same;
    if (cell->index == GF_TWEETS_MINUTES) return GF_OK;
    gf_status st = read_cell(m, NULL, cell, &same, err);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    if (same) return GF_OK;
    gf_batch_put(r->batch, gf_tweets_index_table(r->tweets, cell->index), gf_buffer_view(&m->key),
                 cell->family, cell->qualifier, cell->value, 0);
    r->step.added++;
    return GF_OK;
}

/* The tweet of a raw row as it is now, by the parser of the steps. */
static gf_status read_tweet(mending *m, gf_slice row, gf_tweet *tweet, gf_error *err)
{
    gf_tweets_key(m->r->tweets, &m->key, row);
    gf_status st = gf_buffer_check(&m->key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(m->r->tweets->raw, NULL, gf_buffer_view(&m->key), GF_TWEETS_RAW_T,
                               GF_SLICE(""), 1, &m->cell, err);
    if (st != GF_OK) return st;
    return gf_tweets_parse_stored(m->r->parser, m->cell.cells[0].value, tweet, err);
}

static gf_status fill_missing(gf_tweets_reindexing *r, void *context, gf_error *err)
{
    mending *m = context;
    gf_status st = GF_OK;
    for (size_t i = 0; i < m->finds.n && st == GF_OK; i++) {
        gf_slice row = gf_slice_of(m->finds.bytes + i * GF_TWEET_ROW, GF_TWEET_ROW);
        uint64_t added = r->step.added;
        gf_tweet tweet;
        st = read_tweet(m, row, &tweet, err);
        if (st == GF_OK)
            st = gf_tweets_derive(&r->deriving, r->info.hash, gf_tweets_rules_of(&r->info, row),
                                  row, &tweet, put_missing, m, err);
        if (st == GF_ENOTFOUND) st = GF_OK; /* it was deleted meanwhile */
        r->step.changed += r->step.added > added;
    }
    return st;
}

static gf_status mend_finds(mending *m, size_t most, gf_error *err)
{
    if (m->finds.n <= most) return GF_OK;
    gf_status st = gf_tweets_reindex_step(m->r, fill_missing, m, false, GF_SYNC_OFF, err);
    m->finds.n = 0;
    return st;
}

static gf_status look_up_cell(void *context, const gf_tweets_cell *cell, gf_error *err)
{
    mending *m = context;
    bool same;
    if (cell->index == GF_TWEETS_MINUTES) return GF_OK;
    gf_status st = read_cell(m, m->snapshot, cell, &same, err);
    m->absent[cell->index] += st == GF_ENOTFOUND;
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    m->is_wrong = m->is_wrong || !same;
    return GF_OK;
}

static gf_status look_up_tweet(mending *m, gf_slice row, const gf_tweet *tweet, gf_error *err)
{
    m->is_wrong = false;
    gf_status st = gf_tweets_reindex_tell(m->r, "mending", m->done++, m->info.tweets, err);
    if (st == GF_OK)
        st = gf_tweets_derive(&m->r->deriving, m->info.hash, gf_tweets_rules_of(&m->info, row), row,
                              tweet, look_up_cell, m, err);
    if (st == GF_OK && m->is_wrong) st = gf_raw_rows_add(&m->finds, row, err);
    return st == GF_OK ? mend_finds(m, FINDS_PER_STEP - 1, err) : st;
}

/* ---- what is too much ------------------------------------------------------------------------ */

static gf_status compare_cell(void *context, const gf_tweets_cell *cell, gf_error *err)
{
    mending *m = context;
    (void)err;
    if (cell->index != m->sought->index || cell->family != m->sought->family) return GF_OK;
    gf_slice key = gf_slice_skip(m->sought->key, gf_tweets_prefix(m->r->tweets).len);
    m->found = m->found || gf_slice_equal(cell->key, key);
    return GF_OK;
}

static gf_status compare_language(mending *m, gf_slice row, const gf_tweet *tweet, gf_error *err)
{
    (void)row, (void)err;
    m->found = m->found || gf_slice_equal(tweet->lang, m->sought->qualifier);
    return GF_OK;
}

/* Whether a tweet makes a cell of that row and qualifier now; its value is another question. */
static gf_status is_made(mending *m, const gf_tweets_cell *cell, bool *made, gf_error *err)
{
    gf_tweet tweet;
    int64_t minute;
    char text[GF_TWEET_MINUTE];
    gf_slice key = gf_slice_skip(cell->key, gf_tweets_prefix(m->r->tweets).len);
    gf_status st = GF_OK;
    m->sought = cell;
    m->found = false;
    if (cell->index == GF_TWEETS_MINUTES && gf_tweets_read_minute(key, &minute) && minute >= 0 &&
        minute <= GF_TWEET_LAST_SECOND / 60) {
        gf_tweets_minute(minute * 60, text);
        if (gf_slice_equal(key, gf_slice_of(text, sizeof text)))
            st = walk_tweets(m, true, minute * 60, minute * 60 + 60, compare_language, err);
    } else if (cell->index != GF_TWEETS_MINUTES && cell->qualifier.len == GF_TWEET_ROW) {
        st = read_tweet(m, cell->qualifier, &tweet, err);
        if (st == GF_OK)
            st = gf_tweets_derive(&m->r->deriving, m->info.hash,
                                  gf_tweets_rules_of(&m->r->info, cell->qualifier), cell->qualifier,
                                  &tweet, compare_cell, m, err);
        if (st == GF_ENOTFOUND) st = GF_OK;
    }
    *made = m->found;
    return st;
}

static gf_status fill_strays(gf_tweets_reindexing *r, void *context, gf_error *err)
{
    mending *m = context;
    gf_status st = GF_OK;
    for (size_t i = 0; i < m->strays.n && st == GF_OK; i++) {
        const gf_tweets_cell *cell = &m->strays.items[i];
        bool made;
        st = is_made(m, cell, &made, err);
        if (st != GF_OK || made) continue;
        gf_batch_delete_cell(r->batch, gf_tweets_index_table(r->tweets, cell->index), cell->key,
                             cell->family, cell->qualifier);
        r->step.removed++;
    }
    return st;
}

static gf_status drop_strays(mending *m, size_t most, gf_error *err)
{
    if (m->strays.n <= most) return GF_OK;
    gf_status st = gf_tweets_reindex_step(m->r, fill_strays, m, false, GF_SYNC_OFF, err);
    m->strays.n = 0;
    gf_arena_reset(&m->strays.memory);
    return st;
}

static gf_status find_stray(mending *m, const gf_tweets_cell *cell, gf_error *err)
{
    strays *s = &m->strays;
    bool made;
    gf_status st = is_made(m, cell, &made, err);
    if (st != GF_OK || made) return st;
    if (!gf_grow(&s->items, &s->capacity, s->n + 1, sizeof *s->items))
        return gf_fail_memory(err, "rows of tweets");
    gf_tweets_cell stray = {.index = cell->index,
                            .family = cell->family,
                            .key = gf_arena_copy(&s->memory, cell->key),
                            .qualifier = gf_arena_copy(&s->memory, cell->qualifier)};
    if (!stray.key.ptr || !stray.qualifier.ptr) return gf_fail_memory(err, "rows of tweets");
    s->items[s->n++] = stray;
    return drop_strays(m, FINDS_PER_STEP - 1, err);
}

/* ---- the check ------------------------------------------------------------------------------- */

static gf_status sum_minute(mending *m, gf_error *err)
{
    gf_status st = m->at.languages.n ? write_minute_key(m, m->at.minute, err) : GF_OK;
    for (uint32_t i = 0; i < m->at.languages.n && st == GF_OK; i++) {
        gf_number_digits digits;
        gf_tweets_sum_add(&m->made[GF_TWEETS_MINUTES], GF_TWEETS_MINUTES,
                          GF_TWEETS_FREQUENCY_LANGUAGE, gf_buffer_view(&m->key),
                          gf_strings_at(&m->at.languages, i),
                          gf_number_write(&digits, m->at.counts[i]));
    }
    gf_strings_release(&m->at.languages);
    return st;
}

static gf_status sum_made(void *context, const gf_tweets_cell *cell, gf_error *err)
{
    mending *m = context;
    if (cell->index == GF_TWEETS_MINUTES) return GF_OK;
    gf_tweets_key(m->r->tweets, &m->key, cell->key);
    gf_tweets_sum_add(&m->made[cell->index], cell->index, cell->family, gf_buffer_view(&m->key),
                      cell->qualifier, cell->value);
    return gf_buffer_check(&m->key, err);
}

static gf_status sum_tweet(mending *m, gf_slice row, const gf_tweet *tweet, gf_error *err)
{
    gf_status st = gf_tweets_reindex_tell(m->r, "checking", m->done++, m->info.tweets, err);
    if (st == GF_OK && tweet->seconds / 60 != m->at.minute) st = sum_minute(m, err);
    if (st == GF_OK) st = count_tweet(&m->at, tweet, err);
    m->tweets++;
    m->with_place += tweet->has_place;
    if (st != GF_OK) return st;
    return gf_tweets_derive(&m->r->deriving, m->info.hash, gf_tweets_rules_of(&m->info, row), row,
                            tweet, sum_made, m, err);
}

static gf_status sum_there(mending *m, const gf_tweets_cell *cell, gf_error *err)
{
    (void)err;
    gf_tweets_sum_add(&m->there[cell->index], cell->index, cell->family, cell->key, cell->qualifier,
                      cell->value);
    return GF_OK;
}

static gf_status sum_all(mending *m, gf_error *err)
{
    gf_status st = walk_all(m, sum_tweet, err);
    if (st == GF_OK) st = sum_minute(m, err);
    for (gf_tweets_index i = 0; i < GF_TWEETS_INDEXES && st == GF_OK; i++)
        st = walk_index(m, i, sum_there, err);
    return st;
}

static bool is_sound(const mending *m, gf_tweets_index i)
{
    return m->made[i].n == m->there[i].n && m->made[i].hash == m->there[i].hash;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The numbers that the settings had wrong in the snapshot are wrong by as much now. */
static gf_status fill_counts(gf_tweets_reindexing *r, void *context, gf_error *err)
{
    const mending *m = context;
    (void)err;
    r->info.tweets += m->tweets - m->info.tweets;
    r->info.with_place += m->with_place - m->info.with_place;
    return GF_OK;
}

static gf_status mend_indexes(mending *m, gf_error *err)
{
    gf_status st = GF_OK;
    bool minutes = !is_sound(m, GF_TWEETS_MINUTES);
    if (!is_sound(m, GF_TWEETS_TERMS) || !is_sound(m, GF_TWEETS_PLACES) ||
        !is_sound(m, GF_TWEETS_IDS)) {
        st = walk_all(m, look_up_tweet, err);
        if (st == GF_OK) st = mend_finds(m, 0, err);
    }
    if (st == GF_OK && minutes) st = walk_all(m, mend_counts, err);
    if (st == GF_OK && minutes) st = end_minute_mended(m, err);
    for (gf_tweets_index i = 0; i < GF_TWEETS_INDEXES && st == GF_OK; i++) {
        if (is_sound(m, i) || m->there[i].n + m->absent[i] == m->made[i].n) continue;
        st = walk_index(m, i, find_stray, err);
        if (st == GF_OK) st = drop_strays(m, 0, err);
    }
    return st;
}

static gf_status mend_all(mending *m, gf_error *err)
{
    gf_tweets *t = m->r->tweets;
    gf_status st = gf_tweets_parser_create(&m->parser, err);
    if (st == GF_OK) st = gf_snapshot_create(t->db, &m->snapshot, err);
    if (st == GF_OK) st = gf_tweets_read_settings_at(t, m->snapshot, &m->cell, &m->info, NULL, err);
    if (st == GF_OK) st = sum_all(m, err);
    if (st != GF_OK) return st;
    if (m->tweets != m->info.tweets || m->with_place != m->info.with_place) {
        m->r->out->mended = true;
        st = gf_tweets_reindex_step(m->r, fill_counts, m, true, GF_SYNC_OFF, err);
    }
    for (gf_tweets_index i = 0; i < GF_TWEETS_INDEXES; i++)
        m->r->out->mended = m->r->out->mended || !is_sound(m, i);
    return st == GF_OK && m->r->out->mended ? mend_indexes(m, err) : st;
}

gf_status gf_tweets_mend(gf_tweets_reindexing *r, gf_error *err)
{
    mending m = {.r = r};
    gf_status st = mend_all(&m, err);
    gf_snapshot_free(m.snapshot);
    gf_tweets_parser_free(m.parser);
    release_counts(&m.at);
    release_counts(&m.again);
    gf_raw_rows_release(&m.finds);
    gf_free(m.strays.items);
    gf_arena_release(&m.strays.memory);
    gf_buffer_release(&m.key);
    gf_row_release(&m.cell);
    return st;
}
