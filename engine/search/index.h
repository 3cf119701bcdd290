/** Reading the index of a build's words (engine/rows/index_cells.h has its cells). */
#ifndef GF_ENGINE_SEARCH_INDEX_H
#define GF_ENGINE_SEARCH_INDEX_H

#include "engine/search/ids.h"
#include "vectorize/text/language.h"

/** An index: the build that it is part of, and its head. */
typedef struct gf_search_index {
    gf_index_place place;
    gf_row head_row; /* slices below borrow from it */
    uint32_t n;      /* documents */
    uint64_t words;  /* of all documents */
    double mean;     /* of a document */
    uint32_t segment, chunk, is_long, n_segments;
    uint32_t n_languages; /* at most 256 */
    const gf_language *languages[256];
    gf_id_reader ids;

    gf_row lengths_row; /* the cell of lengths at hand */
    uint32_t lengths_segment, lengths_cell;
} gf_search_index;

/** GF_ENOTFOUND where the build has none of this format; on failure it is empty. */
gf_status gf_search_index_open(gf_search_index *x, gf_store *store, const gf_snapshot *snapshot,
                               gf_slice build_key, gf_error *err);
void gf_search_index_release(gf_search_index *x);

/** Whether a build has one of a format that is not known any more; then gf_search_index_open fails. */
gf_status gf_search_index_is_old(gf_store *store, const gf_snapshot *snapshot, gf_slice build_key,
                                 bool *old, gf_error *err);

/** The words of a document. Cost: a cell of 4,096 lengths is read where another was read last. */
gf_status gf_search_index_length(gf_search_index *x, uint32_t document, uint32_t *length,
                                 gf_error *err);

/** Documents of a segment. */
uint32_t gf_search_index_documents(const gf_search_index *x, uint32_t segment);

/** The index of a build's matrix: {0} where none is open. */
typedef struct gf_matrix_index {
    gf_index_place place;
    gf_row head_row, words_row; /* heads, of which the ids borrow from one */
    gf_id_reader ids;           /* its own, or those of the index of all words */
    bool own_ids;
} gf_matrix_index;

/** *there: the build has one, of this format; else it stays empty, as after a failure. */
gf_status gf_matrix_index_open(gf_matrix_index *x, gf_store *store, const gf_snapshot *snapshot,
                               gf_slice build_key, bool *there, gf_error *err);
void gf_matrix_index_release(gf_matrix_index *x);

/* ---- terms ----------------------------------------------------------------------------------- */

/** A term's documents in one chunk. */
typedef struct gf_index_piece {
    uint32_t chunk, documents, cell, at, bytes; /* where it is: in which cell of the term's */
    unsigned char bound;
} gf_index_piece;

/** A term's postings in one segment, read by rising chunk. */
typedef struct gf_index_list {
    uint32_t documents;
    uint32_t first_piece, n_pieces; /* of a frequent term; n_pieces is 0 of all others */
    uint32_t term;                  /* its number, of a frequent one */
    uint32_t next_piece;            /* the next that is not passed */
    gf_row row;                     /* the cell of its pieces at hand */
    uint32_t cell;

    size_t bounds, postings, end; /* of all others: where these begin and end in the memory */
    size_t at;                    /* the next posting that is not taken */
    uint32_t taken, last;         /* postings; the document of the last */
} gf_index_list;

/** Terms of a segment: of a word in all languages, of all that begin so. {0} to begin with. */
typedef struct gf_index_lists {
    gf_index_list *list; /* n of capacity */
    size_t n, capacity;
    gf_index_piece *pieces; /* of n_pieces */
    size_t n_pieces, piece_capacity;
    gf_buffer memory;
} gf_index_lists;

void gf_index_lists_release(gf_index_lists *lists);

/** Go back in front of the first chunk. */
void gf_index_lists_rewind(gf_index_lists *lists);

/** Add the list of a term, if the segment has it; `language` is a number of the index. */
gf_status gf_search_index_term(gf_search_index *x, uint32_t segment, uint32_t language,
                               gf_slice term, gf_index_lists *lists, gf_error *err);

/** Add the lists of all terms that start so, and of `besides`. */
gf_status gf_search_index_prefix(gf_search_index *x, uint32_t segment, uint32_t language,
                                 gf_slice prefix, gf_slice besides, gf_index_lists *lists,
                                 gf_error *err);

/** Take a term's entry off the front of a cell, and add its list; *term borrows from the cell. */
gf_status gf_search_index_take(const gf_search_index *x, uint32_t segment, gf_slice *cell,
                               gf_slice *term, gf_index_lists *lists, gf_error *err);

#endif
