#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "storage/check/crc32c.h"
#include "storage/check/files.h"

#include <dirent.h>
#include <leveldb/c.h>
#include <stdlib.h>
#include <string.h>

/* ---- a writer of logs, from the format's description ----------------------------------------- */

enum { BLOCK = 32768, HEAD = 7 };

static void add_fragment(gf_buffer *log, int type, gf_slice data)
{
    char head[HEAD] = {0};
    char kind = (char)type;
    uint32_t crc = gf_crc32c_mask(gf_crc32c(gf_crc32c(0, &kind, 1), data.ptr, data.len));
    for (int i = 0; i < 4; i++)
        head[i] = (char)(crc >> 8 * i);
    head[4] = (char)data.len;
    head[5] = (char)(data.len >> 8);
    head[6] = kind;
    gf_buffer_append(log, head, HEAD);
    gf_buffer_slice(log, data);
}

static void add_record(gf_buffer *log, gf_slice data)
{
    bool first = true;
    for (;;) {
        size_t room = BLOCK - log->len % BLOCK;
        if (room < HEAD) {
            gf_buffer_append(log, "\0\0\0\0\0\0", room);
            continue;
        }
        size_t n = data.len < room - HEAD ? data.len : room - HEAD;
        bool last = n == data.len;
        add_fragment(log, first ? last ? 1 : 2 : last ? 4 : 3, gf_slice_of(data.ptr, n));
        if (last) return;
        data = gf_slice_skip(data, n);
        first = false;
    }
}

/* The records that a check gave: how many, and a sum over all. */
typedef struct records {
    uint64_t n;
    uint32_t sum;
} records;

static gf_status take_record(void *context, gf_slice record, gf_error *err)
{
    records *r = context;
    (void)err;
    r->n++;
    r->sum = gf_crc32c(r->sum, record.ptr, record.len);
    return GF_OK;
}

static gf_status check_log(gf_slice content, records *r)
{
    gf_error err;
    *r = (records){0};
    gf_status st = gf_check_log(content, take_record, r, &err);
    assert_int_equal(gf_check_log(content, NULL, NULL, &err), st);
    return st;
}

/* ---- logs ------------------------------------------------------------------------------------ */

static void reads_a_log_written_by_hand(void **state)
{
    (void)state;
    gf_error err;
    records r;
    /* CRC-32C of 01 "abc" is 1CC67AE5; rotated right by 15 and A282EAD8 added */
    uint32_t crc = gf_crc32c(0, "\1abc", 4);
    uint32_t masked = (crc >> 15 | crc << 17) + 0xA282EAD8u;
    char log[10] = {(char)masked,
                    (char)(masked >> 8),
                    (char)(masked >> 16),
                    (char)(masked >> 24),
                    3,
                    0,
                    1,
                    'a',
                    'b',
                    'c'};
    assert_int_equal(check_log(gf_slice_of(log, 10), &r), GF_OK);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.sum, gf_crc32c(0, "abc", 3));
    assert_int_equal(check_log(gf_slice_of(NULL, 0), &r), GF_OK);
    log[9] = 'd';
    assert_status(GF_ECORRUPT, gf_check_log(gf_slice_of(log, 10), NULL, NULL, &err));
    assert_string_equal(err.message, "at byte 0: a record's checksum is wrong");
}

static void reads_records_over_blocks(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 30; round++) {
        gf_buffer log = {0}, data = {0};
        records want = {0}, got;
        for (int i = 0; i < 12; i++) {
            static const size_t bounds[] = {0, 10, BLOCK - HEAD, BLOCK, 100000};
            size_t n = bounds[gf_random_below(&r, 5)];
            n = n ? n - (size_t)gf_random_below(&r, n < 9 ? n : 9) : 0;
            if (gf_random_below(&r, 3) == 0 && BLOCK - log.len % BLOCK > 2 * HEAD + 7)
                n = BLOCK - log.len % BLOCK - HEAD -
                    (size_t)gf_random_below(&r, 15); /* near the end */
            gf_buffer_reset(&data);
            for (size_t k = 0; k < n; k++)
                gf_buffer_byte(&data, (char)(k * 31 + (size_t)i));
            add_record(&log, gf_buffer_view(&data));
            take_record(&want, gf_buffer_view(&data), NULL);
        }
        assert_int_equal(check_log(gf_buffer_view(&log), &got), GF_OK);
        assert_int_equal(got.n, want.n);
        assert_int_equal(got.sum, want.sum);
        gf_buffer_release(&log);
        gf_buffer_release(&data);
    }
}

