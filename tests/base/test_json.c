#include "support/test.h"

#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static gf_json_parser *parser;

static int make_parser(void **state)
{
    (void)state;
    return gf_json_parser_create(&parser, NULL) == GF_OK ? 0 : -1;
}

static int free_parser(void **state)
{
    (void)state;
    gf_json_parser_free(parser);
    gf_json_parser_free(NULL);
    return 0;
}

static gf_json_value parse(const char *text)
{
    gf_json_value v;
    gf_error err;
    if (gf_json_parse_copy(parser, gf_slice_str(text), &v, &err) != GF_OK)
        fail_msg("%s: %s", text, err.message);
    assert_int_equal(gf_json_parser_problem(parser), GF_JSON_NO_PROBLEM);
    return v;
}

static gf_json_value member(gf_json_value v, const char *name)
{
    gf_json_value m;
    if (!gf_json_member(v, name, &m)) fail_msg("there is no %s", name);
    return m;
}

static void reads_a_record(void **state)
{
    (void)state;
    gf_json_value v = parse(" {\"id\": 10, \"text\": \"Have \\\"more\\\"\\u0000 \\ud83d\\udc1f\", "
                            "\"time\": 1.5e3, \"tags\": [true, null, []], \"id\": 11} ");
    assert_int_equal(gf_json_kind_of(v), GF_JSON_OBJECT);
    assert_int_equal(gf_json_get_int(member(v, "id")), 10);
    gf_slice text = gf_json_get_string(member(v, "text"));
    assert_true(gf_slice_equal(text, GF_SLICE("Have \"more\"\0 \U0001F41F")));
    assert_near(gf_json_number(member(v, "time")), 1500, 0);
    gf_json_value none;
    assert_false(gf_json_member(v, "Id", &none));
    assert_false(gf_json_member(member(v, "tags"), "id", &none));
    assert_false(gf_json_member(member(v, "id"), "id", &none));

    static const char *const names[] = {"id", "text", "time", "tags", "id"};
    gf_json_iterator it = gf_json_items(v);
    gf_slice name;
    gf_json_value item;
    for (int i = 0; i < 5; i++) {
        assert_true(gf_json_next(&it, &name, &item));
        assert_slice(name, names[i]);
    }
    assert_int_equal(gf_json_get_int(item), 11);
    assert_false(gf_json_next(&it, &name, &item));
    assert_false(gf_json_next(&it, &name, &item));

    static const gf_json_kind kinds[] = {GF_JSON_BOOL, GF_JSON_NULL, GF_JSON_ARRAY};
    it = gf_json_items(member(v, "tags"));
    for (int i = 0; i < 3; i++) {
        assert_true(gf_json_next(&it, NULL, &item));
        assert_int_equal(gf_json_kind_of(item), kinds[i]);
    }
    assert_false(gf_json_next(&it, NULL, &item));
}

static void values_of_another_kind_do_no_harm(void **state)
{
    (void)state;
    const char *texts[] = {"null", "true",  "-5",  "18446744073709551615",
                           "0.5",  "\"a\"", "[1]", "{\"a\":1}"};
    for (int kind = 0; kind < 8; kind++) {
        gf_json_value v = parse(texts[kind]), item;
        assert_int_equal(gf_json_kind_of(v), kind);
        assert_int_equal(gf_json_is_number(v), kind >= GF_JSON_INT && kind <= GF_JSON_DOUBLE);
        assert_int_equal(gf_json_get_bool(v), kind == GF_JSON_BOOL);
        if (kind != GF_JSON_INT) assert_int_equal(gf_json_get_int(v), 0);
        if (kind != GF_JSON_UINT) assert_int_equal(gf_json_get_uint(v), 0);
        if (!gf_json_is_number(v)) assert_near(gf_json_number(v), 0, 0);
        assert_int_equal(gf_json_get_string(v).len, kind == GF_JSON_STRING);
        gf_json_iterator it = gf_json_items(v);
        assert_int_equal(gf_json_next(&it, NULL, &item), kind >= GF_JSON_ARRAY);
    }
}

