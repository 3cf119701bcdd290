/*
 * Real collections: the same bytes for any number of threads and any split into groups, and from a
 * transformer the same rows; hostile documents of many megabytes in good time.
 */
#include "support/test.h"

#include "base/clock.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "vectorize/rows/transformer.h"

typedef struct corpus {
    gf_buffer bytes;
    gf_text *texts;
    size_t n;
} corpus;

static void add_record(corpus *c, gf_json_value record)
{
    gf_json_value text, language;
    assert_true(gf_json_member(record, "text", &text));
    gf_slice s = gf_json_get_string(text);
    c->texts = gf_realloc(c->texts, c->n + 1, sizeof *c->texts);
    c->texts[c->n] = (gf_text){.text = {NULL, s.len}};
    if (gf_json_member(record, "lang", &language))
        c->texts[c->n].language = gf_language_find(gf_json_get_string(language));
    c->n++;
    gf_buffer_slice(&c->bytes, s);
}

/* Each `every`-th document of a data set. */
static corpus read_corpus(const char *name, size_t every)
{
    gf_error err;
    corpus c = {.n = 0};
    gf_buffer file = {0};
    gf_json_parser *parser;
    gf_slice line;
    gf_test_read_data(name, &file);
    gf_slice rest = gf_buffer_view(&file);
    assert_ok(gf_json_parser_create(&parser, &err));
    for (size_t i = 0; gf_test_next_line(&rest, &line); i++) {
        gf_json_value root;
        if (i % every) continue;
        assert_ok(gf_json_parse_copy(parser, line, &root, &err));
        add_record(&c, root);
    }
    size_t at = 0;
    for (size_t i = 0; i < c.n; at += c.texts[i++].text.len)
        c.texts[i].text.ptr = c.bytes.ptr + at;
    gf_json_parser_free(parser);
    gf_buffer_release(&file);
    return c;
}

static void release(corpus *c)
{
    gf_buffer_release(&c->bytes);
    gf_free(c->texts);
}

static gf_vectors vectorize(const corpus *c, const gf_vectorizer_options *o, unsigned threads,
                            size_t group)
{
    gf_error err;
    gf_pool *pool;
    gf_vectorizer *v;
    gf_vectors x;
    assert_ok(gf_pool_create(threads, &pool, &err));
    assert_ok(gf_vectorizer_create(o, pool, &v, &err));
    for (size_t i = 0; i < c->n; i += group)
        assert_ok(
            gf_vectorizer_add(v, c->texts + i, c->n - i < group ? c->n - i : group, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, &x, NULL, &err));
    gf_vectorizer_free(v);
    gf_pool_free(pool);
    return x;
}

static void assert_same(const gf_vectors *a, const gf_vectors *b)
{
    gf_buffer x = {0}, y = {0};
    gf_vocabulary_write(&a->vocabulary, &x);
    gf_vocabulary_write(&b->vocabulary, &y);
    assert_int_equal(x.len, y.len);
    assert_memory_equal(x.ptr, y.ptr, x.len);
    size_t rows = a->x.n_rows, nnz = gf_csr_nnz(&a->x);
    assert_int_equal(b->x.n_rows, rows);
    assert_memory_equal(a->x.start, b->x.start, (rows + 1) * sizeof *a->x.start);
    assert_memory_equal(a->kind, b->kind, rows);
    assert_memory_equal(a->x.col, b->x.col, nnz * sizeof *a->x.col);
    assert_memory_equal(a->x.val, b->x.val, nnz * sizeof *a->x.val);
    gf_buffer_release(&x);
    gf_buffer_release(&y);
}

static void check_rows(const gf_vectors *x)
{
    gf_error err;
    assert_ok(gf_csr_check(&x->x, &err));
    for (uint32_t i = 0; i < x->x.n_rows; i++) {
        gf_row_view r = gf_csr_row(&x->x, i);
        if (x->kind[i] == GF_ROW_EMPTY)
            assert_int_equal(r.n, 0);
        else
            assert_near(gf_csr_row_dot(r, r), 1, 1e-5);
    }
}

