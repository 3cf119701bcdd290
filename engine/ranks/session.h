/**
 * A job of ranks as the holder of the store has it: processes that were started, a socket to the first
 * of them, and how often that was tried. The messages are those of engine/ranks/job.h.
 *
 *     open     starts the ranks, where they are not there; they are the same program as this one
 *     ...      analyse.h, cluster.h
 *     end      they end by themselves
 *
 * A job whose rank dies, or of which nothing is heard for a minute, is lost. Whoever used it asks whether
 * it may be tried again, and then begins anew, with what ranks do not have any more.
 */
#ifndef GF_ENGINE_RANKS_SESSION_H
#define GF_ENGINE_RANKS_SESSION_H

#include "cluster/kmeans.h"
#include "engine/ranks/process.h"

typedef struct gf_ranks_session {
    gf_ranks_start start;         /* borrows */
    gf_kmeans_progress *progress; /* may be NULL */
    void *progress_context;
    double silence; /* seconds in which nothing is heard until the job is lost */
    gf_ranks_process process;
    unsigned n; /* ranks; 0: not open */
    unsigned tries;
    bool is_lost;     /* the job, and not what it does */
    gf_buffer hosts;  /* path of a file with those that answer; empty: all of start.hosts */
    uint64_t frames;  /* texts: that were handed out since the analysis began (analyse.h) */
    bool is_analysis; /* one has begun, and has not come to its end */
    uint64_t held_rows, held_entries; /* of the last one, which the ranks have; 0 rows: none */
} gf_ranks_session;

/** A session that is not open. start's strings are borrowed until release. */
void gf_ranks_session_init(gf_ranks_session *session, const gf_ranks_start *start,
                           gf_kmeans_progress *progress, void *context);

/** End what is not ended. */
void gf_ranks_session_release(gf_ranks_session *session);

/**
 * Have the ranks there.
 * @return GF_OK; GF_EINVAL (ranks that are not alike), GF_EIO (they do not start), GF_ENOMEM,
 *         GF_ECANCELLED
 */
gf_status gf_ranks_session_open(gf_ranks_session *session, gf_error *err);

/** The same of ranks that are there already, at the other end of a socket, and once. */
gf_status gf_ranks_session_open_over(gf_ranks_session *session, int fd, double silence,
                                     gf_error *err);

/**
 * A call failed: whether it may be made again, in a session that is to be opened anew. Else the session is
 * closed, and the message says how often it was tried.
 */
bool gf_ranks_session_retries(gf_ranks_session *session, gf_error *why);

/** The work is done: have the ranks end. */
gf_status gf_ranks_session_end(gf_ranks_session *session, gf_error *err);

/** Tell rank 0 something, of two parts. */
gf_status gf_ranks_session_tell(gf_ranks_session *session, uint32_t kind, gf_slice a, gf_slice b,
                                gf_error *err);

/** The next message that is neither progress nor a beat; GF_JOB_FAILED is a failure. */
gf_status gf_ranks_session_hear(gf_ranks_session *session, uint32_t *kind, gf_buffer *bytes,
                                gf_error *err);

/** Take what has come without waiting for it, while much is told: GF_ECORRUPT for more than beats. */
gf_status gf_ranks_session_drain(gf_ranks_session *session, gf_error *err);

/** Report progress, where it is wanted. */
void gf_ranks_session_report(const gf_ranks_session *session, const char *phase, uint64_t done,
                             uint64_t total);

/** Fail for a message that cannot be read. */
gf_status gf_ranks_session_fail_message(gf_error *err);

#endif
