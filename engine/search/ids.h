/** Reading the ids of an index (engine/rows/index_cells.h): of a document by number, and back. */
#ifndef GF_ENGINE_SEARCH_IDS_H
#define GF_ENGINE_SEARCH_IDS_H

#include "engine/rows/index_cells.h"
#include "engine/store/store_internal.h"

/** The place of an index; all borrowed. */
typedef struct gf_index_place {
    gf_store *store;
    const gf_snapshot *snapshot;
    gf_slice build_key;
    const char *prefix; /* GF_INDEX_SEARCH, GF_INDEX_MATRIX */
} gf_index_place;

/** Read the cell of that kind of a segment, or its place in the kind; GF_ECORRUPT: it is missing. */
gf_status gf_index_read(const gf_index_place *place, uint32_t segment, char kind,
                        const uint32_t *numbers, size_t n_numbers, gf_row *row, gf_error *err);

/**
 * Open a walk over the cells of a kind of a segment; of those in reverse, from the last on whose
 * qualifier goes on with no more than `from`.
 */
gf_status gf_index_walk(const gf_index_place *place, uint32_t segment, char kind, gf_slice from,
                        bool reverse, gf_scan **scan, gf_error *err);

gf_status gf_index_damaged(gf_error *err);

/** The ids of n documents; {0} where none are open. Some of them are kept until the next call. */
typedef struct gf_id_reader {
    gf_index_place place;
    uint32_t n, segment; /* documents; of a segment */
    gf_slice *first;     /* of each segment; borrowed from its head */
    uint32_t n_segments;

    gf_row row; /* the cell of ids at hand: of that segment */
    uint32_t row_segment, row_cell, n_row;
    gf_slice ids[GF_INDEX_IDS];
    gf_row firsts_row; /* the cell of first ids at hand: from that cell of ids on */
    uint32_t firsts_segment, firsts_cell, n_firsts;
    gf_slice firsts[GF_INDEX_FIRSTS];
} gf_id_reader;

/**
 * Open it with the rest of its head, the first ids, which is borrowed and must stay.
 * @return GF_OK; GF_ECORRUPT, GF_ENOMEM: then it is empty
 */
gf_status gf_id_reader_open(gf_id_reader *r, const gf_index_place *place, uint32_t n,
                            uint32_t segment, gf_slice firsts, gf_error *err);
void gf_id_reader_release(gf_id_reader *r);

/** The id of a document; borrowed until the next call. */
gf_status gf_id_reader_id(gf_id_reader *r, uint32_t document, gf_slice *id, gf_error *err);

/** The number of ids below this one, which is its own number if it is there itself. */
gf_status gf_id_reader_rank(gf_id_reader *r, gf_slice id, uint32_t *rank, bool *there,
                            gf_error *err);

#endif
