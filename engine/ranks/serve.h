/**
 * The work of a rank: what grouperfish-rank does between MPI's beginning and end. Rank 0 talks with the
 * holder of the store over a socket (engine/ranks/job.h), and with the other ranks as they do with
 * each other.
 */
#ifndef GF_ENGINE_RANKS_SERVE_H
#define GF_ENGINE_RANKS_SERVE_H

#include "base/pool.h"
#include "base/ranks.h"
#include "cluster/ranks/ranked.h"

typedef struct gf_ranks_serving {
    gf_ranks *ranks;
    gf_pool *pool;
    int fd;                           /* at rank 0: the socket; else -1 */
    double (*silence)(void *context); /* seconds since the most silent rank was heard; any thread */
    void (*gone)(void *context);      /* the holder is gone: ends the ranks; any thread */
    void *context;
    gf_ranked_account *account; /* NULL, or set: what the passes sent */
    _Atomic uint64_t *handed;   /* NULL, or added to: bytes between rank 0 and the holder */
} gf_ranks_serving;

/**
 * Analyse the texts that the holder sends, and cluster rows, and send back what comes of it, until it says
 * that this was all.
 *
 * @return GF_OK; else the ranks are to be ended, and the holder knows why where rank 0 does
 */
gf_status gf_ranks_serve(const gf_ranks_serving *serving, gf_error *err);

#endif
