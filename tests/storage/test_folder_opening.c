/* How a store is made and opened again, what is left alone, and its marker. */
#include "tests/storage/store.h"

#include "base/clock.h"
#include "base/file.h"
#include "storage/check/crc32c.h"

#include <dirent.h>
#include <leveldb/c.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- making and opening ---------------------------------------------------------------------- */

static void a_store_is_made_once(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    gf_buffer marker = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/some/where", gf_test_folder());
    assert_status(GF_ENOTFOUND, gf_test_hold(path, false, &f, &err));
    assert_false(gf_file_exists(path)); /* asking makes nothing */
    assert_ok(gf_test_hold(path, true, &f, &err));
    assert_true(gf_folder_is_new(f));
    gf_folder_release(f);
    assert_ok(gf_file_read(gf_test_in(path, "grouperfish.store"), &marker, &err));
    char want[64];
    const char *text = "grouperfish store\nformat 1\n";
    snprintf(want, sizeof want, "%scheck %08x\n", text, gf_crc32c(0, text, strlen(text)));
    assert_slice(gf_buffer_view(&marker), want);
    assert_false(gf_file_exists(gf_test_in(path, "db.new")));
    assert_ok(gf_test_hold(path, true, &f, &err));
    assert_false(gf_folder_is_new(f));
    gf_folder_release(f);
    assert_ok(gf_test_hold(path, false, &f, &err));
    gf_folder_release(f);
    gf_folder_release(NULL);
    gf_buffer_release(&marker);
}

static void rows_outlast_opening(void **state)
{
    (void)state;
    const char *path = gf_test_store_make();
    for (int i = 0; i < 3; i++)
        gf_test_store_has_its_row(path);
}

/* A process that ended in the middle of making a store leaves one of these. */
/* Names and sizes of the files in db/ whose names start so, but for LevelDB's journals. */
static void list_db(const char *store, const char *start, char *list, size_t room)
{
    struct dirent **entries;
    int n = scandir(gf_test_in(store, "db"), &entries, NULL, alphasort);
    assert_true(n >= 0);
    list[0] = '\0';
    for (int i = 0; i < n; i++) {
        struct stat s;
        size_t used = strlen(list);
        gf_slice name = gf_slice_str(entries[i]->d_name);
        if (gf_slice_starts(name, gf_slice_str(start)) && !gf_slice_starts(name, GF_SLICE("LOG")) &&
            stat(gf_test_in(gf_test_in(store, "db"), entries[i]->d_name), &s) == 0)
            snprintf(list + used, room - used, "%s %ld\n", entries[i]->d_name, (long)s.st_size);
        free(entries[i]);
    }
    free(entries);
}

static void put_many(const char *path, char first, gf_sync sync)
{
    gf_error err;
    gf_test_store s;
    gf_table *t;
    static char value[4096];
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    for (int i = 0; i < 200; i++) {
        gf_batch *b;
        char key[16];
        snprintf(key, sizeof key, "%c%d", first, i);
        assert_ok(gf_batch_create(s.db, &b, &err));
        gf_batch_put(b, t, gf_test_key(key), 0, GF_SLICE("q"), gf_slice_of(value, sizeof value), 0);
        assert_ok(gf_batch_write(b, sync, &err));
        gf_batch_free(b);
    }
    gf_test_store_close(&s);
}

/* After much was written the log is emptied; whoever only reads then writes and syncs no file. */
static void a_store_closed_cleanly_is_opened_as_it_is(void **state)
{
    (void)state;
    gf_error err;
    char before[4096], after[4096];
    const char *path = gf_test_store_make();
    put_many(path, 'x', GF_SYNC_OFF);
    list_db(path, "0", before, sizeof before);
    assert_non_null(strstr(before, ".log 0\n"));
    gf_test_store_has_its_row(
        path); /* the MANIFEST named the first log's files, and is made anew */
    list_db(path, "", before, sizeof before);
    for (int i = 0; i < 3; i++)
        gf_test_store_has_its_row(path);
    list_db(path, "", after, sizeof after);
    assert_string_equal(after, before);
    assert_non_null(strstr(before, "MANIFEST-"));
    gf_test_store s; /* what is then written goes on in that log */
    gf_table *t;
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    assert_ok(gf_test_put(s.db, t, gf_test_key("b"), 0, "q", GF_SLICE("more"), 0, &err));
    gf_test_store_close(&s);
    list_db(path, "0", after, sizeof after);
    assert_null(strstr(after, ".log 0\n"));
    put_many(path, 'y', GF_SYNC_OFF);
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    gf_test_cell_is(t, NULL, gf_test_key("b"), 0, "q", "more");
    gf_test_store_close(&s);
    gf_test_store_has_its_row(path);
}

