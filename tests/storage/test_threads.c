/* Several threads over one database of LevelDB. */
#include "tests/storage/store.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 6 };

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
static const char *const columns[] = {"name", NULL};
enum { INFO, OTHER, WIDE, HISTORY };
static const gf_family families[] = {
    {"info", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, columns, false},
    {"other", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, NULL, false},
    {"wide", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false},
    {"history", GF_LAYOUT_WIDE, 3, 0, GF_COMPRESSION_NONE, NULL, false},
};
static const gf_schema schema = {"table", parts, 1, families, 4};

/* Shared by the threads of a test. */
typedef struct shared {
    gf_database *db;
    gf_table *t;
    atomic_int next; /* number of the next thread to begin */
    atomic_bool stop;
    atomic_int wins;
    atomic_uint counted;
    const char *failure; /* the first; cmocka's checks are for the main thread alone */
    pthread_mutex_t lock;
    pthread_barrier_t barrier;
} shared;

static void begin(shared *s)
{
    gf_error err;
    memset(s, 0, sizeof *s);
    s->db = gf_test_leveldb();
    assert_ok(gf_table_open(s->db, &schema, &s->t, &err));
    pthread_mutex_init(&s->lock, NULL);
    pthread_barrier_init(&s->barrier, NULL, THREADS);
}

static void check(shared *s, bool holds, const char *what)
{
    if (holds) return;
    pthread_mutex_lock(&s->lock);
    if (!s->failure) s->failure = what;
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->stop, true);
}

/* The thread's statement; what it says is in the test's output. */
#define CHECK(s, condition) check(s, condition, #condition)

static void run(shared *s, void *(*work)(void *), int n)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, s), 0);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    if (s->failure) fail_msg("in a thread: %s", s->failure);
}

static void end(shared *s)
{
    gf_database_close(s->db);
    pthread_mutex_destroy(&s->lock);
    pthread_barrier_destroy(&s->barrier);
}

/* ---- increments and conditions --------------------------------------------------------------- */

enum { INCREMENTS = 300 };

static void *increment(void *context)
{
    shared *s = context;
    int64_t sum, last = 0;
    for (int i = 0; i < INCREMENTS; i++)
        for (unsigned f = INFO; f <= HISTORY; f++) {
            gf_slice key = gf_test_key("counter");
            gf_status st =
                gf_table_increment(s->t, key, f, GF_SLICE("n"), 1, GF_SYNC_OFF, &sum, NULL);
            CHECK(s, st == GF_OK);
            if (f == INFO) CHECK(s, sum > last);
            if (f == INFO) last = sum;
        }
    return NULL;
}

static void increments_sum_up(void **state)
{
    (void)state;
    shared s;
    char want[16];
    begin(&s);
    run(&s, increment, THREADS);
    snprintf(want, sizeof want, "%d", THREADS * INCREMENTS);
    for (unsigned f = INFO; f <= HISTORY; f++)
        gf_test_cell_is(s.t, NULL, gf_test_key("counter"), f, "n", want);
    end(&s);
}

enum { ROUNDS = 200 };

static void *race(void *context)
{
    shared *s = context;
    gf_batch *batch;
    gf_slice key = gf_test_key("race");
    gf_status st = gf_batch_create(s->db, &batch, NULL);
    for (int i = 0; i < ROUNDS && st == GF_OK; i++) {
        char before[16], now[16];
        snprintf(before, sizeof before, "%d", i - 1);
        snprintf(now, sizeof now, "%d", i);
        gf_slice expected = gf_slice_str(before);
        pthread_barrier_wait(&s->barrier);
        gf_batch_put(batch, s->t, key, INFO, GF_SLICE("name"), gf_slice_str(now), 0);
        st = gf_batch_write_if(batch, s->t, key, INFO, GF_SLICE("name"), i ? &expected : NULL,
                               GF_SYNC_OFF, NULL);
        if (st == GF_OK) atomic_fetch_add(&s->wins, 1);
        if (st == GF_ECONFLICT) st = GF_OK;
        pthread_barrier_wait(&s->barrier);
        CHECK(s, atomic_load(&s->wins) == i + 1);
    }
    CHECK(s, st == GF_OK);
    gf_batch_free(batch);
    return NULL;
}

