/*
 * The vectorizer against TF-IDF computed by brute force, over random documents and options: every
 * string, document frequency, form and weight. And that neither threads nor the split into groups
 * shows in a single byte, and that a transformer gives every row again.
 */
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/strings.h"
#include "vectorize/rows/transformer.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_DOCS = 60, MOST_WORDS = 14, MOST_TERMS = 4000, MOST_FORMS = 8000, MOST_ENTRIES = 200 };

typedef enum word_type { TERM, SHORT, STOP } word_type;

typedef struct word {
    word_type type;
    bool breaks;  /* punctuation before it */
    char raw[8];  /* as written */
    char name[8]; /* in lower case */
    size_t start, end;
} word;

typedef struct document {
    char text[256];
    size_t length;
    word words[MOST_WORDS];
    size_t n;
} document;

/* ---- random documents ------------------------------------------------------------------------ */

static void add_word(gf_random *r, document *d, unsigned kinds)
{
    word *w = &d->words[d->n];
    uint64_t kind = gf_random_below(r, 10);
    w->type = kind < 5 ? TERM : kind < 8 ? STOP : SHORT;
    if (kinds != 0) w->type = kinds == 1 ? STOP : SHORT;
    if (w->type == SHORT)
        snprintf(w->name, sizeof w->name, "%c", (int)('a' + gf_random_below(r, 3)));
    else /* squared, so that some are frequent */
        snprintf(w->name, sizeof w->name, "%c%d", w->type == STOP ? 's' : 't',
                 (int)(gf_random_unit(r) * gf_random_unit(r) * (w->type == STOP ? 4 : 40)));
    memcpy(w->raw, w->name, sizeof w->raw);
    if (gf_random_below(r, 3) == 0) w->raw[0] = (char)(w->raw[0] - 'a' + 'A');
    static const char *const gaps[] = {" ", " ", " ", "  ", "\n", ", ", "! "};
    const char *gap = gaps[gf_random_below(r, 7)];
    w->breaks = strpbrk(gap, ",!") != NULL;
    if (d->n || w->breaks) {
        memcpy(d->text + d->length, gap, strlen(gap));
        d->length += strlen(gap);
    }
    w->start = d->length;
    memcpy(d->text + d->length, w->raw, strlen(w->raw));
    d->length += strlen(w->raw);
    w->end = d->length;
    d->n++;
}

static void random_document(gf_random *r, document *d)
{
    *d = (document){.n = 0};
    uint64_t n = gf_random_below(r, 8) ? gf_random_below(r, MOST_WORDS) : 0;
    unsigned kinds = gf_random_below(r, 6) == 0 ? 1 + (unsigned)gf_random_below(r, 2) : 0;
    while (n-- > 0)
        add_word(r, d, kinds);
    if (gf_random_below(r, 4) == 0) d->text[d->length++] = '.';
}

static gf_vectorizer_options random_options(gf_random *r)
{
    gf_vectorizer_options o = gf_vectorizer_options_default();
    o.analysis.stop_words = false;
    o.analysis.more_stop_words = GF_SLICE("s0 s1 s2 s3");
    o.analysis.ngrams_max = 1 + (uint32_t)gf_random_below(r, 3);
    o.analysis.ngrams_min = 1 + (uint32_t)gf_random_below(r, o.analysis.ngrams_max);
    o.analysis.ngrams_over_stop_words = gf_random_below(r, 2);
    o.analysis.ngrams_over_punctuation = gf_random_below(r, 2);
    o.weights.tf = (gf_tf)gf_random_below(r, 4);
    o.weights.idf = (gf_idf)gf_random_below(r, 4);
    o.weights.norm = (gf_norm)gf_random_below(r, 2);
    if (gf_random_below(r, 2))
        o.min_df = (gf_df_limit){.kind = GF_DF_COUNT, .count = (uint32_t)gf_random_below(r, 5)};
    if (gf_random_below(r, 2))
        o.max_df = (gf_df_limit){.kind = GF_DF_SHARE, .share = 0.1 + 0.9 * gf_random_unit(r)};
    if (gf_random_below(r, 3) == 0) o.max_terms = 1 + (uint32_t)gf_random_below(r, 20);
    return o;
}

