/* The lists of weak words by an analysis, looked up in vocabularies. */
#include "engine/build/weak_terms.h"
#include "tests/support/test.h"

#include "base/memory.h"

enum { ENGLISH = 0, VAGUE = 1, MOST = 20000 };

static gf_analysis_options analysis(void)
{
    return gf_vectorizer_options_default().analysis;
}

/* A vocabulary of these terms and of some that are no words. */
static gf_vocabulary vocabulary(const char *const *terms, uint32_t n, uint32_t others)
{
    static char names[MOST][8];
    static gf_slice slices[MOST];
    static uint32_t df[MOST];
    gf_error err;
    gf_vocabulary v = {0};
    assert_true(n + others <= MOST);
    for (uint32_t i = 0; i < n + others; i++) {
        snprintf(names[i], sizeof names[i], "q%u", i);
        slices[i] = gf_slice_str(i < n ? terms[i] : names[i]);
        df[i] = 1;
    }
    gf_vocabulary_parts parts = {.n_docs = 10,
                                 .n_terms = n + others,
                                 .n_regular = n + others,
                                 .df = df,
                                 .term = slices,
                                 .surface = slices};
    assert_ok(gf_vocabulary_init(&v, &parts, &err));
    return v;
}

static gf_weak_terms made(const gf_analysis_options *o)
{
    gf_error err;
    gf_weak_terms w = {0};
    assert_ok(gf_weak_terms_suit(&w, o, &err));
    return w;
}

static uint32_t without(const gf_weak_terms *w, const char *word, const gf_vocabulary *v)
{
    return gf_weak_terms_without(w, ENGLISH, gf_slice_str(word), v);
}

/* "recommend" and "listen" say little, in English alone; "pizza" says something. */
static void terms_of_small_and_large_vocabularies(void **state)
{
    (void)state;
    static const char *const terms[] = {"pizza", "recommend", "listen", "said"};
    gf_analysis_options o = analysis();
    gf_weak_terms w = made(&o);
    for (uint32_t others = 0; others < MOST; others += MOST - 10) {
        gf_vocabulary v = vocabulary(terms, 4, others);
        uint32_t *bits = gf_calloc(v.n_terms, sizeof *bits);
        assert_true(others == 0 ? v.n_terms < w.terms.n : v.n_terms > w.terms.n);
        gf_weak_terms_mark(&w, &v, bits);
        assert_int_equal(bits[0], 0);
        assert_int_equal(bits[1] & 3, VAGUE);
        assert_int_equal(bits[2] & 3, VAGUE);
        assert_int_equal(bits[3] & 2, 2);
        for (uint32_t i = 4; i < v.n_terms; i++)
            assert_int_equal(bits[i], 0);
        gf_free(bits);
        gf_vocabulary_release(&v);
    }
    gf_weak_terms_release(&w);
}

static void words_without_a_term(void **state)
{
    (void)state;
    static const char *const terms[] = {"pizza", "recommend"};
    gf_analysis_options o = analysis();
    gf_weak_terms w = made(&o);
    gf_vocabulary v = vocabulary(terms, 2, 0);
    assert_int_equal(without(&w, "listen", &v), VAGUE);
    assert_int_equal(without(&w, "LiSTen", &v), VAGUE);
    assert_int_equal(without(&w, "recommend", &v), 0); /* a term, which has its bits */
    assert_int_equal(without(&w, "pizza", &v), 0);
    assert_int_equal(without(&w, "a_word_longer_than_any_that_is_in_one_of_the_lists", &v), 0);
    assert_int_equal(gf_weak_terms_place(NULL), GF_WEAK_LISTED);
    assert_int_equal(gf_weak_terms_place(gf_language_find(GF_SLICE("porter"))), ENGLISH);
    gf_vocabulary_release(&v);
    gf_weak_terms_release(&w);
}

/* Lists that were made by another analysis give way, as if they were new. */
static void another_analysis(void **state)
{
    (void)state;
    gf_error err;
    char more[] = "told";
    gf_analysis_options plain = analysis(), o = plain;
    gf_weak_terms w = made(&plain);
    gf_analysis_options others[4] = {plain, plain, plain, plain};
    others[0].stem = !plain.stem;
    others[1].more_stop_words = gf_slice_str(more);
    others[2].language = gf_language_find(GF_SLICE("german"));
    for (size_t i = 0; i < 4; i++) {
        o = others[i];
        gf_weak_terms fresh = made(&o);
        assert_ok(gf_weak_terms_suit(&w, &o, &err));
        assert_int_equal(w.terms.n, fresh.terms.n);
        for (uint32_t t = 0; t < w.terms.n; t++) {
            assert_true(gf_slice_equal(gf_strings_at(&w.terms, t), gf_strings_at(&fresh.terms, t)));
            assert_int_equal(w.bits[t], fresh.bits[t]);
        }
        const uint32_t *bits = w.bits;
        assert_ok(gf_weak_terms_suit(&w, &o, &err));
        assert_ptr_equal(bits, w.bits);
        gf_weak_terms_release(&fresh);
    }
    assert_ok(gf_weak_terms_suit(&w, &others[1], &err));
    more[0] = 'b'; /* borrowed for the call alone */
    assert_true(gf_slice_equal(w.analysis.more_stop_words, GF_SLICE("told")));
    gf_weak_terms_release(&w);
}

static gf_status make_lists(void *context, gf_error *err)
{
    (void)context;
    gf_weak_terms w = {0};
    gf_analysis_options o = analysis();
    o.language = gf_language_find(GF_SLICE("dutch"));
    gf_status st = gf_weak_terms_suit(&w, &o, err);
    assert_true(st == GF_OK || (w.terms.n == 0 && !w.more_stop_words));
    gf_weak_terms_release(&w);
    return st;
}

static void failing_memory(void **state)
{
    (void)state;
    gf_test_sweep(make_lists, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_of_small_and_large_vocabularies),
        cmocka_unit_test(words_without_a_term),
        cmocka_unit_test(another_analysis),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
