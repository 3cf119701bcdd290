#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The path of a name in a folder; valid for the next 63 calls. */
static const char *in(const char *folder, const char *name)
{
    static char path[64][4096];
    static unsigned next;
    char *to = path[next++ % 64];
    snprintf(to, sizeof path[0], "%s/%s", folder, name);
    return to;
}

static void check_content(const char *path, gf_slice expected)
{
    gf_error err;
    gf_buffer b = {0};
    assert_ok(gf_file_read(path, &b, &err));
    assert_true(gf_slice_equal(gf_buffer_view(&b), expected));
    gf_buffer_release(&b);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    const char *path = in(gf_test_folder(), "file");
    gf_buffer content = {0};
    const size_t sizes[] = {0, 1, 65535, 65536, 65537, 1000000, 10};
    for (size_t i = 0; i < 7; i++) {
        gf_buffer_reset(&content);
        for (size_t at = 0; at < sizes[i]; at++)
            gf_buffer_byte(&content, (char)gf_random_below(&r, 256));
        assert_ok(gf_file_write(path, gf_buffer_view(&content), &err));
        check_content(path, gf_buffer_view(&content));
    }
    assert_ok(gf_file_write(path, (gf_slice){NULL, 0}, &err));
    check_content(path, GF_SLICE(""));
    gf_buffer_release(&content);
}

static void reading_appends(void **state)
{
    (void)state;
    gf_error err;
    const char *path = in(gf_test_folder(), "file");
    assert_ok(gf_file_write(path, GF_SLICE("world"), &err));
    gf_buffer b = {0};
    gf_buffer_str(&b, "hello ");
    assert_ok(gf_file_read(path, &b, &err));
    assert_slice(gf_buffer_view(&b), "hello world");
    gf_buffer_release(&b);
}

/* A file of `size` bytes goes into a buffer of that maximum, and not into one of a byte less. */
static void the_maximum_is_exact(void **state)
{
    (void)state;
    gf_error err;
    const char *path = in(gf_test_folder(), "file");
    const size_t sizes[] = {1, 10, 65535, 65536, 65537, 200000};
    gf_buffer content = {0};
    for (size_t i = 0; i < 6; i++) {
        gf_buffer_reset(&content);
        while (content.len < sizes[i])
            gf_buffer_byte(&content, 'x');
        assert_ok(gf_file_write(path, gf_buffer_view(&content), &err));
        gf_buffer b;
        for (size_t room = 0; room < 3; room++) {
            gf_buffer_init(&b, sizes[i] + room);
            assert_ok(gf_file_read(path, &b, &err));
            assert_int_equal(b.len, sizes[i]);
            gf_buffer_release(&b);
        }
        gf_buffer_init(&b, sizes[i] + 2);
        gf_buffer_str(&b, "abc");
        assert_status(GF_ELIMIT, gf_file_read(path, &b, &err));
        assert_slice(gf_buffer_view(&b), "abc");
        assert_status(GF_ELIMIT, gf_buffer_check(&b, &err));
        gf_buffer_release(&b);
    }
    gf_buffer_release(&content);
}

static void what_cannot_be_read_is_told(void **state)
{
    (void)state;
    gf_error err;
    const char *folder = gf_test_folder();
    gf_buffer b = {0};
    gf_buffer_str(&b, "before");
    assert_status(GF_ENOTFOUND, gf_file_read(in(folder, "absent"), &b, &err));
    assert_int_equal(err.status, GF_ENOTFOUND);
    assert_non_null(strstr(err.message, "/absent: No such file or directory"));
    assert_status(GF_ENOTFOUND, gf_file_read(in(folder, "absent"), &b, NULL));
    assert_status(GF_ENOTFOUND, gf_file_read("", &b, &err));
    assert_status(GF_EIO, gf_file_read(folder, &b, &err));
    assert_non_null(strstr(err.message, "Is a directory"));
    assert_slice(gf_buffer_view(&b), "before");
    assert_ok(gf_buffer_check(&b, &err));
    gf_buffer_release(&b);
}

