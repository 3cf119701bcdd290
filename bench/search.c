/*
 * Searches, how long they take: queries made of a collection's own words, one after another.
 *
 *     bench_search STORE COLLECTION [SEARCHES of each kind, 300 unless given [KIND [NAMESPACE]]]
 *
 * Words of 20,000 documents, evenly spread, are counted. A word is frequent that every twentieth of
 * these has (f), usual that every thousandth has (u), else rare (r; but twice at least). Each search asks for ten
 * documents; the first pass of all is not counted.
 */
#include "base/clock.h"
#include "base/random.h"
#include "base/strings.h"
#include "engine/rows/scan.h"
#include "grouperfish.h"
#include "storage/backend.h"
#include "storage/tables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLED = 20000, LONGEST = 40, MOST = 100000 };
enum { RARE, USUAL, FREQUENT, CLASSES };

typedef struct counting {
    uint64_t every, n, sampled;
    gf_strings words;
    uint32_t *count; /* of capacity */
    uint64_t *last;  /* the document that had it last, and 1 */
    size_t capacity;
} counting;

static void check(gf_status st, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "bench_search: %s\n", err->message);
    exit(1);
}

static void count_word(counting *c, gf_slice word)
{
    gf_error err;
    uint32_t number;
    char lower[LONGEST];
    if (word.len < 2 || word.len > LONGEST) return;
    for (size_t i = 0; i < word.len; i++)
        lower[i] = (char)tolower((unsigned char)word.ptr[i]);
    check(gf_strings_add(&c->words, gf_slice_of(lower, word.len), &number, NULL, &err), &err);
    if (number >= c->capacity) {
        size_t grown = c->capacity ? 2 * c->capacity : 1 << 16;
        c->count = realloc(c->count, grown * sizeof *c->count);
        c->last = realloc(c->last, grown * sizeof *c->last);
        memset(c->count + c->capacity, 0, (grown - c->capacity) * sizeof *c->count);
        memset(c->last + c->capacity, 0, (grown - c->capacity) * sizeof *c->last);
        c->capacity = grown;
    }
    c->count[number] += c->last[number] != c->n + 1;
    c->last[number] = c->n + 1;
}

static gf_status count_document(void *context, const gf_document *d, gf_error *err)
{
    (void)err;
    counting *c = context;
    if (c->n++ % c->every) return GF_OK;
    c->sampled++;
    for (size_t i = 0, from = 0; i <= d->text.len; i++) {
        if (i < d->text.len && isalpha((unsigned char)d->text.ptr[i])) continue;
        count_word(c, gf_slice_of(d->text.ptr + from, i - from));
        from = i + 1;
    }
    return GF_OK;
}

static gf_status pass_hit(void *context, const gf_hit *hit, gf_error *err)
{
    (void)err;
    *(uint64_t *)context = hit->total;
    return GF_OK;
}

static gf_status note_size(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)err;
    *(uint64_t *)context = info->size;
    return GF_OK;
}

static int by_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Words of each class: c->words.n numbers at most. */
typedef struct classes {
    uint32_t *of[CLASSES];
    size_t n[CLASSES];
} classes;

static void run_kind(gf_store *store, gf_place where, const counting *c, const classes *k,
                     const char *name, const char *kinds, size_t searches)
{
    gf_random random = gf_random_seed(7, (uint64_t)kinds[0]);
    double *seconds = malloc(searches * sizeof *seconds);
    double found = 0;
    for (size_t i = 0; i < 2 * searches; i++) {
        gf_buffer q = {0};
        gf_error err;
        uint64_t total = 0;
        if (i == searches) random = gf_random_seed(7, (uint64_t)kinds[0]);
        for (const char *kind = kinds; *kind; kind++) {
            int class = *kind == 'r' ? RARE : *kind == 'u' ? USUAL : FREQUENT;
            if (!k->n[class]) continue;
            if (q.len) gf_buffer_byte(&q, ' ');
            size_t at = (size_t)gf_random_below(&random, k->n[class]);
            gf_buffer_slice(&q, gf_strings_at(&c->words, k->of[class][at]));
        }
        double start = gf_clock_seconds();
        check(gf_search(store, where, gf_buffer_view(&q), &GF_SEARCH_OPTIONS(.limit = 10), pass_hit,
                        &total, &err),
              &err);
        if (i >= searches) {
            seconds[i - searches] = gf_clock_seconds() - start;
            found += (double)total;
        }
        gf_buffer_release(&q);
    }
    qsort(seconds, searches, sizeof *seconds, by_seconds);
    printf("%-24s %9.2f %9.2f %9.2f %12.0f\n", name, 1e3 * seconds[searches / 2],
           1e3 * seconds[searches * 99 / 100], 1e3 * seconds[searches - 1],
           found / (double)searches);
    free(seconds);
}

