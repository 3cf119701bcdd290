/**
 * The terms of a collection: what the columns of its matrix mean.
 *
 *     0 .. n_regular-1          regular terms: they passed the filters; by falling df, then by
 * bytes n_regular .. n_terms-1    rescue terms: they stand only in rows that would be empty without
 *                               them; idf 1; ordered likewise
 *
 * With the settings of the analysis beside it, it vectorises any text without another document
 * (transformer.h). It is written as compact bytes:
 *
 *     "GFvocab" 01 | varint n_docs, n_regular, n_terms, idf kind
 *     df of each term: of the first of either part n_docs - df, else the one before it minus df
 *     each term: its string, then its surface as varint shared and the string behind that prefix
 *     XXH3 of all that, 8 bytes big-endian
 *
 * Constant once made, so any threads may read it.
 */
#ifndef GF_VECTORIZE_ROWS_VOCABULARY_H
#define GF_VECTORIZE_ROWS_VOCABULARY_H

#include "grouperfish/buffer.h"
#include "vectorize/rows/weights.h"

#define GF_TERM_NONE UINT32_MAX

typedef struct gf_vocabulary {
    uint32_t n_docs;    /* documents it was made of */
    uint32_t n_terms;   /* columns */
    uint32_t n_regular; /* the first of them */
    gf_idf idf_kind;
    uint32_t *df;    /* n_terms: documents that have the term; of a rescue term its rescued rows */
    double *idf;     /* n_terms: gf_weight_idf of df; of a rescue term 1 */
    uint64_t *start; /* 2 * n_terms + 1: string 2i is term i, 2i + 1 its surface */
    char *bytes;     /* start[2 * n_terms]: the strings */
    uint64_t *slots; /* capacity: hash in the upper half, term + 1 in the lower, 0 where empty */
    size_t capacity; /* a power of two */
} gf_vocabulary;

/** Input of gf_vocabulary_init. */
typedef struct gf_vocabulary_parts {
    uint32_t n_docs, n_terms, n_regular;
    gf_idf idf_kind;
    const uint32_t *df;      /* n_terms */
    const gf_slice *term;    /* n_terms, none empty, no two the same */
    const gf_slice *surface; /* n_terms */
} gf_vocabulary_parts;

/** Everything is copied. GF_EINVAL (two terms are the same), GF_ENOMEM; *v is then unchanged. */
gf_status gf_vocabulary_init(gf_vocabulary *v, const gf_vocabulary_parts *parts, gf_error *err);
void gf_vocabulary_release(gf_vocabulary *v);

/** The string of a term (stems, joined by single spaces), term < n_terms. Borrowed. */
static inline gf_slice gf_vocabulary_term(const gf_vocabulary *v, uint32_t term)
{
    uint64_t at = v->start[2 * (size_t)term];
    return gf_slice_of(v->bytes + at, (size_t)(v->start[2 * (size_t)term + 1] - at));
}

/** How the term was written most often in the documents. Borrowed. */
static inline gf_slice gf_vocabulary_surface(const gf_vocabulary *v, uint32_t term)
{
    uint64_t at = v->start[2 * (size_t)term + 1];
    return gf_slice_of(v->bytes + at, (size_t)(v->start[2 * (size_t)term + 2] - at));
}

/** The term of that string, or GF_TERM_NONE. */
uint32_t gf_vocabulary_find(const gf_vocabulary *v, gf_slice term);

/** Append the vocabulary's bytes; failures stay in the buffer. */
void gf_vocabulary_write(const gf_vocabulary *v, gf_buffer *out);

/**
 * Read what gf_vocabulary_write wrote; nothing is borrowed from bytes.
 * @return GF_OK; GF_ECORRUPT for any other bytes; GF_ENOMEM. On failure *v is unchanged.
 */
gf_status gf_vocabulary_read(gf_slice bytes, gf_vocabulary *v, gf_error *err);

#endif
