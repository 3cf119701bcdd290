/* Arguments are checked before an operation runs, and read by kind. */
#include "api/call.h"
#include "support/test.h"
#include "tests/api/transport.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/utf8.h"

/* ---- values by hand -------------------------------------------------------------------------- */

static const gf_parameter number = {"n", GF_PARAMETER_NUMBER, false, "N", "", 2, 10};
static const gf_parameter any_number = {"n", GF_PARAMETER_NUMBER, false, "N", "", 0, 0};
static const gf_parameter bytes = {"size", GF_PARAMETER_BYTES, false, "SIZE", "",
                                   1,      (uint64_t)1 << 30};
static const gf_parameter moment = {"build", GF_PARAMETER_MOMENT, false, "TIME", "", 1, 0};
static const gf_parameter since = {"from", GF_PARAMETER_MOMENT, false, "TIME", "", 0, 0};
static const gf_parameter share = {"min-score", GF_PARAMETER_SHARE, false, "S", "", 0, 0};
static const gf_parameter choice = {"sort", GF_PARAMETER_CHOICE, false, "size|label|id", "", 0, 0};
static const gf_parameter text = {"name", GF_PARAMETER_TEXT, false, "NAME", "", 0, 0};
static const gf_parameter flag = {"all", GF_PARAMETER_FLAG, false, NULL, "", 0, 0};

static void check(const gf_parameter *p, const char *value, const char *words)
{
    gf_error err = {GF_OK, ""};
    gf_status st = gf_arguments_check_value(p, gf_slice_str(value), &err);
    if (st != (words ? GF_EINVAL : GF_OK) || (words && !strstr(err.message, words)))
        fail_msg("%s=%s: %s %s", p->name, value, gf_status_name(st), err.message);
}

