#include "support/ranks.h"
#include "tests/vectorize/settings.h"

#include "base/random.h"
#include "vectorize/rows/vectorizer.h"

static gf_vectors vectorize(const char *const *settings, const char *const *texts, size_t n)
{
    gf_error err;
    gf_vectorizer_options o = options_of(settings);
    gf_vectorizer *v;
    gf_vectors x;
    assert_ok(gf_vectorizer_create(&o, NULL, &v, &err));
    for (size_t i = 0; i < n; i++) {
        gf_text text = {gf_slice_str(texts[i]), NULL};
        assert_ok(gf_vectorizer_add(v, &text, 1, NULL, &err));
    }
    assert_int_equal(gf_vectorizer_size(v), n);
    assert_ok(gf_vectorizer_finish(v, &x, NULL, &err));
    gf_vectorizer_free(v);
    assert_int_equal(x.x.n_rows, n);
    assert_int_equal(x.x.n_cols, x.vocabulary.n_terms);
    assert_ok(gf_csr_check(&x.x, &err));
    return x;
}

/* The weight of a term in a row; 0 where it has none. */
static double weight(const gf_vectors *x, uint32_t row, const char *term)
{
    uint32_t column = gf_vocabulary_find(&x->vocabulary, gf_slice_str(term));
    gf_row_view r = gf_csr_row(&x->x, row);
    for (uint32_t i = 0; i < r.n; i++)
        if (r.col[i] == column) return (double)r.val[i];
    return 0;
}

/* The terms as "term df surface; ...", with a bar before the rescue terms. */
static void expect_terms(const gf_vectors *x, const char *terms)
{
    gf_buffer out = {0};
    const gf_vocabulary *v = &x->vocabulary;
    for (uint32_t i = 0; i < v->n_terms; i++) {
        gf_slice term = gf_vocabulary_term(v, i), surface = gf_vocabulary_surface(v, i);
        gf_buffer_format(&out, "%s%s%.*s %u %.*s", i ? "; " : "", i == v->n_regular ? "| " : "",
                         GF_SLICE_ARG(term), v->df[i], GF_SLICE_ARG(surface));
    }
    assert_string_equal(gf_buffer_cstr(&out), terms);
    gf_buffer_release(&out);
}

static void expect_kinds(const gf_vectors *x, const char *kinds)
{
    uint32_t rescued = 0, empty = 0;
    for (uint32_t i = 0; i < x->x.n_rows; i++) {
        if ("pre"[x->kind[i]] != kinds[i]) fail_msg("row %u is %c", i, "pre"[x->kind[i]]);
        rescued += kinds[i] == 'r';
        empty += kinds[i] == 'e';
    }
    assert_int_equal(strlen(kinds), x->x.n_rows);
    assert_int_equal(x->n_rescued, rescued);
    assert_int_equal(x->n_empty, empty);
}

/* The example of the system that Grouperfish continues: tf = n/len, idf = ln(N/df). */
static void weighs_the_apples(void **state)
{
    (void)state;
    const char *texts[] = {"apple banana apple", "banana cherry", "cherry cherry durian"};
    gf_vectors x = vectorize(WITH("tf", "relative", "norm", "none"), texts, 3);
    assert_near(weight(&x, 0, "apple"), 0.732408, 5e-7);
    assert_near(weight(&x, 0, "banana"), 0.135155, 5e-7);
    assert_near(weight(&x, 1, "banana"), 0.202733, 5e-7);
    assert_near(weight(&x, 1, "cherry"), 0.202733, 5e-7);
    assert_near(weight(&x, 2, "cherry"), 0.270310, 5e-7);
    assert_near(weight(&x, 2, "durian"), 0.366204, 5e-7);
    expect_terms(&x, "banana 2 banana; cherry 2 cherry; apple 1 apple; durian 1 durian");
    expect_kinds(&x, "ppp");
    gf_vectors_release(&x);
}

/* (1 + ln tf) ln(N/df), unit length: row 0 is (1 + ln 2) ln 2 and ln 2 and 0 for the shared term.
 */
