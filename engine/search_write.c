/*
 * Texts of a snapshot -> the cells of search_index.h.
 *
 *     group of texts -> tasks -> chunks: each document's terms and counts, as its worker numbers
 *                                them, in compact bytes
 *     workers' terms -> one sorted list of (language, term)
 *     chunks         -> postings by term -> cells
 *
 * What is written depends on the texts alone: terms are sorted, documents stand in their order.
 */
#include "engine/search_index.h"

#include "base/memory.h"
#include "base/strings.h"
#include "vectorize/analyser.h"

#include <stdlib.h>

enum { TASK_DOCUMENTS = 512, CELL_BYTES = 16 << 10 };

/* Terms of a worker's documents; a term is a byte for the language and the analyser's term. */
typedef struct worker {
    gf_analyser *analyser;
    bool borrows; /* the analyser is the job's */
    gf_strings terms;
    uint32_t **known; /* GF_LANGUAGES + 1: id in terms + 1 by the analyser's id; 0 not yet */
    size_t *n_known;  /* likewise: the entries */
    uint32_t *place;  /* capacity, by id in terms: where it stands in the document at hand */
    size_t capacity;
    uint32_t *term, *count; /* n of row_capacity; of the document at hand */
    size_t n, row_capacity;
    gf_buffer key;
    uint32_t *global; /* terms.n: place among all workers' terms */
} worker;

typedef struct chunk {
    gf_buffer rows; /* per document: varint words, varint n, then n times term and count */
    unsigned worker;
    uint32_t n; /* documents */
} chunk;

typedef struct writing {
    const gf_job *job;
    const gf_text_group *group;
    worker *workers; /* n_workers */
    unsigned n_workers;
    chunk *chunks; /* n_chunks of capacity */
    size_t n_chunks, capacity, group_chunk;
    gf_buffer ids; /* strings of all documents */
    gf_buffer lengths;
    uint32_t n; /* documents */
    uint64_t words;
    bool used[GF_LANGUAGES + 1];            /* languages, by index + 1 */
    unsigned char number[GF_LANGUAGES + 1]; /* in the index */
} writing;

/* ---- documents: in a task ---------------------------------------------------------------------
 */

static gf_status make_worker(writing *w, worker *k, gf_error *err)
{
    k->known = gf_calloc(GF_LANGUAGES + 1, sizeof *k->known);
    k->n_known = gf_calloc(GF_LANGUAGES + 1, sizeof *k->n_known);
    if (!k->known || !k->n_known) return gf_fail_memory(err, "an index");
    k->analyser = w->job->analyser;
    k->borrows = k->analyser != NULL;
    if (k->borrows) return GF_OK;
    return gf_analyser_create(&w->job->settings.vectorizer.analysis, &k->analyser, err);
}

static gf_status reserve_known(worker *k, size_t language, gf_error *err)
{
    size_t n = gf_analyser_terms(k->analyser)->n, before = k->n_known[language];
    if (n <= before) return GF_OK;
    size_t capacity = before ? before : 1024;
    while (capacity < n)
        capacity *= 2;
    uint32_t *grown = gf_realloc(k->known[language], capacity, sizeof *grown);
    if (!grown) return gf_fail_memory(err, "an index");
    memset(grown + before, 0, (capacity - before) * sizeof *grown);
    k->known[language] = grown;
    k->n_known[language] = capacity;
    return GF_OK;
}

static gf_status reserve_row(worker *k, size_t n, gf_error *err)
{
    if (n <= k->row_capacity) return GF_OK;
    uint32_t *term = gf_realloc(k->term, n * 2, sizeof *term);
    if (term) k->term = term;
    uint32_t *count = term ? gf_realloc(k->count, n * 2, sizeof *count) : NULL;
    if (count) k->count = count;
    if (!count) return gf_fail_memory(err, "an index");
    k->row_capacity = n * 2;
    return GF_OK;
}

