#include "engine/search/index.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/rows/scan.h"

/* ---- head ------------------------------------------------------------------------------------ */

static gf_status read_head(const gf_index_place *p, gf_row *row, gf_error *err)
{
    gf_buffer qualifier = {0};
    gf_buffer_str(&qualifier, p->prefix);
    gf_buffer_byte(&qualifier, 'h');
    gf_status st = gf_buffer_check(&qualifier, err);
    if (st == GF_OK)
        st = gf_table_get_cell(p->store->tables.builds, p->snapshot, p->build_key, GF_BUILDS_MODEL,
                               gf_buffer_view(&qualifier), 1, row, err);
    gf_buffer_release(&qualifier);
    return st;
}

static gf_status take_languages(gf_search_index *x, gf_slice *head, gf_error *err)
{
    if (!gf_slice_take_varint32(head, &x->n_languages) || x->n_languages > 256)
        return gf_index_damaged(err);
    for (uint32_t i = 0; i < x->n_languages; i++) {
        gf_slice name;
        if (!gf_slice_take_string(head, &name)) return gf_index_damaged(err);
        x->languages[i] = name.len ? gf_language_find(name) : NULL;
        if (name.len && !x->languages[i]) return gf_index_damaged(err);
    }
    return GF_OK;
}

static gf_status take_head(gf_search_index *x, gf_error *err)
{
    gf_slice head = x->head_row.cells[0].value;
    if (head.len == 0) return gf_index_damaged(err);
    if (head.ptr[0] != GF_INDEX_FORMAT)
        return gf_fail(err, GF_ENOTFOUND, "the build has an index of another format");
    head = gf_slice_skip(head, 1);
    if (!gf_slice_take_varint32(&head, &x->n) || !gf_slice_take_varint(&head, &x->words) ||
        !gf_slice_take_varint32(&head, &x->segment) || !gf_slice_take_varint32(&head, &x->chunk) ||
        !gf_slice_take_varint32(&head, &x->is_long) || x->segment == 0 || x->chunk == 0 ||
        x->chunk > GF_INDEX_CHUNK || x->chunk % GF_INDEX_RANGE)
        return gf_index_damaged(err);
    x->mean = x->n ? (double)x->words / (double)x->n : 0;
    gf_status st = take_languages(x, &head, err);
    if (st == GF_OK) st = gf_id_reader_open(&x->ids, &x->place, x->n, x->segment, head, err);
    x->n_segments = x->ids.n_segments;
    return st;
}

gf_status gf_search_index_open(gf_search_index *x, gf_store *store, const gf_snapshot *snapshot,
                               gf_slice build_key, gf_error *err)
{
    *x = (gf_search_index){.place = {store, snapshot, build_key, GF_INDEX_SEARCH},
                           .lengths_segment = UINT32_MAX};
    gf_status st = read_head(&x->place, &x->head_row, err);
    if (st == GF_OK) st = take_head(x, err);
    if (st != GF_OK) gf_search_index_release(x);
    return st;
}

void gf_search_index_release(gf_search_index *x)
{
    gf_row_release(&x->head_row);
    gf_row_release(&x->lengths_row);
    gf_id_reader_release(&x->ids);
    *x = (gf_search_index){.n = 0};
}

