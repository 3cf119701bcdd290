/*
 * Near-duplicates alone, on a matrix that `grouperfish export --matrix` wrote, beside an inverted index
 * without bounds: the groups must be the same.
 *
 *     bench_duplicates rows.npz [--least .8] [--rows N] [--threads N] [--runs N] [--naive]
 *
 * Medians of the runs, which take turns.
 */
#include "cluster/near/duplicates.h"
#include "base/clock.h"
#include "base/memory.h"
#include "cluster/passes/fold.h"
#include "formats/bytes/files.h"
#include "formats/matrix/npz.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST_RUNS = 25 };

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static double processor_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return seconds_of(use.ru_utime) + seconds_of(use.ru_stime);
}

static double length_of(gf_row_view row)
{
    double sum = 0;
    for (uint32_t i = 0; i < row.n; i++)
        sum += (double)row.val[i] * (double)row.val[i];
    return sqrt(sum);
}

/* Every term of every representative is posted, and every product is added up. */
static gf_status find_naively(const gf_csr *x, const gf_fold_list *fold, double least, uint32_t *of,
                              gf_error *err)
{
    typedef struct posting {
        uint32_t row;
        float value;
    } posting;
    uint32_t n = x->n_rows;
    uint64_t *start = gf_calloc((size_t)x->n_cols + 1, sizeof *start);
    uint32_t *filled = gf_calloc(x->n_cols, sizeof *filled), *met = gf_array(n, sizeof *met);
    posting *postings = gf_array(gf_csr_nnz(x), sizeof *postings);
    double *sum = gf_calloc(n, sizeof *sum), *length = gf_array(n, sizeof *length);
    bool ok = start && filled && met && postings && sum && length;
    for (uint64_t p = 0; ok && p < gf_csr_nnz(x); p++)
        start[x->col[p] + 1]++;
    for (uint32_t t = 0; ok && t < x->n_cols; t++)
        start[t + 1] += start[t];
    for (uint32_t i = 0; ok && i < n; i++) {
        gf_row_view row = gf_csr_row(x, i);
        uint32_t n_met = 0;
        double best = 0;
        length[i] = length_of(row);
        of[i] = i;
        if (row.n && fold->rows[fold->point_of[i]] != i) {
            of[i] = of[fold->rows[fold->point_of[i]]];
            continue;
        }
        for (uint32_t e = 0; e < row.n; e++) {
            const posting *p = postings + start[row.col[e]];
            for (uint32_t q = 0; q < filled[row.col[e]]; q++) {
                if (sum[p[q].row] == 0) met[n_met++] = p[q].row;
                sum[p[q].row] += (double)row.val[e] * (double)p[q].value;
            }
        }
        for (uint32_t m = 0; m < n_met; m++) {
            uint32_t j = met[m];
            double cosine = sum[j] / (length[i] * length[j]);
            sum[j] = 0;
            if (cosine > 1) cosine = 1;
            if (cosine < least || cosine < best || (cosine == best && j > of[i])) continue;
            best = cosine;
            of[i] = j;
        }
        for (uint32_t e = 0; of[i] == i && e < row.n; e++)
            postings[start[row.col[e]] + filled[row.col[e]]++] = (posting){i, row.val[e]};
    }
    gf_free(start);
    gf_free(filled);
    gf_free(met);
    gf_free(postings);
    gf_free(sum);
    gf_free(length);
    return ok ? GF_OK : gf_fail_memory(err, "the baseline");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *v, unsigned n)
{
    qsort(v, n, sizeof *v, by_value);
    return v[n / 2];
}