static void weighs_by_default(void **state)
{
    (void)state;
    const char *texts[] = {"cats cats dogs all", "all birds"};
    gf_vectors x = vectorize(WITH("language", "en"), texts, 2);
    double cat = 1.693147181 * 0.693147181, dog = 0.693147181, norm = 1.363007861; /* of both */
    assert_near(weight(&x, 0, "cat"), cat / norm, 1e-6);
    assert_near(weight(&x, 0, "dog"), dog / norm, 1e-6);
    assert_near(weight(&x, 1, "bird"), 1, 1e-7);
    expect_terms(&x, "bird 1 birds; cat 1 cats; dog 1 dogs"); /* all is a stop word */
    gf_vectors_release(&x);
}

static void shows_the_commonest_form(void **state)
{
    (void)state;
    const char *texts[] = {"Connections connected",
                           "connected CONNECT",
                           "connect connection CONNECT",
                           "ß SS",
                           "New York",
                           "new  york; New\nYork"};
    gf_vectors x = vectorize(WITH("language", "en", "ngrams_max", "2"), texts, 6);
    uint32_t t = gf_vocabulary_find(&x.vocabulary, GF_SLICE("connect"));
    assert_slice(gf_vocabulary_surface(&x.vocabulary, t),
                 "CONNECT"); /* 2, as connected: lower bytes */
    t = gf_vocabulary_find(&x.vocabulary, GF_SLICE("ss"));
    assert_slice(gf_vocabulary_surface(&x.vocabulary, t), "SS");
    t = gf_vocabulary_find(&x.vocabulary, GF_SLICE("new york"));
    assert_slice(gf_vocabulary_surface(&x.vocabulary, t), "New York");
    gf_vectors_release(&x);
}

/* "other" is a stop word and the stem of "others"; only the latter is a form of the term. */
static void stop_words_are_no_forms(void **state)
{
    (void)state;
    const char *texts[] = {"other other other others", "pears", "other"};
    gf_vectors x = vectorize(WITH("language", "en"), texts, 3);
    uint32_t t = gf_vocabulary_find(&x.vocabulary, GF_SLICE("other"));
    assert_true(t < x.vocabulary.n_regular);
    assert_int_equal(x.vocabulary.df[t], 1);
    assert_slice(gf_vocabulary_surface(&x.vocabulary, t), "others");
    expect_kinds(&x, "ppr"); /* the third is rescued, in the same column */
    gf_vectors_release(&x);
    x = vectorize(WITH("language", "en", "norm", "none"), texts, 3);
    assert_near(weight(&x, 0, "other"), 1.098612289, 1e-6); /* ln 3 */
    assert_near(weight(&x, 2, "other"), 1, 1e-7);           /* at idf 1, as all rescued rows */
    gf_vectors_release(&x);
}

/* A form is counted over languages: Rose once and rose twice in each, ROSE three times in one. */
static void adds_forms_of_languages(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = options_of(NULL);
    gf_vectorizer *v;
    gf_vectors x;
    gf_text texts[] = {{GF_SLICE("Rose rose rose"), gf_language_find(GF_SLICE("danish"))},
                       {GF_SLICE("Rose rose rose"), NULL},
                       {GF_SLICE("ROSE ROSE ROSE"), NULL},
                       {GF_SLICE("lilac"), NULL}};
    o.analysis.stem = false;
    assert_ok(gf_vectorizer_create(&o, NULL, &v, &err));
    assert_ok(gf_vectorizer_add(v, texts, 4, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, &x, NULL, &err));
    expect_terms(&x, "rose 3 rose; lilac 1 lilac");
    gf_vectors_release(&x);
    gf_vectorizer_free(v);
}

