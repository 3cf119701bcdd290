/*
 * What is left of users' tables that are dropped, or cut short in that, or whose names are lost, or
 * for which there is no memory.
 */
#include "tests/engine/fixture.h"

#include "engine/rows/scan.h"
#include "engine/user_tables/user_tables_internal.h"

#include <leveldb/c.h>
#include <stdlib.h>

static const gf_slice space = {"test", 4};
#define S(text) gf_slice_str(text)

/* ---- dropping -------------------------------------------------------------------------------- */

static gf_status tell(void *context, const char *where, const char *what, gf_error *err)
{
    (void)err;
    gf_buffer_format(context, "%s: %s\n", where, what);
    return GF_OK;
}

static void is_sound(fixture *f, uint64_t tables, uint64_t rows)
{
    gf_error err;
    gf_verified v;
    gf_buffer faults = {0};
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "verify");
    fixture_close(f);
    assert_ok(gf_verify(f->path, &o, tell, &faults, &v, &err));
    assert_slice(gf_buffer_view(&faults), "");
    assert_int_equal(v.tables, tables);
    assert_int_equal(v.rows, rows);
    fixture_reopen(f);
}

static void dropping(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_user_table *t, *other;
    fixture_open(&f);
    t = fixture_make_table(&f, "people", fixture_people);
    other = fixture_make_table(&f, "others", fixture_people);
    fixture_put_cell(t, "u1", FIXTURE_INFO, "name", "Ann");
    fixture_put_cell(other, "u1", FIXTURE_INFO, "name", "Bo");
    assert_status(GF_EEXISTS,
                  gf_user_table_create(f.store, space, S("people"), S(fixture_people), &err));
    assert_status(GF_EBUSY, gf_user_table_drop(f.store, space, S("people"), NULL, &err));
    gf_user_table_close(t);
    gf_user_table_close(other);
    is_sound(&f, 2, 2);

    /* It is cut short: the name is gone, and the next writer deletes the rows. */
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    assert_ok(gf_user_table_open(f.store, space, S("people"), &t, &err));
    gf_batch *batch;
    assert_ok(gf_batch_create(gf_store_database(f.store), &batch, &err));
    for (int i = 0; i < 9000; i++) {
        char name[8];
        gf_buffer key = {0};
        snprintf(name, sizeof name, "%06d", i);
        gf_slice part = S(name);
        assert_ok(gf_user_table_key_write(t, &part, 1, &key, &err));
        gf_batch_put(batch, t->rows, gf_buffer_view(&key), FIXTURE_LIST, S("x"), S("1"), 0);
        gf_buffer_release(&key);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
    gf_user_table_close(t);
    assert_status(GF_ECANCELLED, gf_user_table_drop(f.store, space, S("people"), &cancel, &err));
    assert_status(GF_ENOTFOUND, gf_user_table_open(f.store, space, S("people"), &t, &err));
    fixture_close(&f);
    fixture_reopen(&f);
    t = fixture_make_table(&f, "people", fixture_people);
    gf_buffer got = {0};
    fixture_print_rows(t, &GF_ROWS_OPTIONS(), &got);
    assert_slice(gf_buffer_view(&got), "");
    gf_user_table_close(t);

    /* By then nothing is marked any more. */
    uint64_t marked = 1;
    assert_ok(gf_scan_count(f.store->tables.tables, NULL, GF_TABLES_PROGRESS, (gf_slice){0},
                            &marked, &err));
    assert_int_equal(marked, 0);
    is_sound(&f, 2, 1);
    assert_ok(gf_user_table_open(f.store, space, S("others"), &other, &err));
    fixture_print_rows(other, &GF_ROWS_OPTIONS(), &got);
    assert_slice(gf_buffer_view(&got), "u1 0:name=Bo ");
    gf_user_table_close(other);
    gf_buffer_release(&got);
    fixture_close(&f);
}

/* A put of a document is enough for the rest to go. */
static void reclaimed_by_a_put(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_cancel cancel = {0};
    uint64_t marked = 0;
    fixture_open(&f);
    gf_user_table *t = fixture_make_table(&f, "people", fixture_people);
    for (int i = 0; i < 4100; i++) {
        char name[8];
        snprintf(name, sizeof name, "%06d", i);
        fixture_put_cell(t, name, FIXTURE_INFO, "name", "x");
    }
    gf_user_table_close(t);
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_user_table_drop(f.store, space, S("people"), &cancel, &err));
    gf_table *tables = f.store->tables.tables;
    assert_ok(gf_scan_count(tables, NULL, GF_TABLES_PROGRESS, (gf_slice){0}, &marked, &err));
    assert_int_equal(marked, 1);
    fixture_put(&f, "c", "1", "text");
    assert_ok(gf_scan_count(tables, NULL, GF_TABLES_PROGRESS, (gf_slice){0}, &marked, &err));
    assert_int_equal(marked, 0);
    fixture_close(&f);
}

