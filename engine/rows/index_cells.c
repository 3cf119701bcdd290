#include "engine/rows/index_cells.h"

#include <assert.h>

static gf_index_shape shape_now = {GF_INDEX_SEGMENT, GF_INDEX_CHUNK, GF_INDEX_LONG};

gf_index_shape gf_index_shape_now(void)
{
    return shape_now;
}

void gf_index_set_shape(gf_index_shape shape)
{
    if (!shape.segment) shape.segment = GF_INDEX_SEGMENT;
    if (!shape.chunk) shape.chunk = GF_INDEX_CHUNK;
    if (!shape.is_long) shape.is_long = GF_INDEX_LONG;
    assert(shape.chunk <= GF_INDEX_CHUNK && shape.chunk % GF_INDEX_RANGE == 0);
    shape_now = shape;
}

void gf_index_qualifier(gf_buffer *out, const char *prefix, uint32_t segment, char kind)
{
    gf_buffer_str(out, prefix);
    gf_buffer_byte(out, 's');
    gf_buffer_u32be(out, segment);
    gf_buffer_byte(out, kind);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

enum { STEPS = 255 - GF_INDEX_EXACT };

/* More than rounding can take away. */
#define SLACK (1 + 1e-9)

unsigned char gf_index_bound(const gf_index_bounding *b, double mean)
{
    double exact = b->shortest ? gf_bm25_part(1, 1, b->shortest - 1, mean) : 0;
    if (exact > b->others * SLACK) return (unsigned char)(b->shortest - 1);
    double most = exact > b->others ? exact : b->others;
    double step = ceil(most * SLACK / GF_BM25_MOST * STEPS);
    if (!(step > 1)) step = 1;
    return (unsigned char)(GF_INDEX_EXACT + (step < STEPS ? step : STEPS));
}

void gf_index_bounds(double idf, double then, double now, double bound[256])
{
    double raised = now > then ? now / then * SLACK : now < then ? SLACK : 1;
    bound[0] = 0;
    for (uint32_t code = 1; code < 256; code++) {
        double part = code <= GF_INDEX_EXACT
                          ? gf_bm25_part(idf, 1, code, then)
                          : idf * GF_BM25_MOST * (code - GF_INDEX_EXACT) / STEPS * SLACK;
        bound[code] = part * raised;
        if (bound[code] > idf * GF_BM25_MOST * SLACK) bound[code] = idf * GF_BM25_MOST * SLACK;
    }
}
