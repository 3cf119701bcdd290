#include "vectorize/rows/weights.h"

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
    }
    return 0;
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
    double scale = weights->norm == GF_NORM_L2 && squares > 0 ? 1 / sqrt(squares) : 1;
    for (uint32_t i = 0; i < n; i++)
        val[i] = (float)(entry(weights, idf, col[i], count[i], length) * scale);
}

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
