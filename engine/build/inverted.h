/**
 * The words of documents inverted: the postings of each term, as the cells of search_cells.h hold
 * them. Terms are sorted and documents stand in their order, so the result depends on the documents
 * alone, not on the threads that counted their words.
 */
#ifndef GF_ENGINE_BUILD_INVERTED_H
#define GF_ENGINE_BUILD_INVERTED_H

#include "grouperfish/buffer.h"
#include "vectorize/rows/words.h"

/** A term in one language, as one of the workers has it. */
typedef struct gf_indexed_term {
    gf_slice term; /* borrowed from the words */
    uint32_t id;   /* that worker's */
    uint16_t worker;
    uint16_t language; /* as in gf_word_row */
} gf_indexed_term;

/** {0} to begin with. */
typedef struct gf_inverted {
    gf_indexed_term *terms; /* n_terms, by language, then by bytes */
    uint32_t n_terms;
    uint32_t *documents; /* n_terms: how many have it */
    uint64_t *start;     /* n_terms + 1: where each term's postings begin in bytes */
    unsigned char *bytes;
    gf_buffer lengths; /* words of each document, varints */
    uint64_t words;    /* of all documents */
} gf_inverted;

/**
 * @return GF_OK; GF_ENOMEM, GF_EIO. *v is to be released either way.
 * Cost: three walks over the words. Memory some 3 bytes for each word of each document, and 50 for
 *       each term.
 */
gf_status gf_inverted_make(gf_words *words, gf_inverted *v, gf_error *err);
void gf_inverted_release(gf_inverted *v);

#endif
