/*
 * The indexes of a build's documents (engine/rows/index_cells.h), made by the ranks that have their words and
 * their rows:
 *
 *     note      words of all ranks in the order of their bytes, which rank 0 numbers; their sums
 *     deal      chunk by chunk each rank gives the postings of its documents to the terms' owners: those
 *               of a part of 4,096 terms to rank part % n
 *     invert    what came, document by document
 *     cells     each rank makes those of its parts, which go to the holder in the order of the parts
 *
 * A posting on its way is the term's place among those of its owner and 1, and the value (varints); a
 * document's end with 0, and begin with its number of words.
 *
 * Cells depend on the documents alone, and not on how many ranks there are.
 */
#include "base/lower_bound.h"
#include "base/memory.h"
#include "base/order.h"
#include "engine/index/similar.h"
#include "engine/ranks/serve_internal.h"
#include "grouperfish/table.h"

#include <stdatomic.h>

typedef gf_ranks_serving_job rank_job;

enum {
    NOTED = 1 << 15, /* documents of a task that notes their words */
    VARINT = 5       /* bytes of a number of 32 bits, at most */
};

typedef struct indexing {
    rank_job *j;
    const gf_ranks_indexed_documents *of;
    unsigned n, me;           /* ranks */
    uint64_t *first_of_round; /* n_rounds + 1: its first document, of all */
    uint32_t *number;         /* own documents: their numbers among all */
    uint32_t own, documents;  /* this rank's; of all */
    gf_buffer *from, *to;     /* n */
    gf_slice *view;           /* n */

    /* Words. */
    atomic_uchar *used; /* which of this rank's there are */
    uint32_t *of_word;  /* their numbers */
    atomic_ullong words;
    atomic_bool spoken[GF_LANGUAGES + 1];
    uint32_t language[GF_LANGUAGES + 1]; /* their numbers in the index */
    gf_buffer bytes;                     /* strings of all ranks' words, that at.strings are of */

    /* The segment at hand. */
    bool of_rows; /* and not of words */
    gf_index_segment at;
    uint32_t first, terms;   /* its first document; of all documents */
    gf_inverting *inverting; /* by thread */

    /* Chunks at hand: at the same place of each array. */
    uint32_t chunk, n_chunks; /* the first one, of the segment; up to at_once */
    uint32_t at_once;         /* the same for all ranks: the mean of their threads, rounded up */
    gf_buffer *packed;        /* by chunk and rank: what goes to each */
    gf_slice *came;           /* likewise: what came of each */
} indexing;

/* ---- documents ------------------------------------------------------------------------------- */

static uint32_t of_round(const indexing *x, size_t round, unsigned rank)
{
    return x->of->rounds[(size_t)rank * x->of->n_rounds + round];
}

static gf_status number_documents(indexing *x, gf_error *err)
{
    size_t rounds = x->of->n_rounds;
    uint64_t number = 0;
    x->first_of_round = gf_array(rounds + 1, sizeof *x->first_of_round);
    for (size_t i = 0; i < rounds; i++)
        x->own += of_round(x, i, x->me);
    x->number = gf_array(x->own, sizeof *x->number);
    if (!x->first_of_round || !x->number) return gf_fail_memory(err, "an index");
    uint32_t own = 0;
    for (size_t i = 0; i < rounds; i++) {
        x->first_of_round[i] = number;
        for (unsigned r = 0; r < x->n; r++) {
            uint32_t m = of_round(x, i, r);
            if (number + m >= UINT32_MAX) return gf_fail(err, GF_ELIMIT, "too many documents");
            for (uint32_t d = 0; r == x->me && d < m; d++)
                x->number[own++] = (uint32_t)number + d;
            number += m;
        }
    }
    x->first_of_round[rounds] = number;
    x->documents = (uint32_t)number;
    return GF_OK;
}

/* This rank's first document whose number is not below. */
static uint32_t find_own(const indexing *x, uint32_t number)
{
    return gf_lower_bound(x->number, x->own, number);
}

