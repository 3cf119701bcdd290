/**
 * Documents to TF-IDF rows.
 *
 *     gf_vectorizer_create      settings, threads
 *     gf_vectorizer_add ...     groups of texts, in order; tokenised and counted in parallel
 *     gf_vectorizer_finish      document frequencies -> filters -> numbering -> rows
 *
 * All threads share one dictionary (dictionary_internal.h): a word is normalised, stemmed and kept
 * once. What comes out depends on the texts and their order alone, byte for byte: not on the number of
 * threads, and not on how the texts were split over calls of add.
 *
 * Rows. A regular term passed min_df, max_df and max_terms and has an idf above 0. A document with
 * regular terms has a row of them (GF_ROW_PLAIN). One without is rescued: its row has all its
 * terms, else its other words, else its stop words (counts.h), at idf 1 (GF_ROW_RESCUED); terms
 * that are not regular are numbered behind those that are, and stand in no other row. A document
 * without any word has an empty row (GF_ROW_EMPTY).
 *
 * Memory until finish: 4 bytes per entry, 55 to 110 bytes per distinct surface form and the bytes
 * of its term, with n-grams twice that per distinct n-gram with its text, and up to 640 KiB a
 * thread. A vectorizer is used by
 * one thread at a time.
 */
#ifndef GF_VECTORIZE_ROWS_VECTORIZER_H
#define GF_VECTORIZE_ROWS_VECTORIZER_H

#include "base/pool.h"
#include "base/ranks.h"
#include "base/spill.h"
#include "grouperfish/csr.h"
#include "vectorize/rows/vectorizer_options.h"
#include "vectorize/rows/vocabulary.h"

typedef struct gf_text {
    gf_slice text;               /* UTF-8; bad bytes separate words */
    const gf_language *language; /* NULL where it is not known */
} gf_text;

typedef enum gf_row_kind { GF_ROW_PLAIN, GF_ROW_RESCUED, GF_ROW_EMPTY } gf_row_kind;

typedef struct gf_vectors {
    gf_csr x;                 /* [n_docs x n_terms], weights; columns rise within a row */
    gf_spill *entries;        /* not NULL: x.col and x.val are, they lie there (base/row_file.h) */
    uint8_t *kind;            /* gf_row_kind of each row (x.n_rows) */
    uint32_t n_rescued;       /* rows of GF_ROW_RESCUED */
    uint32_t n_empty;         /* rows of GF_ROW_EMPTY */
    gf_vocabulary vocabulary; /* what the columns are */
} gf_vectors;

void gf_vectors_release(gf_vectors *vectors);

typedef struct gf_vectorizer gf_vectorizer;
typedef struct gf_analyser gf_analyser; /* vectorize/rows/analyser.h */

/**
 * @param options  copied, more_stop_words included
 * @param pool     borrowed until free; NULL works in the caller's thread
 * @return GF_OK; GF_EINVAL; GF_ENOMEM
 */
gf_status gf_vectorizer_create(const gf_vectorizer_options *options, gf_pool *pool,
                               gf_vectorizer **vectorizer, gf_error *err);
void gf_vectorizer_free(gf_vectorizer *vectorizer);

/**
 * Keep no rows in memory, but in temporary files on the disk of that folder (borrowed until free),
 * and so those that finish makes; what they are is the same. Before the first add.
 * @return GF_OK; GF_EIO, GF_ENOMEM
 */
gf_status gf_vectorizer_spill(gf_vectorizer *vectorizer, const char *folder, gf_error *err);

/**
 * Add n documents behind those that are there. The texts are only borrowed during the call.
 *
 * @param cancel  may be NULL
 * @return GF_OK; GF_ENOMEM; GF_ECANCELLED; GF_ELIMIT (a text of 4 GiB, 2^32 - 1 documents). After a
 *         failure the vectorizer is only good to be freed: later calls return the same status.
 * Cost: 80 to 110 MB of English text a second and core; 10 MB/s of Chinese, Japanese, Thai.
 */
gf_status gf_vectorizer_add(gf_vectorizer *vectorizer, const gf_text *texts, size_t n,
                            const gf_cancel *cancel, gf_error *err);

/** The same, while the vectorizer's pool does other tasks too, which begin first. */
gf_status gf_vectorizer_add_beside(gf_vectorizer *vectorizer, const gf_text *texts, size_t n,
                                   const gf_pool_tasks *others, const gf_cancel *cancel,
                                   gf_error *err);

/**
 * Take the analyser of a vectorizer that has one thread alone, with all words that it has met, for
 * whoever analyses the same texts again; the vectorizer is then only good for being freed. NULL
 * where there are several threads, or none has begun.
 */
gf_analyser *gf_vectorizer_take_analyser(gf_vectorizer *vectorizer);

/**
 * With one thread alone, have its analyser keep the words of the documents, up to so many tokens
 * (gf_analyser_keep): document i of the vectorizer is its i-th. Before the first add.
 */
void gf_vectorizer_keep_tokens(gf_vectorizer *vectorizer, size_t most_tokens);

/** Documents added so far. */
uint32_t gf_vectorizer_size(const gf_vectorizer *vectorizer);

/**
 * The rows of all documents added so far. The vectorizer keeps them: more can be added, and finish
 * called again. Free it once it is no longer needed, its tables are larger than the result.
 *
 * @param vectors  out; gf_vectors_release it
 * @return GF_OK; GF_ENOMEM; GF_ECANCELLED. On failure *vectors is unchanged.
 * Cost: O(entries + distinct terms), in parallel but for sorting the terms.
 */
gf_status gf_vectorizer_finish(gf_vectorizer *vectorizer, gf_vectors *vectors,
                               const gf_cancel *cancel, gf_error *err);

/**
 * The same where the documents are dealt to several ranks, each of which has a vectorizer of the same
 * options: the rows of this rank's documents, with the columns and weights that they have among all.
 * All ranks call it. The vocabulary, of all documents, is at rank 0 alone.
 *
 * @param ranks  NULL: one alone
 * @return as gf_vectorizer_finish, and what ranks fail with
 */
gf_status gf_vectorizer_finish_by_ranks(gf_vectorizer *vectorizer, gf_ranks *ranks,
                                        gf_vectors *vectors, gf_error *err);

#endif
