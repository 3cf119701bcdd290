/*
 * The backend over a running HBase, whose URL GROUPERFISH_HBASE has (tests/hbase/up starts one): by
 * hand what is HBase's own, and at random the same calls here and of the model, with the same answers.
 */
#include "tests/storage/store.h"

#include "base/clock.h"
#include "storage/hbase/backend.h"
#include "storage/hbase/client.h"

#include <pthread.h>
#include <stdlib.h>

enum { INFO, LIST, PAST, N_FAMILIES };

static const gf_key_part one_string[] = {{"id", GF_PART_STRING, 0}};
static const gf_key_part several[] = {
    {"place", GF_PART_STRING, 0}, {"time", GF_PART_U64, 0}, {"id", GF_PART_STRING, 0}};
static const char *const info_columns[] = {"name", "age", NULL};
static const gf_family families[N_FAMILIES] = {
    [INFO] = {"info", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, info_columns, false},
    [LIST] = {"list", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false},
    [PAST] = {"past", GF_LAYOUT_WIDE, 3, 0, GF_COMPRESSION_NONE, NULL, false}};

static const char *url;

static gf_database *open_hbase(void)
{
    gf_error err;
    gf_backend *backend;
    gf_database *db;
    assert_ok(gf_hbase_open(url, &backend, &err));
    assert_ok(gf_database_create(backend, &db, &err));
    return db;
}

/* A name that no table has had: "table:test.1795840093932.3". */
static const char *new_name(void)
{
    static char names[8][64];
    static unsigned n;
    char *name = names[n % 8];
    snprintf(name, sizeof names[0], "table:test.%lld.%u", (long long)gf_clock_ms(), n++);
    return name;
}

static gf_schema schema_of(const char *name, const gf_key_part *parts, unsigned n_parts)
{
    return (gf_schema){name, parts, n_parts, families, N_FAMILIES};
}

/* Call it with the name of a table of the default namespace alone. */
static gf_status call_on_table(const char *method, const char *name, gf_error *err)
{
    gf_hbase_address a;
    gf_hbase_client *client;
    gf_hbase_call call = {0};
    assert_int_equal(gf_hbase_address_read(url, &a, err), GF_OK);
    assert_int_equal(gf_hbase_client_create(&a, 60000, &client, err), GF_OK);
    gf_hbase_call_begin(&call, method);
    gf_thrift_field(&call.request, GF_THRIFT_STRUCT, 1);
    if (strcmp(method, "createTable") == 0) gf_thrift_field(&call.request, GF_THRIFT_STRUCT, 1);
    gf_thrift_string_field(&call.request, 2, gf_slice_str(name));
    gf_thrift_stop(&call.request);
    if (strcmp(method, "createTable") == 0) {
        gf_thrift_field(&call.request, GF_THRIFT_LIST, 2);
        gf_thrift_list(&call.request, GF_THRIFT_STRUCT, 2);
        for (int f = 0; f < 2; f++) {
            gf_thrift_string_field(&call.request, 1, gf_slice_str(families[f].name));
            if (f == LIST) gf_thrift_i32_field(&call.request, 10, 5);
            if (f == LIST) gf_thrift_i32_field(&call.request, 13, 86400);
            gf_thrift_stop(&call.request);
        }
        gf_thrift_stop(&call.request);
    }
    gf_status st = gf_hbase_call_run(client, &call, GF_THRIFT_STOP, GF_HBASE_WRITES, err);
    gf_hbase_call_release(&call);
    gf_hbase_client_free(client);
    return st;
}

/* ---- by hand --------------------------------------------------------------------------------- */

