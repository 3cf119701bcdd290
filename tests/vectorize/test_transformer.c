#include "support/test.h"

#include "base/random.h"
#include "vectorize/rows/analyser.h"
#include "vectorize/rows/transformer.h"

static const char *const texts[] = {"Connected apples, apple pies",
                                    "Apple pie connects in New York",
                                    "the",
                                    "x",
                                    "",
                                    "zebra",
                                    "zebra fig"};
enum { TEXTS = sizeof texts / sizeof *texts };

typedef struct fixture {
    gf_vectorizer_options options;
    gf_vectors x;
} fixture;

static fixture make_of(const char *const *from, size_t n, uint32_t min_df, gf_norm norm)
{
    gf_error err;
    fixture f = {.options = gf_vectorizer_options_default()};
    gf_vectorizer *v;
    f.options.analysis.language = gf_language_find(GF_SLICE("english"));
    f.options.min_df = (gf_df_limit){.kind = GF_DF_COUNT, .count = min_df};
    f.options.weights.norm = norm;
    assert_ok(gf_vectorizer_create(&f.options, NULL, &v, &err));
    for (size_t i = 0; i < n; i++) {
        gf_text text = {gf_slice_str(from[i]), NULL};
        assert_ok(gf_vectorizer_add(v, &text, 1, NULL, &err));
    }
    assert_ok(gf_vectorizer_finish(v, &f.x, NULL, &err));
    gf_vectorizer_free(v);
    return f;
}

static fixture make(void)
{
    return make_of(texts, TEXTS, 2, GF_NORM_L2);
}

/* The row's terms with the weights in thousandths. */
static void expect_row(gf_transformer *t, const fixture *f, const char *text, gf_row_kind want_kind,
                       const char *want)
{
    gf_error err;
    gf_row_view row;
    gf_row_kind kind;
    gf_buffer out = {0};
    assert_ok(gf_transformer_row(t, gf_slice_str(text), NULL, &row, &kind, &err));
    for (uint32_t i = 0; i < row.n; i++)
        gf_buffer_format(&out, "%s%.*s %.0f", i ? ", " : "",
                         GF_SLICE_ARG(gf_vocabulary_term(&f->x.vocabulary, row.col[i])),
                         1000 * (double)row.val[i]);
    assert_string_equal(gf_buffer_cstr(&out), want);
    assert_int_equal(kind, want_kind);
    gf_buffer_release(&out);
}

static void makes_rows(void **state)
{
    (void)state;
    gf_error err;
    fixture f = make();
    gf_transformer *t;
    assert_ok(gf_transformer_create(&f.options, &f.x.vocabulary, &t, &err));
    for (uint32_t i = 0; i < TEXTS; i++) {
        gf_row_view want = gf_csr_row(&f.x.x, i), got;
        gf_row_kind kind;
        assert_ok(gf_transformer_row(t, gf_slice_str(texts[i]), NULL, &got, &kind, &err));
        assert_int_equal(kind, f.x.kind[i]);
        assert_int_equal(got.n, want.n);
        if (got.n) assert_memory_equal(got.col, want.col, got.n * sizeof *got.col);
        if (got.n) assert_memory_equal(got.val, want.val, got.n * sizeof *got.val);
    }
    /* New texts: unknown words are left out, and where all are, the row is empty but rescued. */
    expect_row(t, &f, "An unknown apple and a pie", GF_ROW_PLAIN, "appl 707, pie 707");
    expect_row(t, &f, "unknown", GF_ROW_RESCUED, "");
    expect_row(t, &f, "the", GF_ROW_RESCUED, "the 1000");
    expect_row(t, &f, "of", GF_ROW_RESCUED, "");
    expect_row(t, &f, "?", GF_ROW_EMPTY, "");
    expect_row(t, &f, "x apple", GF_ROW_PLAIN, "appl 1000");
    gf_transformer_free(t);
    gf_vectors_release(&f.x);
}

