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
#include "engine/build/inverted.h"

#include <stdatomic.h>

enum {
    NOTED = 1 << 15,     /* documents of a task that notes their words */
    PART_LENGTHS = 64,   /* cells of lengths that a part has */
    PART_TERMS = 1 << 12 /* terms of a part */
};

typedef struct writing {
    const gf_build_cells *to;
    gf_index_shape shape;
    gf_indexed_words of;
    uint32_t n; /* documents */

    atomic_uchar **used; /* by worker: which of its words there are */
    uint32_t **number;   /* by worker: the number of each of these */
    gf_slice *strings;   /* n_strings, by number */
    uint32_t n_strings;
    atomic_bool spoken[GF_LANGUAGES + 1]; /* languages that documents have, by index + 1 */
    uint32_t language[GF_LANGUAGES + 1];  /* their numbers in the index */
    uint32_t n_languages;
    atomic_ullong words; /* of all documents */
    double mean;         /* of a document */

    /* The segment at hand. */
    uint32_t segment, first, m, n_chunks; /* its documents: m from first on */
    gf_piece *pieces;                     /* n_chunks */
    uint32_t *length;                     /* m: words of each document */
    gf_buffer *heads;                     /* by part of terms: of its frequent ones, in order */
    gf_inverting *inverting;              /* by thread */
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
    atomic_uchar *used = t->w->used[row->worker];
    for (uint32_t e = 0; e < row->n; e++) {
        t->words += row->count[e];
        atomic_store_explicit(&used[row->term[e]], 1, memory_order_relaxed);
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
    unsigned workers = gf_words_workers(w->of.words);
    w->used = gf_calloc(workers, sizeof *w->used);
    w->number = gf_calloc(workers, sizeof *w->number);
    if (!w->used || !w->number) return gf_fail_memory(err, "an index");
    for (unsigned k = 0; k < workers; k++) {
        w->used[k] = gf_calloc(gf_words_terms(w->of.words, k), sizeof **w->used);
        w->number[k] = gf_array(gf_words_terms(w->of.words, k), sizeof **w->number);
        if (!w->used[k] || !w->number[k]) return gf_fail_memory(err, "an index");
    }
    return GF_OK;
}

/* A word of a worker's. */
typedef struct own_word {
    unsigned worker;
    uint32_t id;
} own_word;

/* Number the words that there are by their bytes; several workers may have the same one. */
static gf_status order_words(writing *w, gf_error *err)
{
    const gf_words *words = w->of.words;
    uint64_t most = 0;
    uint32_t n = 0;
    for (unsigned k = 0; k < gf_words_workers(words); k++)
        for (uint32_t id = 0; id < gf_words_terms(words, k); id++)
            most += w->used[k][id];
    if (most > UINT32_MAX) return gf_fail(err, GF_ELIMIT, "too many words in an index");
    own_word *own = gf_array((size_t)most, sizeof *own);
    uint32_t *order = gf_array((size_t)most, sizeof *order);
    gf_slice *strings = gf_array((size_t)most, sizeof *strings);
    w->strings = gf_array((size_t)most, sizeof *w->strings);
    gf_status st = own && order && strings && w->strings ? GF_OK : gf_fail_memory(err, "an index");
    for (unsigned k = 0; st == GF_OK && k < gf_words_workers(words); k++)
        for (uint32_t id = 0; id < gf_words_terms(words, k); id++) {
            if (!w->used[k][id]) continue;
            strings[n] = gf_words_term(words, k, id);
            own[n++] = (own_word){k, id};
        }
    if (st == GF_OK) st = gf_order_slices(strings, n, order, err);
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        gf_slice s = strings[order[i]];
        const own_word *o = &own[order[i]];
        if (i == 0 || !gf_slice_equal(s, w->strings[w->n_strings - 1]))
            w->strings[w->n_strings++] = s;
        w->number[o->worker][o->id] = w->n_strings - 1;
    }
    gf_free(own);
    gf_free(order);
    gf_free(strings);
    return st;
}

