/*
 * Two processes on one store. One works at random and ends before one of its writes, any of them;
 * the other works beside it, in the middle of its rebuilds and deletions, and goes on alone.
 *
 *     first    put  rebuild...........  delete a collection..   put x
 *     second            put  rebuild               put               clears away, put, rebuild
 *
 * At the end of the first the store is sound (soundness.h), and so it is when the second has cleared
 * away, but then with nothing left over; what was acknowledged to either is there, and what the
 * first was about when it ended is there as a whole or not at all.
 *
 * In some histories the second takes the first for ended though it goes on, as one that was stopped for
 * a while does: then the first may fail with a conflict, and the store is as sound as before.
 *
 * All this once where batches and snapshots are there, and once without either, where each row is a
 * write of its own: the first then ends before any row's, and another may take its hold amid a batch.
 *
 * GROUPERFISH_FAULTS: ends, of the long form.
 */
#include "tests/engine/fixture_shared.h"

#include "base/random.h"
#include "engine/store/hold.h"
#include "tests/engine/soundness.h"

#include <stdlib.h>
#include <time.h>

enum {
    COLLECTIONS = 2,
    IDS = 16,
    MOST_OPERATIONS = 24,
    MOST_WRITES = 40,
    MOST_ROWS = 250,
    MOST_PUT = 6,
    FEW_SECONDS = 8
};

typedef struct expected {
    bool there;
    int version;
} expected;

typedef struct history {
    gf_random random;
    gf_backend *backends[2];
    gf_store *stores[2];
    bool by_rows; /* without batches and snapshots */
    expected docs[COLLECTIONS][IDS];
    int touched[COLLECTIONS][IDS]; /* the version when the second changed it last */
    int versions;
    bool stops;                 /* the first is taken for ended at any of its steps, and goes on */
    bool deleting[COLLECTIONS]; /* by the first, under way or cut short */
    /* The put that the first was about when it ended. */
    bool in_doubt;
    size_t doubtful;
    expected instead[IDS];
    bool either[IDS]; /* the second changed it meanwhile: before, or behind it */
    /* Counted. */
    int rebuilds[2], puts[2], beside, conflicts;
} history;

static const char *const names[COLLECTIONS] = {"c", "d"};
static const char *const subjects[] = {"apple banana cherry juice fruit",
                                       "engine wheel brake road car",
                                       "guitar piano violin song music"};

static uint64_t below(history *h, uint64_t bound)
{
    return gf_random_below(&h->random, bound);
}

static void make_text(size_t id, int version, char text[96])
{
    snprintf(text, 96, "%s number%d", subjects[id % 3], version);
}

/* A process that has ended may only fail; others may find what they want to do under way. */
static bool is_done(history *h, int who, const char *what, gf_status st, const gf_error *err)
{
    if (st == GF_OK) return true;
    bool ended = who == 0 && gf_store_has_failed(h->stores[0]);
    if (who == 0 && h->stops && st == GF_ECONFLICT) {
        h->conflicts++;
        return false;
    }
    if (!ended && st != GF_EBUSY && st != GF_ENOTFOUND) fail_msg("%s: %s", what, err->message);
    return false;
}

/* ---- operations ------------------------------------------------------------------------------ */