/* ---- brute force ----------------------------------------------------------------------------- */

typedef struct form {
    uint32_t term;
    char text[64];
    uint32_t count;
} form;

typedef struct row {
    uint32_t term[MOST_ENTRIES], count[MOST_ENTRIES]; /* n */
    uint32_t n, length;
    bool has_terms;
} row;

typedef struct model {
    gf_strings terms;
    uint32_t df[MOST_TERMS];      /* rows that have it as a term */
    uint32_t rescued[MOST_TERMS]; /* rescued rows */
    bool regular[MOST_TERMS];
    row rows[MOST_DOCS];
    form forms[MOST_FORMS];
    size_t n_forms;
} model;

static uint32_t term_id(model *m, const char *s)
{
    gf_error err;
    uint32_t id;
    assert_ok(gf_strings_add(&m->terms, gf_slice_str(s), &id, NULL, &err));
    assert_true(id < MOST_TERMS);
    return id;
}

static void note_form(model *m, uint32_t term, const char *text, size_t n)
{
    char folded[64];
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        bool space = text[i] == ' ' || text[i] == '\n';
        if (!space || k == 0 || folded[k - 1] != ' ') folded[k++] = space ? ' ' : text[i];
    }
    folded[k] = '\0';
    for (size_t i = 0; i < m->n_forms; i++)
        if (m->forms[i].term == term && strcmp(m->forms[i].text, folded) == 0) {
            m->forms[i].count++;
            return;
        }
    assert_true(m->n_forms < MOST_FORMS);
    m->forms[m->n_forms] = (form){.term = term, .count = 1};
    memcpy(m->forms[m->n_forms++].text, folded, k + 1);
}

static void count_in(row *r, uint32_t term)
{
    uint32_t i = 0;
    while (i < r->n && r->term[i] != term)
        i++;
    if (i == r->n) {
        assert_true(r->n < MOST_ENTRIES);
        r->term[r->n] = term;
        r->count[r->n++] = 0;
    }
    r->count[i]++;
    r->length++;
}

/* All n-grams of two words or more that start with word `first`. */
static void add_ngrams(model *m, row *r, const document *d, size_t first,
                       const gf_analysis_options *o)
{
    char name[64];
    uint32_t words = 1;
    snprintf(name, sizeof name, "%s", d->words[first].name);
    for (size_t i = first + 1; i < d->n && words < o->ngrams_max; i++) {
        const word *w = &d->words[i];
        if (w->breaks && !o->ngrams_over_punctuation) return;
        if (w->type == SHORT) continue;
        if (w->type == STOP && !o->ngrams_over_stop_words) return;
        strcat(strcat(name, " "), w->name);
        words++;
        if (w->type == STOP || words < o->ngrams_min) continue;
        uint32_t term = term_id(m, name);
        count_in(r, term);
        note_form(m, term, d->text + d->words[first].start, w->end - d->words[first].start);
    }
}

static void count_document(model *m, const document *d, row *r, const gf_analysis_options *o)
{
    for (size_t i = 0; i < d->n; i++) {
        const word *w = &d->words[i];
        note_form(m, term_id(m, w->name), w->raw, strlen(w->raw));
        if (w->type != TERM) continue;
        if (o->ngrams_min == 1) count_in(r, term_id(m, w->name));
        add_ngrams(m, r, d, i, o);
    }
    r->has_terms = r->n > 0;
    for (size_t i = 0; i < d->n && r->has_terms == false; i++)
        if (d->words[i].type != STOP) count_in(r, term_id(m, d->words[i].name));
    if (r->n == 0)
        for (size_t i = 0; i < d->n; i++)
            count_in(r, term_id(m, d->words[i].name));
    for (uint32_t i = 0; i < r->n && r->has_terms; i++)
        m->df[r->term[i]]++;
}

static double idf_of(gf_idf kind, double n, double df)
{
    if (kind == GF_IDF_NONE) return 1;
    if (kind == GF_IDF_SMOOTH) return log((1 + n) / (1 + df)) + 1;
    return log(n / df) + (kind == GF_IDF_LOG_PLUS_ONE);
}

static double tf_of(gf_tf kind, double count, double length)
{
    if (kind == GF_TF_BINARY) return 1;
    if (kind == GF_TF_RAW) return count;
    return kind == GF_TF_LOG ? 1 + log(count) : count / length;
}

