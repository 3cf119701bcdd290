#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "cluster/measure/quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The example of Manning, Raghavan & Schuetze, Introduction to Information Retrieval, figure 16.4,
 * with x = 0, o = 1 and d = 2: purity 0.71, NMI 0.36; TP 20, FP 20, FN 24, TN 72 pairs.
 */
static const uint32_t book_clusters[] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3};
static const uint32_t book_classes[] = {0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 2, 0, 0, 2, 2, 2};

static void agrees_with_the_book(void **state)
{
    (void)state;
    gf_error err;
    gf_quality q;
    assert_ok(gf_quality_compare(book_clusters, book_classes, 17, &q, &err));
    assert_near(q.purity, 12.0 / 17, 1e-15);
    assert_near(q.nmi, 0.36, 0.005);
    assert_near(q.ari, 2.0 * (20 * 72 - 20 * 24) / (44 * 96 + 40 * 92), 1e-15);
    const uint32_t start[] = {0, 3, 5, 7}, label[] = {1, 2, 3}, size[] = {6, 6, 5};
    const uint32_t cluster[] = {0, 1, 2, 0, 1, 1, 2}, count[] = {5, 1, 2, 1, 4, 1, 3};
    assert_int_equal(q.n, 17);
    assert_int_equal(q.n_classes, 3);
    assert_int_equal(q.n_clusters, 3);
    assert_memory_equal(q.start, start, sizeof start);
    assert_memory_equal(q.cluster_label, label, sizeof label);
    assert_memory_equal(q.cluster_size, size, sizeof size);
    assert_memory_equal(q.cell_cluster, cluster, sizeof cluster);
    assert_memory_equal(q.cell_count, count, sizeof count);
    const gf_quality_class *x = &q.classes[0], *d = &q.classes[2];
    assert_true(x->label == 0 && x->size == 8 && x->cluster == 1 && x->both == 5);
    assert_near(x->recall, 5.0 / 8, 0);
    assert_near(x->precision, 5.0 / 6, 0);
    assert_near(x->f1, 2 * 0.625 * (5.0 / 6) / (0.625 + 5.0 / 6), 1e-15);
    assert_true(d->label == 2 && d->size == 4 && d->cluster == 3 && d->both == 3);
    gf_quality_release(&q);
    assert_null(q.classes);
    gf_quality_release(&q);
}

/* Class 5 lies in equal parts in clusters 9, 2 and 4: the smaller ones hold it better, 2 is first.
 */
static void ties_go_to_the_smaller_cluster(void **state)
{
    (void)state;
    gf_error err;
    gf_quality q;
    const uint32_t classes[] = {5, 5, 5, 5, 5, 5, 6, 6, 7},
                   clusters[] = {9, 9, 4, 4, 2, 2, 9, 2, 4};
    assert_ok(gf_quality_compare(clusters, classes, 9, &q, &err));
    assert_int_equal(q.classes[0].cluster, 2);
    assert_int_equal(q.classes[0].both, 2);
    assert_near(q.classes[0].precision, 2.0 / 3, 0);
    gf_quality_release(&q);
    assert_ok(gf_quality_compare(clusters, classes, 7, &q, &err));
    assert_int_equal(q.classes[0].cluster, 2);
    assert_near(q.classes[0].precision, 1, 0);
    gf_quality_release(&q);
}

static void check_measures(const gf_quality *q, const double expected[6], double bound)
{
    assert_near(q->nmi, expected[0], bound);
    assert_near(q->ari, expected[1], bound);
    assert_near(q->homogeneity, expected[2], bound);
    assert_near(q->completeness, expected[3], bound);
    assert_near(q->v_measure, expected[4], bound);
    assert_near(q->purity, expected[5], bound);
}

enum { MOST = 1000 };

static uint32_t read_labels(const char *name, uint32_t *clusters, uint32_t *classes)
{
    char path[128];
    snprintf(path, sizeof path, "tests/cluster/data/quality/%s.labels", name);
    gf_buffer file = {0};
    gf_test_read_source(path, &file);
    const char *at = gf_buffer_cstr(&file);
    uint32_t n = 0;
    for (char *end; *at; at = end + 1, n++) {
        assert_true(n < MOST);
        clusters[n] = (uint32_t)strtoul(at, &end, 10);
        classes[n] = (uint32_t)strtoul(end, &end, 10);
        assert_int_equal(*end, '\n');
    }
    gf_buffer_release(&file);
    return n;
}

