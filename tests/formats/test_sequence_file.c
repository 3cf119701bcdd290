/*
 * Exports of HBase: what its own Export wrote in each form, cut at every byte, with every byte changed,
 * and with allocations that fail. tests/owners/data has the files, and how they were made.
 */
#include "formats/hbase/hbase_result.h"
#include "formats/hbase/sequence_file.h"
#include "support/test.h"
#include "tests/formats/memory_input.h"

#include "base/hex.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

static gf_buffer read_fixture(const char *path)
{
    char name[500];
    char piece[4096];
    gf_buffer all = {0};
    snprintf(name, sizeof name, "%s/tests/owners/data/%s", getenv("GROUPERFISH_SOURCE"), path);
    FILE *f = fopen(name, "rb");
    if (!f) fail_msg("cannot open %s", name);
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        gf_buffer_append(&all, piece, n);
    fclose(f);
    return all;
}

/* All cells of a file, a line each, into *out. */
static gf_status list_cells(gf_slice bytes, size_t chunk, gf_buffer *out, gf_error *err)
{
    memory_stream stream = {"part-m-00000", bytes, true};
    memory_input memory = {.streams = &stream, .n = 1, .chunk = chunk};
    gf_input input = memory_input_start(&memory);
    gf_sequence_reader *reader;
    gf_sequence_record record;
    gf_wide_row row = {0};
    gf_status st =
        gf_sequence_reader_open(&input, GF_HBASE_KEY_CLASS, GF_HBASE_VALUE_CLASS, &reader, err);
    if (st != GF_OK) return st;
    while ((st = gf_sequence_reader_next(reader, &record, err)) == GF_OK) {
        st = gf_hbase_result_read(record.key, record.value, &row, err);
        if (st != GF_OK) break;
        for (size_t i = 0; i < row.n; i++) {
            const gf_wide_cell *c = &row.cells[i];
            gf_buffer_format(out, "%.*s %.*s:%.*s %lld %d ", GF_SLICE_ARG(row.key),
                             GF_SLICE_ARG(c->family), GF_SLICE_ARG(c->qualifier),
                             (long long)c->timestamp, c->kind);
            gf_hex_append(out, c->value);
            gf_buffer_byte(out, '\n');
        }
    }
    gf_wide_row_release(&row);
    gf_sequence_reader_close(reader);
    if (st == GF_ENOTFOUND) st = gf_buffer_check(out, err);
    return st;
}

static gf_buffer cells_of(const char *path)
{
    gf_error err;
    gf_buffer bytes = read_fixture(path), cells = {0};
    gf_status st = list_cells(gf_buffer_view(&bytes), 7, &cells, &err);
    if (st != GF_OK) fail_msg("%s: %s", path, err.message);
    gf_buffer_release(&bytes);
    return cells;
}

/* The same table in each form: the same cells. */
static void all_forms(void **state)
{
    (void)state;
    static const char *const forms[] = {"users-syncs", "users-record", "users-block",
                                        "users-block-SnappyCodec", "users-block-BZip2Codec"};
    gf_buffer plain = cells_of("hbase/users-plain/part-m-00000");
    const char *all = gf_buffer_cstr(&plain);
    assert_non_null(strstr(all, "u1 friend:u2 2000 4 636c6f7365\nu1 friend:u2 1000 4 7363686f6f6c\n"
                                "u1 friend:u3 3000 4 \nu1 info:age 2000 4 0000000000000022\n"));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char path[100];
        snprintf(path, sizeof path, "hbase/%s/part-m-00000", forms[i]);
        gf_buffer cells = cells_of(path);
        assert_string_equal(gf_buffer_cstr(&cells), all);
        gf_buffer_release(&cells);
    }
    gf_buffer_release(&plain);
}

