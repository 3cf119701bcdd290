/* Rows that lie in a file are those that would lie in memory, byte for byte. */
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/row_file.h"
#include "vectorize/rows/vectorizer.h"

#include <string.h>

enum { TEXTS = 3000 };

typedef struct made {
    gf_buffer bytes;
    gf_text texts[TEXTS];
} made;

/* Mostly rare words; some texts have none, some one word of their own, one is long. */
static void make(made *m, gf_random *random)
{
    size_t start[TEXTS + 1];
    m->bytes = (gf_buffer){0};
    for (size_t i = 0; i < TEXTS; i++) {
        start[i] = m->bytes.len;
        uint64_t words = i == 17 ? 100000 : gf_random_below(random, 30);
        for (uint64_t w = 0; w < words; w++) {
            double u = gf_random_unit(random);
            gf_buffer_format(&m->bytes, "w%u ", (unsigned)(5000 * u * u * u));
        }
        if (i % 100 == 3) gf_buffer_format(&m->bytes, "lonely%zu", i);
    }
    start[TEXTS] = m->bytes.len;
    for (size_t i = 0; i < TEXTS; i++)
        m->texts[i] =
            (gf_text){gf_slice_of(m->bytes.ptr + start[i], start[i + 1] - start[i]), NULL};
}

static gf_status vectorize(const made *m, unsigned threads, const char *folder, size_t group,
                           gf_vectors *out, gf_error *err)
{
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_pool *pool = NULL;
    gf_vectorizer *v = NULL;
    gf_status st = gf_pool_create(threads, &pool, err);
    if (st == GF_OK) st = gf_vectorizer_create(&o, pool, &v, err);
    if (st == GF_OK && folder) st = gf_vectorizer_spill(v, folder, err);
    for (size_t i = 0; i < TEXTS && st == GF_OK; i += group)
        st = gf_vectorizer_add(v, m->texts + i, i + group < TEXTS ? group : TEXTS - i, NULL, err);
    if (st == GF_OK) st = gf_vectorizer_finish(v, out, NULL, err);
    gf_vectorizer_free(v);
    gf_pool_free(pool);
    return st;
}

static void assert_same(const gf_vectors *a, const gf_vectors *b)
{
    gf_error err;
    gf_csr x;
    uint32_t n = a->x.n_rows;
    assert_int_equal(n, b->x.n_rows);
    assert_int_equal(a->n_rescued, b->n_rescued);
    assert_int_equal(a->n_empty, b->n_empty);
    assert_memory_equal(a->kind, b->kind, n);
    assert_memory_equal(a->x.start, b->x.start, (n + 1) * sizeof *a->x.start);
    gf_buffer va = {0}, vb = {0};
    gf_vocabulary_write(&a->vocabulary, &va);
    gf_vocabulary_write(&b->vocabulary, &vb);
    assert_int_equal(va.len, vb.len);
    assert_memory_equal(va.ptr, vb.ptr, va.len);
    assert_non_null(b->entries);
    assert_null(b->x.col);
    gf_row_file f = {n, b->x.n_cols, b->x.start, b->x.start[n], b->entries};
    assert_ok(gf_row_file_read(&f, 0, n, &x, &err));
    assert_memory_equal(a->x.col, x.col, gf_csr_nnz(&x) * sizeof *x.col);
    assert_memory_equal(a->x.val, x.val, gf_csr_nnz(&x) * sizeof *x.val);
    gf_csr_release(&x);
    gf_buffer_release(&va);
    gf_buffer_release(&vb);
}

static void test_same_rows(void **state)
{
    (void)state;
    static made m;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    make(&m, &random);
    gf_vectors kept, spilled;
    assert_ok(vectorize(&m, 1, NULL, TEXTS, &kept, &err));
    assert_true(kept.n_rescued > 0 && kept.n_empty > 0);
    for (unsigned threads = 1; threads <= 3; threads++) {
        for (size_t group = 1; group <= TEXTS; group = group * 37 + 3) {
            assert_ok(vectorize(&m, threads, gf_test_folder(), group, &spilled, &err));
            assert_same(&kept, &spilled);
            gf_vectors_release(&spilled);
        }
    }
    gf_vectors_release(&kept);
    assert_status(GF_EIO, vectorize(&m, 1, "/no/such/folder", TEXTS, &kept, &err));
    gf_buffer_release(&m.bytes);
}

static made few;

static gf_status vectorize_few(void *context, gf_error *err)
{
    gf_vectors x = {0};
    gf_status st = vectorize(&few, 1, context, TEXTS, &x, err);
    gf_vectors_release(&x);
    return st;
}

static void test_sweep(void **state)
{
    (void)state;
    const char *words[] = {"alpha beta beta", "beta gamma", "", "the"};
    for (size_t i = 0; i < TEXTS; i++)
        few.texts[i] = (gf_text){gf_slice_str(words[i < 4 ? i : 2]), NULL};
    gf_test_sweep(vectorize_few, NULL, (void *)gf_test_folder());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_rows),
                                       cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
