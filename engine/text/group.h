/**
 * Documents' texts in groups of some megabytes, so that threads can work on a group side by side.
 */
#ifndef GF_ENGINE_TEXT_GROUP_H
#define GF_ENGINE_TEXT_GROUP_H

#include "base/arena.h"
#include "grouperfish/table.h"

typedef struct gf_group_text {
    gf_slice id, text, lang;
    int32_t hour;   /* that its time lies in, or GF_NO_HOUR (engine/rows/hours.h) */
    int64_t moment; /* its time in milliseconds since 1970; INT64_MAX: it has none */
} gf_group_text;

/** {0} to begin with. */
typedef struct gf_text_group {
    gf_group_text *at; /* n of capacity; they lie in the arena */
    size_t n, capacity, bytes;
    gf_arena arena;
} gf_text_group;

/** How much of texts is read to name clusters depends on k: they are added up cut at so many bytes.
 */
enum { GF_TEXT_CUTS = 5, GF_LEAST_CUT = 1024 };

/** Sums over documents. */
typedef struct gf_text_counts {
    uint64_t meant;                  /* how many there are */
    uint64_t text_bytes;             /* of their texts */
    uint64_t cut_text[GF_TEXT_CUTS]; /* of these, each cut at GF_LEAST_CUT << i */
    uint64_t id_bytes;               /* of their keys */
} gf_text_counts;

static inline void gf_text_counts_add(gf_text_counts *to, const gf_text_counts *more)
{
    to->meant += more->meant;
    to->text_bytes += more->text_bytes;
    to->id_bytes += more->id_bytes;
    for (unsigned i = 0; i < GF_TEXT_CUTS; i++)
        to->cut_text[i] += more->cut_text[i];
}

enum { GF_GROUP_BYTES = 4 << 20, GF_SMALL_GROUP_BYTES = 1 << 20 /* where memory is short */ };

void gf_text_group_release(gf_text_group *g);
void gf_text_group_reset(gf_text_group *g);

/** Add a row of documents:main. */
gf_status gf_text_group_add(gf_text_group *g, gf_slice id, const gf_row *row, gf_error *err);

/** Add what is in another one, which lends it. */
gf_status gf_text_group_borrow(gf_text_group *g, const gf_text_group *from, gf_error *err);

/** True if the group has so many bytes, or very many texts: it is time to work on it. */
bool gf_text_group_is_full(const gf_text_group *g, size_t bytes);

#endif