static gf_status number_terms(writing *w, gf_error *err)
{
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        if (w->spoken[l]) w->language[l] = w->n_languages++;
    w->mean = w->n ? (double)w->words / (double)w->n : 0;
    if ((uint64_t)w->n_languages * w->n_strings > UINT32_MAX - PART_TERMS)
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
    const uint32_t *number = w->number[row->worker];
    uint32_t base = w->language[row->language] * w->n_strings;
    uint64_t words = 0;
    gf_status st = GF_OK;
    for (uint32_t e = 0; e < row->n && st == GF_OK; e++) {
        words += row->count[e];
        st = gf_inverting_add(t->v, base + number[row->term[e]], document - t->first, row->count[e],
                              err);
    }
    w->length[document - w->first] = words < UINT32_MAX ? (uint32_t)words : UINT32_MAX;
    return st;
}

static gf_status invert_chunk(void *context, size_t i, unsigned worker, gf_error *err)
{
    writing *w = context;
    uint32_t from = (uint32_t)i * w->shape.chunk, end = from + w->shape.chunk;
    chunk_task t = {w, &w->inverting[worker], w->first + from};
    if (end > w->m) end = w->m;
    gf_status st = gf_words_each(w->of.words, t.first, w->first + end, add_row, &t, err);
    uint32_t terms = w->n_languages * w->n_strings;
    return st == GF_OK ? gf_inverting_end(t.v, terms ? terms - 1 : 0, &w->pieces[i], err) : st;
}

/* ---- lengths --------------------------------------------------------------------------------- */

static void write_lengths(const uint32_t *length, uint32_t n, gf_buffer *value)
{
    uint32_t longest = 0;
    for (uint32_t i = 0; i < n; i++)
        if (length[i] > longest) longest = length[i];
    char width = longest < 256 ? 1 : longest < 65536 ? 2 : 4;
    gf_buffer_byte(value, width);
    for (uint32_t i = 0; i < n; i++)
        for (int b = 0; b < width; b++)
            gf_buffer_byte(value, (char)(length[i] >> 8 * b));
}

static gf_status fill_lengths(void *of, uint32_t part, gf_build_put_cell *put, void *context,
                              gf_error *err)
{
    const writing *w = of;
    gf_buffer qualifier = {0}, value = {0};
    gf_status st = GF_OK;
    uint32_t cells = gf_index_count(w->m, GF_INDEX_LENGTHS), end = (part + 1) * PART_LENGTHS;
    for (uint32_t c = part * PART_LENGTHS; c < end && c < cells && st == GF_OK; c++) {
        uint32_t from = c * GF_INDEX_LENGTHS, n = w->m - from;
        gf_buffer_reset(&qualifier);
        gf_buffer_reset(&value);
        gf_index_qualifier(&qualifier, GF_INDEX_SEARCH, w->segment, 'l');
        gf_buffer_u32be(&qualifier, c);
        write_lengths(w->length + from, n < GF_INDEX_LENGTHS ? n : GF_INDEX_LENGTHS, &value);
        st = gf_buffer_check(&qualifier, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&qualifier), &value, err);
    }
    gf_buffer_release(&qualifier);
    gf_buffer_release(&value);
    return st;
}

/* ---- postings -------------------------------------------------------------------------------- */

/* Postings that are written as a list: in groups, each with its bound. */
typedef struct listing {
    const writing *w;
    gf_buffer *bounds, *postings;
    uint32_t base, before, n; /* the last document, postings */
    gf_index_bounding group;
} listing;

static void end_group(listing *l)
{
    gf_buffer_byte(l->bounds, (char)gf_index_bound(&l->group, l->w->mean));
    l->group = (gf_index_bounding){0};
}

