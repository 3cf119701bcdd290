#include "support/test.h"

#include "base/nearest.h"
#include "base/random.h"

#include <string.h>

static const char *const commands[] = {"put", "rebuild", "clusters", "doc", "diff", "serve"};

static void finds_what_was_meant(void **state)
{
    (void)state;
    const char *typed[][2] = {{"rebiuld", "rebuild"}, {"cluster", "clusters"}, {"dco", "doc"},
                              {"diff", "diff"},       {"srve", "serve"},       {"ptu", "put"}};
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(gf_nearest(gf_slice_str(typed[i][0]), commands, 6), typed[i][1]);
}

static void is_silent_where_nothing_is_near(void **state)
{
    (void)state;
    assert_null(gf_nearest(GF_SLICE("zzzzzz"), commands, 6));
    assert_null(gf_nearest(GF_SLICE("help-me-please"), commands, 6));
    assert_null(gf_nearest(GF_SLICE("put"), commands, 0));
    assert_null(gf_nearest((gf_slice){NULL, 0}, commands, 6));
    const char *short_name[] = {"x"};
    assert_string_equal(gf_nearest((gf_slice){NULL, 0}, short_name, 1), "x");
}

static void the_first_of_equals_wins(void **state)
{
    (void)state;
    const char *names[] = {"cat", "bat", "hat"};
    assert_string_equal(gf_nearest(GF_SLICE("rat"), names, 3), "cat");
}

static void takes_names_of_63_bytes(void **state)
{
    (void)state;
    char longest[64], too_long[65], word[65];
    memset(longest, 'n', 63);
    memset(too_long, 'n', 64);
    longest[63] = too_long[64] = '\0';
    const char *names[] = {too_long, longest};
    memset(word, 'n', sizeof word);
    assert_ptr_equal(gf_nearest(gf_slice_of(word, 62), names, 2), longest);
    assert_ptr_equal(gf_nearest(gf_slice_of(word, 63), names, 2), longest);
    assert_null(gf_nearest(gf_slice_of(word, 65), names, 2));
    assert_null(gf_nearest(gf_slice_of(word, 20), names, 2));
}

/* The distance by its definition: what the last byte of each can have come from. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 || m == 0) return (unsigned)(n + m);
    unsigned best = distance(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
    unsigned other = distance(a, n - 1, b, m) + 1;
    if (other < best) best = other;
    other = distance(a, n, b, m - 1) + 1;
    if (other < best) best = other;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        other = distance(a, n - 2, b, m - 2) + 1;
        if (other < best) best = other;
    }
    return best;
}

static void agrees_with_the_definition(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    enum { NAMES = 5, LONGEST = 6 };
    for (int round = 0; round < 2000; round++) {
        char bytes[NAMES + 1][LONGEST + 1];
        const char *names[NAMES];
        for (size_t i = 0; i <= NAMES; i++) {
            size_t n = gf_random_below(&r, LONGEST + 1);
            for (size_t at = 0; at < n; at++)
                bytes[i][at] = (char)('a' + gf_random_below(&r, 4));
            bytes[i][n] = '\0';
            if (i < NAMES) names[i] = bytes[i];
        }
        const char *word = bytes[NAMES], *expected = NULL;
        unsigned least = (unsigned)strlen(word) / 3 + 2;
        for (size_t i = 0; i < NAMES; i++) {
            unsigned d = distance(word, strlen(word), names[i], strlen(names[i]));
            if (d >= least) continue;
            least = d;
            expected = names[i];
        }
        assert_ptr_equal(gf_nearest(gf_slice_str(word), names, NAMES), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_meant),
        cmocka_unit_test(is_silent_where_nothing_is_near),
        cmocka_unit_test(the_first_of_equals_wins),
        cmocka_unit_test(takes_names_of_63_bytes),
        cmocka_unit_test(agrees_with_the_definition),
    };
    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
