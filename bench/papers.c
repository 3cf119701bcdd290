/*
 * The import of papers beside bare LevelDB: lines of CDX and TEI files go through the table's own
 * way, and the keys and values that came of it by plain calls, in the same order, with the same
 * syncs and settings. Runs take turns; medians of three.
 *
 *     bench_papers CDX TEI.tar.gz [copies of each]
 *
 * Each file is taken so many times, and each line a hundred times as often, with another digest
 * each time. What is printed is the time from the first byte to a closed database, and what the
 * processors worked for it, all threads together; reading the
 * lines and the XML is in ours alone, but for tei-known, where it was done before.
 */
#include "sources/papers.h"
#include "base/clock.h"
#include "base/random.h"
#include "sources/files.h"
#include "sources/papers_files.h"

#include <inttypes.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RUNS = 3, MOST = 4096, BATCH_BYTES = 8 << 20, BATCH = 20000 };

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

static gf_sha1 digest(size_t copy, size_t i, const char *kind)
{
    char name[64];
    gf_error err;
    gf_sha1 sha1;
    int n = snprintf(name, sizeof name, "%s %zu %zu", kind, copy, i);
    check(gf_sha1_of(gf_slice_of(name, (size_t)n), &sha1, &err), &err);
    return sha1;
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
            gf_sha1 sha1 = digest(c, i, "line");
            check(gf_cdx_parse(parser, lines[i].bytes, &cdx, &record, &err), &err);
            memcpy(cdx.sha1, sha1.bytes, sizeof cdx.sha1);
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

static void import_texts(gf_paper_import *import, bool is_known, size_t copies)
{
    gf_error err;
    gf_tei read = {.result = GF_TEI_SUCCESS};
    gf_paper_outcome outcome;
    for (size_t c = 0; c < copies; c++)
        for (size_t i = 0; i < n_texts; i++) {
            gf_sha1 sha1 = digest(c, i, "text");
            gf_tei *tei = is_known ? &known[i] : &read;
            if (!is_known) check(gf_tei_read(texts[i].bytes, tei, &err), &err);
            check(gf_paper_import_tei(import, &sha1, 200, texts[i].bytes, tei, &outcome, &err),
                  &err);
        }
    gf_tei_release(&read);
}

typedef enum bench_kind { LINES, TEXTS, KNOWN_TEXTS } bench_kind;
static const char *const what_names[] = {"cdx", "tei", "tei-known"};

static moment ours(const char *path, bench_kind what, size_t copies)
{
    gf_error err;
    gf_store *store;
    gf_papers *papers;
    gf_paper_import *import;
    gf_store_options o = {.create = true, .purpose = "bench"};
    moment start = now();
    check(gf_store_open(path, &o, &store, &err), &err);
    check(gf_papers_open(store, GF_SLICE("default"), GF_SLICE(GF_PAPERS_TABLE), &papers, &err),
          &err);
    check(gf_paper_import_open(papers, false, &import, &err), &err);
    if (what == LINES)
        import_lines(import, copies);
    else
        import_texts(import, what == KNOWN_TEXTS, copies);
    check(gf_paper_import_flush(import, &err), &err);
    gf_paper_import_close(import);
    gf_papers_close(papers);
    gf_store_close(store);
    return since(start);
}

/* ---- bare -------------------------------------------------------------------------------------
 */

/* By chance, as digests come: the rows of an import are in no order either. */
static void shuffle(gf_column *pairs, size_t n)
{
    gf_random chance = gf_random_seed(1, 0);
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)gf_random_below(&chance, i);
        gf_column swap = pairs[i - 1];
        pairs[i - 1] = pairs[j];
        pairs[j] = swap;
    }
}

