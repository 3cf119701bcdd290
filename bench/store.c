/*
 * The store beside bare LevelDB: a put of a file of JSON Lines through the public library, and the
 * same keys and values written by plain calls in the same order, in the same batches, with the same
 * syncs and settings; then look-ups of both. Runs take turns; medians of three.
 *
 *     bench_store FILE [FOLDER, a new one in the current folder unless given]
 *
 * FILE may be compressed. What is printed is the time from the first byte to a closed database.
 */
#include "base/clock.h"
#include "base/random.h"
#include "formats/bytes/files.h"
#include "formats/reader.h"
#include "grouperfish.h"

#include <inttypes.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 3, DOCUMENTS = 4000, BYTES = 4 << 20, GETS = 200000 };

static const gf_place place = {{"default", 7}, {"posts", 5}};
static const char *folder;

static void check(gf_status st, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "bench_store: %s\n", err->message);
    exit(1);
}

static void must(char *message)
{
    if (!message) return;
    fprintf(stderr, "bench_store: LevelDB: %s\n", message);
    exit(1);
}

static double median(double *seconds)
{
    for (int i = 1; i < RUNS; i++)
        for (int j = i; j > 0 && seconds[j] < seconds[j - 1]; j--) {
            double s = seconds[j];
            seconds[j] = seconds[j - 1];
            seconds[j - 1] = s;
        }
    return seconds[RUNS / 2];
}

static const char *path_of(const char *name, int run)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s%d", folder, name, run);
    return path;
}

/* ---- the input, from memory ------------------------------------------------------------------ */

typedef struct bytes {
    gf_buffer text;
    size_t at;
    bool begun;
} bytes;

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    bytes *b = context;
    (void)err;
    if (b->begun) return GF_ENOTFOUND;
    b->begun = true;
    *name = GF_SLICE("memory.jsonl");
    return GF_OK;
}

static gf_status read_stream(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    bytes *b = context;
    (void)err;
    *got = b->text.len - b->at < n ? b->text.len - b->at : n;
    memcpy(to, b->text.ptr + b->at, *got);
    b->at += *got;
    return GF_OK;
}

/* ---- ours ------------------------------------------------------------------------------------ */

typedef struct documents {
    char **id; /* n */
    size_t n;
} documents;

static gf_store *open_store(const char *path)
{
    gf_error err;
    gf_store *store;
    check(gf_store_open(path, &GF_STORE_OPTIONS(.create = true), &store, &err), &err);
    return store;
}

/* Put all records of an input; they are noted where ids is not NULL, and their lines kept. */
static double put_all(const char *path, const gf_input *input, documents *ids, gf_buffer *lines)
{
    gf_error err;
    gf_put *put;
    gf_reader *reader;
    gf_record record;
    gf_status st;
    double start = gf_clock_seconds();
    gf_store *store = open_store(path);
    check(gf_put_open(store, &GF_PUT_OPTIONS(.name_space = place.name_space), &put, &err), &err);
    check(gf_reader_open(input, NULL, &reader, &err), &err);
    while ((st = gf_reader_next(reader, &record, &err)) == GF_OK) {
        if (record.kind != GF_RECORD_DOCUMENT) continue;
        check(gf_put_document(put, place.collection, &record.document, &err), &err);
        if (!ids) continue;
        gf_buffer_slice(lines, record.raw);
        gf_buffer_byte(lines, '\n');
        if ((ids->n & (ids->n - 1)) == 0)
            ids->id = realloc(ids->id, (ids->n ? 2 * ids->n : 1) * sizeof *ids->id);
        ids->id[ids->n++] = strndup(record.document.id.ptr, record.document.id.len);
    }
    if (st != GF_ENOTFOUND) check(st, &err);
    check(gf_put_flush(put, &err), &err);
    gf_put_close(put);
    gf_reader_close(reader);
    gf_store_close(store);
    return gf_clock_seconds() - start;
}

static double put_file(const char *path, const char *file, documents *ids, gf_buffer *lines)
{
    gf_error err;
    gf_files *files;
    check(gf_files_open(&file, 1, &files, &err), &err);
    gf_input input = gf_files_input(files);
    double seconds = put_all(path, &input, ids, lines);
    gf_files_close(files);
    return seconds;
}

static double put_memory(const char *path, gf_buffer text)
{
    bytes b = {.text = text};
    gf_input input = {.context = &b, .next = next_stream, .read = read_stream};
    return put_all(path, &input, NULL, NULL);
}

/* ---- bare LevelDB ---------------------------------------------------------------------------- */

typedef struct bare {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *filter;
    leveldb_writeoptions_t *sync;
    leveldb_readoptions_t *read;
} bare;

