/**
 * All words of each document of a vectorizer, and how often each occurs in it: stop words, words
 * too short or too long and those that no row has included, n-grams not. It is what an index of a
 * collection's words is made of, counted while the rows are, so that no text is analysed twice.
 *
 * All threads of a vectorizer have the same terms. A megabyte of counts is kept in memory, and from
 * there on all of it lies in a temporary file. Not for several threads.
 */
#ifndef GF_VECTORIZE_ROWS_WORDS_H
#define GF_VECTORIZE_ROWS_WORDS_H

#include "vectorize/rows/vectorizer.h"

typedef struct gf_words gf_words;

/** The words of one document, borrowed for the call. */
typedef struct gf_word_row {
    uint32_t language; /* gf_language_index + 1 of what it was analysed in; 0: none */
    uint32_t n;
    const uint32_t *term;  /* n distinct ids */
    const uint32_t *count; /* n, each at least 1 */
} gf_word_row;

typedef gf_status gf_each_word_row(void *context, uint32_t document, const gf_word_row *row,
                                   gf_error *err);

/**
 * Have a vectorizer keep them; before the first add.
 *
 * @param folder  on whose disk the file is, where there is one; borrowed until the words are freed.
 *                NULL: all stays in memory
 * @param only    no rows are to be made: finish must not be called
 */
gf_status gf_vectorizer_keep_words(gf_vectorizer *vectorizer, const char *folder, bool only,
                                   gf_error *err);

/**
 * Take the words of the documents added so far; the vectorizer is then only good for being freed,
 * or for gf_vectorizer_take_analyser. NULL where it keeps none.
 * @return GF_OK, and *words is the caller's (gf_words_free); GF_ENOMEM; GF_EIO (the disk is full)
 */
gf_status gf_vectorizer_take_words(gf_vectorizer *vectorizer, gf_words **words, gf_error *err);
void gf_words_free(gf_words *words);

uint32_t gf_words_documents(const gf_words *words);

/** Have the terms in memory, where they are in the file. GF_ENOMEM, GF_EIO. */
gf_status gf_words_load_terms(gf_words *words, gf_error *err);
uint32_t gf_words_terms(const gf_words *words);

/** A term, once they are loaded; empty where no term has the id. Borrowed until free. */
gf_slice gf_words_term(const gf_words *words, uint32_t term);

/**
 * Documents from `first` up to `end`, each in turn. Several threads may read at once.
 * @return GF_OK; GF_ENOMEM, GF_EIO, or what `each` fails with
 */
gf_status gf_words_each(const gf_words *words, uint32_t first, uint32_t end, gf_each_word_row *each,
                        void *context, gf_error *err);

#endif
