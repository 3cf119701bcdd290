/* All words of each document: what gf_analyser_run finds in it, counted, in memory or in a file. */
#include "tests/vectorize/settings.h"

#include "base/memory.h"
#include "base/random.h"
#include "vectorize/rows/analyser.h"
#include "vectorize/rows/words.h"

#include <stdlib.h>
#include <string.h>

typedef struct reading {
    const gf_text *texts; /* groups of them are added */
    size_t n, group;
    unsigned threads;
    bool only;
    const char *folder;
} reading;

static gf_status collect(const reading *r, const gf_vectorizer_options *o, gf_words **words,
                         gf_error *err)
{
    gf_pool *pool = NULL;
    gf_vectorizer *v = NULL;
    gf_status st = gf_pool_create(r->threads, &pool, err);
    if (st == GF_OK) st = gf_vectorizer_create(o, pool, &v, err);
    if (st == GF_OK) st = gf_vectorizer_keep_words(v, r->folder, r->only, err);
    for (size_t at = 0; at < r->n && st == GF_OK; at += r->group)
        st = gf_vectorizer_add(v, r->texts + at, r->n - at < r->group ? r->n - at : r->group, NULL,
                               err);
    if (st == GF_OK) st = gf_vectorizer_take_words(v, words, err);
    gf_vectorizer_free(v);
    gf_pool_free(pool);
    if (st == GF_OK) st = gf_words_load_terms(*words, err);
    return st;
}

/* ---- an example ------------------------------------------------------------------------------ */

typedef struct writing {
    const gf_words *words;
    gf_buffer out;
} writing;

/* "language: term count, term count" and a newline, terms in the order of the row. */
static gf_status write_row(void *context, uint32_t document, const gf_word_row *row, gf_error *err)
{
    (void)err;
    writing *w = context;
    gf_buffer_format(&w->out, "%u %s:", document,
                     row->language ? gf_language_at(row->language - 1)->name : "-");
    for (uint32_t i = 0; i < row->n; i++)
        gf_buffer_format(&w->out, "%s %.*s %u", i ? "," : "",
                         GF_SLICE_ARG(gf_words_term(w->words, row->term[i])), row->count[i]);
    gf_buffer_byte(&w->out, '\n');
    return GF_OK;
}

static void expect(const char *const *settings, const char *rows)
{
    gf_error err;
    gf_vectorizer_options o = options_of(settings);
    const gf_language *english = gf_language_find(GF_SLICE("english"));
    const gf_language *german = gf_language_find(GF_SLICE("german"));
    const gf_text texts[] = {{GF_SLICE("The apples, the apple: x http://x.org"), english},
                             {GF_SLICE("the x"), english},
                             {GF_SLICE("the"), NULL},
                             {GF_SLICE("..."), english},
                             {GF_SLICE("Die Die pears"), german}};
    writing w = {0};
    gf_words *words;
    const reading r = {.texts = texts, .n = 5, .group = 2, .threads = 1};
    assert_ok(collect(&r, &o, &words, &err));
    assert_int_equal(gf_words_documents(words), 5);
    w.words = words;
    assert_ok(gf_words_each(words, 0, UINT32_MAX, write_row, &w, &err));
    assert_string_equal(gf_buffer_cstr(&w.out), rows);
    gf_buffer_release(&w.out);
    gf_words_free(words);
}

static void has_all_words(void **state)
{
    (void)state;
    expect(NULL, "0 english: appl 2, x 1, the 2\n"
                 "1 english: x 1, the 1\n"
                 "2 -: the 1\n"
                 "3 english:\n"
                 "4 german: pear 1, die 2\n");
    expect(WITH("ngrams_max", "2"), "0 english: appl 2, x 1, the 2\n"
                                    "1 english: x 1, the 1\n"
                                    "2 -: the 1\n"
                                    "3 english:\n"
                                    "4 german: pear 1, die 2\n");
    expect(WITH("language", "english", "min_length", "1"), "0 english: appl 2, x 1, the 2\n"
                                                           "1 english: x 1, the 1\n"
                                                           "2 english: the 1\n"
                                                           "3 english:\n"
                                                           "4 english: die 2, pear 1\n");
}

/* A vectorizer that keeps none has none to give, and its rows are the same with and without. */
static void rows_are_the_same(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = options_of(NULL);
    const gf_text texts[] = {{GF_SLICE("the alpha beta beta"), NULL},
                             {GF_SLICE("alpha beta x"), NULL},
                             {GF_SLICE("x y"), NULL},
                             {GF_SLICE("gamma the alpha the"), NULL}};
    gf_vectors rows[2];
    for (int keeps = 0; keeps < 2; keeps++) {
        gf_vectorizer *v;
        gf_words *words;
        assert_ok(gf_vectorizer_create(&o, NULL, &v, &err));
        if (keeps) assert_ok(gf_vectorizer_keep_words(v, NULL, false, &err));
        assert_ok(gf_vectorizer_add(v, texts, 4, NULL, &err));
        assert_ok(gf_vectorizer_finish(v, &rows[keeps], NULL, &err));
        assert_ok(gf_vectorizer_take_words(v, &words, &err));
        assert_true((words != NULL) == (keeps == 1));
        gf_words_free(words);
        gf_vectorizer_free(v);
    }
    uint64_t n = rows[0].x.start[4];
    assert_memory_equal(rows[0].x.start, rows[1].x.start, 5 * sizeof *rows[0].x.start);
    assert_memory_equal(rows[0].x.col, rows[1].x.col, n * sizeof *rows[0].x.col);
    assert_memory_equal(rows[0].x.val, rows[1].x.val, n * sizeof *rows[0].x.val);
    assert_memory_equal(rows[0].kind, rows[1].kind, 4);
    gf_vectors_release(&rows[0]);
    gf_vectors_release(&rows[1]);
}