static void exactly_one_wins(void **state)
{
    (void)state;
    shared s;
    begin(&s);
    run(&s, race, THREADS);
    assert_int_equal(atomic_load(&s.wins), ROUNDS);
    end(&s);
}

enum { DUELS = 2000 };

/* Each of two puts its row where the other's is absent. */
static void *duel(void *context)
{
    shared *s = context;
    gf_batch *batch;
    int number = atomic_fetch_add(&s->next, 1);
    if (gf_batch_create(s->db, &batch, NULL) != GF_OK) return NULL;
    for (int i = 0; i < DUELS; i++) {
        char mine[32], other[32];
        snprintf(mine, sizeof mine, "%d.%d", i, number);
        snprintf(other, sizeof other, "%d.%d", i, 1 - number);
        gf_batch_put(batch, s->t, gf_test_key(mine), WIDE, GF_SLICE("q"), GF_SLICE("v"), 0);
        pthread_barrier_wait(&s->barrier);
        gf_status st = gf_batch_write_if(batch, s->t, gf_test_key(other), WIDE, GF_SLICE("q"), NULL,
                                         GF_SYNC_OFF, NULL);
        CHECK(s, st == GF_OK || st == GF_ECONFLICT);
        if (st == GF_OK) atomic_fetch_add(&s->wins, 1);
        pthread_barrier_wait(&s->barrier);
        CHECK(s, atomic_load(&s->wins) == i + 1);
    }
    gf_batch_free(batch);
    return NULL;
}

/* The condition's row is held, too, where the batch does not change it. */
static void a_condition_on_another_row_holds_while_writing(void **state)
{
    (void)state;
    shared s;
    begin(&s);
    pthread_barrier_destroy(&s.barrier);
    pthread_barrier_init(&s.barrier, NULL, 2);
    run(&s, duel, 2);
    end(&s);
}

/* ---- readers while others write -------------------------------------------------------------- */

enum { PAIRS = 8, WRITES = 400 };

static const char *const row_names[PAIRS] = {"a", "b", "c", "d", "e", "f", "g", "h"};

/* Write one number into all rows, in several families, in one batch. */
static void write_everywhere(shared *s, gf_batch *batch, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    gf_slice value = gf_slice_str(text);
    for (int i = 0; i < PAIRS; i++) {
        gf_slice key = gf_test_key(row_names[i]);
        gf_column column = {GF_SLICE("name"), value};
        gf_batch_replace(batch, s->t, key, INFO, &column, 1, 0);
        gf_batch_put(batch, s->t, key, OTHER, GF_SLICE("x"), value, 0);
        gf_batch_put(batch, s->t, key, WIDE, GF_SLICE("x"), value, 0);
        gf_batch_put(batch, s->t, key, WIDE, GF_SLICE("y"), value, 0);
    }
    CHECK(s, gf_batch_write(batch, GF_SYNC_OFF, NULL) == GF_OK);
}

/* All cells of the row have one value; it is put into *value where that is NULL. */
static void check_row(shared *s, const gf_row *row, size_t n, gf_buffer *value)
{
    CHECK(s, row->n_cells == n);
    for (size_t i = 0; i < row->n_cells; i++) {
        if (value->len == 0) gf_buffer_slice(value, row->cells[i].value);
        CHECK(s, gf_slice_equal(row->cells[i].value, gf_buffer_view(value)));
    }
}

