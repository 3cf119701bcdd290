/* The LevelDB backend seen from below, by LevelDB's own calls. */
#include "tests/storage/store.h"

#include "base/file.h"
#include "storage/leveldb/backend.h"
#include "storage/leveldb/database.h"
#include "storage/leveldb/keys.h"
#include "storage/leveldb/value.h"
#include "tests/storage/leveldb_status.h"

#include <dirent.h>
#include <leveldb/c.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
static const char *const columns[] = {"name", NULL};
enum { MAIN, WIDE, HISTORY, EVENTS, FAMILIES };
static const gf_family families[] = {
    {"main", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, columns, false},
    {"wide", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false},
    {"history", GF_LAYOUT_PACKED, 2, 0, GF_COMPRESSION_NONE, NULL, false},
    {"events", GF_LAYOUT_WIDE, 2, 0, GF_COMPRESSION_NONE, NULL, false},
};
static const gf_schema schema = {"table", parts, 1, families, FAMILIES};

static gf_status try_open(const char *folder, gf_leveldb_mode mode, gf_database **db, gf_error *err)
{
    gf_backend *backend;
    gf_status st = gf_leveldb_open(folder, mode, &backend, err);
    return st == GF_OK ? gf_database_create(backend, db, err) : st;
}

static gf_database *open_database(const char *folder, gf_leveldb_mode mode, gf_table **t)
{
    gf_error err;
    gf_database *db;
    assert_ok(try_open(folder, mode, &db, &err));
    assert_ok(gf_table_open(db, &schema, t, &err));
    return db;
}

/* ---- LevelDB itself -------------------------------------------------------------------------- */

typedef struct raw {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_readoptions_t *read;
    leveldb_writeoptions_t *write;
} raw;

static raw open_raw(const char *folder, bool create)
{
    char *message = NULL;
    raw r = {.options = leveldb_options_create()};
    leveldb_options_set_create_if_missing(r.options, create);
    r.db = leveldb_open(r.options, folder, &message);
    if (message) fail_msg("%s", message);
    r.read = leveldb_readoptions_create();
    r.write = leveldb_writeoptions_create();
    return r;
}

static void close_raw(raw *r)
{
    leveldb_close(r->db);
    leveldb_options_destroy(r->options);
    leveldb_readoptions_destroy(r->read);
    leveldb_writeoptions_destroy(r->write);
}

static void put_raw(raw *r, gf_slice key, gf_slice value)
{
    char *message = NULL;
    leveldb_put(r->db, r->write, key.ptr, key.len, value.ptr, value.len, &message);
    assert_null(message);
}

static void delete_raw(raw *r, gf_slice key)
{
    char *message = NULL;
    leveldb_delete(r->db, r->write, key.ptr, key.len, &message);
    assert_null(message);
}

static gf_slice entry_key(const leveldb_iterator_t *it)
{
    size_t n;
    const char *bytes = leveldb_iter_key(it, &n);
    return gf_slice_of(bytes, n);
}

static gf_slice entry_value(const leveldb_iterator_t *it)
{
    size_t n;
    const char *bytes = leveldb_iter_value(it, &n);
    return gf_slice_of(bytes, n);
}

