/*
 * Tweets imported a second, beside bare LevelDB writing the same rows.
 *
 *     bench_tweets TWEETS.jsonl [COPIES [ROUNDS [MB]]]
 *
 * The file is repeated in memory with another id_str for each copy. The two take turns; each round
 * prints one line of JSON with the wall and the processor's seconds of both, the last the medians.
 * Both write to a folder in the working directory, which is removed.
 *
 * Bare LevelDB has the rows ready in memory, with keys as long as those of the tables, in the order
 * in which tweets come and in batches of the same size, each synced, under the same options: what
 * is left out is reading, indexing, looking up, sorting, and the tables' own work.
 */
#include "base/clock.h"
#include "sources/tweets_internal.h"

#include <inttypes.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_ROUNDS = 32 };

static const char *const folder = "bench-tweets.store";
static size_t batch_bytes = 0;

static void must(gf_status st, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "bench_tweets: %s\n", err->message);
    exit(1);
}

static void must_not(char *message)
{
    if (!message) return;
    fprintf(stderr, "bench_tweets: %s\n", message);
    exit(1);
}

static void remove_folder(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) exit(1);
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* ---- the tweets -------------------------------------------------------------------------------
 */

/* Each line `copies` times, the last digits of its id replaced by the copy's number. */
static void repeat(gf_slice text, int copies, gf_buffer *out)
{
    for (int i = 0; i < copies; i++) {
        gf_slice rest = text;
        while (rest.len) {
            const char *end = memchr(rest.ptr, '\n', rest.len);
            gf_slice line = gf_slice_of(rest.ptr, end ? (size_t)(end - rest.ptr) + 1 : rest.len);
            const char *id = memmem(line.ptr, line.len, "\"id_str\"", 8);
            const char *digits = id ? strpbrk(id, "0123456789") : NULL;
            size_t before = digits ? (size_t)(digits - line.ptr) : 0;
            gf_buffer_append(out, line.ptr, before);
            if (digits) gf_buffer_format(out, "%d", 1000 + i);
            gf_buffer_slice(out, gf_slice_skip(line, before));
            rest = gf_slice_skip(rest, line.len);
        }
    }
}

typedef struct memory {
    gf_slice left;
    bool opened;
} memory;

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    memory *m = context;
    if (m->opened) return gf_fail(err, GF_ENOTFOUND, "no more");
    m->opened = true;
    *name = GF_SLICE("tweets.jsonl");
    return GF_OK;
}

static gf_status read_bytes(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    memory *m = context;
    (void)err;
    *got = n < m->left.len ? n : m->left.len;
    memcpy(to, m->left.ptr, *got);
    m->left = gf_slice_skip(m->left, *got);
    return GF_OK;
}

/* ---- ours -------------------------------------------------------------------------------------
 */

static uint64_t import(gf_slice lines)
{
    gf_error err = {GF_OK, ""};
    gf_store *store;
    gf_tweets *tweets;
    gf_tweet_import *to;
    gf_tweet_reader *reader;
    gf_tweet tweet = {0};
    gf_record record;
    gf_store_options o = {.create = true};
    gf_tweet_import_options how = {.flush_bytes = batch_bytes, .flush_seconds = 3600};
    memory m = {lines, false};
    gf_input input = {&m, next_stream, read_bytes, NULL, NULL};
    must(gf_store_open(folder, &o, &store, &err), &err);
    must(gf_tweets_open(store, GF_SLICE("default"), &tweets, &err), &err);
    must(gf_tweet_import_open(tweets, &how, &to, &err), &err);
    must(gf_tweet_reader_open(&input, 0, &reader, &err), &err);
    while (gf_tweet_reader_next(reader, &tweet, &record, &err) == GF_OK)
        if (record.kind == GF_RECORD_DOCUMENT)
            must(gf_tweet_import_add(to, record.raw, &tweet, &err), &err);
    must(gf_tweet_import_flush(to, &err), &err);
    uint64_t n = gf_tweet_import_counted(to).created;
    gf_tweet_import_close(to);
    gf_tweet_reader_close(reader);
    gf_tweets_close(tweets);
    gf_store_close(store);
    return n;
}

