/*
 * What writing a build takes, and what follows when it is published: without analysis, clustering
 * and naming, on a build of made documents.
 *
 *     bench_writing FOLDER DOCUMENTS CLUSTERS THREADS ROUNDS
 *
 * Makes a store in FOLDER, which must not be there, and writes and publishes ROUNDS builds one
 * after another. The configuration keeps two, so that from the third on one is dropped. Prints a
 * line of JSON for each: seconds by the clock and of all processors, of writing, of publishing with
 * what is dropped; of reading 100,000 memberships of the last build one by one, and whole families of it;
 * of closing the store. Members are
 * dealt to clusters at random, ids and scores are random, half of the documents have a time.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "engine/build/build.h"
#include "engine/build/publish.h"
#include "engine/rows/hours.h"
#include "grouperfish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TERMS = 2000, CENTRE_TERMS = 60 };

typedef struct stopwatch {
    double clock, processor;
} stopwatch;

static stopwatch now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (stopwatch){gf_clock_seconds(), (double)t.tv_sec + (double)t.tv_nsec / 1e9};
}

static void print_since(const char *what, stopwatch from)
{
    stopwatch to = now();
    printf("\"%s\":[%.3f,%.3f]", what, to.clock - from.clock, to.processor - from.processor);
}

/* Memory for n elements, or the end. */
static void *take(size_t n, size_t size)
{
    void *p = gf_calloc(n, size);
    if (p) return p;
    fputs("bench_writing: no memory\n", stderr);
    exit(1);
}

static void must(gf_status st, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "bench_writing: %s\n", err->message);
    exit(1);
}

/* Ids of seven characters of base 36, rising by a random step. */
static void make_documents(gf_build_gathered *d, uint32_t n, gf_random *r)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint64_t at = 0;
    d->n = n;
    d->id_start = take((size_t)n + 1, sizeof *d->id_start);
    d->hours = take(n, sizeof *d->hours);
    for (uint32_t i = 0; i < n; i++) {
        char id[7];
        uint64_t rest = at += 1 + gf_random_below(r, 30000);
        for (int p = 6; p >= 0; p--, rest /= 36)
            id[p] = digits[rest % 36];
        gf_buffer_append(&d->ids, id, sizeof id);
        d->id_start[i + 1] = d->ids.len;
        d->hours[i] = i % 2 ? 370000 + (int32_t)gf_random_below(r, 9000) : GF_NO_HOUR;
    }
}

static void make_vocabulary(gf_vocabulary *v, uint32_t n)
{
    gf_error err;
    uint32_t *df = take(TERMS, sizeof *df);
    gf_slice *terms = take(TERMS, sizeof *terms);
    char(*names)[16] = take(TERMS, sizeof *names);
    for (uint32_t t = 0; t < TERMS; t++) {
        df[t] = n > TERMS ? n - t : 1;
        terms[t] = gf_slice_of(names[t], (size_t)snprintf(names[t], sizeof names[t], "t%u", t));
    }
    must(gf_vocabulary_init(v,
                            &(gf_vocabulary_parts){.n_docs = n,
                                                   .n_terms = TERMS,
                                                   .n_regular = TERMS,
                                                   .df = df,
                                                   .term = terms,
                                                   .surface = terms},
                            &err),
         &err);
    gf_free(df);
    gf_free(terms);
    gf_free(names);
}

