#include "support/test.h"

#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/random.h"
#include "base/utf8.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void puts_commas_where_they_belong(void **state)
{
    (void)state;
    gf_buffer b = {0};
    gf_json_writer w = gf_json_writer_to(&b);
    gf_json_begin(&w, '{');
    gf_json_put_str(&w, "label", "macbeth");
    gf_json_put_uint(&w, "size", UINT64_MAX);
    gf_json_key_slice(&w, GF_SLICE("members"));
    gf_json_begin(&w, '[');
    gf_json_begin(&w, '[');
    gf_json_end(&w, ']');
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "id", 1);
    gf_json_end(&w, '}');
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "id", 2);
    gf_json_end(&w, '}');
    gf_json_null(&w);
    gf_json_bool(&w, false);
    gf_json_int(&w, INT64_MIN);
    gf_json_raw(&w, GF_SLICE("{\"a\":1}"));
    gf_json_string(&w, GF_SLICE("doc3"));
    gf_json_end(&w, ']');
    gf_json_put_bool(&w, "served", true);
    gf_json_put_double(&w, "score", 0.5);
    gf_json_put_float(&w, "weight", 0.1f);
    gf_json_put_string(&w, "", GF_SLICE(""));
    gf_json_end(&w, '}');
    assert_slice(gf_buffer_view(&b),
                 "{\"label\":\"macbeth\",\"size\":18446744073709551615,\"members\":[[],"
                 "{\"id\":1},{\"id\":2},null,"
                 "false,-9223372036854775808,{\"a\":1},\"doc3\"],\"served\":true,\"score\":0.5,"
                 "\"weight\":0.1,\"\":\"\"}");
    gf_buffer_release(&b);
}

static void escapes_what_must_be(void **state)
{
    (void)state;
    gf_buffer b = {0};
    gf_json_append_string(&b, GF_SLICE("\"\\\n\r\t\b\f/\x7F\0\x01\x1F\u00E9\u2028"));
    assert_slice(gf_buffer_view(&b),
                 "\"\\\"\\\\\\n\\r\\t\\b\\f/\x7F\\u0000\\u0001\\u001f\u00E9\u2028\"");
    gf_buffer_reset(&b);
    gf_json_append_string(&b, (gf_slice){NULL, 0});
    assert_slice(gf_buffer_view(&b), "\"\"");
    gf_buffer_release(&b);
}

/* The parser reads back the text, repaired where it was not UTF-8. */
/* Bytes are looked at eight at once: so each byte stands once in each place of those, and behind.
 */
static void each_byte_in_each_place(void **state)
{
    (void)state;
    static const char bytes[] = "\n\r\t\b\f\"\\", letters[] = "nrtbf\"\\";
    for (unsigned c = 0; c < 0x80; c++)
        for (size_t length = 1; length < 20; length++)
            for (size_t at = 0; at < length; at++) {
                char text[20], once[8];
                gf_buffer b = {0}, expected = {0};
                memset(text, c % 2 ? '~' : '!', sizeof text);
                text[at] = (char)c;
                snprintf(once, sizeof once, "\\u%04x", c);
                if (c >= 0x20) snprintf(once, sizeof once, "%c", (char)c);
                const char *found = c ? strchr(bytes, (int)c) : NULL;
                if (found) snprintf(once, sizeof once, "\\%c", letters[found - bytes]);
                gf_buffer_byte(&expected, '"');
                gf_buffer_append(&expected, text, at);
                gf_buffer_str(&expected, once);
                gf_buffer_append(&expected, text + at + 1, length - at - 1);
                gf_buffer_byte(&expected, '"');
                gf_json_append_string(&b, gf_slice_of(text, length));
                assert_slice(gf_buffer_view(&b), gf_buffer_cstr(&expected));
                gf_buffer_release(&b);
                gf_buffer_release(&expected);
            }
}