/* A term that this worker has not met in that language. */
static gf_status add_term(worker *k, size_t language, uint32_t term, uint32_t *id, gf_error *err)
{
    gf_buffer_reset(&k->key);
    gf_buffer_byte(&k->key, (char)(unsigned char)language);
    gf_buffer_slice(&k->key, gf_strings_at(gf_analyser_terms(k->analyser), term));
    gf_status st = gf_buffer_check(&k->key, err);
    if (st == GF_OK) st = gf_strings_add(&k->terms, gf_buffer_view(&k->key), id, NULL, err);
    if (st == GF_OK && k->terms.n > k->capacity) {
        size_t capacity = k->capacity ? k->capacity * 2 : 1024;
        uint32_t *grown = gf_realloc(k->place, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "an index");
        memset(grown + k->capacity, 0, (capacity - k->capacity) * sizeof *grown);
        k->place = grown;
        k->capacity = capacity;
    }
    if (st == GF_OK) k->known[language][term] = *id + 1;
    return st;
}

/* A place is only true where the row agrees, so it needs no clearing between documents. */
static void count_term(worker *k, uint32_t id)
{
    uint32_t place = k->place[id];
    if (place < k->n && k->term[place] == id) {
        k->count[place]++;
        return;
    }
    k->place[id] = (uint32_t)k->n;
    k->term[k->n] = id;
    k->count[k->n++] = 1;
}

static gf_status count_words(worker *k, size_t language, const gf_analysis *a, uint64_t *words,
                             gf_error *err)
{
    gf_status st = reserve_known(k, language, err);
    if (st == GF_OK) st = reserve_row(k, a->n, err);
    k->n = 0;
    *words = 0;
    for (size_t i = 0; i < a->n && st == GF_OK; i++) {
        if (a->words[i].use == GF_WORD_NONE) continue;
        uint32_t id = k->known[language][a->words[i].term];
        if (id)
            id--;
        else
            st = add_term(k, language, a->words[i].term, &id, err);
        if (st == GF_OK) count_term(k, id);
        ++*words;
    }
    return st;
}

static gf_status add_document(const writing *w, worker *k, const gf_group_text *t, chunk *c,
                              gf_error *err)
{
    const gf_resolved *settings = &w->job->settings;
    const gf_language *language = settings->vectorizer.analysis.language;
    gf_analysis a;
    uint64_t words;
    gf_status st = GF_OK;
    if (settings->detect)
        st = gf_document_language(&w->job->documents.fallback, t->lang, t->text, &language, err);
    size_t number = language ? gf_language_index(language) + 1 : 0;
    if (st == GF_OK) st = gf_analyse(k->analyser, t->text, language, &a, err);
    if (st == GF_OK) st = count_words(k, number, &a, &words, err);
    if (st != GF_OK) return st;
    gf_buffer_varint(&c->rows, words);
    gf_buffer_varint(&c->rows, k->n);
    for (size_t i = 0; i < k->n; i++) {
        gf_buffer_varint(&c->rows, (uint64_t)k->term[i] << 1 | (k->count[i] > 1));
        if (k->count[i] > 1) gf_buffer_varint(&c->rows, k->count[i] - 2);
    }
    return GF_OK;
}

static gf_status chunk_task(void *context, size_t index, unsigned number, gf_error *err)
{
    writing *w = context;
    worker *k = &w->workers[number];
    chunk *c = &w->chunks[w->group_chunk + index];
    size_t from = index * TASK_DOCUMENTS;
    gf_status st = k->analyser ? GF_OK : make_worker(w, k, err);
    c->worker = number;
    for (uint32_t i = 0; i < c->n && st == GF_OK; i++)
        st = add_document(w, k, &w->group->at[from + i], c, err);
    return st == GF_OK ? gf_buffer_check(&c->rows, err) : st;
}

