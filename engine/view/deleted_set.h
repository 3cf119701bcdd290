/**
 * Documents of a build that have been deleted since, as of one seq of their collection.
 *
 * A set is filled by the view that makes it and never changes afterwards. Views and the cache of
 * cluster lists share it; whoever drops the last share frees it.
 */
#ifndef GF_ENGINE_VIEW_DELETED_SET_H
#define GF_ENGINE_VIEW_DELETED_SET_H

#include "base/strings.h"

typedef struct gf_deleted_set {
    gf_strings ids;
    uint32_t *cluster; /* ids.n: each document's cluster, as its place in the list by id */
    uint64_t *lost;    /* n_clusters: members that each cluster has lost */
    size_t n_clusters;
    unsigned shares; /* atomic */
} gf_deleted_set;

/** An empty set for at most `most` documents, with one share; NULL where memory is short. */
gf_deleted_set *gf_deleted_set_create(uint32_t most, size_t n_clusters);

/** Add a document that is not in the set yet. */
gf_status gf_deleted_set_add(gf_deleted_set *set, gf_slice id, uint32_t cluster, gf_error *err);

/** True if a document is in the set; NULL is the empty set. */
bool gf_deleted_set_has(const gf_deleted_set *set, gf_slice id);

/** Add a share, and drop one; both take NULL. Any thread may call them. */
gf_deleted_set *gf_deleted_set_share(gf_deleted_set *set);
void gf_deleted_set_drop(gf_deleted_set *set);

/** Memory that the set takes, about; 0 for NULL. */
size_t gf_deleted_set_bytes(const gf_deleted_set *set);

#endif
