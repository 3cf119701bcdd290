#include "engine/view/cluster_cache.h"

#include "base/arena.h"
#include "base/memory.h"

#include <assert.h>

enum { MOST_CLUSTERS = 20000 };

struct gf_cluster_list {
    gf_cluster_cache *cache;
    gf_arena memory;
    gf_slice key;                       /* of the build */
    uint64_t seq, documents, objective; /* of the build, in case a key comes twice */
    uint64_t edits;                     /* of the build as it was read */
    gf_listed_cluster *clusters;        /* n, by id */
    size_t n;
    unsigned users;
    uint64_t used; /* cache->uses when the list was used last */
    gf_deleted_set *deleted;
    uint64_t deleted_seq; /* up to which `deleted` goes */
};

/* ---- the cache ------------------------------------------------------------------------------- */

static void free_list(gf_cluster_list *l)
{
    if (!l) return;
    gf_deleted_set_drop(l->deleted);
    gf_arena_release(&l->memory);
    gf_free(l);
}

gf_cluster_cache *gf_cluster_cache_create(void)
{
    gf_cluster_cache *c = gf_calloc(1, sizeof *c);
    if (!c) return NULL;
    c->most_deleted_bytes = 64 << 20;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void gf_cluster_cache_free(gf_cluster_cache *c)
{
    if (!c) return;
    for (size_t i = 0; i < GF_CACHED_LISTS; i++) {
        assert(!c->lists[i] || c->lists[i]->users == 0);
        free_list(c->lists[i]);
    }
    pthread_mutex_destroy(&c->lock);
    gf_free(c);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static bool is_of_build(const gf_cluster_list *l, gf_slice key, const gf_build_info *info)
{
    return gf_slice_equal(l->key, key) && l->seq == info->seq && l->documents == info->documents &&
           l->n == info->k && l->objective == bits_of(info->objective) && l->edits == info->edits;
}

gf_cluster_list *gf_cluster_cache_find(gf_cluster_cache *c, gf_slice key, const gf_build_info *info)
{
    gf_cluster_list *found = NULL;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < GF_CACHED_LISTS && !found; i++)
        if (c->lists[i] && is_of_build(c->lists[i], key, info)) found = c->lists[i];
    if (found) {
        found->users++;
        found->used = ++c->uses;
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

static gf_cluster_list *make_list(gf_cluster_cache *cache, gf_slice key, const gf_build_info *info,
                                  const gf_listed_cluster *clusters, size_t n)
{
    gf_cluster_list *l = gf_calloc(1, sizeof *l);
    if (!l) return NULL;
    l->cache = cache;
    l->seq = l->deleted_seq = info->seq;
    l->documents = info->documents;
    l->edits = info->edits;
    l->objective = bits_of(info->objective);
    l->n = n;
    l->users = 1;
    l->key = gf_arena_copy(&l->memory, key);
    l->clusters = gf_arena_alloc(&l->memory, (n + 1) * sizeof *l->clusters);
    bool good = l->key.ptr && l->clusters;
    for (size_t i = 0; i < n && good; i++) {
        assert(i == 0 || clusters[i - 1].id < clusters[i].id);
        gf_slice label = gf_arena_copy(&l->memory, clusters[i].own_label);
        l->clusters[i] = (gf_listed_cluster){clusters[i].id, clusters[i].size, label, label};
        good = label.ptr != NULL;
    }
    if (good) return l;
    free_list(l);
    return NULL;
}

/* The slot that is empty, or of the unused list that was used longest ago; NULL: all are in use. */
static gf_cluster_list **oldest_slot(gf_cluster_cache *c)
{
    gf_cluster_list **slot = NULL;
    for (size_t i = 0; i < GF_CACHED_LISTS; i++) {
        if (!c->lists[i]) return &c->lists[i];
        if (c->lists[i]->users) continue;
        if (!slot || c->lists[i]->used < (*slot)->used) slot = &c->lists[i];
    }
    return slot;
}

gf_status gf_cluster_cache_add(gf_cluster_cache *c, gf_slice key, const gf_build_info *info,
                               const gf_listed_cluster *clusters, size_t n, gf_cluster_list **list,
                               gf_error *err)
{
    *list = NULL;
    if (n > MOST_CLUSTERS) return GF_OK;
    gf_cluster_list *l = make_list(c, key, info, clusters, n), *replaced = l;
    if (!l) return gf_fail_memory(err, "clusters");
    pthread_mutex_lock(&c->lock);
    gf_cluster_list **slot = oldest_slot(c);
    if (slot) {
        replaced = *slot;
        *slot = *list = l;
        l->used = ++c->uses;
        if (replaced) c->deleted_bytes -= gf_deleted_set_bytes(replaced->deleted);
    }
    pthread_mutex_unlock(&c->lock);
    free_list(replaced);
    return GF_OK;
}

const gf_listed_cluster *gf_cluster_cache_clusters(const gf_cluster_list *l, size_t *n)
{
    *n = l->n;
    return l->clusters;
}

void gf_cluster_cache_drop(gf_cluster_list *l)
{
    if (!l) return;
    pthread_mutex_lock(&l->cache->lock);
    assert(l->users > 0);
    l->users--;
    pthread_mutex_unlock(&l->cache->lock);
}

/* ---- deleted documents ----------------------------------------------------------------------- */

uint64_t gf_cluster_cache_deleted(gf_cluster_list *l, uint64_t seq, gf_deleted_set **set)
{
    uint64_t up_to = l->seq;
    *set = NULL;
    pthread_mutex_lock(&l->cache->lock);
    if (l->deleted_seq <= seq) { /* else the caller's state is an earlier one */
        up_to = l->deleted_seq;
        *set = gf_deleted_set_share(l->deleted);
    }
    pthread_mutex_unlock(&l->cache->lock);
    return up_to;
}

static void forget_deleted(gf_cluster_list *l)
{
    l->cache->deleted_bytes -= gf_deleted_set_bytes(l->deleted);
    gf_deleted_set_drop(l->deleted);
    l->deleted = NULL;
    l->deleted_seq = l->seq;
}

/* The list that was used longest ago loses its set first; `mine` last. */
static void make_room(gf_cluster_cache *c, gf_cluster_list *mine)
{
    while (c->deleted_bytes > c->most_deleted_bytes) {
        gf_cluster_list *found = NULL;
        for (size_t i = 0; i < GF_CACHED_LISTS; i++) {
            gf_cluster_list *l = c->lists[i];
            if (l && l != mine && l->deleted && (!found || l->used < found->used)) found = l;
        }
        forget_deleted(found ? found : mine);
        if (!found) return;
    }
}

void gf_cluster_cache_keep_deleted(gf_cluster_list *l, uint64_t seq, gf_deleted_set *set)
{
    gf_cluster_cache *c = l->cache;
    pthread_mutex_lock(&c->lock);
    if (l->deleted_seq < seq) {
        forget_deleted(l);
        l->deleted = gf_deleted_set_share(set);
        l->deleted_seq = seq;
        c->deleted_bytes += gf_deleted_set_bytes(set);
        make_room(c, l);
    }
    pthread_mutex_unlock(&c->lock);
}
