/*
 * Where a rebuild spends its time, to the microsecond: what `rebuild --progress jsonl` tells at
 * most five times a second, taken from the library itself.
 *
 *     bench_rebuild STORE COLLECTION CONFIGURATION [THREADS [cores]]
 *
 * Rebuilds from new seeds, also where nothing has changed, and prints one line of JSON: the build,
 * and of each phase, in the order in which they began, the seconds by the clock and those of all
 * processors. Opening the store is no part of it; closing it is told as "after", for that is what a
 * command goes on for once the build is published.
 *
 * With the word cores, of each phase also the processor seconds outside of what threads share
 * (serial), within it (parallel), and what the phase would take at least on 1, 2, 4, ... threads
 * (base/pool.h). Threads of others, such as LevelDB's, are in none of these.
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
    size_t n, now; /* how many there are; the one under way */
    double since;  /* when it began */
    double used;   /* processor time of all threads by then */
    gf_pool_account counted;
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
    gf_pool_account counted = gf_pool_read_account();
    gf_pool_account more = gf_pool_account_between(&p->counted, &counted);
    p->seconds[p->now] += now - p->since;
    p->processor[p->now] += used - p->used;
    p->account[p->now] = gf_pool_account_sum(&p->account[p->now], &more);
    p->since = now;
    p->used = used;
    p->counted = counted;
}

static void on_progress(void *context, gf_place where, const char *phase, uint64_t done,
                        uint64_t total)
{
    (void)where, (void)done, (void)total;
    phases *p = context;
    if (strcmp(p->name[p->now], phase) == 0) return; /* perhaps in the midst of a task */
    count_time(p);
    for (p->now = 0; p->now < p->n; p->now++)
        if (strcmp(p->name[p->now], phase) == 0) return;
    if (p->n == MOST_PHASES) {
        p->now = MOST_PHASES - 1;
        return;
    }
    p->name[p->n++] = phase;
}

static void put_seconds(gf_json_writer *w, const char *key, const phases *p, const double *seconds)
{
    gf_json_key(w, key);
    gf_json_begin(w, '{');
    for (size_t i = 0; i < p->n; i++)
        gf_json_put_double(w, p->name[i], seconds[i]);
    gf_json_end(w, '}');
}

static void put_account(gf_json_writer *w, const phases *p)
{
    double serial[MOST_PHASES], parallel[MOST_PHASES];
    for (size_t i = 0; i < p->n; i++) {
        serial[i] = p->account[i].serial;
        parallel[i] = p->account[i].parallel;
    }
    put_seconds(w, "serial", p, serial);
    put_seconds(w, "parallel", p, parallel);
    gf_json_key(w, "with");
    gf_json_begin(w, '{');
    for (size_t i = 0; i < p->n; i++) {
        gf_json_key(w, p->name[i]);
        gf_json_begin(w, '[');
        for (size_t c = 0; c < GF_POOL_COUNTS; c++)
            gf_json_double(w, p->account[i].serial + p->account[i].with[c]);
        gf_json_end(w, ']');
    }
    gf_json_end(w, '}');
}

static void print(const gf_build_info *b, const phases *p, double seconds, double after, bool cores)
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
    gf_json_put_double(&w, "after", after);
    put_seconds(&w, "phases", p, p->seconds);
    put_seconds(&w, "processor", p, p->processor);
    if (cores) put_account(&w, p);
    gf_json_end(&w, '}');
    printf("%s\n", gf_buffer_cstr(&out));
    gf_buffer_release(&out);
}

static gf_status rebuild(gf_store *store, char **words, unsigned threads, phases *p,
                         gf_build_info *build, gf_error *err)
{
    gf_rebuild_options options =
        GF_REBUILD_OPTIONS(.force = true, .start = GF_START_FRESH, .threads = threads,
                           .progress = on_progress, .context = p);
    gf_rebuild_result result;
    gf_place where = {GF_SLICE("default"), gf_slice_str(words[1])};
    p->since = gf_clock_seconds();
    p->used = processor_seconds();
    gf_status st = gf_rebuild(store, where, gf_slice_str(words[2]), &options, &result, err);
    if (st != GF_OK) return st;
    count_time(p);
    *build = result.build;
    return GF_OK;
}

int main(int argc, char **argv)
{
    gf_error err = {GF_OK, ""};
    gf_store *store = NULL;
    if (argc < 4 || argc > 6 || (argc == 6 && strcmp(argv[5], "cores") != 0)) {
        fputs("usage: bench_rebuild STORE COLLECTION CONFIGURATION [THREADS [cores]]\n", stderr);
        return 2;
    }
    gf_store_options options = GF_STORE_OPTIONS(.purpose = "benchmark");
    gf_status st = gf_store_open(argv[1], &options, &store, &err);
    unsigned threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
    phases p = {.name = {"reading"}, .n = 1};
    gf_build_info build;
    gf_pool_keep_account(argc == 6);
    double begin = gf_clock_seconds();
    if (st == GF_OK) st = rebuild(store, argv + 1, threads, &p, &build, &err);
    double end = gf_clock_seconds();
    if (st != GF_OK) fprintf(stderr, "bench_rebuild: %s\n", err.message);
    if (store) gf_store_close(store);
    if (st == GF_OK) print(&build, &p, end - begin, gf_clock_seconds() - end, argc == 6);
    return st == GF_OK ? 0 : 1;
}
