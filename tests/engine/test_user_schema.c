/*
 * Schemas of users' tables: those that are refused, some that are changed at random, and additions.
 */
#include "tests/engine/fixture.h"

#include "base/random.h"
#include "engine/user_tables/user_tables_internal.h"

static const gf_slice space = {"test", 4};
#define S(text) gf_slice_str(text)

static void schemas_that_are_refused(void **state)
{
    (void)state;
    static const char *const all[] = {
        "",
        "[]",
        "{}",
        "null",
        "{\"key\":[]}",
        "{\"key\":[],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[]}",
        "{\"key\":[{\"name\":\"a\"}]}",
        "{\"key\":{\"name\":\"a\"},\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"\"}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\\u0000b\"}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\"},{\"name\":\"a\"}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\",\"type\":\"json\"}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\",\"type\":\"raw\",\"width\":256}],\"families\":[{\"name\":\"a\"}]"
        "}",
        "{\"key\":[{\"name\":\"a\",\"type\":\"raw\",\"width\":0}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\",\"width\":3}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\"},{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a:b\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"versions\":0}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"versions\":1.5}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"ttl\":-1}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"layout\":\"flat\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"compression\":\"zip\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"columns\":[\"x\"]}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"columns\":{\"\":\"text\"}}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"columns\":{\"x\":\"int\"}}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"columns\":{\"x\":\"text\","
        "\"x\":\"text\"}}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"columns\":{\"x\":\"text\"}},"
        "{\"name\":\"b\",\"columns\":{\"x\":\"text\"}}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"layout\":\"wide\",\"columns\":"
        "{\"x\":\"text\"}}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"qualifier\":\"int64\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"layout\":\"wide\","
        "\"qualifier\":\"json\"}]}"};
    fixture f;
    gf_error err;
    fixture_open(&f);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        gf_status st = gf_user_table_create(f.store, space, S("t"), S(all[i]), &err);
        if (st != GF_EINVAL) fail_msg("%s: %s", all[i], gf_status_name(st));
        if (strncmp(err.message, "schema", 6) != 0) fail_msg("%s: %s", all[i], err.message);
    }
    gf_user_table *t;
    assert_status(GF_ENOTFOUND, gf_user_table_open(f.store, space, S("t"), &t, &err));
    assert_status(GF_EINVAL, gf_user_table_create(f.store, space, S(""), S(fixture_people), &err));
    fixture_close(&f);
}

/* Schemas that are changed at random are read, or refused with a reason; nothing else happens. */
static void random_schemas(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    static const char *const pieces[] = {
        "\"key\"",     "\"families\"",  "\"name\"",  "{",   "}",  "[",   "]",        ",",
        ":",           "\"raw\"",       "\"width\"", "255", "-1", "1e9", "\"wide\"", "null",
        "\"columns\"", "\"qualifier\"", "true"};
    uint64_t read = 0;
    for (int i = 0; i < 20000; i++) {
        gf_arena memory = {0};
        gf_user_schema s;
        gf_error err = {GF_OK, ""};
        gf_buffer text = {0};
        gf_buffer_str(&text, fixture_people);
        for (uint64_t n = gf_random_below(&r, 4); n > 0; n--) {
            size_t at = gf_random_below(&r, text.len);
            const char *piece = pieces[gf_random_below(&r, sizeof pieces / sizeof pieces[0])];
            if (gf_random_below(&r, 2))
                text.ptr[at] = (char)gf_random_below(&r, 256);
            else if (at + strlen(piece) <= text.len)
                memcpy(text.ptr + at, piece, strlen(piece));
        }
        gf_status st = gf_user_table_schema_read(gf_buffer_view(&text), gf_random_below(&r, 4) == 0,
                                                 &memory, &s, &err);
        assert_true(st == GF_OK || (st == GF_EINVAL && err.message[0]));
        read += st == GF_OK;
        gf_arena_release(&memory);
        gf_buffer_release(&text);
    }
    assert_true(read > 0);
}

static void growing(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_user_table *t, *now;
    fixture_open(&f);
    t = fixture_make_table(&f, "people", fixture_people);
    fixture_put_cell(t, "u1", FIXTURE_INFO, "city", "Ulm");
    assert_ok(
        gf_user_table_alter(f.store, space, S("people"),
                            S("{\"families\":[{\"name\":\"info\",\"columns\":{\"city\":\"bytes\"}"
                              "},{\"name\":\"more\",\"versions\":2}]}"),
                            &err));
    assert_status(GF_EINVAL,
                  gf_user_table_alter(f.store, space, S("people"),
                                      S("{\"families\":[{\"name\":\"more\",\"versions\":3,"
                                        "\"columns\":{\"x\":\"text\"}}]}"),
                                      &err));
    assert_status(GF_EINVAL,
                  gf_user_table_alter(f.store, space, S("people"), S("{\"key\":[]}"), &err));
    assert_status(GF_ENOTFOUND,
                  gf_user_table_alter(f.store, space, S("nobody"), S("{\"families\":[]}"), &err));
    /* Who had it open goes on with what there was; who opens it now sees what there is. */
    fixture_put_cell(t, "u2", FIXTURE_INFO, "name", "Bo");
    assert_int_equal(gf_user_table_schema(t)->n_families, 2);
    assert_ok(gf_user_table_open(f.store, space, S("people"), &now, &err));
    assert_int_equal(gf_user_table_schema(now)->n_families, 3);
    assert_int_equal(gf_user_table_cell_type(now, FIXTURE_INFO, S("city")), GF_TYPE_BYTES);
    gf_user_table_close(t);
    gf_user_table_close(now);
    fixture_close(&f);
    fixture_reopen(&f);
    assert_ok(gf_user_table_open(f.store, space, S("people"), &now, &err));
    assert_int_equal(gf_user_table_schema(now)->n_families, 3);
    gf_user_table_close(now);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_that_are_refused),
        cmocka_unit_test(random_schemas),
        cmocka_unit_test(growing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