/* Much that is written in one batch, and nothing after it: the close makes its table at once. */
static void a_close_after_one_batch_is_quick(void **state)
{
    (void)state;
    gf_error err;
    gf_test_store s;
    gf_table *t;
    gf_buffer value = {0};
    gf_random random = gf_random_seed(5, 0);
    const char *path = gf_test_store_make();
    for (int b = 0; b < 400000; b++)
        gf_buffer_byte(&value, (char)gf_random_below(&random, 256));
    for (int i = 0; i < 8; i++) { /* from the fourth on a compaction is due */
        assert_ok(gf_test_store_open(&s, path, &err));
        assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
        assert_ok(gf_test_put(s.db, t, gf_test_key("b"), 0, "q", gf_buffer_view(&value), 0, &err));
        double start = gf_clock_seconds();
        gf_test_store_close(&s);
        assert_true(gf_clock_seconds() - start < 4); /* compactions wait for 5 s */
    }
    gf_buffer_release(&value);
    gf_test_store_has_its_row(path);
}

/* A row's value in one of several rounds: random letters, which do not compress. */
static gf_slice value_by_chance(gf_buffer *value, gf_random *random)
{
    enum { VALUE = 3000 };
    gf_buffer_reset(value);
    for (int b = 0; b < VALUE; b++)
        gf_buffer_byte(value, (char)('0' + gf_random_below(random, 64)));
    return gf_buffer_view(value);
}

static unsigned count_tables(const char *path)
{
    char list[8192];
    unsigned tables = 0;
    list_db(path, "0", list, sizeof list);
    for (const char *at = list; (at = strstr(at, ".ldb ")); at++)
        tables++;
    return tables;
}

/*
 * Forty times the same rows with other values, each time closed at once: tables come to lie over
 * each other, so compactions are due, and are broken off. Each close leaves an empty log all the
 * same, the tables stay few, and the last values are there.
 */
static void compactions_that_break_off_lose_nothing(void **state)
{
    (void)state;
    enum { ROWS = 300, ROUNDS = 40, MOST_TABLES = 32 };
    gf_error err;
    gf_test_store s;
    gf_table *t;
    gf_buffer value = {0};
    char list[4096], key[16];
    uint64_t seed = gf_test_seed();
    const char *path = gf_test_store_make();
    for (uint64_t round = 0; round < ROUNDS; round++) {
        gf_random random = gf_random_seed(seed, round);
        assert_ok(gf_test_store_open(&s, path, &err));
        assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
        for (int i = 0; i < ROWS; i++) {
            snprintf(key, sizeof key, "row %d", i);
            assert_ok(gf_test_put(s.db, t, gf_test_key(key), 0, "q",
                                  value_by_chance(&value, &random), 0, &err));
        }
        gf_test_store_close(&s);
        list_db(path, "0", list, sizeof list);
        assert_non_null(strstr(list, ".log 0\n"));
        assert_in_range(count_tables(path), 1, MOST_TABLES);
    }
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    gf_random random = gf_random_seed(seed, ROUNDS - 1);
    for (int i = 0; i < ROWS; i++) {
        snprintf(key, sizeof key, "row %d", i);
        value_by_chance(&value, &random);
        gf_test_cell_is(t, NULL, gf_test_key(key), 0, "q", gf_buffer_cstr(&value));
    }
    gf_test_store_close(&s);
    gf_buffer_release(&value);
    gf_test_store_has_its_row(path);
}

