#include "engine/search/index.h"

#include "base/memory.h"
#include "engine/rows/scan.h"

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "the index for search of a build is damaged");
}

static gf_status read_cell(gf_search_index *x, gf_slice qualifier, gf_row *row, gf_error *err)
{
    return gf_table_get_cell(x->store->tables.builds, x->snapshot, x->build_key, GF_BUILDS_MODEL,
                             qualifier, 1, row, err);
}

/* ---- head and lengths ------------------------------------------------------------------------ */

static gf_status take_languages(gf_search_index *x, gf_slice *head, gf_error *err)
{
    if (!gf_slice_take_varint32(head, &x->n_languages) || x->n_languages > 256) return damaged(err);
    for (uint32_t i = 0; i < x->n_languages; i++) {
        gf_slice name;
        if (!gf_slice_take_string(head, &name)) return damaged(err);
        x->languages[i] = name.len ? gf_language_find(name) : NULL;
        if (name.len && !x->languages[i]) return damaged(err);
    }
    return GF_OK;
}

static gf_status take_first_ids(gf_search_index *x, gf_slice *head, gf_error *err)
{
    if (!gf_slice_take_varint32(head, &x->n_cells) ||
        x->n_cells != ((uint64_t)x->n + GF_INDEX_IDS - 1) / GF_INDEX_IDS || x->n_cells > head->len)
        return damaged(err);
    x->first_id = gf_array(x->n_cells, sizeof *x->first_id);
    if (!x->first_id) return gf_fail_memory(err, "the index");
    for (uint32_t i = 0; i < x->n_cells; i++)
        if (!gf_slice_take_string(head, &x->first_id[i])) return damaged(err);
    return head->len ? damaged(err) : GF_OK;
}

static gf_status take_head(gf_search_index *x, gf_error *err)
{
    gf_slice head = x->head_row.cells[0].value;
    if (head.len == 0) return damaged(err);
    if (head.ptr[0] != GF_INDEX_FORMAT)
        return gf_fail(err, GF_ENOTFOUND, "the build has an index of another format");
    head = gf_slice_skip(head, 1);
    if (!gf_slice_take_varint32(&head, &x->n) || !gf_slice_take_varint(&head, &x->words))
        return damaged(err);
    gf_status st = take_languages(x, &head, err);
    return st == GF_OK ? take_first_ids(x, &head, err) : st;
}

static gf_status take_lengths(gf_search_index *x, gf_error *err)
{
    gf_row row = {0};
    uint64_t words = 0;
    gf_status st = read_cell(x, GF_SLICE(GF_INDEX_LENGTHS), &row, err);
    if (st == GF_ENOTFOUND) st = damaged(err);
    if (st == GF_OK && x->n > row.cells[0].value.len) st = damaged(err);
    if (st == GF_OK) x->length = gf_array(x->n, sizeof *x->length);
    if (st == GF_OK && !x->length) st = gf_fail_memory(err, "the index");
    gf_slice bytes = st == GF_OK ? row.cells[0].value : (gf_slice){0};
    for (uint32_t i = 0; i < x->n && st == GF_OK; i++) {
        if (!gf_slice_take_varint32(&bytes, &x->length[i])) st = damaged(err);
        if (st == GF_OK) words += x->length[i];
    }
    gf_row_release(&row);
    return st == GF_OK && (bytes.len || words != x->words) ? damaged(err) : st;
}

gf_status gf_search_index_open(gf_search_index *x, gf_store *store, const gf_snapshot *snapshot,
                               gf_slice build_key, gf_error *err)
{
    *x = (gf_search_index){
        .store = store, .snapshot = snapshot, .build_key = build_key, .ids_cell = UINT32_MAX};
    gf_status st = read_cell(x, GF_SLICE(GF_INDEX_HEAD), &x->head_row, err);
    if (st == GF_OK) st = take_head(x, err);
    if (st == GF_OK) st = take_lengths(x, err);
    if (st != GF_OK) gf_search_index_release(x);
    return st;
}