static void any_bytes_read_back_repaired(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_error err;
    gf_json_parser *parser = NULL;
    assert_ok(gf_json_parser_create(&parser, &err));
    gf_buffer json = {0}, repaired = {0};
    for (int i = 0; i < 30000; i++) {
        static const char *const pieces[] = {"a",      "\"",         "\\",   "\n",
                                             "\u00E9", "\U0001F41F", "\xE6", "\xF0\x9F"};
        gf_buffer text = {0};
        for (uint64_t n = gf_random_below(&r, 30); n > 0; n--) {
            if (gf_random_below(&r, 4) == 0)
                gf_buffer_byte(&text, (char)gf_random_below(&r, 256));
            else
                gf_buffer_str(&text, pieces[gf_random_below(&r, 8)]);
        }
        gf_buffer_reset(&json);
        gf_buffer_reset(&repaired);
        gf_json_append_string(&json, gf_buffer_view(&text));
        gf_utf8_repair(gf_buffer_view(&text), &repaired);
        gf_json_value v;
        assert_ok(gf_json_parse_copy(parser, gf_buffer_view(&json), &v, &err));
        assert_true(gf_slice_equal(gf_json_get_string(v), gf_buffer_view(&repaired)));
        gf_buffer_release(&text);
    }
    gf_buffer_release(&json);
    gf_buffer_release(&repaired);
    gf_json_parser_free(parser);
}

static void check_double(double v, const char *expected)
{
    gf_buffer b = {0};
    gf_json_writer w = gf_json_writer_to(&b);
    gf_json_double(&w, v);
    assert_slice(gf_buffer_view(&b), expected);
    gf_buffer_release(&b);
}

static void writes_known_numbers(void **state)
{
    (void)state;
    check_double(0, "0");
    check_double(1, "1");
    check_double(-2.5, "-2.5");
    check_double(0.1, "0.1");
    check_double(0.1 + 0.2, "0.30000000000000004");
    check_double(1.0 / 3, "0.3333333333333333");
    check_double(100000, "100000");
    check_double(9007199254740992, "9007199254740992");
    check_double(1352352956.5, "1352352956.5");
    check_double(1e22, "1e+22");
    check_double(5e-324, "5e-324");
    check_double(NAN, "null");
    check_double(INFINITY, "null");
    check_double(-INFINITY, "null");
    gf_buffer b = {0};
    gf_json_writer w = gf_json_writer_to(&b);
    gf_json_begin(&w, '[');
    gf_json_float(&w, 0.3f);
    gf_json_float(&w, 16777216);
    gf_json_float(&w, 1e-45f);
    gf_json_float(&w, NAN);
    gf_json_float(&w, -INFINITY);
    gf_json_end(&w, ']');
    assert_slice(gf_buffer_view(&b), "[0.3,16777216,1e-45,null,null]");
    gf_buffer_release(&b);
}

/* Significant digits of a decimal; zeros before and behind do not count. */
static int digits_of(const char *text)
{
    int n = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0')) continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        n++;
    }
    return n - zeros;
}

static int same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* No decimal of fewer digits may read back as v, but for one of fewer characters: 2870335232. */
static void check_shortest(gf_buffer *b, double v, int is_float)
{
    char rounded[64];
    int digits = 0;
    double back;
    do {
        snprintf(rounded, sizeof rounded, "%.*e", digits++, v);
        back = is_float ? (double)strtof(rounded, NULL) : strtod(rounded, NULL);
    } while (!same_bits(back, v));
    gf_buffer_reset(b);
    if (is_float)
        gf_json_append_float(b, (float)v);
    else
        gf_json_append_double(b, v);
    const char *text = gf_buffer_cstr(b);
    back = is_float ? (double)strtof(text, NULL) : strtod(text, NULL);
    if (!same_bits(back, v)) fail_msg("%.17g is written as %s", v, text);
    if (digits_of(text) > digits && strlen(text) > strlen(rounded))
        fail_msg("%.17g is written as %s, not %s", v, text, rounded);
}