static bare open_bare(const char *path)
{
    char *message = NULL;
    bare b = {.options = leveldb_options_create()};
    b.cache = leveldb_cache_create_lru(64 << 20);
    b.filter = leveldb_filterpolicy_create_bloom(10);
    leveldb_options_set_create_if_missing(b.options, 1);
    leveldb_options_set_paranoid_checks(b.options, 1);
    leveldb_options_set_write_buffer_size(b.options, 64 << 20);
    leveldb_options_set_max_file_size(b.options, 16 << 20);
    leveldb_options_set_max_open_files(b.options, 500);
    leveldb_options_set_cache(b.options, b.cache);
    leveldb_options_set_filter_policy(b.options, b.filter);
    b.db = leveldb_open(b.options, path, &message);
    must(message);
    b.sync = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(b.sync, 1);
    b.read = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(b.read, 1);
    return b;
}

static void close_bare(bare *b)
{
    leveldb_close(b->db);
    leveldb_options_destroy(b->options);
    leveldb_cache_destroy(b->cache);
    leveldb_filterpolicy_destroy(b->filter);
    leveldb_writeoptions_destroy(b->sync);
    leveldb_readoptions_destroy(b->read);
}

typedef struct entry {
    size_t at;
    uint32_t key, value; /* lengths; the value lies behind the key */
} entry;

/* What the store's LevelDB holds of the documents, and the order in which they were written. */
typedef struct entries {
    gf_buffer bytes;
    entry *entries; /* n, by key */
    size_t n;
    size_t *order; /* n: as they came, in batches that are sorted */
    size_t *batch; /* n_batches: where each begins in order */
    size_t n_batches;
} entries;

static void add_entry(entries *e, gf_slice key, gf_slice value)
{
    if ((e->n & (e->n - 1)) == 0)
        e->entries = realloc(e->entries, (e->n ? 2 * e->n : 1) * sizeof *e->entries);
    e->entries[e->n++] = (entry){e->bytes.len, (uint32_t)key.len, (uint32_t)value.len};
    gf_buffer_slice(&e->bytes, key);
    gf_buffer_slice(&e->bytes, value);
}

static gf_slice key_of(const entries *e, size_t i)
{
    return gf_slice_of(e->bytes.ptr + e->entries[i].at, e->entries[i].key);
}

static size_t find_id(const entries *e, gf_buffer *key, const char *id)
{
    key->len = 0;
    gf_slice first = key_of(e, 0);
    size_t n = 3 + 7 + 2 + 5 + 2; /* table and family, namespace, collection */
    gf_buffer_append(key, first.ptr, n);
    gf_key_string(key, gf_slice_str(id));
    size_t low = 0, high = e->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (gf_slice_compare(key_of(e, middle), gf_buffer_view(key)) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == e->n || !gf_slice_equal(key_of(e, low), gf_buffer_view(key))) {
        fprintf(stderr, "bench_store: document %s has no entry\n", id);
        exit(1);
    }
    return low;
}

