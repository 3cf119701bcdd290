#include "engine/ranks/session.h"

#include "engine/ranks/frames.h"
#include "engine/ranks/job.h"
#include "engine/ranks/world.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 3 };

/* Seconds in which nothing was heard of the ranks: a cut link is noticed within a minute. */
#define SILENCE 50

gf_status gf_ranks_session_fail_message(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "a message of the ranks cannot be read");
}

/* Longer or shorter for tests, and for networks that are slow to give up. */
static double most_silence(void)
{
    const char *named = getenv("GROUPERFISH_RANKS_SILENCE");
    double seconds = named ? strtod(named, NULL) : 0;
    return seconds >= 1 ? seconds : SILENCE;
}

void gf_ranks_session_report(const gf_ranks_session *s, const char *phase, uint64_t done,
                             uint64_t total)
{
    if (s->progress) s->progress(s->progress_context, phase, done, total);
}

/* ---- messages ------------------------------------------------------------------------------------- */

/* The other end is gone or silent: a rank may have said why. */
static gf_status lose(gf_ranks_session *s, gf_status st, gf_error *err)
{
    gf_buffer said = {0};
    if (st != GF_ENOTFOUND && st != GF_ELIMIT) return st;
    if (st == GF_ENOTFOUND && gf_ranks_process_said(&s->process, &said)) {
        st = gf_fail(err, GF_EIO, "%s", gf_buffer_cstr(&said));
    } else {
        s->is_lost = true;
        st = st == GF_ELIMIT
                 ? gf_fail(err, GF_EIO, "nothing was heard of the ranks for %.0f seconds",
                           s->silence)
                 : gf_fail(err, GF_EIO, "the ranks have died");
    }
    gf_buffer_release(&said);
    return st;
}

static gf_status take_progress(const gf_ranks_session *session, gf_slice s)
{
    gf_ranks_progress p;
    char phase[64];
    if (!gf_ranks_job_take(&s, &p, sizeof p) || s.len >= sizeof phase) return GF_OK;
    if (s.len) memcpy(phase, s.ptr, s.len);
    phase[s.len] = '\0';
    gf_ranks_session_report(session, phase, p.done, p.total);
    return GF_OK;
}

static gf_status take_failure(gf_slice s, gf_error *err)
{
    uint32_t code;
    if (!gf_ranks_job_take(&s, &code, sizeof code) || code == GF_OK)
        return gf_ranks_session_fail_message(err);
    return gf_fail(err, (gf_status)code, "%.*s", GF_SLICE_ARG(s));
}

/* One message; *passes: it was progress or a beat. */
static gf_status hear_one(gf_ranks_session *s, uint32_t *kind, gf_buffer *bytes, bool *passes,
                          gf_error *err)
{
    gf_status st =
        lose(s, gf_frames_read(s->process.fd, s->silence, s->start.cancel, kind, bytes, err), err);
    if (st != GF_OK) return st;
    if (*kind == GF_JOB_FAILED) return take_failure(gf_buffer_view(bytes), err);
    *passes = *kind == GF_JOB_PROGRESS || *kind == GF_JOB_BEAT;
    if (*kind == GF_JOB_PROGRESS) take_progress(s, gf_buffer_view(bytes));
    return GF_OK;
}

gf_status gf_ranks_session_hear(gf_ranks_session *s, uint32_t *kind, gf_buffer *bytes,
                                gf_error *err)
{
    bool passes = true;
    gf_status st = GF_OK;
    while (st == GF_OK && passes)
        st = hear_one(s, kind, bytes, &passes, err);
    return st;
}

gf_status gf_ranks_session_drain(gf_ranks_session *s, gf_error *err)
{
    struct pollfd p = {.fd = s->process.fd, .events = POLLIN};
    gf_buffer bytes = {0};
    gf_status st = GF_OK;
    while (st == GF_OK && poll(&p, 1, 0) > 0) {
        uint32_t kind;
        bool passes = true;
        st = hear_one(s, &kind, &bytes, &passes, err);
        if (st == GF_OK && !passes) st = gf_ranks_session_fail_message(err);
    }
    gf_buffer_release(&bytes);
    return st;
}

gf_status gf_ranks_session_tell(gf_ranks_session *s, uint32_t kind, gf_slice a, gf_slice b,
                                gf_error *err)
{
    gf_error why = {GF_OK, ""}, more = {GF_OK, ""};
    gf_status st = gf_frames_write(s->process.fd, kind, a, b, s->silence, s->start.cancel, &why);
    /* A rank that failed has said so before it was gone. */
    if (st == GF_ENOTFOUND) {
        gf_status said = gf_ranks_session_drain(s, &more);
        if (said != GF_OK) {
            if (err) *err = more;
            return said;
        }
    }
    st = lose(s, st, &why);
    if (st != GF_OK && err) *err = why;
    return st;
}

