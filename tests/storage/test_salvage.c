/*
 * Salvage: of a sound folder it gives what LevelDB does, of a damaged one nothing that was not
 * written.
 */
#include "tests/storage/store.h"

#include "base/file.h"
#include "base/memory.h"
#include "storage/salvage/salvage.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
enum { WIDE };
static const gf_family families[] = {
    {"wide", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false}};
static const gf_schema schema = {"table", parts, 1, families, 1};

/* What a salvage gave, and what it told. */
typedef struct salvaged {
    gf_buffer entries; /* key and value, one behind the other */
    size_t n, damages, odd;
    gf_buffer last;
} salvaged;

static void note_damage(void *context, const char *file, const char *what)
{
    (void)file, (void)what;
    ((salvaged *)context)->damages++;
}

static void note_odd(void *context, const char *file, const char *what)
{
    (void)file, (void)what;
    ((salvaged *)context)->odd++;
}

static gf_status note_entry(void *context, gf_slice key, gf_slice value, uint64_t sequence,
                            gf_error *err)
{
    (void)sequence;
    salvaged *s = context;
    assert_true(s->n == 0 || gf_slice_compare(gf_buffer_view(&s->last), key) < 0);
    gf_buffer_reset(&s->last);
    gf_buffer_slice(&s->last, key);
    gf_buffer_string(&s->entries, key);
    gf_buffer_string(&s->entries, value);
    s->n++;
    gf_status st = gf_buffer_check(&s->last, err);
    return st == GF_OK ? gf_buffer_check(&s->entries, err) : st;
}

static gf_status salvage(const char *store, salvaged *s, gf_error *err)
{
    char db[700];
    snprintf(db, sizeof db, "%s/db", store);
    const gf_salvage_calls calls = {note_damage, note_odd, note_entry, s};
    return gf_salvage(db, &calls, NULL, err);
}

static void release(salvaged *s)
{
    gf_buffer_release(&s->entries);
    gf_buffer_release(&s->last);
    *s = (salvaged){.n = 0};
}

/* ---- the store ------------------------------------------------------------------------------- */

enum { ROWS = 800, OPENINGS = 4 };

static void value_of(int row, int opening, gf_buffer *value)
{
    gf_random r = gf_random_seed((uint64_t)row, (uint64_t)opening);
    gf_buffer_reset(value);
    gf_buffer_format(value, "row %d of opening %d ", row, opening);
    gf_test_random_bytes(&r, value, row % 50 == 0 ? 70000 : 1000); /* long ones are cut */
}

