#include "support/test.h"

#include "base/random.h"
#include "storage/leveldb/value.h"

#include <string.h>

/* A value stored and read again, block by block, as the backend does it. */
static void round_trip(gf_slice value, gf_compression compression, int64_t timestamp,
                       size_t *stored_bytes)
{
    gf_error err;
    gf_stored_value v;
    gf_value_head head;
    gf_slice again;
    gf_buffer scratch = {0}, entry = {0}, all = {0}, unpacked = {0};
    assert_ok(gf_value_prepare(value, compression, timestamp, &scratch, &v, &err));
    gf_value_write_head(&v, &entry);
    assert_ok(gf_value_read_head(gf_buffer_view(&entry), &head, &err));
    assert_int_equal(head.timestamp, timestamp);
    assert_int_equal(gf_value_head_blocks(&head), gf_value_blocks(&v));
    gf_buffer_slice(&all, head.first);
    for (uint32_t i = 1; i < gf_value_blocks(&v); i++) {
        gf_slice block = gf_value_block(&v, i);
        assert_in_range(block.len, 1, GF_BLOCK_BYTES);
        gf_buffer_slice(&all, block);
    }
    assert_int_equal(all.len, head.length);
    assert_ok(gf_value_unpack(head.flags, gf_buffer_view(&all), &unpacked, &again, &err));
    assert_true(gf_slice_equal(again, value));
    *stored_bytes = all.len;
    gf_buffer_release(&scratch);
    gf_buffer_release(&entry);
    gf_buffer_release(&all);
    gf_buffer_release(&unpacked);
}

static void writes_heads_as_documented(void **state)
{
    (void)state;
    gf_error err;
    gf_stored_value v;
    gf_buffer scratch = {0}, entry = {0};
    assert_ok(gf_value_prepare(GF_SLICE("ab"), GF_COMPRESSION_NONE, 0, &scratch, &v, &err));
    gf_value_write_head(&v, &entry);
    assert_int_equal(entry.len, 3);
    assert_memory_equal(entry.ptr, "\0ab", 3);
    gf_buffer_reset(&entry);
    assert_ok(gf_value_prepare(GF_SLICE("ab"), GF_COMPRESSION_SNAPPY, 258, &scratch, &v, &err));
    gf_value_write_head(&v, &entry);
    assert_int_equal(entry.len, 11);
    assert_memory_equal(entry.ptr, "\1\0\0\0\0\0\0\1\2ab", 11); /* too short to compress */
    gf_buffer_release(&scratch);
    gf_buffer_release(&entry);
}

static void cuts_above_a_block(void **state)
{
    (void)state;
    static char bytes[3 * GF_BLOCK_BYTES + 1];
    static const struct {
        size_t length;
        uint32_t blocks;
    } cases[] = {{0, 1},
                 {GF_BLOCK_BYTES, 1},
                 {GF_BLOCK_BYTES + 1, 2},
                 {2 * GF_BLOCK_BYTES, 2},
                 {3 * GF_BLOCK_BYTES + 1, 4}};
    gf_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gf_stored_value v;
        size_t stored;
        gf_slice value = gf_slice_of(bytes, cases[i].length);
        assert_ok(gf_value_prepare(value, GF_COMPRESSION_NONE, 5, NULL, &v, &err));
        assert_int_equal(gf_value_blocks(&v), cases[i].blocks);
        round_trip(value, GF_COMPRESSION_NONE, -5, &stored);
        assert_int_equal(stored, cases[i].length);
        round_trip(value, GF_COMPRESSION_SNAPPY, 0, &stored);
        if (cases[i].length) assert_in_range(stored, 1, cases[i].length / 2);
    }
}

static void round_trips_random_values(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 300; i++) {
        gf_buffer value = {0};
        size_t stored, n = (size_t)gf_random_below(&r, i % 10 ? 300 : 300000);
        uint64_t kinds = 1 + gf_random_below(&r, 256);
        for (size_t k = 0; k < n; k++)
            gf_buffer_byte(&value, (char)gf_random_below(&r, kinds));
        round_trip(gf_buffer_view(&value), i % 2 ? GF_COMPRESSION_SNAPPY : GF_COMPRESSION_NONE,
                   (int64_t)gf_random_u64(&r) | 1, &stored);
        assert_in_range(stored, 0, n); /* never larger than it was */
        gf_buffer_release(&value);
    }
}