/* A document's place: which rank has it. */
typedef struct place {
    size_t round;
    unsigned rank;
    uint32_t left; /* documents of that rank and round from here on */
} place;

static place find_place(const indexing *x, uint32_t number)
{
    size_t from = 0, to = x->of->n_rounds;
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;
        if (x->first_of_round[middle] <= number)
            from = middle;
        else
            to = middle;
    }
    place p = {from, 0, 0};
    uint64_t before = number - x->first_of_round[from];
    for (; before >= of_round(x, from, p.rank); p.rank++)
        before -= of_round(x, from, p.rank);
    p.left = of_round(x, from, p.rank) - (uint32_t)before;
    return p;
}

/* The rank that has the next document, and on to the one behind it. */
static unsigned take_place(const indexing *x, place *p)
{
    while (p->left == 0) {
        if (++p->rank == x->n) {
            p->rank = 0;
            p->round++;
        }
        p->left = of_round(x, p->round, p->rank);
    }
    p->left--;
    return p->rank;
}

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct note_task {
    indexing *x;
    uint64_t words;
} note_task;

static gf_status note_row(void *context, uint32_t document, const gf_word_row *row, gf_error *err)
{
    (void)document, (void)err;
    note_task *t = context;
    for (uint32_t e = 0; e < row->n; e++) {
        t->words += row->count[e];
        atomic_store_explicit(&t->x->used[row->term[e]], 1, memory_order_relaxed);
    }
    if (row->n) atomic_store_explicit(&t->x->spoken[row->language], true, memory_order_relaxed);
    return GF_OK;
}

static gf_status note_words(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    indexing *x = context;
    note_task t = {x, 0};
    uint32_t first = (uint32_t)i * NOTED, end = x->own - first > NOTED ? first + NOTED : x->own;
    gf_status st = gf_words_each(x->of->words, first, end, note_row, &t, err);
    atomic_fetch_add(&x->words, t.words);
    return st;
}

/* Sums of all ranks: words, and which languages there are. */
static gf_status add_up(indexing *x, gf_ranks_indexed *head, gf_error *err)
{
    uint64_t sums[GF_LANGUAGES + 2] = {x->words};
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        sums[l + 1] = x->spoken[l];
    gf_status st = gf_ranks_sum(x->j->by->ranks, sums, GF_LANGUAGES + 2, err);
    if (st != GF_OK) return st;
    head->words = sums[0];
    for (size_t l = 0; l <= GF_LANGUAGES; l++) {
        if (sums[l + 1] == 0) continue;
        head->spoken |= UINT64_C(1) << l;
        x->language[l] = x->at.n_languages++;
    }
    x->at.mean = x->documents ? (double)head->words / x->documents : 0;
    return GF_OK;
}

/* Words in the order of their bytes. */
typedef struct ordered_words {
    gf_slice *strings; /* n */
    uint32_t *order, *id, n;
} ordered_words;

static void release_ordered(ordered_words *o)
{
    gf_free(o->strings);
    gf_free(o->order);
    gf_free(o->id);
}

/* The words that this rank's documents have. */
static gf_status order_own(const indexing *x, ordered_words *o, gf_error *err)
{
    uint32_t n = gf_words_terms(x->of->words), m = 0;
    for (uint32_t id = 0; id < n; id++)
        m += x->used[id];
    o->strings = gf_array(m, sizeof *o->strings);
    o->order = gf_array(m, sizeof *o->order);
    o->id = gf_array(m, sizeof *o->id);
    if (!o->strings || !o->order || !o->id) return gf_fail_memory(err, "an index");
    for (uint32_t id = 0; id < n; id++) {
        if (!x->used[id]) continue;
        o->strings[o->n] = gf_words_term(x->of->words, id);
        o->id[o->n++] = id;
    }
    return gf_order_slices(o->strings, o->n, o->order, err);
}

