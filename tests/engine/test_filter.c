/* Filters: cases by hand, random documents against a test written plainly, and what rebuilds. */
#include "tests/engine/fixture.h"

#include "base/clock.h"
#include "base/random.h"
#include "engine/config/settings.h"
#include "engine/rows/filter.h"
#include "storage/tables.h"

#include <inttypes.h>

/* ---- one row --------------------------------------------------------------------------------- */

/* A row of documents:main with these columns: name, value, ..., NULL. */
typedef struct made_row {
    gf_row row;
    gf_cell cells[8];
} made_row;

static void add_cell(made_row *m, const char *name, const char *value)
{
    m->cells[m->row.n_cells++] = (gf_cell){
        .family = GF_DOCUMENTS_MAIN, .qualifier = gf_slice_str(name), .value = gf_slice_str(value)};
    m->row.cells = m->cells;
}

static bool meant(const char *demands, const made_row *m)
{
    gf_filter f;
    gf_error err;
    bool is_meant;
    gf_filter_init(&f);
    assert_ok(gf_filter_add_list(&f, gf_slice_str(demands), &err));
    assert_ok(gf_filter_test(&f, &m->row, &is_meant, &err));
    gf_buffer why = {0};
    assert_ok(gf_filter_why_not(&f, &m->row, &why, &err));
    assert_int_equal(why.len == 0, is_meant);
    gf_buffer_release(&why);
    gf_filter_release(&f);
    return is_meant;
}

static void by_hand(void **state)
{
    (void)state;
    made_row m = {0};
    add_cell(&m, "text", "a text");
    add_cell(&m, "time", "\"2026-03-01T12:00:00Z\"");
    add_cell(&m, "lang", "en");
    add_cell(&m, "stars", "4");
    add_cell(&m, "type", "\"praise\"");
    add_cell(&m, "tags", "[\"new\",\"a \\\"b\\\"\",7]");
    add_cell(&m, "field:seq", "\"10\"");
    add_cell(&m, "gone", "null");
    static const char *const yes[] = {"type=praise",
                                      "type!=issue",
                                      "lang=en",
                                      "stars=4",
                                      "stars=4.0",
                                      "stars>3",
                                      "stars>=4",
                                      "stars<4.5",
                                      "stars<=4",
                                      "stars!=5",
                                      "tags=new",
                                      "tags=a \"b\"",
                                      "tags=7",
                                      "tags>6",
                                      "tags!=old",
                                      "seq=10",
                                      "seq>9",
                                      "seq<11",
                                      "none!=x",
                                      "gone!=x",
                                      "type>other",
                                      "type<q",
                                      "time<2026-03-02",
                                      "time>2026-03-01",
                                      "time>=2026-03-01T12:00:00Z",
                                      "type=praise,stars>3,lang=en"};
    static const char *const no[] = {
        "type=Praise", "type!=praise",    "type=",          "lang=de", "stars=5", "stars>4",
        "stars<4",     "stars=praise",    "stars>a",        "stars<a", "type<5",  "type>5",
        "tags=old",    "tags!=new",       "none=x",         "none<x",  "none=",   "gone=null",
        "gone<zz",     "time<2026-03-01", "stars>3,lang=de"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (!meant(yes[i], &m)) fail_msg("%s does not hold", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (meant(no[i], &m)) fail_msg("%s holds", no[i]);
    m.row.n_cells = 0;
    add_cell(&m, "a", "\"x,y\\\\z\"");
    assert_true(meant("a=x\\,y\\\\z", &m));
    m.row.n_cells = 0;
    add_cell(&m, "n", "9007199254740993");
    assert_false(meant("n=9007199254740992", &m));
    assert_true(meant("n=9007199254740993", &m));
}

static int64_t moment(const char *text, const char *now)
{
    int64_t ms, at;
    assert_true(gf_clock_parse_iso(gf_slice_str(now), &at));
    assert_true(gf_filter_read_moment(gf_slice_str(text), at, &ms));
    return ms;
}

/* Ages count from the beginning of an hour or a day. */
static void why_not_is(gf_filter *f, const made_row *m, const char *expected)
{
    gf_error err;
    gf_buffer why = {0};
    assert_ok(gf_filter_why_not(f, &m->row, &why, &err));
    assert_string_equal(gf_buffer_cstr(&why), expected);
    gf_buffer_release(&why);
}

static void names_what_is_failed(void **state)
{
    (void)state;
    gf_filter f;
    gf_error err;
    made_row dated = {0}, undated = {0};
    add_cell(&dated, "time", "\"2026-03-01T12:00:00Z\"");
    add_cell(&dated, "type", "\"praise\"");
    add_cell(&undated, "type", "\"praise\"");
    gf_filter_init(&f);
    assert_ok(gf_filter_add_list(&f, GF_SLICE("type=praise,tags!=a\\,b,type!=praise"), &err));
    why_not_is(&f, &dated, "filter type!=praise");
    assert_ok(gf_filter_add_list(&f, GF_SLICE("lang=en"), &err));
    why_not_is(&f, &dated, "filter type!=praise"); /* the first */
    assert_true(gf_clock_parse_iso(GF_SLICE("2026-03-02"), &f.since));
    why_not_is(&f, &dated, "since 2026-03-02T00:00:00Z");
    why_not_is(&f, &undated, "since 2026-03-02T00:00:00Z, and it has no time");
    f.since = INT64_MIN;
    assert_true(gf_clock_parse_iso(GF_SLICE("2026-03-01T12:00"), &f.until));
    why_not_is(&f, &dated, "until 2026-03-01T12:00:00Z");
    gf_filter_release(&f);
}

static void moments(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"30d", "2026-11-20T14:09:42.5Z", "2026-10-21T00:00:00Z"},
        {"30d", "2026-11-20T00:00:00Z", "2026-10-21T00:00:00Z"},
        {"0d", "2026-11-20T23:59:59Z", "2026-11-20T00:00:00Z"},
        {"12h", "2026-11-20T14:09:42Z", "2026-11-20T02:00:00Z"},
        {"4w", "2026-11-20T14:09:42Z", "2026-10-23T00:00:00Z"},
        {"2026-01-01", "2026-11-20T14:09:42Z", "2026-01-01T00:00:00Z"},
        {"1277293943", "2026-11-20T14:09:42Z", "2010-06-23T11:52:23Z"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(moment(cases[i][0], cases[i][1]), moment(cases[i][2], cases[i][1]));
}

/* ---- what rebuilds --------------------------------------------------------------------------- */

static gf_status note_id(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)m;
    gf_buffer_slice(context, id);
    gf_buffer_byte(context, ' ');
    return gf_buffer_check(context, err);
}

/* Who is in the served build, by id, and that the store is sound. */
static void expect_members(fixture *f, const char *ids)
{
    gf_buffer found = {0};
    gf_view *view;
    gf_error err;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_memberships(view, note_id, &found, &err));
    gf_view_close(view);
    assert_string_equal(gf_buffer_cstr(&found), ids);
    gf_buffer_release(&found);
    fixture_is_sound(f);
}

