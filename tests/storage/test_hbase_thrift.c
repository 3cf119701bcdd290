/* Thrift's binary protocol: by hand, round trips, and bytes that are none of it. */
#include "tests/support/test.h"

#include "base/random.h"
#include "storage/hbase/thrift.h"

static void writes_as_the_protocol_says(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer b = {0};
    gf_thrift_begin(&b, GF_THRIFT_CALL, "get", 7);
    gf_thrift_string_field(&b, 1, GF_SLICE("t"));
    gf_thrift_field(&b, GF_THRIFT_STRUCT, 2);
    gf_thrift_i32_field(&b, 5, 258);
    gf_thrift_i64_field(&b, 3, -2);
    gf_thrift_bool_field(&b, 11, true);
    gf_thrift_stop(&b);
    assert_ok(gf_thrift_end(&b, &err));
    static const unsigned char want[] = {
        0,    0, 0,  50,                                             /* bytes of the frame */
        0x80, 1, 0,  1,    0,    0,    0,    3,    'g',  'e',  't',  /* a call of get */
        0,    0, 0,  7,                                              /* its number */
        11,   0, 1,  0,    0,    0,    1,    't',                    /* 1: a string */
        12,   0, 2,                                                  /* 2: a struct */
        8,    0, 5,  0,    0,    1,    2,                            /* 5: i32 */
        10,   0, 3,  0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, /* 3: i64 */
        2,    0, 11, 1,    0,    0};                                 /* 11: bool; both end */
    assert_int_equal(b.len, sizeof want);
    assert_memory_equal(b.ptr, want, sizeof want);
    gf_buffer_release(&b);
}

/* ---- random values --------------------------------------------------------------------------- */

static const gf_thrift_type types[] = {GF_THRIFT_BOOL,   GF_THRIFT_BYTE,   GF_THRIFT_DOUBLE,
                                       GF_THRIFT_I16,    GF_THRIFT_I32,    GF_THRIFT_I64,
                                       GF_THRIFT_STRING, GF_THRIFT_STRUCT, GF_THRIFT_MAP,
                                       GF_THRIFT_SET,    GF_THRIFT_LIST};

static gf_thrift_type any_type(gf_random *r, int depth)
{
    return types[gf_random_below(r, depth > 3 ? 7 : sizeof types / sizeof types[0])];
}

static void put_any(gf_random *r, gf_buffer *b, gf_thrift_type type, int depth);

static void put_bytes(gf_random *r, gf_buffer *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gf_buffer_byte(b, (char)gf_random_below(r, 256));
}

static void put_any_list(gf_random *r, gf_buffer *b, int depth)
{
    gf_thrift_type type = any_type(r, depth);
    size_t n = (size_t)gf_random_below(r, 4);
    gf_thrift_list(b, type, n);
    for (size_t i = 0; i < n; i++)
        put_any(r, b, type, depth + 1);
}

static void put_any_map(gf_random *r, gf_buffer *b, int depth)
{
    gf_thrift_type key = any_type(r, depth), value = any_type(r, depth);
    size_t n = (size_t)gf_random_below(r, 3);
    gf_buffer_byte(b, (char)key);
    gf_thrift_list(b, value, n);
    for (size_t i = 0; i < n; i++) {
        put_any(r, b, key, depth + 1);
        put_any(r, b, value, depth + 1);
    }
}

static void put_any(gf_random *r, gf_buffer *b, gf_thrift_type type, int depth)
{
    static const size_t sizes[] = {
        [GF_THRIFT_BOOL] = 1, [GF_THRIFT_BYTE] = 1, [GF_THRIFT_I16] = 2,
        [GF_THRIFT_I32] = 4,  [GF_THRIFT_I64] = 8,  [GF_THRIFT_DOUBLE] = 8};
    if (type == GF_THRIFT_STRING) {
        size_t n = (size_t)gf_random_below(r, 20);
        gf_buffer_u32be(b, (uint32_t)n);
        put_bytes(r, b, n);
    } else if (type == GF_THRIFT_STRUCT) {
        for (uint64_t n = gf_random_below(r, 4); n; n--) {
            gf_thrift_type of = any_type(r, depth);
            gf_thrift_field(b, of, (uint16_t)n);
            put_any(r, b, of, depth + 1);
        }
        gf_thrift_stop(b);
    } else if (type == GF_THRIFT_MAP) {
        put_any_map(r, b, depth);
    } else if (type == GF_THRIFT_LIST || type == GF_THRIFT_SET) {
        put_any_list(r, b, depth);
    } else {
        put_bytes(r, b, sizes[type]);
    }
}

static void passes_over_any_value(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer b = {0};
    for (int i = 0; i < 5000; i++) {
        gf_thrift_type type = any_type(&r, 0);
        gf_buffer_reset(&b);
        put_any(&r, &b, type, 0);
        size_t n = b.len;
        gf_buffer_str(&b, "behind");
        gf_thrift_reader reader = {.rest = gf_buffer_view(&b)};
        gf_slice raw = gf_thrift_take_raw(&reader, type);
        assert_false(reader.bad);
        assert_int_equal(raw.len, n);
        assert_slice(reader.rest, "behind");
        /* Cut anywhere it is bad, and says nothing. */
        gf_thrift_reader cut = {.rest = gf_slice_of(b.ptr, (size_t)gf_random_below(&r, n ? n : 1))};
        if (n) gf_thrift_skip(&cut, type);
        assert_true(cut.bad || n == 0);
        assert_int_equal(cut.rest.len, 0);
    }
    gf_buffer_release(&b);
}

