/** Candidates that have an id, which a group of new documents has again while most of theirs are in it. */
#ifndef GF_ENGINE_VIEW_KEPT_CANDIDATES_H
#define GF_ENGINE_VIEW_KEPT_CANDIDATES_H

#include "base/strings.h"
#include "engine/view/view.h"

typedef struct gf_kept_candidate {
    uint32_t id, members, shared;
    bool claimed;
} gf_kept_candidate;

typedef struct gf_kept_candidates {
    gf_kept_candidate *at; /* n, by id */
    size_t n, capacity;
    gf_strings documents;
    uint32_t *of; /* documents.n: places of their candidates; room for of_capacity */
    size_t of_capacity;
} gf_kept_candidates;

/** Read those that came after the view's build, as its snapshot has them. {0} to begin with. */
gf_status gf_kept_candidates_read(gf_view *view, gf_kept_candidates *out, gf_error *err);
void gf_kept_candidates_release(gf_kept_candidates *kept);

/**
 * The id of the candidate that shares most documents with these n, more than half of its own or of
 * them, and that no group before has claimed; of equally many the lowest. 0: there is none.
 */
uint32_t gf_kept_candidates_claim(gf_kept_candidates *kept, const gf_slice *ids, uint32_t n);

#endif
