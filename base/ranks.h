/**
 * Processes that work together on one thing, each with its own memory: rank 0, 1 .. n - 1. What one
 * of them needs of the others goes through the three calls below, which all ranks make, in the same
 * order.
 *
 *     sum        whole numbers, added up over the ranks: exact, so the order does not matter
 *     send_all   bytes of one rank to all
 *     deal       from each rank some bytes to each other one
 *
 * By what the bytes travel is another's matter (gf_ranks_transport): MPI in the program
 * grouperfish-rank, memory between threads in tests. NULL is one rank alone.
 *
 * A rank that fails does not come to the next call, and the others would wait for it for ever: who
 * runs the ranks ends all of them when one fails. Threads: a gf_ranks is used by one thread.
 */
#ifndef GF_BASE_RANKS_H
#define GF_BASE_RANKS_H

#include "grouperfish/buffer.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

typedef struct gf_ranks gf_ranks;

/** How bytes travel. The calls are those below. */
typedef struct gf_ranks_transport {
    gf_status (*sum)(gf_ranks *ranks, uint64_t *v, size_t n, gf_error *err);
    gf_status (*send_all)(gf_ranks *ranks, unsigned from, gf_buffer *bytes, gf_error *err);
    gf_status (*deal)(gf_ranks *ranks, const gf_slice *to, gf_buffer *from, gf_error *err);
} gf_ranks_transport;

struct gf_ranks {
    const gf_ranks_transport *transport;
    void *context; /* the transport's */
    unsigned n, me;
    uint64_t sent; /* bytes that this rank gave to others, so far */
};

/** How many there are: 1 where ranks is NULL. */
unsigned gf_ranks_n(const gf_ranks *ranks);

/** This one's number, 0 .. n - 1. */
unsigned gf_ranks_me(const gf_ranks *ranks);

/** v[i] becomes the sum of all ranks' v[i], modulo 2^64. GF_EIO, GF_ENOMEM, GF_ECANCELLED. */
gf_status gf_ranks_sum(gf_ranks *ranks, uint64_t *v, size_t n, gf_error *err);

/** Every rank's buffer becomes that of rank `from`, whose own stays. Errors likewise. */
gf_status gf_ranks_send_all(gf_ranks *ranks, unsigned from, gf_buffer *bytes, gf_error *err);

/**
 * Give to[i] to rank i, and get from[i] of it: what it gave to this one.
 *
 * @param to    n slices
 * @param from  n buffers, whose bytes are replaced
 */
gf_status gf_ranks_deal(gf_ranks *ranks, const gf_slice *to, gf_buffer *from, gf_error *err);

/** The same from all ranks to rank `to` alone: from[i] of the others stays empty. */
gf_status gf_ranks_gather(gf_ranks *ranks, unsigned to, gf_slice bytes, gf_buffer *from,
                          gf_error *err);

#endif