/* A small log with records of one, of several fragments, and filling before a block's end. */
static void make_log(gf_buffer *log, bool small)
{
    gf_buffer data = {0};
    for (int i = 0; i < 5; i++) {
        gf_buffer_format(&data, "record %d ", i);
        add_record(log, gf_buffer_view(&data));
    }
    if (!small) {
        while (data.len < 2 * BLOCK - 3)
            gf_buffer_byte(&data, 'x');
        add_record(log, gf_buffer_view(&data));
        data.len = BLOCK - log->len % BLOCK - HEAD - 4;
        add_record(log, gf_buffer_view(&data));
        add_record(log, GF_SLICE("behind the filling"));
    }
    gf_buffer_release(&data);
}

static void finds_every_flipped_bit_of_a_log(void **state)
{
    (void)state;
    records r;
    for (int small = 1; small >= 0; small--) {
        gf_buffer log = {0};
        make_log(&log, small);
        gf_slice content = gf_buffer_view(&log);
        assert_int_equal(check_log(content, &r), GF_OK);
        for (size_t bit = 0; bit < 8 * log.len; bit += small ? 1 : 4099) {
            log.ptr[bit / 8] ^= (char)(1u << bit % 8);
            if (gf_check_log(content, NULL, NULL, NULL) != GF_ECORRUPT)
                fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
            log.ptr[bit / 8] ^= (char)(1u << bit % 8);
        }
        gf_buffer_release(&log);
    }
}

static void a_log_cut_anywhere_gives_its_first_records(void **state)
{
    (void)state;
    records r;
    gf_buffer log = {0};
    make_log(&log, true);
    uint64_t before = 0;
    for (size_t n = 0; n <= log.len; n++) {
        assert_int_equal(check_log(gf_slice_of(log.ptr, n), &r), GF_OK);
        assert_in_range(r.n, before, before + 1);
        before = r.n;
    }
    assert_int_equal(before, 5);
    gf_buffer_release(&log);
}

/* A length that reaches beyond the file is damage where a shorter one makes the checksum right. */
/* More can be written behind a whole record alone; a whole log may end anywhere in a block. */
static void knows_where_a_log_is_whole(void **state)
{
    (void)state;
    gf_buffer log = {0};
    bool ends[3 * BLOCK] = {false};
    static const size_t sizes[] = {0, 5, BLOCK - 4 * HEAD - 20, 3, BLOCK + 100, 1};
    char *data = calloc(1, 2 * BLOCK);
    ends[0] = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        add_record(&log, gf_slice_of(data, sizes[i]));
        ends[log.len] = true;
    }
    assert_in_range(log.len, 2 * BLOCK, sizeof ends - 1);
    for (size_t n = 0; n <= log.len; n++)
        assert_int_equal(gf_check_log_is_whole(gf_slice_of(log.ptr, n)), ends[n]);
    gf_buffer_append(&log, "\0\0\0\0\0\0\0\0\0", 9);
    assert_false(gf_check_log_is_whole(gf_buffer_view(&log)));
    gf_buffer_release(&log);
    free(data);
}

static void tells_a_damaged_length_from_a_cut(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer log = {0};
    add_record(&log, GF_SLICE("first"));
    size_t second = log.len;
    add_record(&log, GF_SLICE("second"));
    log.ptr[second + 4] = 100;
    assert_status(GF_ECORRUPT, gf_check_log(gf_buffer_view(&log), NULL, NULL, &err));
    assert_string_equal(err.message, "at byte 12: a record's length is damaged");
    gf_buffer_release(&log);
}

