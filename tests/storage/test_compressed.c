/* Values that were compressed before they were put: what comes of them is what a put stores. */
#include "tests/storage/store.h"

#include "storage/leveldb/backend.h"

#include <leveldb/c.h>
#include <string.h>

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
enum { WIDE, PACKED, PLAIN, VERSIONS, BRIEF, FAMILIES };
static const gf_family families[] = {
    {"wide", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_SNAPPY, NULL, false},
    {"packed", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_SNAPPY, NULL, false},
    {"plain", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false},
    {"versions", GF_LAYOUT_WIDE, 2, 0, GF_COMPRESSION_SNAPPY, NULL, false},
    {"brief", GF_LAYOUT_WIDE, 1, 3600, GF_COMPRESSION_SNAPPY, NULL, false}};
static const gf_schema schema = {"table", parts, 1, families, FAMILIES};

static gf_database *open_database(const char *folder, gf_table **t)
{
    gf_error err;
    gf_backend *backend;
    gf_database *db;
    assert_ok(gf_leveldb_open(folder, GF_LEVELDB_CREATE, &backend, &err));
    assert_ok(gf_database_create(backend, &db, &err));
    assert_ok(gf_table_open(db, &schema, t, &err));
    return db;
}

/* Append all entries that LevelDB has. */
static void dump(const char *folder, gf_buffer *out)
{
    char *message = NULL;
    leveldb_options_t *options = leveldb_options_create();
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    leveldb_t *db = leveldb_open(options, folder, &message);
    if (message) fail_msg("%s", message);
    leveldb_iterator_t *it = leveldb_create_iterator(db, read);
    for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it)) {
        size_t n;
        const char *bytes = leveldb_iter_key(it, &n);
        gf_buffer_string(out, gf_slice_of(bytes, n));
        bytes = leveldb_iter_value(it, &n);
        gf_buffer_string(out, gf_slice_of(bytes, n));
    }
    leveldb_iter_destroy(it);
    leveldb_close(db);
    leveldb_readoptions_destroy(read);
    leveldb_options_destroy(options);
}

/* Short and long ones, of bytes that shrink and of such that do not, some over older ones. */
static void put_values(gf_database *db, gf_table *t, uint64_t seed, bool before)
{
    static const size_t lengths[] = {0, 1, 63, 64, 65, 3000, 65535, 65537, 200000};
    gf_random chance = gf_random_seed(seed, 0);
    gf_buffer value = {0}, memory = {0};
    gf_batch *batch;
    gf_error err;
    assert_ok(gf_batch_create(db, &batch, &err));
    for (unsigned i = 0; i < 60; i++) {
        size_t length = lengths[gf_random_below(&chance, sizeof lengths / sizeof *lengths)];
        char row[8], column[8];
        gf_compressed compressed;
        gf_buffer_reset(&value);
        if (i == 0) length = 200000; /* of random bytes, in a row of its own */
        if (i > 0 && gf_random_below(&chance, 2)) gf_test_random_bytes(&chance, &value, length);
        while (value.len < length)
            gf_buffer_byte(&value, (char)gf_random_below(&chance, 256));
        snprintf(row, sizeof row, "%u", i ? (unsigned)gf_random_below(&chance, 9) : 9);
        snprintf(column, sizeof column, "%u", (unsigned)gf_random_below(&chance, 3));
        assert_ok(gf_value_compress(gf_buffer_view(&value), &memory, &compressed, &err));
        if (before)
            gf_batch_put_compressed(batch, t, gf_test_key(row), WIDE, gf_slice_str(column),
                                    &compressed);
        else
            gf_batch_put(batch, t, gf_test_key(row), WIDE, gf_slice_str(column),
                         gf_buffer_view(&value), 0);
        if (i % 7 == 0) assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
    gf_buffer_release(&value);
    gf_buffer_release(&memory);
}

static void they_are_stored_as_puts_store_them(void **state)
{
    (void)state;
    const char *folder = gf_test_folder();
    uint64_t seed = gf_test_seed();
    gf_buffer rows[2] = {{0}, {0}}, entries[2] = {{0}, {0}};
    for (int before = 0; before < 2; before++) {
        gf_table *t;
        const char *path = gf_test_in(folder, before ? "before" : "given");
        gf_database *db = open_database(path, &t);
        put_values(db, t, seed, before);
        gf_test_dump(t, NULL, &rows[before]);
        gf_database_close(db);
        dump(path, &entries[before]);
    }
    assert_true(entries[0].len > 100000);
    assert_true(gf_slice_equal(gf_buffer_view(&rows[0]), gf_buffer_view(&rows[1])));
    assert_true(gf_slice_equal(gf_buffer_view(&entries[0]), gf_buffer_view(&entries[1])));
    for (int i = 0; i < 2; i++) {
        gf_buffer_release(&rows[i]);
        gf_buffer_release(&entries[i]);
    }
}

static void other_families_refuse_them(void **state)
{
    (void)state;
    gf_error err;
    gf_table *t;
    gf_batch *batch;
    gf_compressed value = {GF_SLICE("value"), false};
    gf_database *db = open_database(gf_test_in(gf_test_folder(), "db"), &t);
    assert_ok(gf_batch_create(db, &batch, &err));
    for (unsigned f = PACKED; f <= FAMILIES; f++) {
        gf_batch_put_compressed(batch, t, gf_test_key("a"), f, GF_SLICE("q"), &value);
        assert_status(GF_EINVAL, gf_batch_write(batch, GF_SYNC_OFF, &err));
        if (f < FAMILIES) assert_non_null(strstr(err.message, "compressed before"));
    }
    gf_batch_put_compressed(batch, t, gf_test_key("a"), WIDE, GF_SLICE("q"), &value);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_test_cell_is(t, NULL, gf_test_key("a"), WIDE, "q", "value");
    gf_batch_free(batch);
    gf_database_close(db);
}

static void a_backend_that_does_not_compress_gets_values_as_they_were(void **state)
{
    (void)state;
    gf_error err;
    gf_table *t;
    gf_batch *batch;
    gf_buffer memory = {0};
    gf_compressed small, large;
    char text[1001];
    gf_database *db = gf_test_model();
    memset(text, 'x', 1000);
    text[1000] = '\0';
    assert_ok(gf_table_open(db, &schema, &t, &err));
    assert_ok(gf_batch_create(db, &batch, &err));
    assert_ok(gf_value_compress(GF_SLICE("value"), &memory, &small, &err));
    gf_batch_put_compressed(batch, t, gf_test_key("a"), WIDE, GF_SLICE("small"), &small);
    assert_ok(gf_value_compress(gf_slice_str(text), &memory, &large, &err));
    assert_true(large.smaller);
    gf_batch_put_compressed(batch, t, gf_test_key("a"), WIDE, GF_SLICE("large"), &large);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_test_cell_is(t, NULL, gf_test_key("a"), WIDE, "small", "value");
    gf_test_cell_is(t, NULL, gf_test_key("a"), WIDE, "large", text);
    large.bytes.len /= 2;
    gf_batch_put_compressed(batch, t, gf_test_key("a"), WIDE, GF_SLICE("cut"), &large);
    assert_status(GF_ECORRUPT, gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_buffer_release(&memory);
    gf_batch_free(batch);
    gf_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_stored_as_puts_store_them),
        cmocka_unit_test(other_families_refuse_them),
        cmocka_unit_test(a_backend_that_does_not_compress_gets_values_as_they_were)};
    return cmocka_run_group_tests_name("compressed", tests, NULL, NULL);
}
