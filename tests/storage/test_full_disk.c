/*
 * A disk that gets full: the write fails with the disk's words, no further one is taken, and all
 * that was acknowledged is there once there is room again. On a small file system of its own where
 * this process may mount one, and with a limit on the size of files.
 */
#include "tests/storage/store.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
static const gf_family families[] = {
    {"wide", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false}};
static const gf_schema schema = {"table", parts, 1, families, 1};

enum { THREADS = 4, MOST = 4000, VALUE = 20000, SKIPPED = 77, PIECES = 200, PIECE = 64 << 10 };

/* The children of this test report by their exit status: cmocka belongs to the parent. */
static void must(bool holds, const char *what, const char *message)
{
    if (holds) return;
    fprintf(stderr, "in the child: %s (%s)\n", what, message);
    _exit(1);
}

#define MUST(condition) must(condition, #condition, err.message)

typedef struct writers {
    gf_database *db;
    gf_table *t;
    const char *ballast;     /* a folder of files that are removed one by one; NULL: none */
    atomic_int next;         /* number of the next thread */
    atomic_bool full, ended; /* a write failed; all writers are done */
    bool acknowledged[THREADS][MOST]; /* row i of thread n was written */
    atomic_int wrong;                 /* failures with another status than GF_EIO */
    char first[GF_ERROR_MESSAGE], later[GF_ERROR_MESSAGE]; /* messages */
    pthread_mutex_t lock;
} writers;

static gf_slice row_key(int thread, int i)
{
    char name[32];
    snprintf(name, sizeof name, "row %d.%04d", thread, i);
    return gf_test_key(name);
}

static gf_status put_row(writers *w, gf_batch *batch, int thread, int i, gf_error *err)
{
    static const char value[VALUE];
    char number[16];
    snprintf(number, sizeof number, "%d", i);
    gf_slice key = row_key(thread, i);
    gf_batch_put(batch, w->t, key, 0, GF_SLICE("number"), gf_slice_str(number), 0);
    gf_batch_put(batch, w->t, key, 0, GF_SLICE("value"), gf_slice_of(value, VALUE), 0);
    return gf_batch_write(batch, i % 2 ? GF_SYNC_ON : GF_SYNC_OFF, err);
}

static void note_failure(writers *w, gf_status st, const char *message)
{
    pthread_mutex_lock(&w->lock);
    if (!atomic_exchange(&w->full, true)) {
        strcpy(w->first, message);
    }
    if (st != GF_EIO) atomic_fetch_add(&w->wrong, 1);
    pthread_mutex_unlock(&w->lock);
}

static void *write_until_full(void *context)
{
    writers *w = context;
    gf_error err = {GF_OK, ""};
    gf_batch *batch;
    int thread = atomic_fetch_add(&w->next, 1), failures = 0;
    MUST(gf_batch_create(w->db, &batch, &err) == GF_OK);
    for (int i = 0; i < MOST && failures < 20; i++) {
        gf_status st = put_row(w, batch, thread, i, &err);
        w->acknowledged[thread][i] = st == GF_OK;
        if (st == GF_OK) continue;
        note_failure(w, st, err.message);
        failures++;
    }
    gf_batch_free(batch);
    return NULL;
}

static void remove_piece(const char *ballast, int piece)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%d", ballast, piece);
    unlink(path);
}

/* Makes a little room the moment that there is none, again and again, while others write. */
static void *remove_ballast(void *context)
{
    writers *w = context;
    struct statvfs disk;
    for (int piece = 0; piece < PIECES && !atomic_load(&w->ended);) {
        if (statvfs(w->ballast, &disk) == 0 && disk.f_bavail == 0)
            remove_piece(w->ballast, piece++);
    }
    return NULL;
}

/* Every row that was acknowledged is there; any other as a whole or not at all. */
static void check_rows(const writers *w, gf_table *t)
{
    gf_error err = {GF_OK, ""};
    gf_row row = {0};
    for (int n = 0; n < THREADS; n++)
        for (int i = 0; i < MOST; i++) {
            gf_status st = gf_table_get(t, NULL, row_key(n, i), 1, &row, &err);
            MUST(st == GF_OK || (st == GF_ENOTFOUND && !w->acknowledged[n][i]));
            MUST(st != GF_OK || row.n_cells == 2);
            MUST(st != GF_OK || row.cells[1].value.len == VALUE);
        }
    gf_row_release(&row);
}

static void open_store(gf_test_store *s, gf_table **t, const char *path)
{
    gf_error err = {GF_OK, ""};
    MUST(gf_test_store_open(s, path, &err) == GF_OK);
    MUST(gf_table_open(s->db, &schema, t, &err) == GF_OK);
}