/* One opening: puts over what is there, and deletions; a table of it where it is much. */
static void work(const char *path, int opening, int rows)
{
    gf_error err;
    gf_test_store store;
    gf_table *t;
    gf_batch *batch;
    gf_buffer value = {0};
    assert_ok(gf_test_store_open(&store, path, &err));
    assert_ok(gf_table_open(store.db, &schema, &t, &err));
    assert_ok(gf_batch_create(store.db, &batch, &err));
    for (int i = 0; i < rows; i++) {
        char name[24];
        int row = (i * 7 + opening * 131) % ROWS;
        snprintf(name, sizeof name, "row %05d", row);
        value_of(row, opening, &value);
        if (i % 5 == 0)
            gf_batch_delete_cell(batch, t, gf_test_key(name), WIDE, GF_SLICE("q"));
        else
            gf_batch_put(batch, t, gf_test_key(name), WIDE, GF_SLICE("q"), gf_buffer_view(&value),
                         0);
        if (i % 40 == 39) assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_test_store_close(&store);
    gf_buffer_release(&value);
}

/* Several tables over each other and a log that is not empty. */
static const char *make_store(void)
{
    const char *path = gf_test_folder();
    for (int opening = 0; opening < OPENINGS; opening++)
        work(path, opening, 500);
    work(path, OPENINGS, 60);
    return path;
}

/* The first file of that ending, in `path`. */
static void find_file(const char *store, const char *ending, char path[600])
{
    char db[256], found[300] = "";
    snprintf(db, sizeof db, "%s/db", store);
    DIR *dir = opendir(db);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (gf_slice_ends(gf_slice_str(e->d_name), gf_slice_str(ending)) &&
            (!*found || strcmp(e->d_name, found) < 0))
            snprintf(found, sizeof found, "%s", e->d_name);
    closedir(dir);
    assert_true(*found);
    snprintf(path, 600, "%s/%s", db, found);
}

static void run(const char *format, const char *a, const char *b)
{
    char line[2000];
    snprintf(line, sizeof line, format, a, b);
    assert_int_equal(system(line), 0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* A copy by LevelDB's own iterator, salvaged, and the original: the same. */
static void gives_what_leveldb_gives(void **state)
{
    (void)state;
    gf_error err;
    gf_test_store store;
    salvaged own = {.n = 0}, copy = {.n = 0};
    char to[600];
    const char *path = make_store();
    assert_ok(salvage(path, &own, &err));
    assert_int_equal(own.damages + own.odd, 0);
    assert_true(own.n > ROWS / 2);
    snprintf(to, sizeof to, "%s/copy", gf_test_folder());
    assert_ok(gf_test_store_open(&store, path, &err));
    assert_ok(gf_folder_copy(store.db, to, NULL, NULL, NULL, &err));
    gf_test_store_close(&store);
    assert_ok(salvage(to, &copy, &err));
    assert_int_equal(copy.damages + copy.odd, 0);
    assert_int_equal(own.n, copy.n);
    assert_true(gf_slice_equal(gf_buffer_view(&own.entries), gf_buffer_view(&copy.entries)));
    release(&own);
    release(&copy);
}

/* Every entry of `some` is one that was written once: its value begins with the row's name. */
static void assert_written(const salvaged *some)
{
    gf_slice rest = gf_buffer_view(&some->entries), key, value;
    gf_buffer expected = {0};
    size_t checked = 0;
    while (gf_slice_take_string(&rest, &key) && gf_slice_take_string(&rest, &value)) {
        int row = -1, opening = -1;
        gf_buffer text = {0};
        /* Behind the flags. */
        if (value.len) gf_buffer_append(&text, value.ptr + 1, value.len < 40 ? value.len - 1 : 39);
        const char *at = strstr(gf_buffer_cstr(&text), "row ");
        if (at && sscanf(at, "row %d of opening %d", &row, &opening) == 2 && value.len < 2000) {
            value_of(row, opening, &expected);
            assert_true(gf_slice_ends(value, gf_buffer_view(&expected)));
            checked++;
        }
        gf_buffer_release(&text);
    }
    assert_true(some->n < 100 || checked > some->n / 2);
    gf_buffer_release(&expected);
}

/* Bits flipped in a table and in the log, one after the other. */
static void a_flipped_bit_costs_a_block(void **state)
{
    (void)state;
    static const char *const endings[] = {".ldb", ".log"};
    gf_error err;
    salvaged sound = {.n = 0};
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    const char *path = make_store();
    assert_ok(salvage(path, &sound, &err));
    for (int i = 0; i < 60; i++) {
        char file[600];
        gf_buffer content = {0};
        salvaged found = {.n = 0};
        find_file(path, endings[i % 4 == 3], file);
        assert_ok(gf_file_read(file, &content, &err));
        size_t at = gf_random_below(&r, content.len);
        content.ptr[at] ^= (char)(1 << gf_random_below(&r, 8));
        FILE *f = fopen(file, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(content.ptr, 1, content.len, f), content.len);
        fclose(f);
        assert_ok(salvage(path, &found, &err));
        assert_in_range(found.n, sound.n - 150, sound.n + 150);
        assert_written(&found);
        release(&found);
        gf_buffer_release(&content);
        if (i % 10 == 9) path = make_store(); /* not too many at once */
    }
    release(&sound);
}

/* A table that lost its end, and with it the index: what lies before the cut is there. */
static void a_cut_table_keeps_its_beginning(void **state)
{
    (void)state;
    gf_error err;
    salvaged whole = {.n = 0}, found = {.n = 0};
    char file[600];
    const char *path = make_store();
    assert_ok(salvage(path, &whole, &err));
    find_file(path, ".ldb", file);
    run("truncate -s -100 %s%s", file, "");
    assert_ok(salvage(path, &found, &err));
    assert_true(found.damages == 1);
    assert_in_range(found.n, whole.n - 10, whole.n + 10);
    release(&found);
    size_t before = SIZE_MAX;
    for (int i = 0; i < 8; i++) {
        gf_buffer content = {0};
        assert_ok(gf_file_read(file, &content, &err));
        char half[32];
        snprintf(half, sizeof half, "%zu", content.len / 2);
        run("truncate -s %s %s", half, file);
        assert_ok(salvage(path, &found, &err));
        assert_true(found.damages >= 1);
        assert_written(&found);
        assert_true(before == SIZE_MAX || found.n <= before + ROWS / 4);
        before = found.n;
        release(&found);
        gf_buffer_release(&content);
    }
    release(&whole);
}

/* The log as it was before tables were made of it, under a later number: nothing comes back. */
static void an_old_log_is_left_out(void **state)
{
    (void)state;
    gf_error err;
    salvaged before = {.n = 0}, after = {.n = 0};
    char log[600], kept[600], db[600];
    const char *path = gf_test_folder();
    work(path, 0, 60);
    find_file(path, ".log", log);
    snprintf(kept, sizeof kept, "%s/kept", gf_test_folder());
    run("cp %s %s", log, kept);
    for (int opening = 1; opening < 3; opening++)
        work(path, opening, 500);
    assert_ok(salvage(path, &before, &err));
    assert_int_equal(before.odd, 0);
    snprintf(db, sizeof db, "%s/db/999999.log", path);
    run("cp %s %s", kept, db);
    assert_ok(salvage(path, &after, &err));
    assert_true(after.odd > 0);
    assert_true(gf_slice_equal(gf_buffer_view(&before.entries), gf_buffer_view(&after.entries)));
    release(&before);
    release(&after);
}

/* What is left over from before is not looked at, unless the MANIFEST is damaged. */
static void what_the_manifest_does_not_name_stays_away(void **state)
{
    (void)state;
    gf_error err;
    salvaged before = {.n = 0}, after = {.n = 0};
    char table[600], kept[600], other[600];
    const char *path = gf_test_folder();
    work(path, 0, 500);
    find_file(path, ".ldb", table);
    snprintf(kept, sizeof kept, "%s/kept", gf_test_folder());
    run("cp %s %s", table, kept);
    for (int opening = 1; opening < OPENINGS; opening++)
        work(path, opening, 500);
    assert_ok(salvage(path, &before, &err));
    snprintf(other, sizeof other, "%s/db/000900.ldb", path);
    run("cp %s %s", kept, other);
    assert_ok(salvage(path, &after, &err));
    assert_int_equal(after.damages + after.odd, 0);
    assert_true(gf_slice_equal(gf_buffer_view(&before.entries), gf_buffer_view(&after.entries)));
    release(&after);
    /* Without the MANIFEST it counts, and is older than all else. */
    run("rm %s/db/CURRENT%s", path, "");
    assert_ok(salvage(path, &after, &err));
    assert_true(after.n >= before.n);
    assert_written(&after);
    release(&before);
    release(&after);
}

/* A file that cannot be read is no damage. */
static void what_cannot_be_read_is_a_failure(void **state)
{
    (void)state;
    static const char *const endings[] = {".ldb", ".log", "CURRENT"};
    for (size_t i = 0; i < 3; i++) {
        gf_error err;
        salvaged found = {.n = 0};
        char file[600];
        const char *path = make_store();
        find_file(path, endings[i], file);
        run("rm %s && mkdir %s", file, file); /* opens, and fails to read */
        assert_status(GF_EIO, salvage(path, &found, &err));
        assert_int_equal(found.n, 0);
        release(&found);
    }
}

static const char *swept;

static gf_status salvage_swept(void *context, gf_error *err)
{
    salvaged found = {.n = 0};
    (void)context;
    gf_status st = salvage(swept, &found, err);
    release(&found);
    return st;
}

static void memory_ends(void **state)
{
    (void)state;
    swept = gf_test_folder();
    work(swept, 0, 300);
    work(swept, 1, 20);
    gf_test_sweep(salvage_swept, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_leveldb_gives),
        cmocka_unit_test(a_flipped_bit_costs_a_block),
        cmocka_unit_test(a_cut_table_keeps_its_beginning),
        cmocka_unit_test(an_old_log_is_left_out),
        cmocka_unit_test(what_the_manifest_does_not_name_stays_away),
        cmocka_unit_test(what_cannot_be_read_is_a_failure),
        cmocka_unit_test(memory_ends),
    };
    return cmocka_run_group_tests_name("salvage", tests, NULL, NULL);
}