/* ---- beginning and end ------------------------------------------------------------------------------ */

void gf_ranks_session_init(gf_ranks_session *s, const gf_ranks_start *start,
                           gf_kmeans_progress *progress, void *context)
{
    *s = (gf_ranks_session){.start = *start,
                            .progress = progress,
                            .progress_context = context,
                            .silence = most_silence(),
                            .process = {.fd = -1, .listener = -1, .said = -1}};
}

static void close_session(gf_ranks_session *s, bool finish)
{
    gf_ranks_process_close(&s->process, finish);
    s->n = 0;
    s->is_analysis = false;
    s->held_rows = s->held_entries = 0;
}

void gf_ranks_session_release(gf_ranks_session *s)
{
    close_session(s, false);
    if (s->hosts.len) unlink(gf_buffer_cstr(&s->hosts));
    gf_buffer_release(&s->hosts);
}

/* The ranks are there, and the same program as this one. */
static gf_status meet(gf_ranks_session *session, gf_error *err)
{
    uint32_t kind, n = 0;
    gf_buffer bytes = {0}, mine = {0};
    gf_status st = gf_ranks_session_hear(session, &kind, &bytes, err);
    gf_slice s = gf_buffer_view(&bytes);
    if (st == GF_OK && (kind != GF_JOB_READY || !gf_ranks_job_take(&s, &n, sizeof n) || n == 0))
        st = gf_ranks_session_fail_message(err);
    gf_ranks_job_identify(&mine);
    if (st == GF_OK) st = gf_buffer_check(&mine, err);
    if (st == GF_OK && !gf_slice_equal(s, gf_buffer_view(&mine)))
        st = gf_fail(err, GF_EINVAL, "ranks must be alike: this process is %.*s; rank 0 is %.*s",
                     GF_SLICE_ARG(gf_buffer_view(&mine)), GF_SLICE_ARG(s));
    if (st == GF_OK) session->n = n;
    gf_buffer_release(&bytes);
    gf_buffer_release(&mine);
    return st;
}

/* A job was lost: the next one runs on the hosts that answer. */
static gf_status choose_hosts(gf_ranks_session *s, gf_ranks_start *now, gf_error *err)
{
    if (!s->start.hosts) return GF_OK;
    if (s->hosts.len) unlink(gf_buffer_cstr(&s->hosts));
    gf_ranks_session_report(s, "looking for hosts", 0, 0);
    gf_status st = gf_ranks_process_probe(&s->start, &s->hosts, err);
    now->hosts = st == GF_OK && s->hosts.len ? gf_buffer_cstr(&s->hosts) : s->start.hosts;
    return st;
}

gf_status gf_ranks_session_open(gf_ranks_session *s, gf_error *err)
{
    gf_ranks_start now = s->start;
    if (s->n) return GF_OK;
    gf_status st = s->tries ? choose_hosts(s, &now, err) : GF_OK;
    if (st != GF_OK) return st;
    gf_ranks_session_report(s, s->tries ? "starting the ranks again" : "starting the ranks", 0, 0);
    s->tries++;
    st = gf_ranks_process_open(&now, &s->process, err);
    return st == GF_OK ? meet(s, err) : st;
}

gf_status gf_ranks_session_open_over(gf_ranks_session *s, int fd, double silence, gf_error *err)
{
    s->process.fd = fd;
    s->silence = silence;
    s->tries = TRIES;
    return meet(s, err);
}

bool gf_ranks_session_retries(gf_ranks_session *s, gf_error *why)
{
    const unsigned tries = gf_ranks_world_n() ? 1 : TRIES; /* a job of others ends as a whole */
    bool was_lost = s->is_lost, left = s->tries < tries;
    close_session(s, false);
    s->is_lost = false;
    if (was_lost && !left && tries > 1) gf_error_prefix(why, "given up after %u tries", s->tries);
    return was_lost && left;
}

gf_status gf_ranks_session_end(gf_ranks_session *s, gf_error *err)
{
    const gf_slice none = {NULL, 0};
    if (!s->n) return GF_OK;
    gf_status st = gf_ranks_session_tell(s, GF_JOB_END, none, none, err);
    if (st == GF_OK) close_session(s, true);
    return st;
}
