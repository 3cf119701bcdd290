/*
 * The words of a snapshot's documents -> the index that search reads.
 *
 *     note     which words there are, the mean length of a document: a walk over all
 *     order    the words by their bytes, each once: their numbers
 *     segment  its documents are inverted by chunks, each a task; then its cells are written: ids,
 *              lengths, postings of frequent terms, terms; each in parts that are tasks
 *     head     last
 *
 * A term is a language and a word: language * n_strings + the word's number.
 */
#include "engine/build/search_cells.h"

#include "base/memory.h"
#include "base/order.h"
#include "engine/index/search.h"

#include <stdatomic.h>

enum { NOTED = 1 << 15 /* documents of a task that notes their words */ };

typedef struct writing {
    const gf_index_cells *to;
    gf_indexed_words of;
    uint32_t n; /* documents */

    atomic_uchar *used;                   /* which words there are */
    uint32_t *number;                     /* of each of these */
    atomic_bool spoken[GF_LANGUAGES + 1]; /* languages that documents have, by index + 1 */
    uint32_t language[GF_LANGUAGES + 1];  /* their numbers in the index */
    atomic_ullong words;                  /* of all documents */
    gf_index_words_head head;
    gf_index_segment at;     /* that at hand; strings, languages and mean are of all */
    uint32_t first;          /* document of it */
    gf_inverting *inverting; /* by thread */
} writing;

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct note_task {
    writing *w;
    uint64_t words;
} note_task;

static gf_status note_row(void *context, uint32_t document, const gf_word_row *row, gf_error *err)
{
    (void)document, (void)err;
    note_task *t = context;
    for (uint32_t e = 0; e < row->n; e++) {
        t->words += row->count[e];
        atomic_store_explicit(&t->w->used[row->term[e]], 1, memory_order_relaxed);
    }
    if (row->n) atomic_store_explicit(&t->w->spoken[row->language], true, memory_order_relaxed);
    return GF_OK;
}

static gf_status note_words(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    writing *w = context;
    note_task t = {w, 0};
    uint32_t first = (uint32_t)i * NOTED, end = w->n - first > NOTED ? first + NOTED : w->n;
    gf_status st = gf_words_each(w->of.words, first, end, note_row, &t, err);
    atomic_fetch_add(&w->words, t.words);
    return st;
}

static gf_status begin_words(writing *w, gf_error *err)
{
    uint32_t n = gf_words_terms(w->of.words);
    w->used = gf_calloc(n, sizeof *w->used);
    w->number = gf_array(n, sizeof *w->number);
    return w->used && w->number ? GF_OK : gf_fail_memory(err, "an index");
}

/* Number the words that there are by their bytes. */
static gf_status order_words(writing *w, gf_error *err)
{
    const gf_words *words = w->of.words;
    uint32_t terms = gf_words_terms(words), most = 0, n = 0;
    for (uint32_t id = 0; id < terms; id++)
        most += w->used[id];
    uint32_t *own = gf_array(most, sizeof *own), *order = gf_array(most, sizeof *order);
    gf_slice *strings = gf_array(most, sizeof *strings);
    w->at.strings = gf_array(most, sizeof *w->at.strings);
    gf_status st =
        own && order && strings && w->at.strings ? GF_OK : gf_fail_memory(err, "an index");
    for (uint32_t id = 0; id < terms && st == GF_OK; id++) {
        if (!w->used[id]) continue;
        strings[n] = gf_words_term(words, id);
        own[n++] = id;
    }
    if (st == GF_OK) st = gf_order_slices(strings, n, order, err);
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        w->at.strings[i] = strings[order[i]];
        w->number[own[order[i]]] = i;
        w->at.n_strings++;
    }
    gf_free(own);
    gf_free(order);
    gf_free(strings);
    return st;
}

static gf_status number_terms(writing *w, gf_error *err)
{
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        if (w->spoken[l]) w->language[l] = w->at.n_languages++;
    w->at.mean = w->n ? (double)w->words / (double)w->n : 0;
    if ((uint64_t)w->at.n_languages * w->at.n_strings > UINT32_MAX - GF_INDEX_PART)
        return gf_fail(err, GF_ELIMIT, "too many words in an index");
    return GF_OK;
}

/* ---- a segment's documents, inverted --------------------------------------------------------- */

typedef struct chunk_task {
    writing *w;
    gf_inverting *v;
    uint32_t first; /* document */
} chunk_task;

static gf_status add_row(void *context, uint32_t document, const gf_word_row *row, gf_error *err)
{
    const chunk_task *t = context;
    writing *w = t->w;
    const uint32_t *number = w->number;
    uint32_t base = w->language[row->language] * w->at.n_strings;
    uint64_t words = 0;
    gf_status st = GF_OK;
    for (uint32_t e = 0; e < row->n && st == GF_OK; e++) {
        words += row->count[e];
        st = gf_inverting_add(t->v, base + number[row->term[e]], document - t->first, row->count[e],
                              err);
    }
    w->at.length[document - w->first] = words < UINT32_MAX ? (uint32_t)words : UINT32_MAX;
    return st;
}

static gf_status invert_chunk(void *context, size_t i, unsigned worker, gf_error *err)
{
    writing *w = context;
    uint32_t from = (uint32_t)i * w->at.shape.chunk, end = from + w->at.shape.chunk;
    chunk_task t = {w, &w->inverting[worker], w->first + from};
    if (end > w->at.m) end = w->at.m;
    gf_status st = gf_words_each(w->of.words, t.first, w->first + end, add_row, &t, err);
    uint32_t terms = w->at.n_languages * w->at.n_strings;
    return st == GF_OK ? gf_inverting_end(t.v, terms ? terms - 1 : 0, &w->at.pieces[i], err) : st;
}