/* At rank 0: words of all ranks, each once. */
static gf_status join_words(indexing *x, gf_error *err)
{
    ordered_words o = {.n = 0};
    size_t n = 0, m = 0;
    gf_slice word, before = {NULL, 0};
    for (unsigned r = 0; r < x->n; r++)
        for (gf_slice s = gf_buffer_view(&x->from[r]); gf_slice_take_string(&s, &word);)
            n++;
    if (n > UINT32_MAX) return gf_fail(err, GF_ELIMIT, "too many words in an index");
    o.strings = gf_array(n, sizeof *o.strings);
    o.order = gf_array(n, sizeof *o.order);
    gf_status st = o.strings && o.order ? GF_OK : gf_fail_memory(err, "an index");
    for (unsigned r = 0; r < x->n && st == GF_OK; r++)
        for (gf_slice s = gf_buffer_view(&x->from[r]); gf_slice_take_string(&s, &word);)
            o.strings[m++] = word;
    if (st == GF_OK) st = gf_order_slices(o.strings, (uint32_t)n, o.order, err);
    gf_buffer_reset(&x->bytes);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        word = o.strings[o.order[i]];
        if (i == 0 || !gf_slice_equal(word, before)) gf_buffer_string(&x->bytes, word);
        before = word;
    }
    release_ordered(&o);
    return st == GF_OK ? gf_buffer_check(&x->bytes, err) : st;
}

/* The strings of x->bytes, and the numbers of this rank's words among them. */
static gf_status number_words(indexing *x, const ordered_words *own, gf_error *err)
{
    gf_slice s = gf_buffer_view(&x->bytes), word;
    uint32_t n = 0, at = 0;
    while (gf_slice_take_string(&s, &word))
        n++;
    x->at.strings = gf_array(n, sizeof *x->at.strings);
    x->of_word = gf_array(gf_words_terms(x->of->words), sizeof *x->of_word);
    if (!x->at.strings || !x->of_word) return gf_fail_memory(err, "an index");
    for (s = gf_buffer_view(&x->bytes); gf_slice_take_string(&s, &word);) {
        if (at < own->n && gf_slice_equal(own->strings[own->order[at]], word))
            x->of_word[own->id[own->order[at++]]] = x->at.n_strings;
        x->at.strings[x->at.n_strings++] = word;
    }
    if (at != own->n) return gf_ranks_serve_fail_message(err);
    if ((uint64_t)x->at.n_languages * n > UINT32_MAX - GF_INDEX_PART)
        return gf_fail(err, GF_ELIMIT, "too many words in an index");
    x->terms = x->at.n_languages * n;
    return GF_OK;
}

static gf_status share_words(indexing *x, gf_error *err)
{
    gf_ranks *ranks = x->j->by->ranks;
    ordered_words own = {.n = 0};
    gf_buffer mine = {0};
    gf_status st = order_own(x, &own, err);
    for (uint32_t i = 0; i < own.n && st == GF_OK; i++)
        gf_buffer_string(&mine, own.strings[own.order[i]]);
    if (st == GF_OK) st = gf_buffer_check(&mine, err);
    if (st == GF_OK) st = gf_ranks_gather(ranks, 0, gf_buffer_view(&mine), x->from, err);
    gf_buffer_release(&mine);
    if (st == GF_OK && gf_ranks_serve_is_first(x->j)) st = join_words(x, err);
    for (unsigned r = 0; r < x->n; r++)
        gf_buffer_release(&x->from[r]);
    if (st == GF_OK) st = gf_ranks_send_all(ranks, 0, &x->bytes, err);
    if (st == GF_OK) st = number_words(x, &own, err);
    release_ordered(&own);
    return st;
}

static gf_status begin_words(indexing *x, gf_ranks_indexed *head, gf_error *err)
{
    gf_words *words = x->of->words;
    gf_status st = gf_words_load_terms(words, err);
    if (st != GF_OK) return st;
    x->used = gf_calloc(gf_words_terms(words), sizeof *x->used);
    if (!x->used) return gf_fail_memory(err, "an index");
    st = gf_pool_run(x->j->by->pool, gf_index_count(x->own, NOTED), note_words, x, NULL, err);
    if (st == GF_OK) st = add_up(x, head, err);
    return st == GF_OK ? share_words(x, err) : st;
}