static void keeps_what_hbase_has_of_a_table(void **state)
{
    (void)state;
    gf_error err = {GF_OK, ""};
    const char *name = new_name(), *own = name + strlen("table:");
    gf_schema s = {name, one_string, 1, families, 2};
    gf_table *t;
    gf_status st = call_on_table("createTable", own, &err);
    if (st != GF_OK) fail_msg("%s", err.message);
    gf_database *db = open_hbase();
    assert_ok(gf_table_open(db, &s, &t, &err));
    const gf_family *list = &gf_table_schema(t)->families[LIST];
    assert_int_equal(list->versions, 5);
    assert_int_equal(list->ttl_seconds, 86400);
    assert_int_equal(gf_table_schema(t)->families[INFO].versions, 1);
    assert_ok(gf_test_put(db, t, gf_test_key("r"), INFO, "name", GF_SLICE("Ann"), 0, &err));
    /* A family that it lacks is not added to a table of others'. */
    s.n_families = 3;
    assert_status(GF_EINVAL, gf_table_open(db, &s, &t, &err));
    assert_non_null(strstr(err.message, "has no family past, but info, list"));
    s.n_families = 2;
    assert_ok(gf_table_open(db, &s, &t, &err));
    /* Dropping it here leaves it there. */
    assert_ok(gf_table_drop(t, NULL, &err));
    assert_ok(gf_table_open(db, &s, &t, &err));
    gf_test_cell_is(t, NULL, gf_test_key("r"), INFO, "name", "Ann");
    gf_database_close(db);
    assert_int_equal(call_on_table("disableTable", own, &err), GF_OK);
    assert_int_equal(call_on_table("deleteTable", own, &err), GF_OK);
}

static void makes_alters_and_drops_its_own(void **state)
{
    (void)state;
    gf_error err;
    gf_schema s = schema_of(new_name(), one_string, 1);
    gf_table *t, *again;
    s.n_families = 2;
    gf_database *db = open_hbase(), *other = open_hbase();
    assert_ok(gf_table_open(db, &s, &t, &err));
    s.n_families = 3;
    assert_ok(gf_table_open(db, &s, &again, &err)); /* a family more */
    assert_ptr_equal(t, again);
    assert_ok(gf_table_alter_family(t, PAST, 4, 3600, NULL, &err));
    assert_int_equal(gf_table_schema(t)->families[PAST].versions, 4);
    assert_ok(gf_table_open(other, &s, &again, &err));
    assert_int_equal(gf_table_schema(again)->families[PAST].versions, 4);
    assert_int_equal(gf_table_schema(again)->families[PAST].ttl_seconds, 3600);
    assert_int_equal(gf_table_schema(again)->families[INFO].ttl_seconds, 0);
    assert_ok(gf_table_drop(t, NULL, &err));
    gf_row row = {0};
    assert_status(GF_ENOTFOUND,
                  gf_table_get(again, NULL, gf_test_key("r"), GF_ALL_FAMILIES, &row, &err));
    assert_non_null(strstr(err.message, "has no table"));
    gf_row_release(&row);
    gf_database_close(other);
    gf_database_close(db);
}

