/**
 * Rows of cells with a header: what CSV, TSV and Firefox Input have in common.
 *
 *     bytes  | id | LF | text | LF | time | LF |     one row, cell after cell
 *     ends       ^           ^           ^           where each cell ends, its LF left out
 *
 * The line feed behind each cell keeps an ill-formed byte sequence from running into the next one.
 * Failures to allocate are kept and reported by the calls that return a status.
 */
#ifndef GF_FORMATS_CELLS_INTERNAL_H
#define GF_FORMATS_CELLS_INTERNAL_H

#include "base/arena.h"
#include "formats/format_internal.h"

typedef struct gf_cells {
    gf_buffer bytes;
    size_t *ends; /* capacity; n of them */
    size_t n, capacity;
    gf_buffer repaired;
    gf_member *members; /* n_members: one per column, in order */
    size_t n_members;
    gf_arena names;
    bool out_of_memory;
} gf_cells;

/** Set to {0}. */
void gf_cells_release(gf_cells *cells);

/** Forget the row, keep the columns. */
void gf_cells_reset(gf_cells *cells);

static inline void gf_cells_append(gf_cells *cells, gf_slice bytes)
{
    gf_buffer_slice(&cells->bytes, bytes);
}

void gf_cells_end(gf_cells *cells);

gf_status gf_cells_check(const gf_cells *cells, gf_error *err);

/**
 * Let the row be the header. A column without a name is called column<N>.
 * @return GF_OK; GF_EINVAL where there are more than GF_MOST_MEMBERS; GF_ENOMEM
 */
gf_status gf_cells_to_header(gf_cells *cells, gf_slice stream, gf_error *err);

/**
 * Let the row be the draft's members, which are borrowed until the next row. Ill-formed UTF-8 is
 * replaced and counted. With another number of cells than columns the draft is refused.
 */
gf_status gf_cells_to_draft(gf_cells *cells, gf_draft *draft, gf_error *err);

#endif