static void rescues_what_filters_empty(void **state)
{
    (void)state;
    const char *texts[] = {
        "pear plum",        "pear fig fig kiwi", "pear",  "plum", "fig",
        "date kiwi",        "the the of",        "x x y", "",     "!!! http://x.org",
        "zebra zebra the x"};
    gf_vectors x = vectorize(WITH("language", "en", "min_df", "2", "max_df", "2"), texts, 11);
    expect_terms(&x, "fig 2 fig; kiwi 2 kiwi; plum 2 plum; "
                     "| of 1 of; pear 1 pear; the 1 the; x 1 x; y 1 y; zebra 1 zebra");
    expect_kinds(&x, "pprppprreer");
    assert_near(weight(&x, 0, "pear"), 0, 0); /* a rescue term is in rescued rows only */
    assert_near(weight(&x, 0, "plum"), 1, 1e-7);
    assert_near(weight(&x, 2, "pear"), 1, 1e-7);
    assert_near(weight(&x, 5, "date"), 0, 0);
    assert_near(weight(&x, 6, "the"), 1.693147181 / 1.966404682, 1e-6); /* 1 + ln 2, and 1 */
    assert_near(weight(&x, 7, "x"), 1.693147181 / 1.966404682, 1e-6);
    assert_near(weight(&x, 7, "y"), 1 / 1.966404682, 1e-6);
    assert_near(weight(&x, 10, "zebra"), 1, 1e-7); /* its term, neither its stop word nor x */
    gf_vectors_release(&x);
}

static void filters_terms(void **state)
{
    (void)state;
    const char *texts[] = {"aa bb cc", "aa bb", "aa bb dd", "aa ee", "aa ee"};
    gf_vectors x = vectorize(WITH("max_terms", "2"), texts, 5);
    expect_terms(&x, "bb 3 bb; ee 2 ee"); /* aa is in all: idf 0 */
    gf_vectors_release(&x);
    x = vectorize(WITH("idf", "none", "min_df", "2", "max_df", "60%"), texts, 5);
    expect_terms(&x, "bb 3 bb; ee 2 ee");
    gf_vectors_release(&x);
    x = vectorize(WITH("idf", "smooth", "max_terms", "1"), texts, 5);
    expect_terms(&x, "aa 5 aa");
    assert_near(x.vocabulary.idf[0], 1, 1e-12);
    gf_vectors_release(&x);
    x = vectorize(WITH("min_df", "4", "max_df", "3"), texts, 5); /* nothing can pass */
    assert_int_equal(x.vocabulary.n_regular, 0);
    expect_kinds(&x, "rrrrr");
    gf_vectors_release(&x);
}

/* From 1,000 documents on, auto drops what is in one of them or in more than half. */
static void filters_many_by_itself(void **state)
{
    (void)state;
    for (uint32_t n = 999; n <= 1000; n++) {
        gf_error err;
        gf_vectorizer_options o = options_of(NULL);
        gf_vectorizer *v;
        gf_vectors x;
        assert_ok(gf_vectorizer_create(&o, NULL, &v, &err));
        for (uint32_t i = 0; i < n; i++) {
            char words[64];
            snprintf(words, sizeof words, "all%s %s word%u", i ? "" : " once",
                     i < 501 ? "most" : "rest", i / 2);
            gf_text text = {gf_slice_str(words), NULL};
            assert_ok(gf_vectorizer_add(v, &text, 1, NULL, &err));
        }
        assert_ok(gf_vectorizer_finish(v, &x, NULL, &err));
        uint32_t once = gf_vocabulary_find(&x.vocabulary, GF_SLICE("once"));
        uint32_t most = gf_vocabulary_find(&x.vocabulary, GF_SLICE("most"));
        uint32_t rest = gf_vocabulary_find(&x.vocabulary, GF_SLICE("rest"));
        assert_true((once != GF_TERM_NONE) == (n == 999));
        assert_true((most != GF_TERM_NONE) == (n == 999));
        assert_int_not_equal(rest, GF_TERM_NONE);
        gf_vectors_release(&x);
        gf_vectorizer_free(v);
    }
}

static void takes_no_documents(void **state)
{
    (void)state;
    gf_vectors x = vectorize(NULL, NULL, 0);
    assert_int_equal(x.vocabulary.n_terms, 0);
    gf_vectors_release(&x);
    const char *one[] = {"single document"};
    x = vectorize(NULL, one, 1);
    expect_kinds(&x, "r"); /* its terms are in all documents */
    assert_near(weight(&x, 0, "single"), 0.707106781, 1e-7);
    gf_vectors_release(&x);
    const char *nothing[] = {"", ""};
    x = vectorize(NULL, nothing, 2);
    expect_kinds(&x, "ee");
    gf_vectors_release(&x);
}