static bool comes_before(const model *m, const uint32_t *frequency, uint32_t a, uint32_t b)
{
    if (frequency[a] != frequency[b]) return frequency[a] > frequency[b];
    return gf_slice_compare(gf_strings_at(&m->terms, a), gf_strings_at(&m->terms, b)) < 0;
}

static void choose_regular(model *m, const gf_vectorizer_options *o, uint32_t n_docs)
{
    double least = o->min_df.kind == GF_DF_COUNT ? o->min_df.count : 1;
    double most = o->max_df.kind == GF_DF_SHARE ? o->max_df.share * n_docs : n_docs;
    for (uint32_t t = 0; t < m->terms.n; t++)
        m->regular[t] = m->df[t] > 0 && m->df[t] >= least && m->df[t] <= most &&
                        idf_of(o->weights.idf, n_docs, m->df[t]) > 0;
    bool fits[MOST_TERMS];
    for (uint32_t t = 0; t < m->terms.n; t++) {
        uint32_t before = 0;
        for (uint32_t u = 0; u < m->terms.n; u++)
            before += m->regular[u] && comes_before(m, m->df, u, t);
        fits[t] = o->max_terms == 0 || before < o->max_terms;
    }
    for (uint32_t t = 0; t < m->terms.n; t++)
        m->regular[t] = m->regular[t] && fits[t];
}

static uint32_t n_regular(const model *m, const row *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n && r->has_terms; i++)
        n += m->regular[r->term[i]];
    return n;
}

static void check_row(const model *m, const row *r, const gf_vectors *x, uint32_t at,
                      const gf_vectorizer_options *o)
{
    uint32_t plain = n_regular(m, r), n = plain ? plain : r->n;
    gf_row_view got = gf_csr_row(&x->x, at);
    double squares = 0;
    assert_int_equal(x->kind[at], r->n == 0 ? GF_ROW_EMPTY : plain ? GF_ROW_PLAIN : GF_ROW_RESCUED);
    assert_int_equal(got.n, n);
    double want[MOST_ENTRIES];
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t t = r->term[i];
        want[i] = tf_of(o->weights.tf, r->count[i], r->length);
        if (plain) want[i] *= m->regular[t] ? idf_of(o->weights.idf, x->x.n_rows, m->df[t]) : 0;
        squares += want[i] * want[i];
    }
    double norm = o->weights.norm == GF_NORM_L2 ? sqrt(squares) : 1;
    for (uint32_t i = 0; i < r->n; i++) {
        if (plain && !m->regular[r->term[i]]) continue;
        uint32_t column = gf_vocabulary_find(&x->vocabulary, gf_strings_at(&m->terms, r->term[i]));
        uint32_t k = 0;
        while (k < got.n && got.col[k] != column)
            k++;
        assert_true(k < got.n);
        assert_near(got.val[k], want[i] / norm, 1e-6 * (1 + want[i] / norm));
    }
}

static void check_form(const model *m, uint32_t term, gf_slice got)
{
    const form *best = NULL;
    for (size_t i = 0; i < m->n_forms; i++) {
        const form *f = &m->forms[i];
        if (f->term != term) continue;
        if (!best || f->count > best->count ||
            (f->count == best->count && strcmp(f->text, best->text) < 0))
            best = f;
    }
    assert_non_null(best);
    assert_slice(got, best->text);
}

