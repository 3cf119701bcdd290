/*
 * The import of papers beside bare LevelDB: lines of CDX and TEI files go through the table's own
 * way, and the keys and values that came of it by plain calls: as many batches as the import wrote,
 * each with the entries of the same papers, in the order of keys, synced, under the same settings.
 * Runs take turns; medians of three.
 *
 *     bench_papers CDX TEI.tar.gz [COPIES [cdx|tei|tei-known]]
 *
 * Each file is taken so many times, and each line a thousand times as often, with another digest
 * each time, made before. What is printed is the time from the first row to the last one's being
 * synced, and what the processors worked meanwhile, all threads together; reading the lines and
 * the XML is in ours alone, but for tei-known, where it was done before. Opening and closing, where
 * ours does more than writing rows, are in neither. Bare LevelDB is timed twice: with the values as
 * they are stored, texts compressed, and "plain", with the texts as they were, which LevelDB then
 * compresses itself when it makes tables.
 */
#include "sources/papers.h"
#include "base/clock.h"
#include "sources/files.h"
#include "sources/papers_files.h"
#include "sources/papers_texts.h"
#include "storage/value.h"

#include <inttypes.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RUNS = 3, MOST = 4096 };

static void check(gf_status st, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "bench_papers: %s\n", err->message);
    exit(1);
}

static void must(char *message)
{
    if (!message) return;
    fprintf(stderr, "bench_papers: LevelDB: %s\n", message);
    exit(1);
}

/* Seconds that have passed, and that all threads of the process have worked. */
typedef struct moment {
    double wall, worked;
} moment;

