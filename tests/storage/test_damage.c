/*
 * A small store, damaged at every byte of every file: whatever is read afterwards is what was
 * written, or an error; a check tells of the damage. A log that lost its end keeps its first
 * batches.
 */
#include "tests/storage/store.h"

#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
static const char *const columns[] = {"name", NULL};
enum { MAIN, WIDE };
static const gf_family families[] = {
    {"main", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, columns, false},
    {"wide", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false}};
static const gf_schema schema = {"table", parts, 1, families, 2};

enum { ROWS = 12, BATCHES = 5 };

/* A store whose first rows are in a table and whose further batches are in its log. */
typedef struct sample {
    const char *path;
    gf_buffer after[BATCHES + 1]; /* all cells after so many of the log's batches */
} sample;

static void put_row(gf_batch *batch, gf_table *t, int i, int round)
{
    char name[24], value[48];
    snprintf(name, sizeof name, "row %d", i);
    snprintf(value, sizeof value, "the value %d of round %d", i * 7919, round);
    gf_slice key = gf_test_key(name);
    gf_batch_put(batch, t, key, MAIN, GF_SLICE("name"), gf_slice_str(value), 0);
    gf_batch_put(batch, t, key, WIDE, GF_SLICE("q"), gf_slice_str(value), 0);
}

static void make_sample(sample *s, size_t long_value)
{
    gf_error err;
    gf_test_store store;
    gf_table *t;
    gf_batch *batch;
    *s = (sample){.path = gf_test_folder()};
    for (int opening = 0; opening < 2; opening++) {
        assert_ok(gf_test_store_open(&store, s->path, &err));
        assert_ok(gf_table_open(store.db, &schema, &t, &err));
        assert_ok(gf_batch_create(store.db, &batch, &err));
        for (int i = 0; opening == 0 && i < ROWS; i++)
            put_row(batch, t, i, 0);
        assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
        gf_test_dump(t, NULL, &s->after[0]);
        for (int b = 0; opening == 1 && b < BATCHES; b++) {
            put_row(batch, t, b, 1);
            put_row(batch, t, ROWS + b, 1);
            gf_buffer value = {0};
            gf_random r = gf_random_seed((uint64_t)b, 0);
            gf_test_random_bytes(&r, &value, long_value);
            gf_batch_put(batch, t, gf_test_key("long"), WIDE, GF_SLICE("q"), gf_buffer_view(&value),
                         0);
            assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
            gf_test_dump(t, NULL, &s->after[b + 1]);
            gf_buffer_release(&value);
        }
        gf_batch_free(batch);
        gf_test_store_close(&store);
        if (opening == 0) gf_buffer_reset(&s->after[0]);
    }
}

static void release_sample(sample *s)
{
    for (int b = 0; b <= BATCHES; b++)
        gf_buffer_release(&s->after[b]);
}

/* ---- files ----------------------------------------------------------------------------------- */

enum { MOST_FILES = 16 };

typedef struct file {
    char name[64]; /* in the store's folder */
    gf_buffer content;
} file;

typedef struct files {
    file of[MOST_FILES];
    int n;
} files;

static void take_files(files *f, const char *store, const char *below)
{
    gf_error err;
    gf_buffer path = {0};
    gf_buffer_format(&path, "%s/%s", store, below);
    DIR *dir = opendir(gf_buffer_cstr(&path));
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        gf_slice name = gf_slice_str(e->d_name);
        if (name.ptr[0] == '.' || e->d_type == DT_DIR || gf_slice_starts(name, GF_SLICE("LO")))
            continue; /* LOCK, and LOG, which nothing reads */
        assert_in_range(f->n, 0, MOST_FILES - 1);
        file *to = &f->of[f->n++];
        assert_in_range(strlen(below) + name.len, 1, sizeof to->name - 1);
        strcat(strcpy(to->name, below), e->d_name);
        gf_buffer_reset(&path);
        gf_buffer_format(&path, "%s/%s", store, to->name);
        assert_ok(gf_file_read(gf_buffer_cstr(&path), &to->content, &err));
    }
    closedir(dir);
    gf_buffer_release(&path);
}

static void release_files(files *f)
{
    for (int i = 0; i < f->n; i++)
        gf_buffer_release(&f->of[i].content);
}

static void write_content(const char *store, const char *name, gf_slice content)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", store, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(content.ptr ? content.ptr : "", 1, content.len, f), content.len);
    fclose(f);
}

static void remove_all(const char *store, const char *below)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", store, below);
    DIR *dir = opendir(path);
    if (!dir) return;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        snprintf(path, sizeof path, "%s/%s%s", store, below, e->d_name);
        if (e->d_type != DT_DIR) unlink(path);
    }
    closedir(dir);
}

