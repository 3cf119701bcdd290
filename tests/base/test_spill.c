#include "base/spill.h"
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned names_in(const char *folder)
{
    unsigned n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* . and .. */
}

static void test_parts(void **state)
{
    (void)state;
    gf_error err;
    gf_spill *s;
    char read[8];
    assert_ok(gf_spill_create(gf_test_folder(), &s, &err));
    assert_ok(gf_spill_write(s, 5, "behind", 6, &err));
    assert_ok(gf_spill_write(s, 0, "first", 5, &err));
    assert_ok(gf_spill_read(s, 3, read, 5, &err));
    assert_memory_equal(read, "stbeh", 5);
    assert_ok(gf_spill_read(s, 11, read, 0, &err));
    assert_status(GF_EIO, gf_spill_read(s, 8, read, 8, &err));
    gf_spill_free(s);
    gf_spill_free(NULL);
}

/* Nothing is ever to be cleared away, not even after a kill. */
static void test_no_name(void **state)
{
    (void)state;
    const char *folder = gf_test_folder();
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        gf_spill *s;
        bool ok = gf_spill_create(folder, &s, NULL) == GF_OK &&
                  gf_spill_write(s, 1 << 20, "x", 1, NULL) == GF_OK;
        if (write(told[1], ok ? "y" : "n", 1) == 1) pause();
        _exit(1);
    }
    char answer;
    assert_int_equal(read(told[0], &answer, 1), 1);
    assert_int_equal(answer, 'y');
    assert_int_equal(names_in(folder), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(names_in(folder), 0);
}

static void test_failures(void **state)
{
    (void)state;
    gf_error err;
    gf_spill *s;
    assert_status(GF_EIO, gf_spill_create("/no/such/folder", &s, &err));
    assert_non_null(strstr(err.message, "in /no/such/folder cannot be made"));
    assert_non_null(strstr(err.message, "No such file"));

    /* As a full disk does: the write ends with a message. */
    assert_ok(gf_spill_create(gf_test_folder(), &s, &err));
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = (struct rlimit){4096, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    char bytes[5000] = {0};
    gf_status st = gf_spill_write(s, 0, bytes, sizeof bytes, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_status(GF_EIO, st);
    assert_non_null(strstr(err.message, "File too large"));
    gf_spill_free(s);
}

static gf_status create(void *context, gf_error *err)
{
    gf_spill *s = NULL;
    gf_status st = gf_spill_create(context, &s, err);
    gf_spill_free(s);
    return st;
}

static void test_sweep(void **state)
{
    (void)state;
    gf_test_sweep(create, NULL, (void *)gf_test_folder());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_no_name),
                                       cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
