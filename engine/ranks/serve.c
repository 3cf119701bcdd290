#include "engine/ranks/serve.h"

#include "base/memory.h"
#include "cluster/ranks/ranked_bytes.h"
#include "engine/ranks/frames.h"
#include "engine/ranks/serve_internal.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    BEAT_SECONDS = 1,
    MOST_SILENCE = 5 /* seconds: from then on the holder is not told that all are there */
};

typedef gf_ranks_serving_job rank_job;

static bool is_first(const rank_job *j)
{
    return gf_ranks_serve_is_first(j);
}

gf_status gf_ranks_serve_fail_message(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "a message of the store's process cannot be read");
}

static gf_status fail_message(gf_error *err)
{
    return gf_ranks_serve_fail_message(err);
}

/* ---- rank 0 and the holder -------------------------------------------------------------------- */

/* The holder may take nothing for long, as while it sweeps; one that died has closed the socket. */
gf_status gf_ranks_serve_tell(rank_job *j, uint32_t kind, gf_slice a, gf_slice b, gf_error *err)
{
    pthread_mutex_lock(&j->lock);
    gf_status st = gf_frames_write(j->by->fd, kind, a, b, 0, NULL, err);
    pthread_mutex_unlock(&j->lock);
    if (j->by->handed) *j->by->handed += a.len + b.len;
    return st;
}

static gf_status tell(rank_job *j, uint32_t kind, gf_slice a, gf_slice b, gf_error *err)
{
    return gf_ranks_serve_tell(j, kind, a, b, err);
}

gf_status gf_ranks_serve_hear(rank_job *j, uint32_t *kind, gf_buffer *bytes, gf_error *err)
{
    gf_status st = gf_frames_read(j->by->fd, 0, NULL, kind, bytes, err);
    if (st == GF_OK && j->by->handed) *j->by->handed += bytes->len;
    return st;
}

static gf_status hear(rank_job *j, uint32_t kind, gf_buffer *bytes, gf_error *err)
{
    uint32_t came;
    gf_status st = gf_ranks_serve_hear(j, &came, bytes, err);
    return st == GF_OK && came != kind ? fail_message(err) : st;
}

void gf_ranks_serve_report(rank_job *j, const char *phase, uint64_t done, uint64_t total)
{
    const gf_ranks_progress p = {done, total};
    tell(j, GF_JOB_PROGRESS, gf_slice_of((const char *)&p, sizeof p), gf_slice_str(phase), NULL);
}

static void report_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    gf_ranks_serve_report(context, phase, done, total);
}

/* Beats that the holder has not taken yet say all that another one would: it waits for no room. */
static gf_status tell_beat(rank_job *j)
{
    const gf_slice none = {NULL, 0};
    struct pollfd p = {.fd = j->by->fd, .events = POLLOUT};
    gf_status st = GF_OK;
    pthread_mutex_lock(&j->lock);
    if (poll(&p, 1, 0) > 0) st = gf_frames_write(p.fd, GF_JOB_BEAT, none, none, 0, NULL, NULL);
    pthread_mutex_unlock(&j->lock);
    return st;
}

