/**
 * An inverted index of a build's matrix, which similar documents are found by; segment by segment.
 * engine/rows/index_cells.h has its cells.
 */
#ifndef GF_ENGINE_BUILD_SIMILAR_INDEX_H
#define GF_ENGINE_BUILD_SIMILAR_INDEX_H

#include "engine/build/gather.h"
#include "engine/index/ids.h"

/**
 * Write the index of the documents; where ranks have made its cells of terms (documents->cells), all but these.
 *
 * @param own_ids  with their ids; else the build's index of all words has them, of the same documents
 * Cost: O(entries); memory for each thread 16 bytes an entry of a chunk, and by segment some 2.5
 *       bytes for each entry, 12 for each term of each chunk. A file of rows is read once.
 */
gf_status gf_build_write_similar_index(const gf_build_gathered *documents, gf_pool *pool,
                                       const gf_cancel *cancel, bool own_ids,
                                       const gf_index_cells *to, gf_error *err);

#endif
