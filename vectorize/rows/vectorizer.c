#include "vectorize/rows/vectorizer.h"

#include "base/grow.h"
#include "base/memory.h"
#include "vectorize/rows/counted_rows_internal.h"
#include "vectorize/rows/vectorizer_internal.h"

/*
 * A task's share of the texts of one call. Small enough that the threads end together, and large
 * enough that a task's own costs do not show.
 */
enum { TASK_BYTES = 256 << 10, TASK_TEXTS = 4096, SMALL_CHUNK = 128 << 10 };

void gf_vectors_release(gf_vectors *vectors)
{
    gf_csr_release(&vectors->x);
    gf_spill_free(vectors->entries);
    gf_free(vectors->kind);
    gf_vocabulary_release(&vectors->vocabulary);
    *vectors = (gf_vectors){0};
}

gf_status gf_vectorizer_create(const gf_vectorizer_options *options, gf_pool *pool,
                               gf_vectorizer **vectorizer, gf_error *err)
{
    gf_status st = gf_vectorizer_options_check(options, err);
    if (st != GF_OK) return st;
    gf_vectorizer *v = gf_calloc(1, sizeof *v);
    if (!v) return gf_fail_memory(err, "a vectorizer");
    gf_slice more = options->analysis.more_stop_words;
    v->options = *options;
    v->pool = pool;
    v->n_workers = gf_pool_size(pool);
    v->workers = gf_calloc(v->n_workers, sizeof *v->workers);
    v->more_stop_words = gf_copy_string(more.ptr, more.len);
    if (!v->workers || !v->more_stop_words) {
        gf_vectorizer_free(v);
        return gf_fail_memory(err, "a vectorizer");
    }
    v->options.analysis.more_stop_words.ptr = v->more_stop_words;
    if (v->n_workers > 1) st = gf_dictionary_create(true, &v->dictionary, err);
    if (st == GF_OK)
        *vectorizer = v;
    else
        gf_vectorizer_free(v);
    return st;
}

void gf_vectorizer_free(gf_vectorizer *v)
{
    if (!v) return;
    for (unsigned w = 0; v->workers && w < v->n_workers; w++) {
        if (v->workers[w]) gf_document_counts_release(v->workers[w]);
        gf_free(v->workers[w]);
    }
    for (size_t i = 0; i < v->n_chunks; i++) {
        gf_buffer_release(&v->chunks[i].rows);
        gf_buffer_release(&v->chunks[i].words);
    }
    gf_words_free(v->words);
    gf_dictionary_free(v->dictionary);
    gf_free(v->workers);
    gf_free(v->chunks);
    gf_free(v->more_stop_words);
    gf_spill_free(v->spill);
    gf_free(v);
}

gf_dictionary *gf_vectorizer_dictionary(const gf_vectorizer *v)
{
    if (v->dictionary) return v->dictionary;
    return v->workers[0] ? gf_analyser_dictionary(v->workers[0]->analyser) : NULL;
}

gf_analyser *gf_vectorizer_take_analyser(gf_vectorizer *v)
{
    if (v->n_workers != 1 || !v->workers[0]) return NULL;
    gf_analyser *taken = v->workers[0]->analyser;
    gf_analyser_keep(taken, 0);
    v->workers[0]->analyser = NULL;
    v->failed = GF_EINVAL; /* it can only be freed now */
    return taken;
}

void gf_vectorizer_keep_tokens(gf_vectorizer *v, size_t most_tokens)
{
    if (v->n_workers == 1) v->kept_tokens = most_tokens;
}

gf_status gf_vectorizer_spill(gf_vectorizer *v, const char *folder, gf_error *err)
{
    gf_status st = gf_spill_create(folder, &v->spill, err);
    if (st == GF_OK) v->folder = folder;
    return st;
}

gf_status gf_vectorizer_keep_words(gf_vectorizer *v, const char *folder, bool only, gf_error *err)
{
    gf_status st = gf_words_create(folder, &v->words, err);
    if (st == GF_OK) v->words->only = only;
    return st;
}

