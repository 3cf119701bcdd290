/*
 * The cluster layer alone, on a matrix that `grouperfish export --matrix` or scipy wrote: seconds
 * and processor seconds, the objective worked out anew from the labels, agreement with known
 * classes, memory.
 *
 *     bench_kmeans rows.npz -k 100 --runs 5 --threads 2 --classes classes.txt
 *
 * One line a run, each with the next seed, and one with medians (of seconds) and means (of the
 * rest). --cores adds, for each stage, the processor seconds of one thread alone and within tasks, the
 * longest tasks, and what 1, 2, 4, ... threads would take at least (base/pool.h). --classes is a file with the class of each row, a whole number a line; --labels a file to
 * write the last run's labels to, likewise. --new N leaves the last N rows out, and has them find
 * their places among the clusters of the others, each thread for itself.
 */
#include "cluster/kmeans.h"
#include "base/clock.h"
#include "base/grid.h"
#include "base/memory.h"
#include "cluster/measure/quality.h"
#include "cluster/passes/nearest_centres.h"
#include "formats/bytes/files.h"
#include "formats/matrix/npz.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct settings {
    const char *matrix, *classes, *labels;
    gf_kmeans_options kmeans;
    unsigned threads, runs;
    uint32_t new; /* rows that are left out, and then located */
    bool cores;
} settings;

typedef struct figures {
    double seconds, processor, cosine, nmi;
    gf_kmeans_stages stages;
} figures;

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Of all threads so far: what a machine shared with others disturbs least. */
static double processor_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return seconds_of(use.ru_utime) + seconds_of(use.ru_stime);
}

static double peak_mib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

/* sum over clusters of |S|, with S summed anew from the labels, over the rows that have entries. */
static gf_status mean_cosine(const gf_csr *x, const uint32_t *label, uint32_t k, double *mean,
                             gf_error *err)
{
    uint32_t *start = gf_array((size_t)k + 1, sizeof *start);
    uint32_t *rows = gf_array(x->n_rows, sizeof *rows), n = 0;
    double *sum = gf_calloc(x->n_cols, sizeof *sum), total = 0;
    gf_status st = start && rows && sum ? GF_OK : gf_fail_memory(err, "the objective");
    if (st == GF_OK) gf_centres_sort_rows(label, x->n_rows, k, start, rows);
    for (uint32_t j = 0; st == GF_OK && j < k; j++) {
        double squares = 0;
        for (uint32_t r = start[j]; r < start[j + 1]; r++) {
            gf_row_view row = gf_csr_row(x, rows[r]);
            n += row.n > 0;
            for (uint32_t p = 0; p < row.n; p++)
                sum[row.col[p]] += (double)row.val[p];
        }
        for (uint32_t r = start[j]; r < start[j + 1]; r++) {
            gf_row_view row = gf_csr_row(x, rows[r]);
            for (uint32_t p = 0; p < row.n; p++) {
                squares += sum[row.col[p]] * sum[row.col[p]];
                sum[row.col[p]] = 0;
            }
        }
        total += sqrt(squares);
    }
    if (st == GF_OK) *mean = total / n;
    gf_free(start);
    gf_free(rows);
    gf_free(sum);
    return st;
}

static gf_status read_classes(const char *path, uint32_t n, uint32_t **classes, gf_error *err)
{
    FILE *f = fopen(path, "r");
    if (!f) return gf_fail(err, GF_ENOTFOUND, "cannot open %s", path);
    uint32_t *c = gf_array(n, sizeof *c), i = 0;
    while (c && i < n && fscanf(f, "%" SCNu32, &c[i]) == 1)
        i++;
    fclose(f);
    gf_status st = !c      ? gf_fail_memory(err, "classes")
                   : i < n ? gf_fail(err, GF_EINVAL,
                                     "%s has %" PRIu32 " classes for %" PRIu32 " rows", path, i, n)
                           : GF_OK;
    if (st == GF_OK)
        *classes = c;
    else
        gf_free(c);
    return st;
}

static gf_status write_labels(const char *path, const gf_kmeans *r, gf_error *err)
{
    FILE *f = fopen(path, "w");
    if (!f) return gf_fail(err, GF_EIO, "cannot write %s", path);
    for (uint32_t i = 0; i < r->n; i++)
        fprintf(f, "%" PRIu32 "\n", r->label[i]);
    return fclose(f) ? gf_fail(err, GF_EIO, "cannot write %s", path) : GF_OK;
}

