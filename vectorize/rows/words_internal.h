/**
 * The words of documents as a vectorizer collects them.
 *
 *     chunk      rows (counted_rows_internal.h) of neighbouring documents; what a row's head is
 *                marked with is the language
 *     terms      start[i] .. start[i + 1] of the bytes
 */
#ifndef GF_VECTORIZE_ROWS_WORDS_INTERNAL_H
#define GF_VECTORIZE_ROWS_WORDS_INTERNAL_H

#include "base/spill.h"
#include "vectorize/rows/dictionary_internal.h"
#include "vectorize/rows/words.h"

typedef struct gf_word_chunk {
    gf_buffer rows;
    size_t n_bytes;  /* of the rows, wherever they are */
    uint32_t n;      /* documents */
    bool spilled;    /* they are in the file, from there on */
    uint64_t offset; /* then */
} gf_word_chunk;

typedef struct gf_word_terms {
    char *bytes;     /* start[n]; NULL where they are in the file */
    uint64_t *start; /* n + 1; likewise */
    uint64_t n_bytes;
    uint32_t n;
    uint64_t offset; /* in the file: of start, which the bytes follow */
} gf_word_terms;

struct gf_words {
    const char *folder;    /* borrowed; NULL: all stays in memory */
    bool only;             /* and no rows */
    gf_word_chunk *chunks; /* n_chunks of capacity */
    size_t n_chunks, capacity;
    size_t first_kept; /* chunks before it are in the file */
    size_t kept;       /* bytes of those in memory */
    uint32_t n_docs;
    gf_word_terms terms; /* once they were taken */
    gf_spill *spill;     /* NULL until needed */
    uint64_t spilled;
};

/** Words of no documents. @param folder  as of gf_vectorizer_keep_words */
gf_status gf_words_create(const char *folder, gf_words **words, gf_error *err);

/** Add rows of n documents behind the others; the buffer is taken where that succeeds. */
gf_status gf_words_add(gf_words *words, gf_buffer *rows, uint32_t n, gf_error *err);

/** Copy the terms, or write them to the file; the dictionary is NULL where there are none. */
gf_status gf_words_keep_terms(gf_words *words, gf_dictionary *dictionary, gf_error *err);

#endif
