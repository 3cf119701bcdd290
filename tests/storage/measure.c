/*
 * Our layer against plain LevelDB calls that do the same: the same keys and bytes, the same
 * settings, one after the other in one run. Not a test; docs/storage.md has the figures.
 *
 *     measure_storage [rows, 1,000,000 unless given] [folder, a new one in /tmp unless given]
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "storage/backend.h"
#include "storage/folder/folder.h"

#include <inttypes.h>
#include <leveldb/c.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1000, CELLS = 1000, THREADS = 64, COLUMNS = 4, TEXT = 90 };

static uint64_t rows;
static const char *folder;

static void check(gf_status st, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

/* ---- what is stored -------------------------------------------------------------------------- */

static const gf_key_part parts[] = {{"collection", GF_PART_STRING, 0}, {"id", GF_PART_STRING, 0}};
static const char *const names[] = {"id", "text", "time", "lang", NULL};
enum { MAIN, WIDE };
static const gf_family families[] = {
    {"main", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, names, false},
    {"wide", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false}};
static const gf_schema schema = {"documents", parts, 2, families, 2};

typedef struct document {
    char id[32], text[TEXT], time[32];
    gf_column columns[COLUMNS];
} document;

static void make_document(document *d, uint64_t i)
{
    gf_random r = gf_random_seed(i, 0);
    snprintf(d->id, sizeof d->id, "doc%09" PRIu64, i);
    snprintf(d->time, sizeof d->time, "%" PRIu64, UINT64_C(1300000000) + i);
    for (size_t k = 0; k < TEXT;
         k++) /* words of few letters, so that blocks compress about by half */
        d->text[k] = k % 6 == 5 ? ' ' : "etaoinsh"[gf_random_below(&r, 8)];
    d->columns[0] = (gf_column){gf_slice_str("id"), gf_slice_str(d->id)};
    d->columns[1] = (gf_column){gf_slice_str("text"), gf_slice_of(d->text, TEXT)};
    d->columns[2] = (gf_column){gf_slice_str("time"), gf_slice_str(d->time)};
    d->columns[3] = (gf_column){gf_slice_str("lang"), GF_SLICE("en")};
}

static void row_key(gf_buffer *key, const char *id)
{
    gf_buffer_reset(key);
    gf_key_string(key, GF_SLICE("reddit"));
    gf_key_string(key, gf_slice_str(id));
}

/* The entry that our layer makes: the same key and about the same value. */
static void plain_entry(gf_buffer *key, gf_buffer *value, const document *d)
{
    gf_buffer_reset(key);
    gf_buffer_append(key, "\0\1\0", 3);
    gf_key_string(key, GF_SLICE("reddit"));
    gf_key_string(key, gf_slice_str(d->id));
    gf_buffer_reset(value);
    gf_buffer_byte(value, 0);
    for (int c = 0; c < COLUMNS; c++) {
        gf_buffer_varint(value, (uint64_t)c + 1);
        gf_buffer_string(value, d->columns[c].value);
    }
}

static void plain_cell(gf_buffer *key, gf_buffer *value, const char *row, const char *cell)
{
    gf_buffer_reset(key);
    gf_buffer_append(key, "\0\1\1", 3);
    gf_key_string(key, GF_SLICE("reddit"));
    gf_key_string(key, gf_slice_str(row));
    gf_key_string(key, gf_slice_str(cell));
    gf_buffer_reset(value);
    gf_buffer_append(value,
                     "\0"
                     "0.12345",
                     8);
}

/* ---- ours ------------------------------------------------------------------------------------ */

typedef struct ours {
    gf_folder *held;
    gf_database *db;
    gf_table *t;
} ours;

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static ours open_ours(const char *name)
{
    gf_error err;
    ours o;
    gf_hold_options options = {.create = true, .purpose = "measure"};
    check(gf_folder_hold(path_of(name), &options, &o.held, &err), &err);
    check(gf_folder_open(o.held, &o.db, &err), &err);
    check(gf_table_open(o.db, &schema, &o.t, &err), &err);
    return o;
}

static void close_ours(ours *o)
{
    gf_database_close(o->db);
    gf_folder_release(o->held);
}