static void write_small(const char *path, int i)
{
    gf_error err;
    gf_test_store s;
    gf_table *t;
    char key[16];
    snprintf(key, sizeof key, "row %d", i);
    const char *keys[] = {"first", key, "zero"};
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    for (int k = 0; k < 3; k++)
        assert_ok(gf_test_put(s.db, t, gf_test_key(keys[k]), 0, "q", GF_SLICE("small"), 0, &err));
    gf_test_store_close(&s);
}

static void small_rows_are(const gf_test_store *s, int n)
{
    gf_error err;
    gf_table *t;
    char key[16];
    assert_ok(gf_table_open(s->db, &gf_test_store_schema, &t, &err));
    for (int i = 0; i < n; i++) {
        snprintf(key, sizeof key, "row %d", i);
        gf_test_cell_is(t, NULL, gf_test_key(key), 0, "q", "small");
    }
}

/* Sixty openings that write three rows each, of which two are always the same, so that the tables
 * that they leave lie over each other: these are merged in time. */
static void small_writes_leave_few_tables(void **state)
{
    (void)state;
    enum { OPENINGS = 60 };
    gf_error err;
    gf_test_store s;
    const char *path = gf_test_store_make();
    for (int i = 0; i < OPENINGS; i++)
        write_small(path, i);
    assert_in_range(count_tables(path), 1, 12);
    assert_ok(gf_test_store_open(&s, path, &err));
    small_rows_are(&s, OPENINGS);
    gf_test_store_close(&s);
}

/* Tables over each other, too few for a close to have them merged: upkeep does it while the store
 * is open, though nothing is written. */
static void upkeep_merges_tables(void **state)
{
    (void)state;
    enum { SOME = 7, MERGED = 4, TENTHS = 40 }; /* it would begin by itself after 5 s */
    gf_error err;
    gf_test_store s;
    const char *path = gf_test_store_make();
    int openings = 0;
    while (count_tables(path) < SOME)
        write_small(path, openings++);
    assert_ok(gf_test_store_open(&s, path, &err));
    gf_database_begin_upkeep(s.db);
    for (int i = 0; count_tables(path) > MERGED && i < TENTHS; i++)
        usleep(100000);
    assert_in_range(count_tables(path), 1, MERGED);
    small_rows_are(&s, openings);
    gf_test_store_close(&s);
}

static uint64_t bytes_of_tables(const char *path)
{
    char list[8192];
    uint64_t sum = 0;
    list_db(path, "0", list, sizeof list);
    for (const char *at = list; (at = strstr(at, ".ldb ")); at++)
        sum += strtoull(at + strlen(".ldb "), NULL, 10);
    return sum;
}

/* Rows of many bytes are deleted by few: the files keep them, also where upkeep is due, until their
 * room is asked for. Rows before and behind stay. */
static void room_of_deleted_rows_is_given_back(void **state)
{
    (void)state;
    enum { ROWS = 10000, TENTHS = 300, LEFT = 1 << 20 };
    static const char *const parts[] = {"a", "b", "c"};
    gf_error err;
    gf_test_store s;
    gf_table *t;
    gf_batch *batch;
    gf_buffer value = {0};
    char key[16];
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    const char *path = gf_test_store_make();
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    assert_ok(gf_batch_create(s.db, &batch, &err));
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < (part == 1 ? ROWS : 10); i++) {
            snprintf(key, sizeof key, "%s %d", parts[part], i);
            gf_batch_put(batch, t, gf_test_key(key), 0, GF_SLICE("q"),
                         value_by_chance(&value, &random), 0);
            if (gf_batch_changes(batch) == 1000) assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
        }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_test_store_close(&s);
    assert_true(bytes_of_tables(path) > UINT64_C(15) << 20);
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    gf_batch_free(batch);
    assert_ok(gf_batch_create(s.db, &batch, &err));
    for (int i = 0; i < ROWS; i++) {
        snprintf(key, sizeof key, "b %d", i);
        gf_batch_delete_row(batch, t, gf_test_key(key), GF_ALL_FAMILIES);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    assert_ok(gf_table_reclaim(t, GF_SLICE(""), &err)); /* a close breaks it off, wherever it is */
    gf_test_store_close(&s);
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    assert_ok(gf_table_reclaim(t, GF_SLICE(""), &err));
    for (int i = 0; bytes_of_tables(path) > LEFT && i < TENTHS; i++)
        usleep(100000);
    assert_true(bytes_of_tables(path) <= LEFT);
    for (int i = 0; i < 10; i++)
        for (int part = 0; part < 3; part += 2) {
            snprintf(key, sizeof key, "%s %d", parts[part], i);
            gf_row row = {0};
            assert_ok(gf_table_get(t, NULL, gf_test_key(key), GF_ALL_FAMILIES, &row, &err));
            gf_row_release(&row);
        }
    gf_test_store_close(&s);
    gf_buffer_release(&value);
}