static void reads_what_it_wrote(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer b = {0};
    gf_thrift_type type;
    uint16_t id;
    gf_thrift_message message;
    gf_thrift_begin(&b, GF_THRIFT_REPLY, "getMultiple", 0xFFFFFFFE);
    gf_thrift_field(&b, GF_THRIFT_LIST, 0);
    gf_thrift_list(&b, GF_THRIFT_STRING, 2);
    gf_thrift_string(&b, GF_SLICE("a\0b"));
    gf_thrift_string(&b, GF_SLICE(""));
    gf_thrift_field(&b, GF_THRIFT_MAP, 9);
    gf_buffer_byte(&b, GF_THRIFT_STRING);
    gf_thrift_list(&b, GF_THRIFT_I32, 1);
    gf_thrift_string(&b, GF_SLICE("k"));
    gf_buffer_u32be(&b, 3);
    gf_thrift_i64_field(&b, 300, INT64_MIN);
    assert_ok(gf_thrift_end(&b, &err));
    gf_thrift_reader r = {.rest = gf_slice_skip(gf_buffer_view(&b), 4)};
    assert_true(gf_thrift_take_message(&r, &message));
    assert_int_equal(message.kind, GF_THRIFT_REPLY);
    assert_slice(message.name, "getMultiple");
    assert_int_equal(message.number, 0xFFFFFFFE);
    assert_true(gf_thrift_take_field(&r, &type, &id));
    assert_int_equal(id, 0);
    assert_int_equal(gf_thrift_take_list(&r, GF_THRIFT_STRING), 2);
    assert_true(gf_slice_equal(gf_thrift_take_string(&r), GF_SLICE("a\0b")));
    assert_int_equal(gf_thrift_take_string(&r).len, 0);
    assert_true(gf_thrift_take_field(&r, &type, &id));
    assert_int_equal(gf_thrift_take_map(&r, GF_THRIFT_STRING, GF_THRIFT_I32), 1);
    assert_slice(gf_thrift_take_string(&r), "k");
    assert_int_equal(gf_thrift_take_i32(&r), 3);
    assert_true(gf_thrift_take_field(&r, &type, &id));
    assert_int_equal(id, 300);
    assert_true(gf_thrift_take_i64(&r) == INT64_MIN);
    assert_false(gf_thrift_take_field(&r, &type, &id));
    assert_false(r.bad);
    assert_int_equal(r.rest.len, 0);
    gf_buffer_release(&b);
}

/* ---- hostile --------------------------------------------------------------------------------- */

static void turns_bad(const char *bytes, size_t n, gf_thrift_type type)
{
    gf_thrift_reader r = {.rest = gf_slice_of(bytes, n)};
    gf_thrift_skip(&r, type);
    assert_true(r.bad);
    assert_int_equal(gf_thrift_take_i32(&r), 0); /* and stays so */
    assert_int_equal(gf_thrift_take_string(&r).len, 0);
}

static void refuses_hostile_lengths(void **state)
{
    (void)state;
    turns_bad("\x7F\xFF\xFF\xFFxy", 6, GF_THRIFT_STRING);
    turns_bad("\xFF\xFF\xFF\xFFxy", 6, GF_THRIFT_STRING);
    turns_bad("\x0C\x7F\xFF\xFF\xFF\0\0\0\0", 9, GF_THRIFT_LIST); /* 2^31 structs in 4 bytes */
    turns_bad("\x00\x7F\xFF\xFF\xFF\0\0\0\0", 9, GF_THRIFT_LIST); /* of no type */
    turns_bad("\x0B\x00\x00\x00\x00\x01xxxxxxxx", 14, GF_THRIFT_MAP);
    turns_bad("\x0B\x0B\x10\x00\x00\x00xxxxxxxx", 14, GF_THRIFT_MAP);
    turns_bad("\x01\x00\x01\x00", 4, GF_THRIFT_STRUCT); /* a type that there is not */
    char nested[300];
    for (size_t i = 0; i + 3 <= sizeof nested; i += 3)
        memcpy(nested + i, "\x0C\x00\x01", 3); /* structs in structs */
    turns_bad(nested, sizeof nested, GF_THRIFT_STRUCT);
}

static void refuses_other_messages(void **state)
{
    (void)state;
    static const char *const heads[] = {"HTTP/1.1 400 Bad Request",
                                        "\x80\x02\x00\x02\0\0\0\0\0\0\0\0",
                                        "\x80\x01\x00\x09\0\0\0\0\0\0\0\0", ""};
    static const size_t lengths[] = {24, 12, 12, 0};
    for (size_t i = 0; i < 4; i++) {
        gf_thrift_message message;
        gf_thrift_reader r = {.rest = gf_slice_of(heads[i], lengths[i])};
        assert_false(gf_thrift_take_message(&r, &message));
    }
}

static gf_status write_message(void *context, gf_error *err)
{
    (void)context;
    gf_buffer b = {0};
    gf_thrift_begin(&b, GF_THRIFT_CALL, "put", 1);
    gf_thrift_string_field(&b, 1, GF_SLICE("table"));
    gf_status st = gf_thrift_end(&b, err);
    gf_buffer_release(&b);
    return st;
}

static void tells_of_missing_memory(void **state)
{
    (void)state;
    gf_test_sweep(write_message, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_as_the_protocol_says), cmocka_unit_test(reads_what_it_wrote),
        cmocka_unit_test(passes_over_any_value),       cmocka_unit_test(refuses_hostile_lengths),
        cmocka_unit_test(refuses_other_messages),      cmocka_unit_test(tells_of_missing_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
