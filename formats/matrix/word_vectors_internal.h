/**
 * Parts of reading tables of word vectors: the spellings that are looked for, and their vectors.
 */
#ifndef GF_FORMATS_MATRIX_WORD_VECTORS_INTERNAL_H
#define GF_FORMATS_MATRIX_WORD_VECTORS_INTERNAL_H

#include "base/strings.h"
#include "formats/matrix/word_vectors.h"

#include <xxhash.h>

/** Spellings, and what was found of them. */
typedef struct gf_word_search {
    const gf_cancel *cancel;
    gf_strings spellings;
    uint32_t d;      /* 0 until it is known */
    float *row;      /* spellings.n * d */
    uint32_t *parts; /* spellings.n: rows that were added to it; 0: not found */
    uint64_t words;
    XXH3_state_t *hash;
} gf_word_search;

/** Fix the number of columns; GF_ELIMIT, GF_ENOMEM. */
gf_status gf_word_search_begin(gf_word_search *s, uint64_t d, gf_error *err);

/** Words of a vocabulary and the row of each. {0} to begin with. */
typedef struct gf_word_vocabulary {
    gf_strings words;
    uint32_t *row; /* words.n of capacity */
    size_t capacity;
    bool has_pieces; /* "##ing" */
} gf_word_vocabulary;

/** Read the vocabulary beside a file; its bytes are added to the hash. GF_EINVAL, GF_EIO, ... */
gf_status gf_word_vocabulary_read(const char *path, XXH3_state_t *hash, gf_word_vocabulary *v,
                                  gf_error *err);
void gf_word_vocabulary_release(gf_word_vocabulary *v);

/** Most pieces of a word. */
enum { GF_MOST_PIECES = 32 };

/** The rows of a word, or of its pieces: how many; 0 where it has none. */
uint32_t gf_word_vocabulary_find(const gf_word_vocabulary *v, gf_slice word,
                                 uint32_t rows[GF_MOST_PIECES]);

/** Read the vectors of s->spellings. */
gf_status gf_word_safetensors_read(const char *path, gf_word_search *s, gf_error *err);

#endif
