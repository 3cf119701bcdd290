/* One operation of several collections: patterns, "all", what fails, many. */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

#include "base/random.h"

static void put_one(transport *t, const char *collection)
{
    transport_put(t, collection, "{\"id\":\"1\",\"text\":\"a fox\"}\n");
}

static void expect_names(transport *t, const char *names)
{
    gf_buffer found = {0};
    for (uint64_t i = 0; i < t->n_rows; i++) {
        gf_buffer_slice(&found, transport_text(t, i, "collection"));
        gf_buffer_byte(&found, ' ');
    }
    assert_string_equal(gf_buffer_cstr(&found), names);
    gf_buffer_release(&found);
}

static void patterns(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    put_one(&t, "feedback-a");
    put_one(&t, "feedback-b");
    put_one(&t, "feedback");
    put_one(&t, "news");
    assert_run(&t, "collection show", "collection", "feedback-*");
    expect_names(&t, "feedback-a feedback-b ");
    assert_run(&t, "collection show", "collection", "[!f]*");
    expect_names(&t, "news ");
    assert_run(&t, "collection show", "all", "true");
    expect_names(&t, "feedback feedback-a feedback-b news ");
    assert_run(&t, "collection show", "collection", "news", "all", "false");
    assert_int_equal(t.n_rows, 1);
    assert_refused(GF_ENOTFOUND, "no collection matches \"x*\"", &t, "clusters", "collection",
                   "x*");
    assert_refused(GF_EINVAL, "either a collection, or --all", &t, "clusters", "collection", "news",
                   "all", "true");
    assert_refused(GF_EINVAL, "collection is missing", &t, "clusters", "all", "false");
    /* What is there as it is written is meant by it alone, and its rows are those of a pattern. */
    put_one(&t, "feedback-?");
    assert_run(&t, "config list", "collection", "feedback-?");
    assert_int_equal(t.n_rows, 1);
    assert_string_equal(transport_members(&t, 0), "collection configuration from rebuild");
    expect_names(&t, "feedback-? ");
    transport_close(&t);
}

static void configured_and_rebuilt(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    put_one(&t, "feedback-a");
    put_one(&t, "feedback-b");
    put_one(&t, "news");
    assert_run(&t, "config set", "collection", "feedback-*", "set", "k=3");
    expect_names(&t, "feedback-a feedback-b ");
    assert_run(&t, "config show", "collection", "feedback-b");
    assert_slice(transport_text(&t, 0, "value"), "3");
    assert_run(&t, "config show", "collection", "news");
    assert_slice(transport_text(&t, 0, "value"), "auto");
    assert_run(&t, "rebuild", "collection", "feedback-?");
    expect_names(&t, "feedback-a feedback-b ");
    assert_run(&t, "export", "collection", "feedback-*");
    expect_names(&t, "feedback-a feedback-b ");
    assert_slice(transport_text(&t, 1, "id"), "1");
    transport_close(&t);
}

/* The rest goes on; what failed is told, and decides how it ends. */
static void one_fails(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    put_one(&t, "a");
    put_one(&t, "b");
    put_one(&t, "c");
    assert_run(&t, "rebuild", "collection", "[ac]");
    assert_refused(GF_ENOTFOUND, "1 of 3 collections failed", &t, "clusters", "all", "true");
    expect_names(&t, "a c ");
    assert_int_equal(t.n_notices, 1);
    assert_string_equal(t.notices[0].reason, "failed");
    assert_string_equal(t.notices[0].source, "b");
    assert_non_null(strstr(t.notices[0].message, "has not been rebuilt"));
    transport_input(&t, "labels", GF_SLICE("1\tx\n"));
    assert_refused(GF_EINVAL, "an input goes with one collection", &t, "evaluate", "all", "true");
    transport_close(&t);
}

/* Rows of diff carry their collection too, and one that has nothing to compare does not stop it. */
static void compared(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    put_one(&t, "a");
    put_one(&t, "b");
    put_one(&t, "c");
    assert_run(&t, "rebuild", "all", "true");
    transport_put(&t, "a", "{\"id\":\"2\",\"text\":\"a fox\"}\n");
    transport_put(&t, "c", "{\"id\":\"2\",\"text\":\"a fox\"}\n");
    assert_run(&t, "rebuild", "all", "true");
    assert_run(&t, "diff", "collection", "[ac]");
    expect_names(&t, "a c ");
    assert_int_equal(transport_number(&t, 1, "added"), 1);
    assert_refused(GF_ENOTFOUND, "1 of 3 collections failed", &t, "diff", "all", "true");
    expect_names(&t, "a c ");
    assert_int_equal(t.n_notices, 1);
    assert_string_equal(t.notices[0].source, "b");
    assert_non_null(strstr(t.notices[0].message, "nothing to compare"));
    assert_refused(GF_EINVAL, "either a collection, or --all", &t, "diff", "collection", "a", "all",
                   "true");
    transport_close(&t);
}