/* ---- postings go to the owners of their terms -------------------------------------------------- */

/* A chunk that is being packed: buffers by rank. */
typedef struct packing {
    const indexing *x;
    gf_buffer *out; /* n */
} packing;

static char *put_number(char *to, uint32_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (char)(v | 0x80);
    *to++ = (char)v;
    return to;
}

/* Room for one more document of so many postings, and how many words it has. */
static gf_status begin_document(const packing *p, uint32_t postings, uint32_t words, gf_error *err)
{
    for (unsigned r = 0; r < p->x->n; r++) {
        gf_buffer *out = &p->out[r];
        char *to = gf_buffer_reserve(out, ((size_t)postings + 1) * 2 * VARINT);
        if (!to) return gf_fail_memory(err, "an index");
        out->len += (size_t)(put_number(to, words) - to);
    }
    return GF_OK;
}

static void put_posting(const packing *p, uint32_t term, uint32_t value)
{
    uint32_t part = term / GF_INDEX_PART, n = p->x->n;
    gf_buffer *out = &p->out[part % n];
    char *to = out->ptr + out->len;
    to = put_number(to, part / n * GF_INDEX_PART + term % GF_INDEX_PART + 1);
    out->len = (size_t)(put_number(to, value) - out->ptr);
}

static void end_document(const packing *p)
{
    for (unsigned r = 0; r < p->x->n; r++)
        p->out[r].ptr[p->out[r].len++] = 0;
}

static gf_status pack_words(void *context, uint32_t document, const gf_word_row *row, gf_error *err)
{
    (void)document;
    const packing *p = context;
    uint32_t base = p->x->language[row->language] * p->x->at.n_strings;
    uint64_t words = 0;
    for (uint32_t e = 0; e < row->n; e++)
        words += row->count[e];
    gf_status st =
        begin_document(p, row->n, words < UINT32_MAX ? (uint32_t)words : UINT32_MAX, err);
    if (st != GF_OK) return st;
    for (uint32_t e = 0; e < row->n; e++)
        put_posting(p, base + p->x->of_word[row->term[e]], row->count[e]);
    end_document(p);
    return GF_OK;
}

static gf_status pack_rows(const packing *p, uint32_t first, uint32_t end, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = first; i < end && st == GF_OK; i++) {
        gf_row_view row = gf_csr_row(p->x->of->rows, i);
        st = begin_document(p, row.n, 0, err);
        for (uint32_t e = 0; e < row.n && st == GF_OK; e++)
            put_posting(p, row.col[e], gf_index_weight(row.val[e]));
        if (st == GF_OK) end_document(p);
    }
    return st;
}

/* Documents of the i-th chunk at hand: first .. end - 1 of all. */
static void chunk_of(const indexing *x, size_t i, uint32_t *first, uint32_t *end)
{
    uint32_t from = (x->chunk + (uint32_t)i) * x->at.shape.chunk, left = x->at.m - from;
    *first = x->first + from;
    *end = *first + (left < x->at.shape.chunk ? left : x->at.shape.chunk);
}

static gf_status pack_chunk(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    const indexing *x = context;
    packing p = {x, x->packed + i * x->n};
    uint32_t first, end;
    chunk_of(x, i, &first, &end);
    first = find_own(x, first);
    end = find_own(x, end);
    for (unsigned r = 0; r < x->n; r++)
        gf_buffer_reset(&p.out[r]);
    return x->of_rows ? pack_rows(&p, first, end, err)
                      : gf_words_each(x->of->words, first, end, pack_words, &p, err);
}

