#include "storage/store.h"

#include "base/file.h"
#include "storage/crc32c.h"
#include "storage/leveldb_backend.h"

#include <dirent.h>
#include <leveldb/c.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
static const gf_family families[] = {{"main", GF_PACKED, 1, 0, GF_PLAIN, NULL}};
static const gf_schema schema = {"table", parts, 1, families, 1};

/* A path in a folder (which may be such a path); ours until 8 further calls. */
static const char *in(const char *folder, const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char made[512];
    int n = snprintf(made, sizeof made, "%s/%s", folder, name);
    assert_in_range(n, 1, sizeof made - 1);
    return memcpy(paths[next++ % 8], made, (size_t)n + 1);
}

static gf_status hold(const char *path, bool create, gf_folder **f, gf_error *err)
{
    gf_hold_options o = {.create = create, .purpose = "test"};
    *f = NULL;
    gf_status st = gf_folder_hold(path, &o, f, err);
    assert_int_equal(st == GF_OK, *f != NULL);
    return st;
}

/* A store with one row, closed again. */
static const char *make_store(void)
{
    gf_error err;
    gf_test_store s;
    gf_table *t;
    const char *path = gf_test_folder();
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_true(gf_folder_is_new(s.folder));
    assert_ok(gf_table_open(s.db, &schema, &t, &err));
    assert_ok(gf_test_put(s.db, t, gf_test_key("a"), 0, "q", GF_SLICE("kept"), 0, &err));
    gf_test_store_close(&s);
    return path;
}

static void store_has_its_row(const char *path)
{
    gf_error err;
    gf_test_store s;
    gf_table *t;
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &schema, &t, &err));
    gf_test_cell_is(t, NULL, gf_test_key("a"), 0, "q", "kept");
    gf_test_store_close(&s);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

/* Remove the first file of db/ whose name has this end. */
static void remove_from_db(const char *store, const char *name_end)
{
    const char *path = in(store, "db");
    DIR *dir = opendir(path);
    assert_non_null(dir);
    int removed = 0;
    for (struct dirent *e = readdir(dir); e && !removed; e = readdir(dir))
        if (gf_slice_ends(gf_slice_str(e->d_name), gf_slice_str(name_end)))
            removed = unlink(in(path, e->d_name)) == 0;
    closedir(dir);
    assert_true(removed);
}

/* ---- making and opening -----------------------------------------------------------------------
 */

static void a_store_is_made_once(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    gf_buffer marker = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/some/where", gf_test_folder());
    assert_status(GF_ENOTFOUND, hold(path, false, &f, &err));
    assert_false(gf_file_exists(path)); /* asking makes nothing */
    assert_ok(hold(path, true, &f, &err));
    assert_true(gf_folder_is_new(f));
    gf_folder_release(f);
    assert_ok(gf_file_read(in(path, "grouperfish.store"), &marker, &err));
    char want[64];
    const char *text = "grouperfish store\nformat 1\n";
    snprintf(want, sizeof want, "%scheck %08x\n", text, gf_crc32c(0, text, strlen(text)));
    assert_slice(gf_buffer_view(&marker), want);
    assert_false(gf_file_exists(in(path, "db.new")));
    assert_ok(hold(path, true, &f, &err));
    assert_false(gf_folder_is_new(f));
    gf_folder_release(f);
    assert_ok(hold(path, false, &f, &err));
    gf_folder_release(f);
    gf_folder_release(NULL);
    gf_buffer_release(&marker);
}

static void rows_outlast_opening(void **state)
{
    (void)state;
    const char *path = make_store();
    for (int i = 0; i < 3; i++)
        store_has_its_row(path);
}

