#include "support/test.h"

#include "vectorize/text/stem.h"

static void expect(gf_stemmers *stemmers, const char *language, const char *word, const char *stem)
{
    gf_error err;
    gf_slice got;
    const gf_language *l = gf_language_find(gf_slice_str(language));
    assert_ok(gf_stem(stemmers, l, gf_slice_str(word), &got, &err));
    assert_slice(got, stem);
}

static void stems_by_language(void **state)
{
    (void)state;
    gf_stemmers s = {0};
    expect(&s, "english", "connections", "connect");
    expect(&s, "english", "connected", "connect");
    expect(&s, "english", "generously", "generous");
    expect(&s, "porter", "generously", "gener");
    expect(&s, "german", "häuser", "haus");
    expect(&s, "french", "continuellement", "continuel");
    expect(&s, "russian", "книгами", "книг");
    expect(&s, "spanish", "canciones", "cancion");
    expect(&s, "english", "connecting", "connect"); /* stemmers are kept and take turns */
    gf_stemmers_release(&s);
}

static void leaves_other_words_alone(void **state)
{
    (void)state;
    gf_stemmers s = {0};
    expect(&s, "", "connections", "connections"); /* not known */
    expect(&s, "chinese", "手机", "手机");
    expect(&s, "thai", "ภาษา", "ภาษา");
    expect(&s, "english", "", "");
    gf_stemmers_release(&s);
}

/* Every stemmer takes any bytes and gives something no longer than three bytes more. */
static void takes_any_bytes(void **state)
{
    (void)state;
    gf_error err;
    gf_stemmers s = {0};
    const char *words[] = {"\xFF\xFE", "\xC3", "a\xE2\x82", "ing", "s", "\xF0\x9F\x98\x80", "'s'"};
    for (size_t i = 0; i < GF_LANGUAGES; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            gf_slice stem, word = gf_slice_str(words[k]);
            assert_ok(gf_stem(&s, gf_language_at(i), word, &stem, &err));
            assert_true(stem.len <= word.len + 3);
        }
    gf_stemmers_release(&s);
}

/* "faulty slice operation" in libstemmer 2.2.0 (Snowball issue 204): a word, not a failure. */
static void survives_a_faulty_algorithm(void **state)
{
    (void)state;
    gf_error err;
    gf_stemmers s = {0};
    gf_slice stem;
    const gf_language *greek = gf_language_find(GF_SLICE("el"));
    for (int i = 0; i < 3; i++) {
        assert_ok(gf_stem(&s, greek, GF_SLICE("ισαισα"), &stem, &err));
        assert_true(gf_slice_starts(GF_SLICE("ισαισα"), stem));
        expect(&s, "greek", "αγαπητο", "αγαπητ");
    }
    gf_stemmers_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stems_by_language),
        cmocka_unit_test(leaves_other_words_alone),
        cmocka_unit_test(takes_any_bytes),
        cmocka_unit_test(survives_a_faulty_algorithm),
    };
    return cmocka_run_group_tests_name("stem", tests, NULL, NULL);
}
