#include "support/test.h"

#include "vectorize/text/weak_words.h"

#include <string.h>

static const gf_language *find(const char *name)
{
    return gf_language_find(gf_slice_str(name));
}

/* True if a line of the list has the word, between spaces. */
static bool lists(const char *language, gf_weak_kind kind, const char *word)
{
    size_t n, length = strlen(word);
    const char *const *lines = gf_weak_words(find(language), kind, &n);
    for (size_t i = 0; i < n; i++)
        for (const char *at = lines[i]; (at = strstr(at, word)) != NULL; at++)
            if ((at == lines[i] || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
                return true;
    return false;
}

static void knows_weak_words(void **state)
{
    (void)state;
    assert_true(lists("english", GF_WEAK_VAGUE, "new"));
    assert_true(lists("english", GF_WEAK_VAGUE, "study"));
    assert_true(lists("porter", GF_WEAK_VAGUE, "new"));
    assert_true(lists("english", GF_WEAK_UNITS, "said"));
    assert_true(lists("english", GF_WEAK_UNITS, "mln"));
    assert_true(lists("german", GF_WEAK_VAGUE, "Jahre"));
    assert_true(lists("german", GF_WEAK_UNITS, "Prozent"));
    assert_true(lists("french", GF_WEAK_VAGUE, "jour"));
    assert_true(lists("russian", GF_WEAK_UNITS, "сказал"));
    assert_true(lists("chinese", GF_WEAK_VAGUE, "不错"));
}

/* Subjects of texts are in no list. */
static void leaves_subjects_out(void **state)
{
    (void)state;
    static const char *const subjects[] = {"car",      "game",    "music",   "research",
                                           "business", "war",     "running", "art",
                                           "season",   "quarter", "market",  "health"};
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        assert_false(lists("english", GF_WEAK_VAGUE, subjects[i]));
        assert_false(lists("english", GF_WEAK_UNITS, subjects[i]));
    }
}

static void other_languages_have_none(void **state)
{
    (void)state;
    size_t n = 7;
    assert_null(gf_weak_words(NULL, GF_WEAK_VAGUE, &n));
    assert_int_equal(n, 0);
    n = 7;
    assert_null(gf_weak_words(find("tamil"), GF_WEAK_UNITS, &n));
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(knows_weak_words),
                                       cmocka_unit_test(leaves_subjects_out),
                                       cmocka_unit_test(other_languages_have_none)};
    return cmocka_run_group_tests_name("weak words", tests, NULL, NULL);
}
