/*
 * The lists of clusters that were read last, one for each build. A build never changes, so what was
 * read of it stays true; what does change (pinned labels) is the view's. Beside each list is what
 * was deleted since the build, as of the last seq of the collection at which a view looked.
 *
 * Without it every look at one document reads the rows of all clusters, to name two of them.
 *
 * An entry lives until nobody uses it and newer ones have taken its place. Room: GF_CACHED_LISTS
 * lists, each of MOST_CLUSTERS at most: some 100 bytes a cluster; and most_gone_bytes.
 */
#include "engine/view/view.h"

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
    gf_gone *gone; /* NULL: nobody */
    uint64_t gone_seq;
};

gf_cluster_cache *gf_cluster_cache_create(void)
{
    gf_cluster_cache *c = gf_calloc(1, sizeof *c);
    if (!c) return NULL;
    c->most_gone_bytes = 64 << 20;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

/* With the lock held. */
static void drop_gone(gf_gone *g)
{
    if (g && --g->users == 0) gf_gone_free(g);
}

static void free_list(gf_cluster_list *l)
{
    if (!l) return;
    drop_gone(l->gone);
    gf_arena_release(&l->memory);
    gf_free(l);
}

void gf_cluster_cache_free(gf_cluster_cache *c)
{
    if (!c) return;
    for (size_t i = 0; i < GF_CACHED_LISTS; i++)
        free_list(c->lists[i]);
    pthread_mutex_destroy(&c->lock);
    gf_free(c);
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

/* ---- taking ---------------------------------------------------------------------------------- */

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
    gf_cluster_list *l = find(v->store->cluster_cache, v);
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

/* ---- keeping --------------------------------------------------------------------------------- */

static gf_cluster_list *copy_list(gf_view *v)
{
    gf_cluster_list *l = gf_calloc(1, sizeof *l);
    if (!l) return NULL;
    l->cache = v->store->cluster_cache;
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

static size_t bytes_of_gone(const gf_cluster_list *l)
{
    enum { EACH = 40 /* an id's slots, entry and place, about */ };
    const gf_gone *g = l->gone;
    return g ? g->ids.bytes.total + (size_t)g->ids.n * EACH + l->n * sizeof *g->lost : 0;
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
    gf_cluster_cache *c = v->store->cluster_cache;
    if (v->n_clusters > MOST_CLUSTERS) return GF_OK;
    gf_cluster_list *l = copy_list(v), *old = NULL;
    if (!l) return gf_fail_memory(err, "clusters");
    l->seq = l->gone_seq = v->info.seq;
    l->documents = v->info.documents;
    l->objective = bits_of(v->info.objective);
    l->n = v->n_clusters;
    pthread_mutex_lock(&c->lock);
    gf_cluster_list **place = oldest(c);
    if (place) {
        old = *place;
        *place = l;
        l->used = ++c->uses;
        l->users = 1;
        v->list = l;
        if (old) c->gone_bytes -= bytes_of_gone(old);
    }
    free_list(place ? old : l);
    pthread_mutex_unlock(&c->lock);
    return GF_OK;
}

/* ---- what has gone --------------------------------------------------------------------------- */

uint64_t gf_cluster_cache_take_gone(gf_view *v)
{
    gf_cluster_cache *c = v->store->cluster_cache;
    uint64_t seq = v->info.seq;
    if (!v->list) return seq;
    pthread_mutex_lock(&c->lock);
    if (v->list->gone_seq <= v->seq) { /* else the view is of an earlier state */
        seq = v->list->gone_seq;
        v->gone = v->list->gone;
        if (v->gone) v->gone->users++;
    }
    pthread_mutex_unlock(&c->lock);
    return seq;
}

void gf_cluster_cache_let_gone_go(gf_view *v)
{
    if (!v->gone) return;
    pthread_mutex_lock(&v->store->cluster_cache->lock);
    drop_gone(v->gone);
    pthread_mutex_unlock(&v->store->cluster_cache->lock);
    v->gone = NULL;
}

static void forget_gone(gf_cluster_list *l)
{
    l->cache->gone_bytes -= bytes_of_gone(l);
    drop_gone(l->gone);
    l->gone = NULL;
    l->gone_seq = l->seq;
}

/* Whose list was used longest ago loses it first. */
static void make_room_for_gone(gf_cluster_cache *c, const gf_cluster_list *mine)
{
    while (c->gone_bytes > c->most_gone_bytes) {
        gf_cluster_list *found = NULL;
        for (size_t i = 0; i < GF_CACHED_LISTS; i++) {
            gf_cluster_list *l = c->lists[i];
            if (l && l != mine && l->gone && (!found || l->used < found->used)) found = l;
        }
        if (!found) return;
        forget_gone(found);
    }
}

void gf_cluster_cache_keep_gone(gf_view *v)
{
    gf_cluster_cache *c = v->store->cluster_cache;
    gf_cluster_list *l = v->list;
    if (!l) return;
    pthread_mutex_lock(&c->lock);
    if (l->gone_seq < v->seq) {
        if (v->gone) v->gone->users++;
        forget_gone(l);
        l->gone = v->gone;
        l->gone_seq = v->seq;
        c->gone_bytes += bytes_of_gone(l);
        make_room_for_gone(c, l);
        if (c->gone_bytes > c->most_gone_bytes) forget_gone(l);
    }
    pthread_mutex_unlock(&c->lock);
}