/* Results of scikit-learn for the label files; data/quality.py made both. */
static void agrees_with_scikit_learn(void **state)
{
    (void)state;
    gf_error err;
    static uint32_t clusters[MOST], classes[MOST];
    gf_buffer file = {0};
    gf_test_read_source("tests/cluster/data/quality/expected.txt", &file);
    gf_slice rest = gf_buffer_view(&file), line;
    int cases = 0;
    while (gf_test_next_line(&rest, &line)) {
        char text[256], name[64];
        double v[6];
        snprintf(text, sizeof text, "%.*s", GF_SLICE_ARG(line));
        if (text[0] == '#') continue;
        assert_int_equal(sscanf(text, "%63s %lf %lf %lf %lf %lf %lf", name, &v[0], &v[1], &v[2],
                                &v[3], &v[4], &v[5]),
                         7);
        uint32_t n = read_labels(name, clusters, classes);
        gf_quality q;
        assert_ok(gf_quality_compare(clusters, classes, n, &q, &err));
        check_measures(&q, v, 1e-9);
        gf_quality_release(&q);
        cases++;
    }
    assert_int_equal(cases, 18);
    gf_buffer_release(&file);
}

static void the_limits_are_defined(void **state)
{
    (void)state;
    gf_error err;
    gf_quality q;
    const double all_one[] = {1, 1, 1, 1, 1, 1}, one_class[] = {0, 0, 1, 0, 0, 1};
    const uint32_t far_apart[] = {0, UINT32_MAX}, same[] = {UINT32_MAX, UINT32_MAX};
    assert_ok(gf_quality_compare(NULL, NULL, 0, &q, &err));
    check_measures(&q, all_one, 0);
    assert_true(q.n == 0 && q.n_classes == 0 && q.n_clusters == 0 && q.start[0] == 0);
    gf_quality_release(&q);
    assert_ok(gf_quality_compare(same, far_apart, 1, &q, &err));
    check_measures(&q, all_one, 0);
    gf_quality_release(&q);
    assert_ok(gf_quality_compare(far_apart, same, 2, &q, &err));
    check_measures(&q, one_class, 0);
    assert_true(q.cluster_label[1] == UINT32_MAX && q.classes[0].label == UINT32_MAX);
    assert_true(q.classes[0].cluster == 0 && q.classes[0].both == 1);
    gf_quality_release(&q);
}

/* Labels that differ in one bit, of 32, are two labels. */
static void every_bit_of_a_label_counts(void **state)
{
    (void)state;
    gf_error err;
    for (int bit = 0; bit < 32; bit++) {
        const uint32_t one = (uint32_t)1 << bit, clusters[] = {0, one, 0, one, one};
        const uint32_t classes[] = {~one, UINT32_MAX, ~one, UINT32_MAX, ~one};
        gf_quality q;
        assert_ok(gf_quality_compare(clusters, classes, 5, &q, &err));
        assert_true(q.n_clusters == 2 && q.n_classes == 2 && q.start[2] == 3);
        assert_true(q.cluster_label[0] == 0 && q.cluster_label[1] == one);
        assert_true(q.classes[0].label == ~one && q.classes[0].size == 3);
        assert_true(q.classes[1].cluster == one && q.classes[1].both == 2);
        gf_quality_release(&q);
    }
}

/* ---- by definition: a dense table, every pair of documents, every base-2 logarithm ----------- */

enum { LABELS = 6, SMALL = 24 };

typedef struct counts {
    double n, cell[LABELS][LABELS], of_class[LABELS], of_cluster[LABELS];
} counts;

static counts count_all(const uint32_t *clusters, const uint32_t *classes, uint32_t n)
{
    counts t = {.n = n};
    for (uint32_t i = 0; i < n; i++) {
        t.cell[classes[i]][clusters[i]]++;
        t.of_class[classes[i]]++;
        t.of_cluster[clusters[i]]++;
    }
    return t;
}

static double entropy(const double *size, double n)
{
    double h = 0;
    for (int i = 0; i < LABELS; i++)
        if (size[i] > 0) h -= size[i] / n * log2(size[i] / n);
    return h;
}

