/* The part of a text that is shown with a hit. */
#include "tests/support/test.h"

#include "base/random.h"
#include "base/utf8.h"
#include "grouperfish.h"

static void snippets(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t start, length, most;
        const char *snippet;
    } cases[] = {
        {"short", 0, 5, 20, "short"},
        {"two\n\n  lines", 0, 3, 20, "two lines"},
        {"one two three four five six", 8, 5, 12, "\xE2\x80\xA6three four\xE2\x80\xA6"},
        {"one two three four five six", 24, 3, 12,
         "\xE2\x80\xA6"
         "five six"},
        {"one two three four five six", 0, 3, 12, "one two\xE2\x80\xA6"},
        {"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4, 2, 3,
         "\xE2\x80\xA6\xC3\xA9\xC3\xA9\xC3\xA9\xE2\x80\xA6"},
        {"", 0, 0, 10, ""},
        {"abcdefghij", 0, 10, 4, "abcd\xE2\x80\xA6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gf_buffer out = {0};
        gf_slice text = gf_slice_str(cases[i].text);
        gf_snippet(text, gf_slice_of(text.ptr + cases[i].start, cases[i].length), cases[i].most,
                   &out);
        assert_slice(gf_buffer_view(&out), cases[i].snippet);
        gf_buffer_release(&out);
    }
}

/* Any text and part of it: valid UTF-8, no longer than asked for, and the part is in it. */
static void random_snippets(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "a",    " ",   "\n", "\xC3\xA9", "\xE5\x8C\x97", "e\xCC\x81", "\xF0\x9F\x98\x80",
        "word", " of "};
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    for (int run = 0; run < 5000; run++) {
        gf_buffer text = {0}, out = {0};
        size_t n = gf_random_below(&random, 40), start = 0, length = 0;
        for (size_t i = 0; i < n; i++) {
            const char *piece = pieces[gf_random_below(&random, 9)];
            if (i == n / 2) start = text.len;
            gf_buffer_str(&text, piece);
            if (i == n / 2) length = text.len - start;
        }
        size_t most = gf_random_below(&random, 30);
        gf_snippet(gf_buffer_view(&text), gf_slice_of(text.ptr ? text.ptr + start : NULL, length),
                   most, &out);
        assert_int_equal(gf_utf8_valid_length(gf_buffer_view(&out)), out.len);
        assert_true(gf_utf8_count(gf_buffer_view(&out)) <= most + 2);
        gf_buffer_release(&text);
        gf_buffer_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snippets),
        cmocka_unit_test(random_snippets),
    };
    return cmocka_run_group_tests_name("search_snippet", tests, NULL, NULL);
}
