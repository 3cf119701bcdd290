/*
 * The second half of a vectorizer: from counted documents to weighted rows. Five steps over chunks,
 * each in parallel:
 *
 *     list      the dictionary's terms, with document frequencies
 *     number    regular terms get columns
 *     survey    each row's kind and length; what rescued rows have is counted and numbered
 *     fill      columns sorted, weights, norm
 *     describe  the vocabulary, with the commonest form of each term
 *
 * Where the documents are dealt to ranks, each does this with its own, and terms are numbered and
 * described together (shared_terms_internal.h).
 */
#include "base/memory.h"
#include "base/row_file.h"
#include "vectorize/rows/counted_rows_internal.h"
#include "vectorize/rows/shared_terms_internal.h"
#include "vectorize/rows/sort_entries_internal.h"
#include "vectorize/rows/surface_forms_internal.h"

typedef struct finisher {
    const gf_vectorizer *v;
    const gf_cancel *cancel;
    bool by_ranks;
    gf_ranks *ranks;           /* then; NULL: one alone */
    gf_shared_terms shared;    /* then: the columns of all */
    gf_dictionary *dictionary; /* NULL: there is no document */
    gf_found_terms terms;
    gf_numbering numbering;
    gf_forms forms;
    uint32_t *rescue_rows; /* terms.n: rescued rows that have the term */
    gf_vectors out;
} finisher;

static gf_status run(finisher *f, size_t n, gf_pool_task *task, gf_error *err)
{
    return gf_pool_run(f->v->pool, n, task, f, f->cancel, err);
}

/* ---- list ------------------------------------------------------------------------------------ */

/* A worker's counts go to the dictionary. */
static gf_status settle(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    finisher *f = context;
    if (f->v->workers[index]) gf_document_counts_settle(f->v->workers[index]);
    return GF_OK;
}

/* The terms of a shard. */
static gf_status list_shard(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    finisher *f = context;
    const gf_dictionary *d = f->dictionary;
    for (uint32_t i = 0; i < f->terms.n >> d->bits; i++) {
        uint32_t id = i << d->bits | (uint32_t)index;
        bool there = i < d->terms[index].strings.n;
        f->terms.term[id] =
            there ? gf_strings_at(&d->terms[index].strings, i) : (gf_slice){NULL, 0};
        f->terms.df[id] = there ? gf_tallies_at(&d->documents, id) : 0;
    }
    return GF_OK;
}

static gf_status list_terms(finisher *f, gf_error *err)
{
    gf_dictionary *d = f->dictionary = gf_vectorizer_dictionary(f->v);
    uint32_t n = f->terms.n = d ? gf_dictionary_ids(d) : 0;
    f->terms.term = gf_array(n, sizeof *f->terms.term);
    f->terms.df = gf_array(n, sizeof *f->terms.df);
    if (!f->terms.term || !f->terms.df) return gf_fail_memory(err, "the terms");
    gf_status st = run(f, f->v->n_workers, settle, err);
    return st == GF_OK && d ? run(f, (size_t)1 << d->bits, list_shard, err) : st;
}

/* ---- survey ---------------------------------------------------------------------------------- */

/* The regular terms among a row's n entries; *p moves behind them. */
static uint32_t count_regular(const finisher *f, const unsigned char **p, uint32_t n)
{
    uint32_t regular = 0, count;
    for (uint32_t i = 0; i < n; i++)
        regular += f->numbering.column[gf_rows_entry(p, &count)] < f->numbering.n_regular;
    return regular;
}

static void count_rescued(finisher *f, const unsigned char *p, uint32_t n)
{
    uint32_t count;
    for (uint32_t i = 0; i < n; i++)
        __atomic_fetch_add(&f->rescue_rows[gf_rows_entry(&p, &count)], 1, __ATOMIC_RELAXED);
}

static void survey_chunk(finisher *f, const gf_chunk *chunk, const unsigned char *p)
{
    for (uint32_t row = chunk->first; row < chunk->first + chunk->n; row++) {
        uint32_t tier, n = gf_rows_head(&p, &tier);
        const unsigned char *entries = p;
        uint32_t regular = count_regular(f, &p, n);
        gf_row_kind kind = tier == GF_TIER_NONE                   ? GF_ROW_EMPTY
                           : tier == GF_TIER_TERMS && regular > 0 ? GF_ROW_PLAIN
                                                                  : GF_ROW_RESCUED;
        if (kind == GF_ROW_RESCUED) count_rescued(f, entries, n);
        f->out.kind[row] = (uint8_t)kind;
        f->out.x.start[row + 1] = kind == GF_ROW_PLAIN ? regular : n;
    }
}

static gf_status survey(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker;
    finisher *f = context;
    const gf_chunk *chunk = &f->v->chunks[index];
    gf_buffer room = {0};
    const unsigned char *p;
    gf_status st = gf_vectorizer_chunk_rows(f->v, chunk, &room, &p, err);
    if (st == GF_OK) survey_chunk(f, chunk, p);
    gf_buffer_release(&room);
    return st;
}