gf_status gf_search_index_is_old(gf_store *store, const gf_snapshot *snapshot, gf_slice build_key,
                                 bool *old, gf_error *err)
{
    gf_row row = {0};
    gf_index_place place = {store, snapshot, build_key, GF_INDEX_SEARCH};
    gf_status st = read_head(&place, &row, err);
    *old = st == GF_OK && row.cells[0].value.len && row.cells[0].value.ptr[0] != GF_INDEX_FORMAT;
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- the index of the matrix ----------------------------------------------------------------- */

/* The ids are the index's own, or those of the index of all words: the same documents. */
static gf_status share_ids(gf_matrix_index *x, uint32_t n, uint32_t segment, gf_error *err)
{
    gf_search_index words;
    const gf_index_place *p = &x->place;
    gf_status st = gf_search_index_open(&words, p->store, p->snapshot, p->build_key, err);
    if (st == GF_ENOTFOUND) return gf_index_damaged(err);
    if (st != GF_OK) return st;
    x->ids = words.ids;
    x->words_row = words.head_row;
    words.ids = (gf_id_reader){.n = 0};
    words.head_row = (gf_row){0};
    gf_search_index_release(&words);
    return x->ids.n == n && x->ids.segment == segment ? GF_OK : gf_index_damaged(err);
}

static gf_status take_matrix_head(gf_matrix_index *x, gf_slice head, gf_error *err)
{
    uint32_t n, segment;
    uint64_t own;
    if (!gf_slice_take_varint32(&head, &n) || !gf_slice_take_varint32(&head, &segment) ||
        !gf_slice_take_varint(&head, &own) || segment == 0 || own > 1 || (own == 0 && head.len))
        return gf_index_damaged(err);
    x->own_ids = own;
    return own ? gf_id_reader_open(&x->ids, &x->place, n, segment, head, err)
               : share_ids(x, n, segment, err);
}

gf_status gf_matrix_index_open(gf_matrix_index *x, gf_store *store, const gf_snapshot *snapshot,
                               gf_slice build_key, bool *there, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    *x = (gf_matrix_index){.place = {store, snapshot, build_key, GF_INDEX_MATRIX}};
    gf_status st = read_head(&x->place, &x->head_row, &why);
    *there = st == GF_OK;
    if (st != GF_OK) {
        gf_matrix_index_release(x);
        if (st == GF_ENOTFOUND) return GF_OK;
        if (err) *err = why;
        return st;
    }
    gf_slice head = x->head_row.cells[0].value;
    *there = head.len == 0 || head.ptr[0] == GF_INDEX_FORMAT;
    if (head.len == 0)
        st = gf_index_damaged(err);
    else if (*there)
        st = take_matrix_head(x, gf_slice_skip(head, 1), err);
    if (st != GF_OK || !*there) gf_matrix_index_release(x);
    return st;
}

void gf_matrix_index_release(gf_matrix_index *x)
{
    gf_id_reader_release(&x->ids);
    gf_row_release(&x->head_row);
    gf_row_release(&x->words_row);
    *x = (gf_matrix_index){.own_ids = false};
}

/* ---- lengths --------------------------------------------------------------------------------- */

uint32_t gf_search_index_documents(const gf_search_index *x, uint32_t segment)
{
    uint32_t left = x->n - segment * x->segment;
    return left < x->segment ? left : x->segment;
}

static gf_status need_lengths(gf_search_index *x, uint32_t segment, uint32_t cell, gf_error *err)
{
    if (x->lengths_segment == segment && x->lengths_cell == cell) return GF_OK;
    x->lengths_segment = UINT32_MAX;
    gf_status st = gf_index_read(&x->place, segment, 'l', &cell, 1, &x->lengths_row, err);
    if (st != GF_OK) return st;
    gf_slice bytes = x->lengths_row.cells[0].value;
    uint32_t n = gf_search_index_documents(x, segment) - cell * GF_INDEX_LENGTHS;
    if (n > GF_INDEX_LENGTHS) n = GF_INDEX_LENGTHS;
    char width = bytes.len ? bytes.ptr[0] : 0;
    if ((width != 1 && width != 2 && width != 4) || bytes.len != 1 + (size_t)n * (size_t)width)
        return gf_index_damaged(err);
    x->lengths_segment = segment;
    x->lengths_cell = cell;
    return GF_OK;
}

gf_status gf_search_index_length(gf_search_index *x, uint32_t document, uint32_t *length,
                                 gf_error *err)
{
    uint32_t segment = document / x->segment, of_segment = document % x->segment;
    gf_status st = need_lengths(x, segment, of_segment / GF_INDEX_LENGTHS, err);
    if (st != GF_OK) return st;
    const unsigned char *p = (const unsigned char *)x->lengths_row.cells[0].value.ptr;
    size_t width = *p++;
    p += width * (of_segment % GF_INDEX_LENGTHS);
    *length = 0;
    for (size_t b = 0; b < width; b++)
        *length |= (uint32_t)p[b] << 8 * b;
    return GF_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

void gf_index_lists_release(gf_index_lists *l)
{
    for (size_t i = 0; i < l->n; i++)
        gf_row_release(&l->list[i].row);
    gf_free(l->list);
    gf_free(l->pieces);
    gf_buffer_release(&l->memory);
    *l = (gf_index_lists){0};
}

void gf_index_lists_rewind(gf_index_lists *l)
{
    for (size_t i = 0; i < l->n; i++) {
        gf_index_list *list = &l->list[i];
        list->next_piece = list->taken = list->last = 0;
        list->at = list->postings;
    }
}

static gf_status take_pieces(const gf_search_index *x, uint32_t segment, gf_slice *cell,
                             gf_index_lists *l, gf_index_list *list, gf_error *err)
{
    uint32_t documents = 0, cells = 0, at = 0, n = gf_search_index_documents(x, segment);
    uint64_t chunk = 0;
    if (!gf_slice_take_varint32(cell, &list->term) ||
        !gf_slice_take_varint32(cell, &list->n_pieces) || list->n_pieces == 0 ||
        list->n_pieces > gf_index_count(n, x->chunk))
        return gf_index_damaged(err);
    list->first_piece = (uint32_t)l->n_pieces;
    if (!gf_grow(&l->pieces, &l->piece_capacity, l->n_pieces + list->n_pieces, sizeof *l->pieces))
        return gf_fail_memory(err, "a search");
    for (uint32_t i = 0; i < list->n_pieces; i++) {
        uint32_t step, counted, bytes;
        gf_slice bound;
        if (!gf_slice_take_varint32(cell, &step) || !gf_slice_take_varint32(cell, &counted) ||
            !gf_slice_take_bytes(cell, 1, &bound) || !gf_slice_take_varint32(cell, &bytes) ||
            (i && step == 0) || step > n || (i == 0 && !(counted & 1)))
            return gf_index_damaged(err);
        chunk += step;
        if (counted & 1) {
            cells++;
            at = 0;
        }
        gf_index_piece p = {(uint32_t)chunk,          counted >> 1, cells - 1, at, bytes,
                            (unsigned char)*bound.ptr};
        uint64_t of_chunk = chunk < n && chunk * x->chunk < n ? n - chunk * x->chunk : 0;
        if (of_chunk > x->chunk) of_chunk = x->chunk;
        if (p.documents == 0 || p.documents > of_chunk || bytes > GF_MAX_VALUE - at)
            return gf_index_damaged(err);
        at += bytes;
        documents += p.documents;
        l->pieces[l->n_pieces + i] = p;
    }
    l->n_pieces += list->n_pieces;
    return documents == list->documents ? GF_OK : gf_index_damaged(err);
}

static gf_status take_list(gf_slice bytes, gf_index_lists *l, gf_index_list *list, gf_error *err)
{
    size_t bounds = 0;
    if (list->documents >= GF_INDEX_GROUP) bounds = gf_index_count(list->documents, GF_INDEX_GROUP);
    if (bytes.len < bounds + list->documents) return gf_index_damaged(err);
    list->bounds = l->memory.len;
    list->postings = list->at = list->bounds + bounds;
    gf_buffer_slice(&l->memory, bytes);
    list->end = l->memory.len;
    return gf_buffer_check(&l->memory, err);
}

/* Take the rest of an entry, behind its term; `wanted` false: it is only passed. */
static gf_status take_entry(const gf_search_index *x, uint32_t segment, gf_slice *cell, bool wanted,
                            gf_index_lists *l, gf_error *err)
{
    gf_index_list list = {.cell = UINT32_MAX};
    gf_slice bytes;
    uint32_t n = gf_search_index_documents(x, segment);
    size_t pieces = l->n_pieces;
    gf_status st = GF_OK;
    if (!gf_slice_take_varint32(cell, &list.documents) || list.documents == 0 || list.documents > n)
        return gf_index_damaged(err);
    bool is_long = list.documents >= x->is_long;
    if (is_long)
        st = take_pieces(x, segment, cell, l, &list, err);
    else if (!gf_slice_take_string(cell, &bytes))
        st = gf_index_damaged(err);
    else if (wanted)
        st = take_list(bytes, l, &list, err);
    if (st != GF_OK || !wanted) {
        l->n_pieces = pieces;
        return st;
    }
    if (!gf_grow(&l->list, &l->capacity, l->n + 1, sizeof *l->list))
        return gf_fail_memory(err, "a search");
    l->list[l->n++] = list;
    return GF_OK;
}

gf_status gf_search_index_take(const gf_search_index *x, uint32_t segment, gf_slice *cell,
                               gf_slice *term, gf_index_lists *lists, gf_error *err)
{
    if (!gf_slice_take_string(cell, term) || term->len == 0) return gf_index_damaged(err);
    return take_entry(x, segment, cell, true, lists, err);
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* A walk over the terms from one on, as long as they are wanted. */
typedef struct term_walk {
    gf_search_index *x;
    uint32_t segment;
    gf_slice term; /* with the language's byte; what is looked for or begins so */
    bool prefix;
    gf_index_lists *lists;
    bool over;
} term_walk;

static gf_status look_at_cell(term_walk *w, gf_slice cell, gf_error *err)
{
    while (cell.len && !w->over) {
        gf_slice term;
        if (!gf_slice_take_string(&cell, &term)) return gf_index_damaged(err);
        bool wanted = w->prefix ? gf_slice_starts(term, w->term) : gf_slice_equal(term, w->term);
        w->over = !wanted && gf_slice_compare(term, w->term) > 0;
        if (w->over) break;
        gf_status st = take_entry(w->x, w->segment, &cell, wanted, w->lists, err);
        if (st != GF_OK) return st;
        w->over = wanted && !w->prefix;
    }
    return GF_OK;
}

/* From the last cell on whose first term is not above it. */
static gf_status walk_terms(term_walk *w, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_row row = {0};
    bool more;
    gf_status st = gf_index_walk(&w->x->place, w->segment, 't', w->term, true, &scan, err);
    if (st == GF_OK) st = gf_scan_step(scan, &row, &more, err);
    if (st == GF_OK && more) st = look_at_cell(w, row.cells[0].value, err);
    gf_scan_close(scan);
    if (st == GF_OK && w->prefix && !w->over) {
        scan = NULL;
        st = gf_index_walk(&w->x->place, w->segment, 't', w->term, false, &scan, err);
        for (more = true; st == GF_OK && more && !w->over;) {
            st = gf_scan_step(scan, &row, &more, err);
            if (st == GF_OK && more) st = look_at_cell(w, row.cells[0].value, err);
        }
        gf_scan_close(scan);
    }
    gf_row_release(&row);
    return st;
}

static gf_status look_up(gf_search_index *x, uint32_t segment, uint32_t language, gf_slice term,
                         bool prefix, gf_index_lists *lists, gf_error *err)
{
    gf_buffer whole = {0};
    gf_buffer_byte(&whole, (char)(unsigned char)language);
    gf_buffer_slice(&whole, term);
    gf_status st = gf_buffer_check(&whole, err);
    term_walk w = {.x = x, .segment = segment, .prefix = prefix, .lists = lists};
    w.term = gf_buffer_view(&whole);
    if (st == GF_OK) st = walk_terms(&w, err);
    gf_buffer_release(&whole);
    return st;
}

gf_status gf_search_index_term(gf_search_index *x, uint32_t segment, uint32_t language,
                               gf_slice term, gf_index_lists *lists, gf_error *err)
{
    return look_up(x, segment, language, term, false, lists, err);
}

gf_status gf_search_index_prefix(gf_search_index *x, uint32_t segment, uint32_t language,
                                 gf_slice prefix, gf_slice besides, gf_index_lists *lists,
                                 gf_error *err)
{
    gf_status st = look_up(x, segment, language, prefix, true, lists, err);
    if (st != GF_OK || gf_slice_starts(besides, prefix)) return st;
    return look_up(x, segment, language, besides, false, lists, err);
}