/* Bytes that were packed for each rank go there, and those that came are found again. */
static gf_status deal_chunks(indexing *x, gf_error *err)
{
    gf_status st = GF_OK;
    for (unsigned r = 0; r < x->n && st == GF_OK; r++) {
        gf_buffer_reset(&x->to[r]);
        for (uint32_t i = 0; i < x->n_chunks; i++)
            gf_buffer_string(&x->to[r], gf_buffer_view(&x->packed[(size_t)i * x->n + r]));
        st = gf_buffer_check(&x->to[r], err);
        x->view[r] = gf_buffer_view(&x->to[r]);
    }
    if (st == GF_OK) st = gf_ranks_deal(x->j->by->ranks, x->view, x->from, err);
    for (unsigned r = 0; r < x->n && st == GF_OK; r++) {
        gf_slice s = gf_buffer_view(&x->from[r]);
        for (uint32_t i = 0; i < x->n_chunks && st == GF_OK; i++)
            if (!gf_slice_take_string(&s, &x->came[(size_t)i * x->n + r]))
                st = gf_ranks_serve_fail_message(err);
        if (st == GF_OK && s.len) st = gf_ranks_serve_fail_message(err);
    }
    return st;
}

/* ---- and are inverted there -------------------------------------------------------------------- */

/* The next number of 32 bits; false where there is none. Most are a byte, and there are many. */
static inline bool take_number(gf_slice *s, uint32_t *v)
{
    if (s->len && (unsigned char)*s->ptr < 0x80) {
        *v = (unsigned char)*s->ptr++;
        s->len--;
        return true;
    }
    return gf_slice_take_varint32(s, v);
}

/* Likewise, of one byte or two. */
static inline bool take_two(gf_slice *s, uint32_t *v)
{
    if (s->len < 2 || !((unsigned char)s->ptr[0] & 0x80) || (unsigned char)s->ptr[1] & 0x80)
        return take_number(s, v);
    *v = ((unsigned char)s->ptr[0] & 0x7fu) | (uint32_t)(unsigned char)s->ptr[1] << 7;
    s->ptr += 2;
    s->len -= 2;
    return true;
}

/* How many words a document has, and its postings. */
static gf_status add_document(const indexing *x, gf_inverting *v, gf_slice *s, uint32_t document,
                              uint32_t *words, gf_error *err)
{
    uint32_t at, value;
    gf_status st = GF_OK;
    if (!take_number(s, words)) return gf_ranks_serve_fail_message(err);
    while (st == GF_OK) {
        if (!take_two(s, &at)) return gf_ranks_serve_fail_message(err);
        if (at-- == 0) return GF_OK;
        uint64_t part = (uint64_t)(at / GF_INDEX_PART) * x->n + x->me;
        uint64_t term = part * GF_INDEX_PART + at % GF_INDEX_PART;
        if (term >= x->terms || !take_two(s, &value) || value == 0)
            return gf_ranks_serve_fail_message(err);
        st = gf_inverting_add(v, (uint32_t)term, document, value, err);
    }
    return st;
}

static gf_status invert_chunk(void *context, size_t i, unsigned worker, gf_error *err)
{
    indexing *x = context;
    gf_inverting *v = &x->inverting[worker];
    gf_slice *came = x->came + i * x->n;
    uint32_t first, end;
    chunk_of(x, i, &first, &end);
    place p = find_place(x, first);
    gf_status st = GF_OK;
    for (uint32_t d = first; d < end && st == GF_OK; d++) {
        uint32_t words;
        st = add_document(x, v, &came[take_place(x, &p)], d - first, &words, err);
        if (st == GF_OK && !x->of_rows) x->at.length[d - x->first] = words;
    }
    for (unsigned r = 0; r < x->n && st == GF_OK; r++)
        if (came[r].len) st = gf_ranks_serve_fail_message(err);
    return st == GF_OK
               ? gf_inverting_end(v, x->terms ? x->terms - 1 : 0, &x->at.pieces[x->chunk + i], err)
               : st;
}

