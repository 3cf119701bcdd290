/* Whom a store's files are for, and links in a store that lead to files of somebody's. */
#include "tests/storage/store.h"

#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- for their owner alone ------------------------------------------------------------------- */

static unsigned mode_of(const char *path)
{
    struct stat s;
    assert_int_equal(lstat(path, &s), 0);
    return s.st_mode & 07777;
}

/* Every file in the folder has that mode, and there are some. */
static void modes_are(const char *folder, unsigned mode)
{
    int n = 0;
    char path[800];
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (gf_file_is_folder(path)) continue;
        if (mode_of(path) != mode) fail_msg("%s has mode %o", path, mode_of(path));
        n++;
    }
    closedir(dir);
    assert_in_range(n, 2, 100);
}

static void put_much(const char *path)
{
    gf_error err;
    gf_test_store s;
    gf_table *t;
    static char value[300000];
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    assert_ok(gf_test_put(s.db, t, gf_test_key("a"), 0, "q", GF_SLICE("kept"), 0, &err));
    gf_slice much = gf_slice_of(value, sizeof value);
    assert_ok(gf_test_put(s.db, t, gf_test_key("b"), 0, "q", much, 0, &err));
    gf_test_store_close(&s);
}

static void files_are_for_their_owner(void **state)
{
    (void)state;
    mode_t before = umask(0);
    char path[512];
    snprintf(path, sizeof path, "%s/store", gf_test_folder());
    for (int round = 0; round < 3; round++) {
        put_much(path);
        assert_int_equal(mode_of(path), 0700);
        assert_int_equal(mode_of(gf_test_in(path, "db")), 0700);
        modes_are(path, 0600);
        modes_are(gf_test_in(path, "db"), 0600);
    }
    umask(before);
}

/* Whoever opens a store to a group, or has an older one that is, keeps it so. */
static void files_of_a_group_stay_so(void **state)
{
    (void)state;
    char command[600];
    const char *path = gf_test_store_make();
    snprintf(command, sizeof command, "chmod -R g+rX '%s'", path);
    assert_int_equal(system(command), 0);
    for (int round = 0; round < 3; round++) {
        put_much(path);
        modes_are(gf_test_in(path, "db"), 0640);
    }
}

/* ---- links ----------------------------------------------------------------------------------- */

static const char *make_victim(void)
{
    const char *victim = gf_test_in(gf_test_folder(), "diary");
    gf_test_write_file(victim, "mine");
    return victim;
}

static void is_unharmed(const char *victim)
{
    gf_error err;
    gf_buffer content = {0};
    assert_ok(gf_file_read(victim, &content, &err));
    assert_slice(gf_buffer_view(&content), "mine");
    gf_buffer_release(&content);
}

/* Every file that a process makes or writes on in a store, as a link, and as a second name. */
static void nothing_is_written_through_a_link(void **state)
{
    (void)state;
    static const char *const names[] = {"lock",
                                        "room",
                                        "grouperfish.store.new",
                                        "db/LOG",
                                        "db/LOG.old",
                                        "db/LOCK",
                                        "db/000004.log",
                                        "db/000005.log",
                                        "db/000006.log",
                                        "db/000007.log",
                                        "db/000008.log",
                                        "db/000003.ldb",
                                        "db/000004.ldb",
                                        "db/000005.ldb",
                                        "db/000006.ldb",
                                        "db/000007.ldb",
                                        "db/MANIFEST-000003",
                                        "db/MANIFEST-000004",
                                        "db/MANIFEST-000005",
                                        "db/MANIFEST-000006",
                                        "db/000004.dbtmp",
                                        "db/000005.dbtmp",
                                        "db/000006.dbtmp"};
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        gf_error err;
        gf_test_store s;
        const char *name = names[i / 2], *victim = make_victim();
        const char *path = gf_test_store_make(), *place = gf_test_in(path, name);
        bool is_lock = strcmp(name, "lock") == 0 || strcmp(name, "db/LOCK") == 0;
        if (unlink(place) == 0 && !is_lock && !strstr(name, "LOG")) continue; /* it is needed */
        assert_int_equal(i % 2 ? link(victim, place) : symlink(victim, place), 0);
        if (strstr(name, ".new")) {
            assert_int_equal(unlink(gf_test_in(path, "grouperfish.store")), 0);
        }
        gf_status st = gf_test_store_open(&s, path, &err);
        if (is_lock) {
            assert_status(GF_EIO, st);
            assert_non_null(strstr(err.message, "is a link, or no plain file"));
            assert_int_equal(unlink(place), 0);
        } else {
            if (st != GF_OK) fail_msg("%s: %s", name, err.message);
            assert_ok(gf_folder_check_room(s.folder, &err));
            gf_test_store_close(&s);
        }
        is_unharmed(victim);
        put_much(path);
        put_much(path);
        is_unharmed(victim);
        gf_test_store_has_its_row(path);
    }
}

static void journals_are_not_cut_through_a_link(void **state)
{
    (void)state;
    for (int hard = 0; hard < 2; hard++) {
        gf_error err;
        gf_test_store s;
        const char *victim = make_victim(), *path = gf_test_store_make();
        const char *place = gf_test_in(path, "db/LOG");
        assert_ok(gf_test_store_open(&s, path, &err));
        assert_int_equal(unlink(place), 0);
        assert_int_equal(hard ? link(victim, place) : symlink(victim, place), 0);
        assert_status(GF_EIO, gf_folder_clear_journals(s.folder, &err));
        is_unharmed(victim);
        assert_int_equal(unlink(place), 0);
        assert_ok(gf_folder_clear_journals(s.folder, &err));
        gf_test_store_close(&s);
    }
}

/* LevelDB removes files of its own kind that it does not know. */
static void another_database_is_not_opened_through_a_link(void **state)
{
    (void)state;
    gf_error err;
    gf_test_store s;
    const char *path = gf_test_store_make(), *other = gf_test_store_make();
    assert_int_equal(rename(gf_test_in(path, "db"), gf_test_in(path, "db.new")), 0);
    assert_int_equal(symlink(gf_test_in(other, "db"), gf_test_in(path, "db")), 0);
    gf_test_write_file(gf_test_in(other, "db/000099.ldb"), "mine");
    assert_status(GF_EINVAL, gf_test_store_open(&s, path, &err));
    assert_non_null(strstr(err.message, "db is a link"));
    is_unharmed(gf_test_in(other, "db/000099.ldb"));

    const char *third = gf_test_folder(); /* a half-made store is removed before one is made */
    assert_int_equal(symlink(gf_test_in(other, "db"), gf_test_in(third, "db.new")), 0);
    assert_status(GF_EIO, gf_test_store_open(&s, third, &err));
    assert_true(gf_file_exists(gf_test_in(other, "db/CURRENT")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_for_their_owner),
        cmocka_unit_test(files_of_a_group_stay_so),
        cmocka_unit_test(nothing_is_written_through_a_link),
        cmocka_unit_test(journals_are_not_cut_through_a_link),
        cmocka_unit_test(another_database_is_not_opened_through_a_link),
    };
    return cmocka_run_group_tests_name("folder_private", tests, NULL, NULL);
}