/* ---- bare LevelDB -----------------------------------------------------------------------------
 */

/* Rows: lengths of key and value (u32), key, value; a key of length 0 ends a tweet. */
static void put_row(gf_buffer *rows, unsigned char table, gf_slice a, gf_slice b, gf_slice value)
{
    static const char name_space[] = "default\0\1";
    gf_buffer_u32be(rows, (uint32_t)(2 + sizeof name_space - 1 + a.len + b.len));
    gf_buffer_u32be(rows, (uint32_t)value.len);
    gf_buffer_byte(rows, (char)table);
    gf_buffer_byte(rows, 0);
    gf_buffer_append(rows, name_space, sizeof name_space - 1);
    gf_buffer_slice(rows, a);
    gf_buffer_slice(rows, b);
    gf_buffer_slice(rows, value);
}

static void put_tweet(gf_buffer *rows, gf_slice json, const gf_tweet *t, gf_tweet_terms *terms)
{
    char row[GF_TWEET_ROW], geo[GF_TWEET_GEO_ROW], value[8];
    gf_error err;
    gf_slice raw = gf_slice_of(row, sizeof row);
    gf_tweet_row(GF_MURMUR2, t->seconds, json, row);
    must(gf_tweet_find_terms(terms, t, &err), &err);
    put_row(rows, 1, raw, GF_SLICE(""), json);
    for (size_t i = 0; i < terms->n; i++) {
        gf_slice count = terms->terms[i].count > 1 ? GF_SLICE("2") : GF_SLICE("");
        put_row(rows, terms->terms[i].of_user ? 3 : 2, terms->terms[i].term, raw, count);
    }
    if (t->has_place) {
        gf_tweet_geo_row(gf_tweet_spread(GF_MURMUR2, gf_read_u32be(row + 8)), t->seconds,
                         gf_geohash(t->place), geo);
        gf_tweet_geo_value(t->place, value);
        put_row(rows, 4, gf_slice_of(geo, sizeof geo), raw, gf_slice_of(value, sizeof value));
    }
}

static uint64_t make_rows(gf_slice lines, gf_buffer *rows)
{
    gf_error err = {GF_OK, ""};
    gf_tweet_reader *reader;
    gf_tweet tweet = {0};
    gf_tweet_terms terms = {0};
    gf_record record;
    memory m = {lines, false};
    gf_input input = {&m, next_stream, read_bytes, NULL, NULL};
    uint64_t n = 0;
    must(gf_tweet_reader_open(&input, 0, &reader, &err), &err);
    while (gf_tweet_reader_next(reader, &tweet, &record, &err) == GF_OK) {
        if (record.kind != GF_RECORD_DOCUMENT) continue;
        put_tweet(rows, record.raw, &tweet, &terms);
        n++;
    }
    gf_tweet_terms_release(&terms);
    gf_tweet_reader_close(reader);
    must(gf_buffer_check(rows, &err), &err);
    return n;
}

static uint64_t write_bare(gf_slice rows)
{
    char *message = NULL;
    uint64_t n = 0;
    size_t most = batch_bytes ? batch_bytes : 16 << 20, bytes = 0;
    leveldb_options_t *o = leveldb_options_create();
    leveldb_cache_t *cache = leveldb_cache_create_lru(64 << 20);
    leveldb_filterpolicy_t *filter = leveldb_filterpolicy_create_bloom(10);
    leveldb_options_set_create_if_missing(o, 1);
    leveldb_options_set_paranoid_checks(o, 1);
    leveldb_options_set_write_buffer_size(o, 64 << 20);
    leveldb_options_set_max_file_size(o, 16 << 20);
    leveldb_options_set_cache(o, cache);
    leveldb_options_set_filter_policy(o, filter);
    leveldb_options_set_compression(o, leveldb_snappy_compression);
    leveldb_t *db = leveldb_open(o, folder, &message);
    must_not(message);
    leveldb_writeoptions_t *synced = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(synced, 1);
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    while (rows.len) {
        uint32_t key, value;
        gf_take_u32be(&rows, &key);
        gf_take_u32be(&rows, &value);
        leveldb_writebatch_put(batch, rows.ptr, key, rows.ptr + key, value);
        rows = gf_slice_skip(rows, (size_t)key + value);
        bytes += (size_t)key + value;
        n++;
        if (bytes < most && rows.len) continue;
        leveldb_write(db, synced, batch, &message);
        must_not(message);
        leveldb_writebatch_clear(batch);
        bytes = 0;
    }
    leveldb_writebatch_destroy(batch);
    leveldb_writeoptions_destroy(synced);
    leveldb_close(db);
    leveldb_options_destroy(o);
    leveldb_cache_destroy(cache);
    leveldb_filterpolicy_destroy(filter);
    return n;
}