gf_status gf_vectorizer_take_words(gf_vectorizer *v, gf_words **words, gf_error *err)
{
    *words = NULL;
    if (!v->words) return GF_OK;
    gf_status st = gf_words_keep_terms(v->words, gf_vectorizer_dictionary(v), err);
    if (st != GF_OK) return st;
    *words = v->words;
    v->words = NULL;
    v->failed = GF_EINVAL; /* it can only be freed now */
    return GF_OK;
}

uint32_t gf_vectorizer_size(const gf_vectorizer *v)
{
    return v->n_docs;
}

static gf_status make_worker(gf_vectorizer *v, gf_counter **worker, gf_error *err)
{
    gf_counter *c = gf_calloc(1, sizeof *c);
    if (!c) return gf_fail_memory(err, "a vectorizer");
    gf_status st = gf_document_counts_init(c, &v->options.analysis, v->dictionary, true, err);
    if (st != GF_OK) {
        gf_free(c);
        return st;
    }
    if (v->kept_tokens) gf_analyser_keep(c->analyser, v->kept_tokens);
    *worker = c;
    return GF_OK;
}

/* The texts of one call, cut into tasks that each fill one chunk. */
typedef struct job {
    gf_vectorizer *v;
    const gf_text *texts;
    gf_chunk *chunks; /* one per task; first counts from the call's first text */
} job;

static void append_words(gf_counter *c, const gf_text *t, gf_buffer *words)
{
    const gf_language *language = c->options.language ? c->options.language : t->language;
    gf_counts counts;
    gf_document_counts_add_words(c, &counts);
    gf_rows_append(words, &counts, language ? (uint32_t)gf_language_index(language) + 1 : 0);
}

static gf_status count_chunk(void *context, size_t index, unsigned worker, gf_error *err)
{
    job *j = context;
    gf_chunk *chunk = &j->chunks[index];
    gf_counter **c = &j->v->workers[worker];
    gf_status st = *c ? GF_OK : make_worker(j->v, c, err);
    for (uint32_t i = 0; i < chunk->n && st == GF_OK; i++) {
        const gf_text *t = &j->texts[chunk->first + i];
        gf_counts counts;
        st = gf_count(*c, t->text, t->language, &counts, err);
        if (st != GF_OK) break;
        if (!j->v->words || !j->v->words->only) gf_rows_append(&chunk->rows, &counts, counts.tier);
        if (j->v->words) append_words(*c, t, &chunk->words);
    }
    if (st == GF_OK) st = gf_buffer_check(&chunk->words, err);
    return st == GF_OK ? gf_buffer_check(&chunk->rows, err) : st;
}

/* The texts of the task that starts with the first. */
static uint32_t task_texts(const gf_text *texts, size_t n)
{
    size_t bytes = 0;
    uint32_t i = 0;
    while (i < n && i < TASK_TEXTS && bytes < TASK_BYTES)
        bytes += texts[i++].text.len;
    return i;
}

static size_t count_tasks(const gf_text *texts, size_t n)
{
    size_t tasks = 0;
    for (size_t at = 0; at < n; tasks++)
        at += task_texts(texts + at, n - at);
    return tasks;
}

static gf_status reserve_chunks(gf_vectorizer *v, size_t more, gf_error *err)
{
    bool room = gf_grow(&v->chunks, &v->chunk_capacity, v->n_chunks + more + 1, sizeof *v->chunks);
    return room ? GF_OK : gf_fail_memory(err, "a vectorizer");
}

/* Put a task's chunk behind the vectorizer's; documents that come one by one share a chunk. */
static gf_status keep_chunk(gf_vectorizer *v, gf_chunk *chunk, gf_error *err)
{
    gf_chunk *last = v->n_chunks ? &v->chunks[v->n_chunks - 1] : NULL;
    if (!last || last->spilled || last->rows.len + chunk->rows.len > SMALL_CHUNK) {
        v->chunks[v->n_chunks++] = *chunk;
        return GF_OK;
    }
    gf_buffer_slice(&last->rows, gf_buffer_view(&chunk->rows));
    gf_buffer_release(&chunk->rows);
    last->n += chunk->n;
    return gf_buffer_check(&last->rows, err);
}

