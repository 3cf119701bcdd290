#include "engine/search/postings.h"

#include "base/grow.h"
#include "base/memory.h"

#include <assert.h>

void gf_postings_release(gf_postings *p)
{
    gf_free(p->document);
    gf_free(p->count);
    *p = (gf_postings){0};
}

gf_status gf_postings_reserve(gf_postings *p, size_t more, gf_error *err)
{
    size_t same = p->capacity; /* the two arrays grow alike */
    bool ok = gf_grow(&p->document, &same, p->n + more, sizeof *p->document) &&
              gf_grow(&p->count, &p->capacity, p->n + more, sizeof *p->count);
    return ok ? GF_OK : gf_fail_memory(err, "a search");
}

gf_status gf_postings_add(gf_postings *p, uint32_t document, uint32_t count, gf_error *err)
{
    gf_status st = gf_postings_reserve(p, 1, err);
    if (st != GF_OK) return st;
    assert(p->n < p->capacity);
    p->document[p->n] = document;
    p->count[p->n++] = count;
    return GF_OK;
}
