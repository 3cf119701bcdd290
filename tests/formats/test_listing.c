/* Listings of shells: lines of each kind, what separates them in them, and what is written read again. */
#include "formats/bytes/listing.h"
#include "support/test.h"
#include "tests/formats/memory_input.h"

/* Rows as "key|family:qualifier@time=value|...", refused lines as "line: reason"; a line feed after each. */
static gf_status list_rows(gf_listing_kind kind, gf_slice bytes, size_t chunk,
                           gf_listing_has_family *has, gf_buffer *out, gf_error *err)
{
    memory_stream stream = {"a.scan", bytes, false};
    memory_input memory = {.streams = &stream, .n = 1, .chunk = chunk};
    gf_input input = memory_input_start(&memory);
    gf_listing *listing;
    gf_record record;
    gf_wide_row row;
    gf_status st = gf_listing_open(&input, kind, &listing, err);
    if (st != GF_OK) return st;
    gf_listing_know_families(listing, has, NULL);
    while ((st = gf_listing_next(listing, &record, &row, err)) == GF_OK) {
        if (record.kind == GF_RECORD_REFUSED) {
            gf_buffer_format(out, "%d: %s\n", (int)record.line, record.reason);
            continue;
        }
        gf_buffer_slice(out, row.key);
        for (size_t i = 0; i < row.n; i++) {
            const gf_wide_cell *c = &row.cells[i];
            gf_buffer_format(out, "|%.*s:%.*s@%lld", GF_SLICE_ARG(c->family),
                             GF_SLICE_ARG(c->qualifier),
                             c->timestamp == INT64_MAX ? -1 : (long long)c->timestamp);
            if (c->kind != GF_WIDE_PUT) gf_buffer_format(out, "!%d", c->kind);
            gf_buffer_byte(out, '=');
            for (size_t k = 0; k < c->value.len; k++)
                if ((unsigned char)c->value.ptr[k] < ' ')
                    gf_buffer_format(out, "<%d>", c->value.ptr[k]);
                else
                    gf_buffer_byte(out, c->value.ptr[k]);
        }
        gf_buffer_byte(out, '\n');
    }
    gf_listing_close(listing);
    if (st == GF_ENOTFOUND) st = gf_buffer_check(out, err);
    return st;
}

static void check(gf_listing_kind kind, gf_listing_has_family *has, const char *listing,
                  const char *expected)
{
    for (size_t chunk = 0; chunk < 3; chunk++) {
        gf_error err;
        gf_buffer out = {0};
        assert_ok(list_rows(kind, gf_slice_str(listing), chunk, has, &out, &err));
        assert_string_equal(gf_buffer_cstr(&out), expected);
        gf_buffer_release(&out);
    }
}

static void of_hbase(void **state)
{
    (void)state;
    check(GF_LISTING_HBASE, NULL,
          "hbase(main):001:0> scan 't'\n"
          "ROW                   COLUMN+CELL\n"
          "0 row(s) in 0.1230 seconds\n\n",
          "");
    check(GF_LISTING_HBASE, NULL,
          "ROW  COLUMN+CELL\n"
          " u1 column=info:name, timestamp=1000, value=Ann\n"
          " u1 column=info:age, timestamp=1970-01-01T00:00:02, value=\\x00\\x0a\\x5C\\\n"
          " u1 column=info:, timestamp=1970-01-01T00:01, type=DeleteFamily\n"
          " u1 column=info:a, timestamp=7, type=Delete\n"
          " u2 b column=x:column=y, timestamp=1970-01-01T00:00:00.005, value=, value= a \n"
          "3 row(s)\nTook 0.0254 seconds\n"
          " u2 column=x, timestamp=1, value=no colon\n"
          " u2 column=x:y, timestamp=noon, value=1\n"
          " u2 column=x:y, timestamp=1, type=Else\n"
          "u2 column=x:y, timestamp=1, value=no blank\n",
          "u1|info:name@1000=Ann|info:age@2000=<0><10>\\\\|info:@60000!14=|info:a@7!8=\n"
          "9: no_cell\n10: no_cell\n11: no_cell\n12: no_cell\n"
          "u2 b|x:column=y@5=, value= a \n");
    check(GF_LISTING_HBASE, NULL,
          " a column=f:, timestamp=1, value=1\n b column=f:, timestamp=1, value=2",
          "a|f:@1=1\nb|f:@1=2\n");
}

static bool has_info_and_friend(void *context, gf_slice family)
{
    (void)context;
    return gf_slice_equal(family, GF_SLICE("info")) || gf_slice_equal(family, GF_SLICE("friend"));
}