/* ---- segments -------------------------------------------------------------------------------- */

static gf_status write_postings(writing *w, gf_error *err)
{
    uint32_t parts = gf_index_count(w->at.n_languages * w->at.n_strings, GF_INDEX_PART);
    bool any_long = w->at.m >= w->at.shape.is_long;
    gf_status st = GF_OK;
    w->at.heads = gf_calloc(parts, sizeof *w->at.heads);
    if (!w->at.heads) return gf_fail_memory(err, "an index");
    if (any_long) st = w->to->parts(w->to->context, gf_index_fill_frequent, &w->at, parts, err);
    if (st == GF_OK) st = w->to->parts(w->to->context, gf_index_fill_words, &w->at, parts, err);
    for (uint32_t i = 0; i < parts; i++)
        gf_buffer_release(&w->at.heads[i]);
    gf_free(w->at.heads);
    w->at.heads = NULL;
    return st;
}

static gf_status write_segment(writing *w, gf_pool *pool, const gf_cancel *cancel, gf_error *err)
{
    const gf_index_cells *to = w->to;
    w->first = w->at.segment * w->at.shape.segment;
    gf_status st = gf_index_segment_begin(&w->at, w->n, true, err);
    if (st == GF_OK) st = gf_pool_run(pool, w->at.n_chunks, invert_chunk, w, cancel, err);
    if (st == GF_OK)
        st = gf_index_write_ids(to, GF_INDEX_SEARCH, &w->of.ids, w->at.shape.segment, w->at.segment,
                                err);
    uint32_t lengths = gf_index_length_parts(w->at.m);
    if (st == GF_OK) st = to->parts(to->context, gf_index_fill_lengths, &w->at, lengths, err);
    if (st == GF_OK) st = write_postings(w, err);
    gf_index_segment_end(&w->at);
    return st;
}

static gf_status fill_head(void *of, uint32_t part, gf_index_put_cell *put, void *context,
                           gf_error *err)
{
    (void)part;
    const writing *w = of;
    gf_buffer head = {0};
    gf_index_write_head(&w->head, &head);
    gf_index_first_ids(&w->of.ids, w->at.shape.segment, &head);
    gf_status st = put(context, GF_SLICE(GF_INDEX_SEARCH "h"), &head, err);
    gf_buffer_release(&head);
    return st;
}

static void tell_head(writing *w)
{
    w->head = (gf_index_words_head){w->n, w->words, w->at.shape, {false}};
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        w->head.spoken[l] = w->spoken[l];
}

/* Ids and the head, where ranks have made all else. */
static gf_status write_around(const gf_build_gathered *d, const gf_index_cells *to, gf_error *err)
{
    writing w = {.head = d->cells.head,
                 .at.shape = d->cells.head.shape,
                 .of.ids = {d->n, d->id_start, d->ids.ptr}};
    uint32_t segments = gf_index_count(d->n, w.at.shape.segment);
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < segments && st == GF_OK; i++)
        st = gf_index_write_ids(to, GF_INDEX_SEARCH, &w.of.ids, w.at.shape.segment, i, err);
    return st == GF_OK ? to->parts(to->context, fill_head, &w, 1, err) : st;
}

static void release_writing(writing *w, unsigned threads)
{
    for (unsigned i = 0; w->inverting && i < threads; i++)
        gf_inverting_release(&w->inverting[i]);
    gf_free(w->used);
    gf_free(w->number);
    gf_free(w->at.strings);
    gf_free(w->inverting);
    gf_indexed_words_release(&w->of);
}

gf_status gf_build_write_search_cells(const gf_build_plan *plan, gf_pool *pool,
                                      gf_build_gathered *documents, const gf_index_cells *to,
                                      bool *of_gathered, gf_error *err)
{
    const gf_cancel *cancel = plan->options->cancel;
    writing w = {.to = to, .at.shape = gf_index_shape_now()};
    bool by_ranks = documents->cells.of.index_of_words;
    *of_gathered = by_ranks || documents->words;
    if (by_ranks) return write_around(documents, to, err);
    gf_status st = gf_build_take_words(plan, pool, documents, &w.of, err);
    if (st == GF_OK) w.inverting = gf_calloc(gf_pool_size(pool), sizeof *w.inverting);
    if (st == GF_OK && !w.inverting) st = gf_fail_memory(err, "an index");
    if (st == GF_OK) st = gf_words_load_terms(w.of.words, err);
    if (st == GF_OK) st = begin_words(&w, err);
    if (st == GF_OK) {
        w.n = gf_words_documents(w.of.words);
        st = gf_pool_run(pool, gf_index_count(w.n, NOTED), note_words, &w, cancel, err);
    }
    if (st == GF_OK) st = order_words(&w, err);
    if (st == GF_OK) st = number_terms(&w, err);
    uint32_t segments = gf_index_count(w.n, w.at.shape.segment);
    for (; st == GF_OK && w.at.segment < segments; w.at.segment++) {
        gf_build_plan_progress(plan, "indexing", w.at.segment * (uint64_t)w.at.shape.segment, w.n);
        st = write_segment(&w, pool, cancel, err);
    }
    tell_head(&w);
    if (st == GF_OK) st = to->parts(to->context, fill_head, &w, 1, err);
    release_writing(&w, gf_pool_size(pool));
    return st;
}
