/* Text on the terminal: folded, cut, broken into lines, and quoted for a shell. */
#include "cli/terminal/text.h"
#include "support/test.h"

#include <string.h>

static void assert_folded(const char *text, const char *expected)
{
    gf_buffer b = {0};
    gf_text_fold(&b, gf_slice_str(text));
    assert_string_equal(gf_buffer_cstr(&b), expected);
    gf_buffer_release(&b);
}

static void white_space_and_control_characters_are_folded(void **state)
{
    (void)state;
    assert_folded("  two\n\n words\t", "two words");
    assert_folded("\033[31mred\033[0m", "[31mred [0m");
    assert_folded("a\xE2\x80\xAE"
                  "b",
                  "a b"); /* right-to-left override */
    assert_folded("a\xFF"
                  "b",
                  "a\xEF\xBF\xBD"
                  "b");
    assert_folded("", "");
}

static void cut_text_ends_with_an_ellipsis(void **state)
{
    static const struct {
        unsigned width;
        const char *expected;
    } cases[] = {{0, "hockey"}, {6, "hockey"}, {5, "hock\xE2\x80\xA6"}, {1, "\xE2\x80\xA6"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gf_buffer b = {0};
        gf_buffer_str(&b, "hockey");
        gf_text_cut(&b, cases[i].width);
        assert_string_equal(gf_buffer_cstr(&b), cases[i].expected);
        gf_buffer_release(&b);
    }
}

/* Each line fits, and together they have all words in their order. */
static void lines_fit_and_lose_no_word(void **state)
{
    static const char text[] = "clusters of documents and incomprehensibilities of them";
    (void)state;
    for (unsigned width = 1; width < 80; width++) {
        gf_buffer letters = {0}, expected = {0};
        gf_slice rest = gf_slice_str(text);
        while (rest.len) {
            gf_slice line = gf_text_take_line(&rest, width);
            assert_in_range(line.len, 1, width);
            for (size_t i = 0; i < line.len; i++)
                if (line.ptr[i] != ' ') gf_buffer_byte(&letters, line.ptr[i]);
        }
        for (const char *c = text; *c; c++)
            if (*c != ' ') gf_buffer_byte(&expected, *c);
        assert_string_equal(gf_buffer_cstr(&letters), gf_buffer_cstr(&expected));
        gf_buffer_release(&letters);
        gf_buffer_release(&expected);
    }
}

static void assert_word(const char *word, const char *expected)
{
    char printed[64] = "";
    FILE *out = tmpfile();
    assert_non_null(out);
    gf_text_print_word(out, word);
    rewind(out);
    if (!fgets(printed, sizeof printed, out)) printed[0] = '\0';
    fclose(out);
    assert_string_equal(printed, expected);
}

static void words_are_quoted_for_a_shell(void **state)
{
    (void)state;
    assert_word("feedback", "feedback");
    assert_word("", "''");
    assert_word("two words", "'two words'");
    assert_word("it's", "'it'\\''s'");
    assert_word("a\033b", "'a?b'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_and_control_characters_are_folded),
        cmocka_unit_test(cut_text_ends_with_an_ellipsis),
        cmocka_unit_test(lines_fit_and_lose_no_word),
        cmocka_unit_test(words_are_quoted_for_a_shell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
