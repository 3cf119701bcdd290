/*
 * Where a rebuild spends its time, to the microsecond: what `rebuild --progress jsonl` tells at
 * most five times a second, taken from the library itself.
 *
 *     bench_rebuild STORE COLLECTION CONFIGURATION [THREADS]
 *
 * Rebuilds from new seeds, also where nothing has changed, and prints one line of JSON: the build,
 * and of each phase, in the order in which they began, the seconds by the clock, those of all
 * processors, and those of the threads that run the pools' tasks while no task ran: what is serial.
 * Opening the store is no part of it.
 */
#include "base/clock.h"
#include "base/json/writer.h"
#include "base/pool.h"
#include "grouperfish.h"
#include "grouperfish/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_PHASES 16

typedef struct phases {
    const char *name[MOST_PHASES]; /* string literals of the library */
    double seconds[MOST_PHASES], processor[MOST_PHASES];
    gf_pool_account account[MOST_PHASES];
    size_t n, now;           /* how many there are; the one under way */
    double since;            /* when it began, or was last told of */
    double used;             /* processor time of all threads by then */
    gf_pool_account counted; /* of the pools, by then */
} phases;

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void count_time(phases *p)
{
    double now = gf_clock_seconds(), used = processor_seconds();
    p->seconds[p->now] += now - p->since;
    p->processor[p->now] += used - p->used;
    gf_pool_account counted = gf_pool_read_account();
    gf_pool_account between = gf_pool_account_between(&p->counted, &counted);
    p->account[p->now] = gf_pool_account_sum(&p->account[p->now], &between);
    p->counted = counted;
    p->since = now;
    p->used = used;
}

static void on_progress(void *context, gf_place where, const char *phase, uint64_t done,
                        uint64_t total)
{
    (void)where, (void)done, (void)total;
    phases *p = context;
    count_time(p);
    for (p->now = 0; p->now < p->n; p->now++)
        if (strcmp(p->name[p->now], phase) == 0) return;
    if (p->n == MOST_PHASES) {
        p->now = MOST_PHASES - 1;
        return;
    }
    p->name[p->n++] = phase;
}

static void print(const gf_build_info *b, const phases *p, double seconds)
{
    gf_buffer out = {0};
    gf_json_writer w = gf_json_writer_to(&out);
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "documents", b->documents);
    gf_json_put_uint(&w, "distinct", b->distinct);
    gf_json_put_uint(&w, "terms", b->terms);
    gf_json_put_uint(&w, "k", b->k);
    gf_json_put_double(&w, "objective", b->objective);
    gf_json_put_double(&w, "seconds", seconds);
    gf_json_key(&w, "phases");
    gf_json_begin(&w, '{');
    for (size_t i = 0; i < p->n; i++)
        gf_json_put_double(&w, p->name[i], p->seconds[i]);
    gf_json_end(&w, '}');
    gf_json_key(&w, "processor");
    gf_json_begin(&w, '{');
    for (size_t i = 0; i < p->n; i++)
        gf_json_put_double(&w, p->name[i], p->processor[i]);
    gf_json_end(&w, '}');
    gf_json_key(&w, "serial");
    gf_json_begin(&w, '{');
    for (size_t i = 0; i < p->n; i++)
        gf_json_put_double(&w, p->name[i], p->account[i].serial);
    gf_json_end(&w, '}');
    gf_json_end(&w, '}');
    printf("%s\n", gf_buffer_cstr(&out));
    gf_buffer_release(&out);
}

static gf_status rebuild(gf_store *store, char **words, unsigned threads, gf_error *err)
{
    phases p = {
        .name = {"reading"}, .n = 1, .since = gf_clock_seconds(), .used = processor_seconds()};
    double begin = p.since;
    gf_rebuild_options options =
        GF_REBUILD_OPTIONS(.force = true, .start = GF_START_FRESH, .threads = threads,
                           .progress = on_progress, .context = &p);
    gf_rebuild_result result;
    gf_pool_keep_account(true);
    gf_place where = {GF_SLICE("default"), gf_slice_str(words[1])};
    gf_status st = gf_rebuild(store, where, gf_slice_str(words[2]), &options, &result, err);
    if (st != GF_OK) return st;
    count_time(&p);
    print(&result.build, &p, p.since - begin);
    return GF_OK;
}

int main(int argc, char **argv)
{
    gf_error err = {GF_OK, ""};
    gf_store *store = NULL;
    if (argc < 4 || argc > 5) {
        fputs("usage: bench_rebuild STORE COLLECTION CONFIGURATION [THREADS]\n", stderr);
        return 2;
    }
    gf_store_options options = GF_STORE_OPTIONS(.purpose = "benchmark");
    gf_status st = gf_store_open(argv[1], &options, &store, &err);
    unsigned threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
    if (st == GF_OK) st = rebuild(store, argv + 1, threads, &err);
    if (st != GF_OK) fprintf(stderr, "bench_rebuild: %s\n", err.message);
    if (store) gf_store_close(store);
    return st == GF_OK ? 0 : 1;
}