static void keeps_versions(void **state)
{
    (void)state;
    gf_error err;
    gf_schema s = schema_of(new_name(), one_string, 1);
    gf_table *t;
    gf_row row = {0};
    gf_batch *batch;
    gf_slice key = gf_test_key("r"), q = GF_SLICE("q");
    gf_database *db = open_hbase();
    assert_ok(gf_table_open(db, &s, &t, &err));
    assert_ok(gf_batch_create(db, &batch, &err));
    static const int64_t times[] = {2000, 4000, 1000, 3000};
    for (size_t i = 0; i < 4; i++) {
        char value[8];
        snprintf(value, sizeof value, "v%d", (int)times[i]);
        gf_batch_put(batch, t, key, PAST, q, gf_slice_str(value), times[i]);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    assert_ok(gf_table_get_cell(t, NULL, key, PAST, q, 9, &row, &err));
    assert_int_equal(row.n_cells, 3);
    assert_slice(row.cells[0].value, "v4000");
    assert_slice(row.cells[2].value, "v2000");
    assert_int_equal(row.cells[1].timestamp, 3000);
    /* Deleting takes all of them, also those whose time is to come. */
    assert_ok(gf_test_put(db, t, key, PAST, "q", GF_SLICE("late"), gf_clock_ms() + 3600000, &err));
    gf_batch_delete_cell(batch, t, key, PAST, q);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    assert_status(GF_ENOTFOUND, gf_table_get_cell(t, NULL, key, PAST, q, 9, &row, &err));
    gf_batch_free(batch);
    gf_row_release(&row);
    assert_ok(gf_table_drop(t, NULL, &err));
    gf_database_close(db);
}

static void refuses_what_it_cannot(void **state)
{
    (void)state;
    gf_error err;
    gf_schema s = schema_of(new_name(), one_string, 1), others = schema_of("tweets", several, 3);
    gf_schema bad = schema_of("table:a b", one_string, 1);
    gf_table *t, *of_tweets;
    gf_batch *batch;
    gf_row row = {0};
    gf_snapshot *snapshot;
    gf_slice one = GF_SLICE("1");
    gf_database *db = open_hbase();
    assert_status(GF_EINVAL, gf_table_open(db, &bad, &t, &err));
    assert_ok(gf_table_open(db, &others, &of_tweets, &err));
    gf_buffer key = {0};
    gf_key_string(&key, GF_SLICE("p"));
    gf_key_u64(&key, 1);
    gf_key_string(&key, GF_SLICE("i"));
    assert_status(GF_EINVAL, gf_table_get(of_tweets, NULL, gf_buffer_view(&key), 1, &row, &err));
    assert_non_null(strstr(err.message, "does not keep it, but one in a folder does"));
    assert_status(GF_EINVAL, gf_snapshot_create(db, &snapshot, &err));
    assert_status(GF_EINVAL, gf_database_compact(db, &err));
    assert_ok(gf_table_open(db, &s, &t, &err));
    assert_status(GF_EINVAL,
                  gf_test_put(db, t, gf_test_key(""), INFO, "name", one, 0, &err)); /* no row */
    assert_ok(gf_batch_create(db, &batch, &err));
    gf_batch_put(batch, t, gf_test_key("a"), INFO, GF_SLICE("name"), one, 0);
    gf_batch_put(batch, t, gf_test_key("b"), INFO, GF_SLICE("name"), one, 0);
    assert_status(GF_EINVAL, gf_batch_write_if(batch, t, gf_test_key("a"), INFO, GF_SLICE("age"),
                                               NULL, GF_SYNC_ON, &err));
    gf_test_cell_is(t, NULL, gf_test_key("b"), INFO, "name", NULL);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_row_release(&row);
    assert_ok(gf_table_drop(t, NULL, &err));
    gf_database_close(db);
}

/* ---- scans over many rows -------------------------------------------------------------------- */

/* A gateway that forgets its scanners: those of the lowest numbers are closed behind its back. */
static void close_scanners(int32_t n)
{
    gf_error err;
    gf_hbase_address a;
    gf_hbase_client *client;
    gf_hbase_call call = {0};
    assert_ok(gf_hbase_address_read(url, &a, &err));
    assert_ok(gf_hbase_client_create(&a, 60000, &client, &err));
    for (int32_t i = 0; i < n; i++) {
        gf_hbase_call_begin(&call, "closeScanner");
        gf_thrift_i32_field(&call.request, 1, i);
        (void)gf_hbase_call_run(client, &call, GF_THRIFT_STOP, GF_HBASE_WRITES, NULL);
    }
    gf_hbase_call_release(&call);
    gf_hbase_client_free(client);
}

typedef struct filled {
    gf_database *db;
    gf_table *t;
} filled;

enum { ROWS = 400, CELLS = 700 };

/* Row "many" has CELLS cells, others one each. */
static filled fill_table(void)
{
    gf_error err;
    filled f = {.db = open_hbase()};
    gf_schema s = schema_of(new_name(), one_string, 1);
    gf_batch *batch;
    assert_ok(gf_table_open(f.db, &s, &f.t, &err));
    assert_ok(gf_batch_create(f.db, &batch, &err));
    for (int i = 0; i < ROWS + CELLS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%05d", i);
        gf_slice value = gf_slice_str(name);
        if (i < ROWS) gf_batch_put(batch, f.t, gf_test_key(name), INFO, GF_SLICE("name"), value, 0);
        gf_slice key = gf_test_key(i < ROWS ? name : "many");
        gf_batch_put(batch, f.t, key, LIST, value, value, 0);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    return f;
}

/* All entries once and in order, while scanners are lost after each hundredth. */
static void count_with_losses(const filled *f, unsigned family, bool reverse, uint64_t want)
{
    gf_error err;
    gf_scan *scan;
    gf_row row = {0};
    gf_status st;
    gf_buffer last = {0}, at = {0};
    uint64_t n = 0;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = family, .reverse = reverse);
    assert_ok(gf_scan_open(f->t, &o, &scan, &err));
    while ((st = gf_scan_next(scan, &row, &err)) == GF_OK) {
        gf_buffer_reset(&at);
        gf_buffer_slice(&at, row.key);
        gf_buffer_slice(&at, row.cells[0].qualifier);
        int order = gf_slice_compare(gf_buffer_view(&last), gf_buffer_view(&at));
        if (n) assert_true(reverse ? order > 0 : order < 0);
        gf_buffer_reset(&last);
        gf_buffer_slice(&last, gf_buffer_view(&at));
        if (++n % 100 == 50) close_scanners(300);
    }
    if (st != GF_ENOTFOUND) fail_msg("%s", err.message);
    gf_scan_close(scan);
    assert_int_equal(n, want);
    gf_buffer_release(&last);
    gf_buffer_release(&at);
    gf_row_release(&row);
}

static void goes_on_when_a_scanner_is_lost(void **state)
{
    (void)state;
    gf_error err;
    filled f = fill_table();
    count_with_losses(&f, INFO, false, ROWS);
    count_with_losses(&f, INFO, true, ROWS);
    count_with_losses(&f, LIST, false, ROWS + CELLS);
    count_with_losses(&f, LIST, true, ROWS + CELLS);
    assert_ok(gf_table_drop(f.t, NULL, &err));
    gf_database_close(f.db);
}

static gf_status read_all(void *context, gf_error *err)
{
    const filled *f = context;
    gf_row row = {0};
    gf_scan *scan;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = LIST, .prefix = gf_test_key("many"), .limit = 3);
    gf_status st = gf_table_get(f->t, NULL, gf_test_key("00007"), GF_ALL_FAMILIES, &row, err);
    if (st == GF_OK) st = gf_scan_open(f->t, &o, &scan, err);
    if (st == GF_OK) {
        while ((st = gf_scan_next(scan, &row, err)) == GF_OK)
            ;
        if (st == GF_ENOTFOUND) st = GF_OK;
        gf_scan_close(scan);
    }
    gf_row_release(&row);
    return st;
}

