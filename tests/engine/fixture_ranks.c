#include "tests/engine/fixture_ranks.h"

#include "support/ranks.h"
#include "support/test.h"

#include "engine/ranks/frames.h"
#include "engine/ranks/job.h"
#include "engine/ranks/serve.h"

#include <sys/socket.h>
#include <unistd.h>

ranks_pair ranks_pair_open(void)
{
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    return (ranks_pair){fd[0], fd[1]};
}

static double no_silence(void *context)
{
    return ((const ranks_job *)context)->is_silent ? 1000 : 0;
}

static void holder_gone(void *context)
{
    ((ranks_job *)context)->is_holder_gone = true;
}

static gf_status serve_rank(gf_ranks *ranks, void *context, gf_error *err)
{
    ranks_job *j = context;
    gf_ranks_serving s = {.ranks = ranks,
                          .fd = ranks->me == 0 ? j->fd : -1,
                          .silence = no_silence,
                          .gone = holder_gone,
                          .context = j};
    /* Machines differ in their processors. */
    gf_status st = gf_pool_create(j->threads + ranks->me % 2, &s.pool, err);
    if (st == GF_OK) st = gf_ranks_serve(&s, err);
    gf_pool_free(s.pool);
    return st;
}

void *ranks_job_serve(void *context)
{
    ranks_job *j = context;
    j->status = gf_test_ranks_run(j->n, serve_rank, j, &j->error);
    close(j->fd);
    return NULL;
}

void *ranks_lie(void *context)
{
    const ranks_liar *l = context;
    gf_buffer mine = {0};
    uint32_t n = 2;
    gf_ranks_job_identify(&mine);
    if (l->ready)
        gf_frames_write(l->fd, GF_JOB_READY, gf_slice_of((const char *)&n, sizeof n),
                        gf_buffer_view(&mine), 10, NULL, NULL);
    if (l->kind) gf_frames_write(l->fd, l->kind, l->says, (gf_slice){NULL, 0}, 10, NULL, NULL);
    char room[4096];
    while (l->kind && recv(l->fd, room, sizeof room, 0) > 0) {
    }
    shutdown(l->fd, SHUT_RDWR);
    gf_buffer_release(&mine);
    return NULL;
}
