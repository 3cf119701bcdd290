#include "engine/index/ids.h"

#include "base/memory.h"

/* A part: cells of ids whose first ids are one cell. */
typedef struct id_parts {
    const char *prefix;
    gf_index_ids ids; /* of the segment */
    uint32_t segment, cells;
} id_parts;

void gf_index_first_ids(const gf_index_ids *ids, uint32_t segment_documents, gf_buffer *head)
{
    for (uint64_t i = 0; i < ids->n; i += segment_documents)
        gf_buffer_string(head, gf_index_id(ids, (uint32_t)i));
}

static gf_status put_ids(const id_parts *p, uint32_t cell, gf_buffer *qualifier, gf_buffer *value,
                         gf_index_put_cell *put, void *context, gf_error *err)
{
    uint32_t from = cell * GF_INDEX_IDS;
    gf_buffer_reset(qualifier);
    gf_buffer_reset(value);
    gf_index_qualifier(qualifier, p->prefix, p->segment, 'i');
    gf_buffer_u32be(qualifier, cell);
    for (uint32_t i = from; i < p->ids.n && i < from + GF_INDEX_IDS; i++)
        gf_buffer_string(value, gf_index_id(&p->ids, i));
    gf_status st = gf_buffer_check(qualifier, err);
    return st == GF_OK ? put(context, gf_buffer_view(qualifier), value, err) : st;
}

static gf_status fill_ids(void *of, uint32_t part, gf_index_put_cell *put, void *context,
                          gf_error *err)
{
    const id_parts *p = of;
    gf_buffer qualifier = {0}, value = {0};
    uint32_t cell = part * GF_INDEX_FIRSTS, end = cell + GF_INDEX_FIRSTS;
    gf_status st = GF_OK;
    for (; cell < end && cell < p->cells && st == GF_OK; cell++)
        st = put_ids(p, cell, &qualifier, &value, put, context, err);
    gf_buffer_release(&qualifier);
    gf_buffer_release(&value);
    return st;
}

static gf_status fill_firsts(void *of, uint32_t part, gf_index_put_cell *put, void *context,
                             gf_error *err)
{
    (void)part;
    const id_parts *p = of;
    gf_buffer qualifier = {0}, value = {0};
    gf_status st = GF_OK;
    for (uint32_t from = 0; from < p->cells && st == GF_OK; from += GF_INDEX_FIRSTS) {
        gf_buffer_reset(&qualifier);
        gf_buffer_reset(&value);
        gf_index_qualifier(&qualifier, p->prefix, p->segment, 'j');
        gf_buffer_slice(&qualifier, gf_index_id(&p->ids, from * GF_INDEX_IDS));
        gf_buffer_varint(&value, from);
        for (uint32_t c = from; c < p->cells && c < from + GF_INDEX_FIRSTS; c++)
            gf_buffer_string(&value, gf_index_id(&p->ids, c * GF_INDEX_IDS));
        st = gf_buffer_check(&qualifier, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&qualifier), &value, err);
    }
    gf_buffer_release(&qualifier);
    gf_buffer_release(&value);
    return st;
}

gf_status gf_index_write_ids(const gf_index_cells *to, const char *prefix, const gf_index_ids *ids,
                             uint32_t segment_documents, uint32_t segment, gf_error *err)
{
    uint32_t first = segment * segment_documents, n = ids->n - first;
    if (n > segment_documents) n = segment_documents;
    id_parts p = {.prefix = prefix,
                  .ids = {n, ids->start + first, ids->bytes},
                  .segment = segment,
                  .cells = gf_index_count(n, GF_INDEX_IDS)};
    gf_status st =
        to->parts(to->context, fill_ids, &p, gf_index_count(p.cells, GF_INDEX_FIRSTS), err);
    if (st == GF_OK && p.cells > 1) st = to->parts(to->context, fill_firsts, &p, 1, err);
    return st;
}