static void tells_of_missing_memory(void **state)
{
    (void)state;
    gf_error err;
    filled f = fill_table();
    gf_test_sweep(read_all, NULL, &f);
    assert_ok(gf_table_drop(f.t, NULL, &err));
    gf_database_close(f.db);
}

/* More cells in one row than are deleted one by one, and some twice in a batch. */
static void keeps_long_rows(void **state)
{
    (void)state;
    enum { MANY = 12000 };
    gf_error err;
    gf_row row = {0};
    gf_batch *batch;
    gf_table *t;
    gf_schema s = schema_of(new_name(), one_string, 1);
    gf_database *db = open_hbase();
    gf_slice key = gf_test_key("long");
    assert_ok(gf_table_open(db, &s, &t, &err));
    assert_ok(gf_batch_create(db, &batch, &err));
    for (int i = 0; i < MANY + MANY / 3; i++) {
        char name[16], value[16];
        snprintf(name, sizeof name, "%05d", i % MANY);
        snprintf(value, sizeof value, "%d", i);
        gf_batch_put(batch, t, key, LIST, gf_slice_str(name), gf_slice_str(value), 0);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    assert_ok(gf_table_get(t, NULL, key, GF_ALL_FAMILIES, &row, &err));
    assert_int_equal(row.n_cells, MANY);
    assert_slice(row.cells[7].value, "12007");
    assert_slice(row.cells[MANY - 1].value, "11999");
    gf_batch_delete_row(batch, t, key, GF_ALL_FAMILIES);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    assert_status(GF_ENOTFOUND, gf_table_get(t, NULL, key, GF_ALL_FAMILIES, &row, &err));
    assert_ok(gf_test_put(db, t, key, LIST, "again", GF_SLICE("1"), 0, &err));
    assert_ok(gf_table_get(t, NULL, key, GF_ALL_FAMILIES, &row, &err));
    assert_int_equal(row.n_cells, 1);
    gf_batch_free(batch);
    gf_row_release(&row);
    assert_ok(gf_table_drop(t, NULL, &err));
    gf_database_close(db);
}

/* ---- several at once ------------------------------------------------------------------------- */

enum { THREADS = 4, INCREMENTS = 25 };

static void *count_up(void *context)
{
    const filled *f = context;
    gf_error err;
    int64_t sum;
    for (int i = 0; i < INCREMENTS; i++)
        if (gf_table_increment(f->t, gf_test_key("n"), INFO, GF_SLICE("age"), 1, GF_SYNC_ON, &sum,
                               &err) != GF_OK)
            return context;
    return NULL;
}

static void loses_no_increment(void **state)
{
    (void)state;
    gf_error err;
    pthread_t threads[THREADS];
    filled f = {.db = open_hbase()};
    gf_schema s = schema_of(new_name(), one_string, 1);
    assert_ok(gf_table_open(f.db, &s, &f.t, &err));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, &f), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    gf_test_cell_is(f.t, NULL, gf_test_key("n"), INFO, "age", "100");
    int64_t sum;
    assert_ok(gf_test_put(f.db, f.t, gf_test_key("n"), INFO, "age", GF_SLICE("x"), 0, &err));
    assert_status(GF_EINVAL, gf_table_increment(f.t, gf_test_key("n"), INFO, GF_SLICE("age"), 1,
                                                GF_SYNC_ON, &sum, &err));
    assert_ok(gf_table_drop(f.t, NULL, &err));
    gf_database_close(f.db);
}

