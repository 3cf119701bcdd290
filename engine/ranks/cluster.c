#include "engine/ranks/cluster.h"

#include "base/memory.h"
#include "cluster/measure/term_growth.h"
#include "cluster/ranks/ranked_bytes.h"
#include "engine/ranks/job.h"
#include "engine/rows/index_cells.h"

#include <math.h>
#include <string.h>

enum {
    FRAME_ENTRIES = 2 << 20, /* entries of a message of rows, about */
    FRAME_ROWS = 1 << 20
};

typedef struct holding {
    gf_pool *pool;
    const gf_row_file *rows;
    const gf_kmeans_options *options;
    gf_ranks_session *session;
    unsigned n;           /* ranks */
    gf_ranks_part *parts; /* n */
    gf_kmeans made;
    gf_ranks_result about;
    uint64_t came; /* rows of the result */
} holding;

static gf_status fail_message(gf_error *err)
{
    return gf_ranks_session_fail_message(err);
}

static gf_status tell(holding *h, uint32_t kind, gf_slice a, gf_slice b, gf_error *err)
{
    return gf_ranks_session_tell(h->session, kind, a, b, err);
}

/* ---- beginning ------------------------------------------------------------------------------------- */

/* Neighbouring rows for each rank, of about as many entries: where they are cut is of no matter. */
static gf_status part_rows(holding *h, gf_error *err)
{
    const gf_row_file *f = h->rows;
    h->parts = gf_calloc(h->n, sizeof *h->parts);
    if (!h->parts) return gf_fail_memory(err, "ranks");
    uint32_t row = 0;
    for (unsigned r = 0; r < h->n; r++) {
        uint64_t end = (uint64_t)((double)f->start[f->n_rows] * (r + 1) / h->n);
        uint32_t first = row;
        while (row < f->n_rows && (r + 1 == h->n || f->start[row + 1] <= end))
            row++;
        h->parts[r] = (gf_ranks_part){row - first, f->start[row] - f->start[first]};
    }
    return GF_OK;
}

/* Rows of the next message, of the rank's rows from `first` to `end`. */
static uint32_t frame_rows(const gf_row_file *f, uint32_t first, uint32_t end)
{
    uint32_t n = 0;
    while (first + n < end && n < FRAME_ROWS &&
           (n == 0 || f->start[first + n + 1] - f->start[first] <= FRAME_ENTRIES))
        n++;
    return n;
}

static uint32_t count_frames(const holding *h)
{
    uint32_t frames = 0, row = 0;
    for (unsigned r = 0; r < h->n; r++)
        for (uint32_t end = row + (uint32_t)h->parts[r].rows; row < end; frames++)
            row += frame_rows(h->rows, row, end);
    return frames;
}

/* The ranks have analysed these rows, and have them. */
static bool are_held(const holding *h)
{
    const gf_ranks_session *s = h->session;
    return s->held_rows && s->held_rows == h->rows->n_rows &&
           s->held_entries == h->rows->start[h->rows->n_rows];
}

static gf_status tell_begin(holding *h, gf_error *err)
{
    const gf_kmeans_options *o = h->options;
    const gf_ranked_options options = {.kmeans = *o,
                                       .sample = gf_ranks_cluster_sample(h->rows->n_rows),
                                       .sweeps = o->refinement && o->refinement->count};
    gf_ranks_begin begin = gf_ranks_job_put_options(&options, h->rows->n_cols);
    gf_buffer more = {0};
    begin.n_ranks = h->n;
    begin.rows_held = are_held(h);
    begin.frames = begin.rows_held ? 0 : count_frames(h);
    gf_buffer_append(&more, h->parts, h->n * sizeof *h->parts);
    if (begin.has_factor)
        gf_buffer_append(&more, o->refinement->factor,
                         h->rows->n_cols * sizeof *o->refinement->factor);
    gf_status st = gf_buffer_check(&more, err);
    if (st == GF_OK)
        st = tell(h, GF_JOB_BEGIN, gf_slice_of((const char *)&begin, sizeof begin),
                  gf_buffer_view(&more), err);
    gf_buffer_release(&more);
    return st;
}