/* Behind a record that was torn nothing may be appended: it would be lost with it. */
static void a_torn_end_is_not_written_on(void **state)
{
    (void)state;
    static const char *const torn[] = {"MANIFEST-", "0"};
    for (int i = 0; i < 2; i++) {
        gf_error err;
        char list[4096], name[64];
        const char *path = gf_test_store_make();
        put_many(path, 'x', GF_SYNC_OFF);
        gf_test_store_has_its_row(path);
        list_db(path, torn[i], list, sizeof list);
        const char *line = i == 0 ? list : strstr(list, ".log 0\n");
        while (line > list && line[-1] != '\n')
            line--;
        assert_int_equal(sscanf(line, "%63s", name), 1);
        FILE *f = fopen(gf_test_in(gf_test_in(path, "db"), name), "ab");
        assert_non_null(f);
        assert_int_equal(fwrite("abcde\1", 1, 5, f), 5); /* a record's head, cut off */
        fclose(f);
        gf_test_store s;
        gf_table *t;
        for (int round = 0; round < 3; round++) {
            char key[2] = {(char)('b' + round), '\0'};
            assert_ok(gf_test_store_open(&s, path, &err));
            assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
            assert_ok(gf_test_put(s.db, t, gf_test_key(key), 0, "q", GF_SLICE("more"), 0, &err));
            gf_test_store_close(&s);
        }
        assert_ok(gf_test_store_open(&s, path, &err));
        assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
        gf_test_cell_is(t, NULL, gf_test_key("b"), 0, "q", "more");
        gf_test_cell_is(t, NULL, gf_test_key("d"), 0, "q", "more");
        gf_test_store_close(&s);
        gf_test_store_has_its_row(path);
    }
}

static void a_half_made_store_is_finished(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = gf_test_store_make();
    assert_int_equal(unlink(gf_test_in(path, "grouperfish.store")), 0); /* before the marker */
    assert_status(GF_ECORRUPT, gf_test_hold(path, false, &f, &err));
    assert_non_null(strstr(err.message, "marker, is missing"));
    gf_test_store_has_its_row(path);
    assert_true(gf_file_exists(gf_test_in(path, "grouperfish.store")));

    const char *other = gf_test_folder(); /* before the move */
    gf_test_copy_folder(gf_test_in(path, "db"), gf_test_in(other, "db.new"));
    assert_int_equal(unlink(gf_test_in(gf_test_in(other, "db.new"), "CURRENT")), 0);
    assert_ok(gf_test_hold(other, true, &f, &err));
    assert_true(gf_folder_is_new(f));
    assert_false(gf_file_exists(gf_test_in(other, "db.new")));
    gf_folder_release(f);
}