/* A write that cannot be done, for four reasons: the old content stays and no neighbour is left. */
static void a_failed_write_leaves_the_old(void **state)
{
    (void)state;
    gf_error err;
    const char *folder = gf_test_folder(), *path = in(folder, "file");
    assert_ok(gf_file_write(path, GF_SLICE("old"), &err));

    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    static char big[5000];
    gf_status st = gf_file_write(path, gf_slice_of(big, sizeof big), &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(st, GF_EIO);
    assert_non_null(strstr(err.message, "File too large"));
    check_content(path, GF_SLICE("old"));
    assert_false(gf_file_exists(in(folder, "file.new")));

    assert_status(GF_EIO, gf_file_write(in(folder, "absent/file"), GF_SLICE("new"), &err));
    assert_int_equal(mkdir(in(folder, "folder"), 0777), 0);
    assert_status(GF_EIO, gf_file_write(in(folder, "folder"), GF_SLICE("new"), &err));
    assert_true(gf_file_is_folder(in(folder, "folder")));
    assert_false(gf_file_exists(in(folder, "folder.new")));
    assert_int_equal(mkdir(in(folder, "file.new"), 0777), 0);
    assert_status(GF_EIO, gf_file_write(path, GF_SLICE("new"), NULL));
    check_content(path, GF_SLICE("old"));
}

static void a_left_over_neighbour_is_overwritten(void **state)
{
    (void)state;
    gf_error err;
    const char *folder = gf_test_folder();
    assert_ok(gf_file_write(in(folder, "file.new"), GF_SLICE("left over by a crash"), &err));
    assert_ok(gf_file_write(in(folder, "file"), GF_SLICE("new"), &err));
    check_content(in(folder, "file"), GF_SLICE("new"));
    assert_false(gf_file_exists(in(folder, "file.new")));
}

/* A child writes two contents in turn until it is killed: the file is one of them, whole. */
static void killed_writers_leave_whole_files(void **state)
{
    (void)state;
    gf_error err;
    static char a[300000], b[200001];
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    gf_slice first = gf_slice_of(a, sizeof a), second = gf_slice_of(b, sizeof b);
    const char *path = in(gf_test_folder(), "file");
    assert_ok(gf_file_write(path, first, &err));
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            for (;;)
                if (gf_file_write(path, second, NULL) || gf_file_write(path, first, NULL)) _exit(1);
        usleep((useconds_t)(1000 + round * 1700));
        int how;
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how));
        gf_buffer content = {0};
        assert_ok(gf_file_read(path, &content, &err));
        gf_slice read = gf_buffer_view(&content);
        assert_true(gf_slice_equal(read, first) || gf_slice_equal(read, second));
        gf_buffer_release(&content);
    }
}

static void relative_paths_work(void **state)
{
    (void)state;
    gf_error err;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(gf_test_folder()), 0);
    assert_ok(gf_file_write("file", GF_SLICE("here"), &err));
    check_content("file", GF_SLICE("here"));
    assert_ok(gf_file_make_folders("one/two", &err));
    assert_true(gf_file_is_folder("one/two"));
    assert_ok(gf_file_write("one/file", GF_SLICE("there"), &err));
    check_content("./one//file", GF_SLICE("there"));
    assert_int_equal(chdir(before), 0);
}

static void makes_missing_folders(void **state)
{
    (void)state;
    gf_error err;
    const char *folder = gf_test_folder();
    const char *names[] = {"a/b/c", "a/b/c", "a/b/", "d//e", "/f/"};
    for (size_t i = 0; i < 5; i++) {
        assert_ok(gf_file_make_folders(in(folder, names[i]), &err));
        assert_true(gf_file_is_folder(in(folder, names[i])));
        assert_ok(gf_file_sync_folder(in(folder, names[i]), &err));
    }
    assert_ok(gf_file_make_folders("/", &err));
    assert_ok(gf_file_write(in(folder, "file"), GF_SLICE("x"), &err));
    assert_status(GF_EIO, gf_file_make_folders(in(folder, "file"), &err));
    assert_status(GF_EIO, gf_file_make_folders(in(folder, "file/a"), &err));
    assert_non_null(strstr(err.message, "is not a folder"));
    assert_status(GF_EIO, gf_file_sync_folder(in(folder, "file"), &err));
    assert_status(GF_EIO, gf_file_sync_folder(in(folder, "absent"), NULL));
    char *empty = gf_copy_string("", 0); /* of one byte, so that the sanitizer sees its end */
    assert_status(GF_EIO, gf_file_make_folders(empty, &err));
    gf_free(empty);
}