/* A piece's postings; its documents begin with `base` of the segment. */
static void list_piece(listing *l, gf_slice postings, uint32_t base)
{
    const unsigned char *p = (const unsigned char *)postings.ptr, *end = p + postings.len;
    uint32_t document = 0, value = 0;
    for (bool first = true; p < end; first = false) {
        p = gf_index_posting(p, end, UINT32_MAX, first, &document, &value);
        if (!p) return; /* never: it is ours */
        gf_index_put_posting(l->postings, base + document - l->before, value);
        l->before = base + document;
        gf_index_bound_add(&l->group, value, l->w->length[l->base + base + document], l->w->mean);
        if (++l->n % GF_INDEX_GROUP == 0) end_group(l);
    }
}

static void end_list(listing *l)
{
    if (l->n % GF_INDEX_GROUP) end_group(l);
}

/* Scratch of a task. */
typedef struct scratch {
    gf_buffer qualifier, cell, bounds, postings, more;
} scratch;

static void release_scratch(scratch *s)
{
    gf_buffer_release(&s->qualifier);
    gf_buffer_release(&s->cell);
    gf_buffer_release(&s->bounds);
    gf_buffer_release(&s->postings);
    gf_buffer_release(&s->more);
}

static void write_bitmap(const writing *w, gf_slice postings, uint32_t first, uint32_t of_chunk,
                         scratch *s)
{
    const unsigned char *p = (const unsigned char *)postings.ptr, *end = p + postings.len;
    uint32_t document = 0, value = 0, n = 0, ranges = gf_index_count(of_chunk, GF_INDEX_RANGE);
    uint64_t bits[GF_INDEX_CHUNK / GF_INDEX_RANGE] = {0};
    gf_index_bounding bound[GF_INDEX_CHUNK / GF_INDEX_RANGE] = {{0}};
    unsigned char codes = 0;
    gf_buffer_reset(&s->more);
    for (; p < end; n++) {
        p = gf_index_posting(p, end, of_chunk, n == 0, &document, &value);
        if (!p) return; /* never: it is ours */
        uint32_t range = document / GF_INDEX_RANGE, code = value < 4 ? value - 1 : 3;
        bits[range] |= UINT64_C(1) << document % GF_INDEX_RANGE;
        gf_index_bound_add(&bound[range], value, w->length[first + document], w->mean);
        codes |= (unsigned char)(code << n % 4 * 2);
        if (n % 4 == 3) {
            gf_buffer_byte(&s->postings, (char)codes);
            codes = 0;
        }
        if (code == 3) gf_buffer_varint(&s->more, value - 4);
    }
    if (n % 4) gf_buffer_byte(&s->postings, (char)codes);
    for (uint32_t r = 0; r < ranges; r++)
        gf_buffer_byte(&s->bounds, bits[r] ? (char)gf_index_bound(&bound[r], w->mean) : 0);
    for (uint32_t r = 0; r < ranges; r++)
        for (int b = 0; b < 64; b += 8)
            gf_buffer_byte(&s->bounds, (char)(bits[r] >> b));
}

/* The best bound of those. */
static unsigned char best_bound(const writing *w, gf_slice bounds)
{
    double bound[256];
    unsigned char best = 0;
    gf_index_bounds(1, w->mean, w->mean, bound);
    for (size_t i = 0; i < bounds.len; i++)
        if (bound[(unsigned char)bounds.ptr[i]] > bound[best]) best = (unsigned char)bounds.ptr[i];
    return best;
}

/* A chunk's piece is written as a whole: its bounds and postings go to s->bounds, its bound comes back. */
static unsigned char write_piece(const writing *w, const gf_term_walk *walk, uint32_t chunk,
                                 scratch *s)
{
    const gf_piece *p = &w->pieces[chunk];
    uint32_t first = chunk * w->shape.chunk, of_chunk = w->m - first, at = walk->at[chunk];
    if (of_chunk > w->shape.chunk) of_chunk = w->shape.chunk;
    gf_buffer_reset(&s->bounds);
    gf_buffer_reset(&s->postings);
    if (gf_index_is_bitmap(p->documents[at], of_chunk)) {
        write_bitmap(w, gf_piece_postings(p, at), first, of_chunk, s);
        if (s->bounds.state != GF_OK) return 0;
        gf_slice bounds = gf_slice_of(s->bounds.ptr, gf_index_count(of_chunk, GF_INDEX_RANGE));
        unsigned char best = best_bound(w, bounds);
        gf_buffer_slice(&s->bounds, gf_buffer_view(&s->postings));
        gf_buffer_slice(&s->bounds, gf_buffer_view(&s->more));
        return best;
    }
    listing l = {.w = w, .bounds = &s->bounds, .postings = &s->postings, .base = first};
    list_piece(&l, gf_piece_postings(p, at), 0);
    end_list(&l);
    unsigned char best = best_bound(w, gf_buffer_view(&s->bounds));
    gf_buffer_slice(&s->bounds, gf_buffer_view(&s->postings));
    return best;
}