static void integers_of_64_bits_are_kept(void **state)
{
    (void)state;
    assert_true(gf_json_get_int(parse("-9223372036854775808")) == INT64_MIN);
    assert_true(gf_json_get_int(parse("9223372036854775807")) == INT64_MAX);
    assert_int_equal(gf_json_kind_of(parse("9223372036854775807")), GF_JSON_INT);
    assert_int_equal(gf_json_kind_of(parse("9223372036854775808")), GF_JSON_UINT);
    assert_true(gf_json_get_uint(parse("9223372036854775808")) == (uint64_t)1 << 63);
    assert_true(gf_json_get_uint(parse("18446744073709551615")) == UINT64_MAX);
    assert_true(gf_json_get_uint(parse("9007199254740993")) == 9007199254740993);
    assert_int_equal(gf_json_kind_of(parse("-0")), GF_JSON_INT);
    assert_near(gf_json_number(parse("18446744073709551615")), 0x1p64, 0);
    assert_near(gf_json_number(parse("-9223372036854775808")), -0x1p63, 0);
}

static void values_are_written_as_they_were(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-1",
                                        "-9223372036854775808",
                                        "9223372036854775807",
                                        "18446744073709551615",
                                        "1.5",
                                        "\"\"",
                                        "\"plain \xC3\xA9\"",
                                        "\"a\\\"b\"",
                                        "\"a\\\\b\"",
                                        "\"\\u0001\\n\\t\"",
                                        "\"/\x7F\"",
                                        "true",
                                        "null",
                                        "[1,\"x\",{\"k\":[]}]"};
    gf_error err;
    gf_buffer out = {0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        gf_buffer_reset(&out);
        assert_ok(gf_json_write(parse(texts[i]), &out, &err));
        assert_string_equal(gf_buffer_cstr(&out), texts[i]);
    }
    gf_buffer_release(&out);
}

static void doubles_are_read_to_the_last_bit(void **state)
{
    (void)state;
    assert_near(gf_json_number(parse("1.7976931348623157e308")), 0x1.fffffffffffffp1023, 0);
    assert_near(gf_json_number(parse("5e-324")), 0x1p-1074, 0);
    assert_near(gf_json_number(parse("2.2250738585072011e-308")), 0x0.fffffffffffffp-1022, 0);
    assert_near(gf_json_number(parse("1e-400")), 0, 0);
    assert_near(gf_json_number(parse("9007199254740993.0")), 9007199254740992, 0);
    const char *doubles[] = {"1.0", "1e0", "-0.0", "1E+2", "18446744073709551616.0", "1e22"};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(gf_json_kind_of(parse(doubles[i])), GF_JSON_DOUBLE);
    assert_true(signbit(gf_json_number(parse("-0.0"))));
}

typedef struct hostile {
    gf_json_problem problem;
    gf_slice text;
} hostile;

#define BAD(problem, text)                                                                         \
    {                                                                                              \
        GF_JSON_BAD_##problem,                                                                     \
        {                                                                                          \
            text, sizeof(text) - 1                                                                 \
        }                                                                                          \
    }

static const hostile hostile_texts[] = {
    BAD(SYNTAX, ""),
    BAD(SYNTAX, " \t\r\n"),
    BAD(SYNTAX, "{"),
    BAD(SYNTAX, "[1,]"),
    BAD(SYNTAX, "[1 2]"),
    BAD(SYNTAX, "[,1]"),
    BAD(SYNTAX, "[1]]"),
    BAD(SYNTAX, "[1}"),
    BAD(SYNTAX, "{\"a\":1,}"),
    BAD(SYNTAX, "{\"a\" 1}"),
    BAD(SYNTAX, "{\"a\"}"),
    BAD(SYNTAX, "{a:1}"),
    BAD(SYNTAX, "{'a':1}"),
    BAD(SYNTAX, "{1:1}"),
    BAD(SYNTAX, "{\"a\":1 \"b\":2}"),
    BAD(SYNTAX, "{\"a\":{}:1}"),
    BAD(SYNTAX, "1 2"),
    BAD(SYNTAX, "{} {}"),
    BAD(SYNTAX, "[] garbage"),
    BAD(SYNTAX, "tru"),
    BAD(SYNTAX, "True"),
    BAD(SYNTAX, "truex"),
    BAD(SYNTAX, "nul"),
    BAD(SYNTAX, "NaN"),
    BAD(SYNTAX, "[Infinity]"),
    BAD(SYNTAX, "\"never closed"),
    BAD(SYNTAX, "\"never closed\\\""),
    BAD(SYNTAX, "[\"a\nb\"]"),
    BAD(SYNTAX, "[\"a\0b\"]"),
    BAD(SYNTAX, "[1,\0 2]"),
    BAD(SYNTAX, "[1]\0"),
    BAD(SYNTAX, "// comment\n1"),
    BAD(SYNTAX, "[1] /* comment */"),
    BAD(SYNTAX, "+1"),
    BAD(SYNTAX, "[.5]"),
    BAD(NUMBER, "01"),
    BAD(NUMBER, "-"),
    BAD(NUMBER, "[-]"),
    BAD(NUMBER, "[1.]"),
    BAD(NUMBER, "[1.e5]"),
    BAD(NUMBER, "[1e]"),
    BAD(NUMBER, "[1e+]"),
    BAD(NUMBER, "[0x10]"),
    BAD(NUMBER, "[1_000]"),
    BAD(NUMBER, "[-01]"),
    BAD(NUMBER, "18446744073709551616"),
    BAD(NUMBER, "-9223372036854775809"),
    BAD(NUMBER, "99999999999999999999999999"),
    BAD(NUMBER, "1e400"),
    BAD(NUMBER, "[-1e309]"),
    BAD(NUMBER, "1.7976931348623159e308"),
    BAD(STRING, "\"\\x41\""),
    BAD(STRING, "\"\\u12G4\""),
    BAD(STRING, "\"\\u12\""),
    BAD(STRING, "{\"\\q\":1}"),
    BAD(UTF8, "\"\xFF\""),
    BAD(UTF8, "\"caf\xE9\""),
    BAD(UTF8, "\"\xC0\x80\""),
    BAD(UTF8, "\"\xED\xA0\x80\""),
    BAD(UTF8, "\"\xF4\x90\x80\x80\""),
    BAD(UTF8, "\"\xE6\x97\""),
    BAD(UTF8, "[1]\xE6"),
};

