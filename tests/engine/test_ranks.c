#include "tests/engine/fixture_ranks.h"

#include "support/test.h"

#include "base/file.h"
#include "base/random.h"
#include "engine/ranks/cluster.h"
#include "engine/ranks/frames.h"
#include "engine/ranks/job.h"
#include "engine/ranks/world.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 1200, COLS = 300 };

/* ---- frames ------------------------------------------------------------------------------------ */

static void frames_arrive(void **state)
{
    (void)state;
    gf_error err;
    ranks_pair p = ranks_pair_open();
    gf_buffer bytes = {0};
    uint32_t kind;
    gf_slice none = {NULL, 0};
    assert_ok(gf_frames_write(p.here, 7, GF_SLICE("one "), GF_SLICE("two"), 1, NULL, &err));
    assert_ok(gf_frames_write(p.here, 8, none, none, 1, NULL, &err));
    assert_ok(gf_frames_read(p.there, 1, NULL, &kind, &bytes, &err));
    assert_int_equal(kind, 7);
    assert_slice(gf_buffer_view(&bytes), "one two");
    assert_ok(gf_frames_read(p.there, 1, NULL, &kind, &bytes, &err));
    assert_int_equal(kind, 8);
    assert_int_equal(bytes.len, 0);
    assert_status(GF_ELIMIT, gf_frames_read(p.there, .2, NULL, &kind, &bytes, &err));
    gf_cancel cancel = {1};
    assert_status(GF_ECANCELLED, gf_frames_read(p.there, 5, &cancel, &kind, &bytes, &err));
    close(p.here);
    assert_status(GF_ENOTFOUND, gf_frames_read(p.there, 5, NULL, &kind, &bytes, &err));
    assert_status(GF_ENOTFOUND, gf_frames_write(p.there, 9, GF_SLICE("x"), none, 5, NULL, &err));
    close(p.there);
    gf_buffer_release(&bytes);
}

/* ---- ranks that are threads, over a socket ------------------------------------------------------- */

/* Rows of groups, unit and on the grid, in a file. */
typedef struct held_rows {
    gf_csr x;
    gf_row_file file;
} held_rows;

static held_rows make_rows(void)
{
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    held_rows h;
    uint64_t at = 0;
    assert_ok(gf_csr_init(&h.x, ROWS, COLS, ROWS * 12, &err));
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t group = i % 6, col = (uint32_t)gf_random_below(&random, 4);
        double value[12], squares = 0;
        uint32_t n = 0;
        for (; n < 12 && col < COLS; n++) {
            bool own = n < 8;
            h.x.col[at + n] = own ? group * 40 + col : col > 240 ? col : 240 + col;
            value[n] = 1 + gf_random_unit(&random);
            squares += value[n] * value[n];
            col = own && n < 7 ? col + 1 + (uint32_t)gf_random_below(&random, 4)
                               : h.x.col[at + n] + 1 + (uint32_t)gf_random_below(&random, 9);
            if (!own || n == 7) col = col < 241 ? 241 : col;
        }
        for (uint32_t k = 0; k < n; k++)
            h.x.val[at + k] = (float)(round(value[k] / sqrt(squares) * 0x1p24) * 0x1p-24);
        at += n;
        h.x.start[i + 1] = at;
    }
    assert_ok(gf_csr_check(&h.x, &err));
    gf_spill *spill;
    assert_ok(gf_spill_create(gf_test_folder(), &spill, &err));
    assert_ok(gf_row_file_write(spill, at, 0, at, h.x.col, h.x.val, &err));
    h.file = (gf_row_file){ROWS, COLS, h.x.start, at, spill};
    return h;
}

static void release_rows(held_rows *h)
{
    gf_spill_free(h->file.spill);
    gf_csr_release(&h->x);
}

/* Clusters of ranks at the other end of a socket, which is closed. */
static gf_status cluster_over(int fd, double silence, const gf_row_file *rows,
                              const gf_kmeans_options *o, gf_kmeans *out, bool *lost, gf_error *err)
{
    const gf_ranks_start start = {.n = 0};
    gf_ranks_session session;
    gf_ranks_session_init(&session, &start, NULL, NULL);
    gf_status st = gf_ranks_session_open_over(&session, fd, silence, err);
    *lost = session.is_lost;
    if (st == GF_OK) st = gf_ranks_cluster(&session, NULL, rows, o, out, err);
    gf_ranks_session_release(&session);
    return st;
}

