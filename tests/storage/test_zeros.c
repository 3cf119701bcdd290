/*
 * A log, and a MANIFEST, whose end a loss of power left as zeros: they end behind their last whole
 * record. What was synced before is there; nothing else is taken for an end.
 */
#include "tests/storage/store.h"

#include "base/file.h"
#include "storage/check/files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 24, VALUE = 3000, SECTOR = 512 };

/* The newest file of db/ whose name starts or ends so. */
static const char *newest(const char *store, const char *start, const char *end)
{
    static char found[64];
    struct dirent **entries;
    int n = scandir(gf_test_in(store, "db"), &entries, NULL, alphasort);
    assert_true(n >= 0);
    found[0] = '\0';
    for (int i = 0; i < n; i++) {
        gf_slice name = gf_slice_str(entries[i]->d_name);
        if (gf_slice_starts(name, gf_slice_str(start)) && gf_slice_ends(name, gf_slice_str(end)))
            snprintf(found, sizeof found, "db/%.50s", entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    assert_true(*found);
    return gf_test_in(store, found);
}

static void row_name(char *to, size_t room, int i)
{
    snprintf(to, room, "row %02d", i);
}

static void value_of(char *value, int i)
{
    gf_random r = gf_random_seed((uint64_t)i, 1);
    for (int b = 0; b < VALUE; b++)
        value[b] = (char)('!' + gf_random_below(&r, 90));
    value[VALUE] = '\0';
}

/* A store whose log has rows, and the length of the log behind each. */
static const char *make_logged(size_t *length)
{
    gf_error err;
    gf_test_store s;
    gf_table *t;
    char name[16], value[VALUE + 1];
    const char *path = gf_test_store_make();
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    for (int i = 0; i < ROWS; i++) {
        struct stat info;
        row_name(name, sizeof name, i);
        value_of(value, i);
        assert_ok(gf_test_put(s.db, t, gf_test_key(name), 0, "q", gf_slice_str(value), 0, &err));
        assert_int_equal(stat(newest(path, "0", ".log"), &info), 0);
        length[i] = (size_t)info.st_size;
    }
    gf_test_store_close(&s);
    return path;
}

static void has_rows(const char *path, int n)
{
    gf_error err = {GF_OK, ""};
    gf_test_store s;
    gf_table *t;
    char name[16], value[VALUE + 1];
    gf_status st = gf_test_store_open(&s, path, &err);
    if (st != GF_OK) fail_msg("with %d rows: %s", n, err.message);
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    for (int i = 0; i < ROWS; i++) {
        row_name(name, sizeof name, i);
        value_of(value, i);
        gf_test_cell_is(t, NULL, gf_test_key(name), 0, "q", i < n ? value : NULL);
    }
    gf_test_store_close(&s);
}

static void write_content(const char *path, const gf_buffer *content)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(content->ptr, 1, content->len, f), content->len);
    fclose(f);
}

/* The log as zeros from each disk block on, with its length and with more. */
static void a_log_ends_where_zeros_begin(void **state)
{
    (void)state;
    gf_error err;
    size_t length[ROWS];
    gf_buffer whole = {0};
    const char *path = make_logged(length);
    const char *log = newest(path, "0", ".log");
    char name[64];
    snprintf(name, sizeof name, "%s", strrchr(log, '/') + 1);
    assert_ok(gf_file_read(log, &whole, &err));
    for (size_t from = SECTOR, round = 0; from + 8 < whole.len; from += SECTOR, round++) {
        if (round % 4 && from % 4096) continue; /* the pages all, of the blocks a part */
        gf_buffer content = {0};
        char *copy = strdup(gf_test_folder());
        int n = 0;
        gf_buffer_append(&content, whole.ptr, whole.len);
        for (size_t more = round % 2 ? 40000 : 0; more; more--)
            gf_buffer_byte(&content, 0);
        memset(content.ptr + from, 0, content.len - from);
        gf_test_copy_folder(path, copy);
        write_content(gf_test_in(gf_test_in(copy, "db"), name), &content);
        while (n < ROWS && length[n] <= from)
            n++;
        has_rows(copy, n);
        has_rows(copy, n);
        gf_buffer_release(&content);
        free(copy);
    }
    gf_buffer_release(&whole);
}

/* Zeros that begin elsewhere, or have something behind them, are damage. */
static void damage_is_no_end(void **state)
{
    (void)state;
    gf_error err;
    size_t length[ROWS];
    gf_buffer whole = {0};
    const char *path = make_logged(length);
    const char *log = newest(path, "0", ".log");
    assert_ok(gf_file_read(log, &whole, &err));
    const struct {
        size_t from, to;
    } holes[] = {{whole.len - 1, whole.len},
                 {whole.len - 200, whole.len - 4},
                 {SECTOR * 8, SECTOR * 16},
                 {SECTOR * 8, whole.len - 1},
                 {length[3] + 2, length[3] + 7}};
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++) {
        gf_buffer content = {0};
        gf_buffer_append(&content, whole.ptr, whole.len);
        memset(content.ptr + holes[i].from, 0, holes[i].to - holes[i].from);
        assert_int_equal(gf_check_log_end(gf_buffer_view(&content)), content.len);
        assert_status(GF_ECORRUPT, gf_check_log(gf_buffer_view(&content), NULL, NULL, &err));
        gf_buffer_release(&content);
    }
    for (size_t i = 0; i < whole.len; i += 7) { /* a record that is wrong, and then zeros */
        gf_buffer content = {0};
        size_t row = 0;
        while (length[row] <= i)
            row++;
        gf_buffer_append(&content, whole.ptr, length[row]);
        content.ptr[i] ^= 4;
        while (content.len % SECTOR || content.len < length[row] + 2000)
            gf_buffer_byte(&content, 0);
        /* Of the last record's own block the zeros may begin earlier: a value has none. */
        gf_status st = gf_check_log(gf_buffer_view(&content), NULL, NULL, &err);
        if (st != GF_ECORRUPT) fail_msg("byte %zu of %zu: %s", i, length[row], gf_status_name(st));
        gf_buffer_release(&content);
    }
    gf_buffer_release(&whole);
}

static void a_manifest_ends_where_zeros_begin(void **state)
{
    (void)state;
    gf_error err;
    gf_test_store s;
    size_t length[ROWS];
    const char *path = make_logged(length);
    assert_ok(gf_test_store_open(&s, path, &err)); /* its MANIFEST is long enough for a block */
    for (int i = 0; i < 40; i++)
        assert_ok(gf_database_compact(s.db, &err));
    gf_test_store_close(&s);
    const char *manifest = newest(path, "MANIFEST-", "");
    gf_buffer content = {0};
    assert_ok(gf_file_read(manifest, &content, &err));
    size_t end = content.len;
    while (content.len < end + 9000)
        gf_buffer_byte(&content, 0);
    write_content(manifest, &content);
    has_rows(path, ROWS);
    gf_buffer_release(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_ends_where_zeros_begin),
        cmocka_unit_test(damage_is_no_end),
        cmocka_unit_test(a_manifest_ends_where_zeros_begin),
    };
    return cmocka_run_group_tests_name("zeros", tests, NULL, NULL);
}