static void hostile_texts_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hostile_texts / sizeof hostile_texts[0]; i++) {
        gf_error err = {GF_OK, ""};
        gf_json_value v = {NULL, 77};
        gf_slice text = hostile_texts[i].text;
        if (gf_json_parse_copy(parser, text, &v, &err) != GF_EINVAL)
            fail_msg("%.*s is accepted", GF_SLICE_ARG(text));
        if (gf_json_parser_problem(parser) != hostile_texts[i].problem)
            fail_msg("%.*s: problem %d (%s), not %d", GF_SLICE_ARG(text),
                     (int)gf_json_parser_problem(parser), err.message,
                     (int)hostile_texts[i].problem);
        assert_int_equal(err.status, GF_EINVAL);
        assert_true(strlen(err.message) > 10);
        assert_true(!v.document && v.index == 77);
        assert_int_equal(gf_json_get_int(parse("42")), 42);
    }
}

/* n brackets of one kind, or of both in turn, around a number. */
static gf_slice nested(gf_buffer *b, size_t n, int kind)
{
    gf_buffer_reset(b);
    for (size_t i = 0; i < n; i++)
        gf_buffer_str(b, kind == 0 || (kind == 2 && i % 2) ? "[" : "{\"a\":");
    gf_buffer_byte(b, '1');
    for (size_t i = n; i-- > 0;)
        gf_buffer_byte(b, kind == 0 || (kind == 2 && i % 2) ? ']' : '}');
    return gf_buffer_view(b);
}

static void the_depth_limit_is_exact(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer text = {0}, out = {0};
    for (int kind = 0; kind < 3; kind++) {
        gf_json_value v;
        assert_ok(gf_json_parse_copy(parser, nested(&text, GF_JSON_DEPTH, kind), &v, &err));
        gf_buffer_reset(&out);
        assert_ok(gf_json_write(v, &out, &err));
        assert_true(gf_slice_equal(gf_buffer_view(&out), gf_buffer_view(&text)));
        const size_t deeper[] = {GF_JSON_DEPTH + 1, GF_JSON_DEPTH + 2, 100000};
        for (size_t i = 0; i < 3; i++) {
            gf_slice deep = nested(&text, deeper[i], kind);
            assert_status(GF_EINVAL, gf_json_parse_copy(parser, deep, &v, &err));
            assert_int_equal(gf_json_parser_problem(parser), GF_JSON_TOO_DEEP);
            assert_string_equal(err.message, "JSON nested more than 512 deep");
        }
    }
    gf_buffer_release(&text);
    gf_buffer_release(&out);
}

/*
 * Write a random value where w is given, else compare v with what the same random numbers wrote.
 */
