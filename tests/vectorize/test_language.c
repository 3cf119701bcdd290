#include "support/test.h"

#include "vectorize/text/language.h"

#include <libstemmer.h>

static const gf_language *find(const char *name)
{
    return gf_language_find(gf_slice_str(name));
}

static void finds_by_name_and_code(void **state)
{
    (void)state;
    const char *german[] = {"german", "German", "GERMAN", "de",    "DE",
                            "ger",    "deu",    "de-AT",  "de_CH", "deu-Latn"};
    for (size_t i = 0; i < sizeof german / sizeof *german; i++) {
        assert_non_null(find(german[i]));
        assert_string_equal(find(german[i])->name, "german");
    }
    const char *norwegian[] = {"no", "nb", "nn", "nor", "nob", "nno", "nb-NO", "norwegian"};
    for (size_t i = 0; i < sizeof norwegian / sizeof *norwegian; i++)
        assert_ptr_equal(find(norwegian[i]), find("norwegian"));
    const char *serbian[] = {"sr", "srp", "hbs", "sh", "sr-Latn", "sr_Cyrl_RS"};
    for (size_t i = 0; i < sizeof serbian / sizeof *serbian; i++)
        assert_ptr_equal(find(serbian[i]), find("serbian"));
    assert_string_equal(find("zh-Hant")->name, "chinese");
    assert_string_equal(find("en")->name, "english");
    assert_string_equal(find("porter")->name, "porter");
    assert_string_equal(find("porter")->iso1, "");
}

static void knows_nothing_else(void **state)
{
    (void)state;
    const char *unknown[] = {"",   "-",       "-de", "e",   "englis", "englishh",
                             "xx", "klingon", " de", "de ", "nb nn",  "en.UTF-8"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (find(unknown[i])) fail_msg("\"%s\" is %s", unknown[i], find(unknown[i])->name);
    assert_null(gf_language_find((gf_slice){NULL, 0}));
    assert_string_equal(gf_language_nearest(GF_SLICE("englsh")), "english");
    assert_string_equal(gf_language_nearest(GF_SLICE("protuguese")), "portuguese");
    assert_null(gf_language_nearest(GF_SLICE("qqqqqqqqqq")));
}

/* The table and libstemmer name the same algorithms, and our codes are the ones it knows. */
static void stems_what_libstemmer_stems(void **state)
{
    (void)state;
    size_t n = 0, ours = 0;
    for (const char **name = sb_stemmer_list(); *name; name++, n++) {
        assert_non_null(find(*name));
        assert_string_equal(find(*name)->name, *name);
        assert_true(find(*name)->stems);
    }
    for (size_t i = 0; i < GF_LANGUAGES; i++) {
        const gf_language *l = gf_language_at(i);
        assert_int_equal(gf_language_index(l), i);
        ours += l->stems;
        if (!l->stems || !*l->iso1) continue;
        struct sb_stemmer *by_code = sb_stemmer_new(l->iso1, NULL);
        assert_non_null(by_code);
        sb_stemmer_delete(by_code);
    }
    assert_int_equal(ours, n);
}

/* No code belongs to two languages, and the names rise. */
static void names_are_unambiguous(void **state)
{
    (void)state;
    for (size_t i = 0; i < GF_LANGUAGES; i++) {
        const gf_language *l = gf_language_at(i);
        const char *names[] = {l->name, l->iso1, l->iso2b, l->iso3};
        for (size_t k = 0; k < 4; k++)
            if (*names[k]) assert_ptr_equal(find(names[k]), l);
        if (i) assert_true(strcmp(gf_language_at(i - 1)->name, l->name) < 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_by_name_and_code),
        cmocka_unit_test(knows_nothing_else),
        cmocka_unit_test(stems_what_libstemmer_stems),
        cmocka_unit_test(names_are_unambiguous),
    };
    return cmocka_run_group_tests_name("language", tests, NULL, NULL);
}
