#include "cli/rank/mpi.h"

#include "base/clock.h"
#include "base/memory.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE = 256 << 20, /* bytes that a rank gives in one round of dealing */
    BUSY_LOOKS = 100,  /* for an answer, before sleeping between looks */
    LEAST_NAP = 20000, /* nanoseconds */
    MOST_NAP = 1000000,
    BEAT = 1,     /* tag: I am there */
    CUT_OFF = 120 /* seconds without rank 0, after which a rank ends itself */
};

struct gf_rank_mpi {
    gf_ranks ranks;
    pthread_mutex_t lock; /* of all calls of MPI */
    MPI_Comm beats;
    unsigned beside; /* ranks of this machine */
    pthread_t beating;
    bool is_over;
    double *heard;       /* n: when; of rank 0, at rank 0 of all */
    MPI_Request *beaten; /* n: beats on their way */
};

/* ---- waiting ---------------------------------------------------------------------------------- */

static void nap(long nanoseconds)
{
    nanosleep(&(struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000}, NULL);
}

/* MPI gets on only while it is asked, so naps are short, and grow while nothing comes. */
static void wait_for(gf_rank_mpi *m, MPI_Request *request)
{
    int done = 0;
    long length = LEAST_NAP;
    for (unsigned looks = 0;; looks++) {
        pthread_mutex_lock(&m->lock);
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&m->lock);
        if (done) return;
        if (looks < BUSY_LOOKS) {
            sched_yield();
            continue;
        }
        nap(length);
        if (looks % 64 == 0 && length < MOST_NAP) length *= 2;
    }
}

/* ---- the calls --------------------------------------------------------------------------------- */

static gf_status sum_numbers(gf_ranks *r, uint64_t *v, size_t n, gf_error *err)
{
    (void)err;
    gf_rank_mpi *m = r->context;
    for (size_t at = 0, now; at < n; at += now) {
        MPI_Request request;
        now = n - at < PIECE / sizeof *v ? n - at : PIECE / sizeof *v;
        pthread_mutex_lock(&m->lock);
        MPI_Iallreduce(MPI_IN_PLACE, v + at, (int)now, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD,
                       &request);
        pthread_mutex_unlock(&m->lock);
        wait_for(m, &request);
    }
    return GF_OK;
}

static gf_status send_bytes(gf_ranks *r, unsigned from, gf_buffer *bytes, gf_error *err)
{
    gf_rank_mpi *m = r->context;
    MPI_Request request;
    uint64_t n = bytes->len;
    pthread_mutex_lock(&m->lock);
    MPI_Ibcast(&n, 1, MPI_UINT64_T, (int)from, MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&m->lock);
    wait_for(m, &request);
    if (r->me != from) gf_buffer_reset(bytes);
    char *at = r->me == from ? bytes->ptr : gf_buffer_reserve(bytes, (size_t)n);
    if (n && !at) return gf_fail_memory(err, "what another rank sent");
    for (uint64_t done = 0, now; done < n; done += now) {
        now = n - done < PIECE ? n - done : PIECE;
        pthread_mutex_lock(&m->lock);
        MPI_Ibcast(at + done, (int)now, MPI_BYTE, (int)from, MPI_COMM_WORLD, &request);
        pthread_mutex_unlock(&m->lock);
        wait_for(m, &request);
    }
    bytes->len = (size_t)n;
    return GF_OK;
}

/* Bytes between done and the end that go in this round. */
static int round_bytes(uint64_t size, uint64_t done, uint64_t piece)
{
    if (size <= done) return 0;
    return (int)(size - done < piece ? size - done : piece);
}

/*
 * One round: to and from each rank as many bytes as a piece has. They travel from where they are to where
 * they belong: one message a pair, which is received before it is sent.
 */