/* ---- random names, and many ------------------------------------------------------------------ */

/* Written without a look at base/glob.c: it tries everything. Of * ? [xy] [!xy] alone. */
static bool plain_match(const char *p, const char *s)
{
    if (!*p) return !*s;
    if (*p == '*') return plain_match(p + 1, s) || (*s && plain_match(p, s + 1));
    if (!*s) return false;
    if (*p == '?') return plain_match(p + 1, s + 1);
    if (*p != '[') return *p == *s && plain_match(p + 1, s + 1);
    bool negated = p[1] == '!';
    const char *set = p + 1 + negated;
    bool in = set[0] == *s || set[1] == *s;
    return in != negated && plain_match(set + 3, s + 1);
}

static void random_pattern(gf_random *r, char *p)
{
    static const char *const parts[] = {"*", "?", "a", "b", "-", "[ab]", "[!b-]", "[!ab]"};
    size_t n = 1 + (size_t)gf_random_below(r, 5);
    *p = '\0';
    for (size_t i = 0; i < n; i++)
        strcat(p, parts[gf_random_below(r, 8)]);
}

static void random_patterns(void **state)
{
    (void)state;
    enum { NAMES = 120, PATTERNS = 200 };
    static char names[NAMES][8];
    transport t;
    gf_buffer lines = {0};
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    transport_open(&t);
    for (size_t i = 0; i < NAMES; i++) {
        size_t n = 1 + (size_t)gf_random_below(&r, 6);
        for (size_t j = 0; j < n; j++)
            names[i][j] = "ab-"[gf_random_below(&r, 3)];
        put_one(&t, names[i]);
    }
    for (size_t k = 0; k < PATTERNS; k++) {
        char pattern[48];
        gf_error err;
        random_pattern(&r, pattern);
        if (!strpbrk(pattern, "*?[")) continue;
        gf_status st = transport_run(&t, &err, "collection show", "collection", pattern, NULL);
        uint64_t expected = 0;
        for (size_t i = 0; i < NAMES; i++) {
            bool first = true;
            for (size_t j = 0; j < i && first; j++)
                first = strcmp(names[i], names[j]) != 0;
            expected += first && plain_match(pattern, names[i]);
        }
        assert_int_equal(st, expected ? GF_OK : GF_ENOTFOUND);
        assert_int_equal(t.n_rows, expected);
        for (uint64_t i = 0; i < t.n_rows; i++) {
            char name[16];
            snprintf(name, sizeof name, "%.*s", GF_SLICE_ARG(transport_text(&t, i, "collection")));
            if (!plain_match(pattern, name)) fail_msg("%s: %s", pattern, name);
        }
    }
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* 20,000 collections of two documents, put and rebuilt by one call each, exported in one. */
static void many(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    transport t;
    gf_buffer lines = {0};
    transport_open(&t);
    for (int i = 0; i < MANY; i++)
        gf_buffer_format(&lines,
                         "{\"id\":\"1\",\"text\":\"fox\",\"to\":\"c%05d\"}\n"
                         "{\"id\":\"2\",\"text\":\"fox\",\"to\":\"c%05d\"}\n",
                         i, i);
    transport_input(&t, "many.jsonl", gf_buffer_view(&lines));
    assert_run(&t, "put", "collection", "{to}");
    assert_run(&t, "rebuild", "all", "true");
    assert_int_equal(t.n_rows, MANY);
    assert_run(&t, "export", "all", "true");
    assert_int_equal(t.n_rows, 2 * MANY);
    assert_run(&t, "export", "collection", "c0*");
    assert_int_equal(t.n_rows, 2 * MANY / 2);
    assert_int_equal(t.n_notices, 0);
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* ---- failures -------------------------------------------------------------------------------- */

typedef struct sweeping {
    transport *t;
} sweeping;

static gf_status show_all(void *context, gf_error *err)
{
    return transport_run(((sweeping *)context)->t, err, "collection show", "collection", "[ab]",
                         NULL);
}

static void sweeps(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    put_one(&t, "a");
    put_one(&t, "b");
    gf_test_sweep(show_all, NULL, &(sweeping){&t});
    expect_names(&t, "a b ");
    t.emit_fails_at = 2;
    gf_error err;
    assert_status(GF_EIO, show_all(&(sweeping){&t}, &err));
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),        cmocka_unit_test(configured_and_rebuilt),
        cmocka_unit_test(one_fails),       cmocka_unit_test(compared),
        cmocka_unit_test(random_patterns), cmocka_unit_test(many),
        cmocka_unit_test(sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
