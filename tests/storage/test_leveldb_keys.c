#include "support/test.h"

#include "base/random.h"
#include "storage/leveldb/keys.h"
#include "storage/schema.h"

#include <string.h>

static const gf_key_part parts[] = {{"user", GF_PART_STRING, 0}, {"time", GF_PART_U64, 0}};
static const gf_family families[] = {
    {"packed", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, NULL, false},
    {"wide", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false},
    {"history", GF_LAYOUT_PACKED, 3, 0, GF_COMPRESSION_NONE, NULL, false},
    {"events", GF_LAYOUT_WIDE, 3, 0, GF_COMPRESSION_NONE, NULL, false},
};
static const gf_schema schema = {"actions", parts, 2, families, 4};

static void encodes_as_documented(void **state)
{
    (void)state;
    gf_buffer row = {0}, key = {0};
    gf_key_string(&row, GF_SLICE("u1"));
    gf_key_u64(&row, 2);
    gf_leveldb_keys_cell(&key, &schema, 258, 3, gf_buffer_view(&row), GF_SLICE("q"));
    gf_leveldb_keys_version(&key, 1247443200000);
    gf_buffer_u32be(&key, 5);
    static const unsigned char want[] = {
        0x01, 0x02, 0x03,                               /* table 258, family 3 */
        'u',  '1',  0x00, 0x01,                         /* "u1" */
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, /* 2 */
        'q',  0x00, 0x01,                               /* "q" */
        0x7F, 0xFF, 0xFE, 0xDD, 0x8E, 0x97, 0x57, 0xFF, /* 2^63 - 1 - 1247443200000 */
        0x00, 0x00, 0x00, 0x05,                         /* block 5 */
    };
    assert_int_equal(key.len, sizeof want);
    assert_memory_equal(key.ptr, want, sizeof want);
    gf_buffer_release(&row);
    gf_buffer_release(&key);
}

static void newer_versions_come_first(void **state)
{
    (void)state;
    static const int64_t falling[] = {INT64_MAX, 1247443200001, 1247443200000, 1,        0,
                                      -1,        -5000,         INT64_MIN + 1, INT64_MIN};
    char keys[9][8];
    for (size_t i = 0; i < 9; i++) {
        gf_buffer key = {0};
        gf_leveldb_keys_version(&key, falling[i]);
        assert_int_equal(key.len, 8);
        memcpy(keys[i], key.ptr, 8);
        if (i) assert_true(memcmp(keys[i - 1], keys[i], 8) < 0);
        gf_buffer_release(&key);
    }
}

/* A random key of family f, taken apart into what it was made of. */
static void round_trip(gf_random *r, unsigned f)
{
    gf_error err;
    gf_buffer row = {0}, key = {0}, part = {0};
    char name[4], qualifier[4];
    for (int i = 0; i < 4; i++) {
        name[i] = (char)gf_random_below(r, 3);
        qualifier[i] = (char)(gf_random_below(r, 2) ? 0xFF : 0);
    }
    size_t name_length = (size_t)gf_random_below(r, 5);
    gf_slice q = gf_slice_of(qualifier, (size_t)gf_random_below(r, 5));
    uint32_t block = (uint32_t)gf_random_below(r, 3);
    int64_t timestamp = (int64_t)gf_random_u64(r);
    gf_key_string(&row, gf_slice_of(name, name_length));
    gf_key_u64(&row, gf_random_u64(r));
    gf_leveldb_keys_cell(&key, &schema, 1, f, gf_buffer_view(&row), q);
    size_t cell = key.len;
    if (gf_leveldb_keys_have_versions(&families[f])) gf_leveldb_keys_version(&key, timestamp);
    size_t head = key.len;
    if (block) gf_buffer_u32be(&key, block);
    gf_leveldb_key k;
    assert_ok(gf_leveldb_keys_parse(&schema, gf_buffer_view(&key), &k, &err));
    assert_true(gf_slice_equal(k.row, gf_buffer_view(&row)));
    assert_int_equal(k.cell.len, cell);
    assert_int_equal(k.head.len, head);
    assert_int_equal(k.block, block);
    if (families[f].layout == GF_LAYOUT_WIDE) {
        gf_slice encoded = k.qualifier;
        assert_true(gf_key_take_string(&encoded, &part));
        assert_true(gf_slice_equal(gf_buffer_view(&part), q));
    } else {
        assert_int_equal(k.qualifier.len, 0);
    }
    for (size_t n = 0; n < key.len; n++) { /* no start of a key is a key, but for its head */
        gf_status st = gf_leveldb_keys_parse(&schema, gf_slice_of(key.ptr, n), &k, &err);
        assert_int_equal(st, block && n == head ? GF_OK : GF_ECORRUPT);
    }
    gf_buffer_byte(&key, 1); /* nor anything behind one */
    assert_status(GF_ECORRUPT, gf_leveldb_keys_parse(&schema, gf_buffer_view(&key), &k, &err));
    gf_buffer_release(&row);
    gf_buffer_release(&key);
    gf_buffer_release(&part);
}

static void round_trips(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 4000; i++)
        round_trip(&r, (unsigned)i % 4);
}

static void refuses_damaged_keys(void **state)
{
    (void)state;
    gf_error err;
    gf_leveldb_key k;
    gf_buffer key = {0};
    gf_leveldb_keys_family(&key, 1, 4); /* no such family */
    gf_key_string(&key, GF_SLICE("u1"));
    gf_key_u64(&key, 2);
    assert_status(GF_ECORRUPT, gf_leveldb_keys_parse(&schema, gf_buffer_view(&key), &k, &err));
    key.ptr[2] = 0;
    assert_ok(gf_leveldb_keys_parse(&schema, gf_buffer_view(&key), &k, &err));
    gf_buffer_u32be(&key, 0); /* block 0 is the head, which has no number */
    assert_status(GF_ECORRUPT, gf_leveldb_keys_parse(&schema, gf_buffer_view(&key), &k, &err));
    gf_buffer_release(&key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_as_documented),
        cmocka_unit_test(newer_versions_come_first),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(refuses_damaged_keys),
    };
    return cmocka_run_group_tests_name("leveldb_keys", tests, NULL, NULL);
}