static gf_status run(const held_rows *h, unsigned n, unsigned threads, const gf_kmeans_options *o,
                     gf_kmeans *out, bool *lost, ranks_job *j, gf_error *err)
{
    pthread_t thread;
    ranks_pair p = ranks_pair_open();
    *j = (ranks_job){.n = n, .threads = threads, .fd = p.there, .is_silent = j->is_silent};
    assert_int_equal(pthread_create(&thread, NULL, ranks_job_serve, j), 0);
    gf_status st = cluster_over(p.here, 30, &h->file, o, out, lost, err);
    pthread_join(thread, NULL);
    return st;
}

/* Every term once. */
static void count_once(void *context, uint32_t row, gf_row_view view, uint8_t *count)
{
    (void)context, (void)row;
    memset(count, 1, view.n);
}

static void check_same(const held_rows *h, const gf_kmeans_options *o)
{
    gf_error err;
    gf_kmeans first = {0}, r;
    bool lost;
    for (unsigned n = 1; n <= 5; n += n == 3 ? 2 : 1) {
        ranks_job j = {.n = n};
        assert_ok(run(h, n, 1 + n % 2, o, &r, &lost, &j, &err));
        assert_int_equal(j.status, GF_OK);
        assert_false(lost);
        assert_int_equal(r.n, ROWS);
        if (n == 1) {
            first = r;
            continue;
        }
        assert_int_equal(r.k, first.k);
        assert_int_equal(r.distinct, first.distinct);
        assert_int_equal(r.choice.k, first.choice.k);
        assert_int_equal(r.choice.n_steps, first.choice.n_steps);
        assert_true(r.objective == first.objective);
        assert_memory_equal(r.label, first.label, ROWS * sizeof *r.label);
        assert_memory_equal(r.score, first.score, ROWS * sizeof *r.score);
        assert_memory_equal(r.runner_up, first.runner_up, ROWS * sizeof *r.runner_up);
        assert_memory_equal(r.second, first.second, ROWS * sizeof *r.second);
        for (uint32_t c = 0; c < r.k; c++) {
            assert_int_equal(r.centres.at[c].n, first.centres.at[c].n);
            assert_memory_equal(r.centres.at[c].value, first.centres.at[c].value,
                                r.centres.at[c].n * sizeof(float));
        }
        gf_kmeans_release(&r);
    }
    gf_kmeans_release(&first);
}

static void same_bytes_for_any_number(void **state)
{
    (void)state;
    held_rows h = make_rows();
    float factor[COLS];
    uint32_t start[ROWS];
    for (uint32_t c = 0; c < COLS; c++)
        factor[c] = 1 + (float)(c % 7) / 7;
    for (uint32_t i = 0; i < ROWS; i++)
        start[i] = i % 11 ? i % 6 : GF_NO_CLUSTER;
    gf_refinement refinement = {.factor = factor, .count = count_once};
    gf_kmeans_options o = {.k = 8, .seed = 5};
    check_same(&h, &o);
    o.refinement = &refinement;
    check_same(&h, &o);
    o.k = 0;
    check_same(&h, &o);
    o.k = 6;
    o.start = start;
    o.start_k = 6;
    check_same(&h, &o);
    o.start_refined = true;
    check_same(&h, &o);
    release_rows(&h);
}

/* ---- what may go wrong ---------------------------------------------------------------------------- */

/* A rank that fails tells the holder why, and is not lost. */
static void failures_are_told(void **state)
{
    (void)state;
    gf_error err;
    held_rows h = make_rows();
    gf_kmeans_options o = {.k = 5};
    gf_kmeans r;
    bool lost;
    ranks_job j = {.n = 2};
    h.x.val[3] = 3; /* not of unit length */
    gf_spill_free(h.file.spill);
    assert_ok(gf_spill_create(gf_test_folder(), &h.file.spill, &err));
    assert_ok(
        gf_row_file_write(h.file.spill, h.file.entries, 0, h.file.entries, h.x.col, h.x.val, &err));
    assert_status(GF_EINVAL, run(&h, 2, 1, &o, &r, &lost, &j, &err));
    assert_false(lost);
    assert_int_equal(j.status, GF_EINVAL);
    assert_string_equal(err.message, j.error.message);
    release_rows(&h);
}

static gf_status hear_liar(const held_rows *h, bool ready, uint32_t kind, gf_slice says, bool *lost,
                           gf_error *err)
{
    gf_kmeans r;
    gf_kmeans_options o = {.k = 3};
    pthread_t thread;
    ranks_pair p = ranks_pair_open();
    ranks_liar l = {p.there, kind, says, ready};
    pthread_create(&thread, NULL, ranks_lie, &l);
    gf_status st = cluster_over(p.here, 30, &h->file, &o, &r, lost, err);
    pthread_join(thread, NULL);
    close(p.there);
    return st;
}

