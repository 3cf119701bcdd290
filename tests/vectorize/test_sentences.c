/* Sentences of texts as people write them: wrapped, quoted, abbreviated, in several scripts. */
#include "support/test.h"

#include "base/random.h"
#include "base/utf8.h"
#include "vectorize/text/sentences.h"

#include <string.h>

static gf_sentences *breaker;

static int open_breaker(void **state)
{
    (void)state;
    gf_error err;
    assert_ok(gf_sentences_create(&breaker, &err));
    return 0;
}

static int close_breaker(void **state)
{
    (void)state;
    gf_sentences_free(breaker);
    return 0;
}

/* The sentences, each in brackets: "[one][two]". Lower-case marks behind: e ended, w whole, p plain. */
static const char *split(const char *text)
{
    static gf_buffer out;
    gf_error err;
    const gf_sentence *list;
    size_t n;
    gf_buffer_release(&out);
    assert_ok(gf_sentences_split(breaker, gf_slice_str(text), &list, &n, &err));
    for (size_t i = 0; i < n; i++)
        gf_buffer_format(&out, "[%.*s]%s%s%s", GF_SLICE_ARG(list[i].text), list[i].ends ? "e" : "",
                         list[i].whole ? "w" : "", list[i].plain ? "p" : "");
    return gf_buffer_cstr(&out);
}

static void sentences_end(void **state)
{
    (void)state;
    assert_string_equal(split(""), "");
    assert_string_equal(split("One goes here. Two comes then! Is that three?"),
                        "[One goes here.]ep[Two comes then!]ep[Is that three?]ep");
    assert_string_equal(split("A title without a mark"), "[A title without a mark]wp");
    assert_string_equal(split("He said \"stop.\" She did (at once)."),
                        "[He said \"stop.\"]ep[She did (at once).]ep");
    assert_string_equal(split("It broke off..."), "[It broke off...]wp");
}

/* ICU breaks behind each of these full stops. */
static void abbreviations(void **state)
{
    (void)state;
    assert_string_equal(split("Then Mr. Smith met J. R. Jones in the U.S. Senate. They spoke."),
                        "[Then Mr. Smith met J. R. Jones in the U.S. Senate.]ep[They spoke.]ep");
    assert_string_equal(split("We went to the bar. Nobody came."),
                        "[We went to the bar.]ep[Nobody came.]ep");
}

static void other_scripts(void **state)
{
    (void)state;
    assert_string_equal(split("衣服质量不错。大小合适！"), "[衣服质量不错。]ep[大小合适！]ep");
    assert_string_equal(split("Это первое. А это второе?"), "[Это первое.]ep[А это второе?]ep");
    assert_string_equal(split("¿Qué pasa? Nada."), "[¿Qué pasa?]ep[Nada.]ep");
    assert_string_equal(split("यह एक वाक्य है। यह दूसरा है।"), "[यह एक वाक्य है।]ep[यह दूसरा है।]ep");
}

/* A wrapped line goes on; a short one ends its paragraph. */
static void lines(void **state)
{
    (void)state;
    assert_string_equal(
        split("A line that is long enough to have been wrapped by\na mail program."),
        "[A line that is long enough to have been wrapped by a mail program.]ewp");
    assert_string_equal(split("A heading\nand another\r\n\r\nThen text."),
                        "[A heading]wp[and another]wp[Then text.]ewp");
    assert_string_equal(split("- bread\n- some milk"), "[bread]wp[some milk]wp");
    assert_string_equal(split("two   blanks   and more are columns\nname\tvalue"), "");
    /* The last byte of "à" is that of a space by itself. */
    assert_string_equal(
        split("Le magasin reste ouvert tous les jours jusqu'\xC3\xA0\ndix heures du soir."),
        "[Le magasin reste ouvert tous les jours jusqu'\xC3\xA0 dix heures du soir.]ewp");
    assert_string_equal(split("Blanks  are\xC2\xA0one."), "[Blanks are one.]ewp");
}

static void what_others_wrote(void **state)
{
    (void)state;
    assert_string_equal(split("> quoted text\nMine.\n| theirs\n: theirs\n# theirs\nab> theirs"),
                        "[Mine.]ewp");
    assert_string_equal(split("It works.\n--\nJohn Doe\nAcme Inc."), "[It works.]ewp");
    assert_string_equal(split("=====\n12345\nText."), "[Text.]ewp");
}