static gf_rebuild_outcome rebuild(fixture *f)
{
    gf_error err;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    gf_rebuild_result r;
    assert_ok(gf_rebuild(f->store, fixture_place("c"), fixture_default(), &o, &r, &err));
    return r.outcome;
}

static void part_of_a_collection(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_field(&f, "stars", "a", "red apple", "\"2026-01-01\"", "5");
    fixture_put_field(&f, "stars", "b", "green apple", "\"2026-02-01\"", "1");
    fixture_put_field(&f, "stars", "c", "red plum", "", "5");
    fixture_set(&f, "c", "default", "filter", "stars>=4");
    assert_int_equal(rebuild(&f), GF_REBUILD_MADE);
    expect_members(&f, "a c ");
    assert_int_equal(rebuild(&f), GF_REBUILD_UNMODIFIED);
    fixture_set(&f, "c", "default", "since", "2026-01-01");
    assert_int_equal(rebuild(&f), GF_REBUILD_MADE);
    expect_members(&f, "a "); /* c has no time */
    fixture_set(&f, "c", "default", "filter", "");
    fixture_set(&f, "c", "default", "since", "");
    fixture_set(&f, "c", "default", "until", "2026-02-01");
    assert_int_equal(rebuild(&f), GF_REBUILD_MADE);
    expect_members(&f, "a ");
    fixture_set(&f, "c", "default", "filter", "stars=nothing");
    assert_int_equal(rebuild(&f), GF_REBUILD_MADE);
    expect_members(&f, "");
    fixture_close(&f);
}

/* An age means a time that moves on: as long as that is the same, nothing has changed. */
static void ages(void **state)
{
    (void)state;
    fixture f;
    char recent[32];
    fixture_open(&f);
    snprintf(recent, sizeof recent, "%" PRId64, gf_clock_ms() - 5000);
    fixture_put_field(&f, "stars", "a", "red apple", recent, "5");
    fixture_put_field(&f, "stars", "b", "green apple", "\"2020-02-01\"", "1");
    fixture_set(&f, "c", "default", "since", "300d");
    int64_t day = gf_clock_ms() / 86400000;
    assert_int_equal(rebuild(&f), GF_REBUILD_MADE);
    expect_members(&f, "a ");
    gf_rebuild_outcome again = rebuild(&f);
    if (gf_clock_ms() / 86400000 == day) assert_int_equal(again, GF_REBUILD_UNMODIFIED);
    fixture_close(&f);
}