static void what_is_not_ours_is_left_alone(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = gf_test_folder();
    assert_int_equal(mkdir(gf_test_in(path, "db"), 0777), 0);
    gf_test_write_file(gf_test_in(path, "db/notes.txt"), "mine");
    assert_status(GF_EINVAL, gf_test_hold(path, true, &f, &err));
    assert_non_null(strstr(err.message, "is not a store"));
    assert_true(gf_file_exists(gf_test_in(path, "db/notes.txt")));
    assert_false(gf_file_exists(gf_test_in(path, "grouperfish.store")));

    const char *second = gf_test_folder(); /* a db.new with files of somebody else */
    assert_int_equal(mkdir(gf_test_in(second, "db.new"), 0777), 0);
    gf_test_write_file(gf_test_in(second, "db.new/notes.txt"), "mine");
    gf_test_write_file(gf_test_in(second, "db.new/000005.log"), "");
    assert_status(GF_EIO, gf_test_hold(second, true, &f, &err));
    assert_true(gf_file_exists(gf_test_in(second, "db.new/notes.txt")));

    const char *third = gf_test_folder(); /* another program's LevelDB */
    char *message = NULL;
    leveldb_options_t *o = leveldb_options_create();
    leveldb_options_set_create_if_missing(o, 1);
    leveldb_t *db = leveldb_open(o, gf_test_in(third, "db"), &message);
    assert_null(message);
    leveldb_close(db);
    leveldb_options_destroy(o);
    assert_status(GF_ECORRUPT, gf_test_hold(third, true, &f, &err));
    assert_non_null(strstr(err.message, "not ours"));
    assert_false(gf_file_exists(gf_test_in(third, "grouperfish.store")));

    const char *fourth = gf_test_folder(); /* somebody's texts: not even a lock is put there */
    gf_test_write_file(gf_test_in(fourth, "notes.txt"), "mine");
    assert_status(GF_EINVAL, gf_test_hold(fourth, true, &f, &err));
    assert_non_null(strstr(err.message, "holds other things"));
    assert_false(gf_file_exists(gf_test_in(fourth, "lock")));

    gf_test_write_file(gf_test_in(third, "file"), "");
    assert_status(GF_EIO,
                  gf_test_hold(gf_test_in(third, "file"), true, &f, &err)); /* no folder at all */
}

/* ---- the marker ------------------------------------------------------------------------------ */

static void marker_is(const char *path, const char *text, bool right_check)
{
    char marker[256];
    uint32_t crc = gf_crc32c(0, text, strlen(text)) + (right_check ? 0 : 1);
    snprintf(marker, sizeof marker, "%scheck %08x\n", text, crc);
    gf_test_write_file(gf_test_in(path, "grouperfish.store"), marker);
}

static void a_newer_or_damaged_marker_is_refused(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = gf_test_store_make();
    marker_is(path, "grouperfish store\nformat 2\n", true);
    for (int create = 0; create < 2; create++) {
        assert_status(GF_EINVAL, gf_test_hold(path, create, &f, &err));
        assert_string_equal(err.message,
                            "the store has format 2; this program knows up to 1: use a newer one");
    }
    static const struct {
        const char *text;
        bool check;
    } bad[] = {{"grouperfish store\nformat 1\n", false},
               {"grouperfish store\nformat 0\n", true},
               {"grouperfish store\nformat -1\n", true},
               {"grouperfish store\nformat 01\n", true},
               {"grouperfish store\nformat 1\n\n", true},
               {"grouperfish stor\nformat 1\n", true},
               {"", true},
               {"something else\n", true}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        marker_is(path, bad[i].text, bad[i].check);
        assert_status(GF_ECORRUPT, gf_test_hold(path, true, &f, &err));
    }
    gf_test_write_file(gf_test_in(path, "grouperfish.store"), "");
    assert_status(GF_ECORRUPT, gf_test_hold(path, true, &f, &err));
    char large[8192];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    gf_test_write_file(gf_test_in(path, "grouperfish.store"), large);
    assert_status(GF_ECORRUPT, gf_test_hold(path, true, &f, &err));
    marker_is(path, "grouperfish store\nformat 1\n", true);
    gf_test_store_has_its_row(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_is_made_once),
        cmocka_unit_test(rows_outlast_opening),
        cmocka_unit_test(a_store_closed_cleanly_is_opened_as_it_is),
        cmocka_unit_test(compactions_that_break_off_lose_nothing),
        cmocka_unit_test(a_close_after_one_batch_is_quick),
        cmocka_unit_test(small_writes_leave_few_tables),
        cmocka_unit_test(upkeep_merges_tables),
        cmocka_unit_test(room_of_deleted_rows_is_given_back),
        cmocka_unit_test(a_torn_end_is_not_written_on),
        cmocka_unit_test(a_half_made_store_is_finished),
        cmocka_unit_test(what_is_not_ours_is_left_alone),
        cmocka_unit_test(a_newer_or_damaged_marker_is_refused),
    };
    return cmocka_run_group_tests_name("folder_opening", tests, NULL, NULL);
}
