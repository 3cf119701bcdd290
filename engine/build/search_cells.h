/**
 * The index that search reads: which words each document of a collection has, and how often. It is
 * written with a build, segment by segment; engine/rows/index_cells.h has its cells.
 */
#ifndef GF_ENGINE_BUILD_SEARCH_CELLS_H
#define GF_ENGINE_BUILD_SEARCH_CELLS_H

#include "engine/build/gather.h"
#include "engine/index/ids.h"

/** The words of all documents of a collection, and their ids. {0} to begin with. */
typedef struct gf_indexed_words {
    gf_words *words;
    gf_index_ids ids; /* borrowed from what was gathered, or from */
    gf_buffer bytes;
    uint64_t *start; /* of capacity */
    size_t capacity;
} gf_indexed_words;

/**
 * The words of all documents of the plan's snapshot: documents->words, which become the caller's,
 * else counted from the texts (search_words.c). To be released, also after a failure.
 */
gf_status gf_build_take_words(const gf_build_plan *plan, gf_pool *pool,
                              gf_build_gathered *documents, gf_indexed_words *out, gf_error *err);
void gf_indexed_words_release(gf_indexed_words *words);

/**
 * Index all documents of the plan's snapshot; documents->words are used up. Where ranks have made the
 * cells of words (documents->cells), all but these is written.
 *
 * @param[out] of_gathered  the index's documents are those that were gathered, and no others
 * Cost: two walks over the words, all else by segment: some 1.5 bytes of memory for each word of
 *       each of its documents, 12 for each word of each chunk; 24 for each word of the collection.
 *       Without documents->words also the analysis of all texts.
 */
gf_status gf_build_write_search_cells(const gf_build_plan *plan, gf_pool *pool,
                                      gf_build_gathered *documents, const gf_index_cells *to,
                                      bool *of_gathered, gf_error *err);

#endif