/* The next day the same settings say something else. */
static void settings_follow_the_clock(void **state)
{
    (void)state;
    gf_error err;
    gf_slice column = GF_SLICE("{\"default\":{\"since\":\"30d\",\"until\":\"2026-12-01\"}}");
    const int64_t noon = INT64_C(1795176000000), day = 86400000; /* 2026-11-20T12:00:00Z */
    gf_buffer json[3] = {{0}};
    for (int i = 0; i < 3; i++) {
        gf_settings_map map = {0};
        assert_ok(gf_settings_map_read(column, fixture_default(), &map, &err));
        assert_ok(gf_settings_map_fix_times(&map, noon + (i == 2 ? day : i * 3600000), &err));
        gf_settings_map_write_effective(&map, &json[i]);
        gf_settings_map_release(&map);
    }
    assert_string_equal(gf_buffer_cstr(&json[0]),
                        "{\"since\":\"2026-10-21T00:00:00Z\",\"until\":\"2026-12-01T00:00:00Z\"}");
    assert_string_equal(gf_buffer_cstr(&json[1]), gf_buffer_cstr(&json[0]));
    assert_string_equal(gf_buffer_cstr(&json[2]),
                        "{\"since\":\"2026-10-22T00:00:00Z\",\"until\":\"2026-12-01T00:00:00Z\"}");
    for (int i = 0; i < 3; i++)
        gf_buffer_release(&json[i]);
}

/* ---- random documents ------------------------------------------------------------------------ */

static gf_status take_id(void *context, gf_slice id, gf_error *err)
{
    return note_id(context, id, NULL, err);
}

static void random_documents(void **state)
{
    (void)state;
    enum { DOCUMENTS = 200, CHOICES = 60 };
    fixture f;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    int stars[DOCUMENTS];
    int64_t time[DOCUMENTS];
    fixture_open(&f);
    for (int i = 0; i < DOCUMENTS; i++) {
        char id[8], at[24] = "", number[8];
        stars[i] = (int)gf_random_below(&r, 6);
        time[i] = gf_random_below(&r, 5) ? (int64_t)gf_random_below(&r, 50) * 1000000 : -1;
        snprintf(id, sizeof id, "%03d", i);
        snprintf(number, sizeof number, gf_random_below(&r, 2) ? "%d" : "\"%d\"", stars[i]);
        if (time[i] >= 0) snprintf(at, sizeof at, "%" PRId64, time[i] / 1000);
        fixture_put_field(&f, "stars", id, "a text", at, number);
    }
    for (int k = 0; k < CHOICES; k++) {
        static const char *const signs[] = {"=", "!=", "<", "<=", ">", ">="};
        int value = (int)gf_random_below(&r, 6), sign = (int)gf_random_below(&r, 6);
        int64_t before = (int64_t)gf_random_below(&r, 50) * 1000000;
        bool by_time = gf_random_below(&r, 2);
        char where[16], bound[24];
        snprintf(where, sizeof where, "stars%s%d", signs[sign], value);
        snprintf(bound, sizeof bound, "%" PRId64, before / 1000);
        gf_slice demand = gf_slice_str(where);
        gf_document_choice choice = {.where = &demand, .n_where = 1};
        if (by_time) choice.before = gf_slice_str(bound);
        gf_buffer found = {0}, expected = {0};
        assert_ok(gf_documents_choose(f.store, fixture_place("c"), &choice, take_id, &found, &err));
        for (int i = 0; i < DOCUMENTS; i++) {
            int s = stars[i];
            bool holds[] = {s == value, s != value, s<value, s <= value, s> value, s >= value};
            if (holds[sign] && (!by_time || (time[i] >= 0 && time[i] < before)))
                gf_buffer_format(&expected, "%03d ", i);
        }
        assert_string_equal(gf_buffer_cstr(&found), gf_buffer_cstr(&expected));
        gf_buffer_release(&found);
        gf_buffer_release(&expected);
    }
    fixture_close(&f);
}

/* ---- failures -------------------------------------------------------------------------------- */

static gf_status choose(void *context, gf_error *err)
{
    fixture *f = context;
    gf_buffer found = {0};
    gf_slice where[] = {GF_SLICE("stars!=3"), GF_SLICE("tags=\"")};
    gf_document_choice choice = {.where = where, .n_where = 2};
    gf_status st = gf_documents_choose(f->store, fixture_place("c"), &choice, take_id, &found, err);
    gf_buffer_release(&found);
    return st;
}

static void sweeps(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    gf_field fields[] = {{GF_SLICE("stars"), GF_SLICE("4")},
                         {GF_SLICE("tags"), GF_SLICE("[\"\\\"\"]")}};
    gf_document d = {.id = GF_SLICE("1"), .text = GF_SLICE("t"), .fields = fields, .n_fields = 2};
    assert_ok(fixture_try_put(f.store, "c", &d, &err));
    gf_test_sweep(choose, NULL, &f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(names_what_is_failed),
        cmocka_unit_test(moments),
        cmocka_unit_test(part_of_a_collection),
        cmocka_unit_test(ages),
        cmocka_unit_test(settings_follow_the_clock),
        cmocka_unit_test(random_documents),
        cmocka_unit_test(sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
