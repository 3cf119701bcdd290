#include "vectorize/rows/weights.h"

#include "base/grid.h"

#include <math.h>
#include <pthread.h>

/* 1 + ln count of the counts that nearly all entries have. */
enum { TABLE = 64 };
static double log_tf[TABLE];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_table(void)
{
    for (uint32_t count = 1; count < TABLE; count++)
        log_tf[count] = gf_weight_tf(GF_TF_LOG, count, 0);
}

double gf_weight_tf(gf_tf tf, uint32_t count, uint64_t length)
{
    switch (tf) {
    case GF_TF_LOG:
        return count == 1 ? 1.0 : 1.0 + log((double)count);
    case GF_TF_RAW:
        return (double)count;
    case GF_TF_BINARY:
        return 1.0;
    case GF_TF_RELATIVE:
        return (double)count / (double)length;
    }
    return 0;
}

double gf_weight_idf(gf_idf idf, uint64_t n_docs, uint64_t df)
{
    switch (idf) {
    case GF_IDF_LOG:
        return log((double)n_docs / (double)df);
    case GF_IDF_LOG_PLUS_ONE:
        return log((double)n_docs / (double)df) + 1;
    case GF_IDF_SMOOTH:
        return log((double)(n_docs + 1) / (double)(df + 1)) + 1;
    case GF_IDF_NONE:
        return 1;
    case GF_IDF_LOG_SHARP:
    case GF_IDF_LOG_PLUS_ONE_SHARP:
    case GF_IDF_SMOOTH_SHARP: {
        double plain = gf_weight_idf((gf_idf)(idf - GF_IDF_LOG_SHARP), n_docs, df);
        return plain * sqrt(plain);
    }
    }
    return 0;
}

gf_idf gf_weight_sharpen_idf(gf_idf idf)
{
    return idf < GF_IDF_NONE ? (gf_idf)(idf + GF_IDF_LOG_SHARP) : idf;
}

bool gf_weight_is_sharp_idf(gf_idf idf)
{
    return idf >= GF_IDF_LOG_SHARP;
}

static inline double entry(const gf_weights *weights, const double *idf, uint32_t col,
                           uint32_t count, uint64_t length)
{
    double tf = weights->tf == GF_TF_LOG && count < TABLE
                    ? log_tf[count]
                    : gf_weight_tf(weights->tf, count, length);
    return idf ? tf * idf[col] : tf;
}

void gf_weights_weigh_row(const gf_weights *weights, const double *idf, const uint32_t *col,
                          const uint32_t *count, uint32_t n, uint64_t length, float *val)
{
    double squares = 0;
    pthread_once(&once, fill_table);
    for (uint32_t i = 0; i < n; i++) {
        double w = entry(weights, idf, col[i], count[i], length);
        squares += w * w;
    }
    if (weights->norm != GF_NORM_L2) {
        for (uint32_t i = 0; i < n; i++)
            val[i] = (float)entry(weights, idf, col[i], count[i], length);
        return;
    }
    double scale = squares > 0 ? 1 / sqrt(squares) : 1;
    for (uint32_t i = 0; i < n; i++)
        val[i] = gf_grid_round(entry(weights, idf, col[i], count[i], length) * scale);
}

/* ---- counts of weights ----------------------------------------------------------------------- */

/*
 * Single precision leaves a count so near to a whole number, as a share of it. To that comes what
 * the grid (base/grid.h) moves two weights by, as a share of each; a share of 1 + ln count is up to
 * so many times that of the count.
 */
#define WHOLE    2e-5
#define STEEPEST 6.6 /* 1 + ln 256 */

/* The smallest count of a row is looked for up to here: a document in which each word occurs as often. */
enum { LARGEST_RAREST = 50 };

/* A term's count where the rarest of its row occurs `rarest` times, and weighs 1 / ratio of it. */
static double count_at(gf_tf tf, double ratio, uint32_t rarest)
{
    if (tf != GF_TF_LOG) return ratio * rarest;
    return exp(ratio * gf_weight_tf(GF_TF_LOG, rarest, 0) - 1);
}