/* ---- beside the analysis itself -------------------------------------------------------------- */

typedef struct checking {
    const gf_words *words;
    const gf_text *texts;
    gf_analyser *analyser;
    uint32_t *left; /* capacity: by the analyser's terms, what the row has not told of */
    size_t capacity;
    uint32_t seen; /* documents */
} checking;

static gf_status check_row(void *context, uint32_t document, const gf_word_row *row, gf_error *err)
{
    checking *c = context;
    const gf_strings *terms = gf_analyser_terms(c->analyser);
    gf_analysis a;
    uint32_t distinct = 0;
    assert_int_equal(document, c->seen++);
    const gf_text *text = &c->texts[document];
    assert_int_equal(row->language, gf_language_index(text->language) + 1);
    gf_status st = gf_analyser_run(c->analyser, text->text, text->language, &a, err);
    if (st != GF_OK) return st;
    assert_true(terms->n <= c->capacity);
    for (size_t i = 0; i < a.n; i++)
        if (a.words[i].use != GF_WORD_NONE) distinct += c->left[a.words[i].term]++ == 0;
    assert_int_equal(row->n, distinct);
    for (uint32_t i = 0; i < row->n; i++) {
        uint32_t id = gf_strings_find(terms, gf_words_term(c->words, row->term[i]));
        assert_true(id != GF_STRING_NONE);
        assert_int_equal(c->left[id], row->count[i]);
        c->left[id] = 0;
    }
    return GF_OK;
}

enum { TEXTS = 4000, WORDS = 6000 };

/* Stop words, short ones, long ones, terms; so many that they do not stay in memory. */
static void make(gf_buffer *bytes, gf_text *texts, gf_random *random)
{
    static size_t start[TEXTS + 1];
    const gf_language *english = gf_language_find(GF_SLICE("english"));
    static const char *const others[] = {"the", "x", "of", "9", "and"};
    for (size_t i = 0; i < TEXTS; i++) {
        start[i] = bytes->len;
        uint64_t words = i == 17 ? 50000 : gf_random_below(random, 400);
        for (uint64_t w = 0; w < words; w++) {
            double u = gf_random_unit(random);
            if (gf_random_below(random, 3) == 0)
                gf_buffer_format(bytes, "%s ", others[gf_random_below(random, 5)]);
            else
                gf_buffer_format(bytes, "w%u ", (unsigned)(WORDS * u * u));
        }
    }
    start[TEXTS] = bytes->len;
    for (size_t i = 0; i < TEXTS; i++)
        texts[i] = (gf_text){gf_slice_of(bytes->ptr + start[i], start[i + 1] - start[i]), english};
}

static void agrees_with_the_analysis(void **state)
{
    (void)state;
    static gf_text texts[TEXTS];
    static uint32_t left[WORDS + 10];
    gf_error err;
    gf_buffer bytes = {0};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_vectorizer_options o = options_of(NULL);
    make(&bytes, texts, &random);
    for (unsigned run = 0; run < 6; run++) {
        const reading r = {.texts = texts,
                           .n = run % 2 ? TEXTS : 900,
                           .group = run < 3 ? 1500 : 7,
                           .threads = run % 3 + 1,
                           .only = run > 3,
                           .folder = gf_test_folder()};
        checking c = {.texts = texts, .left = left, .capacity = WORDS + 10};
        gf_words *words;
        assert_ok(collect(&r, &o, &words, &err));
        assert_ok(gf_analyser_create(&o.analysis, &c.analyser, &err));
        c.words = words;
        for (uint32_t d = 0, n = run % 2 ? 777 : TEXTS; d < r.n; d += n)
            assert_ok(gf_words_each(words, d, d + n, check_row, &c, &err));
        assert_int_equal(c.seen, r.n);
        gf_analyser_free(c.analyser);
        gf_words_free(words);
    }
    const reading nowhere = {
        .texts = texts, .n = TEXTS, .group = TEXTS, .threads = 1, .folder = "/no/such/folder"};
    gf_words *words;
    assert_status(GF_EIO, collect(&nowhere, &o, &words, &err));
    gf_buffer_release(&bytes);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static gf_status count_words(void *context, uint32_t document, const gf_word_row *row,
                             gf_error *err)
{
    (void)document, (void)err;
    *(uint64_t *)context += row->n;
    return GF_OK;
}

static gf_status read_few(void *context, gf_error *err)
{
    gf_vectorizer_options o = options_of(NULL);
    gf_words *words = NULL;
    uint64_t n = 0;
    gf_status st = collect(context, &o, &words, err);
    if (st == GF_OK) st = gf_words_each(words, 0, UINT32_MAX, count_words, &n, err);
    if (st == GF_OK) assert_true(n > 0);
    gf_words_free(words);
    return st;
}

/* Few words in memory; and some that one text alone has too many of for that. */
static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_buffer long_text = {0};
    const gf_text few[] = {{GF_SLICE("the alpha beta beta"), NULL}, {GF_SLICE("x"), NULL}};
    gf_test_sweep(read_few, NULL,
                  &(reading){.texts = few, .n = 2, .group = 1, .threads = 1, .only = true});
    for (unsigned i = 0; i < 300000; i++)
        gf_buffer_format(&long_text, "%x ", i);
    const gf_text one = {gf_buffer_view(&long_text), NULL};
    gf_test_sweep(read_few, NULL,
                  &(reading){.texts = &one,
                             .n = 1,
                             .group = 1,
                             .threads = 1,
                             .only = true,
                             .folder = gf_test_folder()});
    gf_buffer_release(&long_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_all_words),
        cmocka_unit_test(rows_are_the_same),
        cmocka_unit_test(agrees_with_the_analysis),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