/* ---- at random, against the model ------------------------------------------------------------ */

typedef struct side {
    gf_database *db;
    gf_table *t;
    gf_batch *batch;
} side;

typedef struct test {
    gf_random r;
    side sides[2]; /* of the model, and HBase */
    const gf_key_part *parts;
    unsigned n_parts;
    gf_buffer keys[3];
} test;

static uint64_t below(test *t, uint64_t n)
{
    return gf_random_below(&t->r, n);
}

static const gf_slice strings[] = {{"a", 1},    {"ab", 2},       {"a\0", 2}, {"a\0\1", 3},
                                   {"\xFF", 1}, {"\xC3\xA4", 2}, {"a'b", 3}, {"ab\0\xFF", 4}};

static gf_slice random_string(test *t)
{
    return strings[below(t, sizeof strings / sizeof strings[0])];
}

static gf_slice random_key(test *t, int which)
{
    gf_buffer *b = &t->keys[which];
    gf_buffer_reset(b);
    for (unsigned i = 0; i < t->n_parts; i++)
        if (t->parts[i].kind == GF_PART_STRING)
            gf_key_string(b, random_string(t));
        else
            gf_key_u64(b, below(t, 2) ? 7 : UINT64_MAX);
    return gf_buffer_view(b);
}

static gf_slice random_qualifier(test *t, unsigned family)
{
    static const gf_slice columns[] = {{"name", 4}, {"age", 3}};
    if (family == INFO && below(t, 2)) return columns[below(t, 2)];
    return below(t, 6) ? random_string(t) : (gf_slice){"", 0};
}

static gf_slice random_value(test *t)
{
    static const gf_slice values[] = {{"", 0}, {"1", 1}, {"2", 1}, {"\0\xFF", 2}, {"-7", 2}};
    return values[below(t, 5)];
}

/* The same change in both batches. */
static void add_change(test *t, gf_slice key)
{
    unsigned family = (unsigned)below(t, 2), kind = (unsigned)below(t, 8);
    gf_slice q = random_qualifier(t, family), v = random_value(t);
    gf_slice q2 = random_qualifier(t, INFO), v2 = random_value(t);
    uint32_t bits = 1 + (uint32_t)below(t, 3);
    size_t n = 1 + (size_t)below(t, 2);
    for (int i = 0; i < 2; i++) {
        side *s = &t->sides[i];
        gf_column columns[] = {{q2, v}, {GF_SLICE("age"), v2}};
        if (kind < 5)
            gf_batch_put(s->batch, s->t, key, family, q, v, 0);
        else if (kind == 5)
            gf_batch_delete_cell(s->batch, s->t, key, family, q);
        else if (kind == 6)
            gf_batch_delete_row(s->batch, s->t, key, bits);
        else
            gf_batch_replace(s->batch, s->t, key, INFO, columns, n, 0);
    }
}

