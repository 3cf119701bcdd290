#include "support/test.h"

#include "formats/sources/json_path.h"

static const char page[] = "{\"a\":{\"b c\":[10,{\"d\":true}],\"\":1},\"$\":[],\"e\":null}";

/* The value at the path as JSON; "nothing" where there is none. */
static void check(const char *path, const char *expected)
{
    gf_json_parser *parser;
    gf_json_path *p;
    gf_json_value root, v;
    gf_buffer got = {0};
    gf_error err;
    assert_ok(gf_json_parser_create(&parser, &err));
    assert_ok(gf_json_parse_copy(parser, gf_slice_str(page), &root, &err));
    assert_ok(gf_json_path_create(path, &p, &err));
    if (gf_json_path_find(p, root, &v))
        assert_ok(gf_json_write(v, &got, &err));
    else
        gf_buffer_str(&got, "nothing");
    assert_string_equal(gf_buffer_cstr(&got), expected);
    gf_buffer_release(&got);
    gf_json_path_free(p);
    gf_json_parser_free(parser);
}

static void finds_members_and_items(void **state)
{
    (void)state;
    check("$", page);
    check("$.e", "null");
    check("$.$", "[]");
    check("$.a['b c'][0]", "10");
    check("$[\"a\"]['b c'][1].d", "true");
    check("$.a['']", "1");
    check("$.a['b c'][2]", "nothing");
    check("$.a['b c'].d", "nothing");
    check("$[0]", "nothing");
    check("$.e.f", "nothing");
    check("$.a.b c[0]", "10");
    check("$.x", "nothing");
}

static void check_bad(const char *path, const char *at)
{
    gf_json_path *p = NULL;
    gf_error err;
    assert_status(GF_EINVAL, gf_json_path_create(path, &p, &err));
    if (!strstr(err.message, at)) fail_msg("%s: %s", path, err.message);
    assert_null(p);
}

static void says_where_a_path_is_wrong(void **state)
{
    (void)state;
    check_bad("", "(at byte 1)");
    check_bad("tickets", "\"tickets\" is no path of members and items such as");
    check_bad("$tickets", "(at byte 2)");
    check_bad("$.", "(at byte 3)");
    check_bad("$..a", "(at byte 3)");
    check_bad("$.a[", "(at byte 4)");
    check_bad("$.a[*]", "(at byte 4)");
    check_bad("$.a[-1]", "(at byte 4)");
    check_bad("$.a['b]", "(at byte 4)");
    check_bad("$.a['b'", "(at byte 4)");
    check_bad("$.a[0]b", "(at byte 7)");
}

static gf_status make_path(void *context, gf_error *err)
{
    gf_json_path *p = NULL;
    (void)context;
    gf_status st = gf_json_path_create("$.a['b c'][1].d", &p, err);
    gf_json_path_free(p);
    return st;
}

static void survives_missing_memory(void **state)
{
    (void)state;
    gf_test_sweep(make_path, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_members_and_items),
        cmocka_unit_test(says_where_a_path_is_wrong),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests_name("json_path", tests, NULL, NULL);
}