/* Write the rows that the chunks hold in memory to the file. */
static gf_status spill_chunks(gf_vectorizer *v, size_t from, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = from; i < v->n_chunks && v->spill && st == GF_OK; i++) {
        gf_chunk *c = &v->chunks[i];
        size_t n = c->rows.len;
        st = gf_spill_write(v->spill, v->spilled, c->rows.ptr, n, err);
        gf_buffer_release(&c->rows);
        c->rows.len = n;
        c->spilled = true;
        c->offset = v->spilled;
        v->spilled += n;
    }
    return st;
}

gf_status gf_vectorizer_chunk_rows(const gf_vectorizer *v, const gf_chunk *chunk, gf_buffer *room,
                                   const unsigned char **rows, gf_error *err)
{
    *rows = (const unsigned char *)chunk->rows.ptr;
    if (!chunk->spilled) return GF_OK;
    gf_buffer_reset(room);
    char *to = gf_buffer_reserve(room, chunk->rows.len);
    *rows = (const unsigned char *)to;
    if (!to) return gf_buffer_check(room, err);
    return gf_spill_read(v->spill, chunk->offset, to, chunk->rows.len, err);
}

/* Runs the tasks; their chunks are made where the vectorizer's end, in room that is there. */
static gf_status run(gf_vectorizer *v, const gf_text *texts, size_t n, size_t n_tasks,
                     const gf_pool_tasks *others, const gf_cancel *cancel, gf_error *err)
{
    job j = {v, texts, v->chunks + v->n_chunks};
    size_t at = 0, before = v->n_chunks;
    for (size_t i = 0; i < n_tasks; i++) {
        j.chunks[i] = (gf_chunk){.first = (uint32_t)at, .n = task_texts(texts + at, n - at)};
        at += j.chunks[i].n;
    }
    gf_pool_tasks counting = {n_tasks, count_chunk, &j};
    gf_status st = gf_pool_run_both(v->pool, others, &counting, cancel, err);
    if (v->dictionary) gf_dictionary_settle(v->dictionary);
    for (size_t i = 0; i < n_tasks; i++) {
        gf_chunk chunk = j.chunks[i];
        chunk.first += v->n_docs;
        if (st == GF_OK && v->words) st = gf_words_add(v->words, &chunk.words, chunk.n, err);
        gf_buffer_release(&chunk.words);
        gf_status kept = keep_chunk(v, &chunk, st == GF_OK ? err : NULL);
        if (st == GF_OK) st = kept;
    }
    return st == GF_OK ? spill_chunks(v, before, err) : st;
}

gf_status gf_vectorizer_add_beside(gf_vectorizer *v, const gf_text *texts, size_t n,
                                   const gf_pool_tasks *others, const gf_cancel *cancel,
                                   gf_error *err)
{
    if (v->failed != GF_OK) return gf_fail(err, v->failed, "an earlier group of texts failed");
    if (n > UINT32_MAX - 1 - v->n_docs)
        return gf_fail(err, GF_ELIMIT, "more than 2^32 - 2 documents");
    size_t n_tasks = count_tasks(texts, n);
    gf_status st = reserve_chunks(v, n_tasks, err);
    if (st == GF_OK) st = run(v, texts, n, n_tasks, others, cancel, err);
    if (st == GF_OK) v->n_docs += (uint32_t)n;
    v->failed = st;
    return st;
}

gf_status gf_vectorizer_add(gf_vectorizer *v, const gf_text *texts, size_t n,
                            const gf_cancel *cancel, gf_error *err)
{
    return gf_vectorizer_add_beside(v, texts, n, &(gf_pool_tasks){.n = 0}, cancel, err);
}