/* Entries whose key does not start as the catalogue's do. */
static int count_entries(const char *folder)
{
    int n = 0;
    raw r = open_raw(folder, false);
    leveldb_iterator_t *it = leveldb_create_iterator(r.db, r.read);
    for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it)) {
        size_t length;
        const char *key = leveldb_iter_key(it, &length);
        n += key[0] || key[1];
    }
    leveldb_iter_destroy(it);
    close_raw(&r);
    return n;
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* A row of each kind of family, byte by byte. */
static void entries_lie_as_documented(void **state)
{
    (void)state;
    gf_error err;
    gf_table *t;
    const char *folder = gf_test_folder();
    gf_database *db = open_database(folder, GF_LEVELDB_CREATE, &t);
    gf_slice key = gf_test_key("k");
    assert_ok(gf_test_put(db, t, key, MAIN, "name", GF_SLICE("n"), 0, &err));
    assert_ok(gf_test_put(db, t, key, MAIN, "x", GF_SLICE("y"), 0, &err));
    assert_ok(gf_test_put(db, t, key, WIDE, "q", GF_SLICE("v"), 0, &err));
    assert_ok(gf_test_put(db, t, key, EVENTS, "q", GF_SLICE("v"), 1, &err));
    gf_database_close(db);
    static const struct {
        gf_slice key, value;
    } want[] = {
        {{"\0\0F", 3}, {"\1", 1}},
        {{"\0\0Ttable", 8}, {NULL, 0}},
        {{"\0\1\0k\0\1", 6}, {"\0\1\1n\0\1x\1y", 9}},
        {{"\0\1\1k\0\1q\0\1", 9}, {"\0v", 2}},
        {{"\0\1\3k\0\1q\0\1\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFE", 17}, {"\1\0\0\0\0\0\0\0\1v", 10}},
    };
    raw r = open_raw(folder, false);
    leveldb_iterator_t *it = leveldb_create_iterator(r.db, r.read);
    leveldb_iter_seek_to_first(it);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++, leveldb_iter_next(it)) {
        assert_true(leveldb_iter_valid(it));
        assert_true(gf_slice_equal(entry_key(it), want[i].key));
        if (want[i].value.ptr) assert_true(gf_slice_equal(entry_value(it), want[i].value));
    }
    assert_false(leveldb_iter_valid(it));
    leveldb_iter_destroy(it);
    close_raw(&r);
}

/* ---- cut values ------------------------------------------------------------------------------ */

/* Long and short values replace each other, over reopenings; deleted, nothing of them is left. */
static void no_block_is_left_behind(void **state)
{
    (void)state;
    gf_error err;
    gf_table *t;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    static char bytes[300000];
    static const char *const rows[] = {"a", "b", "c"}, *const names[] = {"p", "q"};
    const char *folder = gf_test_folder();
    for (int round = 0; round < 4; round++) {
        gf_database *db =
            open_database(folder, round ? GF_LEVELDB_EXISTING : GF_LEVELDB_CREATE, &t);
        gf_batch *batch;
        assert_ok(gf_batch_create(db, &batch, &err));
        for (int i = 0; i < 60; i++) {
            gf_slice key = gf_test_key(rows[gf_random_below(&r, 3)]);
            gf_slice name = gf_slice_str(names[gf_random_below(&r, 2)]);
            unsigned f = (unsigned)gf_random_below(&r, FAMILIES);
            size_t n = gf_random_below(&r, 2) ? 5 : (size_t)gf_random_below(&r, sizeof bytes);
            int64_t time = 1 + (int64_t)gf_random_below(&r, 5);
            uint64_t kind = gf_random_below(&r, 8);
            if (kind == 0)
                gf_batch_delete_row(batch, t, key, 1u << f);
            else if (kind == 1)
                gf_batch_delete_cell(batch, t, key, f, name);
            else
                gf_batch_put(batch, t, key, f, name, gf_slice_of(bytes, n), time);
            if (gf_random_below(&r, 2)) assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
        }
        assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
        for (int i = 0; i < 3 && round == 3; i++) {
            for (int k = 0; k < 2; k++) { /* by cells and by rows */
                gf_batch_delete_cell(batch, t, gf_test_key(rows[i]), WIDE, gf_slice_str(names[k]));
                gf_batch_delete_cell(batch, t, gf_test_key(rows[i]), EVENTS,
                                     gf_slice_str(names[k]));
                gf_batch_delete_cell(batch, t, gf_test_key(rows[i]), MAIN, gf_slice_str(names[k]));
            }
            gf_batch_delete_row(batch, t, gf_test_key(rows[i]), 1u << HISTORY);
        }
        assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
        gf_batch_free(batch);
        gf_database_close(db);
    }
    assert_int_equal(count_entries(folder), 0);
}

typedef struct cutter {
    gf_database *db;
    gf_table *t;
    unsigned family;
    gf_status status;
} cutter;

static void *put_long(void *context)
{
    static char bytes[200000];
    cutter *c = context;
    char name[16];
    snprintf(name, sizeof name, "row %u", c->family);
    c->status = gf_test_put(c->db, c->t, gf_test_key(name), c->family, "q",
                            gf_slice_of(bytes, sizeof bytes), 1, NULL);
    return NULL;
}

/* Writers that put the first long value of their families at once do not undo each other's marks.
 */
