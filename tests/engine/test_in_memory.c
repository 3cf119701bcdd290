/* Stores in memory: like any other while they are open, and nothing behind them. */
#include "tests/engine/fixture.h"

#include "grouperfish/upkeep.h"

#include <dirent.h>
#include <stdlib.h>

static gf_store *open_in_memory(void)
{
    gf_store *store;
    gf_error err;
    assert_ok(gf_store_open(NULL, &GF_STORE_OPTIONS(.in_memory = true), &store, &err));
    return store;
}

static int64_t put_and_rebuild(fixture *f)
{
    fixture_put_subjects(f, "c");
    fixture_set(f, "c", "default", "k", "3");
    return fixture_rebuild(f, "c").build;
}

static size_t count_files(const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void same_rows_as_on_disk(void **state)
{
    (void)state;
    fixture disk, memory = {.path = NULL};
    gf_buffer expected = {0}, found = {0};
    const char *folder = gf_test_folder();
    setenv("TMPDIR", folder, 1);
    fixture_open(&disk);
    fixture_dump_build(&disk, "c", "default", put_and_rebuild(&disk), &expected);
    memory.store = open_in_memory();
    assert_true(gf_store_is_new(memory.store));
    assert_false(gf_store_is_read_only(memory.store));
    fixture_dump_build(&memory, "c", "default", put_and_rebuild(&memory), &found);
    assert_true(gf_slice_equal(gf_buffer_view(&expected), gf_buffer_view(&found)));
    fixture_check_served(&memory, "c", 12);
    gf_store_close(memory.store);
    assert_int_equal(count_files(folder), 0);
    fixture_close(&disk);
    gf_buffer_release(&expected);
    gf_buffer_release(&found);
    unsetenv("TMPDIR");
}

/* Purging, status, room, and opening it again. */
static void upkeep_of_a_store_without_files(void **state)
{
    (void)state;
    fixture f = {.path = NULL};
    gf_error err;
    gf_store_status status;
    f.store = open_in_memory();
    put_and_rebuild(&f);
    assert_ok(gf_store_read_status(f.store, &status, &err));
    assert_int_equal(status.documents, 12);
    assert_int_equal(status.bytes, 0);
    assert_ok(gf_store_check_room(f.store, &err));
    fixture_delete(&f, "c", "003");
    assert_ok(gf_purge_store(f.store, NULL, &err));
    assert_status(GF_EIO, gf_store_reopen(f.store, &err));
    gf_store_close(f.store);
}

typedef struct archive {
    gf_buffer bytes;
    size_t cut; /* so many are given; 0: all */
} archive;

static gf_status take(void *taker, gf_slice bytes, gf_error *err)
{
    archive *a = taker;
    gf_buffer_slice(&a->bytes, bytes);
    return gf_buffer_check(&a->bytes, err);
}

static gf_status give(void *context, gf_archive_take *to, void *taker, gf_error *err)
{
    const archive *a = context;
    gf_slice rest = gf_buffer_view(&a->bytes);
    if (a->cut) rest.len = a->cut;
    gf_status st = GF_OK;
    while (rest.len && st == GF_OK) {
        size_t n = rest.len < 1000 ? rest.len : 1000;
        st = to(taker, gf_slice_of(rest.ptr, n), err);
        rest = gf_slice_skip(rest, n);
    }
    return st;
}

static void begins_as_an_archive(void **state)
{
    (void)state;
    fixture f = {.path = NULL}, again = {.path = NULL};
    archive a = {.cut = 0};
    gf_buffer before = {0}, after = {0};
    gf_error err;
    f.store = open_in_memory();
    put_and_rebuild(&f);
    fixture_dump(&f, &before);
    assert_ok(gf_backup_archive(f.store, take, &a, NULL, &err));
    gf_store_options o =
        GF_STORE_OPTIONS(.in_memory = true, .archive = give, .archive_context = &a);
    assert_ok(gf_store_open(NULL, &o, &again.store, &err));
    fixture_dump(&again, &after);
    assert_true(gf_slice_equal(gf_buffer_view(&before), gf_buffer_view(&after)));
    fixture_put(&again, "c", "new", "a document since");
    fixture_rebuild(&again, "c");
    fixture_check_served(&again, "c", 13);
    gf_store_close(again.store);
    gf_store_close(f.store);
    a.cut = a.bytes.len / 2;
    assert_status(GF_ECORRUPT, gf_store_open(NULL, &o, &again.store, &err));
    gf_buffer_release(&a.bytes);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
}

static gf_status open_and_close(void *context, gf_error *err)
{
    gf_store *store;
    gf_store_options o =
        GF_STORE_OPTIONS(.in_memory = true, .archive = give, .archive_context = context);
    gf_status st = gf_store_open(NULL, &o, &store, err);
    if (st == GF_OK) gf_store_close(store);
    return st;
}

static void allocations_that_fail(void **state)
{
    (void)state;
    fixture f = {.path = NULL};
    archive a = {.cut = 0};
    gf_error err;
    f.store = open_in_memory();
    put_and_rebuild(&f);
    assert_ok(gf_backup_archive(f.store, take, &a, NULL, &err));
    gf_test_sweep(open_and_close, NULL, &a);
    gf_store_close(f.store);
    gf_buffer_release(&a.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_rows_as_on_disk), cmocka_unit_test(upkeep_of_a_store_without_files),
        cmocka_unit_test(begins_as_an_archive), cmocka_unit_test(allocations_that_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