/* ---- new rows -------------------------------------------------------------------------------- */

enum { ROWS_PER_TASK = 256 };

typedef struct locating {
    gf_nearest_centres locator;
    const gf_csr *x;
    uint32_t from;   /* the first new row */
    double *similar; /* of each task: sum of the similarities to the nearest centres */
} locating;

static gf_status locate_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)err;
    const locating *l = context;
    uint32_t i = l->from + (uint32_t)task * ROWS_PER_TASK, n = l->x->n_rows;
    uint32_t end = n - i < ROWS_PER_TASK ? n : i + ROWS_PER_TASK;
    for (; i < end; i++)
        l->similar[task] +=
            gf_nearest_centres_find(&l->locator, worker, gf_csr_row(l->x, i)).similarity;
    return GF_OK;
}

/* Tell how many of the rows behind the clustered ones find their cluster in a second. */
static gf_status locate_new(gf_pool *pool, const gf_csr *x, const gf_kmeans *r, gf_error *err)
{
    uint32_t n = x->n_rows - r->n;
    size_t tasks = ((size_t)n + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    locating l = {.x = x, .from = r->n, .similar = gf_calloc(tasks, sizeof(double))};
    gf_status st = l.similar ? GF_OK : gf_fail_memory(err, "figures");
    double begin = processor_seconds(), sum = 0;
    if (st == GF_OK) st = gf_nearest_centres_init(&l.locator, &r->centres, NULL, err);
    if (st == GF_OK) st = gf_nearest_centres_make_room(&l.locator, gf_pool_size(pool), err);
    double indexed = processor_seconds(), clock = gf_clock_seconds();
    if (st == GF_OK) st = gf_pool_run(pool, tasks, locate_task, &l, NULL, err);
    double located = processor_seconds(), seconds = gf_clock_seconds() - clock;
    for (size_t i = 0; st == GF_OK && i < tasks; i++)
        sum += l.similar[i];
    if (st == GF_OK)
        printf("new rows %" PRIu32 ": %.0f a second, %.0f a processor second; the index %.3f s; "
               "mean cosine %.5f\n",
               n, n / seconds, n / (located - indexed), indexed - begin, sum / n);
    gf_nearest_centres_release(&l.locator);
    gf_free(l.similar);
    return st;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void print_figures(const char *name, const figures *f)
{
    const gf_kmeans_stages *s = &f->stages;
    printf("%-8s %7.3f s, processor %.3f s: fold %.3f choose %.3f seeds %.3f warm %.3f passes %.3f "
           "polish %.3f exchange %.3f last %.3f  cosine %.5f",
           name, f->seconds, f->processor, s->folding.seconds, s->choosing.seconds,
           s->seeding.seconds, s->warming.seconds, s->passing.seconds, s->polishing.seconds,
           s->exchanging.seconds, s->finishing.seconds, f->cosine);
    if (f->nmi >= 0) printf("  nmi %.4f", f->nmi);
}

static void print_account(const char *stage, const gf_pool_account *a)
{
    printf("  %-9s %6" PRIu64 " %8" PRIu64 " %8.3f %8.3f %8.3f ", stage, a->runs, a->tasks,
           a->serial, a->parallel, a->longest);
    for (unsigned c = 0; c < GF_POOL_COUNTS; c++)
        printf(" %7.3f", a->serial + a->with[c]);
    printf("\n");
}

/* Seconds of each stage by one thread, two, four, ..., at least. */
static void print_cores(const gf_kmeans_stages *s)
{
    const gf_kmeans_stage *stage[] = {&s->folding,    &s->choosing, &s->seeding,
                                      &s->warming,    &s->passing,  &s->polishing,
                                      &s->exchanging, &s->sweeping, &s->finishing};
    const char *name[] = {"fold",   "choose",   "seeds", "warm", "passes",
                          "polish", "exchange", "sweep", "last"};
    gf_pool_account all = {0};
    printf("  %-9s %6s %8s %8s %8s %8s ", "stage", "runs", "tasks", "serial", "in tasks",
           "longest");
    for (unsigned c = 0; c < GF_POOL_COUNTS; c++)
        printf(" %7u", 1u << c);
    printf("\n");
    for (size_t i = 0; i < sizeof stage / sizeof stage[0]; i++) {
        if (stage[i]->seconds > 0.0005) print_account(name[i], &stage[i]->account);
        all = gf_pool_account_sum(&all, &stage[i]->account);
    }
    print_account("all", &all);
}

static gf_status one_run(const settings *s, gf_pool *pool, const gf_csr *x, const uint32_t *classes,
                         figures *f, gf_error *err)
{
    gf_kmeans r = {0};
    gf_quality q = {0};
    char name[24];
    double begin = gf_clock_seconds(), processor = processor_seconds();
    gf_csr old = *x;
    old.n_rows -= s->new;
    gf_status st = gf_kmeans_run(pool, &old, &s->kmeans, &r, err);
    *f = (figures){.seconds = gf_clock_seconds() - begin,
                   .processor = processor_seconds() - processor,
                   .nmi = -1,
                   .stages = r.stages};
    if (st == GF_OK) st = mean_cosine(&old, r.label, r.k, &f->cosine, err);
    if (st == GF_OK && classes) {
        st = gf_quality_compare(r.label, classes, r.n, &q, err);
        f->nmi = q.nmi;
        gf_quality_release(&q);
    }
    if (st == GF_OK && s->labels) st = write_labels(s->labels, &r, err);
    if (st == GF_OK) {
        snprintf(name, sizeof name, "seed %" PRIu64, s->kmeans.seed);
        print_figures(name, f);
        printf("  k %" PRIu32 ", %u passes, %u rounds, %u runs, peak %.0f MiB\n", r.k, r.passes,
               r.rounds, r.restarts, peak_mib());
        if (s->cores) print_cores(&f->stages);
        fflush(stdout);
    }
    if (st == GF_OK && s->new) st = locate_new(pool, x, &r, err);
    gf_kmeans_release(&r);
    return st;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Of the doubles `offset` bytes into each of the runs' figures. */
static double median(const figures *f, unsigned n, size_t offset)
{
    double *v = gf_array(n, sizeof *v), m = NAN;
    for (unsigned i = 0; v && i < n; i++)
        memcpy(&v[i], (const char *)&f[i] + offset, sizeof *v);
    if (v) qsort(v, n, sizeof *v, compare_doubles);
    if (v) m = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    gf_free(v);
    return m;
}

static void print_summary(const figures *f, unsigned n)
{
    figures all = {.nmi = 0};
    for (unsigned i = 0; i < n; i++) {
        all.cosine += f[i].cosine / n;
        all.nmi += f[i].nmi / n;
    }
    all.seconds = median(f, n, offsetof(figures, seconds));
    all.processor = median(f, n, offsetof(figures, processor));
    all.stages.folding.seconds = median(f, n, offsetof(figures, stages.folding.seconds));
    all.stages.choosing.seconds = median(f, n, offsetof(figures, stages.choosing.seconds));
    all.stages.seeding.seconds = median(f, n, offsetof(figures, stages.seeding.seconds));
    all.stages.warming.seconds = median(f, n, offsetof(figures, stages.warming.seconds));
    all.stages.passing.seconds = median(f, n, offsetof(figures, stages.passing.seconds));
    all.stages.polishing.seconds = median(f, n, offsetof(figures, stages.polishing.seconds));
    all.stages.exchanging.seconds = median(f, n, offsetof(figures, stages.exchanging.seconds));
    all.stages.finishing.seconds = median(f, n, offsetof(figures, stages.finishing.seconds));
    print_figures("of all", &all);
    printf("\n");
}

static gf_status all_runs(settings *s, gf_pool *pool, const gf_csr *x, gf_error *err)
{
    uint32_t *classes = NULL;
    figures *f = gf_array(s->runs, sizeof *f);
    gf_status st = f ? GF_OK : gf_fail_memory(err, "figures");
    if (st == GF_OK && s->classes) st = read_classes(s->classes, x->n_rows, &classes, err);
    printf("%s: %" PRIu32 " rows, %" PRIu32 " terms, %" PRIu64 " entries; %u threads, %.0f MiB\n",
           s->matrix, x->n_rows, x->n_cols, gf_csr_nnz(x), gf_pool_size(pool), peak_mib());
    for (unsigned i = 0; st == GF_OK && i < s->runs; i++, s->kmeans.seed++)
        st = one_run(s, pool, x, classes, &f[i], err);
    if (st == GF_OK && s->runs > 1) print_summary(f, s->runs);
    gf_free(f);
    gf_free(classes);
    return st;
}

static gf_status read_matrix(const char *path, gf_npz_matrix *m, gf_error *err)
{
    gf_files *files = NULL;
    gf_status st = gf_files_open(&path, 1, &files, err);
    if (st != GF_OK) return st;
    gf_input input = gf_files_input(files);
    st = gf_npz_read_matrix(&input, NULL, m, err);
    gf_files_close(files);
    for (uint64_t e = 0; st == GF_OK && e < gf_csr_nnz(&m->sparse); e++)
        m->sparse.val[e] = gf_grid_round((double)m->sparse.val[e]); /* other programs' rows */
    if (st != GF_OK || m->sparse.n_rows) return st;
    gf_npz_matrix_release(m);
    return gf_fail(err, GF_EINVAL, "%s has no sparse rows", path);
}

static const struct option options[] = {
    {"k", required_argument, NULL, 'k'},        {"runs", required_argument, NULL, 'n'},
    {"threads", required_argument, NULL, 't'},  {"seed", required_argument, NULL, 's'},
    {"restarts", required_argument, NULL, 'r'}, {"passes", required_argument, NULL, 'p'},
    {"rounds", required_argument, NULL, 'o'},   {"tolerance", required_argument, NULL, 'e'},
    {"quick", no_argument, NULL, 'q'},          {"classes", required_argument, NULL, 'c'},
    {"labels", required_argument, NULL, 'l'},   {"new", required_argument, NULL, 'w'},
    {"cores", no_argument, NULL, 'a'},          {0}};

/* A number, 0 where there is none, which means the default throughout. */
static unsigned number(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}

static bool parse(int argc, char **argv, settings *s)
{
    int c;
    while ((c = getopt_long(argc, argv, "k:n:t:s:r:p:o:e:qc:l:w:a", options, NULL)) != -1) {
        if (c == 'k')
            s->kmeans.k = number(optarg);
        else if (c == 'n')
            s->runs = number(optarg) ? number(optarg) : 1;
        else if (c == 't')
            s->threads = number(optarg);
        else if (c == 's')
            s->kmeans.seed = number(optarg);
        else if (c == 'r')
            s->kmeans.restarts = number(optarg);
        else if (c == 'p')
            s->kmeans.max_passes = number(optarg);
        else if (c == 'o')
            s->kmeans.max_rounds = number(optarg) ? number(optarg) : GF_NO_POLISH;
        else if (c == 'e')
            s->kmeans.tolerance = strtod(optarg, NULL);
        else if (c == 'q')
            s->kmeans.quick = true;
        else if (c == 'c')
            s->classes = optarg;
        else if (c == 'a')
            s->cores = true;
        else if (c == 'w')
            s->new = number(optarg);
        else if (c == 'l')
            s->labels = optarg;
        else
            return false;
    }
    if (optind + 1 == argc) s->matrix = argv[optind];
    return s->matrix != NULL;
}

int main(int argc, char **argv)
{
    settings s = {.runs = 1, .kmeans.seed = 1};
    if (!parse(argc, argv, &s)) {
        fprintf(stderr,
                "usage: %s ROWS.npz [-k K] [--runs N] [--threads T] [--seed S] [--restarts R]\n"
                "       [--passes P] [--rounds R, 0 for none] [--tolerance E] [--quick]\n"
                "       [--classes FILE] [--labels FILE] [--new N] [--cores]\n",
                argv[0]);
        return 2;
    }
    gf_error err = {GF_OK, ""};
    gf_npz_matrix m;
    gf_pool *pool = NULL;
    gf_status st = read_matrix(s.matrix, &m, &err);
    bool loaded = st == GF_OK;
    if (st == GF_OK && s.new >= m.sparse.n_rows)
        st = gf_fail(&err, GF_EINVAL, "%s has %" PRIu32 " rows: only fewer of them can be new",
                     s.matrix, m.sparse.n_rows);
    if (st == GF_OK) st = gf_pool_create(s.threads, &pool, &err);
    gf_pool_keep_account(s.cores);
    if (st == GF_OK) st = all_runs(&s, pool, &m.sparse, &err);
    gf_pool_free(pool);
    if (loaded) gf_npz_matrix_release(&m);
    if (st != GF_OK) fprintf(stderr, "%s\n", err.message);
    return st == GF_OK ? 0 : 1;
}
