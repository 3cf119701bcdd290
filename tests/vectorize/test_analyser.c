#include "support/test.h"

#include "base/random.h"
#include "base/utf8.h"
#include "vectorize/rows/analyser_internal.h"
#include "vectorize/text/normalise.h"
#include "vectorize/text/stem.h"
#include "vectorize/text/stop_words.h"

static const gf_language *find(const char *name)
{
    return gf_language_find(gf_slice_str(name));
}

/* Words as text: a term alone, [other], (stop), - for none. */
static void show(gf_analyser *a, const gf_analysis *found, gf_buffer *out)
{
    static const char *const around[][2] = {{"", ""}, {"[", "]"}, {"(", ")"}};
    gf_buffer_reset(out);
    for (size_t i = 0; i < found->n; i++) {
        const gf_word *w = &found->words[i];
        if (i) gf_buffer_byte(out, ' ');
        if (w->use == GF_WORD_NONE) {
            gf_buffer_byte(out, '-');
            continue;
        }
        gf_buffer_str(out, around[w->use][0]);
        gf_buffer_slice(out, gf_strings_at(gf_analyser_terms(a), w->term));
        gf_buffer_str(out, around[w->use][1]);
    }
}

/* The words of a text under the default options and name=value pairs. */
static void expect(const char *const *settings, const char *language, const char *text,
                   const char *words)
{
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_analyser *a;
    gf_analysis found;
    gf_buffer out = {0};
    for (; settings && *settings; settings += 2)
        assert_ok(gf_vectorizer_options_set(&o, gf_slice_str(settings[0]),
                                            gf_slice_str(settings[1]), &err));
    assert_ok(gf_analyser_create(&o.analysis, &a, &err));
    for (int twice = 0; twice < 2; twice++) { /* new surfaces, then known ones */
        assert_ok(gf_analyser_run(a, gf_slice_str(text), find(language), &found, &err));
        show(a, &found, &out);
        assert_string_equal(gf_buffer_cstr(&out), words);
    }
    gf_buffer_release(&out);
    gf_analyser_free(a);
}

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

static void makes_words_of_tokens(void **state)
{
    (void)state;
    expect(NULL, "en", "", "");
    expect(NULL, "en", "The Connections weren't connected, x 7 42",
           "(the) connect (weren) (t) connect [x] [7] 42");
    expect(NULL, "", "The Connections", "the connections");
    expect(NULL, "de", "Die Häuser der Straße", "(die) haus (der) strass");
    expect(NULL, "fr", "L\xE2\x80\x99\xC3\xA9t\xC3\xA9 des chansons", "(l) (été) (des) chanson");
    expect(NULL, "ru", "И книги", "(и) книг");
    expect(NULL, "zh", "我们的手机很好", "(我们) (的) 手机 很好");
    expect(NULL, "ja", "私は東京で使う", "(私) (は) 東京 (で) 使う");
    expect(NULL, "th", "ภาษาไทย", "ภาษา ไทย");
    expect(NULL, "tr", "ISPARTA ve", "ıspar (ve)");
    expect(NULL, "en", "@Connections #Connected http://x.org a@b.org", "connect connect - -");
    expect(NULL, "en", "\xC3\x9F \xC2\xBD",
           "ss 1\xE2\x81\x84"
           "2");                                                  /* long enough once normalised */
    expect(NULL, "en", "a\xEF\xB7\xBAz", "aصلى_الله_عليه_وسلمz"); /* no space in a term */
}

/* libstemmer 2.2.0 leaves nothing of the Greek word: then the word is its own stem. */
static void never_makes_an_empty_term(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_analyser *a;
    gf_analysis found;
    assert_ok(gf_analyser_create(&o.analysis, &a, &err));
    assert_ok(gf_analyser_run(a, GF_SLICE("ισα ισαισα"), find("el"), &found, &err));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(found.words[i].use, GF_WORD_TERM);
        assert_true(gf_strings_at(gf_analyser_terms(a), found.words[i].term).len > 0);
    }
    gf_analyser_free(a);
}

