#include "cluster/rows.h"

#include "support/test.h"

#include "base/grid.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

static void scale_to_unit(float *values, uint32_t n)
{
    double squares = 0;
    for (uint32_t p = 0; p < n; p++)
        squares += (double)values[p] * (double)values[p];
    for (uint32_t p = 0; p < n; p++)
        values[p] = gf_grid_round((double)values[p] / sqrt(squares));
}

static gf_csr make(uint32_t n, uint32_t n_cols, uint64_t nnz)
{
    gf_error err;
    gf_csr x;
    assert_ok(gf_csr_init(&x, n, n_cols, nnz, &err));
    return x;
}

/* Append to row i, which is the last that has been begun, what a dense row holds. */
static void take_dense(gf_csr *x, uint32_t i, const float *dense)
{
    uint64_t from = x->start[i], at = from;
    for (uint32_t t = 0; t < x->n_cols; t++) {
        if (dense[t] == 0) continue;
        x->col[at] = t;
        x->val[at++] = dense[t];
    }
    x->start[i + 1] = at;
    scale_to_unit(x->val + from, (uint32_t)(at - from));
}

gf_csr rows_by_hand(const float *values, uint32_t n, uint32_t n_cols)
{
    gf_csr x = make(n, n_cols, (uint64_t)n * n_cols);
    for (uint32_t i = 0; i < n; i++)
        take_dense(&x, i, values + (size_t)i * n_cols);
    return x;
}

gf_csr rows_random(uint32_t n, uint32_t n_cols, uint32_t most, gf_random *random)
{
    gf_csr x = make(n, n_cols, (uint64_t)n * most);
    float *dense = gf_array(n_cols, sizeof *dense);
    assert_non_null(dense);
    for (uint32_t i = 0; i < n; i++) {
        memset(dense, 0, n_cols * sizeof *dense);
        uint32_t terms = 1 + (uint32_t)gf_random_below(random, most);
        for (uint32_t p = 0; p < terms; p++) {
            double u = gf_random_unit(random);
            dense[(uint32_t)(u * u * n_cols)] = 0.1f + (float)gf_random_unit(random);
        }
        take_dense(&x, i, dense);
    }
    gf_free(dense);
    return x;
}

enum { OWN_COLUMNS = 16, OWN_TERMS = 8, SHARED_COLUMNS = 40 };

/* Weigh columns as terms are, by the logarithm of how rare they are. */
static void weigh_by_rarity(gf_csr *x)
{
    double *rows = gf_calloc(x->n_cols, sizeof *rows);
    assert_non_null(rows);
    for (uint64_t p = 0; p < gf_csr_nnz(x); p++)
        rows[x->col[p]]++;
    for (uint64_t p = 0; p < gf_csr_nnz(x); p++)
        x->val[p] *= (float)log(1 + x->n_rows / rows[x->col[p]]);
    for (uint32_t i = 0; i < x->n_rows; i++)
        scale_to_unit(x->val + x->start[i], gf_csr_row(x, i).n);
    gf_free(rows);
}

gf_csr rows_planted(uint32_t n, uint32_t groups, uint32_t noise, gf_random *random, uint32_t *group)
{
    uint32_t n_cols = groups * OWN_COLUMNS + SHARED_COLUMNS;
    gf_csr x = make(n, n_cols, (uint64_t)n * (OWN_TERMS + noise));
    float *dense = gf_array(n_cols, sizeof *dense);
    assert_non_null(dense);
    for (uint32_t i = 0; i < n; i++) {
        memset(dense, 0, n_cols * sizeof *dense);
        group[i] = (uint32_t)gf_random_below(random, groups);
        for (int p = 0; p < OWN_TERMS; p++) {
            uint32_t own = (uint32_t)gf_random_below(random, OWN_COLUMNS);
            dense[SHARED_COLUMNS + group[i] * OWN_COLUMNS + own] =
                0.5f + (float)gf_random_unit(random);
        }
        for (uint32_t p = 0; p < noise; p++)
            dense[gf_random_below(random, SHARED_COLUMNS)] = 0.5f + (float)gf_random_unit(random);
        take_dense(&x, i, dense);
    }
    gf_free(dense);
    weigh_by_rarity(&x);
    return x;
}

static void append_row(gf_csr *x, uint32_t i, gf_row_view row)
{
    uint64_t at = x->start[i];
    x->start[i + 1] = at + row.n;
    if (row.n == 0) return;
    memcpy(x->col + at, row.col, row.n * sizeof *row.col);
    memcpy(x->val + at, row.val, row.n * sizeof *row.val);
}

gf_csr rows_pick(const gf_csr *x, const uint32_t *from, uint32_t n)
{
    uint64_t nnz = 0;
    for (uint32_t i = 0; i < n; i++)
        nnz += gf_csr_row(x, from[i]).n;
    gf_csr y = make(n, x->n_cols, nnz);
    for (uint32_t i = 0; i < n; i++)
        append_row(&y, i, gf_csr_row(x, from[i]));
    return y;
}

