/**
 * The index that search reads: which words each document of a collection has, and how often. It is
 * written with a build and kept in its row, in builds:model, as the cells
 *
 *     search:h                 head: a byte 1 (the format), then varints and strings (a varint
 *                              length and the bytes): documents n, their words in all, languages
 *                              m, m names ("" for none), cells of ids c, the first id of each
 *     search:i <cell, u32 BE>  GF_INDEX_IDS ids, strings, in the order of ids
 *     search:l                 words of each document, n varints
 *     search:t <term>          terms from this one on, by bytes, as many as fit some 16 KB: each a
 *                              string, then the documents that have it and the bytes that follow
 *                              (varints), then for each document (its number less the one before)
 *                              * 2 + more, and where more is 1 how often it has it, less 2
 *
 * A term here is a byte for the number of the language in which its documents are analysed, and the
 * analyser's term: so one text's "die" is not another's. Documents are numbered by id. Every word
 * counts, stop words and those that no clustering uses too, whatever the configuration's filter.
 *
 * A build without these cells (of an older version, or store_index=off) is searched by its texts.
 */
#ifndef GF_ENGINE_BUILD_SEARCH_CELLS_H
#define GF_ENGINE_BUILD_SEARCH_CELLS_H

#include "engine/build/similar_index.h"
#include "vectorize/rows/words.h"

enum { GF_INDEX_IDS = 256, GF_INDEX_FORMAT = 1 };

#define GF_INDEX_HEAD    "search:h"
#define GF_INDEX_ID      "search:i"
#define GF_INDEX_LENGTHS "search:l"
#define GF_INDEX_TERM    "search:t"

/**
 * The words of all documents of the plan's snapshot: documents->words, which become the caller's,
 * else counted from the texts. *ids gets the documents' ids, as strings in their order
 * (search_words.c).
 */
gf_status gf_build_take_words(const gf_build_plan *plan, gf_pool *pool,
                              gf_build_gathered *documents, gf_words **words, gf_buffer *ids,
                              gf_error *err);

/**
 * Index all documents of the plan's snapshot; documents->words are used up.
 * Cost: that of gf_inverted_make; without documents->words also the analysis of all texts.
 */
gf_status gf_build_write_search_cells(const gf_build_plan *plan, gf_pool *pool,
                                      gf_build_gathered *documents, gf_build_put_cell *put,
                                      void *context, gf_error *err);

#endif
