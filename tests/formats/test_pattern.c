#include "support/test.h"

#include "formats/pattern.h"

static const gf_field fields[] = {
    {GF_SLICE("type"), GF_SLICE("\"issue\"")},
    {GF_SLICE("product"), GF_SLICE("\"fire\\\"fox\\u0000\"")},
    {GF_SLICE("version"), GF_SLICE("4.10")},
    {GF_SLICE("ok"), GF_SLICE("true")},
    {GF_SLICE("none"), GF_SLICE("null")},
    {GF_SLICE("list"), GF_SLICE("[1]")},
    {GF_SLICE("object"), GF_SLICE("{\"a\":1}")},
    {GF_SLICE("a b"), GF_SLICE("\"\"")},
};

static const gf_document document = {
    .id = GF_SLICE("d1"),
    .text = GF_SLICE("text"),
    .time = GF_SLICE("1296259200"),
    .language = GF_SLICE("de"),
    .fields = fields,
    .n_fields = sizeof fields / sizeof *fields,
};

static gf_status expand(const char *text, const gf_document *d, gf_buffer *out, gf_error *err)
{
    gf_pattern *pattern = NULL;
    gf_status st = gf_pattern_create(gf_slice_str(text), &pattern, err);
    if (st == GF_OK) st = gf_pattern_expand(pattern, d, out, err);
    gf_pattern_free(pattern);
    return st;
}

static void check(const char *text, gf_slice expected)
{
    gf_error err;
    gf_buffer out = {0};
    gf_buffer_str(&out, "kept ");
    assert_ok(expand(text, &document, &out, &err));
    gf_slice got = gf_slice_skip(gf_buffer_view(&out), 5);
    if (!gf_slice_equal(got, expected))
        fail_msg("%s gives %.*s, not %.*s", text, GF_SLICE_ARG(got), GF_SLICE_ARG(expected));
    gf_buffer_release(&out);
}

static void names_collections(void **state)
{
    (void)state;
    check("{type}-{version}", GF_SLICE("issue-4.10"));
    check("{type}", GF_SLICE("issue"));
    check("all", GF_SLICE("all"));
    check("{id}/{lang}/{time}", GF_SLICE("d1/de/1296259200"));
    check("{{{type}}}", GF_SLICE("{issue}"));
    check("}}{{", GF_SLICE("}{"));
    check("{product}", GF_SLICE("fire\"fox\0"));
    check("{ok}{a b}.", GF_SLICE("true."));
}

static void knows_whether_it_has_fields(void **state)
{
    (void)state;
    gf_error err;
    gf_pattern *pattern;
    assert_ok(gf_pattern_create(GF_SLICE("a{{b}}"), &pattern, &err));
    assert_false(gf_pattern_has_fields(pattern));
    gf_pattern_free(pattern);
    assert_ok(gf_pattern_create(GF_SLICE("a{b}"), &pattern, &err));
    assert_true(gf_pattern_has_fields(pattern));
    gf_pattern_free(pattern);
}

static void check_failure(const char *text, const gf_document *d, gf_status status,
                          const char *message)
{
    gf_error err;
    gf_buffer out = {0};
    gf_buffer_str(&out, "kept");
    assert_status(status, expand(text, d, &out, &err));
    assert_string_equal(err.message, message);
    assert_slice(gf_buffer_view(&out), "kept");
    gf_buffer_release(&out);
}

static void refuses_broken_patterns(void **state)
{
    (void)state;
    check_failure("", &document, GF_EINVAL, "an empty pattern");
    check_failure("{type", &document, GF_EINVAL,
                  "pattern '{type', character 1: { without }; write {{ for a brace");
    check_failure("a{", &document, GF_EINVAL,
                  "pattern 'a{', character 2: { without }; write {{ for a brace");
    check_failure("{a{b}", &document, GF_EINVAL,
                  "pattern '{a{b}', character 1: { without }; write {{ for a brace");
    check_failure("type}", &document, GF_EINVAL,
                  "pattern 'type}', character 5: } without {; write }} for a brace");
    check_failure("x{}", &document, GF_EINVAL,
                  "pattern 'x{}', character 2: no name between the braces");
}

static void names_the_field_it_misses(void **state)
{
    (void)state;
    const gf_document bare = {.id = GF_SLICE("1"), .fields = fields, .n_fields = 5};
    check_failure("{type}-{nosuch}", &document, GF_ENOTFOUND, "no field \"nosuch\"");
    check_failure("{none}", &document, GF_ENOTFOUND, "no field \"none\"");
    check_failure("{lang}", &bare, GF_ENOTFOUND, "no field \"lang\"");
    check_failure("{time}", &bare, GF_ENOTFOUND, "no field \"time\"");
    check_failure("{text}", &document, GF_ENOTFOUND, "no field \"text\"");
    check_failure("a{list}", &document, GF_EINVAL,
                  "field \"list\" is an array and cannot be part of a name");
    check_failure("a{object}", &document, GF_EINVAL,
                  "field \"object\" is an object and cannot be part of a name");
}

/* A time or lang of another type stays an ordinary field, and can then be referred to as such. */
static void finds_ordinary_fields_of_these_names(void **state)
{
    (void)state;
    gf_error err;
    const gf_field odd[] = {{GF_SLICE("time"), GF_SLICE("\"noon\"")},
                            {GF_SLICE("lang"), GF_SLICE("7")}};
    const gf_document d = {.id = GF_SLICE("1"), .fields = odd, .n_fields = 2};
    gf_buffer out = {0};
    assert_ok(expand("{time}-{lang}", &d, &out, &err));
    assert_slice(gf_buffer_view(&out), "noon-7");
    gf_buffer_release(&out);
}

static gf_status create_and_expand(void *context, gf_error *err)
{
    (void)context;
    gf_buffer out = {0};
    gf_status st = expand("{type}-{product}, and a text that makes the buffer grow at least once",
                          &document, &out, err);
    if (st != GF_OK) assert_int_equal(out.len, 0);
    gf_buffer_release(&out);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(create_and_expand, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_collections),
        cmocka_unit_test(knows_whether_it_has_fields),
        cmocka_unit_test(refuses_broken_patterns),
        cmocka_unit_test(names_the_field_it_misses),
        cmocka_unit_test(finds_ordinary_fields_of_these_names),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
