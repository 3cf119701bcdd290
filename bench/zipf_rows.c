/*
 * The cluster layer at a size of its own: rows that bench/zipf.h makes, many of them, into many
 * clusters, in memory or from a file.
 *
 *     bench_zipf_rows --rows 8200000 --length 59 --terms 141000 -k 80000 --threads 2
 *     bench_zipf_rows --rows 10000000 --length 20 --terms 141000 -k 100000 --memory 4G --folder /data
 *
 * One line each: rows, seconds of each phase as it ends, and at the end clusters, rows a second, mean
 * cosine, peak of the resident memory. --topics: as many groups are in the rows (default: a row in
 * 100). --memory: rows lie in a file of --folder and are read in windows; the sample is as large as
 * fits. --quick: as of gf_kmeans_options. --compare N: the first N rows are assigned by the tree of
 * centres and by all centres, too.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "base/row_file.h"
#include "bench/zipf.h"
#include "cluster/kmeans.h"
#include "cluster/large/branches.h"
#include "cluster/stream/minibatch.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct settings {
    uint32_t rows, terms, length, topics, sample, compared;
    uint64_t memory;
    const char *folder;
    gf_kmeans_options kmeans;
    unsigned threads;
    double begin;
} settings;

static double peak_mib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

static double processor_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void print_phase(const settings *s, const char *phase)
{
    printf("%9.1f s  processor %9.1f s  peak %6.0f MiB  %s\n", gf_clock_seconds() - s->begin,
           processor_seconds(), peak_mib(), phase);
    fflush(stdout);
}

/* Told of each phase as it begins, and of its parts no oftener than every ten seconds. */
static void report_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    static double last;
    static char before[64];
    const settings *s = context;
    double now = gf_clock_seconds();
    if (strncmp(before, phase, sizeof before - 1) == 0 && now - last < 10) return;
    char text[96];
    snprintf(before, sizeof before, "%s", phase);
    snprintf(text, sizeof text, "%s %" PRIu64 " of %" PRIu64, phase, done, total);
    last = now;
    print_phase(s, text);
}

static gf_status make_file(const settings *s, const gf_zipf *z, gf_pool *pool, gf_spill *spill,
                           uint64_t *start, gf_error *err)
{
    enum { WINDOW = 200000 };
    gf_status st = GF_OK;
    /* The number of entries is not known before they are made: the file has room for all. */
    uint64_t room = (uint64_t)s->rows * s->length * 3 / 2;
    start[0] = 0;
    for (uint32_t first = 0, n; st == GF_OK && first < s->rows; first += n) {
        gf_csr x = {0};
        n = s->rows - first < WINDOW ? s->rows - first : WINDOW;
        st = gf_zipf_rows(z, first, n, pool, &x, err);
        if (st == GF_OK)
            st = gf_row_file_write(spill, room, start[first], gf_csr_nnz(&x), x.col, x.val, err);
        for (uint32_t i = 0; st == GF_OK && i < n; i++)
            start[first + i + 1] = start[first] + x.start[i + 1];
        gf_csr_release(&x);
        report_progress((void *)s, "making rows", first, s->rows);
    }
    return st;
}

/* Rows for seeds: what is left of the memory beside what every row needs, centres and a window. */
static uint32_t sample_for(const settings *s)
{
    if (s->sample) return s->sample;
    double row = 24.0 * s->length + 120, fixed = 24.0 * s->rows + (256u << 20);
    double window = 0.6 * row * (s->kmeans.k > 2048 ? 4.0 * s->kmeans.k : 8192);
    double left = (double)s->memory - fixed - window;
    double most = left > 0 ? left / row : 0, least = 10.0 * s->kmeans.k;
    return (uint32_t)(most > least ? most : least);
}

/*
 * The first rows by the tree of centres and by all centres: how many get the same cluster, how
 * similar they are to it, and how fast.
 */
