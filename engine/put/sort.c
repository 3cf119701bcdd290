/*
 * Collected documents in the order of their rows: by collection and id, and those of one id as they
 * came.
 *
 * Nearly always all are of one collection. Then the ids are told apart by the eight bytes behind
 * what all of them begin with, read as one number; only where those are equal are ids compared.
 *
 *     "post-00017", "post-00023", ... ->  common "post-000", number of "17", "23", ...
 */
#include "engine/put/internal.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct ranked {
    uint64_t number; /* the bytes behind the common ones; a shorter id's are filled up with 0 */
    const gf_waiting *waiting;
} ranked;

static int by_place(const void *a, const void *b)
{
    const gf_waiting *x = a, *y = b;
    int order = gf_slice_compare(x->collection, y->collection);
    if (order == 0) order = gf_slice_compare(x->document.id, y->document.id);
    if (order == 0) order = x->order < y->order ? -1 : 1;
    return order;
}

static int by_number(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return by_place(x->waiting, y->waiting);
}

/* Bytes that all ids begin with; *one: all are of one collection. */
static size_t common_bytes(const gf_waiting *w, size_t n, bool *one)
{
    gf_slice first = w[0].document.id;
    size_t common = first.len;
    *one = true;
    for (size_t i = 1; i < n && *one; i++) {
        gf_slice id = w[i].document.id;
        size_t most = id.len < common ? id.len : common, same = 0;
        while (same < most && id.ptr[same] == first.ptr[same])
            same++;
        common = same;
        *one = gf_slice_equal(w[i].collection, w[0].collection);
    }
    return common;
}

/* Puts each where it belongs: place i gets what order[i] tells of, cycle by cycle. */
static void rearrange(gf_waiting *w, ranked *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gf_waiting first = w[i];
        size_t to = i, from;
        while (order[to].waiting && (from = (size_t)(order[to].waiting - w)) != i) {
            w[to] = w[from];
            order[to].waiting = NULL; /* done */
            to = from;
        }
        if (order[to].waiting) w[to] = first;
        order[to].waiting = NULL;
    }
}

static gf_status sort_ids(gf_waiting *w, size_t n, size_t common, gf_error *err)
{
    ranked *order = gf_array(n, sizeof *order);
    if (!order) return gf_fail_memory(err, "documents");
    for (size_t i = 0; i < n; i++)
        order[i] = (ranked){gf_leading_u64be(gf_slice_skip(w[i].document.id, common)), &w[i]};
    qsort(order, n, sizeof *order, by_number);
    rearrange(w, order, n);
    gf_free(order);
    return GF_OK;
}

gf_status gf_put_sort(gf_waiting *waiting, size_t n, gf_error *err)
{
    bool one;
    if (n < 2) return GF_OK;
    size_t common = common_bytes(waiting, n, &one);
    if (one) return sort_ids(waiting, n, common, err);
    qsort(waiting, n, sizeof *waiting, by_place);
    return GF_OK;
}
