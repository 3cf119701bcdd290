/* TF-IDF against scikit-learn's, on forty posts: data/make_scikit.py made the values. */
#include "support/test.h"

#include "base/json/json.h"
#include "vectorize/rows/vectorizer.h"

#include <stdlib.h>

enum { POSTS = 40 };

typedef struct fixture {
    gf_buffer posts, weights;
    gf_buffer text; /* the posts' texts, one behind the other */
    gf_text texts[POSTS];
} fixture;

static int set_up(void **state)
{
    gf_error err;
    static fixture f;
    gf_json_parser *parser;
    gf_slice line;
    size_t n = 0, at = 0;
    gf_test_read_source("tests/vectorize/data/scikit-posts.jsonl", &f.posts);
    gf_test_read_source("tests/vectorize/data/scikit-weights.tsv", &f.weights);
    gf_slice rest = gf_buffer_view(&f.posts);
    assert_ok(gf_json_parser_create(&parser, &err));
    while (gf_test_next_line(&rest, &line)) {
        gf_json_value root, text;
        assert_true(n < POSTS);
        assert_ok(gf_json_parse_copy(parser, line, &root, &err));
        assert_true(gf_json_member(root, "text", &text));
        f.texts[n++].text.len = gf_json_get_string(text).len;
        gf_buffer_slice(&f.text, gf_json_get_string(text));
    }
    assert_int_equal(n, POSTS);
    for (size_t i = 0; i < POSTS; at += f.texts[i++].text.len)
        f.texts[i].text.ptr = f.text.ptr + at;
    gf_json_parser_free(parser);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    gf_buffer_release(&f->posts);
    gf_buffer_release(&f->weights);
    gf_buffer_release(&f->text);
    return 0;
}

/* The defaults of scikit-learn in our settings: "name=value name=value". */
static const char plain[] =
    "tf=raw idf=log norm=l2 stop_words=off stem=off min_df=1 max_df=1.0 urls=split entities=off "
    "max_length=1024 ngrams_over_punctuation=on ";

static void set_all(gf_vectorizer_options *o, gf_slice settings)
{
    gf_error err;
    while (settings.len) {
        const char *space = memchr(settings.ptr, ' ', settings.len);
        size_t n = space ? (size_t)(space - settings.ptr) : settings.len;
        const char *equals = memchr(settings.ptr, '=', n);
        assert_non_null(equals);
        size_t name = (size_t)(equals - settings.ptr);
        assert_ok(gf_vectorizer_options_set(o, gf_slice_of(settings.ptr, name),
                                            gf_slice_of(equals + 1, n - name - 1), &err));
        settings = gf_slice_skip(settings, n + (space != NULL));
    }
}

/* The next field of a line, up to a tab or its end. */
static gf_slice take_field(gf_slice *line)
{
    const char *tab = memchr(line->ptr, '\t', line->len);
    size_t n = tab ? (size_t)(tab - line->ptr) : line->len;
    gf_slice field = gf_slice_of(line->ptr, n);
    *line = gf_slice_skip(*line, n + (tab != NULL));
    return field;
}

static gf_vectors vectorize(const fixture *f, gf_slice settings)
{
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_vectorizer *v;
    gf_vectors x;
    set_all(&o, gf_slice_str(plain));
    set_all(&o, settings);
    assert_ok(gf_vectorizer_create(&o, NULL, &v, &err));
    assert_ok(gf_vectorizer_add(v, f->texts, POSTS, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, &x, NULL, &err));
    gf_vectorizer_free(v);
    return x;
}

static void check_entry(const gf_vectors *x, gf_slice line)
{
    uint32_t row = (uint32_t)strtoul(take_field(&line).ptr, NULL, 10), i = 0;
    gf_slice term = take_field(&line);
    double weight = strtod(line.ptr, NULL);
    uint32_t column = gf_vocabulary_find(&x->vocabulary, term);
    gf_row_view r = gf_csr_row(&x->x, row);
    while (i < r.n && r.col[i] != column)
        i++;
    if (i == r.n) fail_msg("row %u has no %.*s", row, GF_SLICE_ARG(term));
    assert_near(r.val[i], weight, 1e-6);
}

/* Every entry of theirs is one of ours with the same weight, and we have no others. */
static void check(const fixture *f, const char *name)
{
    gf_slice rest = gf_buffer_view(&f->weights), line;
    gf_vectors x = {0};
    uint64_t n = 0;
    bool here = false;
    while (gf_test_next_line(&rest, &line)) {
        if (gf_slice_starts(line, GF_SLICE("="))) {
            take_field(&line);
            here = gf_slice_equal(take_field(&line), gf_slice_str(name));
            if (here) x = vectorize(f, line);
        } else if (here && !gf_slice_starts(line, GF_SLICE("#"))) {
            check_entry(&x, line);
            n++;
        }
    }
    assert_true(n > 500);
    assert_int_equal(gf_csr_nnz(&x.x), n);
    assert_int_equal(x.vocabulary.n_terms, x.vocabulary.n_regular);
    print_message("%s: %u terms, %u entries\n", name, x.vocabulary.n_terms, (unsigned)n);
    gf_vectors_release(&x);
}

static void default_weights(void **state)
{
    check(*state, "default");
}

static void sublinear_tf(void **state)
{
    check(*state, "sublinear");
}

static void idf_not_smooth(void **state)
{
    check(*state, "plus_one");
}

static void min_and_max_df(void **state)
{
    check(*state, "filtered");
}

static void bigrams(void **state)
{
    check(*state, "bigrams");
}

static void counts(void **state)
{
    check(*state, "counts");
}

static void binary(void **state)
{
    check(*state, "binary");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_weights), cmocka_unit_test(sublinear_tf),
        cmocka_unit_test(idf_not_smooth),  cmocka_unit_test(min_and_max_df),
        cmocka_unit_test(bigrams),         cmocka_unit_test(counts),
        cmocka_unit_test(binary),
    };
    return cmocka_run_group_tests_name("scikit-learn", tests, set_up, tear_down);
}
