/** Documents that have a term or an item of a query, and how often. */
#ifndef GF_ENGINE_SEARCH_POSTINGS_H
#define GF_ENGINE_SEARCH_POSTINGS_H

#include "grouperfish/status.h"

#include <stddef.h>
#include <stdint.h>

/** {0} to begin with. */
typedef struct gf_postings {
    uint32_t *document; /* n of capacity: numbers in the index; rising, but where noted otherwise */
    uint32_t *count;    /* n */
    size_t n, capacity;
} gf_postings;

void gf_postings_release(gf_postings *p);

/** Make room for so many more. */
gf_status gf_postings_reserve(gf_postings *p, size_t more, gf_error *err);
gf_status gf_postings_add(gf_postings *p, uint32_t document, uint32_t count, gf_error *err);

#endif