static int by_number(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* The documents' entries of a store that is closed, and the batches in which it wrote them. */
static entries read_entries(const char *store, const documents *ids)
{
    entries e = {0};
    gf_buffer key = {0};
    char path[600];
    snprintf(path, sizeof path, "%s/db", store);
    bare b = open_bare(path);
    leveldb_iterator_t *it = leveldb_create_iterator(b.db, b.read);
    for (leveldb_iter_seek(it, "\0\1", 2); leveldb_iter_valid(it); leveldb_iter_next(it)) {
        size_t n, m;
        const char *k = leveldb_iter_key(it, &n), *v = leveldb_iter_value(it, &m);
        bool is_document = n > 19 && memcmp(k + 3, "default\0\1posts\0\1", 16) == 0;
        if (is_document && (e.n == 0 || memcmp(k, e.bytes.ptr, 3) == 0))
            add_entry(&e, gf_slice_of(k, n), gf_slice_of(v, m));
    }
    leveldb_iter_destroy(it);
    close_bare(&b);
    e.order = calloc(ids->n, sizeof *e.order);
    e.batch = calloc(ids->n + 1, sizeof *e.batch);
    size_t bytes_now = 0, first = 0;
    for (size_t i = 0; i < ids->n; i++) {
        e.order[i] = find_id(&e, &key, ids->id[i]);
        bytes_now += e.entries[e.order[i]].value;
        if (i + 1 < ids->n && i + 1 - first < DOCUMENTS && bytes_now < BYTES) continue;
        qsort(e.order + first, i + 1 - first, sizeof *e.order, by_number);
        e.batch[e.n_batches++] = first;
        first = i + 1;
        bytes_now = 0;
    }
    e.batch[e.n_batches] = ids->n;
    gf_buffer_release(&key);
    return e;
}

static double put_bare(const char *path, const entries *e)
{
    char *message = NULL;
    double start = gf_clock_seconds();
    bare b = open_bare(path);
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    for (size_t i = 0; i < e->n_batches; i++) {
        for (size_t j = e->batch[i]; j < e->batch[i + 1]; j++) {
            const entry *one = &e->entries[e->order[j]];
            const char *key = e->bytes.ptr + one->at;
            leveldb_writebatch_put(batch, key, one->key, key + one->key, one->value);
        }
        leveldb_write(b.db, b.sync, batch, &message);
        must(message);
        leveldb_writebatch_clear(batch);
    }
    leveldb_writebatch_destroy(batch);
    close_bare(&b);
    return gf_clock_seconds() - start;
}

/* ---- look-ups -------------------------------------------------------------------------------- */

static gf_status count_text(void *context, const gf_document *d, gf_error *err)
{
    (void)err;
    *(size_t *)context += d->text.len;
    return GF_OK;
}

static double get_ours(const char *path, const documents *ids, uint64_t seed)
{
    gf_error err;
    gf_store *store = open_store(path);
    gf_random r = gf_random_seed(seed, 0);
    size_t sum = 0;
    double start = gf_clock_seconds();
    for (int i = 0; i < GETS; i++) {
        const char *id = ids->id[gf_random_below(&r, ids->n)];
        check(gf_document_read(store, place, gf_slice_str(id), count_text, &sum, &err), &err);
    }
    double seconds = gf_clock_seconds() - start;
    gf_store_close(store);
    return seconds;
}

static double get_bare(const char *path, const documents *ids, const entries *e, uint64_t seed)
{
    bare b = open_bare(path);
    gf_random r = gf_random_seed(seed, 0);
    gf_buffer key = {0};
    gf_slice first = key_of(e, 0);
    double start = gf_clock_seconds();
    for (int i = 0; i < GETS; i++) {
        char *message = NULL;
        size_t n;
        key.len = 0;
        gf_buffer_append(&key, first.ptr, 19);
        gf_key_string(&key, gf_slice_str(ids->id[gf_random_below(&r, ids->n)]));
        char *value = leveldb_get(b.db, b.read, key.ptr, key.len, &n, &message);
        must(message);
        if (!value) exit(2);
        leveldb_free(value);
    }
    double seconds = gf_clock_seconds() - start;
    gf_buffer_release(&key);
    close_bare(&b);
    return seconds;
}

static double get_memberships(gf_store *store, const documents *ids, uint64_t seed)
{
    gf_error err;
    gf_view *view;
    gf_membership m;
    gf_random r = gf_random_seed(seed, 0);
    check(gf_view_open(store, place, GF_SLICE("default"), 0, &view, &err), &err);
    double start = gf_clock_seconds();
    for (int i = 0; i < GETS; i++)
        check(
            gf_view_membership(view, gf_slice_str(ids->id[gf_random_below(&r, ids->n)]), &m, &err),
            &err);
    double seconds = gf_clock_seconds() - start;
    gf_view_close(view);
    return seconds;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void tell(const char *what, double n, double *seconds)
{
    double s = median(seconds);
    printf("%-44s %8.3f s %12.0f /s %8.2f us\n", what, s, n / s, s / n * 1e6);
    fflush(stdout);
}

static void measure_memberships(const char *path, const documents *ids)
{
    gf_error err;
    double seconds[RUNS];
    gf_store *store = open_store(path);
    gf_pair k = {GF_SLICE("k"), GF_SLICE("50")};
    check(gf_configuration_set(store, place, GF_SLICE("default"), &k, 1, &err), &err);
    gf_rebuild_result result;
    gf_rebuild_options options = GF_REBUILD_OPTIONS();
    check(gf_rebuild(store, place, GF_SLICE("default"), &options, &result, &err), &err);
    for (int i = 0; i < RUNS; i++)
        seconds[i] = get_memberships(store, ids, (uint64_t)i);
    tell("membership, the view kept open", GETS, seconds);
    gf_store_close(store);
}

int main(int argc, char **argv)
{
    static char made[] = "bench-store-XXXXXX";
    if (argc < 2) {
        fputs("usage: bench_store FILE [FOLDER]\n", stderr);
        return 2;
    }
    folder = argc > 2 ? argv[2] : mkdtemp(made);
    documents ids = {0};
    gf_buffer lines = {0};
    double file[RUNS], memory[RUNS], plain[RUNS], ours[RUNS], theirs[RUNS];
    put_file(path_of("first", 0), argv[1], &ids, &lines);
    entries e = read_entries(path_of("first", 0), &ids);
    for (int i = 0; i < RUNS; i++) {
        file[i] = put_file(path_of("file", i), argv[1], NULL, NULL);
        memory[i] = put_memory(path_of("memory", i), lines);
        plain[i] = put_bare(path_of("bare", i), &e);
    }
    printf("%zu documents, %zu batches, %.1f MB of entries; in %s\n", ids.n, e.n_batches,
           (double)e.bytes.len / 1e6, folder);
    tell("bare LevelDB, the same entries", (double)ids.n, plain);
    tell("put, from memory", (double)ids.n, memory);
    tell("put, from the file", (double)ids.n, file);
    printf("speed of a put: %.0f %% of bare LevelDB's from memory, %.0f %% from the file\n",
           100 * median(plain) / median(memory), 100 * median(plain) / median(file));
    for (int i = 0; i < RUNS; i++) {
        ours[i] = get_ours(path_of("file", i), &ids, (uint64_t)i);
        theirs[i] = get_bare(path_of("bare", i), &ids, &e, (uint64_t)i);
    }
    tell("bare get", GETS, theirs);
    tell("document", GETS, ours);
    measure_memberships(path_of("file", 0), &ids);
    return 0;
}
