/** Reading the index of a build's words (engine/build/search_cells.h has its format). */
#ifndef GF_ENGINE_SEARCH_INDEX_H
#define GF_ENGINE_SEARCH_INDEX_H

#include "engine/build/search_cells.h"
#include "engine/search/postings.h"

/** An index: the build that it is part of, and its head. */
typedef struct gf_search_index {
    gf_store *store;
    const gf_snapshot *snapshot;
    gf_slice build_key;
    gf_row head_row;      /* slices below borrow from it */
    uint32_t n;           /* documents */
    uint64_t words;       /* of all documents */
    uint32_t n_languages; /* at most 256 */
    const gf_language *languages[256];
    gf_slice *first_id; /* n_cells */
    uint32_t n_cells;
    uint32_t *length; /* n: words of each document */

    gf_row ids_row; /* the cell of ids read last */
    uint32_t ids_cell;
    gf_slice ids[GF_INDEX_IDS];
} gf_search_index;

/** GF_ENOTFOUND where the build has none of this format; on failure it is empty. */
gf_status gf_search_index_open(gf_search_index *x, gf_store *store, const gf_snapshot *snapshot,
                               gf_slice build_key, gf_error *err);
void gf_search_index_release(gf_search_index *x);

/** The id of a document; borrowed until the next call. */
gf_status gf_search_index_id(gf_search_index *x, uint32_t document, gf_slice *id, gf_error *err);

/** The number of ids below this one, which is its own number if it is there itself. */
gf_status gf_search_index_rank(gf_search_index *x, gf_slice id, uint32_t *rank, bool *there,
                               gf_error *err);

/**
 * Append a term's postings, or those of all terms that start so; `language` is a number of the
 * index. Of several terms they are not in order: *lists tells how many were appended.
 */
gf_status gf_search_index_term(gf_search_index *x, uint32_t language, gf_slice term,
                               gf_postings *postings, size_t *lists, gf_error *err);
gf_status gf_search_index_prefix(gf_search_index *x, uint32_t language, gf_slice prefix,
                                 gf_slice besides, gf_postings *postings, size_t *lists,
                                 gf_error *err);

#endif
