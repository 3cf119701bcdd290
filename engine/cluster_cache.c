/*
 * The lists of clusters that were read last, one for each build. A build never changes, so what was
 * read of it stays true; what does change (documents that are gone, pinned labels) is the view's.
 *
 * Without it every look at one document reads the rows of all clusters, to name two of them.
 *
 * An entry lives until nobody uses it and newer ones have taken its place. Room: GF_CACHED_LISTS
 * lists, each of MOST_CLUSTERS at most: some 100 bytes a cluster.
 */
#include "engine/view.h"

#include "base/memory.h"

enum { MOST_CLUSTERS = 20000 };

struct gf_cluster_list {
    gf_cluster_cache *cache;
    gf_arena memory;
    gf_slice key;                       /* of the build */
    uint64_t seq, documents, objective; /* of it, in case a key comes twice */
    gf_known_cluster *clusters;         /* n */
    size_t n;
    unsigned users;
    uint64_t used; /* when last: a count */
};

void gf_cluster_cache_init(gf_cluster_cache *c)
{
    *c = (gf_cluster_cache){.uses = 0};
    pthread_mutex_init(&c->lock, NULL);
}

static void free_list(gf_cluster_list *l)
{
    if (!l) return;
    gf_arena_release(&l->memory);
    gf_free(l);
}

void gf_cluster_cache_release(gf_cluster_cache *c)
{
    for (size_t i = 0; i < GF_CACHED_LISTS; i++)
        free_list(c->lists[i]);
    pthread_mutex_destroy(&c->lock);
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static bool is_of(const gf_cluster_list *l, const gf_view *v)
{
    return gf_slice_equal(l->key, gf_buffer_view(&v->key)) && l->seq == v->info.seq &&
           l->documents == v->info.documents && l->n == v->info.k &&
           l->objective == bits_of(v->info.objective);
}

/* ---- taking -----------------------------------------------------------------------------------
 */

static gf_cluster_list *find(gf_cluster_cache *c, const gf_view *v)
{
    gf_cluster_list *found = NULL;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < GF_CACHED_LISTS && !found; i++)
        if (c->lists[i] && is_of(c->lists[i], v)) found = c->lists[i];
    if (found) {
        found->users++;
        found->used = ++c->uses;
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

void gf_cluster_list_let_go(gf_cluster_list *l)
{
    if (!l) return;
    pthread_mutex_lock(&l->cache->lock);
    l->users--;
    pthread_mutex_unlock(&l->cache->lock);
}

gf_status gf_cluster_cache_take(gf_view *v, bool *taken, gf_error *err)
{
    *taken = false;
    gf_cluster_list *l = find(&v->store->cluster_cache, v);
    if (!l) return GF_OK;
    gf_cluster_list_let_go(v->list);
    v->list = l;
    gf_known_cluster *copy = gf_realloc(v->clusters, l->n, sizeof *copy);
    if (!copy) return gf_fail_memory(err, "clusters");
    v->clusters = copy;
    v->n_clusters = l->n;
    for (size_t i = 0; i < l->n; i++) {
        const gf_slice *pinned = gf_pins_label(&v->pins, l->clusters[i].id);
        copy[i] = l->clusters[i];
        if (pinned) copy[i].label = *pinned;
    }
    *taken = true;
    return GF_OK;
}

/* ---- keeping ----------------------------------------------------------------------------------
 */

static gf_cluster_list *copy_list(gf_view *v)
{
    gf_cluster_list *l = gf_calloc(1, sizeof *l);
    if (!l) return NULL;
    l->cache = &v->store->cluster_cache;
    l->key = gf_arena_copy(&l->memory, gf_buffer_view(&v->key));
    l->clusters = gf_arena_alloc(&l->memory, (v->n_clusters + 1) * sizeof *l->clusters);
    bool good = l->key.ptr && l->clusters;
    for (size_t i = 0; i < v->n_clusters && good; i++) {
        gf_slice label = gf_arena_copy(&l->memory, v->clusters[i].own_label);
        l->clusters[i] = v->clusters[i];
        l->clusters[i].label = l->clusters[i].own_label = label;
        good = label.ptr != NULL;
    }
    if (good) return l;
    free_list(l);
    return NULL;
}

/* The place that is empty, or of the list that nobody uses and that was used longest ago. */
static gf_cluster_list **oldest(gf_cluster_cache *c)
{
    gf_cluster_list **place = NULL;
    for (size_t i = 0; i < GF_CACHED_LISTS; i++) {
        if (!c->lists[i]) return &c->lists[i];
        if (c->lists[i]->users) continue;
        if (!place || c->lists[i]->used < (*place)->used) place = &c->lists[i];
    }
    return place;
}

gf_status gf_cluster_cache_keep(gf_view *v, gf_error *err)
{
    gf_cluster_cache *c = &v->store->cluster_cache;
    if (v->n_clusters > MOST_CLUSTERS) return GF_OK;
    gf_cluster_list *l = copy_list(v), *old = NULL;
    if (!l) return gf_fail_memory(err, "clusters");
    l->seq = v->info.seq;
    l->documents = v->info.documents;
    l->objective = bits_of(v->info.objective);
    l->n = v->n_clusters;
    pthread_mutex_lock(&c->lock);
    gf_cluster_list **place = oldest(c);
    if (place) {
        old = *place;
        *place = l;
        l->used = ++c->uses;
    }
    pthread_mutex_unlock(&c->lock);
    free_list(place ? old : l);
    return GF_OK;
}