static gf_status put_pieces(const writing *w, uint32_t term, uint32_t cell, scratch *s,
                            gf_build_put_cell *put, void *context, gf_error *err)
{
    gf_buffer_reset(&s->qualifier);
    gf_index_qualifier(&s->qualifier, GF_INDEX_SEARCH, w->segment, 'p');
    gf_buffer_u32be(&s->qualifier, term);
    gf_buffer_u32be(&s->qualifier, cell);
    gf_status st = gf_buffer_check(&s->qualifier, err);
    if (st == GF_OK) st = put(context, gf_buffer_view(&s->qualifier), &s->cell, err);
    gf_buffer_reset(&s->cell);
    return st;
}

/* The cells of a frequent term; what its entry says of them is appended to *head. */
static gf_status put_term(const writing *w, const gf_term_walk *walk, gf_buffer *head, scratch *s,
                          gf_build_put_cell *put, void *context, gf_error *err)
{
    uint32_t cells = 0, pieces = 0, before = 0;
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < walk->n; i++)
        pieces += gf_term_walk_has(walk, i);
    gf_buffer_varint(head, walk->term);
    gf_buffer_varint(head, pieces);
    gf_buffer_reset(&s->cell);
    for (uint32_t i = 0; i < walk->n && st == GF_OK; i++) {
        if (!gf_term_walk_has(walk, i)) continue;
        unsigned char bound = write_piece(w, walk, i, s);
        if (s->cell.len && s->cell.len + s->bounds.len > GF_INDEX_CELL)
            st = put_pieces(w, walk->term, cells++, s, put, context, err);
        gf_buffer_varint(head, i - before);
        gf_buffer_varint(head, (uint64_t)w->pieces[i].documents[walk->at[i]] << 1 | !s->cell.len);
        gf_buffer_byte(head, (char)bound);
        gf_buffer_varint(head, s->bounds.len);
        gf_buffer_slice(&s->cell, gf_buffer_view(&s->bounds));
        before = i;
        if (st == GF_OK) st = gf_buffer_check(&s->bounds, err);
        if (st == GF_OK) st = gf_buffer_check(&s->postings, err);
        if (st == GF_OK) st = gf_buffer_check(&s->more, err);
    }
    return st == GF_OK ? put_pieces(w, walk->term, cells, s, put, context, err) : st;
}