/* ---- turns ------------------------------------------------------------------------------------
 */

typedef struct times {
    double wall[MOST_ROUNDS], cpu[MOST_ROUNDS];
} times;

static uint64_t time_one(uint64_t (*run)(gf_slice), gf_slice bytes, times *t, int round)
{
    remove_folder();
    double wall = gf_clock_seconds(), cpu = cpu_seconds();
    uint64_t n = run(bytes);
    t->wall[round] = gf_clock_seconds() - wall;
    t->cpu[round] = cpu_seconds() - cpu;
    remove_folder();
    return n;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, compare);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void print(const char *what, uint64_t tweets, uint64_t rows, double wall, double bare_wall,
                  double cpu, double bare_cpu)
{
    printf("{\"of\":\"%s\",\"tweets\":%" PRIu64 ",\"rows\":%" PRIu64
           ",\"wall\":%.3f,\"bare_wall\":%.3f,\"cpu\":%.3f,\"bare_cpu\":%.3f,"
           "\"tweets_per_second\":%.0f,\"tweets_per_cpu_second\":%.0f,\"wall_ratio\":%.2f,"
           "\"cpu_ratio\":%.2f}\n",
           what, tweets, rows, wall, bare_wall, cpu, bare_cpu, (double)tweets / wall,
           (double)tweets / cpu, wall / bare_wall, cpu / bare_cpu);
    fflush(stdout);
}

int main(int n_words, char **words)
{
    gf_buffer text = {0}, lines = {0}, rows = {0};
    static times ours, bare;
    int copies = n_words > 2 ? atoi(words[2]) : 1, rounds = n_words > 3 ? atoi(words[3]) : 3;
    batch_bytes = n_words > 4 ? (size_t)atoi(words[4]) << 20 : 0;
    FILE *file = n_words > 1 ? fopen(words[1], "rb") : NULL;
    if (!file || copies < 1 || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "usage: bench_tweets TWEETS.jsonl [COPIES [ROUNDS [MB]]]\n");
        return 2;
    }
    for (size_t got = 1; got;) {
        char *to = gf_buffer_reserve(&text, 1 << 20);
        if (!to) return 1;
        text.len += got = fread(to, 1, 1 << 20, file);
    }
    fclose(file);
    repeat(gf_buffer_view(&text), copies, &lines);
    uint64_t tweets = make_rows(gf_buffer_view(&lines), &rows), n_rows = 0;
    for (int i = 0; i < rounds; i++) {
        uint64_t n = time_one(import, gf_buffer_view(&lines), &ours, i);
        if (n != tweets)
            fprintf(stderr, "bench_tweets: %" PRIu64 " tweets, not %" PRIu64 "\n", n, tweets);
        n_rows = time_one(write_bare, gf_buffer_view(&rows), &bare, i);
        print("round", tweets, n_rows, ours.wall[i], bare.wall[i], ours.cpu[i], bare.cpu[i]);
    }
    print("median", tweets, n_rows, median(ours.wall, rounds), median(bare.wall, rounds),
          median(ours.cpu, rounds), median(bare.cpu, rounds));
    gf_buffer_release(&text);
    gf_buffer_release(&lines);
    gf_buffer_release(&rows);
    return 0;
}