/* A process that ended in the middle of making a store leaves one of these. */
/* Names and sizes of the files in db/ whose names start so, but for LevelDB's journals. */
static void list_db(const char *store, const char *start, char *list, size_t room)
{
    struct dirent **entries;
    int n = scandir(in(store, "db"), &entries, NULL, alphasort);
    assert_true(n >= 0);
    list[0] = '\0';
    for (int i = 0; i < n; i++) {
        struct stat s;
        size_t used = strlen(list);
        gf_slice name = gf_slice_str(entries[i]->d_name);
        if (gf_slice_starts(name, gf_slice_str(start)) && !gf_slice_starts(name, GF_SLICE("LOG")) &&
            stat(in(in(store, "db"), entries[i]->d_name), &s) == 0)
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
    assert_ok(gf_table_open(s.db, &schema, &t, &err));
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
    const char *path = make_store();
    put_many(path, 'x', GF_NO_SYNC);
    list_db(path, "0", before, sizeof before);
    assert_non_null(strstr(before, ".log 0\n"));
    store_has_its_row(path); /* the MANIFEST named the first log's files, and is made anew */
    list_db(path, "", before, sizeof before);
    for (int i = 0; i < 3; i++)
        store_has_its_row(path);
    list_db(path, "", after, sizeof after);
    assert_string_equal(after, before);
    assert_non_null(strstr(before, "MANIFEST-"));
    gf_test_store s; /* what is then written goes on in that log */
    gf_table *t;
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &schema, &t, &err));
    assert_ok(gf_test_put(s.db, t, gf_test_key("b"), 0, "q", GF_SLICE("more"), 0, &err));
    gf_test_store_close(&s);
    list_db(path, "0", after, sizeof after);
    assert_null(strstr(after, ".log 0\n"));
    put_many(path, 'y', GF_NO_SYNC);
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &schema, &t, &err));
    gf_test_cell_is(t, NULL, gf_test_key("b"), 0, "q", "more");
    gf_test_store_close(&s);
    store_has_its_row(path);
}

/* Behind a record that was torn nothing may be appended: it would be lost with it. */
static void a_torn_end_is_not_written_on(void **state)
{
    (void)state;
    static const char *const torn[] = {"MANIFEST-", "0"};
    for (int i = 0; i < 2; i++) {
        gf_error err;
        char list[4096], name[64];
        const char *path = make_store();
        put_many(path, 'x', GF_NO_SYNC);
        store_has_its_row(path);
        list_db(path, torn[i], list, sizeof list);
        const char *line = i == 0 ? list : strstr(list, ".log 0\n");
        while (line > list && line[-1] != '\n')
            line--;
        assert_int_equal(sscanf(line, "%63s", name), 1);
        FILE *f = fopen(in(in(path, "db"), name), "ab");
        assert_non_null(f);
        assert_int_equal(fwrite("abcde\1", 1, 5, f), 5); /* a record's head, cut off */
        fclose(f);
        gf_test_store s;
        gf_table *t;
        for (int round = 0; round < 3; round++) {
            char key[2] = {(char)('b' + round), '\0'};
            assert_ok(gf_test_store_open(&s, path, &err));
            assert_ok(gf_table_open(s.db, &schema, &t, &err));
            assert_ok(gf_test_put(s.db, t, gf_test_key(key), 0, "q", GF_SLICE("more"), 0, &err));
            gf_test_store_close(&s);
        }
        assert_ok(gf_test_store_open(&s, path, &err));
        assert_ok(gf_table_open(s.db, &schema, &t, &err));
        gf_test_cell_is(t, NULL, gf_test_key("b"), 0, "q", "more");
        gf_test_cell_is(t, NULL, gf_test_key("d"), 0, "q", "more");
        gf_test_store_close(&s);
        store_has_its_row(path);
    }
}

static void a_half_made_store_is_finished(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = make_store();
    assert_int_equal(unlink(in(path, "grouperfish.store")), 0); /* before the marker */
    assert_status(GF_ECORRUPT, hold(path, false, &f, &err));
    assert_non_null(strstr(err.message, "marker, is missing"));
    store_has_its_row(path);
    assert_true(gf_file_exists(in(path, "grouperfish.store")));

    const char *other = gf_test_folder(); /* before the move */
    gf_test_copy_folder(in(path, "db"), in(other, "db.new"));
    assert_int_equal(unlink(in(in(other, "db.new"), "CURRENT")), 0);
    assert_ok(hold(other, true, &f, &err));
    assert_true(gf_folder_is_new(f));
    assert_false(gf_file_exists(in(other, "db.new")));
    gf_folder_release(f);
}

