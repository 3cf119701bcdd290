#include "engine/search/check.h"

#include "base/memory.h"
#include "engine/rows/scan.h"

/* ---- ids ------------------------------------------------------------------------------------- */

/* An id that was looked up is the first of its cell, and of its segment, as these are known. */
static bool is_first(const gf_id_reader *r, uint32_t document, gf_slice id)
{
    uint32_t segment = document / r->segment, cell = document % r->segment / GF_INDEX_IDS;
    if (cell == 0 && !gf_slice_equal(r->first[segment], id)) return false;
    return r->firsts_segment != segment || gf_slice_equal(r->firsts[cell - r->firsts_cell], id);
}

/* A cell of ids: they rise, from those before on, and its ends are found by their ids. */
static gf_status check_ids_cell(gf_id_reader *r, uint32_t first, uint32_t end, gf_buffer *before,
                                gf_error *err)
{
    gf_slice id;
    gf_buffer last = {0};
    gf_status st = GF_OK;
    for (uint32_t d = first; d < end && st == GF_OK; d++) {
        st = gf_id_reader_id(r, d, &id, err);
        if (st != GF_OK) break;
        if (d && gf_slice_compare(gf_buffer_view(before), id) >= 0) st = gf_index_damaged(err);
        gf_buffer_reset(before);
        gf_buffer_slice(before, id);
        if (st == GF_OK) st = gf_buffer_check(before, err);
        if (st != GF_OK || (d != first && d != end - 1)) continue;
        uint32_t rank;
        bool there;
        gf_buffer_reset(&last);
        gf_buffer_slice(&last, id);
        st = gf_buffer_check(&last, err);
        if (st == GF_OK) st = gf_id_reader_rank(r, gf_buffer_view(&last), &rank, &there, err);
        if (st == GF_OK && (!there || rank != d)) st = gf_index_damaged(err);
        if (st == GF_OK && d == first && !is_first(r, d, gf_buffer_view(&last)))
            st = gf_index_damaged(err);
    }
    gf_buffer_release(&last);
    return st;
}

static gf_status check_ids(gf_id_reader *r, const gf_cancel *cancel, gf_error *err)
{
    gf_buffer before = {0};
    gf_status st = GF_OK;
    for (uint32_t s = 0; s < r->n_segments && st == GF_OK; s++) {
        uint32_t first = s * r->segment, n = r->n - first < r->segment ? r->n - first : r->segment;
        for (uint32_t at = 0; at < n && st == GF_OK; at += GF_INDEX_IDS) {
            uint32_t end = n - at < GF_INDEX_IDS ? n : at + GF_INDEX_IDS;
            st = gf_cancel_check(cancel, err);
            if (st == GF_OK) st = check_ids_cell(r, first + at, first + end, &before, err);
        }
    }
    gf_buffer_release(&before);
    return st;
}

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct checking {
    gf_search_index x;
    const gf_cancel *cancel;
    uint32_t segment, n; /* at hand; its documents */
    uint32_t *length;    /* n */
    uint64_t *words;     /* n: of the postings that were read */
    uint64_t all;        /* words of all segments */
    gf_buffer before;    /* the term before */
} checking;

/* A posting: its document in the segment. */
static void add_posting(checking *c, gf_index_bounding *b, uint32_t document, uint32_t count)
{
    c->words[document] += count;
    gf_index_bound_add(b, count, c->length[document], c->x.mean);
}

/* A list whose documents are numbered from `first` on, n at most; bounds may be none. */
static gf_status check_list(checking *c, const unsigned char *bounds, const unsigned char *p,
                            const unsigned char *end, uint32_t documents, uint32_t first,
                            uint32_t n, gf_error *err)
{
    gf_index_bounding b = {0};
    uint32_t document = 0, count;
    for (uint32_t i = 0; i < documents; i++) {
        p = gf_index_posting(p, end, n, i == 0, &document, &count);
        if (!p) return gf_index_damaged(err);
        add_posting(c, &b, first + document, count);
        if ((i + 1) % GF_INDEX_GROUP && i + 1 < documents) continue;
        if (bounds && bounds[i / GF_INDEX_GROUP] != gf_index_bound(&b, c->x.mean))
            return gf_index_damaged(err);
        b = (gf_index_bounding){0};
    }
    return p == end ? GF_OK : gf_index_damaged(err);
}

