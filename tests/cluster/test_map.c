#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/map/map.h"
#include "cluster/map/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of planted groups, their clusters and the centres of these. */
typedef struct planted {
    gf_csr x, centres;
    uint32_t *group;
    uint32_t n, k;
} planted;

static planted plant(uint32_t n, uint32_t k, gf_random *random)
{
    gf_error err;
    planted p = {.n = n, .k = k, .group = gf_array(n, sizeof *p.group)};
    p.x = rows_planted(n, k, 2, random, p.group);
    double *sum = rows_dense_sums(&p.x, NULL, p.group, k);
    assert_ok(gf_csr_init(&p.centres, k, p.x.n_cols, (uint64_t)k * p.x.n_cols, &err));
    uint64_t at = 0;
    for (uint32_t c = 0; c < k; c++) {
        const double *own = sum + (size_t)c * p.x.n_cols;
        double length = rows_length(own, p.x.n_cols);
        for (uint32_t t = 0; t < p.x.n_cols; t++) {
            if (own[t] == 0) continue;
            p.centres.col[at] = t;
            p.centres.val[at++] = (float)(own[t] / length);
        }
        p.centres.start[c + 1] = at;
    }
    gf_free(sum);
    return p;
}

static void uproot(planted *p)
{
    gf_csr_release(&p->x);
    gf_csr_release(&p->centres);
    gf_free(p->group);
}

static gf_map_place *lay_out(const planted *p, unsigned threads, unsigned sweeps,
                             gf_map_place *of_cluster)
{
    gf_error err;
    gf_pool *pool;
    gf_map_place *place = gf_array((size_t)p->x.n_rows + 1, sizeof *place);
    assert_ok(gf_pool_create(threads, &pool, &err));
    assert_ok(
        gf_map_lay_out(pool, &p->x, p->group, &p->centres, sweeps, NULL, place, of_cluster, &err));
    gf_pool_free(pool);
    return place;
}

static double square_between(gf_map_place a, gf_map_place b)
{
    double x = (double)a.x - (double)b.x, y = (double)a.y - (double)b.y;
    return x * x + y * y;
}

/* ---- the field: against all pairs -------------------------------------------------------------- */

static void the_field_is_that_of_all_pairs(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    static const float wide[] = {4, 40, 110};
    static const double bound[] = {.02, .2, .35};
    for (size_t w = 0; w < 3; w++) {
        enum { N = 600 };
        gf_map_place place[N], push[N];
        gf_map_field *field;
        gf_error err;
        double total, expected = 0, wrong = 0, all = 0;
        for (uint32_t i = 0; i < N; i++)
            place[i] = (gf_map_place){wide[w] * (float)gf_random_unit(&random),
                                      wide[w] * (float)gf_random_unit(&random)};
        assert_ok(gf_map_field_create(&field, &err));
        assert_ok(gf_map_field_work_out(field, NULL, place, N, push, &total, NULL, &err));
        for (uint32_t i = 0; i < N; i++) {
            double x = 0, y = 0;
            for (uint32_t j = 0; j < N; j++) {
                double near = 1 / (1 + square_between(place[i], place[j]));
                if (j == i) continue;
                expected += near;
                x += near * near * ((double)place[i].x - (double)place[j].x);
                y += near * near * ((double)place[i].y - (double)place[j].y);
            }
            wrong += ((double)push[i].x - x) * ((double)push[i].x - x) +
                     ((double)push[i].y - y) * ((double)push[i].y - y);
            all += x * x + y * y;
        }
        /* Nodes smooth what is nearer than they: of points far apart little else is felt. */
        assert_true(fabs(total - expected) < bound[w] * expected);
        assert_true(sqrt(wrong / all) < bound[w]);
        gf_map_field_free(field);
    }
}

/* ---- neighbours: against all pairs ------------------------------------------------------------- */

