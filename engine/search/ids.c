#include "engine/search/ids.h"

#include "base/memory.h"
#include "engine/rows/scan.h"

gf_status gf_index_damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "the index of a build is damaged");
}

gf_status gf_index_read(const gf_index_place *p, uint32_t segment, char kind,
                        const uint32_t *numbers, size_t n_numbers, gf_row *row, gf_error *err)
{
    gf_buffer qualifier = {0};
    gf_index_qualifier(&qualifier, p->prefix, segment, kind);
    for (size_t i = 0; i < n_numbers; i++)
        gf_buffer_u32be(&qualifier, numbers[i]);
    gf_status st = gf_buffer_check(&qualifier, err);
    if (st == GF_OK)
        st = gf_table_get_cell(p->store->tables.builds, p->snapshot, p->build_key, GF_BUILDS_MODEL,
                               gf_buffer_view(&qualifier), 1, row, err);
    gf_buffer_release(&qualifier);
    return st == GF_ENOTFOUND ? gf_index_damaged(err) : st;
}

gf_status gf_index_walk(const gf_index_place *p, uint32_t segment, char kind, gf_slice from,
                        bool reverse, gf_scan **scan, gf_error *err)
{
    gf_buffer qualifier = {0};
    gf_index_qualifier(&qualifier, p->prefix, segment, kind);
    size_t start = qualifier.len;
    gf_buffer_slice(&qualifier, from);
    if (reverse) gf_buffer_byte(&qualifier, '\0'); /* behind itself */
    gf_status st = gf_buffer_check(&qualifier, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = p->snapshot, .family = GF_BUILDS_MODEL,
                                        .prefix = p->build_key, .reverse = reverse);
    o.qualifier_prefix = gf_slice_of(qualifier.ptr, start);
    if (from.ptr || reverse) o.after_qualifier = gf_buffer_view(&qualifier);
    if (st == GF_OK) st = gf_scan_open(p->store->tables.builds, &o, scan, err);
    gf_buffer_release(&qualifier);
    return st;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void forget_cells(gf_id_reader *r)
{
    r->row_segment = r->firsts_segment = UINT32_MAX;
    r->n_row = r->n_firsts = 0;
}

gf_status gf_id_reader_open(gf_id_reader *r, const gf_index_place *place, uint32_t n,
                            uint32_t segment, gf_slice firsts, gf_error *err)
{
    *r = (gf_id_reader){.place = *place, .n = n, .segment = segment};
    forget_cells(r);
    r->n_segments = segment ? gf_index_count(n, segment) : 0;
    gf_status st = segment && r->n_segments <= firsts.len ? GF_OK : gf_index_damaged(err);
    if (st == GF_OK) r->first = gf_array(r->n_segments, sizeof *r->first);
    if (st == GF_OK && !r->first) st = gf_fail_memory(err, "the index");
    for (uint32_t i = 0; i < r->n_segments && st == GF_OK; i++)
        if (!gf_slice_take_string(&firsts, &r->first[i])) st = gf_index_damaged(err);
    if (st == GF_OK && firsts.len) st = gf_index_damaged(err);
    if (st != GF_OK) gf_id_reader_release(r);
    return st;
}

void gf_id_reader_release(gf_id_reader *r)
{
    gf_row_release(&r->row);
    gf_row_release(&r->firsts_row);
    gf_free(r->first);
    *r = (gf_id_reader){.n = 0};
}

/* ---- ids ------------------------------------------------------------------------------------- */

static uint32_t segment_documents(const gf_id_reader *r, uint32_t segment)
{
    uint32_t left = r->n - segment * r->segment;
    return left < r->segment ? left : r->segment;
}

static gf_status need_ids(gf_id_reader *r, uint32_t segment, uint32_t cell, gf_error *err)
{
    if (r->row_segment == segment && r->row_cell == cell) return GF_OK;
    r->row_segment = UINT32_MAX;
    gf_status st = gf_index_read(&r->place, segment, 'i', &cell, 1, &r->row, err);
    if (st != GF_OK) return st;
    gf_slice bytes = r->row.cells[0].value;
    uint32_t n = segment_documents(r, segment) - cell * GF_INDEX_IDS;
    r->n_row = n < GF_INDEX_IDS ? n : GF_INDEX_IDS;
    for (uint32_t i = 0; i < r->n_row; i++)
        if (!gf_slice_take_string(&bytes, &r->ids[i])) return gf_index_damaged(err);
    if (bytes.len) return gf_index_damaged(err);
    r->row_segment = segment;
    r->row_cell = cell;
    return GF_OK;
}

gf_status gf_id_reader_id(gf_id_reader *r, uint32_t document, gf_slice *id, gf_error *err)
{
    uint32_t segment = document / r->segment, of_segment = document % r->segment;
    gf_status st = need_ids(r, segment, of_segment / GF_INDEX_IDS, err);
    if (st == GF_OK) *id = r->ids[of_segment % GF_INDEX_IDS];
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

/* The cell of first ids that an id of the segment, which is not below its first, belongs to. */
static gf_status need_firsts(gf_id_reader *r, uint32_t segment, gf_slice id, gf_error *err)
{
    gf_scan *scan = NULL;
    bool more = false;
    uint32_t cells = gf_index_count(segment_documents(r, segment), GF_INDEX_IDS);
    if (r->firsts_segment == segment && gf_slice_compare(r->firsts[0], id) <= 0 &&
        gf_slice_compare(id, r->firsts[r->n_firsts - 1]) <= 0)
        return GF_OK;
    r->firsts_segment = UINT32_MAX;
    gf_status st = gf_index_walk(&r->place, segment, 'j', id, true, &scan, err);
    if (st == GF_OK) st = gf_scan_step(scan, &r->firsts_row, &more, err);
    gf_scan_close(scan);
    if (st != GF_OK) return st;
    gf_slice bytes = more ? r->firsts_row.cells[0].value : (gf_slice){0};
    if (!gf_slice_take_varint32(&bytes, &r->firsts_cell) || r->firsts_cell >= cells ||
        r->firsts_cell % GF_INDEX_FIRSTS)
        return gf_index_damaged(err);
    r->n_firsts = cells - r->firsts_cell;
    if (r->n_firsts > GF_INDEX_FIRSTS) r->n_firsts = GF_INDEX_FIRSTS;
    for (uint32_t i = 0; i < r->n_firsts; i++)
        if (!gf_slice_take_string(&bytes, &r->firsts[i])) return gf_index_damaged(err);
    if (bytes.len || gf_slice_compare(r->firsts[0], id) > 0) return gf_index_damaged(err);
    r->firsts_segment = segment;
    return GF_OK;
}

gf_status gf_id_reader_rank(gf_id_reader *r, gf_slice id, uint32_t *rank, bool *there,
                            gf_error *err)
{
    uint32_t segment = count_at_most(r->first, r->n_segments, id), cell = 0;
    gf_status st = GF_OK;
    *rank = 0;
    *there = false;
    if (segment-- == 0) return GF_OK;
    if (segment_documents(r, segment) > GF_INDEX_IDS) {
        st = need_firsts(r, segment, id, err);
        if (st == GF_OK) cell = r->firsts_cell + count_at_most(r->firsts, r->n_firsts, id) - 1;
    }
    if (st == GF_OK) st = need_ids(r, segment, cell, err);
    if (st != GF_OK) return st;
    uint32_t below = count_at_most(r->ids, r->n_row, id);
    *there = below && gf_slice_equal(r->ids[below - 1], id);
    *rank = segment * r->segment + cell * GF_INDEX_IDS + below - *there;
    return GF_OK;
}