static gf_status check_bitmap(checking *c, const unsigned char *p, const unsigned char *end,
                              uint32_t documents, uint32_t first, uint32_t n, gf_error *err)
{
    uint32_t ranges = gf_index_count(n, GF_INDEX_RANGE), at = 0;
    size_t codes = gf_index_count(documents, 4);
    if ((size_t)(end - p) < ranges * (size_t)9 + codes) return gf_index_damaged(err);
    const unsigned char *bits = p + ranges, *code = bits + 8 * (size_t)ranges, *more = code + codes;
    for (uint32_t r = 0; r < ranges; r++) {
        gf_index_bounding b = {0};
        bool any = false;
        for (uint32_t i = 0; i < GF_INDEX_RANGE; i++) {
            uint32_t d = r * GF_INDEX_RANGE + i;
            if (!(bits[d / 8] >> d % 8 & 1)) continue;
            if (d >= n || at == documents) return gf_index_damaged(err);
            uint64_t further = 0, count = (code[at / 4] >> at % 4 * 2 & 3) + 1u;
            if (count == 4) more = gf_index_varint(more, end, &further);
            if (!more || further > UINT32_MAX - 4) return gf_index_damaged(err);
            add_posting(c, &b, first + d, (uint32_t)(count + further));
            any = true;
            at++;
        }
        if (p[r] != (any ? gf_index_bound(&b, c->x.mean) : 0)) return gf_index_damaged(err);
    }
    bool rest = documents % 4 && code[documents / 4] >> documents % 4 * 2; /* of no document */
    return at == documents && more == end && !rest ? GF_OK : gf_index_damaged(err);
}

/* The best of a piece's bounds. */
static bool is_best(const checking *c, const unsigned char *bounds, uint32_t n, unsigned char best)
{
    double bound[256];
    unsigned char found = 0;
    gf_index_bounds(1, c->x.mean, c->x.mean, bound);
    for (uint32_t i = 0; i < n; i++)
        if (bound[bounds[i]] > bound[found]) found = bounds[i];
    return found == best;
}

static gf_status check_piece(checking *c, gf_index_list *list, const gf_index_piece *piece,
                             gf_error *err)
{
    uint32_t first = piece->chunk * c->x.chunk, n = c->n - first;
    const uint32_t numbers[] = {list->term, piece->cell};
    if (n > c->x.chunk) n = c->x.chunk;
    gf_status st = gf_cancel_check(c->cancel, err);
    if (st == GF_OK && list->cell != piece->cell)
        st = gf_index_read(&c->x.place, c->segment, 'p', numbers, 2, &list->row, err);
    if (st != GF_OK) return st;
    list->cell = piece->cell;
    gf_slice cell = list->row.cells[0].value;
    if (piece->at > cell.len || piece->bytes > cell.len - piece->at) return gf_index_damaged(err);
    const unsigned char *p = (const unsigned char *)cell.ptr + piece->at, *end = p + piece->bytes;
    bool bitmap = gf_index_is_bitmap(piece->documents, n);
    uint32_t bounds = bitmap ? gf_index_count(n, GF_INDEX_RANGE)
                             : gf_index_count(piece->documents, GF_INDEX_GROUP);
    if (bounds > piece->bytes || !is_best(c, p, bounds, piece->bound)) return gf_index_damaged(err);
    return bitmap ? check_bitmap(c, p, end, piece->documents, first, n, err)
                  : check_list(c, p, p + bounds, end, piece->documents, first, n, err);
}

static gf_status check_term(checking *c, gf_index_lists *lists, gf_error *err)
{
    gf_index_list *list = &lists->list[0];
    const unsigned char *memory = (const unsigned char *)lists->memory.ptr;
    gf_status st = GF_OK;
    if (list->n_pieces == 0)
        return check_list(c, list->postings > list->bounds ? memory + list->bounds : NULL,
                          memory + list->postings, memory + list->end, list->documents, 0, c->n,
                          err);
    for (uint32_t i = 0; i < list->n_pieces && st == GF_OK; i++)
        st = check_piece(c, list, &lists->pieces[list->first_piece + i], err);
    return st;
}

/* Terms rise, and the first is that of the cell's qualifier. */
static gf_status check_terms_cell(checking *c, const gf_cell *at, gf_error *err)
{
    gf_slice cell = at->value, term;
    gf_status st = cell.len ? GF_OK : gf_index_damaged(err);
    for (bool first = true; cell.len && st == GF_OK; first = false) {
        gf_index_lists lists = {0};
        st = gf_search_index_take(&c->x, c->segment, &cell, &term, &lists, err);
        if (st == GF_OK && first && !gf_slice_ends(at->qualifier, term)) st = gf_index_damaged(err);
        if (st == GF_OK && c->before.len && gf_slice_compare(gf_buffer_view(&c->before), term) >= 0)
            st = gf_index_damaged(err);
        gf_buffer_reset(&c->before);
        gf_buffer_slice(&c->before, term);
        if (st == GF_OK) st = gf_buffer_check(&c->before, err);
        if (st == GF_OK) st = check_term(c, &lists, err);
        gf_index_lists_release(&lists);
    }
    return st;
}