static gf_status compare(const settings *s, const gf_csr *x, gf_pool *pool, const gf_kmeans *r,
                         gf_error *err)
{
    gf_csr part = *x;
    gf_points points = {&part, NULL};
    gf_partition p = {0};
    gf_passes *passes = NULL;
    gf_pass_report report;
    gf_branches b = {0};
    if (part.n_rows > s->compared) part.n_rows = s->compared;
    uint32_t n = part.n_rows, same = 0, largest = 0;
    uint32_t *label = gf_array(n, sizeof *label);
    float *own = gf_array(n, sizeof *own), *other = gf_array(n, sizeof *other);
    gf_status st = label && own && other ? GF_OK : gf_fail_memory(err, "a comparison");
    double clock[4] = {gf_clock_seconds()}, mean = 0, exact = 0;
    if (st == GF_OK) st = gf_branches_init(&b, &r->centres, pool, NULL, err);
    clock[1] = gf_clock_seconds();
    if (st == GF_OK) st = gf_branches_assign(&b, pool, &part, label, NULL, own, other, NULL, err);
    clock[2] = gf_clock_seconds();
    for (uint32_t j = 0; j < b.n; j++)
        if (b.start[j + 1] - b.start[j] > largest) largest = b.start[j + 1] - b.start[j];
    printf("%" PRIu32 " branches, the largest of %" PRIu32 " clusters\n", b.n, largest);
    gf_branches_release(&b);
    if (st == GF_OK) st = gf_partition_init(&p, n, r->k, x->n_cols, err);
    if (st == GF_OK) {
        gf_centres_release(&p.centres);
        p.centres = r->centres;
        memcpy(p.label, label, n * sizeof *label);
        st = gf_passes_create(pool, &points, r->k, NULL, &passes, err);
    }
    if (st == GF_OK) st = gf_passes_assign_all(passes, &p, NULL, &report, err);
    clock[3] = gf_clock_seconds();
    for (uint32_t i = 0; st == GF_OK && i < n; i++) {
        same += label[i] == p.label[i];
        mean += (double)own[i] / n;
        exact += (double)p.own[i] / n;
    }
    if (st == GF_OK)
        printf("%" PRIu32 " rows: by the tree %.5f, %.1f s and %.1f s for the tree; by all centres "
               "%.5f, %.1f s; the same %.2f %%\n",
               n, mean, clock[2] - clock[1], clock[1] - clock[0], exact, clock[3] - clock[2],
               100.0 * same / n);
    p.centres = (gf_centres){0};
    gf_passes_free(passes);
    gf_partition_release(&p);
    gf_free(label);
    gf_free(own);
    gf_free(other);
    return st;
}

static gf_status cluster(settings *s, gf_error *err)
{
    gf_pool *pool = NULL;
    gf_zipf z = {0};
    gf_csr x = {0};
    gf_spill *spill = NULL;
    uint64_t *start = NULL;
    gf_kmeans r = {0};
    gf_status st = gf_pool_create(s->threads, &pool, err);
    if (st == GF_OK)
        st = gf_zipf_init(&z, s->rows, s->terms, s->topics, s->length, s->kmeans.seed, err);
    print_phase(s, "weights counted");
    if (st == GF_OK && s->memory) {
        start = gf_array((size_t)s->rows + 1, sizeof *start);
        if (!start) st = gf_fail_memory(err, "rows");
        if (st == GF_OK) st = gf_spill_create(s->folder, &spill, err);
        if (st == GF_OK) st = make_file(s, &z, pool, spill, start, err);
    } else if (st == GF_OK) {
        st = gf_zipf_rows(&z, 0, s->rows, pool, &x, err);
    }
    gf_zipf_release(&z);
    if (st != GF_OK) goto done;
    uint64_t entries = start ? start[s->rows] : gf_csr_nnz(&x);
    printf("%" PRIu32 " rows, %" PRIu32 " terms, %" PRIu64 " entries, %" PRIu32
           " topics; k %" PRIu32 ", %u threads\n",
           s->rows, s->terms, entries, s->topics, s->kmeans.k, gf_pool_size(pool));
    print_phase(s, "rows made");
    double begin = gf_clock_seconds(), processor = processor_seconds();
    if (spill) {
        gf_row_file file = {s->rows, s->terms, start, (uint64_t)s->rows * s->length * 3 / 2, spill};
        gf_minibatch_options o = {s->kmeans, sample_for(s)};
        printf("a sample of %" PRIu32 " rows\n", o.sample);
        st = gf_minibatch_run(pool, &file, &o, &r, err);
    } else {
        st = gf_kmeans_run(pool, &x, &s->kmeans, &r, err);
    }
    if (st != GF_OK) goto done;
    double seconds = gf_clock_seconds() - begin;
    print_phase(s, "clustered");
    const gf_kmeans_stages *g = &r.stages;
    uint64_t of_centres = 0;
    for (uint32_t j = 0; j < r.k; j++)
        of_centres += r.centres.at[j].n;
    printf("fold %.1f s, seeds %.1f s, passes %.1f s, polish %.1f s, exchange %.1f s, last %.1f s; "
           "%" PRIu64 " entries of centres\n",
           g->folding.seconds, g->seeding.seconds, g->passing.seconds, g->polishing.seconds,
           g->exchanging.seconds, g->finishing.seconds, of_centres);
    printf("k %" PRIu32 " of %" PRIu32 " (%" PRIu32
           " empty), %.1f s, processor %.1f s, %.0f rows/s, mean cosine %.5f, peak %.0f MiB\n",
           r.k, s->kmeans.k, s->kmeans.k - r.k, seconds, processor_seconds() - processor,
           s->rows / seconds, r.objective / s->rows, peak_mib());
    if (s->compared && !spill) st = compare(s, &x, pool, &r, err);
done:
    gf_kmeans_release(&r);
    gf_csr_release(&x);
    gf_spill_free(spill);
    gf_free(start);
    gf_pool_free(pool);
    return st;
}

