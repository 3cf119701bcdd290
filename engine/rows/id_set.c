#include "engine/rows/id_set.h"

#include "base/grow.h"
#include "base/memory.h"

#include <assert.h>

void gf_id_set_release(gf_id_set *s)
{
    gf_arena_release(&s->memory);
    gf_free(s->ids);
    *s = (gf_id_set){.n = 0};
}

gf_status gf_id_set_append(gf_id_set *s, gf_slice id, gf_error *err)
{
    assert(s->n == 0 || gf_slice_compare(s->ids[s->n - 1], id) < 0);
    if (!gf_grow(&s->ids, &s->capacity, s->n + 1, sizeof *s->ids))
        return gf_fail_memory(err, "ids of documents");
    s->ids[s->n] = gf_arena_copy(&s->memory, id);
    if (!s->ids[s->n].ptr) return gf_fail_memory(err, "ids of documents");
    s->n++;
    return GF_OK;
}

bool gf_id_set_has(const gf_id_set *s, gf_slice id)
{
    size_t from = 0, to = s->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = gf_slice_compare(s->ids[middle], id);
        if (order == 0) return true;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

/* FNV-1a over each id and its length. */
uint64_t gf_id_set_hash(const gf_id_set *s)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < s->n; i++) {
        for (size_t p = 0; p < s->ids[i].len; p++)
            h = (h ^ (unsigned char)s->ids[i].ptr[p]) * UINT64_C(0x100000001B3);
        h = (h ^ s->ids[i].len ^ UINT64_C(0x100)) * UINT64_C(0x100000001B3);
    }
    return h;
}
