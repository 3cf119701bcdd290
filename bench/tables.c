/*
 * Rows into a table of a user, against the same bytes into bare LevelDB, in one run:
 *
 *     bench_tables [rows [runs]]
 *
 * bare      leveldb_write of batches of 2,000 rows, each synced: the key and one value with all
 * columns library   gf_batch_put of each column, in batches of the same size, each synced import
 * the operation table import of JSON Lines: parsed, checked against the schema, put csv       the
 * same from CSV export    the operation table export of all rows as JSON Lines, against an iterator
 * over the bare ones
 *
 * Rows have a text key of 10 bytes and four columns (text of 40 bytes, int64, decimal, text of 8),
 * in the order of their keys. The figures are medians of the runs, which take turns.
 */
#include "api/operation.h"

#include "base/memory.h"
#include "base/random.h"

#include <ftw.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 2000, MOST_RUNS = 21 };
enum { BARE, LIBRARY, IMPORT, CSV, BARE_SCAN, EXPORT, N_MEASURES };
static const char *const names[] = {"bare",       "library",   "import jsonl",
                                    "import csv", "bare scan", "export jsonl"};

static uint64_t n_rows = 300000;
static gf_buffer jsonl, csv;
static uint64_t sink;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(gf_status st, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "bench_tables: %s\n", err->message);
    exit(1);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

typedef struct bench_row {
    char key[16], text[41], tag[9];
    int64_t number;
    unsigned count;
} bench_row;

static bench_row row_of(uint64_t i)
{
    bench_row r;
    gf_random random = gf_random_seed(1, i);
    snprintf(r.key, sizeof r.key, "r%09llu", (unsigned long long)i);
    for (int c = 0; c < 40; c++)
        r.text[c] = (char)('a' + gf_random_below(&random, 26));
    for (int c = 0; c < 8; c++)
        r.tag[c] = (char)('a' + gf_random_below(&random, 26));
    r.text[40] = r.tag[8] = '\0';
    r.number = (int64_t)(gf_random_u64(&random) >> 20);
    r.count = (unsigned)gf_random_below(&random, 100000);
    return r;
}

static void write_files(void)
{
    gf_error err;
    gf_buffer_str(&csv, "id,main:text,main:number,main:count,main:tag\n");
    for (uint64_t i = 0; i < n_rows; i++) {
        bench_row r = row_of(i);
        gf_buffer_format(&jsonl,
                         "{\"key\":[\"%s\"],\"cells\":{\"main\":{\"text\":\"%s\",\"number\":%lld,"
                         "\"count\":%u,\"tag\":\"%s\"}}}\n",
                         r.key, r.text, (long long)r.number, r.count, r.tag);
        gf_buffer_format(&csv, "%s,%s,%lld,%u,%s\n", r.key, r.text, (long long)r.number, r.count,
                         r.tag);
    }
    must(gf_buffer_check(&jsonl, &err), &err);
    must(gf_buffer_check(&csv, &err), &err);
}

/* ---- bare LevelDB -----------------------------------------------------------------------------
 */

static void no_error(char *message)
{
    if (!message) return;
    fprintf(stderr, "bench_tables: %s\n", message);
    exit(1);
}

static leveldb_options_t *options(void)
{
    leveldb_options_t *o = leveldb_options_create();
    leveldb_options_set_create_if_missing(o, 1);
    leveldb_options_set_write_buffer_size(o, 64 << 20);
    leveldb_options_set_max_file_size(o, 16 << 20);
    leveldb_options_set_paranoid_checks(o, 1);
    leveldb_options_set_filter_policy(o, leveldb_filterpolicy_create_bloom(10));
    return o;
}

static void bare(const char *folder, double seconds[N_MEASURES])
{
    char path[512], *message = NULL;
    snprintf(path, sizeof path, "%s/bare", folder);
    leveldb_t *db = leveldb_open(options(), path, &message);
    no_error(message);
    leveldb_writeoptions_t *write = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(write, 1);
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    gf_buffer value = {0};
    double start = now();
    for (uint64_t i = 0; i < n_rows; i++) {
        bench_row r = row_of(i);
        gf_buffer_reset(&value);
        gf_buffer_string(&value, gf_slice_str(r.text));
        gf_buffer_u64be(&value, (uint64_t)r.number);
        gf_buffer_format(&value, "%u", r.count);
        gf_buffer_string(&value, gf_slice_str(r.tag));
        leveldb_writebatch_put(batch, r.key, strlen(r.key), value.ptr, value.len);
        if ((i + 1) % BATCH && i + 1 < n_rows) continue;
        leveldb_write(db, write, batch, &message);
        no_error(message);
        leveldb_writebatch_clear(batch);
    }
    seconds[BARE] = now() - start;
    start = now();
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(read, 1);
    leveldb_iterator_t *it = leveldb_create_iterator(db, read);
    for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it)) {
        size_t n;
        leveldb_iter_value(it, &n);
        sink += n;
    }
    seconds[BARE_SCAN] = now() - start;
    leveldb_iter_destroy(it);
    leveldb_writebatch_destroy(batch);
    leveldb_close(db);
    gf_buffer_release(&value);
}

/* ---- the operations ---------------------------------------------------------------------------
 */

typedef struct bench_call {
    gf_store *store;
    gf_slice bytes;
    size_t at;
    bool given;
} bench_call;

static gf_status get_store(void *context, bool create, gf_store **store, gf_error *err)
{
    (void)create, (void)err;
    *store = ((bench_call *)context)->store;
    return GF_OK;
}

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    (void)context, (void)err;
    sink += row.len;
    return GF_OK;
}

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    bench_call *c = context;
    if (c->given) return gf_fail(err, GF_ENOTFOUND, "no further input");
    c->given = true;
    *name = GF_SLICE("rows");
    return GF_OK;
}