static gf_status check_terms(checking *c, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_row row = {0};
    bool more = true;
    gf_buffer_reset(&c->before);
    gf_status st = gf_index_walk(&c->x.place, c->segment, 't', (gf_slice){0}, false, &scan, err);
    while (st == GF_OK && more) {
        st = gf_cancel_check(c->cancel, err);
        if (st == GF_OK) st = gf_scan_step(scan, &row, &more, err);
        if (st == GF_OK && more) st = check_terms_cell(c, &row.cells[0], err);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    return st;
}

static gf_status check_segment(checking *c, gf_error *err)
{
    gf_status st = GF_OK;
    c->n = gf_search_index_documents(&c->x, c->segment);
    c->length = gf_array(c->n, sizeof *c->length);
    c->words = gf_calloc(c->n, sizeof *c->words);
    if (!c->length || !c->words) st = gf_fail_memory(err, "a check");
    for (uint32_t d = 0; d < c->n && st == GF_OK; d++) {
        st = gf_search_index_length(&c->x, c->segment * c->x.segment + d, &c->length[d], err);
        if (st == GF_OK) c->all += c->length[d];
    }
    if (st == GF_OK) st = check_terms(c, err);
    for (uint32_t d = 0; d < c->n && st == GF_OK; d++)
        if (c->words[d] != c->length[d]) st = gf_index_damaged(err);
    gf_free(c->length);
    gf_free(c->words);
    return st;
}

gf_status gf_search_index_check(gf_store *store, const gf_snapshot *snapshot, gf_slice build_key,
                                const gf_cancel *cancel, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    checking c = {.cancel = cancel};
    gf_status st = gf_search_index_open(&c.x, store, snapshot, build_key, &why);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st != GF_OK) {
        if (err) *err = why;
        return st;
    }
    st = check_ids(&c.x.ids, cancel, err);
    for (; c.segment < c.x.n_segments && st == GF_OK; c.segment++)
        st = check_segment(&c, err);
    if (st == GF_OK && c.all != c.x.words) st = gf_index_damaged(err);
    gf_search_index_release(&c.x);
    gf_buffer_release(&c.before);
    return st;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

static gf_status check_matrix_cell(const gf_cell *at, uint32_t n, uint32_t terms, uint64_t *next,
                                   gf_error *err)
{
    gf_slice cell = at->value;
    if (at->qualifier.len < 4 || cell.len == 0) return gf_index_damaged(err);
    uint64_t term = gf_read_u32be(at->qualifier.ptr + at->qualifier.len - 4);
    for (bool first = true; cell.len; first = false) {
        uint32_t step, documents, document = 0, value;
        gf_slice postings;
        if (!gf_slice_take_varint32(&cell, &step) || !gf_slice_take_varint32(&cell, &documents) ||
            !gf_slice_take_string(&cell, &postings) || (step == 0) != first)
            return gf_index_damaged(err);
        term += step;
        const unsigned char *p = (const unsigned char *)postings.ptr, *end = p + postings.len;
        for (uint32_t i = 0; i < documents && p; i++) {
            p = gf_index_posting(p, end, n, i == 0, &document, &value);
            if (p && value > 256) p = NULL;
        }
        if (p != end || !documents || term < *next || term >= terms) return gf_index_damaged(err);
        *next = term + 1;
    }
    return GF_OK;
}

static gf_status check_matrix(const gf_id_reader *ids, const gf_index_place *place, uint32_t terms,
                              const gf_cancel *cancel, gf_error *err)
{
    gf_row row = {0};
    gf_status st = GF_OK;
    for (uint32_t s = 0; s < ids->n_segments && st == GF_OK; s++) {
        gf_scan *scan = NULL;
        uint64_t next = 0;
        bool more = true;
        uint32_t left = ids->n - s * ids->segment;
        st = gf_index_walk(place, s, 't', (gf_slice){0}, false, &scan, err);
        while (st == GF_OK && more) {
            st = gf_cancel_check(cancel, err);
            if (st == GF_OK) st = gf_scan_step(scan, &row, &more, err);
            if (st == GF_OK && more)
                st = check_matrix_cell(&row.cells[0], left < ids->segment ? left : ids->segment,
                                       terms, &next, err);
        }
        gf_scan_close(scan);
    }
    gf_row_release(&row);
    return st;
}

gf_status gf_similar_index_check(gf_store *store, const gf_snapshot *snapshot, gf_slice build_key,
                                 uint64_t documents, uint32_t terms, const gf_cancel *cancel,
                                 gf_error *err)
{
    gf_matrix_index x;
    bool there;
    gf_status st = gf_matrix_index_open(&x, store, snapshot, build_key, &there, err);
    if (st != GF_OK || !there) return st;
    if (x.ids.n != documents) st = gf_index_damaged(err);
    if (st == GF_OK && x.own_ids) st = check_ids(&x.ids, cancel, err);
    if (st == GF_OK) st = check_matrix(&x.ids, &x.place, terms, cancel, err);
    gf_matrix_index_release(&x);
    return st;
}