/* ---- damage -----------------------------------------------------------------------------------
 *
 * The catalogue loses the names of tables, all of them or those of users: each finds its own rows
 * again, whatever the order in which they are opened.
 */

static void forget_names(const char *path, const char *start)
{
    char db_path[512], *message = NULL;
    snprintf(db_path, sizeof db_path, "%s/db", path);
    leveldb_options_t *options = leveldb_options_create();
    leveldb_t *db = leveldb_open(options, db_path, &message);
    assert_null(message);
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    leveldb_writeoptions_t *write = leveldb_writeoptions_create();
    leveldb_iterator_t *it = leveldb_create_iterator(db, read);
    gf_buffer prefix = {0};
    gf_buffer_append(&prefix, "\0\0T", 3);
    gf_buffer_str(&prefix, start);
    int n = 0;
    for (leveldb_iter_seek(it, prefix.ptr, prefix.len); leveldb_iter_valid(it);
         leveldb_iter_next(it), n++) {
        size_t length;
        const char *key = leveldb_iter_key(it, &length);
        if (!gf_slice_starts(gf_slice_of(key, length), gf_buffer_view(&prefix))) break;
        leveldb_delete(db, write, key, length, &message);
        assert_null(message);
    }
    assert_true(n >= 2);
    gf_buffer_release(&prefix);
    leveldb_iter_destroy(it);
    leveldb_readoptions_destroy(read);
    leveldb_writeoptions_destroy(write);
    leveldb_close(db);
    leveldb_options_destroy(options);
}

static void rows_are(gf_store *store, const char *name, const char *want)
{
    gf_error err;
    gf_user_table *t;
    gf_buffer got = {0};
    assert_ok(gf_user_table_open(store, space, S(name), &t, &err));
    fixture_print_rows(t, &GF_ROWS_OPTIONS(), &got);
    assert_slice(gf_buffer_view(&got), want);
    gf_user_table_close(t);
    gf_buffer_release(&got);
}

static void lost_names(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_user_table *t;
    gf_repaired repaired;
    gf_buffer faults = {0};
    char to[512];
    fixture_open(&f);
    t = fixture_make_table(&f, "zz", fixture_people);
    fixture_put_cell(t, "u1", FIXTURE_INFO, "name", "Zoe");
    gf_user_table_close(t);
    t = fixture_make_table(&f, "aa", fixture_people);
    fixture_put_cell(t, "u1", FIXTURE_INFO, "name", "Ann");
    gf_user_table_close(t);
    fixture_close(&f);

    forget_names(f.path, "user:");
    fixture_reopen(&f);
    t = fixture_make_table(&f, "new", fixture_people); /* which must not get what is there */
    gf_user_table_close(t);
    rows_are(f.store, "new", "");
    rows_are(f.store, "aa", "u1 0:name=Ann ");
    rows_are(f.store, "zz", "u1 0:name=Zoe ");
    fixture_close(&f);

    forget_names(f.path, "");
    snprintf(to, sizeof to, "%s/repaired", gf_test_folder());
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "repair");
    assert_ok(gf_repair(f.path, to, &o, tell, &faults, &repaired, &err));
    f.path = to;
    fixture_reopen(&f);
    rows_are(f.store, "aa", "u1 0:name=Ann ");
    rows_are(f.store, "zz", "u1 0:name=Zoe ");
    assert_ok(gf_user_table_drop(f.store, space, S("zz"), NULL, &err));
    rows_are(f.store, "aa", "u1 0:name=Ann ");
    is_sound(&f, 2, 1);
    gf_buffer_release(&faults);
    fixture_close(&f);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct swept {
    fixture f;
} swept;