static void marks_of_cut_values_do_not_get_lost(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        gf_error err;
        gf_table *t;
        gf_batch *batch;
        const char *folder = gf_test_folder();
        gf_database *db = open_database(folder, GF_LEVELDB_CREATE, &t);
        pthread_t threads[FAMILIES];
        cutter cutters[FAMILIES];
        for (unsigned f = 0; f < FAMILIES; f++) {
            cutters[f] = (cutter){db, t, f, GF_OK};
            assert_int_equal(pthread_create(&threads[f], NULL, put_long, &cutters[f]), 0);
        }
        for (unsigned f = 0; f < FAMILIES; f++) {
            pthread_join(threads[f], NULL);
            assert_int_equal(cutters[f].status, GF_OK);
        }
        gf_database_close(db);
        db = open_database(folder, GF_LEVELDB_EXISTING, &t);
        assert_ok(gf_batch_create(db, &batch, &err));
        for (unsigned f = 0; f < FAMILIES; f++) {
            char name[16];
            snprintf(name, sizeof name, "row %u", f);
            gf_batch_delete_cell(batch, t, gf_test_key(name), f, GF_SLICE("q"));
        }
        assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
        gf_batch_free(batch);
        gf_database_close(db);
        assert_int_equal(count_entries(folder), 0);
    }
}

/* A put takes along what is past its time to live: versions of a cell do not pile up. */
static void expired_versions_are_removed_by_the_next_put(void **state)
{
    (void)state;
    gf_error err;
    gf_table *t;
    const char *folder = gf_test_folder();
    gf_database *db = open_database(folder, GF_LEVELDB_CREATE, &t);
    gf_family short_lived[] = {
        {"wide", GF_LAYOUT_WIDE, 4, 60, GF_COMPRESSION_NONE, NULL, false},
        {"packed", GF_LAYOUT_PACKED, 4, 60, GF_COMPRESSION_NONE, NULL, false}};
    gf_schema brief = {"brief", parts, 1, short_lived, 2};
    assert_ok(gf_table_open(db, &brief, &t, &err));
    for (unsigned f = 0; f < 2; f++) {
        assert_ok(gf_test_put(db, t, gf_test_key("a"), f, "q", GF_SLICE("v"), 1000, &err));
        assert_ok(gf_test_put(db, t, gf_test_key("a"), f, "q", GF_SLICE("v"), 0, &err));
        assert_ok(gf_test_put(db, t, gf_test_key("a"), f, "q", GF_SLICE("v"), 0, &err));
    }
    gf_database_close(db);
    assert_int_equal(count_entries(folder), 4);
}

/* ---- damage below the tables ----------------------------------------------------------------- */

/* Reading the row and scanning its family, forwards and backwards, all report damage. */
static void is_damaged(gf_table *t, const char *name, unsigned family)
{
    gf_error err;
    gf_row row = {0};
    gf_slice key = gf_test_key(name);
    assert_status(GF_ECORRUPT, gf_table_get(t, NULL, key, 1u << family, &row, &err));
    assert_non_null(strstr(err.message, "table table: "));
    assert_int_equal(row.n_cells, 0);
    for (int reverse = 0; reverse < 2; reverse++) {
        gf_scan *scan;
        gf_scan_options o = GF_SCAN_OPTIONS(.family = family, .reverse = reverse);
        gf_status st;
        assert_ok(gf_scan_open(t, &o, &scan, &err));
        while ((st = gf_scan_next(scan, &row, &err)) == GF_OK)
            continue;
        assert_int_equal(st, GF_ECORRUPT);
        assert_status(GF_ECORRUPT, gf_scan_next(scan, &row, &err));
        gf_scan_close(scan);
    }
    gf_row_release(&row);
}