static double tf_share(const double *idf, gf_row_view row, uint32_t i)
{
    return idf ? (double)row.val[i] / idf[row.col[i]] : (double)row.val[i];
}

/* How far a count may be from a whole number, as a share of it. */
static double tolerance_of(double weight, double least_weight)
{
    return WHOLE + STEEPEST * GF_GRID_ERROR * (1 / weight + 1 / least_weight);
}

/* Set the counts, if all are whole numbers where the rarest occurs so often. */
static bool counts_fit(gf_tf tf, const double *idf, gf_row_view row, uint32_t least,
                       uint32_t rarest, bool anyway, uint32_t most, uint8_t *count)
{
    for (uint32_t i = 0; i < row.n; i++) {
        double ratio = tf_share(idf, row, i) / tf_share(idf, row, least);
        double tolerance = tolerance_of((double)row.val[i], (double)row.val[least]);
        double c = ratio < 1 + tolerance ? rarest : count_at(tf, ratio, rarest);
        double whole = floor(c + 0.5);
        if (!anyway && whole < 256 && fabs(c - whole) > tolerance * c) return false;
        count[i] = (uint8_t)(whole < 1 ? 1 : whole < most ? whole : most);
    }
    return true;
}

void gf_weights_read_counts(const gf_weights *weights, const double *idf, gf_row_view row,
                            uint32_t most, uint8_t *count)
{
    double least_share = INFINITY;
    uint32_t least = 0; /* the entry of it */
    for (uint32_t i = 0; i < row.n; i++) {
        double share = tf_share(idf, row, i);
        count[i] = 1;
        if (share >= least_share) continue;
        least_share = share;
        least = i;
    }
    if (weights->tf == GF_TF_BINARY || row.n == 0 || !(least_share > 0)) return;
    for (uint32_t rarest = 1; rarest <= LARGEST_RAREST; rarest++)
        if (counts_fit(weights->tf, idf, row, least, rarest, false, most, count)) return;
    counts_fit(weights->tf, idf, row, least, 1, true, most, count);
}

/* ---- notation -------------------------------------------------------------------------------- */

static const char tf_letters[] = "lnb"; /* in the order of gf_tf; relative has none */

gf_status gf_weights_from_smart(gf_slice letters, gf_weights *weights, gf_error *err)
{
    if (letters.len != 3)
        return gf_fail(err, GF_EINVAL, "\"%.*s\" is not SMART notation: three letters, as ltc",
                       GF_SLICE_ARG(letters));
    char tf = letters.ptr[0], df = letters.ptr[1], norm = letters.ptr[2];
    const char *at = tf ? strchr(tf_letters, tf) : NULL;
    if (!at)
        return gf_fail(err, GF_EINVAL, "SMART \"%.*s\": the first letter (tf) is n, l or b",
                       GF_SLICE_ARG(letters));
    if (df != 'n' && df != 't')
        return gf_fail(err, GF_EINVAL, "SMART \"%.*s\": the second letter (idf) is n or t",
                       GF_SLICE_ARG(letters));
    if (norm != 'n' && norm != 'c')
        return gf_fail(err, GF_EINVAL, "SMART \"%.*s\": the third letter (norm) is n or c",
                       GF_SLICE_ARG(letters));
    *weights = (gf_weights){.tf = (gf_tf)(at - tf_letters),
                            .idf = df == 't' ? GF_IDF_LOG : GF_IDF_NONE,
                            .norm = norm == 'c' ? GF_NORM_L2 : GF_NORM_NONE};
    return GF_OK;
}

bool gf_weights_to_smart(const gf_weights *weights, char letters[4])
{
    if (weights->tf == GF_TF_RELATIVE) return false;
    if (weights->idf != GF_IDF_LOG && weights->idf != GF_IDF_NONE) return false;
    letters[0] = tf_letters[weights->tf];
    letters[1] = weights->idf == GF_IDF_LOG ? 't' : 'n';
    letters[2] = weights->norm == GF_NORM_L2 ? 'c' : 'n';
    letters[3] = '\0';
    return true;
}