/* A rescued row is weighed at idf 1 also where it uses a regular term's column (others, other). */
static void rescues_at_idf_1(void **state)
{
    (void)state;
    gf_error err;
    const char *from[] = {"pears and others", "plums", "the other"};
    fixture f = make_of(from, 3, 1, GF_NORM_NONE);
    gf_transformer *t;
    assert_ok(gf_transformer_create(&f.options, &f.x.vocabulary, &t, &err));
    expect_row(t, &f, "others", GF_ROW_PLAIN, "other 1099"); /* ln 3 */
    expect_row(t, &f, "the other", GF_ROW_RESCUED, "other 1000, the 1000");
    assert_near(gf_csr_row(&f.x.x, 2).val[0], 1, 0);
    gf_transformer_free(t);
    gf_vectors_release(&f.x);
}

static void lists_tokens(void **state)
{
    (void)state;
    static const char text[] =
        "The Apples: see http://x.org/a, @Pie #Apple 42 x unknown-thing 手机";
    static const struct {
        const char *bytes, *term;
        uint32_t flags;
    } want[] = {
        {"The", "the", GF_SEQUENCE_STOP},
        {"Apples", "appl", 0},
        {"see", NULL, GF_SEQUENCE_BREAK},
        {"http://x.org/a", NULL, GF_SEQUENCE_LINK},
        {"Pie", "pie", GF_SEQUENCE_BREAK | GF_SEQUENCE_MENTION},
        {"Apple", "appl", GF_SEQUENCE_HASHTAG},
        {"42", NULL, GF_SEQUENCE_NUMBER},
        {"x", "x", GF_SEQUENCE_OTHER},
        {"unknown", NULL, 0},
        {"thing", NULL, 0},
        {"手机", NULL, GF_SEQUENCE_PIECE},
    };
    gf_error err;
    fixture f = make();
    gf_transformer *t;
    const gf_sequence_token *got;
    size_t n;
    assert_ok(gf_transformer_create(&f.options, &f.x.vocabulary, &t, &err));
    for (int twice = 0; twice < 2; twice++) {
        assert_ok(gf_transformer_sequence(t, gf_slice_str(text), NULL, &got, &n, &err));
        assert_int_equal(n, sizeof want / sizeof *want);
        for (size_t i = 0; i < n; i++) {
            assert_slice(gf_slice_of(text + got[i].start, got[i].length), want[i].bytes);
            assert_int_equal(got[i].flags, want[i].flags);
            assert_int_equal(got[i].term,
                             want[i].term
                                 ? gf_vocabulary_find(&f.x.vocabulary, gf_slice_str(want[i].term))
                                 : GF_TERM_NONE);
        }
    }
    assert_ok(gf_transformer_sequence(t, GF_SLICE(""), NULL, &got, &n, &err));
    assert_int_equal(n, 0);
    gf_transformer_free(t);
    gf_vectors_release(&f.x);
}

/* Beyond its bound it forgets what it met, and gives the same rows. */
static void forgets_and_goes_on(void **state)
{
    (void)state;
    gf_error err;
    fixture f = make();
    gf_transformer *t;
    gf_buffer text = {0};
    gf_row_view row;
    assert_ok(gf_transformer_create(&f.options, &f.x.vocabulary, &t, &err));
    for (unsigned i = 0, next = 0; i < 6; i++) {
        gf_buffer_reset(&text);
        for (unsigned k = 0; k < 300000; k++)
            gf_buffer_format(&text, "w%xq ", next++);
        gf_buffer_str(&text, "apple");
        assert_ok(gf_transformer_row(t, gf_buffer_view(&text), NULL, &row, NULL, &err));
        assert_int_equal(row.n, 1);
        expect_row(t, &f, "An unknown apple and a pie", GF_ROW_PLAIN, "appl 707, pie 707");
    }
    gf_buffer_release(&text);
    gf_transformer_free(t);
    gf_vectors_release(&f.x);
}