static void check_vocabulary(model *m, const gf_vectors *x, const gf_vectorizer_options *o)
{
    const gf_vocabulary *v = &x->vocabulary;
    uint32_t regular = 0, rescue = 0, before = 0;
    for (uint32_t t = 0; t < m->terms.n; t++) {
        regular += m->regular[t];
        rescue += !m->regular[t] && m->rescued[t] > 0;
    }
    assert_int_equal(v->n_regular, regular);
    assert_int_equal(v->n_terms, regular + rescue);
    for (uint32_t i = 0; i < v->n_terms; i++) {
        uint32_t t = gf_strings_find(&m->terms, gf_vocabulary_term(v, i));
        assert_int_not_equal(t, GF_STRING_NONE);
        assert_true(m->regular[t] == (i < regular));
        assert_int_equal(v->df[i], i < regular ? m->df[t] : m->rescued[t]);
        double idf = i < regular ? idf_of(o->weights.idf, x->x.n_rows, m->df[t]) : 1;
        assert_near(v->idf[i], idf, 1e-12);
        if (i && i != regular)
            assert_true(comes_before(m, i < regular ? m->df : m->rescued, before, t));
        before = t;
        check_form(m, t, gf_vocabulary_surface(v, i));
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static gf_vectors vectorize(const gf_vectorizer_options *o, const document *docs, uint32_t n,
                            unsigned threads, uint32_t group)
{
    gf_error err;
    gf_pool *pool = NULL;
    gf_vectorizer *v;
    gf_vectors x;
    gf_text texts[MOST_DOCS];
    for (uint32_t i = 0; i < n; i++)
        texts[i] = (gf_text){gf_slice_of(docs[i].text, docs[i].length), NULL};
    if (threads) assert_ok(gf_pool_create(threads, &pool, &err));
    assert_ok(gf_vectorizer_create(o, pool, &v, &err));
    for (uint32_t i = 0; i < n; i += group)
        assert_ok(gf_vectorizer_add(v, texts + i, n - i < group ? n - i : group, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, &x, NULL, &err));
    assert_ok(gf_csr_check(&x.x, &err));
    gf_vectorizer_free(v);
    gf_pool_free(pool);
    return x;
}

static void equals_brute_force(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    document *docs = calloc(MOST_DOCS, sizeof *docs);
    for (int round = 0; round < 150; round++) {
        gf_vectorizer_options o = random_options(&r);
        uint32_t n = 1 + (uint32_t)gf_random_below(&r, MOST_DOCS);
        model *m = calloc(1, sizeof *m);
        for (uint32_t i = 0; i < n; i++) {
            random_document(&r, &docs[i]);
            count_document(m, &docs[i], &m->rows[i], &o.analysis);
        }
        choose_regular(m, &o, n);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < m->rows[i].n && n_regular(m, &m->rows[i]) == 0; k++)
                m->rescued[m->rows[i].term[k]]++;
        gf_vectors x = vectorize(&o, docs, n, (unsigned)gf_random_below(&r, 3), n);
        check_vocabulary(m, &x, &o);
        for (uint32_t i = 0; i < n; i++)
            check_row(m, &m->rows[i], &x, i, &o);
        gf_vectors_release(&x);
        gf_strings_release(&m->terms);
        free(m);
    }
    free(docs);
}

static void assert_same(const gf_vectors *a, const gf_vectors *b)
{
    gf_buffer x = {0}, y = {0};
    gf_vocabulary_write(&a->vocabulary, &x);
    gf_vocabulary_write(&b->vocabulary, &y);
    assert_true(gf_slice_equal(gf_buffer_view(&x), gf_buffer_view(&y)));
    assert_int_equal(a->x.n_rows, b->x.n_rows);
    size_t rows = a->x.n_rows, nnz = gf_csr_nnz(&a->x);
    assert_memory_equal(a->x.start, b->x.start, (rows + 1) * sizeof *a->x.start);
    assert_memory_equal(a->kind, b->kind, rows);
    if (nnz) assert_memory_equal(a->x.col, b->x.col, nnz * sizeof *a->x.col);
    if (nnz) assert_memory_equal(a->x.val, b->x.val, nnz * sizeof *a->x.val);
    gf_buffer_release(&x);
    gf_buffer_release(&y);
}

static void shows_neither_threads_nor_groups(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 1);
    document *docs = calloc(MOST_DOCS, sizeof *docs);
    for (int round = 0; round < 20; round++) {
        gf_vectorizer_options o = random_options(&r);
        uint32_t n = 1 + (uint32_t)gf_random_below(&r, MOST_DOCS);
        for (uint32_t i = 0; i < n; i++)
            random_document(&r, &docs[i]);
        gf_vectors one = vectorize(&o, docs, n, 0, n);
        for (unsigned threads = 1; threads <= 3; threads++) {
            gf_vectors other =
                vectorize(&o, docs, n, threads, 1 + (uint32_t)gf_random_below(&r, n));
            assert_same(&one, &other);
            gf_vectors_release(&other);
        }
        gf_vectors_release(&one);
    }
    free(docs);
}