/* Made before the clock runs: making them is nobody's cost. */
static document documents[BATCH];
static char row_ids[BATCH][32], cell_ids[BATCH][32];

static uint64_t make_batch(uint64_t first, uint64_t n)
{
    uint64_t size = n - first < BATCH ? n - first : BATCH;
    for (uint64_t i = 0; i < size; i++) {
        make_document(&documents[i], first + i);
        snprintf(row_ids[i], sizeof row_ids[i], "c%09" PRIu64, (first + i) / CELLS);
        snprintf(cell_ids[i], sizeof cell_ids[i], "doc%09" PRIu64, first + i);
    }
    return size;
}

static double load_ours(ours *o, uint64_t n, unsigned family, gf_sync sync)
{
    gf_error err;
    gf_batch *batch;
    gf_buffer key = {0};
    double seconds = 0;
    check(gf_batch_create(o->db, &batch, &err), &err);
    for (uint64_t first = 0; first < n; first += BATCH) {
        uint64_t size = make_batch(first, n);
        double start = gf_clock_seconds();
        for (uint64_t i = 0; i < size; i++) {
            row_key(&key, family == MAIN ? documents[i].id : row_ids[i]);
            gf_slice row = gf_buffer_view(&key);
            if (family == MAIN)
                gf_batch_replace(batch, o->t, row, MAIN, documents[i].columns, COLUMNS, 0);
            else
                gf_batch_put(batch, o->t, row, WIDE, gf_slice_str(cell_ids[i]), GF_SLICE("0.12345"),
                             0);
        }
        check(gf_batch_write(batch, sync, &err), &err);
        seconds += gf_clock_seconds() - start;
    }
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return seconds;
}

static double get_ours(ours *o, uint64_t n)
{
    gf_error err;
    gf_row row = {0};
    gf_buffer key = {0};
    gf_random r = gf_random_seed(1, 0);
    char id[32];
    double start = gf_clock_seconds();
    for (uint64_t i = 0; i < n; i++) {
        snprintf(id, sizeof id, "doc%09" PRIu64, gf_random_below(&r, rows));
        row_key(&key, id);
        check(gf_table_get(o->t, NULL, gf_buffer_view(&key), 1u << MAIN, &row, &err), &err);
        if (row.n_cells != COLUMNS) exit(2);
    }
    double seconds = gf_clock_seconds() - start;
    gf_row_release(&row);
    gf_buffer_release(&key);
    return seconds;
}

static double scan_ours(ours *o, unsigned family, bool reverse)
{
    gf_error err;
    gf_row row = {0};
    gf_scan *scan;
    gf_scan_options options = GF_SCAN_OPTIONS(.family = family, .reverse = reverse);
    uint64_t n = 0;
    double start = gf_clock_seconds();
    check(gf_scan_open(o->t, &options, &scan, &err), &err);
    while (gf_scan_next(scan, &row, &err) == GF_OK)
        n += row.cells[0].value.len > 0;
    gf_scan_close(scan);
    double seconds = gf_clock_seconds() - start;
    if (n != rows) exit(2);
    gf_row_release(&row);
    return seconds;
}

/* ---- plain ----------------------------------------------------------------------------------- */

typedef struct plain {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_writeoptions_t *write[2];
    leveldb_readoptions_t *get, *scan;
} plain;

