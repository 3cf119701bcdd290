/**
 * The cells of the index of the matrix, which similar reads (engine/rows/index_cells.h), of a segment whose
 * documents are inverted. A term is a column.
 */
#ifndef GF_ENGINE_INDEX_SIMILAR_H
#define GF_ENGINE_INDEX_SIMILAR_H

#include "engine/index/search.h"

/** Terms of a part; of the segment only the shape, its number and the pieces are read. */
gf_index_fill_cells gf_index_fill_columns;

/** The value of a posting. */
static inline uint32_t gf_index_weight(float weight)
{
    float w = weight < 1 ? weight : 1;
    return (unsigned char)(w * 255 + 0.5f) + 1u;
}

#endif