static void deal_round(gf_rank_mpi *m, const gf_slice *to, char *const *into, const uint64_t *sizes,
                       uint64_t done, uint64_t piece, MPI_Request *requests)
{
    const gf_ranks *r = &m->ranks;
    unsigned n = 0;
    pthread_mutex_lock(&m->lock);
    for (unsigned i = 0; i < r->n; i++) {
        int bytes = i == r->me ? 0 : round_bytes(sizes[i], done, piece);
        if (bytes)
            MPI_Irecv(into[i] + done, bytes, MPI_BYTE, (int)i, 0, MPI_COMM_WORLD, &requests[n++]);
    }
    for (unsigned j = 1; j < r->n; j++) {
        unsigned i = (r->me + j) % r->n; /* not all to the same one at first */
        int bytes = round_bytes(to[i].len, done, piece);
        if (bytes)
            MPI_Isend(to[i].ptr + done, bytes, MPI_BYTE, (int)i, 0, MPI_COMM_WORLD, &requests[n++]);
    }
    pthread_mutex_unlock(&m->lock);
    for (unsigned i = 0; i < n; i++)
        wait_for(m, &requests[i]);
}

static gf_status deal_bytes(gf_ranks *r, const gf_slice *to, gf_buffer *from, gf_error *err)
{
    gf_rank_mpi *m = r->context;
    uint64_t *sizes = gf_array((size_t)r->n * 2, sizeof *sizes), *given = sizes + r->n, most = 0;
    MPI_Request *requests = gf_array((size_t)r->n * 2, sizeof(MPI_Request)), request;
    char **into = gf_calloc(r->n, sizeof *into);
    gf_status st = sizes && requests && into ? GF_OK : gf_fail_memory(err, "dealing");
    if (st != GF_OK) goto done;
    for (unsigned i = 0; i < r->n; i++)
        given[i] = to[i].len;
    pthread_mutex_lock(&m->lock);
    MPI_Ialltoall(given, 1, MPI_UINT64_T, sizes, 1, MPI_UINT64_T, MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&m->lock);
    wait_for(m, &request);
    for (unsigned i = 0; i < r->n && st == GF_OK; i++) {
        gf_buffer_reset(&from[i]);
        into[i] = gf_buffer_reserve(&from[i], (size_t)sizes[i]);
        if (sizes[i] && !into[i]) st = gf_fail_memory(err, "what another rank sent");
        if (i != r->me && sizes[i] > most) most = sizes[i];
        if (i != r->me && given[i] > most) most = given[i];
    }
    if (st != GF_OK) goto done;
    if (sizes[r->me]) memcpy(into[r->me], to[r->me].ptr, to[r->me].len);
    const uint64_t piece = PIECE / r->n;
    for (uint64_t at = 0; at < most; at += piece)
        deal_round(m, to, into, sizes, at, piece, requests);
    for (unsigned i = 0; i < r->n; i++)
        from[i].len = (size_t)sizes[i];
done:
    gf_free(sizes);
    gf_free(requests);
    gf_free(into);
    return st;
}

static const gf_ranks_transport by_mpi = {sum_numbers, send_bytes, deal_bytes};

/* ---- beats ------------------------------------------------------------------------------------- */

static void hear_all(gf_rank_mpi *m)
{
    int there = 1;
    while (there) {
        MPI_Status status;
        char beat;
        MPI_Iprobe(MPI_ANY_SOURCE, BEAT, m->beats, &there, &status);
        if (!there) return;
        MPI_Recv(&beat, 1, MPI_CHAR, status.MPI_SOURCE, BEAT, m->beats, MPI_STATUS_IGNORE);
        m->heard[status.MPI_SOURCE] = gf_clock_seconds();
    }
}

/* A beat for each peer, unless the one before is still on its way; false while any is. */
static bool send_beats(gf_rank_mpi *m, bool more)
{
    static char byte = 1;
    unsigned end = m->ranks.me == 0 ? m->ranks.n : 1;
    bool all_sent = true;
    for (unsigned i = m->ranks.me == 0 ? 1 : 0; i < end; i++) {
        int sent = 1;
        MPI_Test(&m->beaten[i], &sent, MPI_STATUS_IGNORE);
        if (sent && more) MPI_Isend(&byte, 1, MPI_CHAR, (int)i, BEAT, m->beats, &m->beaten[i]);
        all_sent = all_sent && sent;
    }
    return all_sent;
}

