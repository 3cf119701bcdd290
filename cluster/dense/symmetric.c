#include "cluster/dense/symmetric.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_STEPS = 50 /* of QL for one eigenvalue; two are usual */ };

static void swap(double *a, double *b)
{
    double c = *a;
    *a = *b;
    *b = c;
}

/* y[0..n-1] += f * x */
static void add_row(double *y, double f, const double *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        y[i] += f * x[i];
}

/* ---- an orthogonal basis --------------------------------------------------------------------- */

/*
 * Row c of `factor` is row c of the transposed Cholesky factor, row c of `inverse` one of the
 * factor's inverse; both count the vectors in the order in which they are chosen.
 */
gf_status gf_symmetric_basis(const double *gram, uint32_t d, double least, double *basis,
                             uint32_t *rank, gf_error *err)
{
    double *factor = gf_array(d, (size_t)d * sizeof *factor);
    double *inverse = gf_array(d, (size_t)d * sizeof *inverse);
    double *left = gf_array(d, sizeof *left); /* squared lengths of the remainders */
    uint32_t *order = gf_array(d, sizeof *order), c = 0;
    gf_status st = GF_OK;
    if (!factor || !inverse || !left || !order) {
        st = gf_fail_memory(err, "an orthogonal basis");
        goto done;
    }
    double longest = 0;
    for (uint32_t i = 0; i < d; i++) {
        order[i] = i;
        left[i] = gram[(size_t)i * d + i];
        if (left[i] > longest) longest = left[i];
    }
    for (; c < d; c++) {
        uint32_t best = c;
        for (uint32_t i = c + 1; i < d; i++)
            if (left[i] > left[best]) best = i;
        swap(&left[c], &left[best]);
        uint32_t chosen = order[best];
        order[best] = order[c];
        order[c] = chosen;
        for (uint32_t b = 0; b < c; b++)
            swap(&factor[(size_t)b * d + c], &factor[(size_t)b * d + best]);

        double *row = factor + (size_t)c * d, *of = inverse + (size_t)c * d;
        for (uint32_t i = c; i < d; i++)
            row[i] = gram[(size_t)chosen * d + order[i]];
        memset(of, 0, c * sizeof *of);
        of[c] = 1;
        for (uint32_t b = 0; b < c; b++) {
            const double *above = factor + (size_t)b * d;
            add_row(row + c, -above[c], above + c, d - c);
            add_row(of, -above[c], inverse + (size_t)b * d, b + 1);
        }
        if (!(row[c] > 0 && row[c] >= least * longest)) break;
        double length = sqrt(row[c]);
        for (uint32_t i = c; i < d; i++) {
            row[i] /= length;
            left[i] -= row[i] * row[i];
        }
        for (uint32_t b = 0; b <= c; b++)
            of[b] /= length;
    }
    for (uint32_t b = 0; b < c; b++) {
        memset(basis + (size_t)b * d, 0, d * sizeof *basis);
        for (uint32_t i = 0; i <= b; i++)
            basis[(size_t)b * d + order[i]] = inverse[(size_t)b * d + i];
    }
    *rank = c;
done:
    gf_free(factor);
    gf_free(inverse);
    gf_free(left);
    gf_free(order);
    return st;
}

/* ---- eigenvectors ---------------------------------------------------------------------------- */

/*
 * a = q' t q with t tridiagonal: `value` becomes its diagonal, beside[i] its entry (i, i + 1). The
 * vector of reflection c stays in row c of `a`; q is made of them from the last to the first.
 */