static double information(const counts *t)
{
    double joint = 0;
    for (int c = 0; c < LABELS; c++)
        joint += entropy(t->cell[c], t->n);
    return entropy(t->of_class, t->n) + entropy(t->of_cluster, t->n) - joint;
}

/* Expected and largest number of pairs, as Hubert & Arabie write it: (index - mean) / (max - mean).
 */
static double adjusted_rand(const uint32_t *clusters, const uint32_t *classes, uint32_t n)
{
    double both = 0, in_class = 0, in_cluster = 0, all = n * (n - 1.0) / 2;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++) {
            both += clusters[i] == clusters[j] && classes[i] == classes[j];
            in_class += classes[i] == classes[j];
            in_cluster += clusters[i] == clusters[j];
        }
    if (all <= 0) return 1;
    double mean = in_class * in_cluster / all, most = (in_class + in_cluster) / 2;
    return most - mean > 1e-9 ? (both - mean) / (most - mean) : 1;
}

static double pure(const counts *t)
{
    double sum = 0;
    for (int k = 0; k < LABELS; k++) {
        double largest = 0;
        for (int c = 0; c < LABELS; c++)
            largest = fmax(largest, t->cell[c][k]);
        sum += largest;
    }
    return sum / t->n;
}

static double quotient(double part, double whole)
{
    return whole > 1e-12 ? part / whole : 1;
}

static void check_classes(const gf_quality *q, const counts *t)
{
    for (uint32_t c = 0; c < q->n_classes; c++) {
        const gf_quality_class *class = &q->classes[c];
        const double *cell = t->cell[class->label], *size = t->of_cluster;
        assert_true(c == 0 || class->label > class[-1].label);
        assert_near(class->size, t->of_class[class->label], 0);
        assert_near(class->both, cell[class->cluster], 0);
        for (uint32_t k = 0; k < LABELS; k++) {
            assert_true(cell[k] <= class->both);
            if (cell[k] < class->both || k == class->cluster) continue;
            assert_true(size[k] > size[class->cluster] ||
                        (size[k] >= size[class->cluster] && k > class->cluster));
        }
        double r = cell[class->cluster] / class->size, p = class->both / size[class->cluster];
        assert_near(class->recall, r, 1e-15);
        assert_near(class->precision, p, 1e-15);
        assert_near(class->f1, 2 * r * p / (r + p), 1e-14);
    }
}

static void check_table(const gf_quality *q, const counts *t)
{
    double sum = 0;
    for (uint32_t c = 0; c < q->n_classes; c++)
        for (uint32_t cell = q->start[c]; cell < q->start[c + 1]; cell++) {
            uint32_t k = q->cell_cluster[cell];
            assert_true(k < q->n_clusters && q->cell_count[cell] > 0);
            assert_true(cell == q->start[c] || k > q->cell_cluster[cell - 1]);
            assert_near(q->cell_count[cell], t->cell[q->classes[c].label][q->cluster_label[k]], 0);
            sum += q->cell_count[cell];
        }
    assert_near(sum, t->n, 0);
    for (uint32_t k = 0; k < q->n_clusters; k++)
        assert_near(q->cluster_size[k], t->of_cluster[q->cluster_label[k]], 0);
}

static void agrees_with_the_definitions(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_error err;
    for (int round = 0; round < 20000; round++) {
        uint32_t clusters[SMALL], classes[SMALL], n = 1 + (uint32_t)gf_random_below(&r, SMALL);
        uint64_t k = 1 + gf_random_below(&r, LABELS), c = 1 + gf_random_below(&r, LABELS);
        uint64_t copied = gf_random_below(&r, 4);
        for (uint32_t i = 0; i < n; i++) {
            classes[i] = (uint32_t)gf_random_below(&r, c);
            clusters[i] = (uint32_t)gf_random_below(&r, k);
            if (gf_random_below(&r, 3) < copied) clusters[i] = classes[i];
        }
        counts t = count_all(clusters, classes, n);
        double shared = information(&t), of_class = entropy(t.of_class, n);
        double of_cluster = entropy(t.of_cluster, n), h = quotient(shared, of_class);
        double complete = quotient(shared, of_cluster);
        double v = h + complete > 1e-12 ? 2 * h * complete / (h + complete) : 0;
        const double expected[] = {quotient(2 * shared, of_class + of_cluster),
                                   adjusted_rand(clusters, classes, n),
                                   h,
                                   complete,
                                   v,
                                   pure(&t)};
        gf_quality q;
        assert_ok(gf_quality_compare(clusters, classes, n, &q, &err));
        check_measures(&q, expected, 1e-12);
        check_table(&q, &t);
        check_classes(&q, &t);
        gf_quality_release(&q);
    }
}

