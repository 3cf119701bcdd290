#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "vectorize/text/normalise.h"

static void expect(const char *word, const char *language, const char *normal)
{
    gf_error err;
    gf_buffer out = {0};
    const gf_language *l = gf_language_find(gf_slice_str(language));
    assert_ok(gf_normalise(gf_slice_str(word), l, &out, &err));
    assert_slice(gf_buffer_view(&out), normal);
    gf_buffer_release(&out);
}

static void folds_as_unicode_says(void **state)
{
    (void)state;
    expect("", "", "");
    expect("HeLLo_42", "", "hello_42");
    expect("Straße", "de", "strasse");
    expect("ÀÉÎ", "fr", "àéî");
    expect("e\xCC\x81t\xC3\xA9", "fr", "été");                 /* e + U+0301 */
    expect("\xEF\xAC\x81sh", "", "fish");                      /* ﬁ */
    expect("\xEF\xBC\xA1\xEF\xBC\xA2\xEF\xBC\x91", "", "ab1"); /* full-width AB1 */
    expect("ΣΊΣΥΦΟΣ", "el", "σίσυφοσ");
    expect("so\xC2\xADlid", "", "solid"); /* soft hyphen */
    expect("a\xE2\x80\x8D\xE2\x80\x8C"
           "b",
           "", "ab");                               /* joiners */
    expect("\xEF\xBD\xB6\xEF\xBE\x9E", "ja", "ガ"); /* half-width ka and voicing mark */
    expect("ПРИВЕТ", "ru", "привет");
    expect("\xE2\x80\x8D", "", ""); /* nothing visible */
}

static void turkish_has_two_letters_i(void **state)
{
    (void)state;
    expect("ISPARTA", "tr", "ısparta");
    expect("İZMİR", "tr", "izmir");
    expect("DIŞ", "tr", "dış");
    expect("ISPARTA", "en", "isparta");
    expect("I", "tr", "ı");
}

static void bad_bytes_become_replacements(void **state)
{
    (void)state;
    expect("a\xFFz", "", "a\xEF\xBF\xBDz");
    expect("\xC3", "", "\xEF\xBF\xBD");
}

static void says_when_a_word_is_too_long(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer out = {0};
    gf_buffer_init(&out, 4);
    assert_status(GF_ELIMIT, gf_normalise(GF_SLICE("abcde"), NULL, &out, &err));
    gf_buffer_release(&out);
    /* The word that grows most: each of these 3 bytes becomes 33. */
    gf_buffer word = {0};
    gf_buffer_init(&out, 0);
    for (int i = 0; i < 1000; i++)
        gf_buffer_str(&word, "\xEF\xB7\xBA"); /* U+FDFA */
    assert_ok(gf_normalise(gf_buffer_view(&word), NULL, &out, &err));
    assert_int_equal(out.len, 33 * 1000);
    gf_buffer_release(&word);
    gf_buffer_release(&out);
}

static void append_character(gf_buffer *word, uint32_t c)
{
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    char bytes[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3F));
    bytes[0] = (char)(lead[n] | c);
    gf_buffer_append(word, bytes, n);
}

static void random_character(gf_random *r, gf_buffer *word)
{
    uint32_t c;
    do
        c = (uint32_t)gf_random_below(r, gf_random_below(r, 2) ? 0x3000 : 0x11000);
    while (c == 0 || (c >= 0xD800 && c < 0xE000));
    if (c >= 0x10000) c = 0x1F000 + (c & 0xFFF);
    append_character(word, c);
}

/* There is room for the normal form of every character there is, alone and repeated. */
static void takes_every_character(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer word = {0}, out = {0};
    for (uint32_t c = 0; c < 0x110000; c++) {
        if (c >= 0xD800 && c < 0xE000) continue;
        gf_buffer_reset(&word), gf_buffer_reset(&out);
        for (int times = 0; times < 3; times++)
            append_character(&word, c);
        if (gf_normalise(gf_buffer_view(&word), NULL, &out, &err) != GF_OK)
            fail_msg("U+%04X: %s", c, err.message);
    }
    gf_buffer_release(&word);
    gf_buffer_release(&out);
}

/* Normal forms are their own normal form, and ASCII takes the same way with and without ICU. */
static void is_idempotent(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer word = {0}, once = {0}, twice = {0};
    for (int round = 0; round < 20000; round++) {
        gf_buffer_reset(&word), gf_buffer_reset(&once), gf_buffer_reset(&twice);
        bool ascii = gf_random_below(&r, 4) == 0;
        for (uint64_t n = gf_random_below(&r, 12); n > 0; n--)
            if (ascii)
                gf_buffer_byte(&word, (char)(1 + gf_random_below(&r, 127)));
            else
                random_character(&r, &word);
        assert_ok(gf_normalise(gf_buffer_view(&word), NULL, &once, &err));
        assert_ok(gf_normalise(gf_buffer_view(&once), NULL, &twice, &err));
        assert_true(gf_slice_equal(gf_buffer_view(&once), gf_buffer_view(&twice)));
        if (!ascii) continue;
        gf_buffer_str(&word, "é");
        gf_buffer_str(&once, "é");
        gf_buffer_reset(&twice);
        assert_ok(gf_normalise(gf_buffer_view(&word), NULL, &twice, &err));
        assert_true(gf_slice_equal(gf_buffer_view(&once), gf_buffer_view(&twice)));
    }
    gf_buffer_release(&word);
    gf_buffer_release(&once);
    gf_buffer_release(&twice);
}

static gf_status normalise_long(void *context, gf_error *err)
{
    gf_buffer out = {0};
    gf_status st = gf_normalise(*(gf_slice *)context, NULL, &out, err);
    gf_buffer_release(&out);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_slice ascii = GF_SLICE("Word"), wide = GF_SLICE("Wörter");
    char many[300];
    for (size_t i = 0; i < sizeof many; i++)
        many[i] = i % 2 ? '\xA9' : '\xC3'; /* é, too often for the stack */
    gf_slice large = gf_slice_of(many, sizeof many);
    gf_test_sweep(normalise_long, NULL, &ascii);
    gf_test_sweep(normalise_long, NULL, &wide);
    gf_test_sweep(normalise_long, NULL, &large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_as_unicode_says),
        cmocka_unit_test(turkish_has_two_letters_i),
        cmocka_unit_test(bad_bytes_become_replacements),
        cmocka_unit_test(says_when_a_word_is_too_long),
        cmocka_unit_test(takes_every_character),
        cmocka_unit_test(is_idempotent),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("normalise", tests, NULL, NULL);
}