/* Frequent terms of a part. */
static gf_status fill_frequent(void *of, uint32_t part, gf_build_put_cell *put, void *context,
                               gf_error *err)
{
    const writing *w = of;
    gf_term_walk walk;
    scratch s = {.cell = {0}};
    gf_status st = gf_term_walk_begin(&walk, w->pieces, w->n_chunks, part * PART_TERMS,
                                      (part + 1) * PART_TERMS, err);
    while (st == GF_OK && gf_term_walk_next(&walk))
        if (walk.documents >= w->shape.is_long)
            st = put_term(w, &walk, &w->heads[part], &s, put, context, err);
    if (st == GF_OK) st = gf_buffer_check(&w->heads[part], err);
    gf_term_walk_release(&walk);
    release_scratch(&s);
    return st;
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* The language's number, then the word's bytes. */
static void write_key(const writing *w, uint32_t term, gf_buffer *out)
{
    gf_buffer_byte(out, (char)(unsigned char)(term / w->n_strings));
    gf_buffer_slice(out, w->strings[term % w->n_strings]);
}

/* Skip a frequent term's head, as put_term wrote it. */
static gf_slice take_head(gf_slice *heads)
{
    gf_slice rest = *heads, head = rest;
    uint64_t term, pieces = 0, v;
    gf_slice_take_varint(&rest, &term);
    gf_slice_take_varint(&rest, &pieces);
    for (; pieces; pieces--) {
        gf_slice_take_varint(&rest, &v);
        gf_slice_take_varint(&rest, &v);
        rest = gf_slice_skip(rest, 1);
        gf_slice_take_varint(&rest, &v);
    }
    head.len -= rest.len;
    *heads = rest;
    return head;
}

static void write_term(const writing *w, const gf_term_walk *walk, gf_slice *heads, scratch *s)
{
    gf_buffer_varint(&s->cell, w->strings[walk->term % w->n_strings].len + 1);
    write_key(w, walk->term, &s->cell);
    gf_buffer_varint(&s->cell, walk->documents);
    if (walk->documents >= w->shape.is_long) {
        gf_buffer_slice(&s->cell, take_head(heads));
        return;
    }
    gf_buffer_reset(&s->bounds);
    gf_buffer_reset(&s->postings);
    listing l = {.w = w, .bounds = &s->bounds, .postings = &s->postings};
    for (uint32_t i = 0; i < walk->n; i++)
        if (gf_term_walk_has(walk, i))
            list_piece(&l, gf_piece_postings(&w->pieces[i], walk->at[i]), i * w->shape.chunk);
    end_list(&l);
    if (walk->documents < GF_INDEX_GROUP) gf_buffer_reset(&s->bounds);
    gf_buffer_varint(&s->cell, s->bounds.len + s->postings.len);
    gf_buffer_slice(&s->cell, gf_buffer_view(&s->bounds));
    gf_buffer_slice(&s->cell, gf_buffer_view(&s->postings));
}

static gf_status fill_terms(void *of, uint32_t part, gf_build_put_cell *put, void *context,
                            gf_error *err)
{
    const writing *w = of;
    gf_term_walk walk;
    scratch s = {.cell = {0}};
    gf_slice heads = gf_buffer_view(&w->heads[part]);
    gf_status st = gf_term_walk_begin(&walk, w->pieces, w->n_chunks, part * PART_TERMS,
                                      (part + 1) * PART_TERMS, err);
    bool more = st == GF_OK && gf_term_walk_next(&walk);
    while (st == GF_OK && more) {
        gf_buffer_reset(&s.cell);
        gf_buffer_reset(&s.qualifier);
        gf_index_qualifier(&s.qualifier, GF_INDEX_SEARCH, w->segment, 't');
        write_key(w, walk.term, &s.qualifier);
        while (more && s.cell.len < GF_INDEX_CELL && s.cell.state == GF_OK) {
            write_term(w, &walk, &heads, &s);
            st = gf_buffer_check(&s.bounds, err);
            if (st == GF_OK) st = gf_buffer_check(&s.postings, err);
            if (st != GF_OK) break;
            more = gf_term_walk_next(&walk);
        }
        if (st == GF_OK) st = gf_buffer_check(&s.qualifier, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&s.qualifier), &s.cell, err);
    }
    gf_term_walk_release(&walk);
    release_scratch(&s);
    return st;
}

/* ---- segments -------------------------------------------------------------------------------- */

static gf_status write_postings(writing *w, gf_error *err)
{
    uint32_t parts = gf_index_count(w->n_languages * w->n_strings, PART_TERMS);
    bool any_long = w->m >= w->shape.is_long;
    gf_status st = GF_OK;
    w->heads = gf_calloc(parts, sizeof *w->heads);
    if (!w->heads) return gf_fail_memory(err, "an index");
    if (any_long) st = w->to->parts(w->to->context, fill_frequent, w, parts, err);
    if (st == GF_OK) st = w->to->parts(w->to->context, fill_terms, w, parts, err);
    for (uint32_t i = 0; i < parts; i++)
        gf_buffer_release(&w->heads[i]);
    gf_free(w->heads);
    w->heads = NULL;
    return st;
}