static void read_state(shared *s, gf_row *row)
{
    gf_snapshot *snapshot;
    gf_scan *scan;
    gf_buffer value = {0};
    CHECK(s, gf_table_get(s->t, NULL, gf_test_key("c"), GF_ALL_FAMILIES, row, NULL) == GF_OK);
    check_row(s, row, 4, &value); /* one row's families, without a snapshot */
    gf_buffer_reset(&value);
    CHECK(s, gf_snapshot_create(s->db, &snapshot, NULL) == GF_OK);
    for (int i = 0; i < PAIRS; i++) {
        gf_slice key = gf_test_key(row_names[i]);
        CHECK(s, gf_table_get(s->t, snapshot, key, GF_ALL_FAMILIES, row, NULL) == GF_OK);
        check_row(s, row, 4, &value);
    }
    gf_buffer_reset(&value);
    gf_scan_options o = GF_SCAN_OPTIONS(.family = WIDE);
    CHECK(s, gf_scan_open(s->t, &o, &scan, NULL) == GF_OK);
    size_t entries = 0;
    for (; gf_scan_next(scan, row, NULL) == GF_OK; entries++)
        check_row(s, row, 1, &value);
    CHECK(s, entries == 2 * PAIRS);
    gf_scan_close(scan);
    gf_snapshot_free(snapshot);
    gf_buffer_release(&value);
}

static void *write_or_read(void *context)
{
    shared *s = context;
    gf_batch *batch;
    gf_row row = {0};
    bool writes = atomic_fetch_add(&s->next, 1) < 2;
    if (gf_batch_create(s->db, &batch, NULL) != GF_OK) return NULL;
    for (int i = 0; writes && i < WRITES && !atomic_load(&s->stop); i++)
        write_everywhere(s, batch, (int)atomic_fetch_add(&s->counted, 1));
    while (!writes && atomic_load(&s->counted) < 2 * WRITES && !atomic_load(&s->stop))
        read_state(s, &row);
    gf_batch_free(batch);
    gf_row_release(&row);
    return NULL;
}

static void readers_see_whole_batches(void **state)
{
    (void)state;
    shared s;
    gf_batch *batch;
    gf_error err;
    begin(&s);
    assert_ok(gf_batch_create(s.db, &batch, &err));
    write_everywhere(&s, batch, 0);
    gf_batch_free(batch);
    run(&s, write_or_read, THREADS);
    end(&s);
}

/* ---- a table that grows while it is in use --------------------------------------------------- */

enum { GROWN = 60 };

static const char *column_names[GROWN + 1];
static char column_text[GROWN][8];

/* The table with n columns in `info`, and half as many further families (up to 20). */
static gf_status open_grown(shared *s, int n, gf_table **t)
{
    const char *known[GROWN + 2] = {"name"};
    static char names[20][16];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    gf_family grown[4 + 20];
    memcpy(grown, families, sizeof families);
    memcpy(known + 1, column_names, (size_t)n * sizeof *known);
    grown[INFO].columns = known;
    gf_schema longer = schema;
    longer.families = grown;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n / 2 && i < 20; i++) {
        snprintf(names[i], sizeof names[i], "family%d", i);
        grown[longer.n_families++] = (gf_family){.name = names[i], .layout = GF_LAYOUT_PACKED};
    }
    pthread_mutex_unlock(&lock);
    return gf_table_open(s->db, &longer, t, NULL);
}

/* Write and read the columns that there are by now, known ones and others, and the last family. */
static void use_grown(shared *s, gf_row *row, int i)
{
    gf_slice key = gf_test_key(row_names[i % PAIRS]);
    const char *column = column_names[i % GROWN];
    unsigned last = gf_table_schema(s->t)->n_families - 1;
    CHECK(s, gf_test_put(s->db, s->t, key, INFO, column, GF_SLICE("v"), 0, NULL) == GF_OK);
    CHECK(s, gf_test_put(s->db, s->t, key, last, "q", GF_SLICE("v"), 0, NULL) == GF_OK);
    gf_error err = {GF_OK, ""};
    gf_status st = gf_table_get(s->t, NULL, key, GF_ALL_FAMILIES, row, &err);
    CHECK(s, st == GF_OK);
    CHECK(s, gf_row_find(row, INFO, column) != NULL);
    gf_scan *scan;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = INFO);
    CHECK(s, gf_scan_open(s->t, &o, &scan, NULL) == GF_OK);
    while ((st = gf_scan_next(scan, row, &err)) == GF_OK)
        continue;
    CHECK(s, st == GF_ENOTFOUND);
    gf_scan_close(scan);
}

