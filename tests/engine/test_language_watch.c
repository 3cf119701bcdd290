/* What a collection's texts fall back on, found while they go by. */
#include "tests/support/test.h"

#include "engine/text/language_watch.h"

#include <string.h>

static const char english[] =
    "The committee will meet again in the morning and discuss the report.";
static const char german[] = "Der Ausschuss trifft sich morgen wieder und bespricht den Bericht.";

static void add(gf_language_watch *w, unsigned n, const char *text)
{
    gf_error err;
    for (unsigned i = 0; i < n; i++)
        assert_ok(gf_language_watch_add(w, GF_SLICE(""), gf_slice_str(text), &err));
}

/* n texts of the first kind, then of the second and again of the first; what was decided. */
static gf_fallback decide(unsigned n, const char *text, unsigned m, const char *other, unsigned l)
{
    gf_error err;
    gf_language_watch w = {0};
    add(&w, n, text);
    add(&w, m, other);
    add(&w, l, text);
    assert_ok(gf_language_watch_end(&w, &err));
    gf_fallback decided = w.decided;
    gf_language_watch_again(&w); /* the same texts say nothing new */
    add(&w, n, text);
    add(&w, m, other);
    add(&w, l, text);
    assert_ok(gf_language_watch_end(&w, &err));
    assert_int_equal(decided.kind, w.decided.kind);
    gf_language_watch_release(&w);
    return decided;
}

static void is_english(gf_fallback f)
{
    assert_int_equal(f.kind, GF_FALLBACK_FIXED);
    assert_non_null(f.language);
    assert_string_equal(f.language->name, "english");
}

static void is_mixed(gf_fallback f)
{
    assert_int_equal(f.kind, GF_FALLBACK_DETECT);
}

static void one_language_is_found(void **state)
{
    (void)state;
    const unsigned numbers[] = {1, 3, 499, 500, 501, 1700, 30000};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        is_english(decide(numbers[i], english, 0, "", 0));
}

/* Wherever a tenth or more of another language lies among the texts that are looked at. */
static void mixed_texts_are_found(void **state)
{
    (void)state;
    is_mixed(decide(2, english, 1, german, 0));
    is_mixed(decide(450, english, 50, german, 0));
    is_mixed(decide(500, english, 99, german, 0));
    is_mixed(decide(600, english, 600, german, 0));
    is_mixed(decide(600, english, 600, german, 600));
    is_mixed(decide(0, english, 600, german, 1200));
    is_mixed(decide(4000, english, 1000, german, 5000));
    is_mixed(decide(30000, english, 20000, german, 0));
}

static void few_texts_change_nothing(void **state)
{
    (void)state;
    is_english(decide(500, english, 3, german, 0));
    is_english(decide(1200, english, 8, german, 30));
    is_english(decide(30000, english, 100, german, 40000));
}

static void texts_that_tell_nothing_decide_nothing(void **state)
{
    (void)state;
    assert_int_equal(decide(0, "", 0, "", 0).kind, GF_FALLBACK_UNKNOWN);
    assert_int_equal(decide(700, "12 34", 0, "", 0).kind, GF_FALLBACK_UNKNOWN);
    is_english(decide(700, "12 34", 300, english, 0));
}

static void texts_with_a_lang_are_left_out(void **state)
{
    (void)state;
    gf_error err;
    gf_language_watch w = {0};
    for (int i = 0; i < 1000; i++)
        assert_ok(gf_language_watch_add(&w, GF_SLICE("de"), gf_slice_str(german), &err));
    assert_int_equal(w.seen, 0);
    add(&w, 1, english);
    gf_fallback guess;
    assert_ok(gf_language_watch_guess(&w, &guess, &err));
    is_english(guess);
    assert_int_equal(w.decided.kind, GF_FALLBACK_UNKNOWN);
    assert_ok(gf_language_watch_end(&w, &err));
    is_english(w.decided); /* texts decide where they can */
    gf_language_watch_release(&w);
}

/* What so many documents decide whose lang is English, and as many others of another one, without a text that tells. */
static gf_fallback decide_by_langs(unsigned n, const char *other, unsigned m)
{
    gf_error err;
    gf_fallback guess;
    gf_language_watch w = {0};
    for (unsigned i = 0; i < n + m; i++)
        assert_ok(
            gf_language_watch_add(&w, gf_slice_str(i < n ? "en" : other), GF_SLICE("12 34"), &err));
    add(&w, 10, "56 78");
    assert_ok(gf_language_watch_guess(&w, &guess, &err));
    assert_int_equal(w.decided.kind, GF_FALLBACK_UNKNOWN);
    assert_ok(gf_language_watch_end(&w, &err));
    assert_int_equal(guess.kind, w.decided.kind);
    assert_ptr_equal(guess.language, w.decided.language);
    gf_language_watch_release(&w);
    return w.decided;
}

static void langs_decide_where_no_text_does(void **state)
{
    (void)state;
    is_english(decide_by_langs(1, "", 0));
    is_english(decide_by_langs(300, "de", 10));
    is_english(decide_by_langs(100000, "de", 4000));
    is_mixed(decide_by_langs(300, "de", 30));
    is_mixed(decide_by_langs(100000, "de", 10000));
    is_english(decide_by_langs(10, "tlh", 300)); /* no language that is known */
    assert_int_equal(decide_by_langs(0, "tlh", 300).kind, GF_FALLBACK_UNKNOWN);
}

static gf_status watch(void *context, gf_error *err)
{
    (void)context;
    gf_language_watch w = {0};
    gf_status st = GF_OK;
    for (unsigned i = 0; i < 600 && st == GF_OK; i++)
        st = gf_language_watch_add(&w, GF_SLICE(""), gf_slice_str(english), err);
    if (st == GF_OK) st = gf_language_watch_end(&w, err);
    gf_language_watch_release(&w);
    return st;
}

static void failed_allocations_are_told(void **state)
{
    (void)state;
    gf_test_sweep(watch, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_language_is_found),
        cmocka_unit_test(mixed_texts_are_found),
        cmocka_unit_test(few_texts_change_nothing),
        cmocka_unit_test(texts_that_tell_nothing_decide_nothing),
        cmocka_unit_test(texts_with_a_lang_are_left_out),
        cmocka_unit_test(langs_decide_where_no_text_does),
        cmocka_unit_test(failed_allocations_are_told),
    };
    return cmocka_run_group_tests_name("language_watch", tests, NULL, NULL);
}