static void must(char *message)
{
    if (!message) return;
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static plain open_plain(const char *name)
{
    char *message = NULL;
    plain p = {.options = leveldb_options_create()};
    leveldb_options_set_create_if_missing(p.options, 1);
    leveldb_options_set_paranoid_checks(p.options, 1);
    leveldb_options_set_write_buffer_size(p.options, 64 << 20);
    leveldb_options_set_max_file_size(p.options, 16 << 20);
    leveldb_options_set_max_open_files(p.options, 500);
    leveldb_options_set_cache(p.options, leveldb_cache_create_lru(64 << 20));
    leveldb_options_set_filter_policy(p.options, leveldb_filterpolicy_create_bloom(10));
    p.db = leveldb_open(p.options, path_of(name), &message);
    must(message);
    for (int sync = 0; sync < 2; sync++) {
        p.write[sync] = leveldb_writeoptions_create();
        leveldb_writeoptions_set_sync(p.write[sync], sync == GF_SYNC_ON);
    }
    p.get = leveldb_readoptions_create();
    p.scan = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(p.get, 1);
    leveldb_readoptions_set_verify_checksums(p.scan, 1);
    leveldb_readoptions_set_fill_cache(p.scan, 0);
    return p;
}

static double load_plain(plain *p, uint64_t n, unsigned family, gf_sync sync)
{
    char *message = NULL;
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    gf_buffer key = {0}, value = {0};
    double seconds = 0;
    for (uint64_t first = 0; first < n; first += BATCH) {
        uint64_t size = make_batch(first, n);
        double start = gf_clock_seconds();
        for (uint64_t i = 0; i < size; i++) {
            if (family == MAIN)
                plain_entry(&key, &value, &documents[i]);
            else
                plain_cell(&key, &value, row_ids[i], cell_ids[i]);
            leveldb_writebatch_put(batch, key.ptr, key.len, value.ptr, value.len);
        }
        leveldb_write(p->db, p->write[sync], batch, &message);
        must(message);
        leveldb_writebatch_clear(batch);
        seconds += gf_clock_seconds() - start;
    }
    leveldb_writebatch_destroy(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&value);
    return seconds;
}

static double get_plain(plain *p, uint64_t n)
{
    gf_buffer key = {0};
    gf_random r = gf_random_seed(1, 0);
    char id[32], *message = NULL;
    double start = gf_clock_seconds();
    for (uint64_t i = 0; i < n; i++) {
        size_t length;
        snprintf(id, sizeof id, "doc%09" PRIu64, gf_random_below(&r, rows));
        gf_buffer_reset(&key);
        gf_buffer_append(&key, "\0\1\0", 3);
        gf_key_string(&key, GF_SLICE("reddit"));
        gf_key_string(&key, gf_slice_str(id));
        char *value = leveldb_get(p->db, p->get, key.ptr, key.len, &length, &message);
        must(message);
        if (!value) exit(2);
        leveldb_free(value);
    }
    double seconds = gf_clock_seconds() - start;
    gf_buffer_release(&key);
    return seconds;
}

/* Copies each entry, as whoever wants to keep it has to. */
static double scan_plain(plain *p, unsigned family, bool reverse)
{
    uint64_t n = 0;
    gf_buffer kept = {0};
    double start = gf_clock_seconds();
    char prefix[3] = {0, 1, (char)(reverse ? family + 1 : family)};
    leveldb_iterator_t *it = leveldb_create_iterator(p->db, p->scan);
    leveldb_iter_seek(it, prefix, 3);
    if (reverse && leveldb_iter_valid(it))
        leveldb_iter_prev(it);
    else if (reverse)
        leveldb_iter_seek_to_last(it);
    for (; leveldb_iter_valid(it); reverse ? leveldb_iter_prev(it) : leveldb_iter_next(it)) {
        size_t length;
        const char *key = leveldb_iter_key(it, &length);
        if ((unsigned char)key[2] != family) break;
        gf_buffer_reset(&kept);
        gf_buffer_append(&kept, key, length);
        const char *value = leveldb_iter_value(it, &length);
        gf_buffer_append(&kept, value, length);
        n += length > 0;
    }
    char *message = NULL;
    leveldb_iter_get_error(it, &message);
    must(message);
    leveldb_iter_destroy(it);
    double seconds = gf_clock_seconds() - start;
    if (n != rows) exit(2);
    gf_buffer_release(&kept);
    return seconds;
}

/* ---- many writers that sync ------------------------------------------------------------------ */

typedef struct writer {
    ours *o;
    plain *p;
    uint64_t first, n;
} writer;

static void *write_one_by_one(void *context)
{
    writer *w = context;
    gf_error err;
    gf_batch *batch = NULL;
    gf_buffer key = {0}, value = {0};
    document d;
    if (w->o) check(gf_batch_create(w->o->db, &batch, &err), &err);
    for (uint64_t i = w->first; i < w->first + w->n; i++) {
        make_document(&d, i);
        if (w->o) {
            row_key(&key, d.id);
            gf_batch_replace(batch, w->o->t, gf_buffer_view(&key), MAIN, d.columns, COLUMNS, 0);
            check(gf_batch_write(batch, GF_SYNC_ON, &err), &err);
        } else {
            char *message = NULL;
            plain_entry(&key, &value, &d);
            leveldb_put(w->p->db, w->p->write[1], key.ptr, key.len, value.ptr, value.len, &message);
            must(message);
        }
    }
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&value);
    return NULL;
}