static void neighbours_of_few_rows_are_exact(void **state)
{
    (void)state;
    enum { N = 300, MOST = 5 };
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr x = rows_random(N, 40, 12, &random);
    uint32_t row[N], near[N * MOST];
    gf_error err;
    for (uint32_t i = 0; i < N; i++)
        row[i] = N - 1 - i;
    assert_ok(gf_map_find_neighbours(NULL, &x, row, N, MOST, NULL, near, &err));
    for (uint32_t i = 0; i < N; i++) {
        uint32_t sharing = 0, given = 0;
        double last = 2;
        for (uint32_t e = 0; e < MOST; e++) {
            uint32_t j = near[i * MOST + e];
            if (j == GF_MAP_NONE) break;
            double cosine = gf_csr_row_dot(gf_csr_row(&x, row[i]), gf_csr_row(&x, row[j]));
            assert_true(j != i && cosine <= last + 1e-6);
            last = cosine;
            given++;
        }
        uint32_t nearer = 0;
        for (uint32_t j = 0; j < N; j++) {
            double cosine = gf_csr_row_dot(gf_csr_row(&x, row[i]), gf_csr_row(&x, row[j]));
            if (j == i) continue;
            sharing += cosine > 0;
            nearer += cosine > last + 1e-6;
        }
        assert_int_equal(given, sharing < MOST ? sharing : MOST);
        assert_true(given < MOST || nearer < MOST);
    }
    gf_csr_release(&x);
}

/* What rows share may vanish in single precision, or be negative: a neighbour is listed once all the same. */
static void vanishing_products_are_met_once(void **state)
{
    (void)state;
    enum { N = 3, SHARED = 12, COLUMNS = N + SHARED, MOST = 5 };
    float values[N * COLUMNS] = {0};
    uint32_t row[N] = {0, 1, 2}, near[N * MOST];
    gf_error err;
    for (uint32_t i = 0; i < N; i++) {
        values[i * COLUMNS + i] = 1;
        for (uint32_t c = N; c < COLUMNS; c++)
            values[i * COLUMNS + c] = i == 2 && c % 2 ? -1 : 1;
    }
    gf_csr x = rows_by_hand(values, N, COLUMNS);
    for (uint64_t e = 0; e < x.start[N]; e++)
        x.val[e] *= x.col[e] < N ? 1 : 1e-25f;
    assert_ok(gf_map_find_neighbours(NULL, &x, row, N, MOST, NULL, near, &err));
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t *of = near + i * MOST;
        assert_true(of[0] < N && of[1] < N && of[0] != of[1] && of[0] != i && of[1] != i);
        assert_int_equal(of[2], GF_MAP_NONE);
    }
    gf_csr_release(&x);
}

/* ---- maps -------------------------------------------------------------------------------------- */

static void groups_lie_together(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    planted p = plant(900, 6, &random);
    gf_map_place middle[6];
    gf_map_place *place = lay_out(&p, 2, 0, middle);
    uint32_t at_home = 0;
    double square = 0;
    for (uint32_t i = 0; i < p.n; i++) {
        uint32_t nearest = i ? 0 : 1;
        for (uint32_t j = 0; j < p.n; j++)
            if (j != i &&
                square_between(place[i], place[j]) < square_between(place[i], place[nearest]))
                nearest = j;
        at_home += p.group[nearest] == p.group[i];
        square += square_between(place[i], (gf_map_place){0, 0}) / p.n;
    }
    assert_true(at_home > p.n * 9 / 10);
    assert_true(fabs(square - 1) < 1e-3);
    for (uint32_t c = 0; c < p.k; c++)
        assert_true(square_between(middle[c], (gf_map_place){0, 0}) < 9);
    gf_free(place);
    uproot(&p);
}

static void threads_lay_out_alike(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    planted p = plant(3000, 9, &random);
    gf_map_place *one = lay_out(&p, 1, 20, NULL);
    for (unsigned threads = 2; threads < 6; threads += 3) {
        gf_map_place *several = lay_out(&p, threads, 20, NULL);
        assert_memory_equal(one, several, p.n * sizeof *one);
        gf_free(several);
    }
    gf_free(one);
    uproot(&p);
}