/* Every second, while all ranks are heard. */
static void *beat(void *context)
{
    rank_job *j = context;
    pthread_mutex_lock(&j->lock);
    while (!j->is_over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += BEAT_SECONDS;
        pthread_cond_timedwait(&j->wakes, &j->lock, &until);
        if (j->is_over) break;
        pthread_mutex_unlock(&j->lock);
        bool all_heard = j->by->silence(j->by->context) < MOST_SILENCE;
        if (all_heard && tell_beat(j) != GF_OK) j->by->gone(j->by->context);
        pthread_mutex_lock(&j->lock);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

gf_status gf_ranks_serve_tell_gathered(rank_job *j, uint32_t kind, gf_slice mine, gf_buffer *from,
                                       gf_error *err)
{
    gf_status st = gf_ranks_gather(j->by->ranks, 0, mine, from, err);
    for (unsigned i = 0; i < gf_ranks_n(j->by->ranks) && st == GF_OK && is_first(j); i++)
        if (from[i].len) st = tell(j, kind, gf_buffer_view(&from[i]), (gf_slice){NULL, 0}, err);
    return st;
}

/* ---- what the ranks are ------------------------------------------------------------------------- */

/* At rank 0: all are the same program on the same kind of processor, or it is said which is not. */
static gf_status compare(const rank_job *j, const gf_buffer *said, gf_error *err)
{
    gf_slice first = gf_buffer_view(&said[0]), host = {NULL, 0};
    size_t end = 0;
    while (end < first.len && first.ptr[end] != '\n')
        end++;
    host = gf_slice_skip(first, end + (end < first.len));
    for (unsigned i = 1; i < gf_ranks_n(j->by->ranks); i++) {
        gf_slice other = gf_buffer_view(&said[i]);
        if (other.len > end && memcmp(other.ptr, first.ptr, end) == 0 && other.ptr[end] == '\n')
            continue;
        size_t at = 0;
        while (at < other.len && other.ptr[at] != '\n')
            at++;
        gf_slice its = gf_slice_skip(other, at + (at < other.len));
        return gf_fail(
            err, GF_EINVAL, "ranks must be alike: rank 0 on %.*s is %.*s; rank %u on %.*s is %.*s",
            GF_SLICE_ARG(host), (int)end, first.ptr, i, GF_SLICE_ARG(its), (int)at, other.ptr);
    }
    return GF_OK;
}

static gf_status be_ready(rank_job *j, gf_error *err)
{
    char host[256] = "?";
    unsigned n = gf_ranks_n(j->by->ranks);
    uint32_t number = n;
    gf_buffer mine = {0}, *said = gf_calloc(n, sizeof *said);
    gethostname(host, sizeof host - 1);
    gf_ranks_job_identify(&mine);
    size_t identity = mine.len;
    gf_buffer_format(&mine, "\n%s", host);
    gf_status st = said ? gf_buffer_check(&mine, err) : gf_fail_memory(err, "ranks");
    if (st == GF_OK) st = gf_ranks_gather(j->by->ranks, 0, gf_buffer_view(&mine), said, err);
    if (st == GF_OK && is_first(j)) st = compare(j, said, err);
    if (st == GF_OK && is_first(j))
        st = tell(j, GF_JOB_READY, gf_slice_of((const char *)&number, sizeof number),
                  gf_slice_of(mine.ptr, identity), err);
    for (unsigned i = 0; said && i < n; i++)
        gf_buffer_release(&said[i]);
    gf_free(said);
    gf_buffer_release(&mine);
    return st;
}

/* ---- rows --------------------------------------------------------------------------------------- */

/* The numbers of BEGIN. */
static gf_status take_begin(rank_job *j, gf_slice s, gf_error *err)
{
    unsigned n = gf_ranks_n(j->by->ranks);
    gf_status st = GF_OK;
    if (!gf_ranks_job_take(&s, &j->begin, sizeof j->begin) || j->begin.n_ranks != n)
        st = fail_message(err);
    j->parts = gf_calloc(n, sizeof *j->parts);
    if (st == GF_OK && !j->parts) st = gf_fail_memory(err, "the rows");
    if (st == GF_OK && !gf_ranks_job_take(&s, j->parts, n * sizeof *j->parts))
        st = fail_message(err);
    if (st == GF_OK && j->begin.has_factor) {
        j->factor = gf_array(j->begin.n_cols, sizeof *j->factor);
        if (!j->factor)
            st = gf_fail_memory(err, "term weights");
        else if (!gf_ranks_job_take(&s, j->factor, j->begin.n_cols * sizeof *j->factor))
            st = fail_message(err);
    }
    return st;
}

/* Rows behind those that are there, with their clusters to begin with. */
static gf_status add_rows(rank_job *j, gf_slice s, uint32_t *row, gf_error *err)
{
    const gf_ranks_part *mine = &j->parts[gf_ranks_me(j->by->ranks)];
    uint32_t first = *row;
    gf_status st = gf_ranked_bytes_add_rows(&s, mine->rows, mine->entries, row, &j->x, err);
    if (st == GF_OK && j->start &&
        !gf_ranks_job_take(&s, j->start + first, (*row - first) * sizeof *j->start))
        st = fail_message(err);
    return st == GF_OK && s.len ? fail_message(err) : st;
}

/* ROWS, each of which rank 0 passes on to the rank that it is for. */
static gf_status take_rows(rank_job *j, gf_error *err)
{
    unsigned n = gf_ranks_n(j->by->ranks);
    const gf_ranks_part *mine = &j->parts[gf_ranks_me(j->by->ranks)];
    uint32_t row = 0;
    gf_buffer bytes = {0}, *from = gf_calloc(n, sizeof *from);
    gf_slice *to = gf_calloc(n, sizeof *to);
    gf_status st = from && to ? GF_OK : gf_fail_memory(err, "the rows");
    if (st == GF_OK)
        st = gf_csr_init(&j->x, (uint32_t)mine->rows, j->begin.n_cols, mine->entries, err);
    if (st == GF_OK && j->begin.start_k) {
        j->start = gf_array(mine->rows, sizeof *j->start);
        if (!j->start) st = gf_fail_memory(err, "the rows");
    }
    for (uint32_t f = 0; f < j->begin.frames && st == GF_OK; f++) {
        uint32_t rank = 0;
        memset(to, 0, n * sizeof *to);
        if (is_first(j)) {
            st = hear(j, GF_JOB_ROWS, &bytes, err);
            gf_slice s = gf_buffer_view(&bytes);
            if (st == GF_OK && (!gf_ranks_job_take(&s, &rank, sizeof rank) || rank >= n))
                st = fail_message(err);
            if (st == GF_OK) to[rank] = s;
        }
        if (st == GF_OK) st = gf_ranks_deal(j->by->ranks, to, from, err);
        if (st == GF_OK && from[0].len) st = add_rows(j, gf_buffer_view(&from[0]), &row, err);
    }
    if (st == GF_OK && row != mine->rows) st = fail_message(err);
    for (unsigned i = 0; from && i < n; i++)
        gf_buffer_release(&from[i]);
    gf_buffer_release(&bytes);
    gf_free(from);
    gf_free(to);
    return st;
}

/* STARTS: clusters of all rows to begin with, of which each rank gets those of its own. */
static gf_status take_starts(rank_job *j, gf_error *err)
{
    unsigned n = gf_ranks_n(j->by->ranks);
    const gf_ranks_part *mine = &j->parts[gf_ranks_me(j->by->ranks)];
    gf_buffer bytes = {0}, *from = gf_calloc(n, sizeof *from);
    gf_slice *to = gf_calloc(n, sizeof *to);
    j->start = gf_array(mine->rows, sizeof *j->start);
    gf_status st = from && to && j->start ? GF_OK : gf_fail_memory(err, "the rows");
    if (st == GF_OK && is_first(j)) st = hear(j, GF_JOB_STARTS, &bytes, err);
    gf_slice s = gf_buffer_view(&bytes);
    for (unsigned i = 0; i < n && st == GF_OK && is_first(j); i++)
        if (!gf_slice_take_bytes(&s, j->parts[i].rows * sizeof *j->start, &to[i]))
            st = fail_message(err);
    if (st == GF_OK) st = gf_ranks_deal(j->by->ranks, to, from, err);
    if (st == GF_OK && from[0].len != mine->rows * sizeof *j->start) st = fail_message(err);
    if (st == GF_OK && from[0].len) memcpy(j->start, from[0].ptr, from[0].len);
    for (unsigned i = 0; from && i < n; i++)
        gf_buffer_release(&from[i]);
    gf_buffer_release(&bytes);
    gf_free(from);
    gf_free(to);
    return st;
}

/* ---- sweeps -------------------------------------------------------------------------------------- */

/* The holder sweeps: it has the counts of words. */
static gf_status ask_for_sweep(void *context, uint32_t n, uint32_t k, uint32_t *label,
                               gf_error *err)
{
    rank_job *j = context;
    size_t size = (size_t)n * sizeof *label;
    gf_buffer bytes = {0};
    gf_status st = tell(j, GF_JOB_SWEEP, gf_slice_of((const char *)&k, sizeof k),
                        gf_slice_of((const char *)label, size), err);
    if (st == GF_OK) st = hear(j, GF_JOB_LABELS, &bytes, err);
    if (st == GF_OK && bytes.len != size) st = fail_message(err);
    if (st == GF_OK) memcpy(label, bytes.ptr, size);
    for (uint32_t i = 0; i < n && st == GF_OK; i++)
        if (label[i] >= k) st = fail_message(err);
    gf_buffer_release(&bytes);
    return st;
}

/* ---- the result ---------------------------------------------------------------------------------- */

static gf_status tell_result(rank_job *j, const gf_kmeans *r, uint64_t sent, gf_error *err)
{
    gf_buffer head = {0}, centres = {0};
    gf_ranks_result about;
    for (uint32_t c = 0; c < r->k; c++)
        gf_ranked_bytes_put_centre(&centres, c, &r->centres.at[c]);
    memset(&about, 0, sizeof about);
    about.centre_bytes = centres.len;
    about.sent = sent;
    about.objective = r->objective;
    about.distinct = r->distinct;
    about.k = r->k;
    about.passes = r->passes;
    about.converged = r->converged;
    about.choice_k = r->choice.k;
    about.n_steps = r->choice.n_steps;
    about.reason = r->choice.reason;
    gf_buffer_append(&head, &about, sizeof about);
    gf_buffer_append(&centres, r->choice.steps, r->choice.n_steps * sizeof *r->choice.steps);
    gf_status st = gf_buffer_check(&head, err);
    if (st == GF_OK) st = gf_buffer_check(&centres, err);
    if (st == GF_OK)
        st = tell(j, GF_JOB_RESULT, gf_buffer_view(&head), gf_buffer_view(&centres), err);
    gf_buffer_release(&head);
    gf_buffer_release(&centres);
    return st;
}

/* Each rank's rows go to rank 0, which passes them on. */
static gf_status tell_rows(rank_job *j, const gf_kmeans *r, gf_error *err)
{
    unsigned n = gf_ranks_n(j->by->ranks);
    size_t size = (size_t)r->n * 4;
    gf_buffer mine = {0}, *from = gf_calloc(n, sizeof *from);
    gf_buffer_append(&mine, r->label, size);
    gf_buffer_append(&mine, r->score, size);
    gf_buffer_append(&mine, r->runner_up, size);
    gf_buffer_append(&mine, r->second, size);
    gf_status st = from ? gf_buffer_check(&mine, err) : gf_fail_memory(err, "labels");
    if (st == GF_OK) st = gf_ranks_gather(j->by->ranks, 0, gf_buffer_view(&mine), from, err);
    gf_buffer_release(&mine);
    gf_ranks_rows rows = {0, 0};
    for (unsigned i = 0; i < n && st == GF_OK && is_first(j); i++) {
        rows.n = j->parts[i].rows;
        if (from[i].len != rows.n * 16) st = fail_message(err);
        if (st == GF_OK)
            st = tell(j, GF_JOB_PART, gf_slice_of((const char *)&rows, sizeof rows),
                      gf_buffer_view(&from[i]), err);
        rows.first += rows.n;
    }
    for (unsigned i = 0; from && i < n; i++)
        gf_buffer_release(&from[i]);
    gf_free(from);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static gf_status cluster_rows(rank_job *j, gf_error *err)
{
    gf_ranked_options o;
    gf_refinement refinement;
    gf_kmeans r = {0};
    const gf_ranked_rows rows = {&j->x, j->start};
    gf_ranks_job_take_options(&j->begin, j->factor, &refinement, &o);
    o.sweep = ask_for_sweep;
    o.sweep_context = j;
    o.account = j->by->account;
    o.kmeans.progress = is_first(j) ? report_progress : NULL;
    o.kmeans.progress_context = j;
    uint64_t handed_out = j->by->ranks->sent;
    gf_status st = gf_ranked_run(j->by->ranks, j->by->pool, &rows, &o, &r, err);
    uint64_t sent = j->by->ranks->sent - handed_out;
    if (st == GF_OK) st = gf_ranks_sum(j->by->ranks, &sent, 1, err);
    if (st == GF_OK && is_first(j)) st = tell_result(j, &r, sent, err);
    if (st == GF_OK) st = tell_rows(j, &r, err);
    gf_kmeans_release(&r);
    return st;
}

static gf_status cluster(rank_job *j, gf_slice begin, gf_error *err)
{
    gf_status st = take_begin(j, begin, err);
    if (st == GF_OK && j->begin.rows_held) {
        if (j->begin.start_k) st = take_starts(j, err);
        if (st == GF_OK) st = gf_ranks_serve_part_rows(j, err);
    } else if (st == GF_OK) {
        gf_ranks_serve_release_held(&j->held);
        st = take_rows(j, err);
    }
    if (st == GF_OK) st = cluster_rows(j, err);
    gf_csr_release(&j->x);
    gf_free(j->start);
    gf_free(j->parts);
    gf_free(j->factor);
    j->start = NULL;
    j->parts = NULL;
    j->factor = NULL;
    return st;
}

/* The next message of those that all ranks work on; its kind travels behind it. */
static gf_status take_next(rank_job *j, uint32_t *kind, gf_buffer *bytes, gf_error *err)
{
    gf_status st = is_first(j) ? gf_ranks_serve_hear(j, kind, bytes, err) : GF_OK;
    if (st == GF_OK && is_first(j)) {
        gf_buffer_append(bytes, kind, sizeof *kind);
        st = gf_buffer_check(bytes, err);
    }
    if (st == GF_OK) st = gf_ranks_send_all(j->by->ranks, 0, bytes, err);
    if (st != GF_OK) return st;
    if (bytes->len < sizeof *kind) return fail_message(err);
    bytes->len -= sizeof *kind;
    memcpy(kind, bytes->ptr + bytes->len, sizeof *kind);
    return GF_OK;
}

static gf_status work(rank_job *j, gf_error *err)
{
    gf_buffer bytes = {0};
    uint32_t kind = 0;
    gf_status st = be_ready(j, err);
    while (st == GF_OK && kind != GF_JOB_END) {
        st = take_next(j, &kind, &bytes, err);
        if (st != GF_OK) break;
        gf_slice s = gf_buffer_view(&bytes);
        st = kind == GF_JOB_ANALYSE ? gf_ranks_serve_texts(j, s, err)
             : kind == GF_JOB_BEGIN ? cluster(j, s, err)
             : kind == GF_JOB_END   ? GF_OK
                                    : fail_message(err);
    }
    gf_buffer_release(&bytes);
    return st;
}

gf_status gf_ranks_serve(const gf_ranks_serving *by, gf_error *err)
{
    rank_job j = {.by = by};
    pthread_t beating;
    gf_error why = {GF_OK, ""};
    pthread_mutex_init(&j.lock, NULL);
    pthread_cond_init(&j.wakes, NULL);
    bool beats = is_first(&j) && pthread_create(&beating, NULL, beat, &j) == 0;
    gf_status st = is_first(&j) && !beats ? gf_fail(&why, GF_EIO, "a thread cannot be started")
                                          : work(&j, &why);
    if (st != GF_OK && is_first(&j)) {
        uint32_t code = (uint32_t)st;
        tell(&j, GF_JOB_FAILED, gf_slice_of((const char *)&code, sizeof code),
             gf_slice_str(why.message), NULL);
    }
    pthread_mutex_lock(&j.lock);
    j.is_over = true;
    pthread_cond_broadcast(&j.wakes);
    pthread_mutex_unlock(&j.lock);
    if (beats) pthread_join(beating, NULL);
    gf_ranks_serve_release_held(&j.held);
    pthread_cond_destroy(&j.wakes);
    pthread_mutex_destroy(&j.lock);
    if (st != GF_OK && err) *err = why;
    return st;
}
