/*
 * grouperfish-rank: one of the processes that cluster together. `grouperfish rebuild` starts them, or
 * becomes one:
 *
 *     grouperfish-rank SOCKET THREADS     by `--ranks` and mpirun
 *     grouperfish-rank - THREADS N        one of N that others started (engine/ranks/world.h): rank 0
 *                                         reads the socket's path from its standard input
 */
#include "cli/rank/mpi.h"

#include "base/library.h"
#include "engine/ranks/serve.h"
#include "grouperfish.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static gf_status reach_holder(const char *path, int *fd, gf_error *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof at.sun_path) return gf_fail(err, GF_EINVAL, "%s: too long", path);
    memcpy(at.sun_path, path, strlen(path));
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd >= 0 && connect(*fd, (struct sockaddr *)&at, sizeof at) == 0) return GF_OK;
    return gf_fail(
        err, GF_EIO,
        "the first rank does not reach the process of the store (%s): the first host of the "
        "list must be this machine",
        strerror(errno));
}

/* The processors of this machine, dealt to the ranks that are on it; bound to some, it has those. */
static unsigned own_threads(const gf_rank_mpi *mpi, const char *asked)
{
    unsigned long n = strtoul(asked, NULL, 10);
    long processors = sysconf(_SC_NPROCESSORS_ONLN), ranks = gf_rank_mpi_beside(mpi);
    cpu_set_t own;
    if (n > 0) return (unsigned)n;
    if (sched_getaffinity(0, sizeof own, &own) == 0 && CPU_COUNT(&own) < processors)
        return (unsigned)CPU_COUNT(&own);
    return processors > ranks ? (unsigned)(processors / ranks) : 1;
}

/*
 * Where rank 0 is told the socket's path, or that there is nothing to cluster: then the path is empty, for
 * all ranks. The others get that path, too, and do not look at it.
 */
static gf_status wait_for_rows(gf_ranks *ranks, const char *started, gf_buffer *path, gf_error *err)
{
    unsigned n = (unsigned)strtoul(started, NULL, 10);
    char part[256];
    ssize_t got = 1;
    if (gf_ranks_n(ranks) != n)
        return gf_fail(err, GF_EIO,
                       "%u processes were started together, and of those MPI knows %u: start them "
                       "by Open MPI's mpirun, or by srun --mpi=pmix",
                       n, gf_ranks_n(ranks));
    while (gf_ranks_me(ranks) == 0 && got != 0) {
        got = read(STDIN_FILENO, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return gf_fail_errno(err, "the process of the store is not heard");
        gf_buffer_append(path, part, (size_t)got);
    }
    return gf_ranks_send_all(ranks, 0, path, err);
}

static double silence_of(void *context)
{
    return gf_rank_mpi_silence(context);
}

/* Nobody waits for the result any more. */
static void end_all(void *context)
{
    (void)context;
    gf_rank_mpi_abort();
}

static gf_status serve(gf_rank_mpi *mpi, const char *path, const char *threads,
                       gf_ranked_account *account, _Atomic uint64_t *handed, gf_error *err)
{
    gf_ranks_serving s = {.ranks = gf_rank_mpi_ranks(mpi),
                          .fd = -1,
                          .silence = silence_of,
                          .gone = end_all,
                          .context = mpi,
                          .account = account,
                          .handed = handed};
    gf_status st = gf_ranks_me(s.ranks) == 0 ? reach_holder(path, &s.fd, err) : GF_OK;
    if (st == GF_OK) st = gf_pool_create(own_threads(mpi, threads), &s.pool, err);
    if (st == GF_OK) st = gf_ranks_serve(&s, err);
    gf_pool_free(s.pool);
    if (s.fd >= 0) close(s.fd);
    return st;
}

/* The memory and bytes that this rank took, for whoever keeps what ranks say (bench/ranks). */
static void tell_account(const gf_ranks *ranks, const gf_ranked_account *a, uint64_t handed)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0) return;
    double seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    fprintf(stderr,
            "rank %u: %.1f s of processor time, %ld KB of memory, %" PRIu64
            " bytes sent; first pass: %" PRIu64 " of changes, %" PRIu64
            " of centres; %u later ones: %" PRIu64 ", %" PRIu64 ", %" PRIu64
            " documents moved; centres of %" PRIu64 " entries; %" PRIu64
            " bytes from and to the store\n",
            gf_ranks_me(ranks), seconds, used.ru_maxrss, ranks->sent, a->first_changes,
            a->first_centres, a->later_passes, a->later_changes, a->later_centres, a->moved,
            a->centre_entries, handed);
}

int main(int n_words, char **words)
{
    gf_rank_mpi *mpi;
    gf_error err = {GF_OK, ""};
    if (n_words == 2 && strcmp(words[1], "--version") == 0) {
        printf("grouperfish-rank %s\n", gf_version());
        return 0;
    }
    if (n_words != 3 && n_words != 4) {
        fprintf(stderr, "grouperfish-rank: `grouperfish rebuild --ranks` starts this program\n");
        return 2;
    }
    if (gf_rank_mpi_open(&mpi, &err) != GF_OK) {
        fprintf(stderr, "grouperfish-rank: %s\n", err.message);
        return 1;
    }
    gf_buffer path = {0};
    gf_ranked_account account = {0};
    _Atomic uint64_t handed = 0;
    bool is_joined = n_words == 4;
    gf_status st = GF_OK;
    if (is_joined)
        st = wait_for_rows(gf_rank_mpi_ranks(mpi), words[3], &path, &err);
    else
        gf_buffer_str(&path, words[1]);
    if (st == GF_OK) st = gf_buffer_check(&path, &err);
    if (st == GF_OK && path.len)
        st = serve(mpi, gf_buffer_cstr(&path), words[2], &account, &handed, &err);
    gf_buffer_release(&path);
    if (st != GF_OK) {
        fprintf(stderr, "grouperfish-rank: %s\n", err.message);
        fflush(stderr);
        usleep(200000); /* for mpirun to pass that on */
        gf_rank_mpi_abort();
    }
    if (!is_joined)
        tell_account(gf_rank_mpi_ranks(mpi), &account, handed); /* else a user would read it */
    gf_rank_mpi_close(mpi);
    return 0;
}