static void other_ends_are_seen_through(void **state)
{
    (void)state;
    gf_error err;
    bool lost;
    held_rows h = make_rows();
    char zeros[sizeof(gf_ranks_result)] = {0};
    static const char other[] = "\2\0\0\0another program";
    gf_slice bytes = gf_slice_of(zeros, sizeof zeros);
    assert_status(GF_EINVAL, hear_liar(&h, false, GF_JOB_READY,
                                       gf_slice_of(other, sizeof other - 1), &lost, &err));
    assert_non_null(strstr(err.message, "ranks must be alike"));
    assert_status(GF_ECORRUPT, hear_liar(&h, false, GF_JOB_SWEEP, bytes, &lost, &err));
    assert_status(GF_ECORRUPT, hear_liar(&h, true, GF_JOB_SWEEP, bytes, &lost, &err));
    assert_status(GF_ECORRUPT, hear_liar(&h, true, GF_JOB_PART, bytes, &lost, &err));
    assert_status(GF_ECORRUPT, hear_liar(&h, true, GF_JOB_FAILED, bytes, &lost, &err));
    assert_status(GF_ECORRUPT, hear_liar(&h, true, 99, bytes, &lost, &err));
    assert_false(lost);
    release_rows(&h);
}

static void a_silent_job_is_lost(void **state)
{
    (void)state;
    gf_error err;
    bool lost = false;
    gf_kmeans r;
    gf_kmeans_options o = {.k = 3};
    held_rows h = make_rows();
    ranks_pair p = ranks_pair_open();
    assert_status(GF_EIO, cluster_over(p.here, .3, &h.file, &o, &r, &lost, &err));
    assert_true(lost);
    assert_non_null(strstr(err.message, "nothing was heard of the ranks"));
    close(p.there);
    release_rows(&h);
}

/* A holder that takes nothing, as one that sweeps, is not taken for dead, and no beat waits for it. */
static void a_holder_that_takes_nothing_is_waited_for(void **state)
{
    (void)state;
    enum { BEATS_MS = 2500 /* two beats come in that time */ };
    gf_error err;
    uint32_t kind;
    pthread_t thread;
    struct timespec until;
    gf_buffer bytes = {0};
    const gf_slice none = {NULL, 0};
    ranks_pair p = ranks_pair_open();
    struct pollfd room = {.fd = p.there, .events = POLLOUT};
    ranks_job j = {.n = 1, .threads = 1, .fd = p.there};
    assert_int_equal(pthread_create(&thread, NULL, ranks_job_serve, &j), 0);
    assert_ok(gf_frames_read(p.here, 30, NULL, &kind, &bytes, &err));
    assert_int_equal(kind, GF_JOB_READY);
    while (poll(&room, 1, 0) > 0)
        assert_int_equal(send(p.there, "\0\0\0", 4, MSG_NOSIGNAL), 4);
    usleep(1000 * BEATS_MS);
    assert_ok(gf_frames_write(p.here, GF_JOB_END, none, none, 30, NULL, &err));
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    assert_int_equal(pthread_timedjoin_np(thread, NULL, &until), 0);
    assert_int_equal(j.status, GF_OK);
    assert_false(j.is_holder_gone);
    gf_buffer_release(&bytes);
    close(p.here);
}

/* ---- starting --------------------------------------------------------------------------------------- */

static void hosts_are_counted(void **state)
{
    (void)state;
    gf_error err;
    char path[512];
    unsigned n;
    snprintf(path, sizeof path, "%s/hosts", gf_test_folder());
    gf_ranks_start start = {.hosts = path};
    assert_status(GF_ENOTFOUND, gf_ranks_process_count(&start, &n, &err));
    assert_ok(gf_file_write(path, GF_SLICE("# three\none\n\n two slots=4\nthree"), &err));
    assert_ok(gf_ranks_process_count(&start, &n, &err));
    assert_int_equal(n, 3);
    start.n = 7;
    assert_ok(gf_ranks_process_count(&start, &n, &err));
    assert_int_equal(n, 7);
}

/* The environments of mpirun, of mpirun within Slurm, of srun, and of another MPI. */
static void processes_started_together_are_known(void **state)
{
    (void)state;
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_RANK",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_PROCID",
                                        "PMI_SIZE",
                                        "PMI_RANK"};
    static const struct {
        const char *values[6];
        bool found;
        unsigned n, me;
    } cases[] = {{{NULL}, false, 0, 0},
                 {{"4", "3"}, true, 4, 3},
                 {{"1", "0"}, true, 1, 0},
                 {{"4", "4"}, false, 0, 0},
                 {{"4", "x"}, false, 0, 0},
                 {{"4", "2", "2", "1"}, true, 4, 2},
                 {{NULL, NULL, "3", "0"}, true, 3, 0},
                 {{NULL, NULL, "1", "0"}, false, 0, 0},
                 {{NULL, NULL, NULL, "0"}, false, 0, 0},
                 {{NULL, NULL, NULL, NULL, "2", "1"}, true, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gf_ranks_world w = {0, 0};
        for (size_t v = 0; v < 6; v++) {
            unsetenv(names[v]);
            if (cases[i].values[v]) setenv(names[v], cases[i].values[v], 1);
        }
        assert_true(gf_ranks_world_find(&w) == cases[i].found);
        if (!cases[i].found) continue;
        assert_int_equal(w.n, cases[i].n);
        assert_int_equal(w.me, cases[i].me);
    }
    for (size_t v = 0; v < 6; v++)
        unsetenv(names[v]);
    assert_int_equal(gf_ranks_world_n(), 0);
    gf_ranks_world_close(); /* none is open */
}