static gf_status add_group(void *context, const gf_text_group *group, gf_error *err)
{
    writing *w = context;
    size_t tasks = (group->n + TASK_DOCUMENTS - 1) / TASK_DOCUMENTS;
    if (w->n_chunks + tasks > w->capacity) {
        size_t capacity = (w->n_chunks + tasks) * 2;
        chunk *grown = gf_realloc(w->chunks, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "an index");
        w->chunks = grown;
        w->capacity = capacity;
    }
    for (size_t i = 0; i < tasks; i++) {
        size_t left = group->n - i * TASK_DOCUMENTS;
        w->chunks[w->n_chunks + i] =
            (chunk){.n = (uint32_t)(left < TASK_DOCUMENTS ? left : TASK_DOCUMENTS)};
    }
    for (size_t i = 0; i < group->n; i++)
        gf_buffer_string(&w->ids, group->at[i].id);
    w->group = group;
    w->group_chunk = w->n_chunks;
    w->n_chunks += tasks;
    w->n += (uint32_t)group->n;
    gf_job_tell(w->job, "indexing", w->n, w->job->size);
    gf_status st = gf_buffer_check(&w->ids, err);
    return st == GF_OK
               ? gf_pool_run(w->job->pool, tasks, chunk_task, w, w->job->options->cancel, err)
               : st;
}

/* ---- terms ------------------------------------------------------------------------------------
 */

typedef struct sorted_term {
    gf_slice term; /* as the workers have it */
    uint32_t worker, id;
} sorted_term;

static int by_term(const void *a, const void *b)
{
    return gf_slice_compare(((const sorted_term *)a)->term, ((const sorted_term *)b)->term);
}

/* All workers' terms in order, and each worker's terms' places among them. */
static gf_status sort_terms(writing *w, sorted_term **out, uint32_t *n_out, gf_error *err)
{
    size_t n = 0, at = 0;
    for (unsigned k = 0; k < w->n_workers; k++)
        n += w->workers[k].terms.n;
    sorted_term *all = gf_array(n, sizeof *all);
    if (!all || n > UINT32_MAX) {
        gf_free(all);
        return gf_fail_memory(err, "an index");
    }
    for (unsigned k = 0; k < w->n_workers; k++) {
        worker *of = &w->workers[k];
        of->global = gf_array(of->terms.n, sizeof *of->global);
        if (!of->global) {
            gf_free(all);
            return gf_fail_memory(err, "an index");
        }
        for (uint32_t id = 0; id < of->terms.n; id++)
            all[at++] = (sorted_term){gf_strings_at(&of->terms, id), k, id};
    }
    if (n) qsort(all, n, sizeof *all, by_term);
    uint32_t distinct = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !gf_slice_equal(all[i].term, all[distinct - 1].term))
            all[distinct++] = all[i];
        w->workers[all[i].worker].global[all[i].id] = distinct - 1;
    }
    *out = all;
    *n_out = distinct;
    return GF_OK;
}

/* Languages of the index: those that terms have, in the order of their numbers. */
static void number_languages(writing *w, const sorted_term *terms, uint32_t n)
{
    unsigned char next = 0;
    for (uint32_t i = 0; i < n; i++)
        w->used[(unsigned char)terms[i].term.ptr[0]] = true;
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        if (w->used[l]) w->number[l] = next++;
}

/* ---- postings ---------------------------------------------------------------------------------
 */

/* By term: entries start[t] .. start[t + 1]. */
typedef struct inverted {
    uint64_t *start; /* n_terms + 2 */
    uint32_t *document, *count;
} inverted;

static void release_inverted(inverted *v)
{
    gf_free(v->start);
    gf_free(v->document);
    gf_free(v->count);
}

typedef void each_entry(inverted *v, uint32_t term, uint32_t document, uint32_t count);

static void count_entry(inverted *v, uint32_t term, uint32_t document, uint32_t count)
{
    (void)document, (void)count;
    v->start[term + 2]++;
}

static void place_entry(inverted *v, uint32_t term, uint32_t document, uint32_t count)
{
    uint64_t at = v->start[term + 1]++;
    v->document[at] = document;
    v->count[at] = count;
}