static void check_transformer(const corpus *c, const gf_vectorizer_options *o, const gf_vectors *x)
{
    gf_error err;
    gf_transformer *t;
    assert_ok(gf_transformer_create(o, &x->vocabulary, &t, &err));
    for (uint32_t i = 0; i < x->x.n_rows; i += 3) {
        gf_row_view want = gf_csr_row(&x->x, i), got;
        gf_row_kind kind;
        assert_ok(gf_transformer_row(t, c->texts[i].text, c->texts[i].language, &got, &kind, &err));
        assert_int_equal(kind, x->kind[i]);
        assert_int_equal(got.n, want.n);
        if (!got.n) continue;
        assert_memory_equal(got.col, want.col, got.n * sizeof *got.col);
        assert_memory_equal(got.val, want.val, got.n * sizeof *got.val);
    }
    gf_transformer_free(t);
}

static void check(const char *name, size_t every, const gf_vectorizer_options *o)
{
    corpus c = read_corpus(name, every);
    gf_vectors one = vectorize(&c, o, 1, c.n), two = vectorize(&c, o, 2, 1000);
    print_message("%s: %zu documents, %u terms (%u regular), %u rescued, %u empty\n", name, c.n,
                  one.vocabulary.n_terms, one.vocabulary.n_regular, one.n_rescued, one.n_empty);
    assert_true(one.vocabulary.n_regular > 1000);
    check_rows(&one);
    assert_same(&one, &two);
    gf_vectors_release(&two);
    two = vectorize(&c, o, 3, 7777);
    assert_same(&one, &two);
    gf_vectors_release(&two);
    check_transformer(&c, o, &one);
    gf_vectors_release(&one);
    release(&c);
}

static void english_posts(void **state)
{
    (void)state;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    o.analysis.language = gf_language_find(GF_SLICE("en"));
    check("reddit-posts/reddit-posts.jsonl.zst", 10, &o);
}

static void newsgroups_with_bigrams(void **state)
{
    (void)state;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    o.analysis.language = gf_language_find(GF_SLICE("en"));
    o.analysis.ngrams_max = 2;
    check("20newsgroups/20newsgroups.jsonl.gz", 7, &o);
}

static void many_languages(void **state)
{
    (void)state;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    check("udhr-articles/udhr-articles.jsonl.gz", 1, &o);
}

static void chinese_reviews(void **state)
{
    (void)state;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    o.analysis.language = gf_language_find(GF_SLICE("zh"));
    check("zh-shopping-reviews/zh-shopping-reviews.jsonl.gz", 10, &o);
    o.analysis.cjk = GF_CJK_BIGRAMS;
    check("zh-shopping-reviews/zh-shopping-reviews.jsonl.gz", 10, &o);
}

/* 16 MB of one piece, as one document beside a plain one. */
static void hostile(const char *piece, gf_row_kind kind)
{
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    corpus c = {.n = 2};
    gf_text texts[2] = {{.text = GF_SLICE("some words")}};
    o.analysis.ngrams_max = 2;
    gf_buffer_reserve(&c.bytes, (size_t)16 << 20);
    while (c.bytes.len < (size_t)16 << 20)
        gf_buffer_str(&c.bytes, piece);
    assert_ok(gf_buffer_check(&c.bytes, &err));
    texts[1].text = gf_buffer_view(&c.bytes);
    c.texts = texts;
    double start = gf_clock_seconds();
    gf_vectors x = vectorize(&c, &o, 2, 2);
    double seconds = gf_clock_seconds() - start;
    if (x.kind[1] != kind) fail_msg("\"%s\": row of kind %d", piece, x.kind[1]);
    if (seconds > 60) fail_msg("\"%s\": %g s", piece, seconds);
    gf_vectors_release(&x);
    gf_buffer_release(&c.bytes);
}

static void hostile_documents(void **state)
{
    (void)state;
    hostile("a", GF_ROW_RESCUED);
    hostile("a ", GF_ROW_RESCUED);
    hostile("\xCC\x81", GF_ROW_EMPTY);
    hostile("ab\xCC\x81", GF_ROW_RESCUED);
    hostile("\xE6\x89\x8B", GF_ROW_PLAIN);
    hostile("\xFF", GF_ROW_EMPTY);
    hostile("http://x.org/ ", GF_ROW_EMPTY);
    hostile("a@", GF_ROW_RESCUED);
    hostile("word ", GF_ROW_PLAIN);
}

int main(void)
{
    if (!gf_test_has_data()) return gf_test_skipped("real collections");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(english_posts),     cmocka_unit_test(newsgroups_with_bigrams),
        cmocka_unit_test(many_languages),    cmocka_unit_test(chinese_reviews),
        cmocka_unit_test(hostile_documents),
    };
    return cmocka_run_group_tests_name("corpora", tests, NULL, NULL);
}