static void same_status(gf_status a, gf_status b, const gf_error *why)
{
    if (a != b)
        fail_msg("%s here, %s there: %s", gf_status_name(b), gf_status_name(a), why->message);
}

static void write_some(test *t)
{
    gf_error errs[2] = {{GF_OK, ""}, {GF_OK, ""}};
    gf_status st[2];
    bool on_condition = below(t, 3) == 0;
    gf_slice key = random_key(t, 0);
    for (uint64_t n = 1 + below(t, 4); n; n--) {
        add_change(t, key);
        if (!on_condition && below(t, 2)) key = random_key(t, 0);
    }
    unsigned family = (unsigned)below(t, 2);
    gf_slice q = random_qualifier(t, family), v = random_value(t);
    const gf_slice *expected = below(t, 2) ? &v : NULL;
    for (int i = 0; i < 2; i++) {
        side *s = &t->sides[i];
        st[i] = on_condition ? gf_batch_write_if(s->batch, s->t, key, family, q, expected,
                                                 GF_SYNC_ON, &errs[i])
                             : gf_batch_write(s->batch, GF_SYNC_ON, &errs[i]);
    }
    same_status(st[0], st[1], &errs[1]);
}

static void increment_some(test *t)
{
    gf_error errs[2] = {{GF_OK, ""}, {GF_OK, ""}};
    gf_status st[2];
    int64_t sums[2] = {0, 0}, delta = (int64_t)below(t, 20) - 10;
    gf_slice key = random_key(t, 0), q = random_qualifier(t, INFO);
    for (int i = 0; i < 2; i++)
        st[i] =
            gf_table_increment(t->sides[i].t, key, INFO, q, delta, GF_SYNC_ON, &sums[i], &errs[i]);
    same_status(st[0], st[1], &errs[1]);
    assert_true(sums[0] == sums[1]);
}

static void show_rows(const gf_row *a, const gf_row *b)
{
    for (int i = 0; i < 2; i++) {
        const gf_row *r = i ? b : a;
        printf("%s:", i ? "HBase" : "model");
        for (size_t c = 0; c < r->n_cells; c++)
            printf(" %u:%.*s=%.*s@%lld", r->cells[c].family, GF_SLICE_ARG(r->cells[c].qualifier),
                   GF_SLICE_ARG(r->cells[c].value), (long long)r->cells[c].timestamp);
        printf("\n");
    }
}

static void same_rows(const gf_row *a, const gf_row *b)
{
    assert_true(gf_slice_equal(a->key, b->key));
    if (a->n_cells != b->n_cells) show_rows(a, b);
    for (size_t i = 0; i < a->n_cells; i++) {
        if (a->cells[i].family != b->cells[i].family ||
            !gf_slice_equal(a->cells[i].qualifier, b->cells[i].qualifier) ||
            !gf_slice_equal(a->cells[i].value, b->cells[i].value))
            show_rows(a, b);
    }
    for (size_t i = 0; i < a->n_cells; i++) {
        assert_int_equal(a->cells[i].family, b->cells[i].family);
        assert_true(gf_slice_equal(a->cells[i].qualifier, b->cells[i].qualifier));
        assert_true(gf_slice_equal(a->cells[i].value, b->cells[i].value));
    }
}

static void get_some(test *t)
{
    gf_error errs[2] = {{GF_OK, ""}, {GF_OK, ""}};
    gf_row rows[2] = {{.n_cells = 0}, {.n_cells = 0}};
    gf_status st[2];
    gf_slice key = random_key(t, 0);
    unsigned family = (unsigned)below(t, 2);
    gf_slice q = random_qualifier(t, family);
    bool one = below(t, 2);
    for (int i = 0; i < 2; i++)
        st[i] = one ? gf_table_get_cell(t->sides[i].t, NULL, key, family, q, 1, &rows[i], &errs[i])
                    : gf_table_get(t->sides[i].t, NULL, key, GF_ALL_FAMILIES, &rows[i], &errs[i]);
    same_status(st[0], st[1], &errs[1]);
    same_rows(&rows[0], &rows[1]);
    gf_row_release(&rows[0]);
    gf_row_release(&rows[1]);
}

