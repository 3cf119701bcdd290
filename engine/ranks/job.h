/**
 * The messages (engine/ranks/frames.h) between the holder of the store and rank 0 of a job:
 *
 *     ranks                                       holder
 *     READY     number of ranks; what they are
 *
 *     to analyse texts, where that is wanted:
 *                                                 ANALYSE   settings
 *                                                 TEXTS ... some documents' texts, in order
 *                                                 AGAIN     forget them: all of them follow once more
 *                                                 WEIGH     that was all
 *     TERMS     entries of all rows; vocabulary
 *     VECTORS ... rows of some documents, in order
 *     CELLS ...   of indexes, where they are wanted: qualifier, 1 where it is compressed, value
 *     INDEXED     what their heads tell: the end of them
 *
 *     to cluster:
 *                                                 BEGIN     options, how the rows are parted
 *                                                 STARTS    clusters of all rows to begin with, where ranks
 *                                                           hold the rows that they analysed, else
 *                                                 ROWS ...  rank; rows, their clusters to begin with
 *     SWEEP     k, labels of all rows
 *                                                 LABELS    others
 *     RESULT    what is known of all
 *     PART ...  first row, n; label, score, runner-up, second
 *
 *                                                 END
 *     any time:
 *     PROGRESS  phase, how far
 *     BEAT      all ranks are there
 *     FAILED    status, message: the end
 *
 * Both are the same program, which READY says, so numbers lie as in memory.
 */
#ifndef GF_ENGINE_RANKS_JOB_H
#define GF_ENGINE_RANKS_JOB_H

#include "cluster/ranks/ranked.h"
#include "grouperfish/buffer.h"

enum {
    GF_JOB_READY = 1,
    GF_JOB_BEGIN,
    GF_JOB_ROWS,
    GF_JOB_PROGRESS,
    GF_JOB_BEAT,
    GF_JOB_SWEEP,
    GF_JOB_LABELS,
    GF_JOB_RESULT,
    GF_JOB_PART,
    GF_JOB_END,
    GF_JOB_FAILED,
    GF_JOB_ANALYSE,
    GF_JOB_TEXTS,
    GF_JOB_AGAIN,
    GF_JOB_WEIGH,
    GF_JOB_TERMS,
    GF_JOB_VECTORS,
    GF_JOB_CELLS,
    GF_JOB_INDEXED,
    GF_JOB_STARTS
};

/** The numbers of BEGIN. Behind them n times rows and entries of a rank, u64 each; then n_cols factors
 * of the choice of k, floats, where has_factor says so. */
typedef struct gf_ranks_begin {
    uint64_t seed;
    double tolerance;
    uint32_t n_ranks, n_cols, frames, sample;
    uint32_t k, max_k, reach, start_k, restarts, max_passes, max_rounds;
    uint32_t settled, start_refined, quick, sweeps, has_factor;
    uint32_t rows_held; /* the ranks have them; STARTS comes where start_k is not 0 */
} gf_ranks_begin;

/** A rank's part of the rows. */
typedef struct gf_ranks_part {
    uint64_t rows, entries;
} gf_ranks_part;

/** The numbers in front of PROGRESS' phase. */
typedef struct gf_ranks_progress {
    uint64_t done, total;
} gf_ranks_progress;

/** The numbers of RESULT; behind them the centres, then the steps of the choice of k. */
typedef struct gf_ranks_result {
    uint64_t centre_bytes, sent; /* sent: bytes between ranks */
    double objective;
    uint32_t distinct, k, passes, converged, choice_k, n_steps;
    gf_k_reason reason;
} gf_ranks_result;

/** The numbers in front of a PART's four arrays. */
typedef struct gf_ranks_rows {
    uint64_t first, n;
} gf_ranks_rows;

/** The numbers of ANALYSE; behind them the settings, as gf_vectorizer_options_write has them. */
typedef struct gf_ranks_analysis {
    uint32_t indexes_words, indexes_rows; /* which indexes are made of them */
    uint32_t compresses;                  /* their cells are as gf_value_compress makes them */
    uint32_t has_languages;               /* texts say their languages, or they are found */
} gf_ranks_analysis;

/** The numbers of TEXTS. Behind them n times lang and text, as strings. */
typedef struct gf_ranks_texts {
    uint32_t n;
    uint32_t fallback; /* gf_fallback_kind */
    uint32_t language; /* of the fallback: its index + 1; 0: none */
} gf_ranks_texts;

/** The numbers of TERMS; behind them the vocabulary. */
typedef struct gf_ranks_terms {
    uint64_t rows, entries;
} gf_ranks_terms;

/** The numbers of VECTORS. Behind them n kinds, a byte each; n lengths; columns; values. */
typedef struct gf_ranks_vectors {
    uint64_t entries, n;
} gf_ranks_vectors;

/** INDEXED: what the head of the index of words tells. */
typedef struct gf_ranks_indexed {
    uint64_t documents, words;
    uint64_t
        spoken; /* a bit for each language that documents have: gf_language_index + 1; 0: none */
} gf_ranks_indexed;

/** What a process is: versions and kernels, in words, which all ranks and the holder share. */
void gf_ranks_job_identify(gf_buffer *out);

/** The options as they are at a rank: without start, progress and cancel. factor: n_cols, or NULL. */
void gf_ranks_job_take_options(const gf_ranks_begin *begin, const float *factor,
                               gf_refinement *refinement, gf_ranked_options *options);

/** The other way round. */
gf_ranks_begin gf_ranks_job_put_options(const gf_ranked_options *options, uint32_t n_cols);

/** Take n bytes off the front; false where there are fewer. */
bool gf_ranks_job_take(gf_slice *s, void *to, size_t n);

#endif
