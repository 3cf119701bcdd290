/** Lists of clusters that views read last (cluster_cache.c). One for a store. */
#ifndef GF_ENGINE_VIEW_CLUSTER_CACHE_H
#define GF_ENGINE_VIEW_CLUSTER_CACHE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { GF_CACHED_LISTS = 64 };

typedef struct gf_cluster_list gf_cluster_list;

typedef struct gf_cluster_cache {
    pthread_mutex_t lock;
    gf_cluster_list *lists[GF_CACHED_LISTS]; /* NULL where there is none yet */
    uint64_t uses;
    size_t gone_bytes, most_gone_bytes; /* of deleted-document sets in the lists; their limit */
} gf_cluster_cache;

/** NULL: out of memory. */
gf_cluster_cache *gf_cluster_cache_create(void);
void gf_cluster_cache_free(gf_cluster_cache *cache);

#endif