enum { MANY = 12000 };

/* The texts of many documents, in one buffer. */
static gf_text *many_texts(gf_random *r, gf_buffer *bytes)
{
    gf_text *texts = calloc(MANY, sizeof *texts);
    document d;
    for (size_t i = 0; i < MANY; i++) {
        random_document(r, &d);
        gf_buffer_append(bytes, d.text, d.length);
        texts[i].text.len = d.length;
    }
    size_t at = 0;
    for (size_t i = 0; i < MANY; at += texts[i++].text.len)
        texts[i].text.ptr = bytes->ptr + at;
    return texts;
}

/* Enough documents for several tasks, so that each thread has terms of its own to merge. */
static void merges_what_threads_found(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 3);
    gf_buffer bytes = {0};
    gf_text *texts = many_texts(&r, &bytes);
    for (int round = 0; round < 3; round++) {
        gf_vectorizer_options o = random_options(&r);
        gf_vectors one = {0};
        for (unsigned threads = 1; threads <= 4; threads++) {
            gf_pool *pool;
            gf_vectorizer *v;
            gf_vectors x;
            size_t group = threads == 1 ? MANY : MANY / 2 + 1;
            assert_ok(gf_pool_create(threads, &pool, &err));
            assert_ok(gf_vectorizer_create(&o, pool, &v, &err));
            for (size_t i = 0; i < MANY; i += group)
                assert_ok(gf_vectorizer_add(v, texts + i, MANY - i < group ? MANY - i : group, NULL,
                                            &err));
            assert_ok(gf_vectorizer_finish(v, &x, NULL, &err));
            gf_vectorizer_free(v);
            gf_pool_free(pool);
            if (threads == 1) {
                one = x;
                continue;
            }
            assert_same(&one, &x);
            gf_vectors_release(&x);
        }
        gf_vectors_release(&one);
    }
    gf_buffer_release(&bytes);
    free(texts);
}

/* Also through the written vocabulary and the written options. */
static void transforms_to_the_same_rows(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 2);
    document *docs = calloc(MOST_DOCS, sizeof *docs);
    for (int round = 0; round < 50; round++) {
        gf_vectorizer_options o = random_options(&r), read;
        uint32_t n = 1 + (uint32_t)gf_random_below(&r, MOST_DOCS);
        for (uint32_t i = 0; i < n; i++)
            random_document(&r, &docs[i]);
        gf_vectors x = vectorize(&o, docs, n, 0, n);
        gf_buffer settings = {0}, terms = {0};
        gf_vocabulary v;
        gf_transformer *t;
        gf_vectorizer_options_write(&o, &settings);
        gf_vocabulary_write(&x.vocabulary, &terms);
        assert_ok(gf_vectorizer_options_read(gf_buffer_view(&settings), &read, &err));
        assert_ok(gf_vocabulary_read(gf_buffer_view(&terms), &v, &err));
        assert_ok(gf_transformer_create(&read, &v, &t, &err));
        for (uint32_t k = 0; k < n; k++) {
            uint32_t i = (uint32_t)gf_random_below(&r, n);
            gf_row_view want = gf_csr_row(&x.x, i), got;
            gf_row_kind kind;
            gf_slice text = gf_slice_of(docs[i].text, docs[i].length);
            assert_ok(gf_transformer_row(t, text, NULL, &got, &kind, &err));
            assert_int_equal(kind, x.kind[i]);
            assert_int_equal(got.n, want.n);
            if (!got.n) continue;
            assert_memory_equal(got.col, want.col, got.n * sizeof *got.col);
            assert_memory_equal(got.val, want.val, got.n * sizeof *got.val);
        }
        gf_transformer_free(t);
        gf_vocabulary_release(&v);
        gf_vectors_release(&x);
        gf_buffer_release(&settings);
        gf_buffer_release(&terms);
    }
    free(docs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_brute_force),
        cmocka_unit_test(shows_neither_threads_nor_groups),
        cmocka_unit_test(merges_what_threads_found),
        cmocka_unit_test(transforms_to_the_same_rows),
    };
    return cmocka_run_group_tests_name("tf-idf", tests, NULL, NULL);
}