static moment now(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (moment){gf_clock_seconds(),
                    (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                        (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6};
}

static moment since(moment start)
{
    moment end = now();
    return (moment){end.wall - start.wall, end.worked - start.worked};
}

static double median(double *s)
{
    for (int i = 1; i < RUNS; i++)
        for (int j = i; j > 0 && s[j] < s[j - 1]; j--) {
            double t = s[j];
            s[j] = s[j - 1];
            s[j - 1] = t;
        }
    return s[RUNS / 2];
}

/* ---- the input, in memory ---------------------------------------------------------------------
 */

static struct {
    gf_slice bytes;
} lines[MOST], texts[MOST];
static size_t n_lines, n_texts;

static gf_slice keep(gf_slice s)
{
    char *copy = malloc(s.len + 1);
    if (!copy) exit(1);
    memcpy(copy, s.ptr, s.len);
    return gf_slice_of(copy, s.len);
}

static void read_lines(const char *path)
{
    gf_error err;
    gf_files *files;
    gf_cdx_reader *reader;
    gf_cdx cdx;
    gf_record record;
    gf_status st;
    check(gf_files_open(&path, 1, &files, &err), &err);
    gf_input input = gf_files_input(files);
    check(gf_cdx_reader_open(&input, &reader, &err), &err);
    while ((st = gf_cdx_reader_next(reader, &cdx, &record, &err)) == GF_OK && n_lines < MOST)
        if (record.kind == GF_RECORD_DOCUMENT) lines[n_lines++].bytes = keep(record.raw);
    gf_cdx_reader_close(reader);
    gf_files_close(files);
}

static void read_texts(const char *path)
{
    gf_error err;
    gf_files *files;
    gf_paper_files *reader;
    gf_paper_file file;
    check(gf_files_open(&path, 1, &files, &err), &err);
    gf_input input = gf_files_input(files);
    check(gf_paper_files_open(&input, GF_TEI_MOST, &reader, &err), &err);
    while (n_texts < MOST && gf_paper_files_next(reader, &file, &err) == GF_OK)
        texts[n_texts++].bytes = keep(file.bytes);
    gf_paper_files_close(reader);
    gf_files_close(files);
}

/* Of the papers of a run, in their order: n_digests. */
static gf_sha1 *digests;
static size_t n_digests;

static void make_digests(size_t n)
{
    gf_error err;
    digests = realloc(digests, n * sizeof *digests);
    if (!digests) exit(1);
    for (n_digests = 0; n_digests < n; n_digests++) {
        char name[32];
        int length = snprintf(name, sizeof name, "%zu", n_digests);
        gf_slice text = gf_slice_of(name, (size_t)length);
        check(gf_sha1_of(text, &digests[n_digests], &err), &err);
    }
}

/* ---- ours -------------------------------------------------------------------------------------
 */

static void import_lines(gf_paper_import *import, size_t copies)
{
    gf_error err;
    gf_cdx_parser *parser;
    gf_paper_outcome outcome;
    check(gf_cdx_parser_create(&parser, &err), &err);
    for (size_t c = 0; c < copies; c++)
        for (size_t i = 0; i < n_lines; i++) {
            gf_cdx cdx;
            gf_record record;
            check(gf_cdx_parse(parser, lines[i].bytes, &cdx, &record, &err), &err);
            memcpy(cdx.sha1, digests[c * n_lines + i].bytes, sizeof cdx.sha1);
            check(gf_paper_import_cdx(import, &cdx, &outcome, &err), &err);
        }
    gf_cdx_parser_free(parser);
}

/* What was read of each text, before the clock runs: so that the writing alone is timed. */
static gf_tei known[MOST];

static void read_known(void)
{
    gf_error err;
    for (size_t i = 0; i < n_texts; i++)
        check(gf_tei_read(texts[i].bytes, &known[i], &err), &err);
}

static gf_status take(void *context, const gf_paper_arrival *a, const gf_paper_text *text,
                      gf_error *err)
{
    gf_paper_outcome outcome;
    return gf_paper_import_text(context, &a->sha1, 200, text, &outcome, err);
}

static void import_texts(gf_paper_import *import, size_t copies)
{
    gf_error err;
    gf_paper_texts *reading;
    check(gf_paper_texts_open(0, take, import, &reading, &err), &err);
    for (size_t i = 0; i < copies * n_texts; i++) {
        gf_paper_arrival a = {
            .sha1 = digests[i], .source = GF_SLICE("bench"), .xml = texts[i % n_texts].bytes};
        check(gf_paper_texts_add(reading, &a, &err), &err);
    }
    check(gf_paper_texts_finish(reading, &err), &err);
    gf_paper_texts_close(reading);
}

static void import_known(gf_paper_import *import, size_t copies)
{
    gf_error err;
    gf_paper_outcome outcome;
    for (size_t i = 0; i < copies * n_texts; i++)
        check(gf_paper_import_tei(import, &digests[i], 200, texts[i % n_texts].bytes,
                                  &known[i % n_texts], &outcome, &err),
              &err);
}

typedef enum bench_kind { LINES, TEXTS, KNOWN_TEXTS, KINDS } bench_kind;
static const char *const what_names[] = {"cdx", "tei", "tei-known"};

static moment ours(const char *path, bench_kind what, size_t copies, uint64_t *batches)
{
    gf_error err;
    gf_store *store;
    gf_papers *papers;
    gf_paper_import *import;
    gf_store_options o = {.create = true, .purpose = "bench"};
    check(gf_store_open(path, &o, &store, &err), &err);
    check(gf_papers_open(store, GF_SLICE("default"), GF_SLICE(GF_PAPERS_TABLE), &papers, &err),
          &err);
    check(gf_paper_import_open(papers, false, &import, &err), &err);
    moment start = now();
    if (what == LINES)
        import_lines(import, copies);
    else if (what == TEXTS)
        import_texts(import, copies);
    else
        import_known(import, copies);
    check(gf_paper_import_flush(import, &err), &err);
    moment taken = since(start);
    *batches = gf_paper_import_batches(import);
    gf_paper_import_close(import);
    gf_papers_close(papers);
    gf_store_close(store);
    return taken;
}

/* ---- bare -------------------------------------------------------------------------------------
 */

/* An entry of the database, and the place of its paper among all digests: 0 where it has none. */
typedef struct entry {
    gf_slice key, value;
    size_t rank, batch;
} entry;

typedef struct ranked {
    gf_sha1 sha1;
    size_t order;
} ranked;

static int by_digest(const void *a, const void *b)
{
    return memcmp(a, b, GF_SHA1_BYTES);
}

static int by_batch(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->batch != y->batch) return x->batch < y->batch ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return gf_slice_compare(x->key, y->key);
}

/* The paper whose digest is in the key; the first one where there is none. */
static const ranked *paper_of(gf_slice key, const ranked *papers)
{
    for (size_t i = 0; i + GF_SHA1_BYTES <= key.len && i < 24; i++) {
        const ranked *found = bsearch(key.ptr + i, papers, n_digests, sizeof *papers, by_digest);
        if (found) return found;
    }
    return papers;
}

/* As the import had them: so many batches of papers as they came, each by row, then by key. */
static void put_in_order(entry *entries, size_t n, size_t batches)
{
    ranked *papers = malloc(n_digests * sizeof *papers);
    if (!papers) exit(1);
    for (size_t i = 0; i < n_digests; i++)
        papers[i] = (ranked){digests[i], i};
    qsort(papers, n_digests, sizeof *papers, by_digest);
    for (size_t i = 0; i < n; i++) {
        const ranked *paper = paper_of(entries[i].key, papers);
        entries[i].rank = (size_t)(paper - papers);
        entries[i].batch = paper->order * batches / n_digests;
    }
    qsort(entries, n, sizeof *entries, by_batch);
    free(papers);
}

/* Append a value: as it is stored, or `plain`, as it was before the table compressed it. */
static void take_value(gf_slice value, bool plain, gf_buffer *bytes)
{
    static gf_buffer scratch;
    gf_error err;
    gf_value_head head;
    gf_slice unpacked;
    gf_buffer_reset(&scratch);
    if (plain && gf_value_read_head(value, &head, &err) == GF_OK &&
        gf_value_head_blocks(&head) == 1 &&
        gf_value_unpack(head.flags, head.first, &scratch, &unpacked, &err) == GF_OK)
        value = unpacked;
    gf_buffer_string(bytes, value);
}

/* All that a database has, in memory that lasts as long as `bytes`. */
static entry *read_entries(leveldb_options_t *o, const char *from, bool plain, gf_buffer *bytes,
                           size_t *n)
{
    char *message = NULL;
    leveldb_t *source = leveldb_open(o, from, &message);
    must(message);
    leveldb_readoptions_t *r = leveldb_readoptions_create();
    leveldb_iterator_t *it = leveldb_create_iterator(source, r);
    *n = 0;
    for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it), ++*n) {
        size_t length;
        const char *at = leveldb_iter_key(it, &length);
        gf_buffer_string(bytes, gf_slice_of(at, length));
        at = leveldb_iter_value(it, &length);
        take_value(gf_slice_of(at, length), plain, bytes);
    }
    leveldb_iter_destroy(it);
    leveldb_readoptions_destroy(r);
    leveldb_close(source);
    entry *entries = malloc((*n + 1) * sizeof *entries);
    gf_slice rest = gf_buffer_view(bytes);
    for (size_t i = 0; entries && i < *n; i++)
        if (!gf_take_string(&rest, &entries[i].key) || !gf_take_string(&rest, &entries[i].value))
            exit(1);
    if (!entries) exit(1);
    return entries;
}

