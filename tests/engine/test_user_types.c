/* Types of users' tables: the bytes of values and of keys, and what is not of a type. */
#include "tests/engine/fixture.h"

#include "base/hex.h"
#include "base/random.h"
#include "engine/user_tables/user_tables_internal.h"

#define S(text) gf_slice_str(text)

/* ---- types ----------------------------------------------------------------------------------- */

static void bytes_of_values(void **state)
{
    (void)state;
    static const struct {
        const char *type, *text, *hex; /* hex NULL: refused */
    } all[] = {{"int64", "200", "00000000000000c8"},
               {"int64", "-1", "ffffffffffffffff"},
               {"int64", "-9223372036854775808", "8000000000000000"},
               {"int64", "9223372036854775807", "7fffffffffffffff"},
               {"int64", "9223372036854775808", NULL},
               {"int64", "-9223372036854775809", NULL},
               {"int64", "", NULL},
               {"int64", "-", NULL},
               {"int64", "+1", NULL},
               {"int64", "1.0", NULL},
               {"uint64", "22", "0000000000000016"},
               {"uint64", "18446744073709551615", "ffffffffffffffff"},
               {"uint64", "18446744073709551616", NULL},
               {"uint64", "-1", NULL},
               {"decimal", "-12", "2d3132"},
               {"decimal", "007", "37"},
               {"decimal", "x", NULL},
               {"float", "1", "3ff0000000000000"},
               {"float", "-0.5", "bfe0000000000000"},
               {"float", "nan", NULL},
               {"float", "1e999", NULL},
               {"bytes", "00fFA0", "00ffa0"},
               {"bytes", "", ""},
               {"bytes", "0", NULL},
               {"bytes", "0g", NULL},
               {"text", "\xC3\xA4", "c3a4"},
               {"text", "", ""},
               {"text", "\xC3", NULL},
               {"json", " {\"a\" : [1, 2.50]}\n", "7b2261223a5b312c322e355d7d"},
               {"json", "", NULL},
               {"json", "{", NULL}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        gf_type type;
        gf_error err;
        gf_buffer bytes = {0}, text = {0}, again = {0};
        assert_true(gf_type_named(S(all[i].type), &type));
        assert_string_equal(gf_type_name(type), all[i].type);
        gf_status st = gf_user_table_value_write(type, S(all[i].text), &bytes, &err);
        assert_int_equal(st, all[i].hex ? GF_OK : GF_EINVAL);
        if (st == GF_OK) {
            gf_hex_append(&text, gf_buffer_view(&bytes));
            assert_slice(gf_buffer_view(&text), all[i].hex);
            gf_buffer_reset(&text);
            assert_true(gf_user_table_value_print(type, gf_buffer_view(&bytes), &text));
            assert_ok(gf_user_table_value_write(type, gf_buffer_view(&text), &again, &err));
            assert_true(gf_slice_equal(gf_buffer_view(&bytes), gf_buffer_view(&again)));
        }
        gf_buffer_release(&bytes);
        gf_buffer_release(&text);
        gf_buffer_release(&again);
    }
}

