/* Analysers that share a lexicon, beside analysers that have none. */
#include "support/test.h"

#include "base/random.h"
#include "vectorize/rows/analyser.h"
#include "vectorize/rows/lexicon.h"

static const char *const words[] = {"the",
                                    "Connections",
                                    "connected",
                                    "weren't",
                                    "x",
                                    "42",
                                    "H\xC3\xA4user",
                                    "Stra\xC3\x9F"
                                    "e",
                                    "und",
                                    "@someone",
                                    "#Tag",
                                    "ISPARTA",
                                    "http://x.org/a?b=connections",
                                    "\xE6\x88\x91\xE4\xBB\xAC\xE7\x9A\x84\xE6\x89\x8B\xE6\x9C\xBA",
                                    "a\xEF\xB7\xBAz",
                                    "internationalisations",
                                    "connect",
                                    "foo",
                                    "!!"};
static const char *const languages[] = {"en", "de", "tr", "zh", ""};

static void write_text(gf_random *random, gf_buffer *text)
{
    gf_buffer_reset(text);
    for (int i = 0; i < 30; i++) {
        size_t n = sizeof words / sizeof words[0];
        gf_buffer_str(text, words[gf_random_below(random, n)]);
        if (gf_random_below(random, 4) == 0)
            gf_buffer_format(text, "%u", (unsigned)gf_random_below(random, 50));
        gf_buffer_byte(text, ' ');
    }
}

static void set(gf_vectorizer_options *o, gf_lexicon *lexicon, int round)
{
    *o = gf_vectorizer_options_default();
    o->analysis.lexicon = lexicon;
    o->analysis.stem = round / 10 % 2 == 0; /* ten collections each with the same options */
    o->analysis.stop_words = round / 20 % 2 == 0;
    o->analysis.min_length = round / 40 % 2 ? 4 : 2;
    o->analysis.more_stop_words = round / 30 % 2 ? GF_SLICE("foo connect") : GF_SLICE("");
}

static void gives_the_same_words(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_buffer text = {0};
    gf_lexicon *lexicon;
    assert_ok(gf_lexicon_create(&lexicon, &err));
    for (int round = 0; round < 160; round++) {
        gf_vectorizer_options o;
        gf_analyser *with, *without;
        set(&o, lexicon, round);
        assert_ok(gf_analyser_create(&o.analysis, &with, &err));
        o.analysis.lexicon = NULL;
        assert_ok(gf_analyser_create(&o.analysis, &without, &err));
        for (int t = 0; t < 6; t++) {
            const gf_language *language =
                gf_language_find(gf_slice_str(languages[gf_random_below(&random, 5)]));
            gf_analysis a, b;
            write_text(&random, &text);
            assert_ok(gf_analyser_run(with, gf_buffer_view(&text), language, &a, &err));
            assert_ok(gf_analyser_run(without, gf_buffer_view(&text), language, &b, &err));
            assert_int_equal(a.n, b.n);
            for (size_t i = 0; i < a.n; i++) {
                assert_int_equal(a.words[i].use, b.words[i].use);
                assert_int_equal(a.words[i].term, b.words[i].term);
            }
        }
        assert_int_equal(gf_analyser_terms(with)->n, gf_analyser_terms(without)->n);
        for (uint32_t i = 0; i < gf_analyser_terms(with)->n; i++)
            assert_true(gf_slice_equal(gf_strings_at(gf_analyser_terms(with), i),
                                       gf_strings_at(gf_analyser_terms(without), i)));
        gf_analyser_free(with);
        gf_analyser_free(without);
    }
    gf_lexicon_free(lexicon);
    gf_lexicon_free(NULL);
    gf_buffer_release(&text);
}

/* More words than it remembers: it begins anew, and forgets nothing that is in use. */
static void begins_anew_when_it_is_full(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_analyser *a;
    gf_analysis found;
    gf_buffer text = {0};
    assert_ok(gf_lexicon_create(&o.analysis.lexicon, &err));
    assert_ok(gf_analyser_create(&o.analysis, &a, &err));
    for (int from = 0; from < 150000; from += 1000) {
        gf_buffer_reset(&text);
        for (int i = from; i < from + 1000; i++)
            gf_buffer_format(&text, "w%dq ", i);
        assert_ok(gf_analyser_run(a, gf_buffer_view(&text), NULL, &found, &err));
        assert_int_equal(found.n, 1000);
    }
    assert_int_equal(gf_analyser_terms(a)->n, 150000);
    assert_true(gf_slice_equal(gf_strings_at(gf_analyser_terms(a), 149999), GF_SLICE("w149999q")));
    gf_analyser_free(a);
    gf_lexicon_free(o.analysis.lexicon);
    gf_buffer_release(&text);
}

static gf_status analyse_twice(void *context, gf_error *err)
{
    gf_vectorizer_options o = gf_vectorizer_options_default();
    o.analysis.more_stop_words = GF_SLICE("foo bar");
    gf_status st = gf_lexicon_create(&o.analysis.lexicon, err);
    for (int twice = 0; twice < 2 && st == GF_OK; twice++) {
        gf_analyser *a = NULL;
        gf_analysis found;
        st = gf_analyser_create(&o.analysis, &a, err);
        const gf_language *english = gf_language_find(GF_SLICE("en"));
        if (st == GF_OK) st = gf_analyser_run(a, *(gf_slice *)context, english, &found, err);
        gf_analyser_free(a);
        o.analysis.stem = false;
    }
    gf_lexicon_free(o.analysis.lexicon);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_buffer text = {0};
    for (int i = 0; i < 300; i++)
        gf_buffer_format(&text, "connections%d a_word_longer_than_sixteen_bytes%d ", i, i);
    gf_slice s = gf_buffer_view(&text);
    gf_test_sweep(analyse_twice, NULL, &s);
    gf_buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_same_words),
        cmocka_unit_test(begins_anew_when_it_is_full),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
