/*
 * Rows in the order of the table: by collection and id, and those of one id in order of arrival.
 *
 * Nearly always all are of one collection. Then ids are compared by the eight bytes behind their
 * common beginning, read as one number; whole ids are compared only where those are equal.
 *
 *     "post-00017", "post-00023", ... ->  common "post-000", number of "17", "23", ...
 */
#include "engine/put/put_internal.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct ranked {
    uint64_t number; /* the bytes behind the common ones; a shorter id's are filled up with 0 */
    const gf_put_row *row;
} ranked;

static int by_key(const void *a, const void *b)
{
    const gf_put_row *x = a, *y = b;
    int order = gf_slice_compare(x->collection, y->collection);
    if (order == 0) order = gf_slice_compare(x->id, y->id);
    if (order == 0) order = x->order < y->order ? -1 : 1;
    return order;
}

static int by_number(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return by_key(x->row, y->row);
}

/* Bytes that all ids begin with; *one: all are of one collection. */
static size_t common_bytes(const gf_put_row *w, size_t n, bool *one)
{
    gf_slice first = w[0].id;
    size_t common = first.len;
    *one = true;
    for (size_t i = 1; i < n && *one; i++) {
        gf_slice id = w[i].id;
        size_t most = id.len < common ? id.len : common, same = 0;
        while (same < most && id.ptr[same] == first.ptr[same])
            same++;
        common = same;
        *one = gf_slice_equal(w[i].collection, w[0].collection);
    }
    return common;
}

/* Permute the rows, cycle by cycle: order[i] points to the row that belongs at i. */
static void permute_rows(gf_put_row *w, ranked *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gf_put_row first = w[i];
        size_t to = i, from;
        while (order[to].row && (from = (size_t)(order[to].row - w)) != i) {
            w[to] = w[from];
            order[to].row = NULL; /* done */
            to = from;
        }
        if (order[to].row) w[to] = first;
        order[to].row = NULL;
    }
}

static gf_status sort_ids(gf_put_row *w, size_t n, size_t common, gf_error *err)
{
    ranked *order = gf_array(n, sizeof *order);
    if (!order) return gf_fail_memory(err, "documents");
    for (size_t i = 0; i < n; i++)
        order[i] = (ranked){gf_leading_u64be(gf_slice_skip(w[i].id, common)), &w[i]};
    qsort(order, n, sizeof *order, by_number);
    permute_rows(w, order, n);
    gf_free(order);
    return GF_OK;
}

gf_status gf_put_sort(gf_put_row *rows, size_t n, gf_error *err)
{
    bool one;
    if (n < 2) return GF_OK;
    size_t common = common_bytes(rows, n, &one);
    if (one) return sort_ids(rows, n, common, err);
    qsort(rows, n, sizeof *rows, by_key);
    return GF_OK;
}
