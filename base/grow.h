/**
 * Growing arrays: an array of the heap with room for `capacity` items, of which the owner counts
 * how many there are.
 *
 *     if (!gf_grow(&list->items, &list->capacity, list->n + 1, sizeof *list->items))
 *         return gf_fail_memory(err, "a list");
 *     list->items[list->n++] = item;
 */
#ifndef GF_BASE_GROW_H
#define GF_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Make room for n items of `size` bytes: capacities double, from GF_GROW_FIRST on, so that adding
 * one item after another costs O(1) each.
 *
 * @param array     address of the pointer to the first item (NULL: there is none yet), which moves
 * @param capacity  items that there is room for
 * @return false where memory is short; array and capacity are then unchanged
 */
bool gf_grow(void *array, size_t *capacity, size_t n, size_t size);

enum { GF_GROW_FIRST = 16 };

#endif