/* Every key and value of our database is written by plain calls. */
static moment bare(const char *from, const char *path)
{
    char *message = NULL;
    leveldb_options_t *o = leveldb_options_create();
    leveldb_options_set_create_if_missing(o, 1);
    leveldb_options_set_write_buffer_size(o, 64 << 20);
    leveldb_options_set_max_file_size(o, 16 << 20);
    leveldb_options_set_filter_policy(o, leveldb_filterpolicy_create_bloom(10));
    leveldb_t *source = leveldb_open(o, from, &message);
    must(message);
    leveldb_readoptions_t *r = leveldb_readoptions_create();
    leveldb_iterator_t *it = leveldb_create_iterator(source, r);
    gf_buffer all = {0};
    for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it)) {
        size_t n;
        const char *bytes = leveldb_iter_key(it, &n);
        gf_buffer_string(&all, gf_slice_of(bytes, n));
        bytes = leveldb_iter_value(it, &n);
        gf_buffer_string(&all, gf_slice_of(bytes, n));
    }
    leveldb_iter_destroy(it);
    leveldb_close(source);
    size_t n_pairs = 0;
    for (gf_slice rest = gf_buffer_view(&all), skipped; gf_take_string(&rest, &skipped);)
        n_pairs++;
    gf_column *pairs = malloc((n_pairs / 2 + 1) * sizeof *pairs);
    if (!pairs) exit(1);
    n_pairs = 0;
    for (gf_slice rest = gf_buffer_view(&all); rest.len; n_pairs++)
        if (!gf_take_string(&rest, &pairs[n_pairs].name) ||
            !gf_take_string(&rest, &pairs[n_pairs].value))
            exit(1);
    shuffle(pairs, n_pairs);
    moment start = now();
    leveldb_t *db = leveldb_open(o, path, &message);
    must(message);
    leveldb_writeoptions_t *w = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(w, 1);
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    size_t bytes = 0, changes = 0;
    for (size_t i = 0; i < n_pairs; i++) {
        gf_slice key = pairs[i].name, value = pairs[i].value;
        leveldb_writebatch_put(batch, key.ptr, key.len, value.ptr, value.len);
        bytes += key.len + value.len;
        if (bytes < BATCH_BYTES && ++changes < BATCH && i + 1 < n_pairs) continue;
        leveldb_write(db, w, batch, &message);
        must(message);
        leveldb_writebatch_clear(batch);
        bytes = changes = 0;
    }
    leveldb_close(db);
    moment taken = since(start);
    gf_buffer_release(&all);
    free(pairs);
    leveldb_writebatch_destroy(batch);
    leveldb_writeoptions_destroy(w);
    leveldb_readoptions_destroy(r);
    leveldb_options_destroy(o);
    return taken;
}

static void compare(const char *folder, bench_kind what, size_t copies)
{
    double a[RUNS], b[RUNS], worked_a[RUNS], worked_b[RUNS];
    for (int run = 0; run < RUNS; run++) {
        char store[256], from[300], to[256];
        snprintf(store, sizeof store, "%s/%s%d", folder, what_names[what], run);
        snprintf(to, sizeof to, "%s/bare-%s%d", folder, what_names[what], run);
        snprintf(from, sizeof from, "%s/db", store);
        moment of_ours = ours(store, what, copies), of_bare = bare(from, to);
        a[run] = of_ours.wall;
        b[run] = of_bare.wall;
        worked_a[run] = of_ours.worked;
        worked_b[run] = of_bare.worked;
    }
    size_t n = copies * (what == LINES ? n_lines : n_texts);
    double x = median(a), y = median(b);
    printf("%s\t%zu\t%.3f s\t%.0f/s\tbare %.3f s\t%.0f/s\tratio %.2f\tprocessor %.3f s\tbare %.3f "
           "s\tratio %.2f\n",
           what_names[what], n, x, (double)n / x, y, (double)n / y, y / x, median(worked_a),
           median(worked_b), median(worked_b) / median(worked_a));
}

int main(int argc, char **argv)
{
    char folder[] = "bench-papers-XXXXXX";
    size_t copies = argc > 3 ? (size_t)strtoul(argv[3], NULL, 10) : 30;
    if (argc < 3 || copies == 0 || !mkdtemp(folder)) {
        fprintf(stderr, "bench_papers CDX TEI [COPIES]\n");
        return 2;
    }
    read_lines(argv[1]);
    read_texts(argv[2]);
    read_known();
    compare(folder, LINES, copies * 100);
    compare(folder, TEXTS, copies);
    compare(folder, KNOWN_TEXTS, copies);
    printf("the databases are in %s\n", folder);
    return 0;
}
