#include "base/grow.h"

#include "base/memory.h"

#include <string.h>

bool gf_grow(void *array, size_t *capacity, size_t n, size_t size)
{
    if (n <= *capacity) return true;
    size_t grown = *capacity ? *capacity : GF_GROW_FIRST / 2;
    do {
        if (grown > SIZE_MAX / 2) return false;
        grown *= 2;
    } while (grown < n);
    /* The pointer is copied as bytes: it is of any type. */
    void *items;
    memcpy(&items, array, sizeof items);
    items = gf_realloc(items, grown, size);
    if (!items) return false;
    memcpy(array, &items, sizeof items);
    *capacity = grown;
    return true;
}
