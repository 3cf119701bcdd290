/**
 * A rank at its work, as the parts of it share it: serve.c meets the holder and clusters, serve_texts.c
 * analyses, serve_index.c makes indexes of what was analysed, serve_rows.c parts it.
 */
#ifndef GF_ENGINE_RANKS_SERVE_INTERNAL_H
#define GF_ENGINE_RANKS_SERVE_INTERNAL_H

#include "engine/ranks/job.h"
#include "engine/ranks/serve.h"
#include "vectorize/rows/words.h"

#include <pthread.h>

/**
 * Rows of texts that a rank has analysed, as they lie at the ranks then: each has some documents of each
 * round (serve_texts.c). {0}: there are none.
 */
typedef struct gf_ranks_held {
    gf_csr x; /* this rank's documents; those without terms have empty rows */
    size_t n_rounds;
    uint32_t *round; /* n_rounds: this rank's documents of each */
    uint32_t *rows;  /* n_rounds * ranks: rows with terms, of each rank in turn */
} gf_ranks_held;

typedef struct gf_ranks_serving_job {
    const gf_ranks_serving *by;
    pthread_mutex_t lock; /* of writing to the holder, and of is_over */
    pthread_cond_t wakes;
    bool is_over;
    gf_ranks_begin begin;
    gf_ranks_part *parts; /* n ranks */
    float *factor;
    gf_ranks_held held; /* of the last analysis, until rows are parted */
    gf_csr x;
    uint32_t *start; /* x.n_rows, or NULL */
} gf_ranks_serving_job;

static inline bool gf_ranks_serve_is_first(const gf_ranks_serving_job *job)
{
    return gf_ranks_me(job->by->ranks) == 0;
}

/** Fail for a message that cannot be read. */
gf_status gf_ranks_serve_fail_message(gf_error *err);

/** At rank 0: tell the holder something, of two parts. Any thread. */
gf_status gf_ranks_serve_tell(gf_ranks_serving_job *job, uint32_t kind, gf_slice a, gf_slice b,
                              gf_error *err);

/** At rank 0: the next message. */
gf_status gf_ranks_serve_hear(gf_ranks_serving_job *job, uint32_t *kind, gf_buffer *bytes,
                              gf_error *err);

/** At rank 0: tell the holder how far something is. */
void gf_ranks_serve_report(gf_ranks_serving_job *job, const char *phase, uint64_t done,
                           uint64_t total);

/**
 * What ranks give goes to the holder from rank 0, rank by rank, as messages of a kind; where there is
 * nothing, none.
 *
 * @param from  n ranks, scratch
 */
gf_status gf_ranks_serve_tell_gathered(gf_ranks_serving_job *job, uint32_t kind, gf_slice mine,
                                       gf_buffer *from, gf_error *err);

/** Documents that ranks have analysed and are to index. */
typedef struct gf_ranks_indexed_documents {
    size_t n_rounds;
    const uint32_t *rounds; /* n_rounds * ranks: documents of each round, of each rank in turn */
    gf_words *words;        /* of this rank's documents; NULL: not to be indexed */
    const gf_csr *rows;     /* likewise */
    bool compresses;        /* cells */
} gf_ranks_indexed_documents;

/** Make the indexes together with the other ranks, and send them to the holder. */
gf_status gf_ranks_serve_index(gf_ranks_serving_job *job, const gf_ranks_indexed_documents *of,
                               gf_error *err);

void gf_ranks_serve_release_held(gf_ranks_held *held);

/** Make job->x, of neighbouring rows of all, of the rows that ranks hold, and hold them no more. */
gf_status gf_ranks_serve_part_rows(gf_ranks_serving_job *job, gf_error *err);

/**
 * Analyse the texts that follow, together with the other ranks, send the rows back, and hold them.
 *
 * @param settings  what GF_JOB_ANALYSE says, of all ranks
 */
gf_status gf_ranks_serve_texts(gf_ranks_serving_job *job, gf_slice settings, gf_error *err);

#endif
