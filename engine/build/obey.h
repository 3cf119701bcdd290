/**
 * Edits that a rebuild obeys (docs/edits.md): facts about documents that stand for groups, applied over the
 * clusters of the new build.
 *
 *     clusters -> merges, splits      gf_build_obey_groups   before ids are matched
 *     ids      -> ids that edits name                        gf_build_obey_ids
 *     places   -> moved and kept documents, locked centres   gf_build_obey_places
 *
 * Edits are followed in their order: a later merge takes the documents of an earlier split along, a later
 * split stands for all that was said of its cluster before, and of a document's places the last counts.
 */
#ifndef GF_ENGINE_BUILD_OBEY_H
#define GF_ENGINE_BUILD_OBEY_H

#include "engine/build/match.h"

/** Groups and places that edits come to over the documents of a build. {0} to begin with. */
typedef struct gf_build_obeying {
    struct gf_edit_atom *atoms; /* n_atoms of atom_capacity */
    size_t n_atoms, atom_capacity;
    struct gf_edit_place *places; /* n_places of place_capacity */
    size_t n_places, place_capacity;
    bool regrouped; /* clusters are not those that the clustering made */
    gf_arena memory;
} gf_build_obeying;

void gf_build_obeying_release(gf_build_obeying *obeying);

/**
 * Read the witnesses of the plan's edits, and join and cut clusters by them. An edit that cannot be kept is
 * marked so in the plan, with words.
 *
 * @param clustered  without members; its clusters may be others afterwards, in number too
 * @return GF_OK; GF_ENOMEM, GF_EIO, GF_ECORRUPT
 * Cost: nothing without edits; else some look-ups for each witness, and of clusters that are joined or cut
 *       a pass over their rows.
 */
gf_status gf_build_obey_groups(gf_build_plan *plan, const gf_build_gathered *documents,
                               gf_build_clustered *clustered, gf_build_obeying *out, gf_error *err);

/** Have clusters that edits name keep their ids. GF_ENOMEM. */
gf_status gf_build_obey_ids(gf_build_plan *plan, const gf_build_clustered *clustered,
                            const gf_build_obeying *obeying, gf_build_matched *matched,
                            gf_error *err);

/**
 * Put locked centres in their places, and documents where they were moved or kept; then order the clusters by
 * size, and their ids with them.
 */
gf_status gf_build_obey_places(gf_build_plan *plan, gf_pool *pool,
                               const gf_build_gathered *documents, gf_build_clustered *clustered,
                               gf_build_obeying *obeying, gf_build_matched *matched, gf_error *err);

#endif