static gf_status measure(const gf_csr *x, double least, unsigned threads, unsigned runs, bool naive,
                         gf_error *err)
{
    double wall[MOST_RUNS], cpu[MOST_RUNS], naive_cpu[MOST_RUNS];
    uint32_t *of = naive ? gf_array(x->n_rows, sizeof *of) : NULL;
    gf_duplicates d = {0};
    gf_pool *pool = NULL;
    gf_status st = !naive || of ? GF_OK : gf_fail_memory(err, "the baseline");
    if (st == GF_OK) st = gf_pool_create(threads, &pool, err);
    for (unsigned r = 0; r < runs && st == GF_OK; r++) {
        gf_duplicates_release(&d);
        double clock = gf_clock_seconds(), processor = processor_seconds();
        st = gf_duplicates_find(pool, x, NULL, least, NULL, &d, err);
        wall[r] = gf_clock_seconds() - clock;
        cpu[r] = processor_seconds() - processor;
        if (st != GF_OK || !naive) continue;
        processor = processor_seconds();
        gf_fold_list fold = {0};
        st = gf_fold_list_rows(pool, x, &fold, err);
        if (st == GF_OK) st = find_naively(x, &fold, least, of, err);
        gf_fold_list_release(&fold);
        naive_cpu[r] = processor_seconds() - processor;
        if (st == GF_OK && memcmp(of, d.of, x->n_rows * sizeof *of) != 0)
            st = gf_fail(err, GF_ECORRUPT, "the groups are not those of the baseline");
    }
    if (st == GF_OK) {
        printf("%" PRIu32 " rows, %" PRIu64 " entries, least %.2f: %" PRIu64 " differ, %" PRIu32
               " groups of %" PRIu32 "\n",
               x->n_rows, gf_csr_nnz(x), least, d.distinct, d.groups, d.groups + d.copies);
        printf("  %.3f s, %.3f processor s; posted %" PRIu64 ", pairs met %" PRIu64
               ", weighed %" PRIu64 "\n",
               median(wall, runs), median(cpu, runs), d.posted, d.met, d.weighed);
        if (naive)
            printf("  without bounds %.3f processor s: %.1f times as much\n",
                   median(naive_cpu, runs), median(naive_cpu, runs) / median(cpu, runs));
        struct rusage use;
        getrusage(RUSAGE_SELF, &use);
        printf("  peak %.0f MiB\n", (double)use.ru_maxrss / 1024);
    }
    gf_duplicates_release(&d);
    gf_pool_free(pool);
    gf_free(of);
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
    if (st != GF_OK || m->sparse.n_rows) return st;
    gf_npz_matrix_release(m);
    return gf_fail(err, GF_EINVAL, "%s has no sparse rows", path);
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {"least", required_argument, NULL, 'l'},   {"rows", required_argument, NULL, 'n'},
        {"threads", required_argument, NULL, 't'}, {"runs", required_argument, NULL, 'r'},
        {"naive", no_argument, NULL, 'b'},         {NULL, 0, NULL, 0}};
    double least = .8;
    uint32_t rows = UINT32_MAX;
    unsigned threads = 0, runs = 5;
    bool naive = false;
    gf_error err = {GF_OK, ""};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == 'l')
            least = atof(optarg);
        else if (c == 'n')
            rows = (uint32_t)atol(optarg);
        else if (c == 't')
            threads = (unsigned)atoi(optarg);
        else if (c == 'r')
            runs = (unsigned)atoi(optarg);
        else if (c == 'b')
            naive = true;
        else
            return 2;
    }
    if (optind + 1 != argc || runs < 1 || runs > MOST_RUNS) {
        fprintf(stderr, "usage: bench_duplicates rows.npz [--least .8] [--rows N] [--threads N] "
                        "[--runs N] [--naive]\n");
        return 2;
    }
    gf_npz_matrix m;
    gf_status st = read_matrix(argv[optind], &m, &err);
    if (st == GF_OK) {
        if (rows < m.sparse.n_rows) m.sparse.n_rows = rows;
        st = measure(&m.sparse, least, threads, runs, naive, &err);
        gf_npz_matrix_release(&m);
    }
    if (st != GF_OK) fprintf(stderr, "bench_duplicates: %s\n", err.message);
    return st == GF_OK ? 0 : 1;
}