/* finish does not use up: more can be added, and the same comes out the second time. */
static void finishes_again(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = options_of(NULL);
    gf_vectorizer *v;
    gf_vectors a, b;
    gf_text texts[] = {
        {GF_SLICE("one two"), NULL}, {GF_SLICE("two three"), NULL}, {GF_SLICE("x"), NULL}};
    assert_ok(gf_vectorizer_create(&o, NULL, &v, &err));
    assert_ok(gf_vectorizer_add(v, texts, 2, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, &a, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, &b, NULL, &err));
    assert_int_equal(gf_csr_nnz(&a.x), gf_csr_nnz(&b.x));
    assert_memory_equal(a.x.val, b.x.val, gf_csr_nnz(&a.x) * sizeof(float));
    gf_vectors_release(&b);
    assert_ok(gf_vectorizer_add(v, texts + 2, 1, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, &b, NULL, &err));
    expect_kinds(&a, "pp");
    expect_kinds(&b, "ppr");
    gf_vectors_release(&a);
    gf_vectors_release(&b);
    gf_vectorizer_free(v);
}

static void says_no(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = options_of(NULL);
    gf_vectorizer *v = NULL;
    gf_cancel cancel = {0};
    gf_vectors x = {.n_empty = 77};
    gf_text text = {GF_SLICE("word"), NULL}, huge = {{"x", (size_t)UINT32_MAX + 1}, NULL};
    o.analysis.ngrams_max = 9;
    assert_status(GF_EINVAL, gf_vectorizer_create(&o, NULL, &v, &err));
    assert_null(v);
    o = options_of(NULL);
    assert_ok(gf_vectorizer_create(&o, NULL, &v, &err));
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_vectorizer_finish(v, &x, &cancel, &err));
    assert_int_equal(x.n_empty, 77);
    assert_status(GF_ECANCELLED, gf_vectorizer_add(v, &text, 1, &cancel, &err));
    assert_status(GF_ECANCELLED, gf_vectorizer_add(v, &text, 1, NULL, &err));
    assert_status(GF_ECANCELLED, gf_vectorizer_finish(v, &x, NULL, &err));
    assert_int_equal(x.n_empty, 77);
    gf_vectorizer_free(v);
    assert_ok(gf_vectorizer_create(&o, NULL, &v, &err));
    assert_status(GF_ELIMIT, gf_vectorizer_add(v, &huge, 1, NULL, &err));
    gf_vectorizer_free(v);
    gf_vectorizer_free(NULL);
}

static gf_status note_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    ((unsigned char *)context)[index]++;
    return GF_OK;
}

/* Other tasks are done once each, also where there are no texts; texts are counted as always. */
static void other_tasks_run_beside(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = options_of(NULL);
    for (unsigned threads = 1; threads <= 3; threads++) {
        gf_pool *pool;
        gf_vectorizer *v;
        unsigned char done[5] = {0};
        const unsigned char twice[5] = {2, 2, 2, 2, 2};
        gf_pool_tasks others = {5, note_task, done};
        gf_text texts[] = {{GF_SLICE("an apple"), NULL}, {GF_SLICE("a pear"), NULL}};
        assert_ok(gf_pool_create(threads, &pool, &err));
        assert_ok(gf_vectorizer_create(&o, pool, &v, &err));
        assert_ok(gf_vectorizer_add_beside(v, NULL, 0, &others, NULL, &err));
        assert_int_equal(gf_vectorizer_size(v), 0);
        assert_ok(gf_vectorizer_add_beside(v, texts, 2, &others, NULL, &err));
        assert_int_equal(gf_vectorizer_size(v), 2);
        assert_memory_equal(done, twice, sizeof done);
        gf_vectorizer_free(v);
        gf_pool_free(pool);
    }
}

