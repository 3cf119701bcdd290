/*
 * How many texts a second find their clusters in a build, by the library alone: texts lie in memory,
 * and nothing is printed of them.
 *
 *     bench_assign STORE COLLECTION FILE [THREADS [ROUNDS]]
 *
 * FILE is anything that `put` reads; or, for a build of rows that were made elsewhere, an .npz of
 * rows. For each number of threads from 1 to THREADS (2): how many a second in the fastest of
 * ROUNDS (3) calls, the first, in which words and centres are loaded, apart; and the least processor
 * time, which a busy machine disturbs less. The sum is one over all clusters and scores: equal where
 * the results are.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "formats/bytes/files.h"
#include "formats/matrix/npz.h"
#include "formats/reader.h"
#include "grouperfish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct corpus {
    gf_arena arena;
    gf_document *texts; /* n; NULL where there are rows */
    gf_npz_matrix rows;
    gf_membership *places;
    size_t n, capacity;
} corpus;

static gf_status add_text(corpus *c, const gf_document *d, gf_error *err)
{
    if (!gf_grow(&c->texts, &c->capacity, c->n + 1, sizeof *c->texts))
        return gf_fail_memory(err, "texts");
    gf_document kept = {.text = gf_arena_copy(&c->arena, d->text),
                        .language = gf_arena_copy(&c->arena, d->language)};
    if (!kept.text.ptr || !kept.language.ptr) return gf_fail_memory(err, "texts");
    c->texts[c->n++] = kept;
    return GF_OK;
}

static gf_status read_texts(gf_input *input, corpus *c, gf_error *err)
{
    gf_reader *reader = NULL;
    gf_record record;
    gf_status st = gf_reader_open(input, NULL, &reader, err);
    while (st == GF_OK && (st = gf_reader_next(reader, &record, err)) == GF_OK)
        if (record.kind == GF_RECORD_DOCUMENT) st = add_text(c, &record.document, err);
    if (reader) gf_reader_close(reader);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status read_rows(gf_input *input, corpus *c, gf_error *err)
{
    gf_status st = gf_npz_read_matrix(input, NULL, &c->rows, err);
    if (st == GF_OK) c->n = c->rows.matrix.n_rows;
    return st;
}

static gf_status read_file(const char *path, corpus *c, gf_error *err)
{
    gf_files *files;
    size_t n = strlen(path);
    gf_status st = gf_files_open(&path, 1, &files, err);
    if (st != GF_OK) return st;
    gf_input input = gf_files_input(files);
    st = (n > 4 && strcmp(path + n - 4, ".npz") == 0 ? read_rows : read_texts)(&input, c, err);
    gf_files_close(files);
    if (st != GF_OK) return st;
    c->places = gf_calloc(c->n, sizeof *c->places);
    return c->places ? GF_OK : gf_fail_memory(err, "texts");
}

static gf_status assign_corpus(gf_view *view, corpus *c, unsigned threads, gf_error *err)
{
    if (c->texts) return gf_view_assign_all(view, c->texts, c->n, threads, c->places, err);
    return gf_view_assign_rows(view, &c->rows.matrix, threads, NULL, c->places, err);
}

static gf_status measure(gf_store *store, const char *collection, corpus *c, unsigned threads,
                         unsigned rounds, gf_error *err)
{
    gf_view *view;
    gf_place where = {GF_SLICE("default"), gf_slice_str(collection)};
    double first = 0, best = 0, least = 0, sum = 0;
    gf_status st = gf_view_open(store, where, GF_SLICE("default"), 0, &view, err);
    if (st != GF_OK) return st;
    for (unsigned i = 0; i <= rounds && st == GF_OK; i++) {
        double begin = gf_clock_seconds(), processor = (double)clock();
        st = assign_corpus(view, c, threads, err);
        double seconds = gf_clock_seconds() - begin;
        processor = ((double)clock() - processor) / CLOCKS_PER_SEC;
        if (i == 0) first = seconds;
        if (i == 1 || (i && seconds < best)) best = seconds;
        if (i == 1 || (i && processor < least)) least = processor;
    }
    for (size_t i = 0; i < c->n && st == GF_OK; i++)
        sum += (double)c->places[i].score * (c->places[i].cluster % 1000 + 1);
    if (st == GF_OK)
        printf("%u %s: %.3f s, %.0f a second; the first time %.3f s, %.0f a second; "
               "processor time %.3f s, %.2f us each; sum %.9g\n",
               threads, threads == 1 ? "thread" : "threads", best, (double)c->n / best, first,
               (double)c->n / first, least, 1e6 * least / (double)c->n, sum);
    gf_view_close(view);
    return st;
}

int main(int argc, char **argv)
{
    gf_error err = {GF_OK, ""};
    gf_store *store = NULL;
    corpus c = {.n = 0};
    unsigned threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 2;
    unsigned rounds = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 3;
    if (argc < 4 || argc > 6 || threads < 1 || rounds < 1) {
        fputs("usage: bench_assign STORE COLLECTION FILE [THREADS [ROUNDS]]\n", stderr);
        return 2;
    }
    gf_store_options options = GF_STORE_OPTIONS(.purpose = "benchmark");
    gf_status st = gf_store_open(argv[1], &options, &store, &err);
    if (st == GF_OK) st = read_file(argv[3], &c, &err);
    for (unsigned n = 1; n <= threads && st == GF_OK; n++)
        st = measure(store, argv[2], &c, n, rounds, &err);
    if (st != GF_OK) fprintf(stderr, "bench_assign: %s\n", err.message);
    if (store) gf_store_close(store);
    gf_arena_release(&c.arena);
    gf_npz_matrix_release(&c.rows);
    gf_free(c.texts);
    gf_free(c.places);
    return st == GF_OK ? 0 : 1;
}