/* A row key, or a part of one; some have half of a mark at their end. */
static gf_slice random_bound(test *t, int which)
{
    gf_slice key = random_key(t, which);
    switch (below(t, 4)) {
    case 0:
        return (gf_slice){0};
    case 1:
        return key;
    default:
        return gf_slice_of(key.ptr, (size_t)below(t, key.len + 1));
    }
}

static void scan_some(test *t)
{
    gf_error err;
    gf_scan *scans[2];
    gf_row rows[2] = {{.n_cells = 0}, {.n_cells = 0}};
    gf_status st = GF_OK;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = (unsigned)below(t, 2), .reverse = below(t, 2),
                                        .keys_only = below(t, 4) == 0);
    if (o.family == LIST && below(t, 3) == 0) {
        o.prefix = random_key(t, 0);
        if (below(t, 2)) o.qualifier_prefix = random_string(t);
        if (below(t, 2)) o.after_qualifier = random_qualifier(t, LIST);
    } else {
        o.prefix = random_bound(t, 0);
        o.start = random_bound(t, 1);
        o.end = random_bound(t, 2);
    }
    for (int i = 0; i < 2; i++)
        assert_ok(gf_scan_open(t->sides[i].t, &o, &scans[i], &err));
    while (st == GF_OK) {
        gf_status there = gf_scan_next(scans[0], &rows[0], &err);
        st = gf_scan_next(scans[1], &rows[1], &err);
        same_status(there, st, &err);
        same_rows(&rows[0], &rows[1]);
    }
    assert_int_equal(st, GF_ENOTFOUND);
    for (int i = 0; i < 2; i++) {
        gf_scan_close(scans[i]);
        gf_row_release(&rows[i]);
    }
}

static void answers_as(const gf_key_part *parts, unsigned n_parts, int steps)
{
    gf_error err;
    test t = {.r = gf_random_seed(gf_test_seed(), n_parts), .parts = parts, .n_parts = n_parts};
    gf_schema s = schema_of(new_name(), parts, n_parts);
    t.sides[0].db = gf_test_model();
    t.sides[1].db = open_hbase();
    for (int i = 0; i < 2; i++) {
        assert_ok(gf_table_open(t.sides[i].db, &s, &t.sides[i].t, &err));
        assert_ok(gf_batch_create(t.sides[i].db, &t.sides[i].batch, &err));
    }
    for (int i = 0; i < steps; i++) {
        uint64_t what = below(&t, 20);
        if (what < 8)
            write_some(&t);
        else if (what == 8)
            increment_some(&t);
        else if (what < 13)
            get_some(&t);
        else
            scan_some(&t);
    }
    assert_ok(gf_table_drop(t.sides[1].t, NULL, &err));
    for (int i = 0; i < 2; i++) {
        gf_batch_free(t.sides[i].batch);
        gf_database_close(t.sides[i].db);
    }
    for (int i = 0; i < 3; i++)
        gf_buffer_release(&t.keys[i]);
}

static void answers_as_the_model(void **state)
{
    (void)state;
    answers_as(one_string, 1, 1500);
}

static void answers_as_the_model_with_longer_keys(void **state)
{
    (void)state;
    answers_as(several, 3, 1500);
    answers_as(several, 2, 1000); /* a number at the end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_what_hbase_has_of_a_table),
                                       cmocka_unit_test(makes_alters_and_drops_its_own),
                                       cmocka_unit_test(keeps_versions),
                                       cmocka_unit_test(refuses_what_it_cannot),
                                       cmocka_unit_test(goes_on_when_a_scanner_is_lost),
                                       cmocka_unit_test(keeps_long_rows),
                                       cmocka_unit_test(tells_of_missing_memory),
                                       cmocka_unit_test(loses_no_increment),
                                       cmocka_unit_test(answers_as_the_model),
                                       cmocka_unit_test(answers_as_the_model_with_longer_keys)};
    url = getenv("GROUPERFISH_HBASE");
    if (!url) {
        printf("SKIPPED: no HBase (tests/hbase/up starts one; GROUPERFISH_HBASE has its URL)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
