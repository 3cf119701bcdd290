/* The cells of a segment of the index of all words. */
#include "engine/index/search.h"

#include "base/memory.h"

enum { PART_LENGTHS = 64 /* cells of lengths that a part has */ };

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

gf_status gf_index_fill_lengths(void *of, uint32_t part, gf_index_put_cell *put, void *context,
                                gf_error *err)
{
    const gf_index_segment *w = of;
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
    const gf_index_segment *w;
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

static void write_bitmap(const gf_index_segment *w, gf_slice postings, uint32_t first,
                         uint32_t of_chunk, scratch *s)
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
static unsigned char best_bound(const gf_index_segment *w, gf_slice bounds)
{
    double bound[256];
    unsigned char best = 0;
    gf_index_bounds(1, w->mean, w->mean, bound);
    for (size_t i = 0; i < bounds.len; i++)
        if (bound[(unsigned char)bounds.ptr[i]] > bound[best]) best = (unsigned char)bounds.ptr[i];
    return best;
}

/* A chunk's piece is written as a whole: its bounds and postings go to s->bounds, its bound comes back. */
static unsigned char write_piece(const gf_index_segment *w, const gf_term_walk *walk,
                                 uint32_t chunk, scratch *s)
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

static gf_status put_pieces(const gf_index_segment *w, uint32_t term, uint32_t cell, scratch *s,
                            gf_index_put_cell *put, void *context, gf_error *err)
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
static gf_status put_term(const gf_index_segment *w, const gf_term_walk *walk, gf_buffer *head,
                          scratch *s, gf_index_put_cell *put, void *context, gf_error *err)
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
gf_status gf_index_fill_frequent(void *of, uint32_t part, gf_index_put_cell *put, void *context,
                                 gf_error *err)
{
    const gf_index_segment *w = of;
    gf_term_walk walk;
    scratch s = {.cell = {0}};
    gf_status st = gf_term_walk_begin(&walk, w->pieces, w->n_chunks, part * GF_INDEX_PART,
                                      (part + 1) * GF_INDEX_PART, err);
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
static void write_key(const gf_index_segment *w, uint32_t term, gf_buffer *out)
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

static void write_term(const gf_index_segment *w, const gf_term_walk *walk, gf_slice *heads,
                       scratch *s)
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

gf_status gf_index_fill_words(void *of, uint32_t part, gf_index_put_cell *put, void *context,
                              gf_error *err)
{
    const gf_index_segment *w = of;
    gf_term_walk walk;
    scratch s = {.cell = {0}};
    gf_slice heads = gf_buffer_view(&w->heads[part]);
    gf_status st = gf_term_walk_begin(&walk, w->pieces, w->n_chunks, part * GF_INDEX_PART,
                                      (part + 1) * GF_INDEX_PART, err);
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

/* ---- a segment ------------------------------------------------------------------------------- */

gf_status gf_index_segment_begin(gf_index_segment *s, uint32_t documents, bool has_lengths,
                                 gf_error *err)
{
    uint32_t left = documents - s->segment * s->shape.segment;
    s->m = left < s->shape.segment ? left : s->shape.segment;
    s->n_chunks = gf_index_count(s->m, s->shape.chunk);
    s->pieces = gf_calloc(s->n_chunks, sizeof *s->pieces);
    s->length = has_lengths ? gf_array(s->m, sizeof *s->length) : NULL;
    bool room = s->pieces && (s->length || !has_lengths);
    return room ? GF_OK : gf_fail_memory(err, "an index");
}

void gf_index_segment_end(gf_index_segment *s)
{
    for (uint32_t i = 0; s->pieces && i < s->n_chunks; i++)
        gf_piece_release(&s->pieces[i]);
    gf_free(s->pieces);
    gf_free(s->length);
    s->pieces = NULL;
    s->length = NULL;
}

/* ---- how many parts, and the head ------------------------------------------------------------ */

uint32_t gf_index_length_parts(uint32_t documents)
{
    return gf_index_count(gf_index_count(documents, GF_INDEX_LENGTHS), PART_LENGTHS);
}

void gf_index_write_head(const gf_index_words_head *h, gf_buffer *out)
{
    uint32_t languages = 0;
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        languages += h->spoken[l];
    gf_buffer_byte(out, GF_INDEX_FORMAT);
    gf_buffer_varint(out, h->documents);
    gf_buffer_varint(out, h->words);
    gf_buffer_varint(out, h->shape.segment);
    gf_buffer_varint(out, h->shape.chunk);
    gf_buffer_varint(out, h->shape.is_long);
    gf_buffer_varint(out, languages);
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        if (h->spoken[l]) gf_buffer_string(out, gf_slice_str(l ? gf_language_at(l - 1)->name : ""));
}
