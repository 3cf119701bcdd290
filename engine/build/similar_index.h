/**
 * An inverted index of a build's documents, for search: in builds:model the cells
 *
 *     index                 documents; then each id (varint length, bytes), in the order of ids
 *     index <term, u32 BE>  the terms from this one on, as many as fit some 16 KB: for each the
 * number of its documents, their numbers (each less the one before), and a byte each: the weight,
 * 255 for 1
 *
 * So the documents of one term are found by one read of the last cell whose term is not above it.
 */
#ifndef GF_ENGINE_BUILD_SIMILAR_INDEX_H
#define GF_ENGINE_BUILD_SIMILAR_INDEX_H

#include "engine/build/internal.h"

typedef gf_status gf_put_cell(void *context, gf_slice qualifier, gf_buffer *value, gf_error *err);

/** Entries of the terms that are sorted at a time, of rows in a file; of one term more if it has. */
enum { GF_INDEX_ENTRIES = 1 << 20 };

/**
 * Cost: O(entries); memory 8 bytes an entry. Of rows in a file, which is read once for each
 * GF_INDEX_ENTRIES that there are: 8 bytes for each of those.
 */
gf_status gf_write_index(const gf_gathered *documents, gf_put_cell *put, void *context,
                         gf_error *err);

#endif