static gf_status read_stream(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    bench_call *c = context;
    (void)err;
    *got = n < c->bytes.len - c->at ? n : c->bytes.len - c->at;
    memcpy(to, c->bytes.ptr + c->at, *got);
    c->at += *got;
    return GF_OK;
}

static double operation(gf_store *store, const char *name, const gf_argument *arguments, size_t n,
                        gf_slice bytes)
{
    gf_error err;
    bench_call c = {.store = store, .bytes = bytes};
    gf_call call = {.arguments = arguments,
                    .n_arguments = n,
                    .name_space = GF_SLICE("bench"),
                    .store = get_store,
                    .emit = emit,
                    .context = &c};
    if (bytes.len) call.input = (gf_input){.context = &c, .next = next_stream, .read = read_stream};
    double start = now();
    must(gf_operation_run(gf_operation_find(name), &call, &err), &err);
    return now() - start;
}

static const char schema[] =
    "{\"key\":[{\"name\":\"id\"}],\"families\":[{\"name\":\"main\",\"columns\":"
    "{\"text\":\"text\",\"number\":\"int64\",\"count\":\"decimal\",\"tag\":"
    "\"text\"}}]}";

static double by_library(gf_store *store, const char *name)
{
    gf_error err;
    gf_user_table *t;
    gf_batch *batch;
    gf_buffer key = {0}, value = {0};
    must(gf_user_table_open(store, GF_SLICE("bench"), gf_slice_str(name), &t, &err), &err);
    must(gf_batch_create(gf_store_database(store), &batch, &err), &err);
    gf_table *rows = gf_user_table_rows(t);
    double start = now();
    for (uint64_t i = 0; i < n_rows; i++) {
        bench_row r = row_of(i);
        char count[16];
        gf_slice part = gf_slice_str(r.key);
        gf_buffer_reset(&key);
        gf_buffer_reset(&value);
        must(gf_user_key_write(t, &part, 1, &key, &err), &err);
        gf_buffer_u64be(&value, (uint64_t)r.number);
        snprintf(count, sizeof count, "%u", r.count);
        gf_slice k = gf_buffer_view(&key);
        gf_batch_put(batch, rows, k, 0, GF_SLICE("text"), gf_slice_str(r.text), 0);
        gf_batch_put(batch, rows, k, 0, GF_SLICE("number"), gf_buffer_view(&value), 0);
        gf_batch_put(batch, rows, k, 0, GF_SLICE("count"), gf_slice_str(count), 0);
        gf_batch_put(batch, rows, k, 0, GF_SLICE("tag"), gf_slice_str(r.tag), 0);
        if ((i + 1) % BATCH == 0 || i + 1 == n_rows)
            must(gf_batch_write(batch, GF_SYNC, &err), &err);
    }
    double seconds = now() - start;
    gf_batch_free(batch);
    gf_user_table_close(t);
    gf_buffer_release(&key);
    gf_buffer_release(&value);
    return seconds;
}

static void ours(const char *folder, double seconds[N_MEASURES])
{
    gf_error err;
    gf_store *store;
    char path[512];
    snprintf(path, sizeof path, "%s/store", folder);
    must(gf_store_open(path, &(gf_store_options){.create = true}, &store, &err), &err);
    static const char *const tables[] = {"library", "jsonl", "csv"};
    for (int i = 0; i < 3; i++)
        must(gf_user_table_create(store, GF_SLICE("bench"), gf_slice_str(tables[i]),
                                  gf_slice_str(schema), &err),
             &err);
    gf_argument arguments[] = {{GF_SLICE("table"), GF_SLICE("jsonl")},
                               {GF_SLICE("from"), GF_SLICE("csv")}};
    seconds[LIBRARY] = by_library(store, "library");
    seconds[IMPORT] = operation(store, "table import", arguments, 1, gf_buffer_view(&jsonl));
    seconds[EXPORT] = operation(store, "table export", arguments, 1, (gf_slice){0});
    arguments[0].value = GF_SLICE("csv");
    seconds[CSV] = operation(store, "table import", arguments, 2, gf_buffer_view(&csv));
    gf_store_close(store);
}

/* ---- figures ----------------------------------------------------------------------------------
 */

static int remove_entry(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)type, (void)at;
    return remove(path);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    double all[N_MEASURES][MOST_RUNS], median[N_MEASURES];
    int runs = argc > 2 ? atoi(argv[2]) : 5;
    if (argc > 1) n_rows = strtoull(argv[1], NULL, 10);
    if (runs < 1 || runs > MOST_RUNS || n_rows < 1) {
        fprintf(stderr, "usage: bench_tables [rows [runs, at most %d]]\n", MOST_RUNS);
        return 2;
    }
    write_files();
    for (int run = 0; run < runs; run++) {
        char folder[] = "/tmp/bench-tables-XXXXXX";
        double seconds[N_MEASURES];
        if (!mkdtemp(folder)) return 1;
        bare(folder, seconds);
        ours(folder, seconds);
        for (int m = 0; m < N_MEASURES; m++)
            all[m][run] = seconds[m];
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    for (int m = 0; m < N_MEASURES; m++) {
        qsort(all[m], (size_t)runs, sizeof(double), by_size);
        median[m] = all[m][runs / 2];
    }
    printf("%llu rows, median of %d runs\n", (unsigned long long)n_rows, runs);
    for (int m = 0; m < N_MEASURES; m++)
        printf("%-14s %10.0f rows/s   time / bare %5.2f\n", names[m], (double)n_rows / median[m],
               median[m] / median[m >= BARE_SCAN ? BARE_SCAN : BARE]);
    gf_buffer_release(&jsonl);
    gf_buffer_release(&csv);
    return sink == 0;
}