/* Texts with a little of everything: rescued and empty rows, n-grams, languages. */
static const char *const varied[] = {"Connected apples, apple pies",
                                     "Apple pie connects",
                                     "the",
                                     "x",
                                     "",
                                     "grün ist die Straße",
                                     "die Straßen sind grün",
                                     "zebra",
                                     "手机 很好",
                                     "New York apple pie",
                                     "y the"};
enum { VARIED = sizeof varied / sizeof *varied };

static gf_status vectorize_varied(void *context, gf_error *err)
{
    (void)context;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_vectorizer *v = NULL;
    gf_vectors x = {.n_empty = 77};
    gf_pool *pool = NULL;
    gf_text texts[VARIED];
    o.analysis.ngrams_max = 2;
    o.min_df = (gf_df_limit){.kind = GF_DF_COUNT, .count = 2};
    for (size_t i = 0; i < VARIED; i++)
        texts[i] = (gf_text){gf_slice_str(varied[i]),
                             gf_language_find(i == 5 || i == 6 ? GF_SLICE("de") : GF_SLICE("en"))};
    gf_status st = gf_pool_create(2, &pool, err);
    if (st == GF_OK) st = gf_vectorizer_create(&o, pool, &v, err);
    if (st == GF_OK) st = gf_vectorizer_add(v, texts, 4, NULL, err);
    if (st == GF_OK) st = gf_vectorizer_add(v, texts + 4, VARIED - 4, NULL, err);
    if (st == GF_OK) st = gf_vectorizer_finish(v, &x, NULL, err);
    if (st != GF_OK)
        assert_int_equal(x.n_empty, 77);
    else
        gf_vectors_release(&x);
    gf_vectorizer_free(v);
    gf_pool_free(pool);
    return st;
}

/* ---- any number of threads ------------------------------------------------------------------- */

enum { MIXED = 2000 };

/*
 * Texts of frequent and rare words in several languages and spellings, of words of up to 70,000
 * bytes, of n-grams, of nothing; one has 40,000 different words, one the same word all the time.
 */
static void write_mixed(gf_buffer *bytes, gf_text *texts)
{
    static const char *const languages[] = {"en", "de", "fr", "tr"};
    static size_t start[MIXED + 1];
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (size_t i = 0; i < MIXED; i++) {
        start[i] = bytes->len;
        uint64_t n = i == 77 ? 40000 : gf_random_below(&r, 40);
        for (uint64_t k = 0; k < n; k++) {
            double u = gf_random_unit(&r);
            unsigned w = i == 77 ? (unsigned)k + 100000 : (unsigned)(20000 * u * u * u);
            switch (gf_random_below(&r, 9)) {
            case 0:
                gf_buffer_format(bytes, "W%uings ", w);
                break;
            case 1:
                gf_buffer_format(bytes, "the W%uING ", w);
                break;
            case 2:
                gf_buffer_format(bytes, "http://x%u.org/a?b=%u ", w, w % 7);
                break;
            case 3:
                gf_buffer_format(bytes, "a_word_of_more_than_sixteen_bytes%u, ", w);
                break;
            case 4:
                gf_buffer_format(bytes, "Straßen%u 手机很好 ", w % 50);
                break;
            default:
                gf_buffer_format(bytes, "w%uing ", w);
            }
        }
        for (unsigned k = 0; i == 78 && k < 70000; k++)
            gf_buffer_byte(bytes, (char)('a' + k % 3));
        for (unsigned k = 0; i == 79 && k < 50000; k++)
            gf_buffer_str(bytes, k % 2 ? "Same " : "same ");
    }
    start[MIXED] = bytes->len;
    for (size_t i = 0; i < MIXED; i++)
        texts[i] = (gf_text){gf_slice_of(bytes->ptr + start[i], start[i + 1] - start[i]),
                             gf_language_find(gf_slice_str(languages[i / 50 % 4]))};
}