static void refuses_another_idf(void **state)
{
    (void)state;
    gf_error err;
    fixture f = make();
    gf_transformer *t = NULL;
    f.options.weights.idf = GF_IDF_SMOOTH;
    assert_status(GF_EINVAL, gf_transformer_create(&f.options, &f.x.vocabulary, &t, &err));
    f.options.weights.idf = GF_IDF_LOG;
    f.options.analysis.ngrams_min = 0;
    assert_status(GF_EINVAL, gf_transformer_create(&f.options, &f.x.vocabulary, &t, &err));
    assert_null(t);
    gf_transformer_free(NULL);
    gf_vectors_release(&f.x);
}

static gf_status transform(void *context, gf_error *err)
{
    const fixture *f = context;
    gf_transformer *t = NULL;
    gf_row_view row;
    const gf_sequence_token *tokens;
    size_t n;
    gf_buffer text = {0};
    for (int i = 0; i < 300; i++)
        gf_buffer_format(&text, "word%d apple ", i);
    gf_status st = gf_buffer_check(&text, err);
    if (st == GF_OK) st = gf_transformer_create(&f->options, &f->x.vocabulary, &t, err);
    for (int twice = 0; twice < 2 && st == GF_OK; twice++)
        st = gf_transformer_row(t, gf_buffer_view(&text), NULL, &row, NULL, err);
    if (st == GF_OK) st = gf_transformer_sequence(t, gf_buffer_view(&text), NULL, &tokens, &n, err);
    gf_transformer_free(t);
    gf_buffer_release(&text);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    fixture f = make();
    gf_test_sweep(transform, NULL, &f);
    gf_vectors_release(&f.x);
}

/* An analyser that has met words, those of other texts too, gives the rows of a new one. */
/* ---- a group --------------------------------------------------------------------------------- */

enum { GROUP = 4, MADE = 3000 };

typedef struct group_work {
    gf_transformer *group[GROUP];
    const gf_text *texts;
    const gf_csr *rows;
} group_work;

static gf_status compare_row(void *context, size_t i, unsigned worker, gf_error *err)
{
    const group_work *g = context;
    gf_row_view got, want = gf_csr_row(g->rows, (uint32_t)i);
    gf_status st = gf_transformer_row(g->group[worker], g->texts[i].text, NULL, &got, NULL, err);
    if (st != GF_OK) return st;
    assert_int_equal(got.n, want.n);
    assert_memory_equal(got.col, want.col, want.n * sizeof *want.col);
    assert_memory_equal(got.val, want.val, want.n * sizeof *want.val);
    return GF_OK;
}

