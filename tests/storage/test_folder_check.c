/* Files that are missing, and what a check and the size say of a folder. */
#include "tests/storage/store.h"

#include "base/file.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

/* Remove the first file of db/ whose name has this end. */
static void remove_from_db(const char *store, const char *name_end)
{
    const char *path = gf_test_in(store, "db");
    DIR *dir = opendir(path);
    assert_non_null(dir);
    int removed = 0;
    for (struct dirent *e = readdir(dir); e && !removed; e = readdir(dir))
        if (gf_slice_ends(gf_slice_str(e->d_name), gf_slice_str(name_end)))
            removed = unlink(gf_test_in(path, e->d_name)) == 0;
    closedir(dir);
    assert_true(removed);
}

typedef struct reports {
    int n;
    char first[256];
} reports;

static void remember(void *context, const char *file, const char *what)
{
    reports *r = context;
    if (r->n++ == 0) snprintf(r->first, sizeof r->first, "%s: %s", file, what);
}

/* The store opens no more, is not made anew, and a check tells of it. */
static void is_refused(const char *path, const char *words)
{
    gf_error err;
    gf_folder *f;
    gf_database *db = NULL;
    reports r = {0};
    for (int create = 0; create < 2; create++) {
        assert_ok(gf_test_hold(path, create, &f, &err));
        assert_false(gf_folder_is_new(f));
        assert_status(GF_ECORRUPT, gf_folder_open(f, &db, &err));
        if (!strstr(err.message, words)) fail_msg("\"%s\" has no \"%s\"", err.message, words);
        assert_null(db);
        r.n = 0;
        assert_ok(gf_folder_check(f, remember, &r, NULL, &err));
        assert_true(r.n > 0);
        if (!strstr(r.first, words)) fail_msg("\"%s\" has no \"%s\"", r.first, words);
        gf_folder_release(f);
    }
}

static void missing_files_are_noticed(void **state)
{
    (void)state;
    gf_error err;
    const char *path = gf_test_store_make();
    gf_test_store_has_its_row(path); /* its log becomes a table */
    const char *copy = gf_test_folder();
    gf_test_copy_folder(path, copy);
    remove_from_db(copy, "CURRENT");
    is_refused(copy, "CURRENT: the file is missing");

    copy = gf_test_folder();
    gf_test_copy_folder(path, copy);
    gf_buffer current = {0};
    assert_ok(gf_file_read(gf_test_in(copy, "db/CURRENT"), &current, &err));
    current.ptr[current.len - 1] = '\0';
    remove_from_db(copy, current.ptr);
    is_refused(copy, "MANIFEST");
    gf_buffer_release(&current);

    copy = gf_test_folder();
    gf_test_copy_folder(path, copy);
    remove_from_db(copy, ".ldb");
    is_refused(copy, ".ldb: the file is missing");

    copy = gf_test_folder();
    gf_test_copy_folder(path, copy);
    remove_from_db(copy, ".log");
    is_refused(copy, ".log: the file is missing");

    copy = gf_test_folder();
    gf_test_copy_folder(path, copy);
    assert_int_equal(rename(gf_test_in(copy, "db"), gf_test_in(copy, "away")), 0);
    gf_folder *f;
    reports r = {0};
    gf_database *db = NULL;
    assert_ok(gf_test_hold(copy, true, &f, &err));
    assert_status(GF_ECORRUPT, gf_folder_open(f, &db, &err));
    assert_non_null(strstr(err.message, "the store's database is missing"));
    assert_ok(gf_folder_check(f, remember, &r, NULL, &err));
    assert_string_equal(r.first, "db: the store's database is missing");
    gf_folder_release(f);
    assert_int_equal(rename(gf_test_in(copy, "away"), gf_test_in(copy, "db")), 0);
    gf_test_store_has_its_row(copy);
}

static void a_check_tells_of_the_marker(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    reports r = {0};
    const char *path = gf_test_store_make();
    assert_ok(gf_test_hold(path, false, &f, &err));
    assert_ok(gf_folder_check(f, remember, &r, NULL, &err));
    assert_int_equal(r.n, 0);
    gf_test_write_file(gf_test_in(path, "grouperfish.store"), "damaged");
    assert_ok(gf_folder_check(f, remember, &r, NULL, &err));
    assert_int_equal(r.n, 1);
    assert_non_null(strstr(r.first, "marker is damaged"));
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_folder_check(f, remember, &r, &cancel, &err));
    gf_folder_release(f);
}

/* The size is that of all files: of the store's folder and of its database. */
static void sums_the_sizes(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = gf_test_store_make();
    uint64_t bytes = 0, more = 0;
    assert_ok(gf_test_hold(path, false, &f, &err));
    assert_ok(gf_folder_size(f, &bytes, &err));
    gf_test_write_file(gf_test_in(path, "db/000099.log"), "0123456789");
    gf_test_write_file(gf_test_in(path, "notes"), "01234");
    assert_ok(gf_folder_size(f, &more, &err));
    assert_int_equal(more, bytes + 15);
    gf_folder_release(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_files_are_noticed),
        cmocka_unit_test(a_check_tells_of_the_marker),
        cmocka_unit_test(sums_the_sizes),
    };
    return cmocka_run_group_tests_name("folder_check", tests, NULL, NULL);
}