static gf_vectors vectorize_by(unsigned threads, const gf_text *texts, size_t group)
{
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_vectorizer *v;
    gf_vectors x;
    gf_pool *pool;
    o.analysis.ngrams_max = 3;
    assert_ok(gf_pool_create(threads, &pool, &err));
    assert_ok(gf_vectorizer_create(&o, pool, &v, &err));
    for (size_t at = 0; at < MIXED; at += group)
        assert_ok(
            gf_vectorizer_add(v, texts + at, MIXED - at < group ? MIXED - at : group, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, &x, NULL, &err));
    gf_vectorizer_free(v);
    gf_pool_free(pool);
    return x;
}

static void gives_the_same_bytes_by_any_threads(void **state)
{
    (void)state;
    static gf_text texts[MIXED];
    gf_buffer bytes = {0};
    write_mixed(&bytes, texts);
    gf_vectors one = vectorize_by(1, texts, MIXED);
    const gf_vocabulary *u = &one.vocabulary;
    size_t nnz = gf_csr_nnz(&one.x);
    for (unsigned threads = 2; threads <= 8; threads++) {
        gf_vectors x = vectorize_by(threads, texts, threads % 2 ? MIXED : 997);
        const gf_vocabulary *v = &x.vocabulary;
        assert_int_equal(gf_csr_nnz(&x.x), nnz);
        assert_memory_equal(x.x.start, one.x.start, (MIXED + 1) * sizeof *x.x.start);
        assert_memory_equal(x.x.col, one.x.col, nnz * sizeof *x.x.col);
        assert_memory_equal(x.x.val, one.x.val, nnz * sizeof *x.x.val);
        assert_memory_equal(x.kind, one.kind, MIXED);
        assert_int_equal(v->n_terms, u->n_terms);
        assert_memory_equal(v->df, u->df, u->n_terms * sizeof *u->df);
        assert_memory_equal(v->start, u->start, (2 * (size_t)u->n_terms + 1) * sizeof *u->start);
        assert_memory_equal(v->bytes, u->bytes, u->start[2 * (size_t)u->n_terms]);
        gf_vectors_release(&x);
    }
    gf_vectors_release(&one);
    gf_buffer_release(&bytes);
}

/* ---- any number of ranks --------------------------------------------------------------------- */

/* Texts of which each rank has every n-th run of 50, and what came of them. */
typedef struct shared_texts {
    const gf_text *texts;
    const gf_vectorizer_options *options;
    gf_vectors of[8]; /* by rank */
} shared_texts;

static bool is_of_rank(size_t text, unsigned rank, unsigned n)
{
    return text / 50 % n == rank;
}

static gf_status vectorize_part(gf_ranks *ranks, void *context, gf_error *err)
{
    shared_texts *s = context;
    gf_vectorizer *v = NULL;
    gf_pool *pool = NULL;
    gf_status st = gf_pool_create(1 + ranks->me % 3, &pool, err);
    if (st == GF_OK) st = gf_vectorizer_create(s->options, pool, &v, err);
    for (size_t i = 0; i < MIXED && st == GF_OK; i += 50)
        if (is_of_rank(i, ranks->me, ranks->n))
            st = gf_vectorizer_add(v, s->texts + i, 50, NULL, err);
    if (st == GF_OK) st = gf_vectorizer_finish_by_ranks(v, ranks, &s->of[ranks->me], err);
    gf_vectorizer_free(v);
    gf_pool_free(pool);
    return st;
}

static void assert_same_row(const gf_vectors *a, uint32_t i, const gf_vectors *b, uint32_t j)
{
    gf_row_view x = gf_csr_row(&a->x, i), y = gf_csr_row(&b->x, j);
    assert_int_equal(a->kind[i], b->kind[j]);
    assert_int_equal(x.n, y.n);
    if (x.n == 0) return;
    assert_memory_equal(x.col, y.col, x.n * sizeof *x.col);
    assert_memory_equal(x.val, y.val, x.n * sizeof *x.val);
}

