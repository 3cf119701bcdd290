/**
 * The inside of a vectorizer, as its two halves share it: vectorizer.c adds documents, weigh_rows.c
 * makes the rows.
 *
 *     worker     one per thread of the pool: a counter; all share one dictionary
 *     chunk      the encoded rows (counted_rows_internal.h) of neighbouring documents
 */
#ifndef GF_VECTORIZE_ROWS_VECTORIZER_INTERNAL_H
#define GF_VECTORIZE_ROWS_VECTORIZER_INTERNAL_H

#include "vectorize/rows/document_counts_internal.h"
#include "vectorize/rows/words_internal.h"

typedef struct gf_chunk {
    gf_buffer rows;
    gf_buffer words; /* rows of all words, on their way to the vectorizer's */
    uint32_t first;  /* row of its first document */
    uint32_t n;      /* documents */
    bool spilled;    /* rows.ptr is NULL: rows.len bytes of the spill, from there on */
    uint64_t offset; /* then */
} gf_chunk;

struct gf_vectorizer {
    gf_vectorizer_options options;
    char *more_stop_words; /* the options' text, ours */
    gf_pool *pool;
    unsigned n_workers;
    gf_counter **workers;      /* n_workers; NULL where one had nothing to do yet */
    gf_dictionary *dictionary; /* of several workers; NULL: the only one has its own */
    gf_chunk *chunks;          /* n_chunks, by rising first */
    size_t n_chunks, chunk_capacity;
    uint32_t n_docs;
    gf_status failed;   /* of an add; GF_OK */
    const char *folder; /* borrowed; NULL: all is kept in memory */
    gf_spill *spill;    /* chunks' rows, one behind the other; NULL likewise */
    uint64_t spilled;   /* bytes of it */
    gf_words *words;    /* NULL: none are kept */
    size_t kept_tokens; /* that the only worker's analyser keeps at most */
};

/** The dictionary of all words, or NULL if there was no document. Borrowed. */
gf_dictionary *gf_vectorizer_dictionary(const gf_vectorizer *v);

/** A chunk's rows: its own, or read into `room`. Borrowed from either. */
gf_status gf_vectorizer_chunk_rows(const gf_vectorizer *v, const gf_chunk *chunk, gf_buffer *room,
                                   const unsigned char **rows, gf_error *err);

#endif
