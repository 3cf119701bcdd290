/* A process holds a store: the message that others get, and how long they wait. */
#include "tests/storage/store.h"

#include "storage/leveldb/backend.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process that holds the store until a byte comes; what it says is read by the caller. */
typedef struct holder {
    pid_t pid;
    int ready, go_on;
} holder;

static holder start_holder(const char *path, const char *purpose)
{
    int ready[2], go_on[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go_on), 0);
    holder h = {.pid = fork(), .ready = ready[0], .go_on = go_on[1]};
    char c = 'x';
    if (h.pid == 0) {
        gf_folder *f;
        gf_hold_options o = {.create = true, .purpose = purpose};
        close(go_on[1]);
        if (gf_folder_hold(path, &o, &f, NULL) != GF_OK) c = '!';
        if (write(ready[1], &c, 1) != 1) _exit(1);
        if (read(go_on[0], &c, 1) < 0) _exit(1);
        _exit(0);
    }
    close(ready[1]);
    close(go_on[0]);
    assert_int_equal(read(h.ready, &c, 1), 1);
    assert_int_equal(c, 'x');
    return h;
}

static void end_holder(holder *h)
{
    int how;
    close(h->go_on);
    close(h->ready);
    waitpid(h->pid, &how, 0);
}

static void a_second_holder_is_told_of_the_first(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    char want[512], longest[512];
    const char *path = gf_test_store_make();
    holder h = start_holder(path, "rebuild");
    assert_status(GF_EBUSY, gf_test_hold(path, true, &f, &err));
    snprintf(want, sizeof want,
             "%s is held by process %ld (grouperfish rebuild); try again when it has ended", path,
             (long)h.pid);
    assert_string_equal(err.message, want);
    end_holder(&h);
    assert_ok(gf_test_hold(path, false, &f, &err));
    gf_folder *again;
    assert_status(GF_EBUSY, gf_test_hold(path, false, &again, &err)); /* in one process as well */
    gf_folder_release(f);

    memset(longest, 'p', sizeof longest - 1); /* a purpose that does not fit is cut */
    longest[sizeof longest - 1] = '\0';
    h = start_holder(path, longest);
    assert_status(GF_EBUSY, gf_test_hold(path, false, &f, &err));
    assert_non_null(strstr(err.message, "(grouperfish pppp"));
    end_holder(&h);
    h = start_holder(path, NULL);
    assert_status(GF_EBUSY, gf_test_hold(path, false, &f, &err));
    assert_non_null(strstr(err.message, "(grouperfish)"));
    end_holder(&h);
}

static void the_lock_goes_with_its_process(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = gf_test_store_make();
    holder h = start_holder(path, "put");
    assert_int_equal(kill(h.pid, SIGKILL), 0);
    end_holder(&h);
    assert_ok(gf_test_hold(path, false, &f, &err));
    gf_folder_release(f);
}

static void waits_as_long_as_it_was_told(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = gf_test_store_make();
    holder h = start_holder(path, "put");
    gf_hold_options o = {.wait_seconds = 0.2};
    assert_status(GF_EBUSY, gf_folder_hold(path, &o, &f, &err));
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    o = (gf_hold_options){.wait_seconds = 1000, .cancel = &cancel};
    assert_status(GF_ECANCELLED, gf_folder_hold(path, &o, &f, &err));
    pid_t other = fork();
    if (other == 0) { /* ends the holder while the parent waits for it */
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        _exit(kill(h.pid, SIGKILL) == 0 ? 0 : 1);
    }
    o = (gf_hold_options){.wait_seconds = 30};
    assert_ok(gf_folder_hold(path, &o, &f, &err));
    gf_folder_release(f);
    int how;
    waitpid(other, &how, 0);
    end_holder(&h);
}

/* Who opens db/ past the folder's lock meets LevelDB's own. */
static void leveldb_has_a_lock_of_its_own(void **state)
{
    (void)state;
    gf_error err;
    gf_test_store s;
    gf_backend *backend = NULL;
    const char *path = gf_test_store_make();
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_status(GF_EBUSY,
                  gf_leveldb_open(gf_test_in(path, "db"), GF_LEVELDB_EXISTING, &backend, &err));
    assert_status(GF_EBUSY, gf_folder_open(s.folder, &s.db, &err));
    pid_t other = fork();
    if (other == 0)
        _exit(gf_leveldb_open(gf_test_in(path, "db"), GF_LEVELDB_EXISTING, &backend, NULL) !=
              GF_EBUSY);
    int how;
    waitpid(other, &how, 0);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    assert_null(backend);
    gf_test_store_close(&s);
}

/* In a child that is not root, since root may write everywhere. */
static void a_folder_without_rights_says_so(void **state)
{
    (void)state;
    const char *path = gf_test_store_make(), *empty = gf_test_folder();
    assert_int_equal(chmod(path, 0555), 0);
    assert_int_equal(chmod(gf_test_in(path, "lock"), 0444), 0);
    assert_int_equal(chmod(gf_test_in(path, "grouperfish.store"), 0444), 0);
    assert_int_equal(chmod(empty, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        gf_error err;
        gf_folder *f;
        if (getuid() == 0 && setuid(65534) != 0) _exit(2);
        if (gf_test_hold(path, false, &f, &err) != GF_EIO) _exit(3);
        if (!strstr(err.message, "Permission denied")) _exit(4);
        if (gf_test_hold(empty, true, &f, &err) != GF_EIO) _exit(5);
        if (!strstr(err.message, "Permission denied")) _exit(6);
        _exit(0);
    }
    int how;
    waitpid(child, &how, 0);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(chmod(empty, 0755), 0);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    assert_int_equal(chmod(gf_test_in(path, "lock"), 0644), 0);
    gf_test_store_has_its_row(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_holder_is_told_of_the_first),
        cmocka_unit_test(the_lock_goes_with_its_process),
        cmocka_unit_test(waits_as_long_as_it_was_told),
        cmocka_unit_test(leveldb_has_a_lock_of_its_own),
        cmocka_unit_test(a_folder_without_rights_says_so),
    };
    return cmocka_run_group_tests_name("folder_holders", tests, NULL, NULL);
}
