/**
 * The lists of clusters that were read last, one for each build and number of its edits, kept with the
 * store. A build changes by edits alone, so its list stays true. Beside each list is the set of documents that were deleted since
 * the build, as of the last seq of the collection at which a view looked.
 *
 * Without the cache every look at one document reads the rows of all clusters, to name two of them.
 *
 * An entry lives until nobody uses it and newer ones have taken its place. Limits: GF_CACHED_LISTS
 * lists of at most 20,000 clusters, some 100 bytes each; and most_deleted_bytes for the sets.
 *
 * All functions may be called by several threads at once. The cache knows builds by their keys and
 * nothing of views.
 */
#ifndef GF_ENGINE_VIEW_CLUSTER_CACHE_H
#define GF_ENGINE_VIEW_CLUSTER_CACHE_H

#include "engine/view/deleted_set.h"
#include "grouperfish/builds.h"

#include <pthread.h>

enum { GF_CACHED_LISTS = 64 };

/** A cluster of a build, in memory. */
typedef struct gf_listed_cluster {
    uint32_t id;
    uint64_t size;
    gf_slice label;     /* as shown: the pinned one, else its own */
    gf_slice own_label; /* as in the key of its row */
} gf_listed_cluster;

/** One build's list; its lock is the cache's. */
typedef struct gf_cluster_list gf_cluster_list;

typedef struct gf_cluster_cache {
    pthread_mutex_t lock;
    gf_cluster_list *lists[GF_CACHED_LISTS]; /* NULL where there is none yet */
    uint64_t uses;
    size_t deleted_bytes, most_deleted_bytes; /* of all sets of deleted documents */
} gf_cluster_cache;

/** An empty cache; NULL where memory is short. A store has one. */
gf_cluster_cache *gf_cluster_cache_create(void);

/** No list is in use any more. */
void gf_cluster_cache_free(gf_cluster_cache *cache);

/** The list of a build, to be dropped; NULL where it is not in the cache. */
gf_cluster_list *gf_cluster_cache_find(gf_cluster_cache *cache, gf_slice build_key,
                                       const gf_build_info *info);

/**
 * Keep a copy of a build's list, by id and with the clusters' own labels.
 * @param list  it, to be dropped; NULL where it is too long, or all others are in use
 */
gf_status gf_cluster_cache_add(gf_cluster_cache *cache, gf_slice build_key,
                               const gf_build_info *info, const gf_listed_cluster *clusters,
                               size_t n, gf_cluster_list **list, gf_error *err);

/** The clusters, by id, as the build wrote them; borrowed until the list is dropped. */
const gf_listed_cluster *gf_cluster_cache_clusters(const gf_cluster_list *list, size_t *n);

/** End one use of the list; takes NULL. */
void gf_cluster_cache_drop(gf_cluster_list *list);

/**
 * The documents that were deleted since the build, as far as that is known for a state up to `seq`.
 * @param set  a share of them, to be dropped; NULL for none
 * @return the seq up to which the set goes: at most `seq`, and the build's where nothing is known
 */
uint64_t gf_cluster_cache_deleted(gf_cluster_list *list, uint64_t seq, gf_deleted_set **set);

/** Keep a share of the set of documents deleted up to `seq`, unless a later one is kept. */
void gf_cluster_cache_keep_deleted(gf_cluster_list *list, uint64_t seq, gf_deleted_set *set);

#endif
