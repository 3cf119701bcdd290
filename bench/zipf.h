/*
 * Rows as texts make them, without texts: terms by Zipf's law, and topics within topics, so that
 * clusters mean something.
 *
 *     a row      its topic, drawn by a law of 1 / sqrt(rank); a length of a half to one and a half
 *                of the mean; then terms: 45 % of all rows' vocabulary, 25 % of the vocabulary of
 *                the field that the topic belongs to (64 topics a field), 30 % of the topic's own
 *     a term     by rank r of its vocabulary with a weight of 1 / r, at most once a row
 *     a value    (1 + ln of how often) x ln(rows / rows that have it), to unit length, on the grid
 *
 * Row i depends on the settings and i alone: rows are made in any order and by any thread.
 */
#ifndef GF_BENCH_ZIPF_H
#define GF_BENCH_ZIPF_H

#include "base/pool.h"
#include "grouperfish/csr.h"

typedef struct gf_zipf {
    uint32_t n_rows, n_terms, n_topics;
    uint32_t length; /* mean number of draws of a row; a term drawn twice is one entry */
    uint64_t seed;
    float *idf; /* n_terms: counted over a part of the rows */
} gf_zipf;

enum { GF_ZIPF_LONGEST = 1024 /* length, at most */ };

/**
 * Settings with the weights of terms, which are counted over at most 200,000 rows.
 * GF_EINVAL (length beyond 1..GF_ZIPF_LONGEST, no rows or terms), GF_ENOMEM.
 */
gf_status gf_zipf_init(gf_zipf *z, uint32_t n_rows, uint32_t n_terms, uint32_t n_topics,
                       uint32_t length, uint64_t seed, gf_error *err);
void gf_zipf_release(gf_zipf *z);

/** Rows first .. first + n - 1, none of them empty, as a matrix of the caller's. */
gf_status gf_zipf_rows(const gf_zipf *z, uint32_t first, uint32_t n, gf_pool *pool, gf_csr *x,
                       gf_error *err);

#endif