static void not_plain(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "See http://example.org/ for more.", "Write to ada@example.org for more.",
        "Subject: what is this about.",      "说明：这个很好用。",
        "In article five someone writes:",   "and then, the text breaks off here,",
        "He said (and nobody heard.",        "He said \"and nobody heard.",
        "This is <b>bold</b> text here.",    "This is **bold** text here.",
        "Cats &amp; dogs live together.",    "THIS IS SHOUTED ALL OVER THE PLACE.",
        "1 2 3 4 5 6 7 8 9 and 10.",         "This is what!!!! she said.",
        "差评差评差评差评，不好。",          ", this begins with a comma.",
        "Bad byte \xFF in this text.",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gf_error err;
        const gf_sentence *list;
        size_t n;
        assert_ok(gf_sentences_split(breaker, gf_slice_str(texts[i]), &list, &n, &err));
        if (n == 1 && list[0].plain) fail_msg("plain: %s", texts[i]);
    }
}

/* Marks of addresses and markup, wherever in a sentence; their parts alone are none. */
static void marks_anywhere(void **state)
{
    (void)state;
    static const char *const marks[] = {
        "://",  "www.", "](",    "**",    "__", "==", "&amp", "&lt", "&gt", "&#", "#39;", "{", "}",
        "#36;", "|",    "&quot", "&nbsp", "\\", "^",  "~",    "`",   "<",   ">",  "a@b",  "a@"};
    static const char *const parts[] = {":/", "ww", "*", "_", "=", "&am", "#3", " @b", "(@b)"};
    char text[80];
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        snprintf(text, sizeof text, "Words go on %s and on.", marks[i]);
        assert_null(strstr(split(text), "]ewp"));
        snprintf(text, sizeof text, "Words go on and on %s.", marks[i]);
        assert_null(strchr(strrchr(split(text), ']'), 'p'));
        snprintf(text, sizeof text, "Words go%s.", marks[i]);
        assert_null(strchr(strrchr(split(text), ']'), 'p'));
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(text, sizeof text, "Words go on %s and on.", parts[i]);
        assert_non_null(strstr(split(text), "]ewp"));
    }
}

/* Units of as many letters as are looked for, and of one more, in scripts and in ASCII. */
static void repeated_units(void **state)
{
    (void)state;
    static const char letters[] = "abcdefghijklmnopqrs";
    for (size_t unit = 2; unit <= 18; unit++)
        for (int wide = 0; wide < 2; wide++) {
            gf_buffer text = {0};
            gf_buffer_str(&text, "Then ");
            for (int time = 0; time < 3; time++)
                for (size_t i = 0; i < unit; i++)
                    if (wide)
                        gf_utf8_append(&text, 0x3B1 + (uint32_t)i);
                    else
                        gf_buffer_byte(&text, letters[i]);
            gf_buffer_str(&text, " came.");
            bool plain = strstr(split(gf_buffer_cstr(&text)), "]ewp") != NULL;
            assert_true(plain == (unit > (wide ? 16 : 4)));
            gf_buffer_release(&text);
        }
}

static void begins_and_words(void **state)
{
    (void)state;
    gf_error err;
    const gf_sentence *list;
    size_t n;
    assert_ok(gf_sentences_split(breaker, GF_SLICE("lower here e.g. this. \"Quoted.\""), &list, &n,
                                 &err));
    assert_int_equal(n, 2);
    assert_true(list[0].begins); /* a paragraph */
    assert_int_equal(list[0].words, 4);
    assert_true(list[1].begins);
    assert_ok(gf_sentences_split(breaker, GF_SLICE("衣服质量不错。"), &list, &n, &err));
    assert_int_equal(n, 1);
    assert_int_equal(list[0].words, 4);
}

/*
 * Texts of ASCII have rules of their own. Behind a sentence in French the same text goes through
 * ICU, and must come out as the same sentences.
 */
