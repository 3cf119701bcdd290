/**
 * Documents' texts in groups of some megabytes, so that threads can work on a group side by side.
 */
#ifndef GF_ENGINE_SEARCH_TEXTS_H
#define GF_ENGINE_SEARCH_TEXTS_H

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

void gf_text_group_release(gf_text_group *g);
void gf_text_group_reset(gf_text_group *g);

/** Add a row of documents:main. */
gf_status gf_text_group_add(gf_text_group *g, gf_slice id, const gf_row *row, gf_error *err);

/** Whether it is time to work on it. */
bool gf_text_group_is_full(const gf_text_group *g);

typedef gf_status gf_each_group(void *context, const gf_text_group *group, gf_error *err);

/** All documents of a collection by id, group by group; cancel may be NULL. */
gf_status gf_texts_each(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                        const gf_cancel *cancel, gf_each_group *each, void *context, gf_error *err);

#endif