static void *beat(void *context)
{
    gf_rank_mpi *m = context;
    for (unsigned tick = 0;; tick++) {
        pthread_mutex_lock(&m->lock);
        bool over = m->is_over;
        hear_all(m);
        bool all_sent = send_beats(m, !over && tick % 10 == 0);
        pthread_mutex_unlock(&m->lock);
        if (over && all_sent) return NULL;
        if (m->ranks.me != 0 && gf_rank_mpi_silence(m) > CUT_OFF) {
            fprintf(stderr, "rank %u: rank 0 is not heard any more\n", m->ranks.me);
            _exit(1); /* whoever is cut off can tell nobody */
        }
        nap(100000000);
    }
}

double gf_rank_mpi_silence(gf_rank_mpi *m)
{
    double longest = 0, now = gf_clock_seconds();
    pthread_mutex_lock(&m->lock);
    unsigned end = m->ranks.me == 0 ? m->ranks.n : 1;
    for (unsigned i = m->ranks.me == 0 ? 1 : 0; i < end; i++)
        if (now - m->heard[i] > longest) longest = now - m->heard[i];
    pthread_mutex_unlock(&m->lock);
    return longest;
}

/* ---- the job ------------------------------------------------------------------------------------ */

/* Ranks that share memory with this one, which is one of them. */
static unsigned count_beside(void)
{
    MPI_Comm machine;
    int n = 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &n);
    MPI_Comm_free(&machine);
    return (unsigned)n;
}

gf_status gf_rank_mpi_open(gf_rank_mpi **mpi, gf_error *err)
{
    int provided, n, me;
    gf_rank_mpi *m = gf_calloc(1, sizeof *m);
    if (!m) return gf_fail_memory(err, "ranks");
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_SERIALIZED) {
        gf_free(m);
        return gf_fail(err, GF_EIO, "MPI does not start, or not with threads");
    }
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_dup(MPI_COMM_WORLD, &m->beats);
    m->beside = count_beside();
    m->ranks = (gf_ranks){&by_mpi, m, (unsigned)n, (unsigned)me, 0};
    m->heard = gf_array((size_t)n, sizeof *m->heard);
    m->beaten = gf_array((size_t)n, sizeof(MPI_Request));
    if (!m->heard || !m->beaten) {
        gf_free(m->heard);
        gf_free(m->beaten);
        gf_free(m);
        return gf_fail_memory(err, "ranks");
    }
    for (int i = 0; i < n; i++) {
        m->heard[i] = gf_clock_seconds();
        m->beaten[i] = MPI_REQUEST_NULL;
    }
    pthread_mutex_init(&m->lock, NULL);
    if (pthread_create(&m->beating, NULL, beat, m) != 0) {
        gf_free(m->heard);
        gf_free(m->beaten);
        gf_free(m);
        return gf_fail(err, GF_EIO, "a thread cannot be started");
    }
    *mpi = m;
    return GF_OK;
}

void gf_rank_mpi_close(gf_rank_mpi *m)
{
    MPI_Request request;
    pthread_mutex_lock(&m->lock);
    m->is_over = true;
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->beating, NULL); /* its last beat is on its way */
    pthread_mutex_lock(&m->lock);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&m->lock);
    wait_for(m, &request);
    hear_all(m);
    MPI_Comm_free(&m->beats);
    MPI_Finalize();
    pthread_mutex_destroy(&m->lock);
    gf_free(m->heard);
    gf_free(m->beaten);
    gf_free(m);
}

unsigned gf_rank_mpi_beside(const gf_rank_mpi *m)
{
    return m->beside;
}

gf_ranks *gf_rank_mpi_ranks(gf_rank_mpi *m)
{
    return &m->ranks;
}

void gf_rank_mpi_abort(void)
{
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}