/* Rows by several threads at once are the vectorizer's, the first time and when all is known. */
static void a_group_gives_the_same_rows(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    static size_t start[MADE + 1];
    static gf_text made[MADE];
    gf_buffer bytes = {0};
    gf_vectorizer *v;
    gf_vectors x;
    gf_pool *pool;
    group_work g = {.texts = made};
    for (size_t i = 0; i < MADE; i++) {
        start[i] = bytes.len;
        for (uint64_t n = gf_random_below(&r, 60); n > 0; n--)
            gf_buffer_format(&bytes, "%s%uings ", n % 3 ? "w" : "a longer Word ",
                             (unsigned)(9000 * gf_random_unit(&r) * gf_random_unit(&r)));
    }
    start[MADE] = bytes.len;
    for (size_t i = 0; i < MADE; i++)
        made[i] = (gf_text){gf_slice_of(bytes.ptr + start[i], start[i + 1] - start[i]), NULL};
    o.analysis.language = gf_language_find(GF_SLICE("english"));
    o.analysis.ngrams_max = 2;
    assert_ok(gf_vectorizer_create(&o, NULL, &v, &err));
    assert_ok(gf_vectorizer_add(v, made, MADE, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, &x, NULL, &err));
    gf_vectorizer_free(v);
    g.rows = &x.x;
    assert_ok(gf_pool_create(GROUP, &pool, &err));
    assert_ok(gf_transformer_create_group(&o, &x.vocabulary, GROUP, g.group, &err));
    for (int round = 0; round < 3; round++) {
        assert_ok(gf_pool_run(pool, MADE, compare_row, &g, NULL, &err));
        assert_ok(gf_transformer_bound_group(g.group, GROUP, &err));
    }
    /* more words than a group remembers: it begins anew, and goes on */
    for (unsigned from = 0; from < 1100000; from += 100000) {
        gf_row_view row;
        gf_buffer_reset(&bytes);
        for (unsigned i = from; i < from + 100000; i++)
            gf_buffer_format(&bytes, "n%uq ", i);
        assert_ok(gf_transformer_row(g.group[from / 100000 % GROUP], gf_buffer_view(&bytes), NULL,
                                     &row, NULL, &err));
        assert_ok(gf_transformer_bound_group(g.group, GROUP, &err));
    }
    gf_row_view row;
    assert_ok(gf_transformer_row(g.group[1], GF_SLICE("w1ings w2ings"), NULL, &row, NULL, &err));
    assert_true(row.n >= 2);
    for (unsigned i = 0; i < GROUP; i++)
        gf_transformer_free(g.group[i]);
    gf_pool_free(pool);
    gf_vectors_release(&x);
    gf_buffer_release(&bytes);
}

static gf_status make_group(void *context, gf_error *err)
{
    const fixture *f = context;
    gf_transformer *group[3] = {NULL};
    gf_row_view row;
    gf_status st = gf_transformer_create_group(&f->options, &f->x.vocabulary, 3, group, err);
    if (st != GF_OK) assert_true(!group[0] && !group[1] && !group[2]);
    for (unsigned i = 0; i < 3 && st == GF_OK; i++)
        st = gf_transformer_row(group[i], GF_SLICE("apple pies and more"), NULL, &row, NULL, err);
    for (unsigned i = 0; i < 3; i++)
        gf_transformer_free(group[i]);
    return st;
}

static void a_group_reports_failed_allocations(void **state)
{
    (void)state;
    fixture f = make();
    gf_test_sweep(make_group, NULL, &f);
    gf_vectors_release(&f.x);
}

static void borrows_an_analyser(void **state)
{
    (void)state;
    gf_error err;
    fixture f = make();
    gf_vectorizer *v;
    gf_transformer *own, *borrowing;
    gf_text other = {GF_SLICE("entirely different words, cats and a dog"), NULL};
    assert_ok(gf_vectorizer_create(&f.options, NULL, &v, &err));
    assert_null(gf_vectorizer_take_analyser(v)); /* none has begun */
    assert_ok(gf_vectorizer_add(v, &other, 1, NULL, &err));
    gf_analyser *analyser = gf_vectorizer_take_analyser(v);
    assert_non_null(analyser);
    assert_status(GF_EINVAL, gf_vectorizer_add(v, &other, 1, NULL, &err));
    gf_vectorizer_free(v);
    assert_ok(gf_transformer_create(&f.options, &f.x.vocabulary, &own, &err));
    assert_ok(gf_transformer_create(&f.options, &f.x.vocabulary, &borrowing, &err));
    gf_transformer_borrow(borrowing, analyser);
    for (size_t i = 0; i <= TEXTS; i++) {
        gf_slice text = i < TEXTS ? gf_slice_str(texts[i]) : other.text;
        const gf_sequence_token *a, *b;
        size_t n, m;
        gf_row_view x, y;
        assert_ok(gf_transformer_row(own, text, NULL, &x, NULL, &err));
        assert_ok(gf_transformer_row(borrowing, text, NULL, &y, NULL, &err));
        assert_int_equal(x.n, y.n);
        assert_memory_equal(x.col, y.col, x.n * sizeof *x.col);
        assert_memory_equal(x.val, y.val, x.n * sizeof *x.val);
        assert_ok(gf_transformer_sequence(own, text, NULL, &a, &n, &err));
        assert_ok(gf_transformer_sequence(borrowing, text, NULL, &b, &m, &err));
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n * sizeof *a);
    }
    gf_transformer_free(own);
    gf_transformer_free(borrowing);
    gf_analyser_free(analyser);
    gf_vectors_release(&f.x);
}