static void records_must_begin_and_end(void **state)
{
    (void)state;
    static const struct {
        int types[3];
        const char *message;
    } cases[] = {
        {{2, 1}, "at byte 8: a record has no end"},
        {{2, 2}, "at byte 8: a record has no end"},
        {{3, 0}, "at byte 0: a record has no beginning"},
        {{1, 4}, "at byte 8: a record has no beginning"},
        {{2, 4, 3}, "at byte 16: a record has no beginning"},
        {{5, 0}, "at byte 0: a record's head is damaged"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gf_error err;
        gf_buffer log = {0};
        for (int k = 0; k < 3 && cases[i].types[k]; k++)
            add_fragment(&log, cases[i].types[k], GF_SLICE("x"));
        assert_status(GF_ECORRUPT, gf_check_log(gf_buffer_view(&log), NULL, NULL, &err));
        assert_string_equal(err.message, cases[i].message);
        gf_buffer_release(&log);
    }
}

static void zeros_at_the_end_are_space_without_data(void **state)
{
    (void)state;
    gf_error err;
    records r;
    gf_buffer log = {0};
    add_record(&log, GF_SLICE("first"));
    for (int i = 0; i < 100; i++)
        gf_buffer_byte(&log, 0);
    assert_int_equal(check_log(gf_buffer_view(&log), &r), GF_OK);
    assert_int_equal(r.n, 1);
    log.ptr[log.len - 1] = 1;
    assert_status(GF_ECORRUPT, gf_check_log(gf_buffer_view(&log), NULL, NULL, &err));
    gf_buffer_release(&log);
}

/* ---- tables from the format's description ---------------------------------------------------- */

/* A block of one entry (none where key is empty), not compressed; its handle goes to *handle. */
static void add_block(gf_buffer *table, gf_slice key, gf_slice value, gf_buffer *handle)
{
    size_t start = table->len;
    if (key.len) {
        gf_buffer_varint(table, 0); /* bytes shared with the key before */
        gf_buffer_varint(table, key.len);
        gf_buffer_varint(table, value.len);
        gf_buffer_slice(table, key);
        gf_buffer_slice(table, value);
    }
    gf_buffer_append(table, "\0\0\0\0\1\0\0\0", 8); /* one restart, at 0 */
    gf_buffer_reset(handle);
    gf_buffer_varint(handle, start);
    gf_buffer_varint(handle, table->len - start);
    gf_buffer_byte(table, 0);
    uint32_t crc = gf_crc32c_mask(gf_crc32c(0, table->ptr + start, table->len - start));
    for (int i = 0; i < 4; i++)
        gf_buffer_byte(table, (char)(crc >> 8 * i));
}

/* `junk` lies between the blocks; the index may name its one block twice. */
static gf_status check_made_table(const char *junk, bool twice)
{
    gf_buffer table = {0}, data = {0}, metaindex = {0}, index = {0}, footer = {0};
    add_block(&table, GF_SLICE("key"), GF_SLICE("value"), &data);
    gf_buffer_str(&table, junk);
    add_block(&table, twice ? GF_SLICE("key") : GF_SLICE(""), gf_buffer_view(&data), &metaindex);
    add_block(&table, GF_SLICE("key"), gf_buffer_view(&data), &index);
    gf_buffer_slice(&footer, gf_buffer_view(&metaindex));
    gf_buffer_slice(&footer, gf_buffer_view(&index));
    while (footer.len < 40)
        gf_buffer_byte(&footer, 0);
    gf_buffer_append(&footer, "\x57\xFB\x80\x8B\x24\x75\x47\xDB", 8);
    gf_buffer_slice(&table, gf_buffer_view(&footer));
    gf_status st = gf_check_table(gf_buffer_view(&table), NULL);
    gf_buffer_release(&table);
    gf_buffer_release(&data);
    gf_buffer_release(&metaindex);
    gf_buffer_release(&index);
    gf_buffer_release(&footer);
    return st;
}

static void every_byte_belongs_to_one_block(void **state)
{
    (void)state;
    assert_int_equal(check_made_table("", false), GF_OK);
    assert_int_equal(check_made_table("x", false), GF_ECORRUPT);
    assert_int_equal(check_made_table("", true), GF_ECORRUPT);
}

/* ---- tables and MANIFESTs, as LevelDB itself writes them ------------------------------------- */

/* A database with a table of several blocks and a filter; its files go to `table`, `manifest`. */
static void make_files(gf_buffer *table, gf_buffer *manifest)
{
    char *message = NULL;
    const char *folder = gf_test_folder();
    leveldb_options_t *o = leveldb_options_create();
    leveldb_writeoptions_t *w = leveldb_writeoptions_create();
    leveldb_filterpolicy_t *filter = leveldb_filterpolicy_create_bloom(10);
    leveldb_options_set_create_if_missing(o, 1);
    leveldb_options_set_filter_policy(o, filter);
    leveldb_options_set_block_size(o, 256);
    leveldb_t *db = leveldb_open(o, folder, &message);
    assert_null(message);
    for (int i = 0; i < 60; i++) {
        char key[16], value[80];
        int n = snprintf(key, sizeof key, "key %03d", i);
        int m = snprintf(value, sizeof value, "value %d %s", i * 7919,
                         i % 2 ? "aaaaaaaaaaaaaaaaaa" : "");
        leveldb_put(db, w, key, (size_t)n, value, (size_t)m, &message);
        assert_null(message);
    }
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    leveldb_close(db);
    leveldb_options_destroy(o);
    leveldb_writeoptions_destroy(w);
    leveldb_filterpolicy_destroy(filter);
    DIR *dir = opendir(folder);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        gf_error err;
        gf_buffer path = {0};
        gf_buffer_format(&path, "%s/%s", folder, e->d_name);
        bool is_table = gf_slice_ends(gf_slice_str(e->d_name), GF_SLICE(".ldb"));
        if (is_table) assert_ok(gf_file_read(gf_buffer_cstr(&path), table, &err));
        if (gf_slice_starts(gf_slice_str(e->d_name), GF_SLICE("MANIFEST")))
            assert_ok(gf_file_read(gf_buffer_cstr(&path), manifest, &err));
        gf_buffer_release(&path);
    }
    closedir(dir);
    assert_in_range(table->len, 1000, 8000);
    assert_in_range(manifest->len, 40, 1000);
}