static void refuses_damaged_heads(void **state)
{
    (void)state;
    static char block[GF_BLOCK_BYTES + 4];
    gf_error err;
    gf_value_head head;
    static const gf_slice bad[] = {
        {NULL, 0},
        {"\x10", 1},
        {"\x80", 1},
        {"\x01"
         "1234567",
         8},
        {"\x04\xFF", 2},
        {"\x04\x05"
         "abcde",
         7},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_status(GF_ECORRUPT, gf_value_read_head(bad[i], &head, &err));
    memcpy(block, "\x04\x80\x80\x04", 4); /* says 65,536 bytes: that is not cut */
    assert_status(GF_ECORRUPT, gf_value_read_head(gf_slice_of(block, sizeof block), &head, &err));
    memcpy(block, "\x04\x81\x80\x04", 4); /* one more */
    assert_ok(gf_value_read_head(gf_slice_of(block, sizeof block), &head, &err));
    assert_int_equal(gf_value_head_blocks(&head), 2);
    assert_status(GF_ECORRUPT,
                  gf_value_read_head(gf_slice_of(block, sizeof block - 1), &head, &err));
}

static void refuses_damaged_compression(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_stored_value v;
    gf_slice value;
    gf_buffer scratch = {0}, unpacked = {0}, text = {0};
    static const gf_slice bad[] = {{NULL, 0},
                                   {"\x05"
                                    "ab",
                                    3},
                                   {"\xFF\xFF\xFF\xFF\x0F"
                                    "a",
                                    6},
                                   {"\xFF\xFF\xFF\xFF\xFF\xFF", 6}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_status(GF_ECORRUPT, gf_value_unpack(2, bad[i], &unpacked, &value, &err));
    assert_true(unpacked.capacity < 1 << 20); /* a length of 4 GiB was not believed */
    for (int i = 0; i < 200; i++)
        gf_buffer_format(&text, "line %d of some text\n", i);
    assert_ok(
        gf_value_prepare(gf_buffer_view(&text), GF_COMPRESSION_SNAPPY, 0, &scratch, &v, &err));
    assert_int_equal(v.flags, 2);
    for (int i = 0; i < 5000; i++) {
        size_t at = (size_t)gf_random_below(&r, v.bytes.len);
        char *byte = (char *)v.bytes.ptr + at, was = *byte;
        *byte ^= (char)(1u << gf_random_below(&r, 8));
        gf_status st = gf_value_unpack(2, v.bytes, &unpacked, &value, &err);
        if (st != GF_OK) assert_int_equal(st, GF_ECORRUPT);
        *byte = was;
    }
    gf_buffer_release(&scratch);
    gf_buffer_release(&unpacked);
    gf_buffer_release(&text);
}

static gf_status prepare_and_unpack(void *context, gf_error *err)
{
    gf_stored_value v;
    gf_slice value;
    gf_buffer scratch = {0}, unpacked = {0};
    gf_status st =
        gf_value_prepare(gf_buffer_view(context), GF_COMPRESSION_SNAPPY, 1, &scratch, &v, err);
    if (st == GF_OK) st = gf_value_unpack(v.flags, v.bytes, &unpacked, &value, err);
    gf_buffer_release(&scratch);
    gf_buffer_release(&unpacked);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_buffer text = {0};
    for (int i = 0; i < 100; i++)
        gf_buffer_str(&text, "much of the same ");
    gf_test_sweep(prepare_and_unpack, NULL, &text);
    gf_buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_heads_as_documented),  cmocka_unit_test(cuts_above_a_block),
        cmocka_unit_test(round_trips_random_values),   cmocka_unit_test(refuses_damaged_heads),
        cmocka_unit_test(refuses_damaged_compression), cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}