/* Row lengths become row starts, and there is room for the entries. */
static gf_status make_room(finisher *f, gf_error *err)
{
    gf_csr *x = &f->out.x;
    x->start[0] = 0;
    for (uint32_t row = 0; row < x->n_rows; row++) {
        x->start[row + 1] += x->start[row];
        f->out.n_rescued += f->out.kind[row] == GF_ROW_RESCUED;
        f->out.n_empty += f->out.kind[row] == GF_ROW_EMPTY;
    }
    x->n_cols = f->numbering.n_terms;
    if (f->v->spill) return gf_spill_create(f->v->folder, &f->out.entries, err);
    x->col = gf_array_large(x->start[x->n_rows], sizeof *x->col);
    x->val = gf_array_large(x->start[x->n_rows], sizeof *x->val);
    return x->col && x->val ? GF_OK : gf_fail_memory(err, "the rows");
}

/* ---- fill ------------------------------------------------------------------------------------ */

/* One task's memory. */
typedef struct scratch {
    uint64_t *entries; /* 2 * capacity: column << 32 | count, and room for sorting them */
    uint32_t *counts;  /* capacity */
    size_t capacity;
} scratch;

static gf_status reserve(scratch *s, size_t n, gf_error *err)
{
    if (n <= s->capacity) return GF_OK;
    size_t capacity = s->capacity * 2 > n ? s->capacity * 2 : n;
    uint64_t *entries = gf_realloc(s->entries, capacity * 2, sizeof *entries);
    if (entries) s->entries = entries;
    uint32_t *counts = entries ? gf_realloc(s->counts, capacity, sizeof *counts) : NULL;
    if (counts) s->counts = counts;
    if (!counts) return gf_fail_memory(err, "the rows");
    s->capacity = capacity;
    return GF_OK;
}

/* Reads a row's n entries from *p; keeps those of its kind, sorted by column. */
static uint64_t read_row(const finisher *f, const unsigned char **p, uint32_t n, gf_row_kind kind,
                         scratch *s)
{
    const uint32_t *column = f->numbering.column;
    uint64_t length = 0;
    uint32_t kept = 0, most = kind == GF_ROW_PLAIN ? f->numbering.n_regular : f->numbering.n_terms;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count, c = column[gf_rows_entry(p, &count)];
        length += count;
        if (c < most) s->entries[kept++] = (uint64_t)c << 32 | count;
    }
    if (kept) gf_sort_entries_by_high(s->entries, kept, s->entries + s->capacity, most);
    return length;
}

/* Destination of a chunk's entries: the matrix itself, or room of the chunk's own. */
typedef struct piece {
    uint32_t *col;
    float *val;
    uint64_t first; /* entry of the matrix that stands first in it */
} piece;

static void write_row(const finisher *f, const piece *to, uint32_t row, uint64_t length, scratch *s)
{
    const gf_csr *x = &f->out.x;
    uint64_t at = x->start[row] - to->first;
    uint32_t n = (uint32_t)(x->start[row + 1] - x->start[row]);
    const double *all = f->by_ranks ? f->shared.idf : f->out.vocabulary.idf;
    const double *idf = f->out.kind[row] == GF_ROW_PLAIN ? all : NULL;
    for (uint32_t i = 0; i < n; i++) {
        to->col[at + i] = (uint32_t)(s->entries[i] >> 32);
        s->counts[i] = (uint32_t)s->entries[i];
    }
    gf_weights_weigh_row(&f->v->options.weights, idf, to->col + at, s->counts, n, length,
                         to->val + at);
}

static gf_status fill_piece(const finisher *f, const gf_chunk *chunk, const unsigned char *p,
                            const piece *to, gf_error *err)
{
    scratch s = {0};
    gf_status st = GF_OK;
    for (uint32_t row = chunk->first; row < chunk->first + chunk->n && st == GF_OK; row++) {
        uint32_t tier, n = gf_rows_head(&p, &tier);
        st = reserve(&s, n, err);
        if (st != GF_OK) break;
        uint64_t length = read_row(f, &p, n, (gf_row_kind)f->out.kind[row], &s);
        write_row(f, to, row, length, &s);
    }
    gf_free(s.entries);
    gf_free(s.counts);
    return st;
}

/* Through memory of the chunk's own into the file. */
static gf_status fill_file(const finisher *f, const gf_chunk *chunk, gf_error *err)
{
    const gf_csr *x = &f->out.x;
    gf_buffer room = {0};
    const unsigned char *p;
    piece to = {.first = x->start[chunk->first]};
    uint64_t n = x->start[chunk->first + chunk->n] - to.first;
    to.col = gf_array(n, sizeof *to.col);
    to.val = gf_array(n, sizeof *to.val);
    gf_status st = to.col && to.val ? GF_OK : gf_fail_memory(err, "the rows");
    if (st == GF_OK) st = gf_vectorizer_chunk_rows(f->v, chunk, &room, &p, err);
    if (st == GF_OK) st = fill_piece(f, chunk, p, &to, err);
    if (st == GF_OK)
        st = gf_row_file_write(f->out.entries, x->start[x->n_rows], to.first, n, to.col, to.val,
                               err);
    gf_free(to.col);
    gf_free(to.val);
    gf_buffer_release(&room);
    return st;
}