void gf_search_index_release(gf_search_index *x)
{
    gf_row_release(&x->head_row);
    gf_row_release(&x->ids_row);
    gf_free(x->first_id);
    gf_free(x->length);
    *x = (gf_search_index){0};
}

/* ---- ids ------------------------------------------------------------------------------------- */

static uint32_t ids_of_cell(const gf_search_index *x, uint32_t cell)
{
    uint32_t left = x->n - cell * GF_INDEX_IDS;
    return left < GF_INDEX_IDS ? left : GF_INDEX_IDS;
}

static gf_status need_ids(gf_search_index *x, uint32_t cell, gf_error *err)
{
    char qualifier[sizeof GF_INDEX_ID - 1 + 4];
    if (x->ids_cell == cell) return GF_OK;
    x->ids_cell = UINT32_MAX;
    memcpy(qualifier, GF_INDEX_ID, sizeof GF_INDEX_ID - 1);
    for (int i = 0; i < 4; i++)
        qualifier[sizeof GF_INDEX_ID - 1 + (size_t)i] = (char)(cell >> (24 - 8 * i));
    gf_status st = read_cell(x, gf_slice_of(qualifier, sizeof qualifier), &x->ids_row, err);
    if (st == GF_ENOTFOUND) return damaged(err);
    if (st != GF_OK) return st;
    gf_slice bytes = x->ids_row.cells[0].value;
    for (uint32_t i = 0; i < ids_of_cell(x, cell); i++)
        if (!gf_slice_take_string(&bytes, &x->ids[i])) return damaged(err);
    x->ids_cell = cell;
    return GF_OK;
}

gf_status gf_search_index_id(gf_search_index *x, uint32_t document, gf_slice *id, gf_error *err)
{
    gf_status st = need_ids(x, document / GF_INDEX_IDS, err);
    if (st == GF_OK) *id = x->ids[document % GF_INDEX_IDS];
    return st;
}

/* The number of ids, of n rising ones, that are at most this one. */
static uint32_t count_at_most(const gf_slice *ids, uint32_t n, gf_slice id)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gf_slice_compare(ids[middle], id) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

gf_status gf_search_index_rank(gf_search_index *x, gf_slice id, uint32_t *rank, bool *there,
                               gf_error *err)
{
    uint32_t cell = count_at_most(x->first_id, x->n_cells, id);
    *rank = 0;
    *there = false;
    if (cell == 0) return GF_OK;
    gf_status st = need_ids(x, --cell, err);
    if (st != GF_OK) return st;
    uint32_t below = count_at_most(x->ids, ids_of_cell(x, cell), id);
    *there = below && gf_slice_equal(x->ids[below - 1], id);
    *rank = cell * GF_INDEX_IDS + below - *there;
    return GF_OK;
}

static gf_status take_postings(const gf_search_index *x, uint32_t n, gf_slice bytes, gf_postings *p,
                               gf_error *err)
{
    uint64_t document = 0;
    if (n > bytes.len) return damaged(err);
    gf_status st = gf_postings_reserve(p, n, err);
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        uint64_t step;
        uint32_t more = 0;
        if (!gf_slice_take_varint(&bytes, &step) || (i && step >> 1 == 0) || step >> 1 >= x->n)
            return damaged(err);
        document += step >> 1;
        if (document >= x->n || (step & 1 && !gf_slice_take_varint32(&bytes, &more)) ||
            more > UINT32_MAX - 2)
            return damaged(err);
        p->document[p->n] = (uint32_t)document;
        p->count[p->n++] = step & 1 ? more + 2 : 1;
    }
    return st == GF_OK && bytes.len ? damaged(err) : st;
}

/* A walk over the terms from one on, as long as they are wanted. */
typedef struct term_walk {
    gf_search_index *x;
    gf_slice term; /* with the language's byte; what is looked for or begins so */
    bool prefix;
    gf_postings *postings;
    size_t *lists;
    bool over;
} term_walk;