/* The files as they were, but for one, in a folder that is used again and again. */
static void lay_out(const char *store, const files *f, const char *changed, gf_slice content)
{
    gf_error err;
    char db[256];
    snprintf(db, sizeof db, "%s/db", store);
    remove_all(store, "");
    remove_all(store, "db/");
    assert_ok(gf_file_make_folders(db, &err));
    for (int i = 0; i < f->n; i++) {
        bool is_changed = strcmp(f->of[i].name, changed) == 0;
        write_content(store, f->of[i].name,
                      is_changed ? content : gf_buffer_view(&f->of[i].content));
    }
}

static char shared_memory[64];

static void remove_store(void)
{
    char db[128];
    snprintf(db, sizeof db, "%s/db", shared_memory);
    remove_all(shared_memory, "");
    remove_all(shared_memory, "db/");
    rmdir(db);
    rmdir(shared_memory);
}

/* A folder in memory, where there is such: thousands of stores are laid out and synced. */
static const char *scratch_folder(void)
{
    if (*shared_memory) return shared_memory;
    snprintf(shared_memory, sizeof shared_memory, "/dev/shm/grouperfish-test-XXXXXX");
    if (mkdtemp(shared_memory)) {
        atexit(remove_store);
        return shared_memory;
    }
    *shared_memory = '\0';
    return gf_test_folder();
}

/* ---- what a damaged store says --------------------------------------------------------------- */

static void count(void *context, const char *name, const char *what)
{
    (void)name, (void)what;
    ++*(int *)context;
}

/* Damages that a check finds; the marker's is found by holding. */
static int check_store(const char *store)
{
    gf_error err;
    gf_folder *f;
    gf_hold_options o = {.create = false};
    int damages = 0;
    gf_status st = gf_folder_hold(store, &o, &f, &err);
    if (st == GF_ECORRUPT) return 1;
    if (st != GF_OK) fail_msg("%s", err.message);
    assert_ok(gf_folder_check(f, count, &damages, NULL, &err));
    gf_folder_release(f);
    return damages;
}

/* Append all cells, by scans in both directions and by gets; GF_ECORRUPT where a read says so. */
static gf_status read_all(gf_table *t, gf_buffer *out)
{
    gf_error err;
    gf_row row = {0}, again = {0};
    gf_status st = GF_OK;
    size_t forward = 0, backward = 0;
    for (unsigned f = MAIN; f <= WIDE && st == GF_OK; f++) {
        gf_scan *scan;
        gf_scan_options o = GF_SCAN_OPTIONS(.family = f);
        for (int reverse = 0; reverse < 2 && st == GF_OK; reverse++) {
            o.reverse = reverse;
            st = gf_scan_open(t, &o, &scan, &err);
            if (st != GF_OK) break;
            while ((st = gf_scan_next(scan, &row, &err)) == GF_OK) {
                *(reverse ? &backward : &forward) += 1;
                gf_status found = gf_table_get(t, NULL, row.key, 1u << f, &again, &err);
                if (found != GF_OK) assert_int_equal(found, GF_ECORRUPT);
                if (found == GF_OK)
                    assert_true(gf_slice_equal(again.cells[0].value, row.cells[0].value));
            }
            gf_scan_close(scan);
            if (st == GF_ENOTFOUND) st = GF_OK;
        }
    }
    gf_row_release(&row);
    gf_row_release(&again);
    if (st != GF_OK) {
        assert_int_equal(st, GF_ECORRUPT);
        return st;
    }
    assert_int_equal(forward, backward);
    gf_test_dump(t, NULL, out);
    return GF_OK;
}

/* All cells of the store; GF_ECORRUPT where it does not open, or a read says so. */
static gf_status open_and_read(const char *store, gf_buffer *out)
{
    gf_error err;
    gf_test_store s;
    gf_table *t;
    gf_status st = gf_test_store_open(&s, store, &err);
    if (st != GF_OK) {
        if (st != GF_ECORRUPT) fail_msg("%s", err.message);
        return st;
    }
    st = gf_table_open(s.db, &schema, &t, &err);
    if (st == GF_OK) st = read_all(t, out);
    gf_test_store_close(&s);
    return st;
}

/* ---- flipped bits ---------------------------------------------------------------------------- */

static bool is_table(const char *name)
{
    return gf_slice_ends(gf_slice_str(name), GF_SLICE(".ldb"));
}