gf_csr rows_with_empty(const gf_csr *x, uint32_t empty)
{
    gf_csr y = make(x->n_rows + empty, x->n_cols, gf_csr_nnz(x));
    for (uint32_t i = 0; i < y.n_rows; i++)
        append_row(&y, i, i < x->n_rows ? gf_csr_row(x, i) : (gf_row_view){0});
    return y;
}

gf_centres rows_as_centres(const gf_csr *x, uint32_t k, gf_random *random)
{
    gf_error err;
    gf_centres c;
    assert_ok(gf_centres_init(&c, k, x->n_cols, &err));
    for (uint32_t j = 0; j < k; j++) {
        uint32_t i = (uint32_t)gf_random_below(random, x->n_rows);
        assert_ok(gf_centres_set_row(&c, j, gf_csr_row(x, i), &err));
    }
    return c;
}

gf_centres rows_random_centres(const gf_csr *x, uint32_t k, gf_random *random)
{
    gf_error err;
    gf_centres c;
    gf_centre_summer *summer;
    gf_points points = {x, NULL};
    uint32_t *label = gf_array(x->n_rows, sizeof *label);
    assert_non_null(label);
    for (uint32_t i = 0; i < x->n_rows; i++)
        label[i] = i < k ? i : (uint32_t)gf_random_below(random, k);
    assert_ok(gf_centres_init(&c, k, x->n_cols, &err));
    assert_ok(gf_centre_summer_create(NULL, x->n_rows, x->n_cols, k, &summer, &err));
    assert_ok(gf_centre_summer_run(summer, &points, label, NULL, &c, NULL, NULL, &err));
    gf_centre_summer_free(summer);
    gf_free(label);
    return c;
}

double rows_bound(gf_row_view row, gf_row_view centre)
{
    double products = 0;
    for (uint32_t p = 0, q = 0; p < row.n && q < centre.n;) {
        if (row.col[p] == centre.col[q])
            products += fabs((double)row.val[p++] * (double)centre.val[q++]);
        else if (row.col[p] < centre.col[q])
            p++;
        else
            q++;
    }
    return row.n * 0x1p-23 * products;
}

double *rows_dense_sums(const gf_csr *x, const float *weight, const uint32_t *label, uint32_t k)
{
    double *sum = gf_calloc((size_t)k * x->n_cols, sizeof *sum);
    assert_non_null(sum);
    for (uint32_t i = 0; i < x->n_rows; i++) {
        gf_row_view row = gf_csr_row(x, i);
        double *to = sum + (size_t)label[i] * x->n_cols;
        for (uint32_t p = 0; p < row.n; p++)
            to[row.col[p]] += (weight ? (double)weight[i] : 1) * (double)row.val[p];
    }
    return sum;
}

double rows_length(const double *v, uint32_t n)
{
    double squares = 0;
    for (uint32_t t = 0; t < n; t++)
        squares += v[t] * v[t];
    return sqrt(squares);
}

double rows_objective(const gf_csr *x, const float *weight, const uint32_t *label, uint32_t k)
{
    double *sum = rows_dense_sums(x, weight, label, k), objective = 0;
    for (uint32_t j = 0; j < k; j++)
        objective += rows_length(sum + (size_t)j * x->n_cols, x->n_cols);
    gf_free(sum);
    return objective;
}

void rows_check_bounds(const gf_csr *x, const gf_partition *p, bool folded)
{
    double drift = 0;
    for (uint32_t j = 0; j < p->k && !folded; j++)
        if (p->centres.at[j].drift > drift) drift = p->centres.at[j].drift;
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t j = 0; j < p->k; j++) {
            double dot = gf_csr_row_dot(gf_csr_row(x, i), gf_centre_row(&p->centres.at[j]));
            if (j == p->label[i])
                assert_near(p->own[i], dot, 1e-6);
            else
                assert_true(dot <= (double)p->other[i] + drift + 3e-6);
        }
}

void rows_assert_same_centres(const gf_centres *a, const gf_centres *b)
{
    assert_int_equal(a->k, b->k);
    assert_int_equal(a->n_terms, b->n_terms);
    for (uint32_t j = 0; j < a->k; j++) {
        const gf_centre *c = &a->at[j], *d = &b->at[j];
        assert_int_equal(c->n, d->n);
        if (c->n) assert_memory_equal(c->term, d->term, c->n * sizeof *c->term);
        if (c->n) assert_memory_equal(c->value, d->value, c->n * sizeof *c->value);
        assert_memory_equal(&c->length, &d->length, sizeof c->length);
        assert_memory_equal(&c->weight, &d->weight, sizeof c->weight);
    }
}

gf_pool *rows_pool(unsigned n)
{
    gf_error err;
    gf_pool *pool;
    assert_ok(gf_pool_create(n, &pool, &err));
    return pool;
}