static void walk(gf_random *r, int depth, gf_json_writer *w, gf_json_value v)
{
    static const gf_slice texts[] = {{"", 0},     {"plain", 5},        {"\"\\\n\x01", 4},
                                     {"a\0b", 3}, {"\xE6\x97\xA5", 3}, {"\xF0\x9F\x90\x9F", 4}};
    gf_json_kind kind = (gf_json_kind)gf_random_below(r, depth ? 8 : 6);
    uint64_t bits = gf_random_u64(r) >> gf_random_below(r, 64);
    double number = (double)(bits >> 24) / 1024 + 0x1p-11; /* never whole, so never an integer */
    gf_slice text = texts[bits % 6];
    if (kind == GF_JSON_UINT) bits |= (uint64_t)1 << 63;
    if (!w)
        assert_int_equal(gf_json_kind_of(v), kind == GF_JSON_INT && (int64_t)bits < 0 ? 2 : kind);
    switch (kind) {
    case GF_JSON_NULL:
        if (w) gf_json_null(w);
        return;
    case GF_JSON_BOOL:
        if (w)
            gf_json_bool(w, bits & 1);
        else
            assert_int_equal(gf_json_get_bool(v), bits & 1);
        return;
    case GF_JSON_INT:
        if (w)
            gf_json_int(w, (int64_t)bits);
        else
            assert_true(gf_json_get_int(v) == (int64_t)bits);
        return;
    case GF_JSON_UINT:
        if (w)
            gf_json_uint(w, bits);
        else
            assert_true(gf_json_get_uint(v) == bits);
        return;
    case GF_JSON_DOUBLE:
        if (w)
            gf_json_double(w, number);
        else
            assert_near(gf_json_number(v), number, 0);
        return;
    case GF_JSON_STRING:
        if (w)
            gf_json_string(w, text);
        else
            assert_true(gf_slice_equal(gf_json_get_string(v), text));
        return;
    case GF_JSON_ARRAY:
    case GF_JSON_OBJECT:
        break;
    }
    gf_json_iterator it = {0};
    int is_object = kind == GF_JSON_OBJECT;
    if (w)
        gf_json_begin(w, is_object ? '{' : '[');
    else
        it = gf_json_items(v);
    gf_slice name;
    gf_json_value item = {0};
    for (uint64_t i = bits % 5; i > 0; i--) {
        gf_slice expected = texts[gf_random_below(r, 6)];
        if (w && is_object) gf_json_key_slice(w, expected);
        if (!w) assert_true(gf_json_next(&it, &name, &item));
        if (!w && is_object) assert_true(gf_slice_equal(name, expected));
        walk(r, depth - 1, w, item);
    }
    if (w)
        gf_json_end(w, is_object ? '}' : ']');
    else
        assert_false(gf_json_next(&it, &name, &item));
}

static gf_slice write_random(gf_random r, gf_buffer *out)
{
    gf_buffer_reset(out);
    gf_json_writer w = gf_json_writer_to(out);
    walk(&r, 6, &w, (gf_json_value){0});
    return gf_buffer_view(out);
}

static void random_values_round_trip(void **state)
{
    (void)state;
    uint64_t seed = gf_test_seed();
    gf_error err;
    gf_buffer text = {0}, again = {0};
    for (uint64_t i = 0; i < 5000; i++) {
        gf_random r = gf_random_seed(seed, i);
        gf_json_value v;
        assert_ok(gf_json_parse_copy(parser, write_random(r, &text), &v, &err));
        gf_random same = r;
        walk(&same, 6, NULL, v);
        gf_buffer_reset(&again);
        assert_ok(gf_json_write(v, &again, &err));
        assert_ok(gf_json_parse_copy(parser, gf_buffer_view(&again), &v, &err));
        walk(&r, 6, NULL, v);
    }
    gf_buffer_release(&text);
    gf_buffer_release(&again);
}

/* `n` bytes that end where memory ends: the page behind them may not be touched. */
static char *memory_before_guard(size_t n, size_t *mapped)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (n + page - 1) / page * page;
    *mapped = size + page;
    char *p = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + size, page, PROT_NONE), 0);
    return p + size - n;
}

/*
 * The parser reads no further than GF_JSON_PADDING bytes behind the text, whatever they hold: one
 * byte more is another page, and the sequel of a number, a word or a string must not be taken up.
 */