static void deletions(void **state)
{
    (void)state;
    gf_buffer raw = cells_of("hbase/users-raw/part-m-00000");
    assert_non_null(strstr(gf_buffer_cstr(&raw), "u3 with a space friend:u1 1800 12 \n"));
    assert_non_null(strstr(gf_buffer_cstr(&raw), "u4 friend: 1900 14 \n"));
    gf_buffer_release(&raw);
}

static void of_094(void **state)
{
    (void)state;
    gf_buffer old = cells_of("hbase-0.94/users");
    assert_string_equal(gf_buffer_cstr(&old),
                        "u1 friend:u2 2000 4 636c6f7365\nu1 friend:u3 3000 4 \n"
                        "u1 info:age 2000 4 0000000000000022\nu1 info:age 1000 4 0000000000000021\n"
                        "u1 info:name 1000 4 416e6e\nu2 info:age 1500 4 ffffffffffffffff\n");
    gf_buffer_release(&old);
}

/* ---- gzip ------------------------------------------------------------------------------------ */

/* A header as the fixtures have it, with gzip for the codec, and one record whose value is packed so. */
static void gzip(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer file = {0}, cells = {0};
    char packed[200];
    static const char value[] = "\x13\x0A\x11\x0A\x01r\x12\x01"
                                "f\x1A\x01q\x20\x05\x28\x04\x32\x02v\0";
    gf_slice classes[] = {GF_SLICE(GF_HBASE_KEY_CLASS), GF_SLICE(GF_HBASE_VALUE_CLASS),
                          GF_SLICE("org.apache.hadoop.io.compress.GzipCodec")};
    z_stream z = {.next_in = (Bytef *)(uintptr_t)value,
                  .avail_in = 20,
                  .next_out = (Bytef *)packed,
                  .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    gf_buffer_str(&file, "SEQ\x06");
    for (int i = 0; i < 3; i++) {
        if (i == 2) gf_buffer_append(&file, "\1\0", 2);
        gf_buffer_byte(&file, (char)classes[i].len);
        gf_buffer_slice(&file, classes[i]);
    }
    gf_buffer_u32be(&file, 0);
    gf_buffer_str(&file, "0123456789abcdef");
    gf_buffer_u32be(&file, (uint32_t)(5 + z.total_out));
    gf_buffer_u32be(&file, 5);
    gf_buffer_append(&file, "\0\0\0\1r", 5);
    gf_buffer_append(&file, packed, z.total_out);
    gf_status st = list_cells(gf_buffer_view(&file), 0, &cells, &err);
    if (st != GF_OK) fail_msg("%s", err.message);
    assert_string_equal(gf_buffer_cstr(&cells), "r f:q 5 4 7600\n");
    gf_buffer_release(&file);
    gf_buffer_release(&cells);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static const char *const damaged_forms[] = {"hbase/users-plain/part-m-00000",
                                            "hbase/users-record/part-m-00000",
                                            "hbase/users-block/part-m-00000",
                                            "hbase/users-block-SnappyCodec/part-m-00000",
                                            "hbase/users-block-BZip2Codec/part-m-00000",
                                            "hbase-0.94/users"};
enum { N_DAMAGED = sizeof damaged_forms / sizeof *damaged_forms };

/* A file that is cut anywhere but behind a record says so, and gives what stands before. */
static void cut(void **state)
{
    (void)state;
    gf_error err;
    for (int i = 0; i < N_DAMAGED; i++) {
        size_t whole = 0;
        gf_buffer bytes = read_fixture(damaged_forms[i]), all = {0}, cells = {0};
        assert_ok(list_cells(gf_buffer_view(&bytes), 0, &all, &err));
        for (size_t n = 1; n < bytes.len; n++) {
            gf_buffer_reset(&cells);
            gf_status st = list_cells(gf_slice_of(bytes.ptr, n), 0, &cells, &err);
            whole += st == GF_OK;
            if (st != GF_OK && st != GF_ECORRUPT && (st != GF_EINVAL || n > 4))
                fail_msg("%s, %zu bytes: %d %s", damaged_forms[i], n, st, err.message);
            assert_true(cells.len <= all.len &&
                        memcmp(cells.ptr ? cells.ptr : "", all.ptr, cells.len) == 0);
        }
        assert_in_range(whole, 1, 100); /* behind the header, a record, a block */
        gf_buffer_release(&bytes);
        gf_buffer_release(&all);
        gf_buffer_release(&cells);
    }
}

/* Any byte may be any other: an answer comes, within the bounds. */
static void changed(void **state)
{
    (void)state;
    static const unsigned char others[] = {0, 1, 0x7F, 0x80, 0x8F, 0xFF};
    gf_error err;
    uint64_t refused = 0;
    for (int i = 0; i < N_DAMAGED; i++) {
        gf_buffer bytes = read_fixture(damaged_forms[i]), cells = {0};
        size_t most = bytes.len < 1200 ? bytes.len : 1200;
        for (size_t at = 0; at < most; at++)
            for (size_t o = 0; o < sizeof others; o++) {
                char was = bytes.ptr[at];
                bytes.ptr[at] = (char)others[o];
                gf_buffer_reset(&cells);
                err = (gf_error){GF_OK, ""};
                gf_status st = list_cells(gf_buffer_view(&bytes), 0, &cells, &err);
                if (st != GF_OK && st != GF_ECORRUPT && st != GF_EINVAL && st != GF_ELIMIT)
                    fail_msg("%s, byte %zu: %d %s", damaged_forms[i], at, st, err.message);
                assert_true(st == GF_OK || err.message[0]);
                refused += st != GF_OK;
                bytes.ptr[at] = was;
            }
        gf_buffer_release(&bytes);
        gf_buffer_release(&cells);
    }
    assert_true(refused > 5000);
}

static void check_refused(const char *from, const char *to, gf_status expected, const char *words)
{
    gf_error err;
    gf_buffer bytes = read_fixture("hbase/users-record/part-m-00000"), cells = {0};
    char *at = memmem(bytes.ptr, bytes.len, from, strlen(from));
    assert_non_null(at);
    memcpy(at, to, strlen(to));
    assert_int_equal(list_cells(gf_buffer_view(&bytes), 0, &cells, &err), expected);
    if (!strstr(err.message, words)) fail_msg("%s", err.message);
    gf_buffer_release(&bytes);
    gf_buffer_release(&cells);
}

static void others(void **state)
{
    (void)state;
    check_refused("SEQ", "SEX", GF_EINVAL, "is no SequenceFile of Hadoop");
    check_refused("SEQ\x06", "SEQ\x05", GF_EINVAL, "a SequenceFile of version 5; only 6");
    check_refused("ImmutableBytesWritable", "AnotherBytesWritable!!", GF_EINVAL,
                  "its keys are of class");
    check_refused("client.Result", "client.Other!", GF_EINVAL, "its values are of class");
    check_refused("DefaultCodec", "DefaultCadec", GF_EINVAL, "none of DefaultCodec, ");
}

/* ---- failing allocations --------------------------------------------------------------------- */

static gf_status run_listed(void *context, gf_error *err)
{
    gf_buffer cells = {0};
    gf_status st = list_cells(*(gf_slice *)context, 0, &cells, err);
    gf_buffer_release(&cells);
    return st;
}

static void memory_fails(void **state)
{
    (void)state;
    for (int i = 0; i < N_DAMAGED; i++) {
        gf_buffer bytes = read_fixture(damaged_forms[i]);
        gf_slice view = gf_buffer_view(&bytes);
        gf_test_sweep(run_listed, NULL, &view);
        gf_buffer_release(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms), cmocka_unit_test(deletions),    cmocka_unit_test(of_094),
        cmocka_unit_test(gzip),      cmocka_unit_test(cut),          cmocka_unit_test(changed),
        cmocka_unit_test(others),    cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests_name("sequence_file", tests, NULL, NULL);
}