/* The rank of a document of one cluster: the higher score first. */
static int by_score(const void *a, const void *b, void *context)
{
    const float *score = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (score[x] != score[y]) return score[x] > score[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void make_clusters(gf_build_clustered *c, uint32_t n, uint32_t k, gf_random *r)
{
    gf_kmeans *m = &c->kmeans;
    *m = (gf_kmeans){.n = n, .distinct = n, .k = k};
    m->label = take(n, sizeof *m->label);
    m->score = take(n, sizeof *m->score);
    m->runner_up = take(n, sizeof *m->runner_up);
    m->second = take(n, sizeof *m->second);
    c->row_of = take(n, sizeof *c->row_of);
    c->members = take(n, sizeof *c->members);
    c->start = take((size_t)k + 1, sizeof *c->start);
    for (uint32_t i = 0; i < n; i++) {
        c->row_of[i] = i;
        m->label[i] = (uint32_t)gf_random_below(r, k);
        m->runner_up[i] = (m->label[i] + 1 + (uint32_t)gf_random_below(r, k - 1)) % k;
        m->score[i] = (float)gf_random_below(r, 1 << 24) / (1 << 24);
        m->second[i] = m->score[i] * (float)gf_random_below(r, 1 << 24) / (1 << 24);
        c->start[m->label[i] + 1]++;
    }
    for (uint32_t j = 0; j < k; j++)
        c->start[j + 1] += c->start[j];
    uint32_t *next = take(k, sizeof *next);
    memcpy(next, c->start, k * sizeof *next);
    for (uint32_t i = 0; i < n; i++)
        c->members[next[m->label[i]]++] = i;
    for (uint32_t j = 0; j < k; j++)
        qsort_r(c->members + c->start[j], c->start[j + 1] - c->start[j], sizeof *c->members,
                by_score, m->score);
    gf_free(next);
}

static void make_centres(gf_build *b, uint32_t k, gf_random *r)
{
    gf_error err;
    must(gf_centres_init(&b->clustered.kmeans.centres, k, TERMS, &err), &err);
    uint32_t col[CENTRE_TERMS];
    float val[CENTRE_TERMS];
    b->matched.ids = take(k, sizeof *b->matched.ids);
    b->matched.next_id = (uint64_t)k + 1;
    b->named.labels = gf_arena_alloc(&b->named.memory, k * sizeof *b->named.labels);
    b->figures.at = take(k, sizeof *b->figures.at);
    b->best.of = take(k, sizeof *b->best.of);
    b->best.k = k;
    for (uint32_t j = 0; j < k; j++) {
        char label[32];
        for (uint32_t e = 0; e < CENTRE_TERMS; e++) {
            col[e] =
                e * (TERMS / CENTRE_TERMS) + (uint32_t)gf_random_below(r, TERMS / CENTRE_TERMS);
            val[e] = 0.01F + (float)gf_random_below(r, 1000) / 1000;
        }
        must(gf_centres_set_row(&b->clustered.kmeans.centres, j,
                                (gf_row_view){col, val, CENTRE_TERMS}, &err),
             &err);
        int length = snprintf(label, sizeof label, "label of cluster %u", j);
        b->named.labels[j] = gf_arena_copy(&b->named.memory, gf_slice_of(label, (size_t)length));
        b->matched.ids[j] = j + 1;
    }
}

static void make_build(gf_build *b, uint32_t n, uint32_t k)
{
    gf_random r = gf_random_seed(1, 0);
    make_documents(&b->documents, n, &r);
    make_vocabulary(&b->documents.vectors.vocabulary, n);
    make_clusters(&b->clustered, n, k, &r);
    make_centres(b, k, &r);
}

static void put_something(gf_store *store, gf_place where)
{
    gf_error err;
    gf_put *put;
    gf_document d = {.id = GF_SLICE("1"), .text = GF_SLICE("a text")};
    must(gf_put_open(store, &GF_PUT_OPTIONS(.name_space = where.name_space), &put, &err), &err);
    must(gf_put_document(put, where.collection, &d, &err), &err);
    must(gf_put_flush(put, &err), &err);
    gf_put_close(put);
}

static void write_and_publish(gf_store *store, gf_place where, gf_pool *pool, gf_build *b)
{
    gf_error err;
    gf_build_plan plan, *plans[] = {&plan};
    gf_snapshot *snapshot;
    gf_batch *batch;
    bool modified, published = true;
    gf_rebuild_options options = GF_REBUILD_OPTIONS(.force = true);
    must(gf_build_plan_init(&plan, store, where, GF_SLICE("written"), &options, &err), &err);
    must(gf_build_plan_read(&plan, &modified, &err), &err);
    must(gf_build_plans_begin(plans, 1, &snapshot, &err), &err);
    must(gf_batch_create(store->db, &batch, &err), &err);
    b->info = (gf_build_info){.build = plan.build,
                              .documents = b->documents.n,
                              .distinct = b->documents.n,
                              .terms = TERMS,
                              .k = b->clustered.kmeans.k,
                              .settings = GF_SLICE("{}"),
                              .versions = GF_SLICE("made")};
    stopwatch begun = now();
    must(gf_build_write(&plan, pool, b, batch, &err), &err);
    must(gf_batch_write(batch, GF_SYNC_ON, &err), &err);
    print_since("writing", begun);
    putchar(',');
    gf_batch_free(batch);
    begun = now();
    must(gf_build_move_pointers(&(const gf_build_plan *){&plan}, 1, &err), &err);
    gf_build_plans_end(plans, &published, 1);
    gf_snapshot_free(snapshot);
    print_since("publishing", begun);
    gf_build_plan_release(&plan);
}

/* Read some memberships of a build by their documents' ids, as a view does, then whole families. */
static void read_build(gf_store *store, gf_place where, const gf_build *b)
{
    enum { MEMBERSHIPS = 100000 };
    static const struct {
        const char *name;
        bool of_clusters;
        unsigned family;
    } families[] = {{"memberships", false, GF_MEMBERSHIPS_MAIN},
                    {"documents", true, GF_CLUSTERS_DOCUMENTS},
                    {"ranked", true, GF_CLUSTERS_RANKED}};
    gf_error err;
    gf_row row = {0};
    gf_buffer build = {0}, key = {0};
    gf_random r = gf_random_seed(2, 0);
    gf_tables_build_key(&build, where.name_space, where.collection, GF_SLICE("written"),
                        b->info.build);
    stopwatch begun = now();
    for (uint32_t i = 0; i < MEMBERSHIPS; i++) {
        gf_membership_cells m;
        uint32_t document = (uint32_t)gf_random_below(&r, b->documents.n);
        gf_buffer_reset(&key);
        gf_tables_membership_key(&key, gf_buffer_view(&build),
                                 gf_build_gathered_id(&b->documents, document));
        must(gf_table_get(store->tables.memberships, NULL, gf_buffer_view(&key),
                          1u << GF_MEMBERSHIPS_MAIN, &row, &err),
             &err);
        must(gf_tables_membership_read(&row, GF_MEMBERSHIPS_MAIN, &m, &err), &err);
        if (m.score != b->clustered.kmeans.score[document]) abort();
    }
    print_since("100,000 memberships", begun);
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        gf_scan *scan;
        gf_table *table =
            families[f].of_clusters ? store->tables.clusters : store->tables.memberships;
        gf_scan_options o =
            GF_SCAN_OPTIONS(.family = families[f].family, .prefix = gf_buffer_view(&build));
        uint32_t n = 0;
        begun = now();
        must(gf_scan_open(table, &o, &scan, &err), &err);
        while (gf_scan_next(scan, &row, &err) == GF_OK)
            n++;
        gf_scan_close(scan);
        if (n != b->documents.n) abort();
        putchar(',');
        print_since(families[f].name, begun);
    }
    gf_row_release(&row);
    gf_buffer_release(&build);
    gf_buffer_release(&key);
}

int main(int argc, char **argv)
{
    gf_error err = {GF_OK, ""};
    gf_store *store;
    gf_pool *pool;
    gf_build build = {.begun = 0};
    gf_place where = {GF_SLICE("default"), GF_SLICE("made")};
    if (argc != 6) {
        fputs("usage: bench_writing FOLDER DOCUMENTS CLUSTERS THREADS ROUNDS\n", stderr);
        return 2;
    }
    gf_store_options options = GF_STORE_OPTIONS(.purpose = "benchmark", .create = true);
    must(gf_store_open(argv[1], &options, &store, &err), &err);
    must(gf_pool_create((unsigned)strtoul(argv[4], NULL, 10), &pool, &err), &err);
    put_something(store, where);
    must(gf_configuration_set(store, where, GF_SLICE("written"),
                              &(gf_pair){GF_SLICE("k"), GF_SLICE("2")}, 1, &err),
         &err);
    make_build(&build, (uint32_t)strtoul(argv[2], NULL, 10), (uint32_t)strtoul(argv[3], NULL, 10));
    for (unsigned long i = strtoul(argv[5], NULL, 10); i > 0; i--) {
        putchar('{');
        write_and_publish(store, where, pool, &build);
        puts("}");
        fflush(stdout);
    }
    putchar('{');
    read_build(store, where, &build);
    puts("}");
    gf_build_release(&build);
    gf_pool_free(pool);
    stopwatch begun = now();
    gf_store_close(store);
    putchar('{');
    print_since("closing", begun);
    puts("}");
    return 0;
}