static void padding_of_any_content_is_enough(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_error err;
    static const char *const sequels[] = {"7", "\"", "]", "e", " ", "\\", "}", ",", "\xFF", "."};
    gf_buffer text = {0}, out = {0};
    size_t mapped, room = 1 << 16;
    char *end = memory_before_guard(room, &mapped) + room;
    for (uint64_t i = 0; i < 3000; i++) {
        gf_slice s = write_random(gf_random_seed(i, 1), &text);
        if (i % 4 == 0) gf_buffer_reset(&text), gf_buffer_str(&text, i % 8 ? "true" : "12");
        s = gf_buffer_view(&text);
        assert_true(s.len + GF_JSON_PADDING <= room);
        char *at = end - GF_JSON_PADDING - s.len;
        memcpy(at, s.ptr, s.len);
        memset(end - GF_JSON_PADDING, sequels[gf_random_below(&r, 10)][0], GF_JSON_PADDING);
        gf_json_value v;
        assert_ok(gf_json_parse(parser, gf_slice_of(at, s.len), &v, &err));
        gf_buffer_reset(&out);
        assert_ok(gf_json_write(v, &out, &err));
        assert_ok(gf_json_parse_copy(parser, s, &v, &err));
        size_t before = out.len;
        assert_ok(gf_json_write(v, &out, &err));
        assert_int_equal(out.len, 2 * before);
        assert_memory_equal(out.ptr, out.ptr + before, before);
        /* Without padding: the copying call reads nothing behind the text. */
        memcpy(end - s.len, s.ptr, s.len);
        assert_ok(gf_json_parse_copy(parser, gf_slice_of(end - s.len, s.len), &v, &err));
        assert_status(GF_EINVAL, gf_json_parse_copy(parser, gf_slice_of(end, 0), &v, &err));
    }
    munmap(end - (mapped - (size_t)sysconf(_SC_PAGESIZE)), mapped);
    gf_buffer_release(&text);
    gf_buffer_release(&out);
}

/* Damaged texts are refused with a reason, or are JSON: then what is written is read as the same.
 */
static void damaged_texts_do_no_harm(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_error err;
    gf_buffer text = {0}, once = {0}, twice = {0};
    int refused = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        write_random(gf_random_seed(i, 2), &text);
        for (uint64_t n = 1 + gf_random_below(&r, 3); n > 0; n--) {
            uint64_t any = gf_random_u64(&r);
            char byte = any & 1 ? (char)(any >> 8) : "{}[]\",:\\u0e-."[any % 14];
            text.ptr[gf_random_below(&r, text.len)] = byte;
        }
        if (gf_random_below(&r, 4) == 0) text.len = gf_random_below(&r, text.len);
        gf_json_value v;
        gf_status st = gf_json_parse_copy(parser, gf_buffer_view(&text), &v, &err);
        if (st != GF_OK) {
            assert_int_equal(st, GF_EINVAL);
            assert_int_not_equal(gf_json_parser_problem(parser), GF_JSON_NO_PROBLEM);
            refused++;
            continue;
        }
        gf_buffer_reset(&once);
        gf_buffer_reset(&twice);
        assert_ok(gf_json_write(v, &once, &err));
        assert_ok(gf_json_parse_copy(parser, gf_buffer_view(&once), &v, &err));
        assert_ok(gf_json_write(v, &twice, &err));
        assert_true(gf_slice_equal(gf_buffer_view(&once), gf_buffer_view(&twice)));
    }
    assert_true(refused > 1000 && refused < 19990);
    gf_buffer_release(&text);
    gf_buffer_release(&once);
    gf_buffer_release(&twice);
}

static gf_status write_root(void *context, gf_error *err)
{
    gf_buffer out = {0};
    gf_status st = GF_OK;
    for (int i = 0; i < 20 && st == GF_OK; i++)
        st = gf_json_write(*(gf_json_value *)context, &out, err);
    gf_buffer_release(&out);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_error err;
    gf_json_value v = parse("{\"text\":\"Have more than thou showest\",\"id\":[1,2.5,null,true]}");
    gf_test_sweep(write_root, NULL, &v);
    gf_buffer out;
    gf_buffer_init(&out, 10);
    assert_status(GF_ELIMIT, gf_json_write(v, &out, &err));
    assert_int_equal(out.len, 0);
    gf_buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_record),
        cmocka_unit_test(values_of_another_kind_do_no_harm),
        cmocka_unit_test(integers_of_64_bits_are_kept),
        cmocka_unit_test(values_are_written_as_they_were),
        cmocka_unit_test(doubles_are_read_to_the_last_bit),
        cmocka_unit_test(hostile_texts_are_refused),
        cmocka_unit_test(the_depth_limit_is_exact),
        cmocka_unit_test(random_values_round_trip),
        cmocka_unit_test(padding_of_any_content_is_enough),
        cmocka_unit_test(damaged_texts_do_no_harm),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("json", tests, make_parser, free_parser);
}