static gf_status ignore(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

static bool has_collection(gf_store *s, size_t c)
{
    return gf_collection_read(s, fixture_place(names[c]), ignore, NULL, NULL) == GF_OK;
}

static bool has_document(history *h, size_t c, size_t i, const expected *e)
{
    char id[8], text[96];
    gf_error err;
    gf_buffer key = {0};
    gf_row row = {0};
    gf_store *s = h->stores[1];
    snprintf(id, sizeof id, "%02zu", i);
    make_text(i, e->version, text);
    gf_tables_document_key(&key, GF_SLICE("test"), gf_slice_str(names[c]), gf_slice_str(id));
    gf_status st = gf_table_get(s->tables.documents, NULL, gf_buffer_view(&key),
                                1u << GF_DOCUMENTS_MAIN, &row, &err);
    const gf_cell *cell = st == GF_OK ? gf_row_find(&row, GF_DOCUMENTS_MAIN, "text") : NULL;
    bool is =
        e->there ? cell && gf_slice_equal(cell->value, gf_slice_str(text)) : st == GF_ENOTFOUND;
    gf_row_release(&row);
    gf_buffer_release(&key);
    return is;
}

/* Of two changes of a document at once, where one process was stopped, either may be the last. */
static void know_put(history *h, int who, size_t c, size_t i, const expected *after, int begun)
{
    bool meanwhile = who == 0 && h->touched[c][i] > begun;
    if (who == 1) h->touched[c][i] = ++h->versions;
    if (!meanwhile || !has_document(h, c, i, &h->docs[c][i])) h->docs[c][i] = *after;
}

/* Some documents, put or deleted in one batch. */
static void put_some(history *h, int who)
{
    gf_error err = {GF_OK, ""};
    size_t c = below(h, COLLECTIONS);
    gf_put *put;
    size_t changed[MOST_PUT], n = 0, most = 1 + below(h, MOST_PUT);
    expected after[MOST_PUT];
    gf_store *s = h->stores[who];
    bool is_there = has_collection(s, c);
    int begun = h->versions;
    gf_status st =
        gf_put_open(h->stores[who], &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, &err);
    assert_int_equal(st, GF_OK);
    for (; n < most && st == GF_OK; n++) {
        size_t i = changed[n] = below(h, IDS);
        char id[8], text[96];
        snprintf(id, sizeof id, "%02zu", i);
        bool deletes = below(h, 4) == 0;
        after[n] = (expected){!deletes, ++h->versions};
        make_text(i, after[n].version, text);
        gf_document d = {.id = gf_slice_str(id), .text = gf_slice_str(text)};
        st = deletes ? gf_put_delete(put, gf_slice_str(names[c]), d.id, &err)
                     : gf_put_document(put, gf_slice_str(names[c]), &d, &err);
    }
    if (st == GF_OK) st = gf_put_flush(put, &err);
    gf_put_close(put);
    h->puts[who]++;
    if (is_done(h, who, "put", st, &err)) {
        /* The collection is made anew where the first's deletion of it was under way, and was done. */
        for (size_t i = 0; i < IDS && h->deleting[c] && !is_there; i++)
            h->docs[c][i].there = false;
        h->deleting[c] = h->deleting[c] && is_there;
        for (size_t i = 0; i < n; i++)
            know_put(h, who, c, changed[i], &after[i], begun);
    } else if (st == GF_EIO || st == GF_EUNKNOWN) {
        h->in_doubt = true;
        h->doubtful = c;
        memcpy(h->instead, h->docs[c], sizeof h->instead);
        memset(h->either, 0, sizeof h->either);
        for (size_t i = 0; i < n; i++) {
            h->instead[changed[i]] = after[i];
            h->either[changed[i]] = h->touched[c][changed[i]] > begun;
        }
    }
}

static void rebuild(history *h, int who)
{
    gf_error err = {GF_OK, ""};
    gf_rebuild_result result;
    gf_slice configuration = below(h, 3) ? fixture_default() : GF_SLICE("fine");
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1);
    gf_status st = gf_rebuild(h->stores[who], fixture_place(names[below(h, COLLECTIONS)]),
                              configuration, &o, &result, &err);
    h->rebuilds[who] += is_done(h, who, "rebuild", st, &err);
}

static void configure(history *h, int who)
{
    gf_error err = {GF_OK, ""};
    gf_place where = fixture_place(names[below(h, COLLECTIONS)]);
    gf_pair pair = {GF_SLICE("k"), GF_SLICE("2")};
    gf_status st =
        below(h, 2) ? gf_configuration_set(h->stores[who], where, GF_SLICE("fine"), &pair, 1, &err)
                    : gf_configuration_delete(h->stores[who], where, GF_SLICE("fine"), &err);
    is_done(h, who, "a configuration", st, &err);
}

/* The first's alone, so that what comes of it is known. */
static void delete_collection(history *h)
{
    gf_error err = {GF_OK, ""};
    size_t c = below(h, COLLECTIONS);
    if (!has_collection(h->stores[0], c)) return;
    h->deleting[c] = true;
    gf_status st = gf_collection_delete(h->stores[0], fixture_place(names[c]), &err);
    bool done = is_done(h, 0, "a deletion", st, &err);
    if (!done && st != GF_EIO && st != GF_EUNKNOWN && st != GF_ECONFLICT) h->deleting[c] = false;
    for (size_t i = 0; i < IDS && done && h->deleting[c]; i++)
        h->docs[c][i].there = false;
    if (done) h->deleting[c] = false;
}

static void operate(history *h, int who)
{
    switch (below(h, 8)) {
    case 0:
    case 1:
    case 2:
        put_some(h, who);
        break;
    case 3:
    case 4:
    case 5:
        rebuild(h, who);
        break;
    case 6:
        configure(h, who);
        break;
    default:
        if (who == 0)
            delete_collection(h);
        else
            put_some(h, who);
    }
}

/* What the second does before a step of the first. */
static void work_beside(void *context)
{
    history *h = context;
    bool keeps_out = h->by_rows && gf_hold_of_thread(h->stores[0]->db);
    if (below(h, h->by_rows ? 20 : 4) || (keeps_out && !h->stops)) return;
    if (below(h, 2)) gf_store_leave_untidy(h->stores[1]);
    if (h->stops) fixture_know_ended(h->stores[1]);
    h->beside++;
    operate(h, 1);
}

/* ---- what is there --------------------------------------------------------------------------- */

static bool has_documents(history *h, size_t c, const expected *docs)
{
    for (size_t i = 0; i < IDS; i++)
        if (!has_document(h, c, i, &docs[i])) return false;
    return true;
}