static void rows_without_terms_have_no_place(void **state)
{
    (void)state;
    static const float values[] = {1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0};
    gf_csr x = rows_by_hand(values, 4, 3), centres = rows_by_hand(values, 1, 3);
    uint32_t cluster[] = {0, 7, 7, 0}; /* there is no cluster 7: in none */
    gf_map_place place[4], middle;
    gf_error err;
    assert_ok(gf_map_lay_out(NULL, &x, cluster, &centres, 0, NULL, place, &middle, &err));
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(isnan(place[i].x) && isnan(place[i].y), i == 1);
    assert_true(isfinite(middle.x));
    gf_csr_release(&x);
    gf_csr_release(&centres);
}

static void the_smallest_maps(void **state)
{
    (void)state;
    static const float values[] = {1, 0, 0, 1};
    gf_error err;
    gf_pool *pool;
    assert_ok(gf_pool_create(2, &pool, &err));
    for (uint32_t n = 0; n < 3; n++)
        for (uint32_t k = 0; k < 3; k++) {
            gf_csr x = rows_by_hand(values, n, 2), centres = rows_by_hand(values, k, 2);
            uint32_t cluster[] = {0, 1};
            gf_map_place place[3];
            assert_ok(gf_map_lay_out(pool, &x, cluster, &centres, 0, NULL, place, NULL, &err));
            for (uint32_t i = 0; i < n; i++)
                assert_true(isfinite(place[i].x) && isfinite(place[i].y));
            gf_csr_release(&x);
            gf_csr_release(&centres);
        }
    gf_pool_free(pool);
}

/* Many copies of a text are one knot, and end no sweep. */
static void copies_lie_together(void **state)
{
    (void)state;
    enum { N = 400 };
    float *values = gf_calloc(N * 4, sizeof *values);
    uint32_t cluster[N];
    gf_error err;
    for (uint32_t i = 0; i < N; i++) {
        values[i * 4 + (i % 2 ? 0 : 2)] = 1;
        cluster[i] = i % 2;
    }
    gf_csr x = rows_by_hand(values, N, 4);
    static const float middles[] = {0, 0, 1, 0, 1, 0, 0, 0};
    gf_csr centres = rows_by_hand(middles, 2, 4);
    gf_map_place place[N];
    assert_ok(gf_map_lay_out(NULL, &x, cluster, &centres, 0, NULL, place, NULL, &err));
    for (uint32_t i = 2; i < N; i++)
        assert_true(square_between(place[i], place[i % 2]) <
                    square_between(place[i], place[1 - i % 2]));
    gf_csr_release(&x);
    gf_csr_release(&centres);
    gf_free(values);
}

static void a_cancel_ends_it(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    planted p = plant(200, 3, &random);
    gf_cancel cancel = {0};
    gf_map_place place[200];
    gf_error err;
    gf_cancel_request(&cancel);
    assert_int_equal(gf_map_lay_out(NULL, &p.x, p.group, &p.centres, 0, &cancel, place, NULL, &err),
                     GF_ECANCELLED);
    uproot(&p);
}

static gf_status lay_swept(void *context, gf_error *err)
{
    const planted *p = context;
    gf_map_place place[60];
    return gf_map_lay_out(NULL, &p->x, p->group, &p->centres, 2, NULL, place, NULL, err);
}

static void a_failed_allocation_is_told(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 5);
    planted p = plant(60, 3, &random);
    gf_test_sweep(lay_swept, NULL, &p);
    uproot(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_field_is_that_of_all_pairs),
        cmocka_unit_test(neighbours_of_few_rows_are_exact),
        cmocka_unit_test(vanishing_products_are_met_once),
        cmocka_unit_test(groups_lie_together),
        cmocka_unit_test(threads_lay_out_alike),
        cmocka_unit_test(rows_without_terms_have_no_place),
        cmocka_unit_test(the_smallest_maps),
        cmocka_unit_test(copies_lie_together),
        cmocka_unit_test(a_cancel_ends_it),
        cmocka_unit_test(a_failed_allocation_is_told),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