static void random_numbers_read_back_and_are_short(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer b = {0};
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = gf_random_u64(&r);
        if (i % 8 == 0) bits &= ~((uint64_t)0x7FF << 52); /* subnormal */
        double v;
        memcpy(&v, &bits, sizeof v);
        if (i % 8 == 1) v = (double)gf_random_below(&r, 1000000) / 1000;
        if (i % 8 == 2) v = ldexp(1, (int)gf_random_below(&r, 2000) - 1000);
        if (i % 8 == 3) v = gf_random_unit(&r);
        if (isfinite(v)) check_shortest(&b, v, 0);
        uint32_t half = (uint32_t)bits;
        float f;
        memcpy(&f, &half, sizeof f);
        if (i % 8 == 3) f = (float)gf_random_unit(&r);
        if (isfinite(f)) check_shortest(&b, (double)f, 1);
    }
    gf_buffer_release(&b);
}

/* A program around the library may have set a locale that writes 0,5; JSON knows only 0.5. */
static void the_locale_has_no_say(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    int tried = 0;
    for (size_t i = 0; i < 4; i++) {
        if (!setlocale(LC_ALL, names[i])) continue;
        tried++;
        check_double(0.5, "0.5");
        check_double(-1234567.25, "-1234567.25");
    }
    setlocale(LC_ALL, "C");
    if (!tried) skip(); /* no such locale is installed */
}

static void nests_63_deep(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer b = {0};
    gf_json_writer w = gf_json_writer_to(&b);
    for (int i = 0; i < 63; i++)
        gf_json_begin(&w, '[');
    gf_json_int(&w, 1);
    gf_json_int(&w, 2);
    for (int i = 0; i < 63; i++)
        gf_json_end(&w, ']');
    assert_ok(gf_buffer_check(&b, &err));
    assert_int_equal(b.len, 2 * 63 + 3);
    assert_memory_equal(b.ptr + 62, "[1,2]", 5);
    gf_buffer_release(&b);
}

static void write_some(gf_buffer *b)
{
    gf_json_writer w = gf_json_writer_to(b);
    gf_json_begin(&w, '{');
    gf_json_put_str(&w, "text", "Have more than thou \"showest\"\n\x01");
    gf_json_put_uint(&w, "id", 10);
    gf_json_put_double(&w, "score", 0.125);
    gf_json_end(&w, '}');
}

/* A buffer of just the size holds it; of one byte less it keeps the failure. */
static void the_maximum_is_exact(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer whole = {0};
    write_some(&whole);
    for (size_t max = 1; max <= whole.len; max++) {
        gf_buffer b;
        gf_buffer_init(&b, max);
        write_some(&b);
        assert_status(max < whole.len ? GF_ELIMIT : GF_OK, gf_buffer_check(&b, &err));
        assert_true(gf_slice_starts(gf_buffer_view(&whole), gf_buffer_view(&b)));
        gf_buffer_release(&b);
    }
    gf_buffer_release(&whole);
}

static gf_status write_much(void *context, gf_error *err)
{
    (void)context;
    gf_buffer b = {0};
    for (int i = 0; i < 30; i++)
        write_some(&b);
    gf_status st = gf_buffer_check(&b, err);
    gf_buffer_release(&b);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(write_much, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_commas_where_they_belong),
        cmocka_unit_test(escapes_what_must_be),
        cmocka_unit_test(each_byte_in_each_place),
        cmocka_unit_test(any_bytes_read_back_repaired),
        cmocka_unit_test(writes_known_numbers),
        cmocka_unit_test(random_numbers_read_back_and_are_short),
        cmocka_unit_test(the_locale_has_no_say),
        cmocka_unit_test(nests_63_deep),
        cmocka_unit_test(the_maximum_is_exact),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("json_writer", tests, NULL, NULL);
}