static void finds_every_flipped_bit_of_a_table(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer table = {0}, manifest = {0};
    make_files(&table, &manifest);
    gf_slice content = gf_buffer_view(&table);
    assert_ok(gf_check_table(content, &err));
    for (size_t bit = 0; bit < 8 * table.len; bit++) {
        table.ptr[bit / 8] ^= (char)(1u << bit % 8);
        if (gf_check_table(content, NULL) != GF_ECORRUPT)
            fail_msg("bit %zu of byte %zu of %zu", bit % 8, bit / 8, table.len);
        table.ptr[bit / 8] ^= (char)(1u << bit % 8);
    }
    for (size_t n = 0; n < table.len; n++)
        assert_status(GF_ECORRUPT, gf_check_table(gf_slice_of(table.ptr, n), &err));
    gf_buffer_release(&table);
    gf_buffer_release(&manifest);
}

/* Damage that got a right checksum: nothing is believed, nothing beyond the bytes is read. */
static void refuses_hostile_tables(void **state)
{
    (void)state;
    gf_buffer table = {0}, manifest = {0};
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    make_files(&table, &manifest);
    for (int i = 0; i < 3000; i++) {
        size_t n = 48 + (size_t)gf_random_below(&r, 400);
        char *bytes = gf_malloc(n); /* of this size, so that the sanitizer knows its end */
        assert_non_null(bytes);
        memcpy(bytes, table.ptr + table.len - n, n);
        for (int k = 0; k < 6; k++)
            bytes[gf_random_below(&r, n - 8)] = (char)gf_random_below(&r, 256);
        gf_status st = gf_check_table(gf_slice_of(bytes, n), NULL);
        assert_int_equal(st, GF_ECORRUPT);
        gf_free(bytes);
    }
    gf_buffer_release(&table);
    gf_buffer_release(&manifest);
}

typedef struct wanted {
    uint64_t log, table, size;
    int tables;
} wanted;

static gf_status want_file(void *context, uint64_t number, uint64_t size, gf_error *err)
{
    wanted *w = context;
    (void)err;
    if (size) {
        w->table = number;
        w->size = size;
        w->tables++;
    } else {
        w->log = number;
    }
    return GF_OK;
}

static void reads_a_manifest(void **state)
{
    (void)state;
    gf_error err;
    wanted w = {0};
    gf_buffer table = {0}, manifest = {0};
    make_files(&table, &manifest);
    gf_slice content = gf_buffer_view(&manifest);
    assert_ok(gf_check_manifest(content, want_file, &w, NULL, &err));
    assert_int_equal(w.tables, 1);
    assert_int_equal(w.size, table.len);
    assert_true(w.log > 0 && w.table > 0);
    for (size_t bit = 0; bit < 8 * manifest.len; bit++) {
        manifest.ptr[bit / 8] ^= (char)(1u << bit % 8);
        assert_status(GF_ECORRUPT, gf_check_manifest(content, want_file, &w, NULL, &err));
        manifest.ptr[bit / 8] ^= (char)(1u << bit % 8);
    }
    gf_buffer_release(&table);
    gf_buffer_release(&manifest);
}