static gf_status tell_some_rows(holding *h, uint32_t rank, uint32_t first, uint32_t n,
                                gf_error *err)
{
    const gf_kmeans_options *o = h->options;
    gf_buffer bytes = {0};
    gf_csr x = {0};
    gf_status st = gf_row_file_read(h->rows, first, n, &x, err);
    if (st != GF_OK) return st;
    gf_ranked_bytes_put_rows(&bytes, &x, 0, n);
    gf_csr_release(&x);
    if (o->start && o->start_k) gf_buffer_append(&bytes, o->start + first, n * sizeof *o->start);
    st = gf_buffer_check(&bytes, err);
    if (st == GF_OK)
        st = tell(h, GF_JOB_ROWS, gf_slice_of((const char *)&rank, sizeof rank),
                  gf_buffer_view(&bytes), err);
    gf_buffer_release(&bytes);
    return st;
}

/* Clusters to begin with, of rows that ranks hold. */
static gf_status tell_starts(holding *h, gf_error *err)
{
    const gf_kmeans_options *o = h->options;
    if (!o->start || !o->start_k) return GF_OK;
    return tell(h, GF_JOB_STARTS,
                gf_slice_of((const char *)o->start, h->rows->n_rows * sizeof *o->start),
                (gf_slice){NULL, 0}, err);
}

static gf_status tell_rows(holding *h, gf_error *err)
{
    gf_status st = GF_OK;
    uint32_t row = 0;
    if (are_held(h)) return tell_starts(h, err);
    for (uint32_t r = 0; r < h->n && st == GF_OK; r++) {
        for (uint32_t end = row + (uint32_t)h->parts[r].rows, n; row < end && st == GF_OK;
             row += n) {
            n = frame_rows(h->rows, row, end);
            st = tell_some_rows(h, r, row, n, err);
            gf_ranks_session_report(h->session, "handing out rows", row + n, h->rows->n_rows);
        }
    }
    return st;
}

/* ---- while it runs ---------------------------------------------------------------------------------- */

static gf_status sweep(holding *h, gf_slice s, gf_error *err)
{
    uint32_t k = 0, n = h->rows->n_rows;
    bool read = gf_ranks_job_take(&s, &k, sizeof k) && s.len == (size_t)n * sizeof(uint32_t);
    const gf_kmeans_options *o = h->options;
    if (!read || !o->refinement || !o->refinement->count) return fail_message(err);
    uint32_t *label = gf_array(n, sizeof *label);
    if (!label) return gf_fail_memory(err, "labels");
    memcpy(label, s.ptr, s.len);
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < n && st == GF_OK; i++)
        if (label[i] >= k) st = fail_message(err);
    if (o->progress) o->progress(o->progress_context, "sweeping", 0, 0);
    if (st == GF_OK)
        st = gf_refinement_sweep_file(h->pool, o->refinement, h->rows, k, o->cancel, label, err);
    if (st == GF_OK)
        st = tell(h, GF_JOB_LABELS, gf_slice_of((const char *)label, s.len), (gf_slice){NULL, 0},
                  err);
    gf_free(label);
    return st;
}

static gf_status take_result(holding *h, gf_slice s, gf_error *err)
{
    gf_ranks_result *about = &h->about;
    gf_kmeans *r = &h->made;
    uint32_t n = h->rows->n_rows;
    if (r->label || !gf_ranks_job_take(&s, about, sizeof *about) || about->centre_bytes > s.len)
        return fail_message(err);
    *r = (gf_kmeans){.n = n,
                     .distinct = about->distinct,
                     .k = about->k,
                     .objective = about->objective,
                     .passes = about->passes,
                     .restarts = 1,
                     .converged = about->converged};
    r->label = gf_array(n, sizeof *r->label);
    r->score = gf_array(n, sizeof *r->score);
    r->runner_up = gf_array(n, sizeof *r->runner_up);
    r->second = gf_array(n, sizeof *r->second);
    r->choice.steps = about->n_steps ? gf_array(about->n_steps, sizeof *r->choice.steps) : NULL;
    bool room =
        r->label && r->score && r->runner_up && r->second && (r->choice.steps || !about->n_steps);
    gf_status st = room ? gf_centres_init(&r->centres, about->k, h->rows->n_cols, err)
                        : gf_fail_memory(err, "clusters");
    if (st == GF_OK)
        st = gf_ranked_bytes_take_centres(gf_slice_of(s.ptr, (size_t)about->centre_bytes),
                                          &r->centres, NULL, err);
    if (st != GF_OK) return st;
    s = gf_slice_skip(s, (size_t)about->centre_bytes);
    r->choice.k = about->choice_k;
    r->choice.n_steps = about->n_steps;
    r->choice.reason = about->reason;
    bool read = gf_ranks_job_take(&s, r->choice.steps, about->n_steps * sizeof *r->choice.steps);
    return read ? GF_OK : fail_message(err);
}

