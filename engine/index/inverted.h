/**
 * Documents inverted, a chunk at a time: each thread makes pieces of its own, and a segment's terms
 * are then read off all of its pieces side by side.
 *
 *     chunk     documents in their order: (term, document, value)...
 *     piece     terms, rising: the documents that have each, as postings
 *
 * What comes out depends on the documents alone, not on the threads.
 */
#ifndef GF_ENGINE_BUILD_INVERTED_H
#define GF_ENGINE_BUILD_INVERTED_H

#include "grouperfish/buffer.h"

/** Postings by term of at most 2^15 documents (engine/rows/index_cells.h has their bytes). */
typedef struct gf_piece {
    uint32_t n;          /* terms */
    uint32_t *term;      /* n, rising */
    uint32_t *documents; /* n: how many have it */
    uint32_t *end;       /* n: where each term's postings end in bytes */
    gf_buffer bytes;
} gf_piece;

void gf_piece_release(gf_piece *piece);

/** The first term of the piece that is not below this one, by its place. */
uint32_t gf_piece_find(const gf_piece *piece, uint32_t term);

/** Postings of the i-th term of a piece. */
gf_slice gf_piece_postings(const gf_piece *piece, uint32_t i);

/** A value that an entry has no room for. */
typedef struct gf_large_value {
    uint32_t term, document, value;
} gf_large_value;

/** A chunk that is being inverted: {0}; its memory is used again by the next one. */
typedef struct gf_inverting {
    uint64_t *entries, *scratch; /* n of capacity; of scratch_capacity */
    size_t n, capacity, scratch_capacity;
    gf_large_value *large; /* n_large of large_capacity */
    size_t n_large, large_capacity;
} gf_inverting;

/**
 * Add a term of a document, 0..2^15 - 1 in the chunk; documents rise. Each term once for each.
 * @param value  at least 1
 */
gf_status gf_inverting_add(gf_inverting *v, uint32_t term, uint32_t document, uint32_t value,
                           gf_error *err);

/**
 * Make the chunk's piece, and begin the next chunk.
 * @param highest  no term is above it
 * @param[out] piece  to be released, also after a failure
 * Cost: O(entries) for each byte of the highest term; 16 bytes of memory for each.
 */
gf_status gf_inverting_end(gf_inverting *v, uint32_t highest, gf_piece *piece, gf_error *err);
void gf_inverting_release(gf_inverting *v);

/* ---- all pieces of a segment ----------------------------------------------------------------- */

/** A walk over the terms of pieces, those of a range, by rising term. */
typedef struct gf_term_walk {
    const gf_piece *pieces; /* n, borrowed */
    uint32_t n;
    uint32_t *at;             /* n: the first term of each that is not passed */
    uint32_t end;             /* behind the range */
    uint32_t term, documents; /* the term at hand, and how many of all pieces have it */
} gf_term_walk;

/** Begin in front of term `first`; GF_ENOMEM. */
gf_status gf_term_walk_begin(gf_term_walk *walk, const gf_piece *pieces, uint32_t n, uint32_t first,
                             uint32_t end, gf_error *err);

/** Go to the next term; false where there is none. */
bool gf_term_walk_next(gf_term_walk *walk);
void gf_term_walk_release(gf_term_walk *walk);

/** Whether piece i has the term at hand: then as its term walk->at[i]. */
static inline bool gf_term_walk_has(const gf_term_walk *walk, uint32_t i)
{
    const gf_piece *p = &walk->pieces[i];
    return walk->at[i] < p->n && p->term[walk->at[i]] == walk->term;
}

#endif