static void fill_disk(writers *w, const gf_test_store *s, gf_table *t, const char *words)
{
    gf_error err = {GF_OK, ""};
    pthread_t threads[THREADS], remover;
    gf_batch *batch;
    w->db = s->db;
    w->t = t;
    pthread_mutex_init(&w->lock, NULL);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, write_until_full, w) == 0);
    if (w->ballast) MUST(pthread_create(&remover, NULL, remove_ballast, w) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&w->ended, true);
    if (w->ballast) pthread_join(remover, NULL);
    MUST(atomic_load(&w->full));
    MUST(atomic_load(&w->wrong) == 0);
    must(strstr(w->first, words) != NULL, "the first failure has the disk's words", w->first);
    MUST(gf_batch_create(s->db, &batch, &err) == GF_OK);
    MUST(put_row(w, batch, 0, 0, &err) == GF_EIO);
    MUST(strstr(err.message, "open the store again") && strstr(err.message, words));
    gf_batch_free(batch);
    check_rows(w, t); /* reading goes on */
}

/* ---- a small file system --------------------------------------------------------------------- */

/* Pieces with room for a few rows each, and one large one behind them. */
static void write_ballast(const char *folder)
{
    static char block[4 << 20];
    gf_error err = {GF_OK, "ballast"};
    MUST(mkdir(folder, 0777) == 0);
    for (int piece = 0; piece <= PIECES; piece++) {
        char path[160];
        size_t n = piece < PIECES ? PIECE : sizeof block;
        snprintf(path, sizeof path, "%s/%d", folder, piece);
        FILE *f = fopen(path, "wb");
        MUST(f != NULL);
        MUST(fwrite(block, 1, n, f) == n);
        fclose(f);
    }
}

static void on_a_small_disk(const char *folder, bool ballast_goes_at_once)
{
    static writers w;
    gf_error err = {GF_OK, ""};
    gf_test_store s;
    gf_table *t;
    char store[128], ballast[128];
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", folder, "tmpfs", 0, "size=24m") != 0)
        _exit(SKIPPED);
    snprintf(store, sizeof store, "%s/store", folder);
    snprintf(ballast, sizeof ballast, "%s/ballast", folder);
    write_ballast(ballast);
    open_store(&s, &t, store);
    if (ballast_goes_at_once) w.ballast = ballast;
    fill_disk(&w, &s, t, "No space left on device");
    gf_test_store_close(&s);
    if (!ballast_goes_at_once) {
        gf_status st = gf_test_store_open(&s, store, &err); /* still full */
        MUST(st == GF_EIO && strstr(err.message, "No space left on device"));
    }
    for (int piece = 0; piece <= PIECES; piece++)
        remove_piece(ballast, piece);
    open_store(&s, &t, store);
    check_rows(&w, t);
    MUST(gf_test_put(s.db, t, row_key(9, 9), 0, "q", GF_SLICE("again"), 0, &err) == GF_OK);
    gf_test_store_close(&s);
}

/* ---- a limit on files ------------------------------------------------------------------------ */

static void with_a_limit(const char *folder, bool unused)
{
    static writers w;
    gf_test_store s;
    gf_table *t;
    gf_error err = {GF_OK, ""};
    (void)unused;
    open_store(&s, &t, folder);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit was, limit;
    MUST(getrlimit(RLIMIT_FSIZE, &was) == 0);
    limit = was;
    limit.rlim_cur = 3 << 20;
    MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    fill_disk(&w, &s, t, "File too large");
    gf_test_store_close(&s);
    MUST(setrlimit(RLIMIT_FSIZE, &was) == 0);
    open_store(&s, &t, folder);
    check_rows(&w, t);
    gf_test_store_close(&s);
}

/* ---- each in a process of its own ------------------------------------------------------------ */

static void in_child(void (*work)(const char *, bool), bool argument)
{
    int how;
    const char *folder = gf_test_folder();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        work(folder, argument);
        exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    if (WEXITSTATUS(how) == SKIPPED) {
        print_message("this process may not mount a file system: left out\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(how), 0);
}

static void a_full_disk_loses_nothing_acknowledged(void **state)
{
    (void)state;
    in_child(on_a_small_disk, false);
}

/* A write behind one that failed must not be acknowledged: it would be lost. */
static void nothing_is_acknowledged_behind_a_failure(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) /* it takes a write that waits while another one fails */
        in_child(on_a_small_disk, true);
}

static void a_file_that_may_not_grow_loses_nothing(void **state)
{
    (void)state;
    in_child(with_a_limit, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_loses_nothing_acknowledged),
        cmocka_unit_test(nothing_is_acknowledged_behind_a_failure),
        cmocka_unit_test(a_file_that_may_not_grow_loses_nothing),
    };
    return cmocka_run_group_tests_name("full_disk", tests, NULL, NULL);
}
