#include "engine/ranks/world.h"

#include "base/clock.h"
#include "base/number.h"
#include "engine/ranks/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LET_GO_SECONDS =
        70 /* until ranks that had nothing to do have ended: some may just have begun */
};

/* The one that is open: see the header. */
static struct {
    unsigned n; /* 0: none */
    pid_t rank; /* 0: taken */
    int tell;   /* its standard input */
    int said;
} open_world;

static bool read_number(const char *name, unsigned *v)
{
    const char *text = getenv(name);
    uint64_t number;
    if (!text || !gf_number_read(gf_slice_str(text), &number) || number > UINT32_MAX) return false;
    *v = (unsigned)number;
    return true;
}

bool gf_ranks_world_find(gf_ranks_world *w)
{
    static const struct {
        const char *n, *me;
        unsigned least; /* processes: srun also starts shells, one by one */
    } by[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", 1},
              {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", 2},
              {"PMI_SIZE", "PMI_RANK", 2}};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++)
        if (read_number(by[i].n, &w->n) && read_number(by[i].me, &w->me) && w->me < w->n)
            return w->n >= by[i].least;
    return false;
}

gf_status gf_ranks_world_become(const gf_ranks_world *w, const char *threads, gf_error *err)
{
    gf_buffer rank = {0};
    char n[16];
    snprintf(n, sizeof n, "%u", w->n);
    gf_status st = gf_ranks_programs_rank(&rank, err);
    if (st == GF_OK) {
        const char *path = gf_buffer_cstr(&rank);
        signal(SIGPIPE, SIG_DFL);
        execl(path, path, "-", threads, n, (char *)NULL);
        st = gf_fail_errno(err, "%s", path);
    }
    gf_buffer_release(&rank);
    return st;
}

gf_status gf_ranks_world_open(const gf_ranks_world *w, const char *threads, gf_error *err)
{
    gf_buffer rank = {0};
    gf_ranks_words c = {.n = 0};
    char n[16];
    int ends[2] = {-1, -1}, said = -1;
    pid_t process = 0;
    snprintf(n, sizeof n, "%u", w->n);
    gf_status st = gf_ranks_programs_rank(&rank, err);
    if (st == GF_OK && pipe2(ends, O_CLOEXEC) != 0) st = gf_fail_errno(err, "a pipe to a rank");
    if (st == GF_OK) {
        said = memfd_create("rank", MFD_CLOEXEC);
        if (said < 0) st = gf_fail_errno(err, "a file for what a rank says");
    }
    if (st == GF_OK) {
        gf_ranks_programs_add(&c, gf_buffer_cstr(&rank));
        gf_ranks_programs_add(&c, "-");
        gf_ranks_programs_add(&c, threads);
        gf_ranks_programs_add(&c, n);
        int code = gf_ranks_programs_spawn(&c, ends[0], said, &process);
        if (code) st = gf_fail(err, GF_EIO, "%s: %s", c.words[0], strerror(code));
    }
    if (ends[0] >= 0) close(ends[0]);
    gf_buffer_release(&rank);
    if (st == GF_OK) {
        open_world.n = w->n;
        open_world.rank = process;
        open_world.tell = ends[1];
        open_world.said = said;
        return GF_OK;
    }
    if (ends[1] >= 0) close(ends[1]);
    if (said >= 0) close(said);
    return st;
}

unsigned gf_ranks_world_n(void)
{
    return open_world.n;
}

gf_status gf_ranks_world_take(const char *path, pid_t *process, int *said, gf_error *err)
{
    if (!open_world.rank)
        return gf_fail(err, GF_EIO, "the ranks that were started together have ended");
    *process = open_world.rank;
    *said = open_world.said;
    open_world.rank = 0;
    /* One that has ended meanwhile is not told: whoever waits for it finds that out. */
    if (write(open_world.tell, path, strlen(path)) < 0) errno = 0;
    close(open_world.tell);
    return GF_OK;
}

void gf_ranks_world_close(void)
{
    pid_t rank = open_world.rank;
    open_world.n = 0;
    open_world.rank = 0;
    if (!rank) return;
    close(open_world.tell);
    close(open_world.said);
    double until = gf_clock_seconds() + LET_GO_SECONDS;
    while (waitpid(rank, NULL, WNOHANG) == 0) {
        if (gf_clock_seconds() > until) {
            kill(-rank, SIGKILL);
            waitpid(rank, NULL, 0);
            return;
        }
        poll(NULL, 0, 20);
    }
}