static void refuses_hostile_edits(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    static const gf_slice bad[] = {
        {"\2", 1},   {"\1\5ab", 4},       {"\10\1", 2},
        {"\0", 1},   {"\7\7\1\1\0\0", 6}, {"\7\1\1\1\5a", 6},
        {"\6\1", 2}, {"\5\1\3a", 4},      {"\3\1", 2} /* names no log */,
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gf_buffer log = {0};
        wanted w;
        add_record(&log, bad[i]);
        assert_status(GF_ECORRUPT,
                      gf_check_manifest(gf_buffer_view(&log), want_file, &w, NULL, &err));
        gf_buffer_release(&log);
    }
    for (int i = 0; i < 20000; i++) {
        gf_buffer log = {0};
        char bytes[24];
        wanted w;
        size_t n = (size_t)gf_random_below(&r, sizeof bytes);
        for (size_t k = 0; k < n; k++)
            bytes[k] = (char)gf_random_below(&r, gf_random_below(&r, 4) ? 10 : 256);
        add_record(&log, gf_slice_of(bytes, n));
        gf_status st = gf_check_manifest(gf_buffer_view(&log), want_file, &w, NULL, &err);
        if (st != GF_OK) assert_int_equal(st, GF_ECORRUPT);
        gf_buffer_release(&log);
    }
}

static void tells_whether_files_are_gone(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer log = {0};
    wanted w;
    bool deletes = true;
    add_record(&log, GF_SLICE("\2\7\7\0\5\1\0\0")); /* log 7; a table 5 of level 0 */
    assert_ok(gf_check_manifest(gf_buffer_view(&log), want_file, &w, &deletes, &err));
    assert_false(deletes);
    add_record(&log, GF_SLICE("\6\0\5"));
    assert_ok(gf_check_manifest(gf_buffer_view(&log), want_file, &w, &deletes, &err));
    assert_true(deletes);
    gf_buffer_release(&log);
}

static void knows_the_names_of_files(void **state)
{
    (void)state;
    static const char *const of_leveldb[] = {
        "CURRENT",         "LOCK",        "LOG", "LOG.old", "000005.log", "000123.ldb", "1.sst",
        "MANIFEST-000004", "000007.dbtmp"};
    static const char *const others[] = {"",          ".",        "..",        "CURRENT2",
                                         ".ldb",      "a.ldb",    "MANIFEST-", "MANIFEST-x",
                                         "notes.txt", "5.log.old"};
    for (size_t i = 0; i < sizeof of_leveldb / sizeof *of_leveldb; i++)
        assert_true(gf_check_is_leveldb_file(of_leveldb[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(gf_check_is_leveldb_file(others[i]));
}

typedef struct files {
    gf_buffer table, manifest, log;
} files;

static gf_status check_each(void *context, gf_error *err)
{
    files *f = context;
    wanted w;
    records r = {0};
    gf_status st = gf_check_table(gf_buffer_view(&f->table), err);
    if (st == GF_OK) st = gf_check_manifest(gf_buffer_view(&f->manifest), want_file, &w, NULL, err);
    if (st == GF_OK) st = gf_check_log(gf_buffer_view(&f->log), take_record, &r, err);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    files f = {{0}, {0}, {0}};
    make_files(&f.table, &f.manifest);
    make_log(&f.log, false);
    gf_test_sweep(check_each, NULL, &f);
    gf_buffer_release(&f.table);
    gf_buffer_release(&f.manifest);
    gf_buffer_release(&f.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_log_written_by_hand),
        cmocka_unit_test(reads_records_over_blocks),
        cmocka_unit_test(finds_every_flipped_bit_of_a_log),
        cmocka_unit_test(a_log_cut_anywhere_gives_its_first_records),
        cmocka_unit_test(knows_where_a_log_is_whole),
        cmocka_unit_test(tells_a_damaged_length_from_a_cut),
        cmocka_unit_test(records_must_begin_and_end),
        cmocka_unit_test(zeros_at_the_end_are_space_without_data),
        cmocka_unit_test(every_byte_belongs_to_one_block),
        cmocka_unit_test(finds_every_flipped_bit_of_a_table),
        cmocka_unit_test(refuses_hostile_tables),
        cmocka_unit_test(reads_a_manifest),
        cmocka_unit_test(refuses_hostile_edits),
        cmocka_unit_test(tells_whether_files_are_gone),
        cmocka_unit_test(knows_the_names_of_files),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("leveldb_check", tests, NULL, NULL);
}