static gf_status take_part(holding *h, gf_slice s, gf_error *err)
{
    gf_ranks_rows part;
    gf_kmeans *r = &h->made;
    if (!r->label || !gf_ranks_job_take(&s, &part, sizeof part) || part.first != h->came ||
        part.n > r->n - h->came || s.len != part.n * 16)
        return fail_message(err);
    size_t size = (size_t)part.n * 4;
    gf_ranks_job_take(&s, r->label + part.first, size);
    gf_ranks_job_take(&s, r->score + part.first, size);
    gf_ranks_job_take(&s, r->runner_up + part.first, size);
    gf_ranks_job_take(&s, r->second + part.first, size);
    for (uint64_t i = part.first; i < part.first + part.n; i++)
        if (r->label[i] >= r->k) return fail_message(err);
    h->came += part.n;
    return GF_OK;
}

static gf_status follow(holding *h, gf_error *err)
{
    gf_buffer bytes = {0};
    gf_status st = GF_OK;
    uint32_t kind;
    while (st == GF_OK && !(h->made.label && h->came == h->rows->n_rows)) {
        st = gf_ranks_session_hear(h->session, &kind, &bytes, err);
        gf_slice s = gf_buffer_view(&bytes);
        if (st != GF_OK) break;
        st = kind == GF_JOB_SWEEP    ? sweep(h, s, err)
             : kind == GF_JOB_RESULT ? take_result(h, s, err)
             : kind == GF_JOB_PART   ? take_part(h, s, err)
                                     : fail_message(err);
    }
    gf_buffer_release(&bytes);
    return st;
}

/* ---- the whole -------------------------------------------------------------------------------------- */

static gf_status run_once(holding *h, gf_error *err)
{
    h->n = h->session->n;
    gf_status st = part_rows(h, err);
    if (st == GF_OK) st = tell_begin(h, err);
    if (st == GF_OK) st = tell_rows(h, err);
    h->session->held_rows = 0;
    if (st == GF_OK) st = follow(h, err);
    if (st == GF_OK) st = gf_ranks_session_end(h->session, err);
    gf_free(h->parts);
    h->parts = NULL;
    return st;
}

gf_status gf_ranks_cluster(gf_ranks_session *session, gf_pool *pool, const gf_row_file *rows,
                           const gf_kmeans_options *options, gf_kmeans *out, gf_error *err)
{
    gf_status st;
    gf_error why = {GF_OK, ""};
    do {
        holding h = {.pool = pool, .rows = rows, .options = options, .session = session};
        st = gf_ranks_session_open(session, &why);
        if (st == GF_OK) st = run_once(&h, &why);
        if (st == GF_OK)
            *out = h.made;
        else
            gf_kmeans_release(&h.made);
    } while (st != GF_OK && gf_ranks_session_retries(session, &why));
    if (st != GF_OK && err) *err = why;
    return st;
}

/* ---- memory and network ------------------------------------------------------------------------------ */

enum { LEAST_SAMPLE = 100000, MOST_SAMPLE = 2000000, SAMPLE_PART = 8 };

uint32_t gf_ranks_cluster_sample(uint64_t rows)
{
    uint64_t n = rows / SAMPLE_PART;
    if (n < LEAST_SAMPLE) n = LEAST_SAMPLE;
    if (n > MOST_SAMPLE) n = MOST_SAMPLE;
    return (uint32_t)(n < rows ? n : rows);
}

enum {
    PROGRAM = 15 << 20, /* with MPI */
    OF_ROW = 68,        /* bytes: labels, bounds, lists by cluster, what goes back */
    OF_CENTRE = 22,     /* an entry of a centre: itself, its index, on its way */
    OF_TERM = 28,       /* a thread: sums under way */
    OF_SAMPLED = 24     /* an entry of the sample: the row, its copy, and that of growth */
};