static void flip(const char *store, const files *f, const file *changed, size_t bit,
                 const gf_buffer *want)
{
    gf_buffer content = {0}, got = {0};
    gf_buffer_slice(&content, gf_buffer_view(&changed->content));
    content.ptr[bit / 8] ^= (char)(1u << bit % 8);
    lay_out(store, f, changed->name, gf_buffer_view(&content));
    if (check_store(store) == 0)
        fail_msg("%s, byte %zu, bit %zu: no check notices", changed->name, bit / 8, bit % 8);
    gf_status st = open_and_read(store, &got);
    if (!is_table(changed->name) && st == GF_OK)
        fail_msg("%s, byte %zu, bit %zu: the store opens", changed->name, bit / 8, bit % 8);
    if (st == GF_OK && !gf_slice_equal(gf_buffer_view(&got), gf_buffer_view(want)))
        fail_msg("%s, byte %zu, bit %zu: other data", changed->name, bit / 8, bit % 8);
    gf_buffer_release(&content);
    gf_buffer_release(&got);
}

/* Each bit of small files, one of each byte of larger ones. */
static void no_flipped_bit_gives_other_data(void **state)
{
    (void)state;
    sample s;
    files f = {.n = 0};
    gf_buffer got = {0};
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    const char *store = scratch_folder();
    make_sample(&s, 20);
    take_files(&f, s.path, "");
    take_files(&f, s.path, "db/");
    lay_out(store, &f, "", (gf_slice){0});
    assert_int_equal(check_store(store), 0);
    assert_int_equal(open_and_read(store, &got), GF_OK);
    assert_true(gf_slice_equal(gf_buffer_view(&got), gf_buffer_view(&s.after[BATCHES])));
    int tables = 0, logs = 0;
    for (int i = 0; i < f.n; i++) {
        const file *changed = &f.of[i];
        bool small = changed->content.len <= 64;
        tables += is_table(changed->name);
        logs += gf_slice_ends(gf_slice_str(changed->name), GF_SLICE(".log"));
        if (strcmp(changed->name, "lock") == 0) continue;
        for (size_t byte = 0; byte < changed->content.len; byte++)
            for (size_t k = 0; k < (small ? 8 : 1); k++)
                flip(store, &f, changed, 8 * byte + (small ? k : gf_random_below(&r, 8)),
                     &s.after[BATCHES]);
    }
    assert_true(f.n >= 6 && tables >= 1 && logs == 1);
    gf_buffer_release(&got);
    release_files(&f);
    release_sample(&s);
}

/* ---- lost ends ------------------------------------------------------------------------------- */

static int batches_there(const sample *s, const gf_buffer *got)
{
    for (int b = 0; b <= BATCHES; b++)
        if (gf_slice_equal(gf_buffer_view(got), gf_buffer_view(&s->after[b]))) return b;
    fail_msg("neither all of a batch nor nothing of it");
    return -1;
}

/* Cut the log at lengths `step` apart: the store opens with its first batches, ever more of them.
 */
static void cut_log(size_t long_value, size_t step)
{
    sample s;
    files f = {.n = 0};
    const file *log = NULL;
    const char *store = scratch_folder();
    make_sample(&s, long_value);
    take_files(&f, s.path, "");
    take_files(&f, s.path, "db/");
    for (int i = 0; i < f.n; i++)
        if (gf_slice_ends(gf_slice_str(f.of[i].name), GF_SLICE(".log"))) log = &f.of[i];
    assert_non_null(log);
    int before = 0;
    for (size_t n = 0; n <= log->content.len; n += n + step > log->content.len ? 1 : step) {
        gf_buffer got = {0};
        lay_out(store, &f, log->name, gf_slice_of(log->content.ptr, n));
        assert_int_equal(check_store(store), 0);
        assert_int_equal(open_and_read(store, &got), GF_OK);
        int b = batches_there(&s, &got);
        assert_in_range(b, before, BATCHES);
        before = b;
        gf_buffer_release(&got);
    }
    assert_int_equal(before, BATCHES);
    release_files(&f);
    release_sample(&s);
}

static void a_log_without_its_end_keeps_its_first_batches(void **state)
{
    (void)state;
    cut_log(20, 1);
}

/* Records of several fragments and blocks; a step that meets all places of a fragment's head. */
static void so_does_a_log_of_several_blocks(void **state)
{
    (void)state;
    cut_log(90000, 1009);
}