/* A number with K, M or G behind it for 2^10, 2^20, 2^30. */
static uint64_t bytes_of(const char *text)
{
    char *end;
    double v = strtod(text, &end);
    if (*end == 'G') v *= 1 << 30;
    if (*end == 'M') v *= 1 << 20;
    if (*end == 'K') v *= 1 << 10;
    return (uint64_t)v;
}

static const struct option options[] = {
    {"rows", required_argument, NULL, 'n'},   {"terms", required_argument, NULL, 'v'},
    {"length", required_argument, NULL, 'l'}, {"topics", required_argument, NULL, 'g'},
    {"memory", required_argument, NULL, 'm'}, {"sample", required_argument, NULL, 'a'},
    {"folder", required_argument, NULL, 'f'}, {"threads", required_argument, NULL, 't'},
    {"seed", required_argument, NULL, 's'},   {"compare", required_argument, NULL, 'c'},
    {"quick", no_argument, NULL, 'q'},        {0}};

static uint32_t number(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
    settings s = {.rows = 400000,
                  .terms = 141000,
                  .length = 59,
                  .folder = ".",
                  .kmeans = {.k = 4000, .seed = 1, .progress = report_progress},
                  .begin = gf_clock_seconds()};
    int c;
    while ((c = getopt_long(argc, argv, "k:", options, NULL)) != -1) {
        if (c == 'n')
            s.rows = number(optarg);
        else if (c == 'v')
            s.terms = number(optarg);
        else if (c == 'l')
            s.length = number(optarg);
        else if (c == 'g')
            s.topics = number(optarg);
        else if (c == 'm')
            s.memory = bytes_of(optarg);
        else if (c == 'a')
            s.sample = number(optarg);
        else if (c == 'f')
            s.folder = optarg;
        else if (c == 't')
            s.threads = number(optarg);
        else if (c == 's')
            s.kmeans.seed = number(optarg);
        else if (c == 'c')
            s.compared = number(optarg);
        else if (c == 'q')
            s.kmeans.quick = true;
        else if (c == 'k')
            s.kmeans.k = number(optarg);
        else
            optind = argc + 1;
    }
    if (optind != argc || s.kmeans.k == 0) {
        fprintf(stderr,
                "usage: %s [--rows N] [--terms V] [--length L] [--topics G] [-k K] [--threads T]\n"
                "       [--memory BYTES [--folder FOLDER] [--sample ROWS]] [--seed S] [--quick] "
                "[--compare ROWS]\n",
                argv[0]);
        return 2;
    }
    if (s.topics == 0) s.topics = s.rows / 100 + 1;
    s.kmeans.progress_context = &s;
    gf_error err = {GF_OK, ""};
    gf_status st = cluster(&s, &err);
    if (st != GF_OK) fprintf(stderr, "%s\n", err.message);
    return st == GF_OK ? 0 : 1;
}
