#include "support/test.h"

#include "api/report/html.h"
#include "base/random.h"
#include "base/utf8.h"

#include <string.h>

static void becomes(gf_slice text, const char *expected)
{
    gf_buffer b = {0};
    gf_html_text(&b, text);
    assert_string_equal(gf_buffer_cstr(&b), expected);
    gf_buffer_release(&b);
}

#define BAD "\xEF\xBF\xBD"

static void escapes(void **state)
{
    (void)state;
    becomes(GF_SLICE(""), "");
    becomes(GF_SLICE("<script>alert('1' & \"2\")</script>"),
            "&lt;script&gt;alert(&#39;1&#39; &amp; &quot;2&quot;)&lt;/script&gt;");
    becomes(GF_SLICE("&amp;&#0;"), "&amp;amp;&amp;#0;");
    becomes(GF_SLICE("a\tb\nc\rd"), "a\tb\nc d");
    becomes(GF_SLICE("a\0b\x1B[31m\x7F"), "a" BAD "b" BAD "[31m" BAD);
    becomes(GF_SLICE("\xC2\x9B"), BAD); /* U+009B, a C1 control */
    becomes(GF_SLICE("a\xE2\x80\xAE"
                     "cba\xE2\x80\xAC"),
            "a" BAD "cba" BAD);                                  /* U+202E, U+202C */
    becomes(GF_SLICE("\xE2\x81\xA6x\xE2\x81\xA9"), BAD "x" BAD); /* U+2066, U+2069 */
    becomes(GF_SLICE("a\xE2\x80\xA8"
                     "b\xE2\x80\xA9"),
            "a b "); /* U+2028, U+2029 */
    becomes(GF_SLICE("\xFF\xC0\xAF\xED\xA0\x80"), BAD BAD BAD BAD BAD BAD);
    becomes(GF_SLICE("\xEF\xBB\xBFx\xEF\xBF\xBE"), BAD "x" BAD); /* U+FEFF, U+FFFE */
    becomes(GF_SLICE("\xE5\xBE\x88\xE5\xA5\xBD \xF0\x9F\x90\x9D"),
            "\xE5\xBE\x88\xE5\xA5\xBD \xF0\x9F\x90\x9D");
}

static void cuts(void **state)
{
    (void)state;
    gf_buffer b = {0};
    gf_html_text_cut(&b, GF_SLICE("<\xE5\xBE\x88>x"), 3);
    gf_html_text_cut(&b, GF_SLICE("|\xE5\xBE\x88|"), 3);
    gf_html_text_cut(&b, GF_SLICE("ab"), 0);
    assert_string_equal(gf_buffer_cstr(&b),
                        "&lt;\xE5\xBE\x88&gt;\xE2\x80\xA6|\xE5\xBE\x88|\xE2\x80\xA6");
    gf_buffer_release(&b);
}

/* What comes out of any bytes is text: no markup but our references, valid, without controls. */
static void any_bytes_are_text(void **state)
{
    (void)state;
    static const char *const pieces[] = {"<",        ">",      "&",    "\"",   "'",    "<!--",
                                         "]]>",      "script", "\xE2", "\x80", "\xAE", "\xF0\x9F",
                                         "\xED\xA0", "\0",     "\x1B", "="};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 3000; round++) {
        gf_buffer in = {0}, out = {0};
        for (uint64_t n = gf_random_below(&random, 30); n; n--) {
            if (gf_random_below(&random, 2))
                gf_buffer_str(&in,
                              pieces[gf_random_below(&random, sizeof pieces / sizeof *pieces)]);
            else
                gf_buffer_byte(&in, (char)gf_random_below(&random, 256));
        }
        gf_html_text(&out, gf_buffer_view(&in));
        gf_slice text = gf_buffer_view(&out);
        assert_int_equal(gf_utf8_valid_length(text), text.len);
        for (size_t i = 0; i < text.len; i++) {
            unsigned char c = (unsigned char)text.ptr[i];
            assert_false(c == '<' || c == '>' || c == '"' || c == '\'' || c == 0x7F);
            assert_true(c >= 0x20 || c == '\t' || c == '\n');
            if (c != '&') continue;
            gf_slice rest = gf_slice_skip(text, i);
            assert_true(gf_slice_starts(rest, GF_SLICE("&amp;")) ||
                        gf_slice_starts(rest, GF_SLICE("&lt;")) ||
                        gf_slice_starts(rest, GF_SLICE("&gt;")) ||
                        gf_slice_starts(rest, GF_SLICE("&quot;")) ||
                        gf_slice_starts(rest, GF_SLICE("&#39;")));
        }
        gf_buffer_release(&in);
        gf_buffer_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(escapes), cmocka_unit_test(cuts),
                                       cmocka_unit_test(any_bytes_are_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