/* The bytes are ours and whole. */
static void walk_chunks(writing *w, inverted *v, each_entry *each, bool first)
{
    uint32_t document = 0;
    for (size_t c = 0; c < w->n_chunks; c++) {
        const uint32_t *global = w->workers[w->chunks[c].worker].global;
        gf_slice rows = gf_buffer_view(&w->chunks[c].rows);
        for (uint32_t i = 0; i < w->chunks[c].n; i++, document++) {
            uint64_t words, n, term, more;
            gf_take_varint(&rows, &words);
            gf_take_varint(&rows, &n);
            if (first) gf_buffer_varint(&w->lengths, words);
            if (first) w->words += words;
            for (uint64_t e = 0; e < n; e++) {
                gf_take_varint(&rows, &term);
                if (term & 1) gf_take_varint(&rows, &more);
                each(v, global[term >> 1], document, term & 1 ? (uint32_t)more + 2 : 1);
            }
        }
    }
}

static gf_status invert(writing *w, uint32_t n_terms, inverted *v, gf_error *err)
{
    v->start = gf_calloc((size_t)n_terms + 2, sizeof *v->start);
    if (!v->start) return gf_fail_memory(err, "an index");
    walk_chunks(w, v, count_entry, true);
    for (uint32_t t = 0; t < n_terms; t++)
        v->start[t + 2] += v->start[t + 1];
    uint64_t entries = v->start[(size_t)n_terms + 1];
    v->document = gf_array(entries, sizeof *v->document);
    v->count = gf_array(entries, sizeof *v->count);
    if (!v->document || !v->count) return gf_fail_memory(err, "an index");
    walk_chunks(w, v, place_entry, false);
    return gf_buffer_check(&w->lengths, err);
}

static void write_postings(const inverted *v, uint32_t term, gf_buffer *out)
{
    uint32_t before = 0;
    for (uint64_t p = v->start[term]; p < v->start[term + 1]; p++) {
        bool more = v->count[p] > 1;
        gf_buffer_varint(out, (uint64_t)(v->document[p] - before) << 1 | more);
        if (more) gf_buffer_varint(out, v->count[p] - 2);
        before = v->document[p];
    }
}

/* ---- cells ------------------------------------------------------------------------------------
 */

/* The term's bytes with the index's number of the language. */
static void term_key(const writing *w, gf_slice term, gf_buffer *out)
{
    gf_buffer_reset(out);
    gf_buffer_byte(out, (char)w->number[(unsigned char)term.ptr[0]]);
    gf_buffer_slice(out, gf_slice_skip(term, 1));
}

static gf_status write_terms(const writing *w, const sorted_term *terms, uint32_t n,
                             const inverted *v, gf_put_cell *put, void *context, gf_error *err)
{
    gf_buffer cell = {0}, qualifier = {0}, key = {0}, postings = {0};
    gf_status st = GF_OK;
    for (uint32_t t = 0; t < n && st == GF_OK;) {
        gf_buffer_reset(&cell);
        gf_buffer_reset(&qualifier);
        term_key(w, terms[t].term, &key);
        gf_buffer_str(&qualifier, GF_INDEX_TERM);
        gf_buffer_slice(&qualifier, gf_buffer_view(&key));
        for (; t < n && cell.len < CELL_BYTES; t++) {
            term_key(w, terms[t].term, &key);
            gf_buffer_reset(&postings);
            write_postings(v, t, &postings);
            gf_buffer_string(&cell, gf_buffer_view(&key));
            gf_buffer_varint(&cell, v->start[t + 1] - v->start[t]);
            gf_buffer_string(&cell, gf_buffer_view(&postings));
            st = gf_buffer_check(&postings, err);
            if (st == GF_OK) st = gf_buffer_check(&key, err);
            if (st != GF_OK) break;
        }
        if (st == GF_OK) st = gf_buffer_check(&qualifier, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&qualifier), &cell, err);
    }
    gf_buffer_release(&cell);
    gf_buffer_release(&qualifier);
    gf_buffer_release(&key);
    gf_buffer_release(&postings);
    return st;
}

