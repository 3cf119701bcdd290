/*
 * Tables in HBase: durable puts of single rows by several threads, of rows in batches, and a scan of
 * them all.
 *
 *     bench_hbase URL [ROWS (100,000)]
 *
 * A row has three cells of 60 bytes. A put counts once HBase has acknowledged it as synced. Each rate
 * is the median of three; the table is made and dropped.
 */
#include "base/clock.h"
#include "storage/hbase/backend.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 3, THREADS = 16, CELLS = 3, BATCH = 2000, SINGLE = 20 /* so many times fewer */ };

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
static const char *const columns[] = {"a", "b", "c", NULL};
static const gf_family families[] = {
    {"f", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, columns, false}};
static const char text[] = "a text of sixty bytes, which is what a short field may have.";

static gf_database *db;
static gf_table *table;
static uint64_t n_rows;
static atomic_uint_fast64_t next_row;

static void must(gf_status st, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "bench_hbase: %s\n", err->message);
    exit(1);
}

static void put_row(gf_batch *batch, uint64_t i)
{
    char name[32];
    gf_buffer key = {0};
    snprintf(name, sizeof name, "row%012" PRIu64, i);
    gf_key_string(&key, gf_slice_str(name));
    for (int c = 0; c < CELLS; c++)
        gf_batch_put(batch, table, gf_buffer_view(&key), 0, gf_slice_str(columns[c]),
                     gf_slice_str(text), 0);
    gf_buffer_release(&key);
}

typedef struct putting {
    uint64_t n, batch;
} putting;

static void *put_rows(void *context)
{
    const putting *p = context;
    gf_error err = {GF_OK, ""};
    gf_batch *batch;
    must(gf_batch_create(db, &batch, &err), &err);
    for (uint64_t i; (i = atomic_fetch_add(&next_row, p->batch)) < p->n;) {
        for (uint64_t j = 0; j < p->batch; j++)
            put_row(batch, i + j);
        must(gf_batch_write(batch, GF_SYNC_ON, &err), &err);
    }
    gf_batch_free(batch);
    return NULL;
}

static double rate_of_puts(unsigned n_threads, putting p)
{
    pthread_t threads[THREADS];
    double began = gf_clock_seconds();
    atomic_store(&next_row, 0);
    for (unsigned i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, put_rows, &p)) exit(1);
    for (unsigned i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    return (double)p.n / (gf_clock_seconds() - began);
}

static double rate_of_scan(void)
{
    gf_error err = {GF_OK, ""};
    gf_scan *scan;
    gf_row row = {0};
    gf_status st;
    uint64_t n = 0;
    double began = gf_clock_seconds();
    must(gf_scan_open(table, &GF_SCAN_OPTIONS(.family = 0), &scan, &err), &err);
    while ((st = gf_scan_next(scan, &row, &err)) == GF_OK)
        n += row.n_cells == CELLS;
    must(st == GF_ENOTFOUND ? GF_OK : st, &err);
    if (n < n_rows) must(gf_fail(&err, GF_ECORRUPT, "%" PRIu64 " rows", n), &err);
    gf_scan_close(scan);
    gf_row_release(&row);
    return (double)n / (gf_clock_seconds() - began);
}

static void print_median(const char *what, double *rates)
{
    for (int i = 1; i < RUNS; i++)
        for (int j = i; j > 0 && rates[j] < rates[j - 1]; j--) {
            double r = rates[j];
            rates[j] = rates[j - 1];
            rates[j - 1] = r;
        }
    printf("%-40s %8.0f rows/s  (%.0f to %.0f)\n", what, rates[RUNS / 2], rates[0],
           rates[RUNS - 1]);
}

int main(int argc, char **argv)
{
    gf_error err = {GF_OK, ""};
    gf_backend *backend;
    char name[64];
    double rates[4][RUNS];
    if (argc < 2) {
        fprintf(stderr, "bench_hbase URL [ROWS]\n");
        return 2;
    }
    n_rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    snprintf(name, sizeof name, "table:bench.%" PRId64, gf_clock_ms());
    const gf_schema schema = {name, parts, 1, families, 1};
    must(gf_hbase_open(argv[1], &backend, &err), &err);
    must(gf_database_create(backend, &db, &err), &err);
    must(gf_table_open(db, &schema, &table, &err), &err);
    for (int run = 0; run < RUNS; run++) {
        rates[0][run] = rate_of_puts(1, (putting){n_rows / SINGLE / 4, 1});
        rates[1][run] = rate_of_puts(THREADS, (putting){n_rows / SINGLE, 1});
        rates[2][run] = rate_of_puts(1, (putting){n_rows, BATCH});
        rates[3][run] = rate_of_scan();
    }
    print_median("put, one row at a time, 1 thread", rates[0]);
    print_median("put, one row at a time, 16 threads", rates[1]);
    print_median("put, batches of 2,000 rows, 1 thread", rates[2]);
    print_median("scan", rates[3]);
    must(gf_table_drop(table, NULL, &err), &err);
    gf_database_close(db);
    return 0;
}