static void ascii_as_by_icu(void **state)
{
    (void)state;
    static const char first[] = "\xC3\x87"
                                "a va bien! ";
    static const char *const parts[] = {"a",          "Word ",     "small ",
                                        ".",          ". ",        "...",
                                        "!",          "? ",        "\"",
                                        "\" ",        "'",         ")",
                                        "(",          "] ",        ", ",
                                        "-",          ": ",        ";",
                                        "; ",         " 5",        "12.5 ",
                                        "U.S. ",      "e.g.",      "Mr. ",
                                        "haha",       "--",        "www.",
                                        "@",          "x@y",       "*",
                                        "_",          "\x7F",      "STOP ",
                                        " ",          "   ",       "\t",
                                        "abab abab ", "nd nd nd ", "one two three four five six "};
    gf_buffer text = {0}, behind = {0}, expected = {0};
    gf_random r = gf_random_seed(gf_test_seed(), 2);
    uint32_t met = 0;
    for (int round = 0; round < 20000; round++) {
        gf_error err;
        const gf_sentence *list;
        size_t n, k;
        gf_buffer_reset(&text);
        gf_buffer_reset(&expected);
        gf_buffer_reset(&behind);
        gf_buffer_str(&text, "Aa");
        for (uint64_t i = gf_random_below(&r, 30); i > 0; i--)
            gf_buffer_str(&text, parts[gf_random_below(&r, sizeof parts / sizeof *parts)]);
        gf_buffer_str(&behind, first);
        gf_buffer_slice(&behind, gf_buffer_view(&text));
        assert_ok(gf_sentences_split(breaker, gf_buffer_view(&behind), &list, &n, &err));
        for (size_t i = 1; i < n; i++)
            gf_buffer_format(&expected, "[%.*s]%u%d%d%d", GF_SLICE_ARG(list[i].text), list[i].words,
                             list[i].ends, list[i].begins, list[i].plain);
        assert_ok(gf_sentences_split(breaker, gf_buffer_view(&text), &list, &k, &err));
        assert_int_equal(k, n ? n - 1 : 0);
        met += k > 1;
        gf_buffer_reset(&behind);
        for (size_t i = 0; i < k; i++)
            gf_buffer_format(&behind, "[%.*s]%u%d%d%d", GF_SLICE_ARG(list[i].text), list[i].words,
                             list[i].ends, list[i].begins, list[i].plain);
        assert_string_equal(gf_buffer_cstr(&behind), gf_buffer_cstr(&expected));
    }
    assert_true(met > 1000);
    gf_buffer_release(&text);
    gf_buffer_release(&behind);
    gf_buffer_release(&expected);
}

/* Anything goes in; what comes out is valid, of one line, and not empty. */
static void random_bytes(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "a",    "Word ", ". ",   "\n",   "> ",
        "\xFF", "\xE4",  "中。", "--\n", "\xF0\x9F\x98\x80",
        "\t",   "U.S. ", "\r",   "\"",   "long words here in a line of text "};
    gf_error err;
    gf_buffer text = {0};
    gf_random r = gf_random_seed(gf_test_seed(), 1);
    for (int round = 0; round < 2000; round++) {
        const gf_sentence *list;
        size_t n;
        gf_buffer_reset(&text);
        for (uint64_t i = gf_random_below(&r, 40); i > 0; i--)
            gf_buffer_str(&text, parts[gf_random_below(&r, sizeof parts / sizeof *parts)]);
        assert_ok(gf_sentences_split(breaker, gf_buffer_view(&text), &list, &n, &err));
        for (size_t i = 0; i < n; i++) {
            assert_true(list[i].text.len > 0 && list[i].words > 0);
            assert_true(gf_utf8_is_valid(list[i].text));
            assert_null(memchr(list[i].text.ptr, '\n', list[i].text.len));
        }
    }
    gf_buffer_release(&text);
}

/* A paragraph longer than is looked at is cut, at no cost of what stands behind it. */
static void long_paragraphs(void **state)
{
    (void)state;
    gf_error err;
    const gf_sentence *list;
    size_t n;
    gf_buffer text = {0};
    for (int i = 0; i < 20000; i++)
        gf_buffer_str(&text, "word ");
    gf_buffer_str(&text, "\n\nThe end is here.");
    assert_ok(gf_sentences_split(breaker, gf_buffer_view(&text), &list, &n, &err));
    assert_int_equal(n, 2);
    assert_slice(list[1].text, "The end is here.");
    gf_buffer_release(&text);
}

static gf_status split_swept(void *context, gf_error *err)
{
    gf_sentences *s = NULL;
    const gf_sentence *list;
    size_t n;
    gf_status st = gf_sentences_create(&s, err);
    if (st == GF_OK) st = gf_sentences_split(s, gf_slice_str(context), &list, &n, err);
    gf_sentences_free(s);
    return st;
}

static void memory_ends(void **state)
{
    (void)state;
    gf_test_sweep(split_swept, NULL,
                  "One goes here. Two comes then!\n\nEt \xC3\xA7"
                  "a. And a third one.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_end),     cmocka_unit_test(abbreviations),
        cmocka_unit_test(other_scripts),     cmocka_unit_test(lines),
        cmocka_unit_test(what_others_wrote), cmocka_unit_test(not_plain),
        cmocka_unit_test(marks_anywhere),    cmocka_unit_test(repeated_units),
        cmocka_unit_test(begins_and_words),  cmocka_unit_test(ascii_as_by_icu),
        cmocka_unit_test(random_bytes),      cmocka_unit_test(long_paragraphs),
        cmocka_unit_test(memory_ends),
    };
    return cmocka_run_group_tests_name("sentences", tests, open_breaker, close_breaker);
}