static void write_entries(leveldb_t *db, const entry *entries, size_t n)
{
    char *message = NULL;
    leveldb_writeoptions_t *w = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(w, 1);
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    for (size_t i = 0; i < n; i++) {
        gf_slice key = entries[i].key, value = entries[i].value;
        leveldb_writebatch_put(batch, key.ptr, key.len, value.ptr, value.len);
        if (i + 1 < n && entries[i + 1].batch == entries[i].batch) continue;
        leveldb_write(db, w, batch, &message);
        must(message);
        leveldb_writebatch_clear(batch);
    }
    leveldb_writebatch_destroy(batch);
    leveldb_writeoptions_destroy(w);
}

/* Every key and value of our database is written by plain calls. */
static moment bare(const char *from, const char *path, bool plain, uint64_t batches)
{
    char *message = NULL;
    gf_buffer bytes = {0};
    size_t n;
    leveldb_options_t *o = leveldb_options_create();
    leveldb_options_set_create_if_missing(o, 1);
    leveldb_options_set_write_buffer_size(o, 64 << 20);
    leveldb_options_set_max_file_size(o, 16 << 20);
    leveldb_options_set_filter_policy(o, leveldb_filterpolicy_create_bloom(10));
    entry *entries = read_entries(o, from, plain, &bytes, &n);
    put_in_order(entries, n, (size_t)batches);
    leveldb_t *db = leveldb_open(o, path, &message);
    must(message);
    moment start = now();
    write_entries(db, entries, n);
    moment taken = since(start);
    leveldb_close(db);
    gf_buffer_release(&bytes);
    free(entries);
    leveldb_options_destroy(o);
    return taken;
}

enum { OURS, BARE, BARE_PLAIN, WAYS };

static void print_ratios(const char *what, double (*seconds)[RUNS])
{
    double x = median(seconds[OURS]), y = median(seconds[BARE]), z = median(seconds[BARE_PLAIN]);
    printf("\t%s %.3f s\tbare %.3f s\tratio %.2f\tbare, plain %.3f s\tratio %.2f", what, x, y,
           y / x, z, z / x);
}

static void compare(const char *folder, bench_kind what, size_t copies)
{
    double clock[WAYS][RUNS], worked[WAYS][RUNS];
    uint64_t batches = 0;
    make_digests(copies * (what == LINES ? n_lines : n_texts));
    for (int run = 0; run < RUNS; run++) {
        char store[256], from[300], to[256];
        snprintf(store, sizeof store, "%s/%s%d", folder, what_names[what], run);
        snprintf(from, sizeof from, "%s/db", store);
        for (int way = OURS; way < WAYS; way++) {
            snprintf(to, sizeof to, "%s/bare%d-%s%d", folder, way, what_names[what], run);
            moment taken = way == OURS ? ours(store, what, copies, &batches)
                                       : bare(from, to, way == BARE_PLAIN, batches);
            clock[way][run] = taken.wall;
            worked[way][run] = taken.worked;
        }
    }
    printf("%s\t%zu in %" PRIu64 " batches", what_names[what], n_digests, batches);
    print_ratios("clock", clock);
    print_ratios("processor", worked);
    printf("\n");
}

int main(int argc, char **argv)
{
    char folder[] = "bench-papers-XXXXXX";
    size_t copies = argc > 3 ? (size_t)strtoul(argv[3], NULL, 10) : 30;
    if (argc < 3 || copies == 0 || !mkdtemp(folder)) {
        fprintf(stderr, "bench_papers CDX TEI [COPIES [cdx|tei|tei-known]]\n");
        return 2;
    }
    read_lines(argv[1]);
    read_texts(argv[2]);
    read_known();
    for (bench_kind what = LINES; what < KINDS; what++)
        if (argc < 5 || strcmp(argv[4], what_names[what]) == 0)
            compare(folder, what, what == LINES ? copies * 1000 : copies);
    printf("the databases are in %s\n", folder);
    return 0;
}