static void follows_its_options(void **state)
{
    (void)state;
    expect(WITH("language", "en"), "de", "the connections", "(the) connect");
    expect(WITH("stem", "off"), "en", "the Connections", "(the) connections");
    expect(WITH("stop_words", "off"), "en", "the Connections", "the connect");
    expect(WITH("more_stop_words", "Connections foo"), "en", "the connections connect",
           "(the) (connections) connect");
    expect(WITH("more_stop_words", "foo", "stop_words", "off"), "", "the foo", "the (foo)");
    expect(WITH("min_length", "1"), "en", "x 7", "x 7");
    expect(WITH("min_length", "5"), "en", "four fives 手机", "[four] five 手机");
    expect(WITH("max_length", "4"), "en", "four fives", "four [five]");
    expect(WITH("numbers", "off"), "en", "x42 42", "x42 -");
    expect(WITH("urls", "keep"), "en", "HTTP://X.org/Cats Ann@X.org",
           "http://x.org/cats ann@x.org");
    expect(WITH("urls", "split"), "en", "http://x.org/Cats", "http [x] org cat");
    expect(WITH("mentions", "skip", "hashtags", "keep"), "en", "@Bob #Cats", "- #cats");
    expect(WITH("mentions", "keep"), "en", "@Bobs #Cats", "@bobs cat");
    expect(WITH("entities", "off"), "en", "AT&amp;T", "(at) amp (t)");
    expect(WITH("cjk", "bigrams"), "zh", "手机很好", "手机 机很 很好");
}

static void counts_surfaces(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_analyser *a;
    gf_analysis found;
    assert_ok(gf_analyser_create_on(&o.analysis, NULL, true, &a, &err));
    assert_ok(gf_analyser_run(a, GF_SLICE("Cats cats CATS cats dog"), find("en"), &found, &err));
    assert_ok(gf_analyser_run(a, GF_SLICE("cats"), find("de"), &found, &err));
    const gf_surfaces *t = &gf_analyser_dictionary(a)->surfaces;
    char small[GF_SURFACE_INLINE];
    size_t cats = 0, dogs = 0;
    assert_int_equal(gf_surfaces_count(t), 5); /* German cats are others */
    for (size_t i = 0; i <= t->shards->mask; i++) {
        const gf_surface *slot = &t->shards->slots[i];
        if (!slot->length) continue;
        gf_slice s = gf_surface_string(slot, small);
        if (gf_slice_equal(s, GF_SLICE("cats"))) cats += slot->count;
        if (gf_slice_equal(s, GF_SLICE("dog"))) dogs += slot->count;
    }
    assert_int_equal(cats, 3);
    assert_int_equal(dogs, 1);
    assert_ok(gf_analyser_reset(a, &err));
    assert_int_equal(gf_analyser_terms(a)->n, 0);
    assert_ok(gf_analyser_run(a, GF_SLICE("dog"), find("en"), &found, &err));
    assert_int_equal(found.words[0].term, 0);
    gf_analyser_free(a);
}

/* A word that is too long stands for itself by its start, alike for all that start so. */
static void cuts_long_words(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_analyser *a;
    gf_analysis found;
    gf_buffer text = {0};
    o.analysis.max_length = 3;
    assert_ok(gf_analyser_create(&o.analysis, &a, &err));
    gf_buffer_str(&text, "ééé éééx ");
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&text, "é");
    assert_ok(gf_analyser_run(a, gf_buffer_view(&text), NULL, &found, &err));
    assert_int_equal(found.n, 3);
    assert_int_equal(found.words[0].use, GF_WORD_TERM);
    assert_int_equal(found.words[1].use, GF_WORD_OTHER);
    assert_int_equal(found.words[2].use, GF_WORD_OTHER);
    assert_int_equal(found.words[1].term, found.words[0].term);
    assert_int_equal(found.words[2].term, found.words[0].term);
    assert_int_equal(gf_analyser_terms(a)->n, 1);
    gf_buffer_release(&text);
    gf_analyser_free(a);
}