/* Any bytes are of a type, and come back from its text form, or are told not to be. */
static void any_bytes(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 20000; i++) {
        char bytes[9];
        size_t n = gf_random_below(&r, sizeof bytes + 1);
        gf_type type = (gf_type)gf_random_below(&r, GF_TYPE_JSON + 1);
        gf_buffer text = {0}, again = {0};
        gf_error err;
        for (size_t b = 0; b < n; b++)
            bytes[b] = (char)gf_random_below(&r, gf_random_below(&r, 2) ? 256 : 128);
        if (gf_user_table_value_print(type, gf_slice_of(bytes, n), &text)) {
            assert_ok(gf_user_table_value_write(type, gf_buffer_view(&text), &again, &err));
            bool shorter =
                type == GF_TYPE_DECIMAL || type == GF_TYPE_JSON; /* one form of several */
            if (!shorter)
                assert_true(gf_slice_equal(gf_slice_of(bytes, n), gf_buffer_view(&again)));
        } else {
            assert_int_equal(text.len, 0);
        }
        gf_buffer_release(&text);
        gf_buffer_release(&again);
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void key_is(gf_user_table *t, const char *const *parts, unsigned n, const char *hex)
{
    gf_error err;
    gf_slice slices[8];
    gf_buffer key = {0}, text = {0};
    for (unsigned i = 0; i < n; i++)
        slices[i] = S(parts[i]);
    assert_ok(gf_user_table_key_write(t, slices, n, &key, &err));
    gf_hex_append(&text, gf_buffer_view(&key));
    assert_slice(gf_buffer_view(&text), hex);
    gf_slice rest = gf_buffer_view(&key);
    for (unsigned i = 0; i < n; i++) {
        gf_buffer_reset(&text);
        assert_ok(gf_user_table_key_take(t, i, &rest, &text, &err));
        assert_slice(gf_buffer_view(&text), parts[i]);
    }
    assert_int_equal(rest.len, 0);
    assert_status(GF_ECORRUPT, gf_user_table_key_take(t, n, &rest, &text, &err));
    gf_buffer_release(&key);
    gf_buffer_release(&text);
}

static void bytes_of_keys(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    gf_user_table *t = fixture_make_table(
        &f, "keys",
        "{\"key\":[{\"name\":\"a\"},{\"name\":\"b\",\"type\":\"int64\"},{\"name\":"
        "\"c\",\"type\":\"uint64\"},{\"name\":\"d\",\"type\":\"bytes\"},{\"name\":"
        "\"e\",\"type\":\"raw\",\"width\":3}],\"families\":[{\"name\":\"m\"}]}");
    key_is(t, (const char *[]){"u1", "-1", "9223370789411575807", "00ff", "abcdef"}, 5,
           "75310001"
           "7fffffffffffffff"
           "7ffffedd8e9757ff"
           "00ffff0001"
           "abcdef");
    key_is(t, (const char *[]){"", "0"}, 2, "00018000000000000000");

    gf_buffer key = {0};
    const gf_slice short_raw[] = {S("x"), S("1"), S("1"), S("00"), S("abcd")};
    assert_status(GF_EINVAL, gf_user_table_key_write(t, short_raw, 5, &key, &err));
    assert_non_null(strstr(err.message, "key part e"));
    assert_status(GF_EINVAL, gf_user_table_key_start(t, 1, S("1"), &key, &err));
    gf_buffer_reset(&key);
    assert_ok(gf_user_table_key_start(t, 4, S("abcd"), &key, &err));
    assert_int_equal(key.len, 2);
    gf_buffer_release(&key);
    gf_user_table_close(t);
    fixture_close(&f);
}

/* What falls: the greatest number's bytes come first, over the whole range of the type. */
static void bytes_of_falling_keys(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    gf_user_table *t = fixture_make_table(
        &f, "actions",
        "{\"key\":[{\"name\":\"user\"},{\"name\":\"time\",\"type\":\"int64-desc\"},{\"name\":"
        "\"n\",\"type\":\"uint64-desc\"}],\"families\":[{\"name\":\"m\"}]}");
    key_is(t, (const char *[]){"u1", "1247443200000", "0"}, 3,
           "75310001"
           "7ffffedd8e9757ff"
           "ffffffffffffffff");
    key_is(t, (const char *[]){"u1", "1247443200001", "18446744073709551615"}, 3,
           "75310001"
           "7ffffedd8e9757fe"
           "0000000000000000");
    static const char *const rising[] = {
        "-9223372036854775808", "-2", "-1", "0", "1", "1247443200000", "9223372036854775807"};
    gf_buffer last = {0}, key = {0};
    for (size_t i = 0; i < sizeof rising / sizeof rising[0]; i++) {
        const gf_slice parts[] = {S("u"), S(rising[i])};
        gf_buffer_reset(&key);
        assert_ok(gf_user_table_key_write(t, parts, 2, &key, &err));
        if (i) assert_true(gf_slice_compare(gf_buffer_view(&key), gf_buffer_view(&last)) < 0);
        gf_buffer_reset(&last);
        gf_buffer_slice(&last, gf_buffer_view(&key));
        gf_slice rest = gf_buffer_view(&key);
        gf_buffer_reset(&key);
        assert_ok(gf_user_table_key_take(t, 0, &rest, &key, &err));
        gf_buffer_reset(&key);
        assert_ok(gf_user_table_key_take(t, 1, &rest, &key, &err));
        assert_slice(gf_buffer_view(&key), rising[i]);
    }
    gf_buffer_release(&last);
    gf_buffer_release(&key);
    gf_slice json = gf_user_table_json(t);
    assert_non_null(memmem(json.ptr, json.len, "int64-desc", strlen("int64-desc")));
    gf_user_table_close(t);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_values),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(bytes_of_keys),
        cmocka_unit_test(bytes_of_falling_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