static void what_is_not_ours_is_left_alone(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = gf_test_folder();
    assert_int_equal(mkdir(in(path, "db"), 0777), 0);
    write_file(in(path, "db/notes.txt"), "mine");
    assert_status(GF_EINVAL, hold(path, true, &f, &err));
    assert_non_null(strstr(err.message, "is not a store"));
    assert_true(gf_file_exists(in(path, "db/notes.txt")));
    assert_false(gf_file_exists(in(path, "grouperfish.store")));

    const char *second = gf_test_folder(); /* a db.new with files of somebody else */
    assert_int_equal(mkdir(in(second, "db.new"), 0777), 0);
    write_file(in(second, "db.new/notes.txt"), "mine");
    write_file(in(second, "db.new/000005.log"), "");
    assert_status(GF_EIO, hold(second, true, &f, &err));
    assert_true(gf_file_exists(in(second, "db.new/notes.txt")));

    const char *third = gf_test_folder(); /* another program's LevelDB */
    char *message = NULL;
    leveldb_options_t *o = leveldb_options_create();
    leveldb_options_set_create_if_missing(o, 1);
    leveldb_t *db = leveldb_open(o, in(third, "db"), &message);
    assert_null(message);
    leveldb_close(db);
    leveldb_options_destroy(o);
    assert_status(GF_ECORRUPT, hold(third, true, &f, &err));
    assert_non_null(strstr(err.message, "not ours"));
    assert_false(gf_file_exists(in(third, "grouperfish.store")));

    const char *fourth = gf_test_folder(); /* somebody's texts: not even a lock is put there */
    write_file(in(fourth, "notes.txt"), "mine");
    assert_status(GF_EINVAL, hold(fourth, true, &f, &err));
    assert_non_null(strstr(err.message, "holds other things"));
    assert_false(gf_file_exists(in(fourth, "lock")));

    write_file(in(third, "file"), "");
    assert_status(GF_EIO, hold(in(third, "file"), true, &f, &err)); /* no folder at all */
}

/* ---- the marker -------------------------------------------------------------------------------
 */

static void marker_is(const char *path, const char *text, bool right_check)
{
    char marker[256];
    uint32_t crc = gf_crc32c(0, text, strlen(text)) + (right_check ? 0 : 1);
    snprintf(marker, sizeof marker, "%scheck %08x\n", text, crc);
    write_file(in(path, "grouperfish.store"), marker);
}

static void a_newer_or_damaged_marker_is_refused(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = make_store();
    marker_is(path, "grouperfish store\nformat 2\n", true);
    for (int create = 0; create < 2; create++) {
        assert_status(GF_EINVAL, hold(path, create, &f, &err));
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
        assert_status(GF_ECORRUPT, hold(path, true, &f, &err));
    }
    write_file(in(path, "grouperfish.store"), "");
    assert_status(GF_ECORRUPT, hold(path, true, &f, &err));
    char large[8192];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    write_file(in(path, "grouperfish.store"), large);
    assert_status(GF_ECORRUPT, hold(path, true, &f, &err));
    marker_is(path, "grouperfish store\nformat 1\n", true);
    store_has_its_row(path);
}

/* ---- missing files ----------------------------------------------------------------------------
 */

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
        assert_ok(hold(path, create, &f, &err));
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
    const char *path = make_store();
    store_has_its_row(path); /* its log becomes a table */
    const char *copy = gf_test_folder();
    gf_test_copy_folder(path, copy);
    remove_from_db(copy, "CURRENT");
    is_refused(copy, "CURRENT: the file is missing");

    copy = gf_test_folder();
    gf_test_copy_folder(path, copy);
    gf_buffer current = {0};
    assert_ok(gf_file_read(in(copy, "db/CURRENT"), &current, &err));
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
    assert_int_equal(rename(in(copy, "db"), in(copy, "away")), 0);
    gf_folder *f;
    reports r = {0};
    gf_database *db = NULL;
    assert_ok(hold(copy, true, &f, &err));
    assert_status(GF_ECORRUPT, gf_folder_open(f, &db, &err));
    assert_non_null(strstr(err.message, "the store's database is missing"));
    assert_ok(gf_folder_check(f, remember, &r, NULL, &err));
    assert_string_equal(r.first, "db: the store's database is missing");
    gf_folder_release(f);
    assert_int_equal(rename(in(copy, "away"), in(copy, "db")), 0);
    store_has_its_row(copy);
}

static void a_check_tells_of_the_marker(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    reports r = {0};
    const char *path = make_store();
    assert_ok(hold(path, false, &f, &err));
    assert_ok(gf_folder_check(f, remember, &r, NULL, &err));
    assert_int_equal(r.n, 0);
    write_file(in(path, "grouperfish.store"), "damaged");
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
    const char *path = make_store();
    uint64_t bytes = 0, more = 0;
    assert_ok(hold(path, false, &f, &err));
    assert_ok(gf_folder_size(f, &bytes, &err));
    write_file(in(path, "db/000099.log"), "0123456789");
    write_file(in(path, "notes"), "01234");
    assert_ok(gf_folder_size(f, &more, &err));
    assert_int_equal(more, bytes + 15);
    gf_folder_release(f);
}