/* ---- the index ------------------------------------------------------------------------------- */

typedef struct index_bytes {
    uint64_t cells, bytes, compressed, largest;
    gf_buffer memory;
} index_bytes;

static gf_status add_cell(void *context, const gf_row *row, gf_error *err)
{
    index_bytes *b = context;
    gf_compressed stored;
    gf_slice value = row->cells[0].value;
    gf_status st = gf_value_compress(value, &b->memory, &stored, err);
    b->cells++;
    b->bytes += value.len;
    b->compressed += stored.bytes.len + row->cells[0].qualifier.len;
    if (value.len > b->largest) b->largest = value.len;
    return st;
}

static void print_index(gf_store *store, gf_place where, const char *prefix)
{
    gf_error err;
    gf_tables tables;
    gf_view *view;
    index_bytes b = {.cells = 0};
    gf_buffer key = {0};
    check(gf_view_open(store, where, GF_SLICE("default"), 0, &view, &err), &err);
    check(gf_tables_open(gf_store_database(store), &tables, &err), &err);
    gf_tables_build_key(&key, where.name_space, where.collection, GF_SLICE("default"),
                        gf_view_build(view)->build);
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_BUILDS_MODEL, .prefix = gf_buffer_view(&key),
                                        .qualifier_prefix = gf_slice_str(prefix));
    check(gf_scan_each(tables.builds, &o, add_cell, &b, &err), &err);
    printf("%-8s %llu cells, %.1f MB, compressed %.1f MB, the largest %llu bytes\n", prefix,
           (unsigned long long)b.cells, 1e-6 * (double)b.bytes, 1e-6 * (double)b.compressed,
           (unsigned long long)b.largest);
    gf_view_close(view);
    gf_buffer_release(&key);
    gf_buffer_release(&b.memory);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *kinds;
    } all[] = {{"a rare word", "r"},
               {"two rare words", "rr"},
               {"a usual word", "u"},
               {"three usual words", "uuu"},
               {"a frequent word", "f"},
               {"three frequent words", "fff"},
               {"five frequent words", "fffff"},
               {"rare, usual, frequent", "ruf"}};
    gf_error err;
    gf_store *store;
    uint64_t size = 0;
    counting c = {.every = 1};
    classes k = {{0}, {0}};
    if (argc < 3) {
        fprintf(stderr, "usage: bench_search STORE COLLECTION [SEARCHES [KIND [NAMESPACE]]]\n");
        return 2;
    }
    size_t searches = argc > 3 ? (size_t)atoi(argv[3]) : 300;
    gf_place where = {gf_slice_str(argc > 5 ? argv[5] : "default"), gf_slice_str(argv[2])};
    check(gf_store_open(argv[1], &GF_STORE_OPTIONS(.create = false), &store, &err), &err);
    check(gf_collection_read(store, where, note_size, &size, &err), &err);
    c.every = size / SAMPLED + 1;
    check(gf_documents_visit(store, where, count_document, &c, &err), &err);
    for (int i = 0; i < CLASSES; i++)
        k.of[i] = malloc((c.words.n + 1) * sizeof *k.of[i]);
    for (uint32_t w = 0; w < c.words.n; w++) {
        int class = c.count[w] * UINT64_C(20) >= c.sampled     ? FREQUENT
                    : c.count[w] * UINT64_C(1000) >= c.sampled ? USUAL
                                                               : RARE;
        if (c.count[w] > 1) k.of[class][k.n[class]++] = w;
    }
    printf("%llu documents; %zu frequent words, %zu usual, %zu rare\n", (unsigned long long)size,
           k.n[FREQUENT], k.n[USUAL], k.n[RARE]);
    print_index(store, where, "search:");
    print_index(store, where, "index");
    printf("%-24s %9s %9s %9s %12s\n", "", "p50 ms", "p99 ms", "most ms", "found");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (argc <= 4 || strcmp(argv[4], all[i].kinds) == 0)
            run_kind(store, where, &c, &k, all[i].name, all[i].kinds, searches);
    gf_store_close(store);
    return 0;
}