static gf_status invert_segment(indexing *x, gf_error *err)
{
    gf_pool *pool = x->j->by->pool;
    gf_status st = GF_OK;
    for (x->chunk = 0; x->chunk < x->at.n_chunks && st == GF_OK; x->chunk += x->n_chunks) {
        uint32_t left = x->at.n_chunks - x->chunk;
        x->n_chunks = left < x->at_once ? left : x->at_once;
        if (gf_ranks_serve_is_first(x->j))
            gf_ranks_serve_report(x->j, "indexing", x->first + x->chunk * x->at.shape.chunk,
                                  x->documents);
        st = gf_pool_run(pool, x->n_chunks, pack_chunk, x, NULL, err);
        if (st == GF_OK) st = deal_chunks(x, err);
        if (st == GF_OK) st = gf_pool_run(pool, x->n_chunks, invert_chunk, x, NULL, err);
    }
    return st;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Cells of this rank's parts of a kind: a buffer each. */
typedef struct cell_tasks {
    indexing *x;
    gf_index_fill_cells *fill;
    gf_buffer *out;
} cell_tasks;

typedef struct cell_writer {
    bool compresses;
    gf_buffer *out, memory;
} cell_writer;

static gf_status put_cell(void *context, gf_slice qualifier, gf_buffer *value, gf_error *err)
{
    cell_writer *w = context;
    gf_compressed c = {gf_buffer_view(value), false};
    gf_status st = gf_buffer_check(value, err);
    if (st == GF_OK && w->compresses)
        st = gf_value_compress(gf_buffer_view(value), &w->memory, &c, err);
    if (st != GF_OK) return st;
    gf_buffer_string(w->out, qualifier);
    gf_buffer_byte(w->out, (char)c.smaller);
    gf_buffer_string(w->out, c.bytes);
    return gf_buffer_check(w->out, err);
}

static gf_status fill_part(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    const cell_tasks *t = context;
    cell_writer w = {t->x->of->compresses, &t->out[i], {0}};
    uint32_t part = (uint32_t)i * t->x->n + t->x->me;
    gf_status st = t->fill(&t->x->at, part, put_cell, &w, err);
    gf_buffer_release(&w.memory);
    return st;
}

/* All ranks make the cells of their parts; one of each at a time goes to the holder. */
static gf_status tell_parts(indexing *x, gf_index_fill_cells *fill, uint32_t parts, gf_error *err)
{
    uint32_t own = parts > x->me ? (parts - x->me - 1) / x->n + 1 : 0;
    cell_tasks t = {x, fill, gf_calloc(own, sizeof *t.out)};
    gf_status st = t.out ? GF_OK : gf_fail_memory(err, "an index");
    if (st == GF_OK) st = gf_pool_run(x->j->by->pool, own, fill_part, &t, NULL, err);
    for (uint32_t i = 0; i < gf_index_count(parts, x->n) && st == GF_OK; i++) {
        gf_slice mine = i < own ? gf_buffer_view(&t.out[i]) : (gf_slice){NULL, 0};
        st = gf_ranks_serve_tell_gathered(x->j, GF_JOB_CELLS, mine, x->from, err);
        if (i < own) gf_buffer_release(&t.out[i]);
        for (unsigned r = 0; r < x->n; r++)
            gf_buffer_release(&x->from[r]);
    }
    for (uint32_t i = 0; t.out && i < own; i++)
        gf_buffer_release(&t.out[i]);
    gf_free(t.out);
    return st;
}

static gf_status tell_words(indexing *x, gf_error *err)
{
    uint32_t parts = gf_index_count(x->terms, GF_INDEX_PART);
    gf_status st = tell_parts(x, gf_index_fill_lengths, gf_index_length_parts(x->at.m), err);
    if (st != GF_OK) return st;
    x->at.heads = gf_calloc(parts, sizeof *x->at.heads);
    if (!x->at.heads) return gf_fail_memory(err, "an index");
    if (x->at.m >= x->at.shape.is_long) st = tell_parts(x, gf_index_fill_frequent, parts, err);
    if (st == GF_OK) st = tell_parts(x, gf_index_fill_words, parts, err);
    for (uint32_t i = 0; i < parts; i++)
        gf_buffer_release(&x->at.heads[i]);
    gf_free(x->at.heads);
    x->at.heads = NULL;
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static gf_status index_segment(indexing *x, gf_error *err)
{
    x->first = x->at.segment * x->at.shape.segment;
    gf_status st = gf_index_segment_begin(&x->at, x->documents, !x->of_rows, err);
    if (st == GF_OK) st = invert_segment(x, err);
    if (st == GF_OK)
        st = x->of_rows ? tell_parts(x, gf_index_fill_columns,
                                     gf_index_count(x->terms, GF_INDEX_PART), err)
                        : tell_words(x, err);
    gf_index_segment_end(&x->at);
    return st;
}

static gf_status index_all(indexing *x, gf_error *err)
{
    uint32_t segments = gf_index_count(x->documents, x->at.shape.segment);
    gf_status st = GF_OK;
    for (x->at.segment = 0; x->at.segment < segments && st == GF_OK; x->at.segment++)
        st = index_segment(x, err);
    return st;
}

/* Ranks deal as many chunks at a time as all of them do, however many threads each has. */
static gf_status agree(indexing *x, gf_error *err)
{
    uint64_t threads = gf_pool_size(x->j->by->pool);
    gf_status st = gf_ranks_sum(x->j->by->ranks, &threads, 1, err);
    x->at_once = (uint32_t)((threads + x->n - 1) / x->n);
    return st;
}

static gf_status allocate(indexing *x, gf_error *err)
{
    unsigned threads = gf_pool_size(x->j->by->pool);
    x->from = gf_calloc(x->n, sizeof *x->from);
    x->to = gf_calloc(x->n, sizeof *x->to);
    x->view = gf_calloc(x->n, sizeof *x->view);
    x->inverting = gf_calloc(threads, sizeof *x->inverting);
    x->packed = gf_calloc((size_t)x->at_once * x->n, sizeof *x->packed);
    x->came = gf_calloc((size_t)x->at_once * x->n, sizeof *x->came);
    bool room = x->from && x->to && x->view && x->inverting && x->packed && x->came;
    return room ? GF_OK : gf_fail_memory(err, "an index");
}

static void release_words(indexing *x)
{
    gf_buffer_release(&x->bytes);
    gf_free(x->used);
    gf_free(x->of_word);
    gf_free(x->at.strings);
    x->at.strings = NULL;
}

static void release(indexing *x)
{
    unsigned threads = gf_pool_size(x->j->by->pool);
    for (unsigned r = 0; r < x->n; r++) {
        if (x->from) gf_buffer_release(&x->from[r]);
        if (x->to) gf_buffer_release(&x->to[r]);
    }
    for (size_t i = 0; x->packed && i < (size_t)x->at_once * x->n; i++)
        gf_buffer_release(&x->packed[i]);
    for (unsigned i = 0; x->inverting && i < threads; i++)
        gf_inverting_release(&x->inverting[i]);
    gf_free(x->first_of_round);
    gf_free(x->number);
    gf_free(x->from);
    gf_free(x->to);
    gf_free(x->view);
    gf_free(x->inverting);
    gf_free(x->packed);
    gf_free(x->came);
}

gf_status gf_ranks_serve_index(rank_job *j, const gf_ranks_indexed_documents *of, gf_error *err)
{
    indexing x = {.j = j,
                  .of = of,
                  .n = gf_ranks_n(j->by->ranks),
                  .me = gf_ranks_me(j->by->ranks),
                  .at.shape = gf_index_shape_now()};
    gf_ranks_indexed head = {0, 0, 0};
    gf_status st = agree(&x, err);
    if (st == GF_OK) st = allocate(&x, err);
    if (st == GF_OK) st = number_documents(&x, err);
    head.documents = x.documents;
    if (st == GF_OK && of->words) {
        st = begin_words(&x, &head, err);
        if (st == GF_OK) st = index_all(&x, err);
        release_words(&x);
    }
    if (st == GF_OK && of->rows) {
        x.of_rows = true;
        x.terms = of->rows->n_cols;
        st = index_all(&x, err);
    }
    if (st == GF_OK && gf_ranks_serve_is_first(j))
        st = gf_ranks_serve_tell(j, GF_JOB_INDEXED, gf_slice_of((const char *)&head, sizeof head),
                                 (gf_slice){NULL, 0}, err);
    release(&x);
    return st;
}
