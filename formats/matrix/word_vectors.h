/**
 * Tables of word vectors, made elsewhere: of the words that are asked for, their vectors.
 *
 *     text         a line for each word: the word and its numbers, between blanks; before them perhaps
 *                  a line with the number of words and of columns (word2vec, GloVe, fastText's .vec),
 *                  also compressed
 *     safetensors  a tensor of words x columns (F32, F16, BF16 or F64), and beside the file a
 *                  vocabulary: words.txt or vocab.txt, a word for each row, or tokenizer.json
 *
 * A word is looked for as it is, then in lower case. Where the vocabulary has pieces of words
 * ("##ing"), one that it lacks is the mean of the longest pieces that make it up.
 *
 * Source: huggingface.co/docs/safetensors (the format); Wu et al., arXiv 1609.08144 (pieces,
 *         longest first).
 */
#ifndef GF_FORMATS_MATRIX_WORD_VECTORS_H
#define GF_FORMATS_MATRIX_WORD_VECTORS_H

#include "grouperfish/cancel.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct gf_word_vectors {
    uint32_t n, d;
    float *row;     /* n * d: of each word that was asked for; zeros where it is not known */
    bool *known;    /* n */
    uint64_t words; /* in the table */
    uint64_t hash;  /* XXH3 of the table's bytes (of text: of its lines) and of the vocabulary's */
} gf_word_vectors;

/** Largest number of columns. */
enum { GF_MOST_WORD_COLUMNS = 1 << 14 };

/**
 * @param words   n, UTF-8
 * @param cancel  may be NULL
 * @return GF_OK; GF_ENOTFOUND (there is no such file); GF_EINVAL with the line or byte: another
 *         number of columns, what is no finite number, a header that does not fit the file, no
 *         vocabulary; GF_ELIMIT, GF_EIO, GF_ENOMEM, GF_ECANCELLED. On failure *out is unchanged.
 * Cost:   a pass over the file; memory 4 bytes a column for each word asked for, twice.
 */
gf_status gf_word_vectors_read(const char *path, const gf_slice *words, uint32_t n,
                               const gf_cancel *cancel, gf_word_vectors *out, gf_error *err);
void gf_word_vectors_release(gf_word_vectors *v);

#endif