#define SUM_BYTES    5.1  /* an entry of a change of a sum on its way */
#define CENTRE_BYTES 5.05 /* an entry of a centre, likewise */
#define MOVED        0.1

/* Memory of a rank that analyses: counts of words, rows, and each different word that it meets. */
enum { ANALYSING = 30 << 20, OF_ANALYSED = 16, OF_WORD = 8, OF_DISTINCT_WORD = 200 };

/* And what it indexes: each different word of all, lengths and postings of a segment. */
enum { OF_STRING = 34, OF_LENGTH = 4 };

#define OF_POSTING 2.5

#define OF_PART 0.64 /* exponent: different words of a part of the documents */

static double analysis_memory(const gf_ranks_counts *c, double ranks)
{
    double rows = OF_ANALYSED * c->entries + OF_WORD * c->words;
    double segment = c->rows ? fmin(GF_INDEX_SEGMENT / (double)c->rows, 1) : 0;
    double index = c->words > 0
                       ? OF_STRING * c->distinct_words +
                             segment * (OF_LENGTH * (double)c->rows + OF_POSTING * c->words / ranks)
                       : 0;
    return ANALYSING + rows / ranks + index +
           OF_DISTINCT_WORD * c->distinct_words * pow(ranks, -OF_PART);
}

/* A posting of the index of words, of that of rows, compressed with all else that cells have. */
#define OF_WORD_INDEXED  1.6
#define OF_ENTRY_INDEXED 2.7

static double index_bytes(const gf_ranks_counts *c)
{
    return c->words > 0 ? OF_WORD_INDEXED * c->words + OF_ENTRY_INDEXED * c->entries : 0;
}

/* Texts go out; rows come back, and indexes; labels to sweeps and from them, and results. */
static double handed_out(const gf_ranks_counts *c)
{
    double rows = (double)c->rows;
    return c->text > 0 ? c->text + 8 * c->entries + index_bytes(c) + 44 * rows
                       : 8 * c->entries + 32 * rows;
}

static uint64_t whole(double bytes)
{
    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* Cells of a segment, at the first rank. */
static double passed_on(const gf_ranks_counts *c)
{
    return c->rows ? index_bytes(c) * fmin(GF_INDEX_SEGMENT / (double)c->rows, 1) : 0;
}

gf_ranks_cost gf_ranks_cluster_cost(const gf_ranks_counts *c)
{
    double ranks = c->ranks ? c->ranks : 1, rows = (double)c->rows / ranks, e = c->entries / ranks;
    double others = (ranks - 1) / ranks, k = c->k ? c->k : 1;
    double a = gf_term_growth_fit(c->entries / k, c->centre_entries / k);
    double sums = fmin(k * gf_term_growth_terms(a, e / k), c->centre_entries);
    double a_row = c->rows ? c->entries / (double)c->rows : 0;
    double memory = PROGRAM + 16 * e + OF_ROW * rows + OF_CENTRE * c->centre_entries +
                    12 * c->centre_entries / ranks + 3 * SUM_BYTES * sums +
                    OF_TERM * c->terms * (c->threads + 1);
    double analysing = c->text > 0 ? analysis_memory(c, ranks) : 0;
    memory = fmax(memory, analysing);
    double sampled = gf_ranks_cluster_sample(c->rows), of_sample = sampled * a_row;
    double sampling = PROGRAM + 16 * e + OF_SAMPLED * of_sample + 120 * sampled +
                      34 * k * gf_term_growth_terms(a, of_sample / k) +
                      OF_TERM * c->terms * (c->threads + 1);
    double centres = CENTRE_BYTES * c->centre_entries * others;
    double moved = fmin(2 * k * gf_term_growth_terms(a, MOVED * e / k), sums);
    return (gf_ranks_cost){
        .memory = whole(memory),
        .first_memory =
            whole(fmax(fmax(memory + 24.0 * (double)c->rows, sampling), analysing + passed_on(c))),
        .handed_out = whole(handed_out(c)),
        .first_pass = whole(SUM_BYTES * sums * others + centres),
        .pass = whole(SUM_BYTES * moved * others + centres)};
}