static void hostile_entries_are_noticed(void **state)
{
    (void)state;
    static char long_head[1 + 3 + GF_BLOCK_BYTES] = "\4\xC1\x84\x04"; /* cut, 65,601 bytes */
    static const struct {
        unsigned family;
        gf_slice key, value;
    } bad[] = {
        {MAIN, {"\0\1\0k\0\1", 6}, {"", 0}},             /* no head */
        {MAIN, {"\0\1\0k\0\1", 6}, {"\x40", 1}},         /* unknown flags */
        {MAIN, {"\0\1\0k\0\1", 6}, {"\0\1\5ab", 5}},     /* columns cut off */
        {MAIN, {"\0\1\0k\0\1", 6}, {"\0\7\1a", 4}},      /* a column that nobody knows */
        {MAIN, {"\0\1\0k\0\1", 6}, {"\2\xFF\xFF", 3}},   /* no Snappy */
        {WIDE, {"\0\1\1k\0\1q", 7}, {"\0v", 2}},         /* a qualifier without an end */
        {WIDE, {"\0\1\1k\0\1q\0\1xyz", 12}, {"\0v", 2}}, /* neither version nor block */
        {WIDE, {"\0\1\1k\0\1q\0\1", 9}, {long_head, sizeof long_head}}, /* blocks are missing */
        {EVENTS, {"\0\1\3k\0\1q\0\1xyz", 12}, {"\0v", 2}},              /* half a version */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gf_table *t;
        const char *folder = gf_test_folder();
        gf_database *db = open_database(folder, GF_LEVELDB_CREATE, &t);
        gf_database_close(db);
        raw r = open_raw(folder, false);
        put_raw(&r, bad[i].key, bad[i].value);
        close_raw(&r);
        db = open_database(folder, GF_LEVELDB_EXISTING, &t);
        is_damaged(t, "k", bad[i].family);
        gf_database_close(db);
    }
}

static void a_missing_block_is_noticed(void **state)
{
    (void)state;
    static char bytes[300000];
    for (unsigned f = 0; f < FAMILIES; f++)
        for (uint32_t block = 1; block < 5; block++) {
            gf_error err;
            gf_table *t;
            gf_buffer key = {0};
            const char *folder = gf_test_folder();
            gf_database *db = open_database(folder, GF_LEVELDB_CREATE, &t);
            assert_ok(gf_test_put(db, t, gf_test_key("k"), f, "q", gf_slice_of(bytes, sizeof bytes),
                                  7, &err));
            gf_database_close(db);
            raw r = open_raw(folder, false);
            gf_leveldb_keys_cell(&key, &schema, 1, f, gf_test_key("k"), GF_SLICE("q"));
            if (families[f].versions > 1) gf_leveldb_keys_version(&key, 7);
            gf_buffer_u32be(&key, block);
            delete_raw(&r, gf_buffer_view(&key));
            close_raw(&r);
            db = open_database(folder, GF_LEVELDB_EXISTING, &t);
            is_damaged(t, "k", f);
            gf_database_close(db);
            gf_buffer_release(&key);
        }
}