static void of_accumulo(void **state)
{
    (void)state;
    check(GF_LISTING_ACCUMULO, NULL,
          "root@ostmap> scan -t t\n"
          "u1 info:name []\tAnn\n"
          "u1 info:age [a|b&c] 2000\t\\x41\\\\x42\n"
          "u1 info: [] 7\n"
          "u2 info:old []    of 1.7\n"
          "u2 info:old [] 99    of 1.7 [] \n"
          "no cell\n"
          "u3 info:name [] noon\tx\n"
          "u4 a friend:b x:c []\tx\n"
          "root@ostmap t> quit\n",
          "u1|info:name@-1=Ann|info:age@2000=A\\x42|info:@7=\n"
          "7: no_cell\n8: no_cell\n9: ambiguous\n"
          "u2|info:old@-1=of 1.7|info:old@99=of 1.7 [] \n");
    check(GF_LISTING_ACCUMULO, has_info_and_friend,
          "u4 a friend:b x:c []\tx [] y\n"
          "peter tosh info:\\x21 other: [x]\tinfo:a []\n"
          "u5 other:a []\tx\n"
          "u6 info:a friend:b []\tx\n",
          "u4 a|friend:b x:c@-1=x [] y\n3: no_cell\n4: ambiguous\npeter tosh|info:! "
          "other:@-1=info:a []\n");
}

/* As a terminal of 30 columns breaks them; the shell fills each line with blanks. */
static void broken(void **state)
{
    (void)state;
    check(GF_LISTING_HBASE, NULL,
          "ROW     COLUMN+CELL           \n"
          " row_th column=f:q, timestamp=\n"
          " at_is_ 12, value=one two thre\n"
          " long   e                     \n"
          " row_th column=f:r, timestamp=\n"
          " at_is_ 13, value=             \n"
          " long                         \n"
          " u2     column=f:q, timestamp=\n"
          "        14, value=\\x           \n"
          "2 row(s)\n",
          "row_that_is_long|f:q@12=one two three|f:r@13=\nu2|f:q@14=\\x\n");
}

/* ---- writing --------------------------------------------------------------------------------- */

static void written(void **state)
{
    (void)state;
    static const gf_wide_kind kinds[] = {GF_WIDE_PUT, GF_WIDE_DELETE_VERSION,
                                         GF_WIDE_DELETE_FAMILY_VERSION, GF_WIDE_DELETE_CELL,
                                         GF_WIDE_DELETE_FAMILY};
    char bytes[256];
    gf_error err;
    gf_wide_cell cells[5];
    gf_buffer out = {0};
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    for (int i = 0; i < 5; i++)
        cells[i] =
            (gf_wide_cell){GF_SLICE("f"), gf_slice_of(bytes, 256), {"", 0}, 1000 + i, kinds[i]};
    cells[0].value = gf_slice_of(bytes, 256);
    gf_wide_row row = {.key = gf_slice_of(bytes, 256), .cells = cells, .n = 5}, read;
    gf_listing_write(&row, &out);
    memory_stream stream = {"a.scan", gf_buffer_view(&out), false};
    memory_input memory = {.streams = &stream, .n = 1};
    gf_input input = memory_input_start(&memory);
    gf_listing *listing;
    gf_record record;
    assert_ok(gf_listing_open(&input, GF_LISTING_HBASE, &listing, &err));
    assert_ok(gf_listing_next(listing, &record, &read, &err));
    assert_int_equal(record.kind, GF_RECORD_DOCUMENT);
    assert_true(gf_slice_equal(read.key, row.key));
    assert_int_equal(read.n, 5);
    for (int i = 0; i < 5; i++) {
        assert_true(gf_slice_equal(read.cells[i].family, cells[i].family));
        assert_true(gf_slice_equal(read.cells[i].qualifier, cells[i].qualifier));
        assert_true(gf_slice_equal(read.cells[i].value, cells[i].value));
        assert_int_equal(read.cells[i].timestamp, 1000 + i);
        assert_int_equal(read.cells[i].kind, kinds[i]);
    }
    assert_int_equal(gf_listing_next(listing, &record, &read, &err), GF_ENOTFOUND);
    gf_listing_close(listing);
    gf_buffer_release(&out);
}

/* ---- failing allocations --------------------------------------------------------------------- */

static gf_status run_listed(void *context, gf_error *err)
{
    gf_buffer out = {0};
    gf_status st = list_rows(GF_LISTING_HBASE, gf_slice_str(context), 0, NULL, &out, err);
    gf_buffer_release(&out);
    return st;
}

static void memory_fails(void **state)
{
    (void)state;
    static char listing[] = "ROW     COLUMN+CELL           \n"
                            " u1     column=f:q, timestamp=\n"
                            "        12, value=one         \n"
                            " u2     column=f:q, timestamp=\n"
                            "        13, value=two         \n"
                            " u3 column=f:q, timestamp=1, value=whole\n";
    gf_test_sweep(run_listed, NULL, listing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_hbase), cmocka_unit_test(of_accumulo),  cmocka_unit_test(broken),
        cmocka_unit_test(written),  cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests_name("listing", tests, NULL, NULL);
}