static double write_with(ours *o, plain *p, int n_threads, uint64_t n)
{
    pthread_t threads[THREADS];
    writer writers[THREADS];
    double start = gf_clock_seconds();
    for (int i = 0; i < n_threads; i++) {
        writers[i] = (writer){o, p, UINT64_C(500000000) + (uint64_t)i * n, n};
        pthread_create(&threads[i], NULL, write_one_by_one, &writers[i]);
    }
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    return gf_clock_seconds() - start;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void tell(const char *what, uint64_t n, double ours_seconds, double plain_seconds)
{
    printf("%-34s %10.0f /s %10.0f /s   %.2f\n", what, (double)n / ours_seconds,
           (double)n / plain_seconds, ours_seconds / plain_seconds);
    fflush(stdout);
}

/* Best of three for what can be repeated. */
#define BEST(seconds, call)                                                                        \
    double seconds = 1e9;                                                                          \
    for (int again = 0; again < 3; again++) {                                                      \
        double s = (call);                                                                         \
        if (s < seconds) seconds = s;                                                              \
    }

static void run_synced(void)
{
    ours o = open_ours("ours.synced");
    plain p = open_plain("plain.synced");
    double a = load_ours(&o, rows, MAIN, GF_SYNC_ON), b = load_plain(&p, rows, MAIN, GF_SYNC_ON);
    tell("sorted load, a sync per batch", rows, a, b);
    uint64_t n = 2000, m = 500;
    a = write_with(&o, NULL, 1, n);
    b = write_with(NULL, &p, 1, n);
    tell("single rows, a sync each", n, a, b);
    a = write_with(&o, NULL, THREADS, m);
    b = write_with(NULL, &p, THREADS, m);
    tell("the same by 64 threads", m * THREADS, a, b);
    close_ours(&o);
    leveldb_close(p.db);
}

int main(int argc, char **argv)
{
    char made[] = "/tmp/grouperfish-measure-XXXXXX";
    rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    folder = argc > 2 ? argv[2] : mkdtemp(made);
    gf_error err;
    printf("%-34s %13s %13s   %s\n", "rows or cells a second", "ours", "plain LevelDB",
           "time, times");
    ours o = open_ours("ours");
    plain p = open_plain("plain");
    double a = load_ours(&o, rows, MAIN, GF_SYNC_OFF), b = load_plain(&p, rows, MAIN, GF_SYNC_OFF);
    tell("sorted load, no sync", rows, a, b);
    a = load_ours(&o, rows, WIDE, GF_SYNC_OFF);
    b = load_plain(&p, rows, WIDE, GF_SYNC_OFF);
    tell("sorted load of cells, no sync", rows, a, b);
    check(gf_database_compact(o.db, &err), &err);
    leveldb_compact_range(p.db, NULL, 0, NULL, 0);
    uint64_t gets = rows / 4;
    BEST(get_a, get_ours(&o, gets));
    BEST(get_b, get_plain(&p, gets));
    tell("random get", gets, get_a, get_b);
    for (unsigned f = MAIN; f <= WIDE; f++)
        for (int reverse = 0; reverse < 2; reverse++) {
            char what[64];
            snprintf(what, sizeof what, "scan of %s%s", f == MAIN ? "packed rows" : "wide cells",
                     reverse ? ", in reverse" : "");
            BEST(scan_a, scan_ours(&o, f, reverse));
            BEST(scan_b, scan_plain(&p, f, reverse));
            tell(what, rows, scan_a, scan_b);
        }
    close_ours(&o);
    leveldb_close(p.db);
    run_synced();
    printf("files are in %s\n", folder);
    return 0;
}