static void a_damaged_catalogue_is_refused(void **state)
{
    (void)state;
    static const struct {
        gf_slice key, value;
        gf_status status;
    } bad[] = {
        {{"\0\0F", 3}, {"\3", 1}, GF_EINVAL}, /* a newer format */
        {{"\0\0F", 3}, {"\0", 1}, GF_ECORRUPT},
        {{"\0\0F", 3}, {"\1\1", 2}, GF_ECORRUPT},
        {{"\0\0F", 3}, {"", 0}, GF_ECORRUPT},
        {{"\0\0Tother", 8}, {"", 0}, GF_ECORRUPT},
        {{"\0\0Tother", 8}, {"\0\0", 2}, GF_ECORRUPT},        /* number 0 is the catalogue's */
        {{"\0\0Tother", 8}, {"\0\2garbage", 9}, GF_ECORRUPT}, /* no schema */
        {{"\0\0C\0\0\0", 6}, {"", 0}, GF_ECORRUPT},           /* marks of nothing */
        {{"\0\0C\0\1\x20", 6}, {"", 0}, GF_ECORRUPT},
        {{"\0\0C\xFF\xFF\0", 6}, {"", 0}, GF_ECORRUPT},
        {{"\0\0C", 3}, {"", 0}, GF_ECORRUPT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gf_error err;
        gf_table *t;
        gf_database *db;
        const char *folder = gf_test_folder();
        gf_database_close(open_database(folder, GF_LEVELDB_CREATE, &t));
        raw r = open_raw(folder, false);
        put_raw(&r, bad[i].key, bad[i].value);
        close_raw(&r);
        assert_status(bad[i].status, try_open(folder, GF_LEVELDB_EXISTING, &db, &err));
    }
}

/* The entry of a table under another's name, or under another's number. */
static void a_table_has_one_entry(void **state)
{
    (void)state;
    for (int same_name = 0; same_name < 2; same_name++) {
        gf_error err;
        gf_table *t;
        gf_database *db;
        char *message = NULL;
        size_t n;
        const char *folder = gf_test_folder();
        gf_database_close(open_database(folder, GF_LEVELDB_CREATE, &t));
        raw r = open_raw(folder, false);
        char *entry = leveldb_get(r.db, r.read, "\0\0Ttable", 8, &n, &message);
        assert_non_null(entry);
        if (same_name) entry[1] = 2;
        put_raw(&r, same_name ? GF_SLICE("\0\0Ttabli") : GF_SLICE("\0\0Ttabl"),
                gf_slice_of(entry, n));
        leveldb_free(entry);
        close_raw(&r);
        assert_status(GF_ECORRUPT, try_open(folder, GF_LEVELDB_EXISTING, &db, &err));
    }
}

static void a_strangers_database_is_refused(void **state)
{
    (void)state;
    gf_error err;
    gf_table *t;
    gf_database *db;
    const char *folder = gf_test_folder();
    raw r = open_raw(folder, true);
    put_raw(&r, GF_SLICE("key"), GF_SLICE("value"));
    close_raw(&r);
    assert_status(GF_ECORRUPT, try_open(folder, GF_LEVELDB_EXISTING, &db, &err));
    assert_status(GF_EINVAL, try_open(folder, GF_LEVELDB_CREATE, &db, &err)); /* there is one */
    assert_status(GF_EINVAL, try_open(gf_test_folder(), GF_LEVELDB_EXISTING, &db, &err));
    r = open_raw(folder, false);
    assert_non_null(r.db); /* untouched */
    close_raw(&r);
    gf_database_close(open_database(gf_test_folder(), GF_LEVELDB_CREATE, &t));
}

/* ---- messages, compaction -------------------------------------------------------------------- */

static void messages_become_statuses(void **state)
{
    (void)state;
    static const struct {
        const char *message, *words;
        gf_status status;
    } cases[] = {
        {"Corruption: block checksum mismatch", "damaged data: block checksum mismatch",
         GF_ECORRUPT},
        {"IO error: /a/5.log: No space left on device", "/a/5.log: No space left on device",
         GF_EIO},
        {"IO error: lock /a/LOCK: Resource temporarily unavailable",
         "lock /a/LOCK: Resource temporarily unavailable", GF_EBUSY},
        {"IO error: lock /a/LOCK: already held by process", "lock /a/LOCK: already held by process",
         GF_EBUSY},
        {"IO error: lock /a/LOCK: No locks available", "lock /a/LOCK: No locks available", GF_EIO},
        {"NotFound: /a/5.ldb: No such file or directory",
         "a file is missing: /a/5.ldb: No such file or directory", GF_ECORRUPT},
        {"Invalid argument: /a: exists (error_if_exists is true)",
         "/a: exists (error_if_exists is true)", GF_EINVAL},
        {"Not implemented: a way", "a way", GF_EINVAL},
    };
    gf_error err;
    assert_int_equal(leveldb_status_failure("OK", &err), GF_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(leveldb_status_failure(cases[i].message, &err), cases[i].status);
        assert_string_equal(err.message, cases[i].words);
        assert_int_equal(leveldb_status_failure(cases[i].message, NULL), cases[i].status);
    }
}

static bool files_have(const char *folder, const char *text)
{
    bool found = false;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        gf_error err;
        gf_buffer path = {0}, content = {0};
        gf_buffer_format(&path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') {
            assert_ok(gf_file_read(gf_buffer_cstr(&path), &content, &err));
            found =
                found || memmem(content.ptr ? content.ptr : "", content.len, text, strlen(text));
        }
        gf_buffer_release(&path);
        gf_buffer_release(&content);
    }
    closedir(dir);
    return found;
}