static void numbers(void **state)
{
    (void)state;
    check(&number, "2", NULL);
    check(&number, "10", NULL);
    check(&number, "007", NULL);
    check(&number, "1", "n is at least 2");
    check(&number, "11", "n is at most 10");
    check(&any_number, "0", NULL);
    check(&any_number, "999999999999999999", NULL);
    check(&any_number, "1000000000000000000", "is not a whole number");
    const char *const bad[] = {"-1", "+1", "1.5", " 1", "1 ", "1e3", "0x10", "ten", "1K"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check(&any_number, bad[i], "is not a whole number");
    check(&any_number, "", "n is empty");
}

static void sizes(void **state)
{
    (void)state;
    const char *const good[] = {"1", "1k", "16M", "16m", "1G", "1073741824"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        check(&bytes, good[i], NULL);
    check(&bytes, "0", "size is at least 1");
    check(&bytes, "2G", "size is at most 1073741824");
    check(&bytes, "1T", "size is at most");
    const char *const bad[] = {"K", "1KB", "1 M", "-1M", "1.5G", "M1", "999999999999999999T"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check(&bytes, bad[i], "is not a size such as 16M");
}

static void shares(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},    {"1", 1},          {"1.0", 1},    {"0.25", 0.25},
                {".5", 0.5}, {"0.", 0},         {"00.1", 0.1}, {"0.6895149", 0.6895149},
                {"1.", 1},   {"0.000001", 1e-6}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        gf_argument a = {GF_SLICE("min-score"), gf_slice_str(good[i].text)};
        gf_call call = {.arguments = &a, .n_arguments = 1};
        check(&share, good[i].text, NULL);
        assert_true(gf_call_share(&call, "min-score", 0.5) == good[i].value);
        assert_true(gf_call_share(&call, "other", 0.5) == 0.5);
    }
    const char *const bad[] = {".",     "1.01", "2",    "-0.1", "+0.1", "0,5",
                               "0.1.2", "1e-1", " 0.1", "nan",  "10%",  "0.12345678901234567"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check(&share, bad[i], "is not a number from 0 to 1");
    check(&share, "", "min-score is empty");
}

static void moments(void **state)
{
    (void)state;
    check(&moment, "1763625600000", NULL);
    check(&moment, "2026-11-20T08:00:00Z", NULL);
    check(&moment, "2026-11-20T08:00:00.123Z", NULL);
    check(&moment, "2026-11-20", NULL);
    check(&moment, "0", "build is at least 1");
    check(&moment, "1969-12-31", "is not a build's time");
    check(&moment, "yesterday", "is not a build's time");
    check(&since, "0", NULL);
    check(&since, "yesterday", "is not a time: ISO 8601, or milliseconds since 1970");
}

static void words(void **state)
{
    (void)state;
    check(&choice, "size", NULL);
    check(&choice, "id", NULL);
    check(&choice, "i", "\"i\" is none of size|label|id");
    check(&choice, "size|label", "is none of");
    check(&choice, "|", "is none of");
    check(&choice, "", "sort is empty");
    check(&text, "", "name is empty");
    check(&text, "\xC3\xA9", NULL);
    check(&text, "a\xFF", "name is not valid UTF-8");
    check(&flag, "", NULL);
    check(&flag, "true", NULL);
    check(&flag, "false", NULL);
    check(&flag, "no", "all is either true or false");
}

/* ---- reading --------------------------------------------------------------------------------- */

static const gf_argument some[] = {{GF_SLICE("text"), GF_SLICE("a,b")},
                                   {GF_SLICE("size"), GF_SLICE("16M")},
                                   {GF_SLICE("text"), GF_SLICE(",c,,d,")},
                                   {GF_SLICE("n"), GF_SLICE("7")},
                                   {GF_SLICE("n"), GF_SLICE("8")},
                                   {GF_SLICE("empty"), GF_SLICE(",,")},
                                   {GF_SLICE("on"), GF_SLICE("true")},
                                   {GF_SLICE("off"), GF_SLICE("false")},
                                   {GF_SLICE("time"), GF_SLICE("1970-01-01T00:00:01Z")}};
static const gf_call some_call = {.arguments = some, .n_arguments = sizeof some / sizeof some[0]};

static void reading(void **state)
{
    (void)state;
    assert_int_equal(gf_call_number(&some_call, "n", 3), 8);
    assert_int_equal(gf_call_number(&some_call, "size", 3), 16 << 20);
    assert_int_equal(gf_call_number(&some_call, "time", 3), 1000);
    assert_int_equal(gf_call_number(&some_call, "absent", 3), 3);
    assert_true(gf_call_flag(&some_call, "on"));
    assert_false(gf_call_flag(&some_call, "off"));
    assert_false(gf_call_flag(&some_call, "absent"));
    assert_true(gf_call_has(&some_call, "off"));
    assert_int_equal(gf_call_count(&some_call, "text"), 2);
    assert_slice(gf_call_nth(&some_call, "text", 1), ",c,,d,");
    assert_int_equal(gf_call_nth(&some_call, "text", 2).len, 0);
    assert_slice(gf_call_text(&some_call, "n"), "8");
    assert_slice(gf_call_text_or(&some_call, "absent", "x"), "x");
}

static void lists(void **state)
{
    (void)state;
    gf_error err;
    gf_slice *values = NULL;
    size_t n = 99;
    assert_ok(gf_call_list(&some_call, "text", &values, &n, &err));
    assert_int_equal(n, 4);
    const char *const expected[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < n; i++)
        assert_slice(values[i], expected[i]);
    gf_free(values);
    assert_ok(gf_call_list(&some_call, "absent", &values, &n, &err));
    assert_int_equal(n, 0);
    gf_free(values);
    assert_status(GF_EINVAL, gf_call_list(&some_call, "empty", &values, &n, &err));
    assert_string_equal(err.message, "empty names nothing");
}

static gf_status list_in_sweep(void *context, gf_error *err)
{
    gf_slice *values = context;
    size_t n;
    gf_status st = gf_call_list(&some_call, "text", &values, &n, err);
    if (st == GF_OK) gf_free(values);
    return st;
}

static void list_sweep(void **state)
{
    (void)state;
    gf_test_sweep(list_in_sweep, NULL, NULL);
}

/* A size is read as what its digits and its unit say. */
static void random_sizes(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 2000; i++) {
        unsigned unit = (unsigned)gf_random_below(&r, 5);
        uint64_t v = gf_random_below(&r, (uint64_t)1 << 20);
        static const char *const units[] = {"", "K", "M", "G", "T"};
        char written[32];
        snprintf(written, sizeof written, "%llu%s", (unsigned long long)v, units[unit]);
        gf_argument a = {GF_SLICE("size"), gf_slice_str(written)};
        gf_call call = {.arguments = &a, .n_arguments = 1};
        assert_int_equal(gf_call_number(&call, "size", 1), v << 10 * unit);
    }
}

/* ---- through operations ---------------------------------------------------------------------- */

static void operations_check_first(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    assert_refused(GF_EINVAL, "clusters has no argument \"confg\"; did you mean \"config\"?", &t,
                   "clusters", "collection", "a", "confg", "b");
    assert_refused(GF_EINVAL, "status has no argument \"collection\"", &t, "status", "collection",
                   "a");
    assert_refused(GF_EINVAL, "version has no argument \"\"", &t, "version", "", "a");
    assert_refused(GF_EINVAL, "collection is missing: the collection", &t, "clusters");
    assert_refused(GF_EINVAL, "cluster is missing: the cluster", &t, "cluster", "collection", "a");
    assert_refused(GF_EINVAL, "set is missing: key=value, at least one", &t, "config set",
                   "collection", "a");
    assert_refused(GF_EINVAL, "sort: \"weight\" is none of size|label|id", &t, "clusters",
                   "collection", "a", "sort", "weight");
    assert_refused(GF_EINVAL, "threads is at most 1024", &t, "rebuild", "all", "true", "threads",
                   "1025");
    assert_refused(GF_EINVAL, "max-document is at most", &t, "put", "collection", "a",
                   "max-document", "2G");
    assert_refused(GF_EINVAL, "not valid UTF-8", &t, "collection create", "collection", "\xC0\x80");
    assert_refused(GF_EINVAL, "collection is empty", &t, "collection create", "collection", "");
    assert_null(t.store);
    transport_close(&t);
}

/* Names that are hostile in length or in bytes are refused in words, never trusted. */
static void hostile_names(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    char junk[3000];
    for (int i = 0; i < 200; i++) {
        size_t n = (size_t)gf_random_below(&r, i < 20 ? sizeof junk : 70);
        for (size_t k = 0; k < n; k++)
            junk[k] = (char)gf_random_below(&r, 256);
        gf_argument a[] = {{gf_slice_of(junk, n), GF_SLICE("x")},
                           {GF_SLICE("collection"), gf_slice_of(junk, n)}};
        assert_status(GF_EINVAL, transport_run_with(&t, "clusters", a, 1, &err));
        assert_int_equal(gf_utf8_valid_length(gf_slice_str(err.message)), strlen(err.message));
        gf_status st = transport_run_with(&t, "clusters", a + 1, 1, &err);
        assert_true(st == GF_EINVAL || st == GF_ENOTFOUND);
        assert_int_equal(err.status, st);
        assert_int_equal(gf_utf8_valid_length(gf_slice_str(err.message)), strlen(err.message));
        assert_status(st, transport_run_with(&t, "clusters", a + 1, 1, NULL));
    }
    transport_close(&t);
}

/* What the table promises to those who read it: help, the document, unknown(). */
static void table_is_sound(void **state)
{
    (void)state;
    const gf_operation *o;
    for (size_t i = 0; (o = gf_operation_at(i)) != NULL; i++) {
        assert_ptr_equal(gf_operation_find(o->name), o);
        assert_non_null(o->run);
        assert_true(o->n_parameters <= 24);
        for (size_t p = 0; p < o->n_parameters; p++) {
            const gf_parameter *q = &o->parameters[p];
            assert_true(q->kind == GF_PARAMETER_FLAG ? !q->value : q->value != NULL);
            assert_true(q->most == 0 || q->least <= q->most);
            for (size_t k = 0; k < p; k++)
                assert_string_not_equal(q->name, o->parameters[k].name);
        }
        /* What stands in the path is a parameter. */
        for (const char *at = o->path; (at = strchr(at, '{')) != NULL; at++) {
            bool known = false;
            for (size_t p = 0; p < o->n_parameters; p++) {
                size_t length = strlen(o->parameters[p].name);
                known |=
                    strncmp(at + 1, o->parameters[p].name, length) == 0 && at[1 + length] == '}';
            }
            if (!known) fail_msg("%s: no parameter for %s", o->name, at);
        }
    }
    assert_null(gf_operation_find("collection"));
    assert_null(gf_operation_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),       cmocka_unit_test(sizes),
        cmocka_unit_test(shares),        cmocka_unit_test(moments),
        cmocka_unit_test(words),         cmocka_unit_test(reading),
        cmocka_unit_test(lists),         cmocka_unit_test(list_sweep),
        cmocka_unit_test(random_sizes),  cmocka_unit_test(operations_check_first),
        cmocka_unit_test(hostile_names), cmocka_unit_test(table_is_sound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
