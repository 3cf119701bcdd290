#include "support/test.h"

#include "vectorize/text/normalise.h"
#include "vectorize/text/stop_words.h"
#include "vectorize/text/tokeniser.h"

static const gf_language *find(const char *name)
{
    return gf_language_find(gf_slice_str(name));
}

static bool has(const gf_strings *set, const char *word)
{
    return gf_strings_find(set, gf_slice_str(word)) != GF_STRING_NONE;
}

static void expect_words(const char *language, const char *const *words, size_t n)
{
    gf_error err;
    gf_strings set = {0};
    assert_ok(gf_stop_words_add(&set, find(language), &err));
    for (size_t i = 0; i < n; i++)
        if (!has(&set, words[i])) fail_msg("%s: no %s", language, words[i]);
    assert_false(has(&set, "firefox"));
    gf_strings_release(&set);
}

#define EXPECT(language, ...)                                                                      \
    expect_words(language, (const char *const[]){__VA_ARGS__},                                     \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void knows_the_small_words(void **state)
{
    (void)state;
    EXPECT("english", "the", "and", "don", "t", "s", "doesn", "ll", "could", "would", "also",
           "got");
    EXPECT("porter", "the", "and", "doesn");
    EXPECT("german", "der", "die", "und", "dass", "für", "wurde");
    EXPECT("hungarian", "ill");
    EXPECT("french", "le", "l", "d", "qu", "été", "cette", "lorsqu");
    EXPECT("italian", "il", "dell", "nell", "sull", "quell", "perché");
    EXPECT("spanish", "el", "los", "más", "también");
    EXPECT("portuguese", "não", "uma", "são");
    EXPECT("dutch", "de", "het", "een");
    EXPECT("russian", "и", "что", "еще");
    EXPECT("swedish", "och", "för", "är");
    EXPECT("danish", "og", "på");
    EXPECT("norwegian", "og", "ikke");
    EXPECT("finnish", "olla", "että");
    EXPECT("hungarian", "és", "hogy");
    EXPECT("turkish", "ve", "için", "çok");
    EXPECT("nepali", "छ");
    EXPECT("arabic", "من", "على", "هذا");
    EXPECT("armenian", "եմ", "այս");
    EXPECT("basque", "eta", "bat");
    EXPECT("catalan", "amb", "aquest", "això");
    EXPECT("greek", "και", "το", "είναι", "από");
    EXPECT("hindi", "है", "और");
    EXPECT("irish", "agus", "an");
    EXPECT("lithuanian", "ir", "kad");
    EXPECT("romanian", "și", "este", "pentru");
    EXPECT("chinese", "的", "我们", "但是");
    EXPECT("japanese", "は", "です", "こと");
}

/* Each file of the folder is embedded under a language that the table knows. */
static void covers_the_languages_it_should(void **state)
{
    (void)state;
    size_t with = 0, n;
    for (size_t i = 0; i < GF_LANGUAGES; i++) {
        gf_stop_words(gf_language_at(i), &n);
        with += n > 0;
    }
    assert_int_equal(with, 27); /* 26 lists, and English's again for porter */
    assert_null(gf_stop_words(NULL, &n));
    assert_int_equal(n, 0);
    assert_null(gf_stop_words(find("thai"), &n));
    assert_int_equal(n, 0);
}

/* A word of a list that the tokeniser would not give as one token could never be met. */
static void words_are_tokens(void **state)
{
    (void)state;
    gf_error err;
    gf_tokeniser t;
    gf_tokeniser_init(&t, GF_TOKEN_OPTIONS_DEFAULT);
    for (size_t i = 0; i < GF_LANGUAGES; i++) {
        size_t n;
        const char *const *words = gf_stop_words(gf_language_at(i), &n);
        for (size_t k = 0; k < n; k++) {
            assert_ok(gf_tokenise(&t, gf_slice_str(words[k]), &err));
            size_t length = strcspn(words[k], "."); /* Hungarian has "ill." */
            if (t.n != 1 || t.tokens[0].length != length)
                fail_msg("%s: %s is %zu tokens", gf_language_at(i)->name, words[k], t.n);
        }
    }
    gf_tokeniser_release(&t);
}

static void adds_words_of_a_text(void **state)
{
    (void)state;
    gf_error err;
    gf_strings set = {0};
    assert_ok(
        gf_stop_words_add_text(&set,
                               GF_SLICE(" Foo, BAR\nbaz;  can't l\xE2\x80\x99\xC3\x89t\xC3\xA9 "
                                        "snake_case 手机 不好、很"),
                               NULL, &err));
    assert_int_equal(set.n, 11);
    const char *words[] = {"foo", "bar",        "baz",  "can",  "t", "l",
                           "été", "snake_case", "手机", "不好", "很"};
    for (size_t i = 0; i < 11; i++)
        assert_true(has(&set, words[i]));
    assert_ok(gf_stop_words_add_text(&set, GF_SLICE("ILIK"), find("turkish"), &err));
    assert_true(has(&set, "ılık"));
    assert_ok(gf_stop_words_add_text(&set, GF_SLICE(""), NULL, &err));
    assert_int_equal(set.n, 12);
    gf_strings_release(&set);
}

static gf_status add_all(void *context, gf_error *err)
{
    (void)context;
    gf_strings set = {0};
    gf_status st = gf_stop_words_add(&set, find("german"), err);
    if (st == GF_OK) st = gf_stop_words_add_text(&set, GF_SLICE("eins zwei Übung"), NULL, err);
    gf_strings_release(&set);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(add_all, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_small_words),
        cmocka_unit_test(covers_the_languages_it_should),
        cmocka_unit_test(words_are_tokens),
        cmocka_unit_test(adds_words_of_a_text),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("stop words", tests, NULL, NULL);
}