/* The put in doubt was made; then that is what is known to be there. */
static bool has_doubtful(history *h, size_t c)
{
    for (size_t i = 0; i < IDS; i++) {
        if (has_document(h, c, i, &h->instead[i])) continue;
        if (!h->either[i] || !has_document(h, c, i, &h->docs[c][i])) return false;
        h->instead[i] = h->docs[c][i];
    }
    memcpy(h->docs[c], h->instead, sizeof h->instead);
    return true;
}

static void is_kept(history *h)
{
    static const expected none[IDS];
    for (size_t c = 0; c < COLLECTIONS; c++) {
        bool kept = has_documents(h, c, h->docs[c]);
        if (!kept && h->in_doubt && h->doubtful == c) kept = has_doubtful(h, c);
        if (!kept && h->deleting[c]) {
            kept = has_documents(h, c, none);
            for (size_t i = 0; i < IDS && kept; i++)
                h->docs[c][i].there = false;
        }
        if (!kept) fail_msg("collection %s has lost something, or has something back", names[c]);
        h->deleting[c] = false;
    }
    h->in_doubt = false;
}

static void is_sound(history *h, bool tidied, const char *when)
{
    const char *fault = soundness_fault(h->stores[1], tidied);
    if (fault) fail_msg("%s: %s", when, fault);
}

/* ---- one history ----------------------------------------------------------------------------- */

static void open_stores(history *h)
{
    const unsigned rows = GF_BACKEND_SHARED, all = rows | GF_BACKEND_BATCH | GF_BACKEND_SNAPSHOT;
    for (int i = 0; i < 2; i++)
        h->stores[i] =
            fixture_share_as(i ? h->backends[0] : NULL, h->by_rows ? rows : all, &h->backends[i]);
}

/* What is dropped where there are no snapshots is looked at twice. */
static void tidy(history *h)
{
    gf_error err;
    fixture_know_ended(h->stores[1]);
    fixture_know_stopped(h->stores[1]);
    for (int i = 0; i < (h->by_rows ? 3 : 1); i++)
        assert_ok(gf_store_tidy(h->stores[1], &err));
}

static bool run_history(history *h, bool by_rows, uint64_t seed, uint64_t stream)
{
    *h = (history){.random = gf_random_seed(seed, stream), .by_rows = by_rows};
    open_stores(h);
    gf_model_end_after(h->backends[0], 1 + below(h, by_rows ? MOST_ROWS : MOST_WRITES));
    gf_model_watch(h->backends[0], work_beside, h);
    h->stops = below(h, 4) == 0;
    for (int i = 0; i < MOST_OPERATIONS && !gf_store_has_failed(h->stores[0]); i++) {
        operate(h, 0);
        if (!gf_store_has_failed(h->stores[0]) && below(h, 3) == 0) operate(h, 1);
    }
    bool ended = gf_store_has_failed(h->stores[0]);
    gf_store_close(h->stores[0]);
    is_sound(h, false, "when the first had ended");

    tidy(h);
    is_sound(h, true, "when the second had cleared away");
    is_kept(h);
    for (int i = 0; i < 3; i++)
        operate(h, 1);
    if (by_rows) tidy(h);
    is_sound(h, true, "when the second had gone on");
    is_kept(h);
    gf_store_close(h->stores[1]);
    return ended;
}

static void run_histories(bool by_rows)
{
    const char *given = getenv("GROUPERFISH_FAULTS");
    long wanted = given ? strtol(given, NULL, 10) : 0, ends = 0;
    uint64_t seed = gf_test_seed(), n = 0;
    history *h = malloc(sizeof *h);
    int rebuilds[2] = {0}, puts[2] = {0}, beside = 0, conflicts = 0;
    time_t begun = time(NULL);
    assert_non_null(h);
    for (; wanted ? ends < wanted : time(NULL) - begun < FEW_SECONDS; n++) {
        ends += run_history(h, by_rows, seed, n);
        for (int i = 0; i < 2; i++) {
            rebuilds[i] += h->rebuilds[i];
            puts[i] += h->puts[i];
        }
        beside += h->beside;
        conflicts += h->conflicts;
    }
    print_message("%llu histories, %ld ends; rebuilds %d and %d, puts %d and %d, beside %d, "
                  "conflicts %d\n",
                  (unsigned long long)n, ends, rebuilds[0], rebuilds[1], puts[0], puts[1], beside,
                  conflicts);
    assert_true(ends > 0 && rebuilds[0] > 0 && rebuilds[1] > 0 && beside > 0);
    free(h);
}

static void any_end_leaves_a_sound_store(void **state)
{
    (void)state;
    run_histories(false);
}

static void any_end_between_rows_leaves_a_sound_store(void **state)
{
    (void)state;
    run_histories(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_end_leaves_a_sound_store),
                                       cmocka_unit_test(any_end_between_rows_leaves_a_sound_store)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