static gf_status write_segment(writing *w, gf_pool *pool, const gf_cancel *cancel, gf_error *err)
{
    const gf_build_cells *to = w->to;
    w->first = w->segment * w->shape.segment;
    w->m = w->n - w->first < w->shape.segment ? w->n - w->first : w->shape.segment;
    w->n_chunks = gf_index_count(w->m, w->shape.chunk);
    w->pieces = gf_calloc(w->n_chunks, sizeof *w->pieces);
    w->length = gf_array(w->m, sizeof *w->length);
    gf_status st = w->pieces && w->length ? GF_OK : gf_fail_memory(err, "an index");
    if (st == GF_OK) st = gf_pool_run(pool, w->n_chunks, invert_chunk, w, cancel, err);
    if (st == GF_OK)
        st = gf_build_write_ids(to, GF_INDEX_SEARCH, &w->of.ids, w->shape.segment, w->segment, err);
    uint32_t lengths = gf_index_count(gf_index_count(w->m, GF_INDEX_LENGTHS), PART_LENGTHS);
    if (st == GF_OK) st = to->parts(to->context, fill_lengths, w, lengths, err);
    if (st == GF_OK) st = write_postings(w, err);
    for (uint32_t i = 0; w->pieces && i < w->n_chunks; i++)
        gf_piece_release(&w->pieces[i]);
    gf_free(w->pieces);
    gf_free(w->length);
    w->pieces = NULL;
    w->length = NULL;
    return st;
}

static gf_status fill_head(void *of, uint32_t part, gf_build_put_cell *put, void *context,
                           gf_error *err)
{
    (void)part;
    const writing *w = of;
    gf_buffer head = {0};
    gf_buffer_byte(&head, GF_INDEX_FORMAT);
    gf_buffer_varint(&head, w->n);
    gf_buffer_varint(&head, w->words);
    gf_buffer_varint(&head, w->shape.segment);
    gf_buffer_varint(&head, w->shape.chunk);
    gf_buffer_varint(&head, w->shape.is_long);
    gf_buffer_varint(&head, w->n_languages);
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        if (w->spoken[l])
            gf_buffer_string(&head, gf_slice_str(l ? gf_language_at(l - 1)->name : ""));
    gf_build_first_ids(&w->of.ids, w->shape.segment, &head);
    gf_status st = put(context, GF_SLICE(GF_INDEX_SEARCH "h"), &head, err);
    gf_buffer_release(&head);
    return st;
}

static void release_writing(writing *w, unsigned threads)
{
    unsigned workers = w->of.words ? gf_words_workers(w->of.words) : 0;
    for (unsigned k = 0; k < workers; k++) {
        if (w->used) gf_free(w->used[k]);
        if (w->number) gf_free(w->number[k]);
    }
    for (unsigned i = 0; w->inverting && i < threads; i++)
        gf_inverting_release(&w->inverting[i]);
    gf_free(w->used);
    gf_free(w->number);
    gf_free(w->strings);
    gf_free(w->inverting);
    gf_indexed_words_release(&w->of);
}

gf_status gf_build_write_search_cells(const gf_build_plan *plan, gf_pool *pool,
                                      gf_build_gathered *documents, const gf_build_cells *to,
                                      bool *of_gathered, gf_error *err)
{
    const gf_cancel *cancel = plan->options->cancel;
    writing w = {.to = to, .shape = gf_index_shape_now()};
    *of_gathered = documents->words != NULL;
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
    uint32_t segments = gf_index_count(w.n, w.shape.segment);
    for (; st == GF_OK && w.segment < segments; w.segment++) {
        gf_build_plan_progress(plan, "indexing", w.segment * (uint64_t)w.shape.segment, w.n);
        st = write_segment(&w, pool, cancel, err);
    }
    if (st == GF_OK) st = to->parts(to->context, fill_head, &w, 1, err);
    release_writing(&w, gf_pool_size(pool));
    return st;
}
