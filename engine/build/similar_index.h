/**
 * An inverted index of a build's documents, for search: in builds:model the cells
 *
 *     index                 documents; then each id (varint length, bytes), in the order of ids
 *     index <term, u32 BE>  the terms from this one on, as many as fit some 16 KB: for each the
 *                           number of its documents, their numbers (each less the one before), and
 *                           a byte each: the weight, 255 for 1
 *
 * So the documents of one term are found by one read of the last cell whose term is not above it.
 */
#ifndef GF_ENGINE_BUILD_SIMILAR_INDEX_H
#define GF_ENGINE_BUILD_SIMILAR_INDEX_H

#include "engine/build/gather.h"

/** Writes a cell of builds:model; the value may be changed. */
typedef gf_status gf_build_put_cell(void *context, gf_slice qualifier, gf_buffer *value,
                                    gf_error *err);

/** Entries sorted at a time if the rows lie in a file; a term with more is sorted alone. */
enum { GF_INDEX_ENTRIES = 1 << 20 };

/**
 * Write the index of the documents.
 * Cost: O(entries); memory 8 bytes an entry. A file of rows is read once for each GF_INDEX_ENTRIES
 *       entries, in memory of 8 bytes for each of those.
 */
gf_status gf_build_write_similar_index(const gf_build_gathered *documents, gf_build_put_cell *put,
                                       void *context, gf_error *err);

#endif
