/**
 * An arena: many small allocations with one lifetime, freed together.
 *
 *     blocks:  [ used........|free ] -> [ used..............] -> [ used.............. ]
 *                the newest block         older blocks, full
 *
 * Name an arena by its lifetime (per document, per vocabulary, per job). Not for several threads.
 */
#ifndef GF_BASE_ARENA_H
#define GF_BASE_ARENA_H

#include "grouperfish/slice.h"

struct gf_arena_block;

typedef struct gf_arena {
    struct gf_arena_block *blocks; /* newest first */
    size_t used;                   /* bytes used of the newest block */
    size_t total;                  /* bytes allocated in all blocks */
} gf_arena;

/** Set to {0} or call init. */
void gf_arena_init(gf_arena *a);
void gf_arena_release(gf_arena *a);

/** Forgets all allocations and keeps the newest block for reuse. */
void gf_arena_reset(gf_arena *a);

/** n bytes aligned to 8, not initialised, valid until reset or release; NULL on failure. */
void *gf_arena_alloc(gf_arena *a, size_t n);

/** Copies s and adds a NUL; the slice's ptr is NULL on failure. */
gf_slice gf_arena_copy(gf_arena *a, gf_slice s);

#endif