static void tells_files_from_folders(void **state)
{
    (void)state;
    gf_error err;
    const char *folder = gf_test_folder(), *path = in(folder, "file");
    assert_false(gf_file_exists(path));
    assert_ok(gf_file_write(path, GF_SLICE("x"), &err));
    assert_true(gf_file_exists(path));
    assert_false(gf_file_is_folder(path));
    assert_true(gf_file_exists(folder) && gf_file_is_folder(folder));
    assert_false(gf_file_is_folder(in(folder, "absent")));
}

static void a_secret_is_for_its_owner_alone(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer b = {.max = 8};
    const char *path = in(gf_test_folder(), "key"), *pipe = in(gf_test_folder(), "pipe");
    assert_int_equal(gf_file_read_secret(path, &b, &err), GF_ENOTFOUND);
    assert_ok(gf_file_write(path, GF_SLICE("secret"), &err));
    for (mode_t mode = 0601; mode < 0700; mode++) {
        if ((mode & 077) == 0) continue;
        assert_int_equal(chmod(path, mode), 0);
        assert_int_equal(gf_file_read_secret(path, &b, &err), GF_EINVAL);
        assert_non_null(strstr(err.message, "chmod 600"));
        assert_int_equal(b.len, 0);
    }
    assert_int_equal(chmod(path, 0600), 0);
    assert_ok(gf_file_read_secret(path, &b, &err));
    assert_true(gf_slice_equal(gf_buffer_view(&b), GF_SLICE("secret")));
    assert_int_equal(gf_file_read_secret(path, &b, &err), GF_ELIMIT);
    assert_int_equal(b.len, 6);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(gf_file_read_secret(pipe, &b, &err), GF_EINVAL);
    gf_buffer_release(&b);
}

static gf_status write_new(void *path, gf_error *err)
{
    return gf_file_write(path, GF_SLICE("new"), err);
}

static void still_old(void *path)
{
    check_content(path, GF_SLICE("old"));
}

static gf_status make_deep(void *path, gf_error *err)
{
    return gf_file_make_folders(path, err);
}

static gf_status read_much(void *path, gf_error *err)
{
    gf_buffer b = {0};
    gf_status st = gf_file_read(path, &b, err);
    assert_int_equal(b.len, st == GF_OK ? 500000 : 0);
    gf_buffer_release(&b);
    return st;
}

static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    gf_error err;
    const char *folder = gf_test_folder();
    char path[4096], deep[4096];
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(deep, sizeof deep, "%s/a/b/c", folder);
    assert_ok(gf_file_write(path, GF_SLICE("old"), &err));
    gf_test_sweep(write_new, still_old, path);
    check_content(path, GF_SLICE("new"));
    gf_test_sweep(make_deep, NULL, deep);
    assert_true(gf_file_is_folder(deep));
    static char much[500000];
    assert_ok(gf_file_write(path, gf_slice_of(much, sizeof much), &err));
    gf_test_sweep(read_much, NULL, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(reading_appends),
        cmocka_unit_test(the_maximum_is_exact),
        cmocka_unit_test(what_cannot_be_read_is_told),
        cmocka_unit_test(a_failed_write_leaves_the_old),
        cmocka_unit_test(a_left_over_neighbour_is_overwritten),
        cmocka_unit_test(killed_writers_leave_whole_files),
        cmocka_unit_test(relative_paths_work),
        cmocka_unit_test(makes_missing_folders),
        cmocka_unit_test(tells_files_from_folders),
        cmocka_unit_test(a_secret_is_for_its_owner_alone),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
