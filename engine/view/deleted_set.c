#include "engine/view/deleted_set.h"

#include "base/memory.h"

#include <assert.h>

static void free_set(gf_deleted_set *s)
{
    gf_strings_release(&s->ids);
    gf_free(s->cluster);
    gf_free(s->lost);
    gf_free(s);
}

gf_deleted_set *gf_deleted_set_create(uint32_t most, size_t n_clusters)
{
    gf_deleted_set *s = gf_calloc(1, sizeof *s);
    if (!s) return NULL;
    s->shares = 1;
    s->n_clusters = n_clusters;
    s->cluster = gf_array(most, sizeof *s->cluster);
    s->lost = gf_calloc(n_clusters + 1, sizeof *s->lost);
    if (s->cluster && s->lost) return s;
    free_set(s);
    return NULL;
}

gf_status gf_deleted_set_add(gf_deleted_set *s, gf_slice id, uint32_t cluster, gf_error *err)
{
    uint32_t number;
    assert(cluster < s->n_clusters && !gf_deleted_set_has(s, id));
    gf_status st = gf_strings_add(&s->ids, id, &number, NULL, err);
    if (st != GF_OK) return st;
    s->cluster[number] = cluster;
    s->lost[cluster]++;
    return GF_OK;
}

bool gf_deleted_set_has(const gf_deleted_set *s, gf_slice id)
{
    return s && gf_strings_find(&s->ids, id) != GF_STRING_NONE;
}

gf_deleted_set *gf_deleted_set_share(gf_deleted_set *s)
{
    if (s) __atomic_fetch_add(&s->shares, 1, __ATOMIC_RELAXED);
    return s;
}

void gf_deleted_set_drop(gf_deleted_set *s)
{
    if (s && __atomic_sub_fetch(&s->shares, 1, __ATOMIC_ACQ_REL) == 0) free_set(s);
}

size_t gf_deleted_set_bytes(const gf_deleted_set *s)
{
    enum { EACH = 40 /* an id's slots, entry and cluster, about */ };
    if (!s) return 0;
    return s->ids.bytes.total + (size_t)s->ids.n * EACH + s->n_clusters * sizeof *s->lost;
}