/* Cells of ids; their first ids are left in *firsts. */
static gf_status write_ids(const writing *w, gf_buffer *firsts, gf_put_cell *put, void *context,
                           gf_error *err)
{
    gf_buffer cell = {0}, qualifier = {0};
    gf_slice ids = gf_buffer_view(&w->ids), id;
    gf_status st = GF_OK;
    for (uint32_t from = 0; from < w->n && st == GF_OK; from += GF_INDEX_IDS) {
        gf_buffer_reset(&cell);
        gf_buffer_reset(&qualifier);
        gf_buffer_str(&qualifier, GF_INDEX_ID);
        gf_buffer_u32be(&qualifier, from / GF_INDEX_IDS);
        for (uint32_t i = from; i < w->n && i < from + GF_INDEX_IDS; i++) {
            gf_take_string(&ids, &id);
            gf_buffer_string(&cell, id);
            if (i == from) gf_buffer_string(firsts, id);
        }
        st = gf_buffer_check(&qualifier, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&qualifier), &cell, err);
    }
    gf_buffer_release(&cell);
    gf_buffer_release(&qualifier);
    return st == GF_OK ? gf_buffer_check(firsts, err) : st;
}

static gf_status write_head(const writing *w, gf_slice firsts, gf_put_cell *put, void *context,
                            gf_error *err)
{
    gf_buffer head = {0};
    uint32_t languages = 0;
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        languages += w->used[l];
    gf_buffer_byte(&head, GF_INDEX_FORMAT);
    gf_buffer_varint(&head, w->n);
    gf_buffer_varint(&head, w->words);
    gf_buffer_varint(&head, languages);
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        if (w->used[l]) gf_buffer_string(&head, gf_slice_str(l ? gf_language_at(l - 1)->name : ""));
    gf_buffer_varint(&head, (w->n + GF_INDEX_IDS - 1) / GF_INDEX_IDS);
    gf_buffer_slice(&head, firsts);
    gf_status st = put(context, GF_SLICE(GF_INDEX_HEAD), &head, err);
    gf_buffer_release(&head);
    return st;
}

static gf_status write_cells(writing *w, const sorted_term *terms, uint32_t n, gf_put_cell *put,
                             void *context, gf_error *err)
{
    gf_buffer firsts = {0};
    inverted v = {0};
    number_languages(w, terms, n);
    gf_status st = invert(w, n, &v, err);
    if (st == GF_OK) st = write_terms(w, terms, n, &v, put, context, err);
    release_inverted(&v);
    if (st == GF_OK) st = put(context, GF_SLICE(GF_INDEX_LENGTHS), &w->lengths, err);
    if (st == GF_OK) st = write_ids(w, &firsts, put, context, err);
    if (st == GF_OK) st = write_head(w, gf_buffer_view(&firsts), put, context, err);
    gf_buffer_release(&firsts);
    return st;
}

static void release(writing *w)
{
    for (unsigned i = 0; w->workers && i < w->n_workers; i++) {
        worker *k = &w->workers[i];
        if (!k->borrows) gf_analyser_free(k->analyser);
        gf_strings_release(&k->terms);
        for (size_t l = 0; k->known && l <= GF_LANGUAGES; l++)
            gf_free(k->known[l]);
        gf_free(k->known);
        gf_free(k->n_known);
        gf_free(k->place);
        gf_free(k->term);
        gf_free(k->count);
        gf_free(k->global);
        gf_buffer_release(&k->key);
    }
    gf_free(w->workers);
    for (size_t i = 0; i < w->n_chunks; i++)
        gf_buffer_release(&w->chunks[i].rows);
    gf_free(w->chunks);
    gf_buffer_release(&w->ids);
    gf_buffer_release(&w->lengths);
}

gf_status gf_write_search(const gf_job *j, gf_put_cell *put, void *context, gf_error *err)
{
    writing w = {.job = j, .n_workers = gf_pool_size(j->pool)};
    sorted_term *terms = NULL;
    uint32_t n = 0;
    w.workers = gf_calloc(w.n_workers, sizeof *w.workers);
    gf_status st = w.workers ? GF_OK : gf_fail_memory(err, "an index");
    if (st == GF_OK)
        st = gf_texts_each(j->store, j->snapshot, j->where, j->options->cancel, add_group, &w, err);
    if (st == GF_OK) st = sort_terms(&w, &terms, &n, err);
    if (st == GF_OK) st = write_cells(&w, terms, n, put, context, err);
    gf_free(terms);
    release(&w);
    return st;
}