static gf_status fill(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker;
    finisher *f = context;
    const gf_chunk *chunk = &f->v->chunks[index];
    const piece whole = {f->out.x.col, f->out.x.val, 0};
    if (f->out.entries) return fill_file(f, chunk, err);
    return fill_piece(f, chunk, (const unsigned char *)chunk->rows.ptr, &whole, err);
}

/* ---- describe -------------------------------------------------------------------------------- */

static gf_status describe(finisher *f, gf_error *err)
{
    const gf_numbering *numbering = &f->numbering;
    gf_status st = gf_surface_forms_choose(f->v->pool, f->dictionary, &f->terms, numbering,
                                           &f->forms, f->cancel, err);
    if (st != GF_OK) return st;
    gf_slice *term = gf_array(numbering->n_terms, sizeof *term);
    uint32_t *df = gf_array(numbering->n_terms, sizeof *df);
    if (!term || !df) st = gf_fail_memory(err, "a vocabulary");
    for (uint32_t i = 0; i < numbering->n_terms && st == GF_OK; i++) {
        uint32_t id = numbering->id[i];
        term[i] = f->terms.term[id];
        df[i] = i < numbering->n_regular ? f->terms.df[id] : f->rescue_rows[id];
    }
    gf_vocabulary_parts parts = {.n_docs = f->v->n_docs,
                                 .n_terms = numbering->n_terms,
                                 .n_regular = numbering->n_regular,
                                 .idf_kind = f->v->options.weights.idf,
                                 .df = df,
                                 .term = term,
                                 .surface = f->forms.form};
    if (st == GF_OK) st = gf_vocabulary_init(&f->out.vocabulary, &parts, err);
    gf_free(term);
    gf_free(df);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static gf_status allocate(finisher *f, gf_error *err)
{
    f->rescue_rows = gf_calloc(f->terms.n, sizeof *f->rescue_rows);
    f->out.x.n_rows = f->v->n_docs;
    f->out.x.start = gf_array((size_t)f->v->n_docs + 1, sizeof *f->out.x.start);
    f->out.kind = gf_array(f->v->n_docs, sizeof *f->out.kind);
    bool all = f->rescue_rows && f->out.x.start && f->out.kind;
    return all ? GF_OK : gf_fail_memory(err, "the rows");
}

static gf_status number_regular(finisher *f, gf_error *err)
{
    const gf_vectorizer *v = f->v;
    return f->by_ranks
               ? gf_shared_terms_number(f->ranks, &v->options, v->n_docs, f->dictionary, &f->terms,
                                        &f->shared, &f->numbering, err)
               : gf_number_terms_regular(&v->options, v->n_docs, &f->terms, &f->numbering, err);
}

static gf_status number_rescue(finisher *f, gf_error *err)
{
    return f->by_ranks ? gf_shared_terms_rescue(f->ranks, f->dictionary, &f->terms, f->rescue_rows,
                                                &f->shared, &f->numbering, err)
                       : gf_number_terms_rescue(&f->terms, f->rescue_rows, &f->numbering, err);
}

static gf_status finish(finisher *f, gf_error *err)
{
    const gf_vectorizer *v = f->v;
    gf_status st = list_terms(f, err);
    if (st == GF_OK) st = allocate(f, err);
    if (st == GF_OK) st = number_regular(f, err);
    if (st == GF_OK) st = run(f, v->n_chunks, survey, err);
    if (st == GF_OK) st = number_rescue(f, err);
    if (st == GF_OK) st = make_room(f, err);
    if (st == GF_OK && f->by_ranks)
        st = gf_shared_terms_describe(f->ranks, f->dictionary, v->options.weights.idf,
                                      &f->numbering, &f->shared, &f->out.vocabulary, err);
    else if (st == GF_OK)
        st = describe(f, err);
    if (st == GF_OK) st = run(f, v->n_chunks, fill, err);
    return st;
}

static void release(finisher *f)
{
    gf_shared_terms_release(&f->shared);
    gf_free(f->rescue_rows);
    gf_surface_forms_release(&f->forms);
    gf_number_terms_release(&f->numbering);
    gf_free(f->terms.term);
    gf_free(f->terms.df);
}

static gf_status finish_and_release(finisher *f, gf_vectors *vectors, gf_error *err)
{
    if (f->v->failed != GF_OK)
        return gf_fail(err, f->v->failed, "an earlier group of texts failed");
    gf_status st = finish(f, err);
    release(f);
    if (st == GF_OK)
        *vectors = f->out;
    else
        gf_vectors_release(&f->out);
    return st;
}

gf_status gf_vectorizer_finish(gf_vectorizer *v, gf_vectors *vectors, const gf_cancel *cancel,
                               gf_error *err)
{
    finisher f = {.v = v, .cancel = cancel};
    return finish_and_release(&f, vectors, err);
}

gf_status gf_vectorizer_finish_by_ranks(gf_vectorizer *v, gf_ranks *ranks, gf_vectors *vectors,
                                        gf_error *err)
{
    finisher f = {.v = v, .by_ranks = true, .ranks = ranks};
    return finish_and_release(&f, vectors, err);
}