/* ---- holders ----------------------------------------------------------------------------------
 */

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
    const char *path = make_store();
    holder h = start_holder(path, "rebuild");
    assert_status(GF_EBUSY, hold(path, true, &f, &err));
    snprintf(want, sizeof want,
             "%s is held by process %ld (grouperfish rebuild); try again when it has ended", path,
             (long)h.pid);
    assert_string_equal(err.message, want);
    end_holder(&h);
    assert_ok(hold(path, false, &f, &err));
    gf_folder *again;
    assert_status(GF_EBUSY, hold(path, false, &again, &err)); /* in one process as well */
    gf_folder_release(f);

    memset(longest, 'p', sizeof longest - 1); /* a purpose that does not fit is cut */
    longest[sizeof longest - 1] = '\0';
    h = start_holder(path, longest);
    assert_status(GF_EBUSY, hold(path, false, &f, &err));
    assert_non_null(strstr(err.message, "(grouperfish pppp"));
    end_holder(&h);
    h = start_holder(path, NULL);
    assert_status(GF_EBUSY, hold(path, false, &f, &err));
    assert_non_null(strstr(err.message, "(grouperfish)"));
    end_holder(&h);
}

static void the_lock_goes_with_its_process(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = make_store();
    holder h = start_holder(path, "put");
    assert_int_equal(kill(h.pid, SIGKILL), 0);
    end_holder(&h);
    assert_ok(hold(path, false, &f, &err));
    gf_folder_release(f);
}

static void waits_as_long_as_it_was_told(void **state)
{
    (void)state;
    gf_error err;
    gf_folder *f;
    const char *path = make_store();
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
    const char *path = make_store();
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_status(GF_EBUSY, gf_leveldb_open(in(path, "db"), GF_LEVELDB_EXISTING, &backend, &err));
    assert_status(GF_EBUSY, gf_folder_open(s.folder, &s.db, &err));
    pid_t other = fork();
    if (other == 0)
        _exit(gf_leveldb_open(in(path, "db"), GF_LEVELDB_EXISTING, &backend, NULL) != GF_EBUSY);
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
    const char *path = make_store(), *empty = gf_test_folder();
    assert_int_equal(chmod(path, 0555), 0);
    assert_int_equal(chmod(in(path, "lock"), 0444), 0);
    assert_int_equal(chmod(in(path, "grouperfish.store"), 0444), 0);
    assert_int_equal(chmod(empty, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        gf_error err;
        gf_folder *f;
        if (getuid() == 0 && setuid(65534) != 0) _exit(2);
        if (hold(path, false, &f, &err) != GF_EIO) _exit(3);
        if (!strstr(err.message, "Permission denied")) _exit(4);
        if (hold(empty, true, &f, &err) != GF_EIO) _exit(5);
        if (!strstr(err.message, "Permission denied")) _exit(6);
        _exit(0);
    }
    int how;
    waitpid(child, &how, 0);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(chmod(empty, 0755), 0);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    assert_int_equal(chmod(in(path, "lock"), 0644), 0);
    store_has_its_row(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_is_made_once),
        cmocka_unit_test(rows_outlast_opening),
        cmocka_unit_test(a_store_closed_cleanly_is_opened_as_it_is),
        cmocka_unit_test(a_torn_end_is_not_written_on),
        cmocka_unit_test(a_half_made_store_is_finished),
        cmocka_unit_test(what_is_not_ours_is_left_alone),
        cmocka_unit_test(a_newer_or_damaged_marker_is_refused),
        cmocka_unit_test(missing_files_are_noticed),
        cmocka_unit_test(a_check_tells_of_the_marker),
        cmocka_unit_test(sums_the_sizes),
        cmocka_unit_test(a_second_holder_is_told_of_the_first),
        cmocka_unit_test(the_lock_goes_with_its_process),
        cmocka_unit_test(waits_as_long_as_it_was_told),
        cmocka_unit_test(leveldb_has_a_lock_of_its_own),
        cmocka_unit_test(a_folder_without_rights_says_so),
    };
    return cmocka_run_group_tests_name("folder", tests, NULL, NULL);
}