/* ---- properties of larger inputs
 * ----------------------------------------------------------------- */

static uint32_t *labels(size_t n)
{
    uint32_t *p = gf_array(n, sizeof *p);
    assert_non_null(p);
    return p;
}

/* Other names and another order change nothing; swapped, homogeneity and completeness swap. */
static void names_and_order_do_not_matter(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_error err;
    enum { N = 5000 };
    uint32_t *clusters = labels(N), *classes = labels(N), name[64];
    for (int round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 64; i++)
            name[i] = (uint32_t)gf_random_u64(&r) << 6 | i;
        for (uint32_t i = 0; i < N; i++) {
            classes[i] = (uint32_t)gf_random_below(&r, 40);
            clusters[i] = (uint32_t)(classes[i] + gf_random_below(&r, 20)) % 64;
        }
        gf_quality before, after, swapped;
        assert_ok(gf_quality_compare(clusters, classes, N, &before, &err));
        assert_ok(gf_quality_compare(classes, clusters, N, &swapped, &err));
        for (uint32_t i = N; i-- > 0;) {
            uint32_t j = (uint32_t)gf_random_below(&r, i + 1), c = classes[j], k = clusters[j];
            classes[j] = classes[i];
            clusters[j] = clusters[i];
            classes[i] = name[63 - c];
            clusters[i] = name[k];
        }
        assert_ok(gf_quality_compare(clusters, classes, N, &after, &err));
        const double same[] = {before.nmi,          before.ari,       before.homogeneity,
                               before.completeness, before.v_measure, before.purity};
        check_measures(&after, same, 1e-12);
        const double other[] = {before.nmi,         before.ari,       before.completeness,
                                before.homogeneity, before.v_measure, swapped.purity};
        check_measures(&swapped, other, 1e-12);
        assert_int_equal(before.start[before.n_classes], swapped.start[swapped.n_classes]);
        gf_quality_release(&before);
        gf_quality_release(&after);
        gf_quality_release(&swapped);
    }
    gf_free(clusters);
    gf_free(classes);
}

/* As many clusters and classes as documents: a dense table would have 90 billion cells. */
static void memory_follows_the_cells(void **state)
{
    (void)state;
    gf_error err;
    gf_quality q;
    enum { N = 300000 };
    uint32_t *clusters = labels(N), *classes = labels(N);
    for (uint32_t i = 0; i < N; i++) {
        clusters[i] = i * 2654435761u;
        classes[i] = ~i;
    }
    assert_ok(gf_quality_compare(clusters, classes, N, &q, &err));
    const double all_one[] = {1, 1, 1, 1, 1, 1};
    check_measures(&q, all_one, 1e-12);
    assert_int_equal(q.n_clusters, N);
    assert_int_equal(q.start[q.n_classes], N);
    gf_quality_release(&q);
    gf_free(clusters);
    gf_free(classes);
}

static gf_quality untouched;

static gf_status compare_book(void *context, gf_error *err)
{
    gf_quality *q = context;
    gf_status st = gf_quality_compare(book_clusters, book_classes, 17, q, err);
    if (st == GF_OK) gf_quality_release(q);
    return st;
}

static void is_untouched(void *context)
{
    assert_memory_equal(context, &untouched, sizeof untouched);
}

static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    gf_quality q;
    memset(&untouched, 0x55, sizeof untouched);
    memcpy(&q, &untouched, sizeof q);
    gf_test_sweep(compare_book, is_untouched, &q);
    assert_status(GF_OK, gf_quality_compare(book_clusters, book_classes, 17, &q, NULL));
    gf_quality_release(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_book),
        cmocka_unit_test(ties_go_to_the_smaller_cluster),
        cmocka_unit_test(agrees_with_scikit_learn),
        cmocka_unit_test(the_limits_are_defined),
        cmocka_unit_test(every_bit_of_a_label_counts),
        cmocka_unit_test(agrees_with_the_definitions),
        cmocka_unit_test(names_and_order_do_not_matter),
        cmocka_unit_test(memory_follows_the_cells),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("quality", tests, NULL, NULL);
}