static void make_tridiagonal(double *a, uint32_t d, double *value, double *beside, double *p,
                             double *q)
{
    for (uint32_t c = 0; c + 1 < d; c++) {
        double *v = a + (size_t)c * d, squares = 0;
        value[c] = v[c];
        for (uint32_t i = c + 2; i < d; i++)
            squares += v[i] * v[i];
        if (squares == 0) { /* nothing to reflect: v[c + 1] is 0 */
            beside[c] = v[c + 1];
            v[c + 1] = 0;
            continue;
        }
        double length = sqrt(squares + v[c + 1] * v[c + 1]);
        beside[c] = v[c + 1] > 0 ? -length : length;
        v[c + 1] -= beside[c];
        double scale = sqrt(squares + v[c + 1] * v[c + 1]);
        for (uint32_t i = c + 1; i < d; i++)
            v[i] /= scale;

        /* with p = a v: a - 2 v p' - 2 p v' + 4 (v'p) v v' */
        memset(p, 0, d * sizeof *p);
        for (uint32_t i = c + 1; i < d; i++)
            add_row(p + c + 1, v[i], a + (size_t)i * d + c + 1, d - c - 1);
        double both = 0;
        for (uint32_t i = c + 1; i < d; i++)
            both += v[i] * p[i];
        add_row(p + c + 1, -both, v + c + 1, d - c - 1);
        for (uint32_t i = c + 1; i < d; i++) {
            add_row(a + (size_t)i * d + c + 1, -2 * v[i], p + c + 1, d - c - 1);
            add_row(a + (size_t)i * d + c + 1, -2 * p[i], v + c + 1, d - c - 1);
        }
    }
    value[d - 1] = a[(size_t)d * d - 1];
    beside[d - 1] = 0;

    memset(q, 0, (size_t)d * d * sizeof *q);
    for (uint32_t i = 0; i < d; i++)
        q[(size_t)i * d + i] = 1;
    for (uint32_t c = d - 1; c-- > 0;) {
        const double *v = a + (size_t)c * d;
        memset(p, 0, d * sizeof *p);
        for (uint32_t i = c + 1; i < d; i++)
            add_row(p + c + 1, v[i], q + (size_t)i * d + c + 1, d - c - 1);
        for (uint32_t i = c + 1; i < d; i++)
            add_row(q + (size_t)i * d + c + 1, -2 * v[i], p + c + 1, d - c - 1);
    }
}

/* The lengths here are far from the ends of a double's range, as hypot would allow for. */
static double length_of(double x, double y)
{
    return sqrt(x * x + y * y);
}

/* One step of QL on entries low..high of t; rows of `vector` turn with it. */
static void make_step(double *value, double *beside, double *vector, uint32_t d, uint32_t low,
                      uint32_t high)
{
    double g = (value[low + 1] - value[low]) / (2 * beside[low]), r = length_of(g, 1);
    g = value[high] - value[low] + beside[low] / (g + (g < 0 ? -r : r));
    double s = 1, c = 1, p = 0;
    for (uint32_t i = high; i-- > low;) {
        double f = s * beside[i], b = c * beside[i];
        r = length_of(f, g);
        beside[i + 1] = r;
        if (r == 0) { /* the matrix falls apart here */
            value[i + 1] -= p;
            beside[high] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = value[i + 1] - p;
        r = (value[i] - g) * s + 2 * c * b;
        p = s * r;
        value[i + 1] = g + p;
        g = c * r - b;
        double *x = vector + (size_t)i * d, *y = x + d;
        for (uint32_t e = 0; e < d; e++) {
            double old = y[e];
            y[e] = s * x[e] + c * old;
            x[e] = c * x[e] - s * old;
        }
    }
    value[low] -= p;
    beside[low] = g;
    beside[high] = 0;
}

static bool find_values(double *value, double *beside, double *vector, uint32_t d)
{
    for (uint32_t low = 0; low < d; low++) {
        for (int step = 0;; step++) {
            uint32_t high = low;
            while (high + 1 < d && !(fabs(beside[high]) <=
                                     DBL_EPSILON * (fabs(value[high]) + fabs(value[high + 1]))))
                high++;
            if (high == low) break;
            if (step == MOST_STEPS) return false;
            make_step(value, beside, vector, d, low, high);
        }
        if (!isfinite(value[low])) return false;
    }
    return true;
}

gf_status gf_symmetric_eigen(double *a, uint32_t d, double *value, gf_error *err)
{
    double *q = gf_array(d, (size_t)d * sizeof *q), *beside = gf_array(d, sizeof *beside);
    double *p = gf_array(d, sizeof *p);
    gf_status st = GF_OK;
    if (!q || !beside || !p) {
        st = gf_fail_memory(err, "eigenvectors");
        goto done;
    }
    make_tridiagonal(a, d, value, beside, p, q);
    for (uint32_t i = 0; i < d; i++)
        for (uint32_t j = 0; j < d; j++)
            a[(size_t)i * d + j] = q[(size_t)j * d + i];
    if (!find_values(value, beside, a, d)) {
        st = gf_fail(err, GF_EINVAL, "eigenvectors are not found");
        goto done;
    }
    for (uint32_t i = 0; i < d; i++) {
        uint32_t largest = i;
        for (uint32_t j = i + 1; j < d; j++)
            if (value[j] > value[largest]) largest = j;
        if (largest == i) continue;
        swap(&value[i], &value[largest]);
        for (uint32_t e = 0; e < d; e++)
            swap(&a[(size_t)i * d + e], &a[(size_t)largest * d + e]);
    }
done:
    gf_free(q);
    gf_free(beside);
    gf_free(p);
    return st;
}
