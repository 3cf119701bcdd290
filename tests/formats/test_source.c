#include "support/test.h"

#include "formats/sources/source.h"

#define PAGES "https://desk.example/tickets?key=k"

static const gf_source_url pages = {
    .url = PAGES,
    .items = "$.tickets",
    .next = "$.next",
    .since = "updated",
    .headers = {"Authorization: Bearer secret\n# x\n\nX: y", 38},
    .place = {"{\"since\":\"1\",\"next\":\"" PAGES "&page=2\"}", 64}};
static const gf_source_postgres rows = {
    .url = "postgres://me@db/desk", .query = "SELECT 1 AS id", .since = "id", .place = {"7", 1}};

static gf_status open_url(void *context, gf_error *err)
{
    gf_source *s = NULL;
    gf_status st = gf_source_open_url(context ? context : &pages, &s, err);
    gf_source_close(s);
    return st;
}

static gf_status open_postgres(void *context, gf_error *err)
{
    gf_source *s = NULL;
    gf_status st = gf_source_open_postgres(context ? context : &rows, &s, err);
    gf_source_close(s);
    return st;
}

static void copy_name(gf_source *s, char name[64])
{
    gf_slice n = gf_source_name(s);
    assert_true(n.len < 64);
    memcpy(name, n.ptr, n.len);
    name[n.len] = '\0';
    gf_source_close(s);
}

/* The same for the same address and query; neither headers nor the place are part of it. */
static void names_say_what_is_read(void **state)
{
    (void)state;
    char names[5][64];
    gf_source *s;
    gf_error err;
    gf_source_url url = pages;
    assert_ok(gf_source_open_url(&url, &s, &err));
    copy_name(s, names[0]);
    url.headers = url.place = (gf_slice){"", 0};
    assert_ok(gf_source_open_url(&url, &s, &err));
    copy_name(s, names[1]);
    url.items = "$.others";
    assert_ok(gf_source_open_url(&url, &s, &err));
    copy_name(s, names[2]);
    gf_source_postgres postgres = rows;
    assert_ok(gf_source_open_postgres(&postgres, &s, &err));
    copy_name(s, names[3]);
    postgres.query = "SELECT 2 AS id";
    assert_ok(gf_source_open_postgres(&postgres, &s, &err));
    copy_name(s, names[4]);
    assert_string_equal(names[0], names[1]);
    assert_string_not_equal(names[0], names[2]);
    assert_string_not_equal(names[3], names[4]);
    assert_int_equal(strncmp(names[0], "url-", 4), 0);
    assert_int_equal(strncmp(names[3], "postgres-", 9), 0);
}

static void check_place(gf_slice place, const char *message)
{
    gf_error err;
    gf_source_url url = pages;
    url.place = place;
    assert_status(GF_EINVAL, open_url(&url, &err));
    if (!strstr(err.message, message)) fail_msg("%s", err.message);
}

static void refuses_places_of_others(void **state)
{
    (void)state;
    gf_error err;
    gf_source_postgres postgres = rows;
    check_place(GF_SLICE("7"), "the place of the source is damaged");
    check_place(GF_SLICE("{\"since\":"), "the place of the source is damaged");
    postgres.place = gf_slice_of("a\0b", 3);
    assert_status(GF_EINVAL, open_postgres(&postgres, &err));
}

static void survives_missing_memory(void **state)
{
    (void)state;
    gf_test_sweep(open_url, NULL, NULL);
    gf_test_sweep(open_postgres, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_say_what_is_read),
        cmocka_unit_test(refuses_places_of_others),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