static gf_status keep_texts(void *context, gf_error *err)
{
    const fixture *f = context;
    gf_vectorizer *v = NULL;
    gf_status st = gf_vectorizer_create(&f->options, NULL, &v, err);
    if (st != GF_OK) return st;
    gf_vectorizer_keep_tokens(v, SIZE_MAX);
    for (size_t i = 0; i < TEXTS && st == GF_OK; i++)
        st = gf_vectorizer_add(v, &(gf_text){gf_slice_str(texts[i]), NULL}, 1, NULL, err);
    gf_vectorizer_free(v);
    return st;
}

/* The words of texts that were counted, with and without room for all of them. */
static void finds_kept_words(void **state)
{
    (void)state;
    gf_error err;
    fixture f = make();
    size_t all = 0;
    for (int round = 0; round < 2; round++) {
        gf_vectorizer *v;
        gf_transformer *own, *borrowing;
        const gf_sequence_token *a, *b;
        size_t n, m, sum = 0;
        bool kept;
        assert_ok(gf_vectorizer_create(&f.options, NULL, &v, &err));
        gf_vectorizer_keep_tokens(v, round == 0 ? 1000 : all - 1);
        for (size_t i = 0; i < TEXTS; i++)
            assert_ok(
                gf_vectorizer_add(v, &(gf_text){gf_slice_str(texts[i]), NULL}, 1, NULL, &err));
        gf_analyser *analyser = gf_vectorizer_take_analyser(v);
        gf_vectorizer_free(v);
        assert_ok(gf_transformer_create(&f.options, &f.x.vocabulary, &own, &err));
        assert_ok(gf_transformer_create(&f.options, &f.x.vocabulary, &borrowing, &err));
        gf_transformer_borrow(borrowing, analyser);
        /* What is analysed from now on is not kept, and moves nothing that is. */
        assert_ok(gf_transformer_sequence(borrowing, GF_SLICE("other words"), NULL, &b, &m, &err));
        for (size_t i = 0; i < TEXTS; i++) {
            assert_ok(gf_transformer_sequence_kept(borrowing, i, &kept, &b, &m, &err));
            assert_true(kept == (round == 0));
            if (!kept) continue;
            assert_ok(gf_transformer_sequence(own, gf_slice_str(texts[i]), NULL, &a, &n, &err));
            assert_int_equal(n, m);
            assert_memory_equal(a, b, n * sizeof *a);
            sum += n;
        }
        assert_ok(gf_transformer_sequence_kept(borrowing, TEXTS, &kept, &b, &m, &err));
        assert_false(kept);
        assert_ok(gf_transformer_sequence_kept(own, 0, &kept, &b, &m, &err));
        assert_false(kept);
        if (round == 0) all = sum;
        gf_transformer_free(own);
        gf_transformer_free(borrowing);
        gf_analyser_free(analyser);
    }
    assert_true(all > TEXTS);
    gf_test_sweep(keep_texts, NULL, &f);
    gf_vectors_release(&f.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borrows_an_analyser),
        cmocka_unit_test(finds_kept_words),
        cmocka_unit_test(a_group_gives_the_same_rows),
        cmocka_unit_test(a_group_reports_failed_allocations),
        cmocka_unit_test(makes_rows),
        cmocka_unit_test(rescues_at_idf_1),
        cmocka_unit_test(lists_tokens),
        cmocka_unit_test(forgets_and_goes_on),
        cmocka_unit_test(refuses_another_idf),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("transformer", tests, NULL, NULL);
}