/* Deleted bytes leave the files, whether they lay in the log or in a table before. */
static void compaction_removes_deleted_bytes(void **state)
{
    (void)state;
    for (int in_table = 0; in_table < 2; in_table++) {
        gf_error err;
        gf_table *t;
        gf_batch *batch;
        const char *folder = gf_test_folder();
        gf_database *db = open_database(folder, GF_LEVELDB_CREATE, &t);
        assert_ok(
            gf_test_put(db, t, gf_test_key("a"), MAIN, "name", GF_SLICE("Xq7!kP2z"), 0, &err));
        assert_ok(gf_test_put(db, t, gf_test_key("b"), WIDE, "q", GF_SLICE("m0W#vB9u"), 0, &err));
        assert_ok(gf_test_put(db, t, gf_test_key("c"), WIDE, "q", GF_SLICE("stays"), 0, &err));
        if (in_table) assert_ok(gf_database_compact(db, &err));
        assert_true(files_have(folder, "Xq7!kP2z") && files_have(folder, "m0W#vB9u"));
        assert_ok(gf_batch_create(db, &batch, &err));
        gf_batch_delete_row(batch, t, gf_test_key("a"), GF_ALL_FAMILIES);
        gf_batch_delete_row(batch, t, gf_test_key("b"), GF_ALL_FAMILIES);
        assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
        gf_batch_free(batch);
        assert_ok(gf_database_compact(db, &err));
        assert_false(files_have(folder, "Xq7!kP2z") || files_have(folder, "m0W#vB9u"));
        assert_true(files_have(folder, "stays"));
        gf_test_cell_is(t, NULL, gf_test_key("c"), WIDE, "q", "stays");
        gf_database_close(db);
    }
}

/* The files of tables, removed; how many there were. */
static int remove_tables(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        gf_buffer path = {0};
        gf_buffer_format(&path, "%s/%s", folder, e->d_name);
        if (strstr(e->d_name, ".ldb")) {
            assert_int_equal(remove(gf_buffer_cstr(&path)), 0);
            n++;
        }
        gf_buffer_release(&path);
    }
    closedir(dir);
    return n;
}

static void tables_are_read_that_are_not_mapped(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    gf_error err;
    gf_table *t;
    gf_batch *batch;
    char name[16], value[32];
    const char *folder = gf_test_folder();
    gf_database *db = open_database(folder, GF_LEVELDB_CREATE, &t);
    assert_ok(gf_batch_create(db, &batch, &err));
    for (int i = 0; i < ROWS; i++) {
        snprintf(name, sizeof name, "row%05d", i);
        snprintf(value, sizeof value, "value of %d", i);
        gf_batch_put(batch, t, gf_test_key(name), MAIN, GF_SLICE("name"), gf_slice_str(value), 0);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    assert_ok(gf_database_compact(db, &err));
    gf_database_close(db);

    gf_leveldb_set_mapped_tables(0);
    db = open_database(folder, GF_LEVELDB_EXISTING, &t);
    for (int i = 0; i < ROWS; i += 7) {
        snprintf(name, sizeof name, "row%05d", i);
        snprintf(value, sizeof value, "value of %d", i);
        gf_test_cell_is(t, NULL, gf_test_key(name), MAIN, "name", value);
    }
    gf_database_close(db);

    /* A file that goes while the database is open: its name is told. */
    db = open_database(folder, GF_LEVELDB_EXISTING, &t);
    gf_test_cell_is(t, NULL, gf_test_key("row00000"), MAIN, "name", "value of 0");
    assert_true(remove_tables(folder) > 0);
    gf_row row = {0};
    assert_int_equal(gf_table_get(t, NULL, gf_test_key("row04999"), GF_ALL_FAMILIES, &row, &err),
                     GF_EIO);
    gf_row_release(&row);
    assert_non_null(strstr(err.message, ".ldb"));
    gf_database_close(db);
    gf_leveldb_set_mapped_tables(500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_lie_as_documented),
        cmocka_unit_test(no_block_is_left_behind),
        cmocka_unit_test(marks_of_cut_values_do_not_get_lost),
        cmocka_unit_test(expired_versions_are_removed_by_the_next_put),
        cmocka_unit_test(hostile_entries_are_noticed),
        cmocka_unit_test(a_missing_block_is_noticed),
        cmocka_unit_test(a_damaged_catalogue_is_refused),
        cmocka_unit_test(a_table_has_one_entry),
        cmocka_unit_test(a_strangers_database_is_refused),
        cmocka_unit_test(messages_become_statuses),
        cmocka_unit_test(compaction_removes_deleted_bytes),
        cmocka_unit_test(tables_are_read_that_are_not_mapped),
    };
    return cmocka_run_group_tests_name("leveldb_backend", tests, NULL, NULL);
}