/*
 * 1,000 rows of 10 terms of 500; 20 centres of 100 terms, of 500 entries each: a is 100^2 / (4 x 400).
 */
static void costs_follow_the_formula(void **state)
{
    (void)state;
    const double mb = 1 << 20, a = 6.25;
    gf_ranks_counts c = {.rows = 1000,
                         .entries = 10000,
                         .terms = 500,
                         .centre_entries = 2000,
                         .k = 20,
                         .ranks = 1,
                         .threads = 2};
    gf_ranks_cost alone = gf_ranks_cluster_cost(&c);
    assert_int_equal(alone.handed_out, 8 * 10000 + 32 * 1000);
    assert_int_equal(alone.first_pass, 0); /* there is nobody to tell */
    assert_int_equal(alone.pass, 0);
    assert_near((double)alone.memory,
                15 * mb + 16 * 10000 + 68 * 1000 + (22 + 12) * 2000 + 3 * 5.1 * 2000 + 28 * 500 * 3,
                2);
    /* All rows are in the sample: the first holds that before it makes passes. */
    assert_near((double)alone.first_memory,
                15 * mb + (16 + 24) * 10000 + 120 * 1000 + 34 * 2000 + 28 * 500 * 3, 2);
    c.ranks = 4;
    gf_ranks_cost parted = gf_ranks_cluster_cost(&c);
    double terms = 20 * 2 * a * (sqrt(1 + 125 / a) - 1); /* of a quarter of the entries */
    double moved = 20 * 2 * a * (sqrt(1 + 12.5 / a) - 1) * 2;
    assert_int_equal(parted.handed_out, alone.handed_out);
    assert_near((double)parted.first_pass, .75 * (5.1 * terms + 5.05 * 2000), 2);
    assert_near((double)parted.pass, .75 * (5.1 * fmin(moved, terms) + 5.05 * 2000), 2);
    assert_true(parted.memory < alone.memory);
    c.text = 90000; /* which ranks analyse */
    c.words = 30000;
    c.distinct_words = 4000;
    gf_ranks_cost analysed = gf_ranks_cluster_cost(&c);
    assert_int_equal(analysed.handed_out,
                     90000 + 8 * 10000 + (1.6 * 30000 + 2.7 * 10000) + 44 * 1000);
    assert_near((double)analysed.memory,
                30 * mb + (16 * 10000 + (8 + 2.5) * 30000) / 4 + 34 * 4000 + 4 * 1000 +
                    200 * 4000 * pow(4, -.64),
                2);
    assert_near((double)(analysed.first_memory - analysed.memory), 1.6 * 30000 + 2.7 * 10000, 2);
    assert_int_equal(analysed.first_pass, parted.first_pass);
    c.text = 0;
    c.rows = 100000000; /* the sample is a fiftieth */
    c.entries = 1e9;
    gf_ranks_cost large = gf_ranks_cluster_cost(&c);
    assert_near((double)(large.first_memory - large.memory), 24e8, 2);
}

static void samples_follow_the_rows(void **state)
{
    (void)state;
    assert_int_equal(gf_ranks_cluster_sample(1000), 1000);
    assert_int_equal(gf_ranks_cluster_sample(200000), 100000);
    assert_int_equal(gf_ranks_cluster_sample(4000000), 500000);
    assert_int_equal(gf_ranks_cluster_sample(4000000000), 2000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_arrive),
                                       cmocka_unit_test(same_bytes_for_any_number),
                                       cmocka_unit_test(failures_are_told),
                                       cmocka_unit_test(other_ends_are_seen_through),
                                       cmocka_unit_test(a_silent_job_is_lost),
                                       cmocka_unit_test(a_holder_that_takes_nothing_is_waited_for),
                                       cmocka_unit_test(hosts_are_counted),
                                       cmocka_unit_test(processes_started_together_are_known),
                                       cmocka_unit_test(costs_follow_the_formula),
                                       cmocka_unit_test(samples_follow_the_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