/* The word of a token, step by step. */
static void judge_naively(gf_slice text, const gf_token *token, const gf_language *language,
                          gf_stemmers *stemmers, gf_buffer *term, gf_word_use *use)
{
    gf_error err;
    gf_strings stops = {0};
    gf_slice stem, s = gf_slice_of(text.ptr + token->start, token->length);
    gf_buffer_reset(term);
    assert_ok(gf_normalise(s, language, term, &err));
    assert_ok(gf_stop_words_add(&stops, language, &err));
    *use = GF_WORD_TERM;
    if (gf_strings_find(&stops, gf_buffer_view(term)) != GF_STRING_NONE) {
        *use = GF_WORD_STOP;
    } else {
        bool piece = token->flags & GF_TOKEN_PIECE;
        if (!piece && gf_utf8_count(gf_buffer_view(term)) < 2) *use = GF_WORD_OTHER;
        assert_ok(gf_stem(stemmers, language, gf_buffer_view(term), &stem, &err));
        if (stem.len) {
            memmove(term->ptr, stem.ptr, stem.len);
            term->len = stem.len;
        }
    }
    gf_strings_release(&stops);
}

static void equals_the_steps_one_by_one(void **state)
{
    (void)state;
    gf_error err;
    static const char *const words[] = {"the",
                                        "Running",
                                        "runs",
                                        "RUN",
                                        "a",
                                        "x",
                                        "42",
                                        "Été",
                                        "été",
                                        "Häuser",
                                        "und",
                                        "connected",
                                        "手机很好",
                                        "我们",
                                        "naïveté",
                                        "don't",
                                        "Straße",
                                        "книги",
                                        "internationalization-of-things",
                                        "Internationalization",
                                        "te\xCC\x81",
                                        "ﬁsh",
                                        "l'eau",
                                        "running",
                                        "RUNNING",
                                        "THE",
                                        "X",
                                        "TITLE",
                                        "title",
                                        "ıspar",
                                        "ISPAR",
                                        "fish",
                                        "STRASSE",
                                        "internationalization"};
    static const char *const languages[] = {"en", "de", "fr", "zh", "ru", "", "en", "tr"};
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_analyser *a;
    gf_tokeniser t;
    gf_stemmers stemmers = {0};
    gf_buffer text = {0}, term = {0};
    assert_ok(gf_analyser_create(&o.analysis, &a, &err));
    gf_tokeniser_init(&t, GF_TOKEN_OPTIONS_DEFAULT);
    for (int round = 0; round < 300; round++) {
        const gf_language *language = find(languages[gf_random_below(&r, 8)]);
        gf_analysis found;
        gf_buffer_reset(&text);
        for (uint64_t n = gf_random_below(&r, 60); n > 0; n--)
            gf_buffer_format(&text, "%s ",
                             words[gf_random_below(&r, sizeof words / sizeof *words)]);
        assert_ok(gf_tokenise(&t, gf_buffer_view(&text), &err));
        assert_ok(gf_analyser_run(a, gf_buffer_view(&text), language, &found, &err));
        assert_int_equal(found.n, t.n);
        for (size_t i = 0; i < t.n; i++) {
            gf_word_use use;
            judge_naively(gf_buffer_view(&text), &t.tokens[i], language, &stemmers, &term, &use);
            assert_int_equal(found.words[i].use, use);
            gf_slice got = gf_strings_at(gf_analyser_terms(a), found.words[i].term);
            assert_true(gf_slice_equal(got, gf_buffer_view(&term)));
        }
    }
    gf_analyser_free(a);
    gf_tokeniser_release(&t);
    gf_stemmers_release(&stemmers);
    gf_buffer_release(&text);
    gf_buffer_release(&term);
}

static gf_status analyse_much(void *context, gf_error *err)
{
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_analyser *a = NULL;
    gf_analysis found;
    o.analysis.more_stop_words = GF_SLICE("foo bar");
    gf_status st = gf_analyser_create(&o.analysis, &a, err);
    if (st == GF_OK) st = gf_analyser_run(a, *(gf_slice *)context, find("en"), &found, err);
    if (st == GF_OK) st = gf_analyser_run(a, *(gf_slice *)context, find("fr"), &found, err);
    gf_analyser_free(a);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_buffer text = {0};
    for (int i = 0; i < 300; i++)
        gf_buffer_format(&text, "word%d Ünïcode%d ", i, i);
    gf_slice s = gf_buffer_view(&text);
    gf_test_sweep(analyse_much, NULL, &s);
    gf_buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_words_of_tokens),
        cmocka_unit_test(never_makes_an_empty_term),
        cmocka_unit_test(follows_its_options),
        cmocka_unit_test(counts_surfaces),
        cmocka_unit_test(cuts_long_words),
        cmocka_unit_test(equals_the_steps_one_by_one),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("analyser", tests, NULL, NULL);
}