static gf_status look_at_cell(term_walk *w, gf_slice cell, gf_error *err)
{
    while (cell.len && !w->over) {
        gf_slice term, bytes;
        uint32_t n;
        if (!gf_slice_take_string(&cell, &term) || !gf_slice_take_varint32(&cell, &n) ||
            !gf_slice_take_string(&cell, &bytes))
            return damaged(err);
        bool wanted = w->prefix ? gf_slice_starts(term, w->term) : gf_slice_equal(term, w->term);
        w->over = !wanted && gf_slice_compare(term, w->term) > 0;
        if (!wanted) continue;
        gf_status st = take_postings(w->x, n, bytes, w->postings, err);
        if (st != GF_OK) return st;
        ++*w->lists;
        w->over = !w->prefix;
    }
    return GF_OK;
}

/* The cell that the term would be in: the last whose first term is not above it. */
static gf_status first_cell(term_walk *w, const gf_scan_options *all, gf_buffer *after,
                            gf_error *err)
{
    gf_scan_options o = *all;
    gf_scan *scan = NULL;
    gf_row row = {0};
    bool more;
    gf_buffer_byte(after, '\0'); /* behind the term itself */
    gf_status st = gf_buffer_check(after, err);
    if (st != GF_OK) return st;
    o.reverse = true;
    o.after_qualifier = gf_buffer_view(after);
    st = gf_scan_open(w->x->store->tables.builds, &o, &scan, err);
    if (st == GF_OK) st = gf_scan_step(scan, &row, &more, err);
    if (st == GF_OK && more) st = look_at_cell(w, row.cells[0].value, err);
    gf_scan_close(scan);
    gf_row_release(&row);
    return st;
}

static gf_status further_cells(term_walk *w, const gf_scan_options *all, gf_slice after,
                               gf_error *err)
{
    gf_scan_options o = *all;
    gf_scan *scan = NULL;
    gf_row row = {0};
    bool more = true;
    o.after_qualifier = after;
    gf_status st = gf_scan_open(w->x->store->tables.builds, &o, &scan, err);
    while (st == GF_OK && more && !w->over) {
        st = gf_scan_step(scan, &row, &more, err);
        if (st == GF_OK && more) st = look_at_cell(w, row.cells[0].value, err);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    return st;
}

static gf_status look_up(gf_search_index *x, uint32_t language, gf_slice term, bool prefix,
                         gf_postings *postings, size_t *lists, gf_error *err)
{
    gf_buffer after = {0};
    gf_buffer_str(&after, GF_INDEX_TERM);
    gf_buffer_byte(&after, (char)(unsigned char)language);
    gf_buffer_slice(&after, term);
    gf_status st = gf_buffer_check(&after, err);
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = x->snapshot, .family = GF_BUILDS_MODEL, .prefix = x->build_key,
                        .qualifier_prefix = GF_SLICE(GF_INDEX_TERM));
    term_walk w = {.x = x, .prefix = prefix, .postings = postings, .lists = lists};
    gf_buffer whole = {0};
    gf_buffer_slice(&whole, gf_slice_skip(gf_buffer_view(&after), sizeof GF_INDEX_TERM - 1));
    if (st == GF_OK) st = gf_buffer_check(&whole, err);
    w.term = gf_buffer_view(&whole);
    if (st == GF_OK) st = first_cell(&w, &o, &after, err);
    if (st == GF_OK && prefix && !w.over) st = further_cells(&w, &o, gf_buffer_view(&after), err);
    gf_buffer_release(&after);
    gf_buffer_release(&whole);
    return st;
}

gf_status gf_search_index_term(gf_search_index *x, uint32_t language, gf_slice term,
                               gf_postings *postings, size_t *lists, gf_error *err)
{
    return look_up(x, language, term, false, postings, lists, err);
}

gf_status gf_search_index_prefix(gf_search_index *x, uint32_t language, gf_slice prefix,
                                 gf_slice besides, gf_postings *postings, size_t *lists,
                                 gf_error *err)
{
    gf_status st = look_up(x, language, prefix, true, postings, lists, err);
    if (st != GF_OK || gf_slice_starts(besides, prefix)) return st;
    return look_up(x, language, besides, false, postings, lists, err);
}
