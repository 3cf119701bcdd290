/**
 * Documents' texts in groups of some megabytes, so that threads can work on a group side by side.
 */
#ifndef GF_ENGINE_TEXT_GROUP_H
#define GF_ENGINE_TEXT_GROUP_H

#include "base/arena.h"
#include "engine/internal.h"

typedef struct gf_group_text {
    gf_slice id, text, lang;
} gf_group_text;

/** {0} to begin with. */
typedef struct gf_text_group {
    gf_group_text *at; /* n of capacity; they lie in the arena */
    size_t n, capacity, bytes;
    gf_arena arena;
} gf_text_group;

enum { GF_GROUP_BYTES = 4 << 20, GF_SMALL_GROUP_BYTES = 1 << 20 /* where memory is short */ };

void gf_text_group_release(gf_text_group *g);
void gf_text_group_reset(gf_text_group *g);

/** Add a row of documents:main. */
gf_status gf_text_group_add(gf_text_group *g, gf_slice id, const gf_row *row, gf_error *err);

/** Add what is in another one, which lends it. */
gf_status gf_text_group_borrow(gf_text_group *g, const gf_text_group *from, gf_error *err);

/** Whether it has so many bytes, or very many texts: it is time to work on it. */
bool gf_text_group_is_full(const gf_text_group *g, size_t bytes);

#endif
