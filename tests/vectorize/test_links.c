#include "support/test.h"

#include "base/random.h"
#include "vectorize/text/links_internal.h"

#include <stdlib.h>

/* The URL that starts with the text's first word, or "". */
static void expect_url(const char *text, const char *url)
{
    gf_slice s = gf_slice_str(text);
    size_t word = strcspn(text, ":.-/ ");
    size_t end = gf_links_url_end(s, 0, word);
    assert_slice(gf_slice_of(text, end), url);
}

static void finds_urls(void **state)
{
    (void)state;
    expect_url("http://x.org/a?b=c#d next", "http://x.org/a?b=c#d");
    expect_url("HTTPS://Example.ORG", "HTTPS://Example.ORG");
    expect_url("www.example.org/.", "www.example.org/");
    expect_url("http://x.org/a(b)c).", "http://x.org/a(b)c");
    expect_url("http://x.org/a) and", "http://x.org/a");
    expect_url("http://x.org/[a]b]c", "http://x.org/[a]b");
    expect_url("http://x.org, and", "http://x.org");
    expect_url("http://x.org/what?!", "http://x.org/what");
    expect_url("http://x.org/\"quoted\"", "http://x.org/");
    expect_url("http://x.org/<b>", "http://x.org/");
    expect_url("http://de.wikipedia.org/wiki/Käse)", "http://de.wikipedia.org/wiki/Käse");
    expect_url("http://t.cn/zYb这个", "http://t.cn/zYb");
    expect_url("http://x.org/\xE2\x80\x9Dz", "http://x.org/");
    expect_url("http://x.org/a_b-c/~d/%20+e,f;g=h&i", "http://x.org/a_b-c/~d/%20+e,f;g=h&i");
    expect_url("http://user@host:80/", "http://user@host:80/");
}

static void leaves_what_is_no_url(void **state)
{
    (void)state;
    const char *none[] = {"http",      "http:",      "http:/x",    "http://",
                          "http:// x", "http://...", "www",        "www.",
                          "www. next", "www...",     "wwww.x.org", "ww.x.org",
                          "ftp://x/",  "httpx://ab", "https//x",   "httpss://x"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        expect_url(none[i], "");
}

/* The address around the text's first @, or "". */
static void expect_address(const char *text, const char *address)
{
    gf_slice s = gf_slice_str(text);
    size_t start = 0, end = 0;
    bool found = gf_links_address_at(s, 0, strcspn(text, "@"), &start, &end);
    assert_slice(found ? gf_slice_of(text + start, end - start) : gf_slice_of("", 0), address);
}

static void finds_addresses(void **state)
{
    (void)state;
    expect_address("ann@example.org", "ann@example.org");
    expect_address("to ann.b+c_d%e-f@mail.example.co.uk, now", "ann.b+c_d%e-f@mail.example.co.uk");
    expect_address("(ann@x-y.org)", "ann@x-y.org");
    expect_address("...ann@example.org.", "ann@example.org");
    expect_address("ann@example.org.no2", "ann@example.org");
    expect_address("<ann@example.museum>", "ann@example.museum");
    const char *none[] = {"@ann",     "ann@",     "ann@host",  "ann@host.",  "ann@host.x",
                          "ann@.org", "a@b..org", "ann@h.c0m", "ann @x.org", ".@x.org"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        expect_address(none[i], "");
}

static void bounds_the_local_part(void **state)
{
    (void)state;
    char text[200];
    memset(text, 'a', sizeof text);
    memcpy(text + 100, "@x.org", 6);
    size_t start, end;
    assert_true(gf_links_address_at(gf_slice_of(text, 106), 0, 100, &start, &end));
    assert_int_equal(start, 36);
    assert_int_equal(end, 106);
    assert_true(gf_links_address_at(gf_slice_of(text, 106), 90, 100, &start, &end));
    assert_int_equal(start, 90);
    assert_false(gf_links_address_at(gf_slice_of(text, 106), 100, 100, &start, &end));
}

static void expect_reference(const char *text, size_t length, gf_char_class stands_for)
{
    gf_char_class k = GF_CHAR_LETTER;
    size_t end = gf_links_reference_end(gf_slice_str(text), 0, &k);
    if (end != length) fail_msg("%s: %zu bytes, not %zu", text, end, length);
    if (length && k != stands_for) fail_msg("%s stands for %d, not %d", text, k, stands_for);
}

static void finds_references(void **state)
{
    (void)state;
    expect_reference("&amp; b", 5, GF_CHAR_JOIN);
    expect_reference("&lt;b", 4, GF_CHAR_BREAK);
    expect_reference("&nbsp;", 6, GF_CHAR_SPACE);
    expect_reference("&#39;s", 5, GF_CHAR_JOIN);
    expect_reference("&#x27;s", 6, GF_CHAR_JOIN);
    expect_reference("&#X2019;s", 8, GF_CHAR_JOIN);
    expect_reference("&#8217;s", 7, GF_CHAR_JOIN);
    expect_reference("&#x200B;", 8, GF_CHAR_SPACE);
    expect_reference("&#33;", 5, GF_CHAR_BREAK);
    expect_reference("&amp;nbsp;x", 10, GF_CHAR_SPACE);
    expect_reference("&amp;#39;", 9, GF_CHAR_JOIN);
    expect_reference("&amp;amp;lt;", 9, GF_CHAR_JOIN); /* escaped twice: lt stays a word */
    const char *none[] = {"&",    "&b",    "&amp",        "&AMP;",      "&;",     "&#;",   "&#x;",
                          "&#12", "&#xZ;", "&#12345678;", "&#x110000;", "&roll;", "& amp;"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        expect_reference(none[i], 0, GF_CHAR_SPACE);
}

/* Any bytes: a link found lies in the text, and nothing outside it is read. */
static void stays_inside_any_text(void **state)
{
    (void)state;
    static const char pieces[][8] = {"http", "://", "www",  ".",    "@",        "a", "org",
                                     "(",    ")",   "[",    "]",    "&",        "#", "amp;",
                                     "x27",  ";",   "\xC3", "\xA4", "\xE8\xBF", " ", ","};
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 20000; round++) {
        gf_buffer made = {0};
        for (uint64_t n = gf_random_below(&r, 8); n > 0; n--)
            gf_buffer_str(&made, pieces[gf_random_below(&r, sizeof pieces / sizeof *pieces)]);
        char *text = malloc(made.len); /* of exactly that size, for the sanitizer to see */
        if (made.len) memcpy(text, made.ptr, made.len);
        gf_slice s = gf_slice_of(text, made.len);
        for (size_t i = 0; i < s.len; i++) {
            size_t start, end;
            gf_char_class k;
            assert_true(gf_links_url_end(s, 0, i) <= s.len);
            if (text[i] == '&') assert_true(gf_links_reference_end(s, i, &k) <= s.len);
            if (text[i] != '@' || !gf_links_address_at(s, 0, i, &start, &end)) continue;
            assert_true(start < i && i < end && end <= s.len);
        }
        free(text);
        gf_buffer_release(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_urls),       cmocka_unit_test(leaves_what_is_no_url),
        cmocka_unit_test(finds_addresses),  cmocka_unit_test(bounds_the_local_part),
        cmocka_unit_test(finds_references), cmocka_unit_test(stays_inside_any_text),
    };
    return cmocka_run_group_tests_name("links", tests, NULL, NULL);
}
