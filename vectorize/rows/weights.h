/**
 * How often a term occurs, and in how many documents, as the weight of a row's entry:
 *
 *     weight = tf(count, length) * idf(n_docs, df),  then the row divided by its L2 length
 *
 *     tf        log 1 + ln count   raw count   binary 1   relative count / length
 *     idf       log ln(N/df)   log_plus_one ln(N/df) + 1   smooth ln((1+N)/(1+df)) + 1   none 1
 *               log^1.5   log_plus_one^1.5   smooth^1.5
 *     norm      l2   none
 *
 * The defaults are log, log, l2, written "ltc" in SMART's notation. Sums and logarithms are double;
 * only the finished weight becomes a float.
 *
 * Source: Salton & Buckley, Information Processing & Management 24 (1988) 513-523; the names follow
 * scikit-learn's TfidfTransformer (see docs/analysis.md).
 */
#ifndef GF_VECTORIZE_ROWS_WEIGHTS_H
#define GF_VECTORIZE_ROWS_WEIGHTS_H

#include "grouperfish/csr.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

typedef enum gf_tf { GF_TF_LOG, GF_TF_RAW, GF_TF_BINARY, GF_TF_RELATIVE } gf_tf;
typedef enum gf_idf {
    GF_IDF_LOG,
    GF_IDF_LOG_PLUS_ONE,
    GF_IDF_SMOOTH,
    GF_IDF_NONE,
    GF_IDF_LOG_SHARP, /* the first three to the power of 1.5, in their order */
    GF_IDF_LOG_PLUS_ONE_SHARP,
    GF_IDF_SMOOTH_SHARP
} gf_idf;
typedef enum gf_norm { GF_NORM_L2, GF_NORM_NONE } gf_norm;

typedef struct gf_weights {
    gf_tf tf;
    gf_idf idf;
    gf_norm norm;
} gf_weights;

/** count >= 1; length, the sum of the document's counts, matters to GF_TF_RELATIVE alone. */
double gf_weight_tf(gf_tf tf, uint32_t count, uint64_t length);

/** 1 <= df <= n_docs. 0 for a term of GF_IDF_LOG that every document has. */
double gf_weight_idf(gf_idf idf, uint64_t n_docs, uint64_t df);

/** The same to the power of 1.5; one that is sharp already, and none, stay as they are. */
gf_idf gf_weight_sharpen_idf(gf_idf idf);

/** Whether the idf is to the power of 1.5. */
bool gf_weight_is_sharp_idf(gf_idf idf);

/**
 * The weights of one row.
 *
 * @param idf    of each column of the matrix; NULL weighs every column 1 (a rescued row)
 * @param col    n columns of the row, rising
 * @param count  n counts, each at least 1
 * @param val    out: n weights; of rows of unit length multiples of 2^-24 (base/grid.h), so that
 *               their length is off by up to 3e-8 times the root of n
 */
void gf_weights_weigh_row(const gf_weights *weights, const double *idf, const uint32_t *col,
                          const uint32_t *count, uint32_t n, uint64_t length, float *val);

/**
 * How often a row's terms occur, read back from their weights: the weight of each over its idf is
 * tf(count) times one factor for the row, which is found by the smallest counts that fit. So they
 * need not be kept beside the weights. Exact up to 255, but for one factor where only their ratios
 * are in the weights (raw, relative), and where all terms occur equally often, which says nothing:
 * they count once each. Of binary weights all counts are 1.
 *
 * @param idf    as for gf_weights_weigh_row
 * @param most   1..255: larger counts become this
 * @param count  out: row.n
 * Cost: an exponential for each term that occurs more often than the rarest of the row.
 */
void gf_weights_read_counts(const gf_weights *weights, const double *idf, gf_row_view row,
                            uint32_t most, uint8_t *count);

/**
 * Read SMART notation, three letters in lower case: tf n(atural) l(og) b(inary); df n(one) t (idf);
 * normalisation n(one) c(osine). "ltc" is the default. GF_EINVAL for letters that mean what is not
 * offered (such as a, the augmented tf), with the reason in words.
 */
gf_status gf_weights_from_smart(gf_slice letters, gf_weights *weights, gf_error *err);

/** The notation of weights in letters[4]; false where SMART has none for them. */
bool gf_weights_to_smart(const gf_weights *weights, char letters[4]);

#endif