static void *grow_or_use(void *context)
{
    shared *s = context;
    gf_row row = {0};
    gf_table *t;
    bool grows = atomic_fetch_add(&s->next, 1) == 0;
    for (int i = 0; i < GROWN; i++) {
        if (grows)
            CHECK(s, open_grown(s, i + 1, &t) == GF_OK && t == s->t);
        else
            use_grown(s, &row, i);
    }
    gf_row_release(&row);
    return NULL;
}

static void tables_grow_while_in_use(void **state)
{
    (void)state;
    shared s;
    begin(&s);
    for (int i = 0; i < GROWN; i++) {
        snprintf(column_text[i], sizeof column_text[i], "c%d", i);
        column_names[i] = column_text[i];
    }
    run(&s, grow_or_use, THREADS);
    assert_int_equal(gf_table_schema(s.t)->n_families, 4 + 20);
    assert_int_equal(atomic_load(&s.next), THREADS);
    end(&s);
}

/* ---- many writers ---------------------------------------------------------------------------- */

enum { LARGE_BATCHES = 20, LONGEST_WAIT = 20 };

/*
 * A thread writes batches that have the rows x and y, the others one of the two, so that there is
 * hardly a moment when both are free: who waits for both must come in between nevertheless.
 */
static void *write_both_or_one(void *context)
{
    shared *s = context;
    gf_batch *batch;
    int number = atomic_fetch_add(&s->next, 1);
    double began = gf_clock_seconds();
    if (gf_batch_create(s->db, &batch, NULL) != GF_OK) return NULL;
    for (int i = 0; number == 0 ? i < LARGE_BATCHES : !atomic_load(&s->stop); i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.%d", number, i);
        for (int row = 0; row < 2; row++)
            if (number == 0 || row == number % 2)
                gf_batch_put(batch, s->t, gf_test_key(row ? "y" : "x"), WIDE, gf_slice_str(name),
                             GF_SLICE("v"), 0);
        unsigned written = (unsigned)gf_batch_changes(batch);
        CHECK(s, gf_batch_write(batch, GF_SYNC_ON, NULL) == GF_OK);
        atomic_fetch_add(&s->counted, written);
        CHECK(s, gf_clock_seconds() - began < LONGEST_WAIT);
    }
    if (number == 0) atomic_store(&s->stop, true);
    gf_batch_free(batch);
    return NULL;
}

static void large_batches_are_not_kept_out(void **state)
{
    (void)state;
    shared s;
    gf_scan *scan;
    gf_row row = {0};
    gf_error err;
    begin(&s);
    run(&s, write_both_or_one, THREADS);
    gf_scan_options o = GF_SCAN_OPTIONS(.family = WIDE);
    assert_ok(gf_scan_open(s.t, &o, &scan, &err));
    unsigned entries = 0;
    while (gf_scan_next(scan, &row, &err) == GF_OK)
        entries++;
    gf_scan_close(scan);
    assert_int_equal(entries, atomic_load(&s.counted)); /* nothing that was written is missing */
    gf_row_release(&row);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(increments_sum_up),
        cmocka_unit_test(exactly_one_wins),
        cmocka_unit_test(a_condition_on_another_row_holds_while_writing),
        cmocka_unit_test(readers_see_whole_batches),
        cmocka_unit_test(tables_grow_while_in_use),
        cmocka_unit_test(large_batches_are_not_kept_out),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