/* A MANIFEST or a table that lost its end is noticed, or what is read is all that was written. */
static void other_files_without_their_end_are_noticed(void **state)
{
    (void)state;
    sample s;
    files f = {.n = 0};
    const char *store = scratch_folder();
    make_sample(&s, 20);
    take_files(&f, s.path, "");
    take_files(&f, s.path, "db/");
    for (int i = 0; i < f.n; i++) {
        const file *cut = &f.of[i];
        bool manifest = gf_slice_starts(gf_slice_str(cut->name), GF_SLICE("db/MANIFEST"));
        if (!manifest && !is_table(cut->name)) continue;
        for (size_t n = 0; n < cut->content.len; n += manifest ? 1 : 7) {
            gf_buffer got = {0};
            lay_out(store, &f, cut->name, gf_slice_of(cut->content.ptr, n));
            int damages = check_store(store);
            gf_status st = open_and_read(store, &got);
            if (!manifest) assert_true(damages > 0 && st == GF_ECORRUPT);
            if (manifest) assert_true(damages > 0 || st == GF_OK);
            if (st == GF_OK) assert_int_equal(batches_there(&s, &got), BATCHES);
            gf_buffer_release(&got);
        }
    }
    release_files(&f);
    release_sample(&s);
}

/* ---- scans over damage ----------------------------------------------------------------------- */

enum { MANY = 1500 };

static gf_slice many_key(int i)
{
    char name[16];
    snprintf(name, sizeof name, "row %05d", i);
    return gf_test_key(name);
}

static void make_many_rows(const char *path)
{
    gf_error err;
    gf_test_store s;
    gf_table *t;
    gf_batch *batch;
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &schema, &t, &err));
    assert_ok(gf_batch_create(s.db, &batch, &err));
    for (int i = 0; i < MANY; i++) {
        gf_buffer value = {0};
        gf_random r = gf_random_seed((uint64_t)i, 0);
        for (int k = 0; k < 40; k++) /* nothing to compress */
            gf_buffer_byte(&value, (char)gf_random_below(&r, 256));
        gf_batch_put(batch, t, many_key(i), WIDE, GF_SLICE("q"), gf_buffer_view(&value), 0);
        gf_buffer_release(&value);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    assert_ok(gf_database_compact(s.db, &err)); /* into one table of many blocks */
    gf_test_store_close(&s);
}

/* An entry that is given follows the one before it: none between was stepped over. */
static int rows_before_damage(gf_table *t, bool reverse)
{
    gf_error err;
    gf_scan *scan;
    gf_row row = {0};
    gf_status st;
    int n = 0;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = WIDE, .reverse = reverse);
    assert_ok(gf_scan_open(t, &o, &scan, &err));
    for (; (st = gf_scan_next(scan, &row, &err)) == GF_OK; n++)
        assert_true(gf_slice_equal(row.key, many_key(reverse ? MANY - 1 - n : n)));
    assert_int_equal(st, GF_ECORRUPT);
    assert_non_null(strstr(err.message, "table table: damaged data: "));
    assert_status(GF_ECORRUPT, gf_scan_next(scan, &row, &err)); /* and it does not go on */
    gf_scan_close(scan);
    gf_row_release(&row);
    return n;
}

static void flip_in_largest_table(const char *store, double place)
{
    files f = {.n = 0};
    file *largest = NULL;
    take_files(&f, store, "db/");
    for (int i = 0; i < f.n; i++)
        if (is_table(f.of[i].name) && (!largest || f.of[i].content.len > largest->content.len))
            largest = &f.of[i];
    assert_non_null(largest);
    assert_in_range(largest->content.len, 50 * MANY, 200 * MANY);
    largest->content.ptr[(size_t)(place * (double)largest->content.len)] ^= 1;
    write_content(store, largest->name, gf_buffer_view(&largest->content));
    release_files(&f);
}

static void a_scan_stops_where_damage_begins(void **state)
{
    (void)state;
    for (int place = 1; place < 9; place++) {
        gf_error err;
        gf_test_store s;
        gf_table *t;
        const char *store = gf_test_folder();
        make_many_rows(store);
        flip_in_largest_table(store, place / 10.0);
        assert_ok(gf_test_store_open(&s, store, &err));
        assert_ok(gf_table_open(s.db, &schema, &t, &err));
        int before = rows_before_damage(t, false), behind = rows_before_damage(t, true);
        assert_in_range(before + behind, MANY - 200, MANY - 1); /* a block is missing */
        assert_in_range(before, MANY * (place - 1) / 10, MANY * (place + 1) / 10);
        gf_row row = {0};
        gf_status st = gf_table_get(t, NULL, many_key(before), 1u << WIDE, &row, &err);
        assert_int_equal(st, GF_ECORRUPT);
        gf_row_release(&row);
        gf_test_store_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_flipped_bit_gives_other_data),
        cmocka_unit_test(a_log_without_its_end_keeps_its_first_batches),
        cmocka_unit_test(so_does_a_log_of_several_blocks),
        cmocka_unit_test(other_files_without_their_end_are_noticed),
        cmocka_unit_test(a_scan_stops_where_damage_begins),
    };
    return cmocka_run_group_tests_name("damage", tests, NULL, NULL);
}