static void assert_shared(const gf_vectorizer_options *o, const gf_text *texts)
{
    gf_error err;
    gf_vectorizer *v;
    gf_vectors all;
    gf_buffer want = {0};
    assert_ok(gf_vectorizer_create(o, NULL, &v, &err));
    assert_ok(gf_vectorizer_add(v, texts, MIXED, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, &all, NULL, &err));
    gf_vectorizer_free(v);
    gf_vocabulary_write(&all.vocabulary, &want);
    for (unsigned n = 1; n <= 7; n += 2) {
        shared_texts s = {.texts = texts, .options = o};
        uint32_t row[8] = {0}, rescued = 0, empty = 0;
        gf_buffer got = {0};
        assert_ok(gf_test_ranks_run(n, vectorize_part, &s, &err));
        gf_vocabulary_write(&s.of[0].vocabulary, &got);
        assert_int_equal(got.len, want.len);
        assert_memory_equal(got.ptr, want.ptr, want.len);
        for (uint32_t i = 0; i < MIXED; i++)
            assert_same_row(&all, i, &s.of[i / 50 % n], row[i / 50 % n]++);
        for (unsigned r = 0; r < n; r++) {
            assert_int_equal(s.of[r].x.n_cols, all.x.n_cols);
            rescued += s.of[r].n_rescued;
            empty += s.of[r].n_empty;
            gf_vectors_release(&s.of[r]);
        }
        assert_int_equal(rescued, all.n_rescued);
        assert_int_equal(empty, all.n_empty);
        gf_buffer_release(&got);
    }
    gf_buffer_release(&want);
    gf_vectors_release(&all);
}

static void gives_the_same_rows_by_any_ranks(void **state)
{
    (void)state;
    static gf_text texts[MIXED];
    gf_buffer bytes = {0};
    write_mixed(&bytes, texts);
    gf_vectorizer_options o = options_of(NULL);
    assert_shared(&o, texts);
    o = options_of(WITH("ngrams_max", "2", "min_df", "3", "max_df", "0.2", "tf", "relative"));
    assert_shared(&o, texts);
    o = options_of(WITH("max_terms", "700", "idf", "log^1.5", "stem", "off", "language", "en"));
    assert_shared(&o, texts);
    o = options_of(WITH("min_df", "30%")); /* nearly all rows are rescued */
    assert_shared(&o, texts);
    gf_buffer_release(&bytes);
}

static gf_status share_few(void *context, gf_error *err)
{
    (void)context;
    const gf_text texts[] = {{GF_SLICE("alpha beta beta"), NULL},
                             {GF_SLICE("beta gamma"), NULL},
                             {GF_SLICE("the"), NULL},
                             {GF_SLICE(""), NULL}};
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_vectorizer *v = NULL;
    gf_vectors x = {.n_empty = 77};
    gf_status st = gf_vectorizer_create(&o, NULL, &v, err);
    if (st == GF_OK) st = gf_vectorizer_add(v, texts, 4, NULL, err);
    if (st == GF_OK) st = gf_vectorizer_finish_by_ranks(v, NULL, &x, err);
    if (st != GF_OK)
        assert_int_equal(x.n_empty, 77);
    else
        gf_vectors_release(&x);
    gf_vectorizer_free(v);
    return st;
}

static void reports_failed_allocations_of_ranks(void **state)
{
    (void)state;
    gf_test_sweep(share_few, NULL, NULL);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(vectorize_varied, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weighs_the_apples),
        cmocka_unit_test(weighs_by_default),
        cmocka_unit_test(other_tasks_run_beside),
        cmocka_unit_test(shows_the_commonest_form),
        cmocka_unit_test(stop_words_are_no_forms),
        cmocka_unit_test(adds_forms_of_languages),
        cmocka_unit_test(rescues_what_filters_empty),
        cmocka_unit_test(filters_terms),
        cmocka_unit_test(filters_many_by_itself),
        cmocka_unit_test(takes_no_documents),
        cmocka_unit_test(finishes_again),
        cmocka_unit_test(says_no),
        cmocka_unit_test(gives_the_same_bytes_by_any_threads),
        cmocka_unit_test(gives_the_same_rows_by_any_ranks),
        cmocka_unit_test(reports_failed_allocations_of_ranks),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("vectorizer", tests, NULL, NULL);
}