/* What a run that failed has left. */
static void drop_what_is_there(void *context)
{
    swept *s = context;
    gf_error err;
    gf_status st = gf_user_table_drop(s->f.store, space, S("people"), NULL, &err);
    if (st != GF_OK && st != GF_ENOTFOUND) fail_msg("%s", err.message);
}

static gf_status make_use_drop(void *context, gf_error *err)
{
    swept *s = context;
    gf_user_table *t = NULL;
    gf_rows *rows = NULL;
    const gf_row *row;
    gf_slice where = S("age!=1"), part = S("u1");
    gf_buffer key = {0}, sum = {0};
    gf_rows_options o = GF_ROWS_OPTIONS(.where = &where, .n_where = 1);
    gf_status st = gf_user_table_create(s->f.store, space, S("people"), S(fixture_people), err);
    if (st == GF_OK)
        st = gf_user_table_alter(s->f.store, space, S("people"),
                                 S("{\"families\":[{\"name\":\"z\"}]}"), err);
    if (st == GF_OK) st = gf_user_table_open(s->f.store, space, S("people"), &t, err);
    if (st == GF_OK) st = gf_user_table_key_write(t, &part, 1, &key, err);
    if (st == GF_OK)
        st = gf_user_table_increment(t, gf_buffer_view(&key), FIXTURE_INFO, S("age"), 2, &sum, err);
    if (st == GF_OK) st = gf_rows_open(t, &o, &rows, err);
    if (st == GF_OK) st = gf_rows_next(rows, &row, err);
    gf_rows_close(rows);
    gf_user_table_close(t);
    if (st == GF_OK) st = gf_user_table_drop(s->f.store, space, S("people"), NULL, err);
    gf_buffer_release(&key);
    gf_buffer_release(&sum);
    return st;
}

static void memory_fails(void **state)
{
    (void)state;
    swept s = {0};
    fixture_open(&s.f);
    gf_test_sweep(make_use_drop, drop_what_is_there, &s);
    is_sound(&s.f, 0, 0);
    fixture_close(&s.f);
}

/* ---- by what the database calls them --------------------------------------------------------- */

typedef struct found {
    gf_store *store;
    const char *id;
    gf_table *rows;
} found;

static gf_status find(void *context, gf_error *err)
{
    found *f = context;
    gf_status st = gf_user_tables_find(f->store, f->id, &f->rows, err);
    if (st == GF_OK) assert_non_null(f->rows); /* or a journal would take it for dropped */
    return st;
}

static void found_until_they_are_dropped(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    gf_user_table_close(fixture_make_table(&f, "others", fixture_people));
    gf_user_table *t = fixture_make_table(&f, "people", fixture_people);
    char *id = strdup(gf_table_schema(gf_user_table_rows(t))->name);
    found s = {.store = f.store, .id = id};
    gf_user_table_close(t);
    gf_test_sweep(find, NULL, &s);
    assert_string_equal(gf_table_schema(s.rows)->name, id);
    assert_ok(gf_user_table_drop(f.store, space, S("people"), NULL, &err));
    assert_ok(gf_user_tables_find(f.store, id, &s.rows, &err));
    assert_null(s.rows);
    free(id);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropping),
        cmocka_unit_test(reclaimed_by_a_put),
        cmocka_unit_test(lost_names),
        cmocka_unit_test(memory_fails),
        cmocka_unit_test(found_until_they_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
