/*
 * LevelDB gets no memory, at each of its allocations once: the call says so, or the next one, or the
 * process ends in words where it was LevelDB's own thread; and the store is whole. Each in a process
 * of its own.
 */
#include "tests/storage/failing_new.h"
#include "tests/storage/store.h"

#include "storage/leveldb/database.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDED = 6, ROWS = 40 };

static void end(const char *why)
{
    _exit(why ? ENDED : 1);
}

/* What may come of a call: success, or a failure that is told as one of memory. */
static bool told(gf_status st, const char *what, const gf_error *err)
{
    if (st == GF_OK || st == GF_ENOTFOUND) return true;
    if ((st == GF_ENOMEM || st == GF_EIO) && *err->message) return false;
    fprintf(stderr, "%s: %s (%s)\n", what, gf_status_name(st), err->message);
    _exit(1);
}

static void put_rows(gf_database *db, gf_table *t)
{
    static char value[20000];
    for (int i = 0; i < ROWS; i++) {
        gf_error err = {GF_OK, ""};
        gf_batch *batch;
        char name[16];
        snprintf(name, sizeof name, "row %d", i % 10);
        if (!told(gf_batch_create(db, &batch, &err), "batch", &err)) continue;
        gf_batch_put(batch, t, gf_test_key(name), 0, GF_SLICE("q"),
                     gf_slice_of(value, sizeof value), 0);
        told(gf_batch_write(batch, i % 7 ? GF_SYNC_OFF : GF_SYNC_ON, &err), "write", &err);
        gf_batch_free(batch);
    }
}

static void read_rows(gf_database *db, gf_table *t)
{
    gf_error err = {GF_OK, ""};
    gf_snapshot *snapshot = NULL;
    gf_scan *scan;
    gf_row row = {0};
    told(gf_snapshot_create(db, &snapshot, &err), "snapshot", &err);
    gf_status st = gf_table_get(t, snapshot, gf_test_key("a"), 1, &row, &err);
    if (st == GF_ENOTFOUND) told(GF_ECORRUPT, "get: the row is gone", &err);
    told(st, "get", &err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = snapshot, .family = 0);
    int n = 0;
    if (told(gf_scan_open(t, &o, &scan, &err), "scan", &err)) {
        while ((st = gf_scan_next(scan, &row, &err)) == GF_OK)
            n++;
        told(st, "scan", &err);
        if (st == GF_ENOTFOUND && n == 0) told(GF_ECORRUPT, "scan: the rows are gone", &err);
        gf_scan_close(scan);
    }
    gf_row_release(&row);
    gf_snapshot_free(snapshot);
}

/* True where an allocation failed. */
static bool work(const char *path, long n)
{
    gf_error err = {GF_OK, ""};
    gf_test_store s;
    gf_table *t;
    gf_test_fail_new_at(n);
    if (told(gf_test_store_open(&s, path, &err), "open", &err)) {
        if (told(gf_table_open(s.db, &gf_test_store_schema, &t, &err), "table", &err)) {
            read_rows(s.db, t);
            put_rows(s.db, t);
            told(gf_database_compact(s.db, &err), "compact", &err);
            read_rows(s.db, t);
        }
        gf_test_store_close(&s);
    }
    return gf_test_new_has_failed();
}

/* The child's exit status; a signal is a failure, but an abort where nothing else was asked for. */
static int work_apart(const char *path, long n, bool may_abort)
{
    int how;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(work(path, n) ? 2 : 0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    if (may_abort && WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT) return ENDED;
    if (!WIFEXITED(how)) fail_msg("allocation %ld: signal %d", n, WTERMSIG(how));
    return WEXITSTATUS(how);
}

static void sweep_allocations(bool may_abort)
{
    const char *path = gf_test_store_make();
    int failed = 0, ended = 0;
    for (long n = 0;; n += n < 300 ? 1 : 1 + n / 100) {
        int code = work_apart(path, n, may_abort);
        if (code == 0) break;
        if (code != 2 && code != ENDED) fail_msg("allocation %ld: exit %d", n, code);
        failed += code == 2;
        ended += code == ENDED;
        gf_test_store_has_its_row(path);
    }
    print_message("%d processes went on, %d ended\n", failed, ended);
    assert_in_range(failed + ended, 100, 100000);
}

/* Whoever asks for it is ended, as the command does. */
static void a_process_ends_in_words(void **state)
{
    (void)state;
    gf_leveldb_set_ending(end);
    sweep_allocations(false);
}

/* Calls fail, and none waits for ever; LevelDB's own thread aborts. */
static void a_library_fails(void **state)
{
    (void)state;
    gf_leveldb_set_ending(NULL);
    sweep_allocations(true);
}

/* No room for a thread's stack: the opening says so. */
static void a_thread_may_fail(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their shadow takes more than any limit */
#endif
    int how;
    const char *path = gf_test_store_make();
    pid_t child = fork();
    if (child == 0) {
        gf_error err = {GF_OK, ""};
        gf_test_store s;
        struct rlimit none = {0, 0}, stack = {1 << 30, 1 << 30}, room = {900 << 20, 900 << 20};
        if (getuid() != 0) setrlimit(RLIMIT_NPROC, &none);
        setrlimit(RLIMIT_AS, &room);
        setrlimit(RLIMIT_STACK, &stack);
        /* The stack's limit is read once, when the program begins: its size is set as glibc does. */
        pthread_attr_t a;
        pthread_attr_init(&a);
        pthread_attr_setstacksize(&a, 1 << 30);
        pthread_setattr_default_np(&a);
        gf_status st = gf_test_store_open(&s, path, &err);
        bool right = st == GF_EIO && strstr(err.message, "cannot start a thread");
        if (!right) fprintf(stderr, "%s: %s\n", gf_status_name(st), err.message);
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    gf_test_store_has_its_row(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_ends_in_words),
        cmocka_unit_test(a_library_fails),
        cmocka_unit_test(a_thread_may_fail),
    };
    return cmocka_run_group_tests_name("no_memory", tests, NULL, NULL);
}
