#include "apps/tweets/raw_rows.h"

#include "apps/tweets/tweets.h"
#include "base/grow.h"
#include "base/memory.h"

#include <stdlib.h>

void gf_raw_rows_release(gf_raw_rows *r)
{
    gf_free(r->bytes);
    *r = (gf_raw_rows){0};
}

gf_status gf_raw_rows_add(gf_raw_rows *r, gf_slice row, gf_error *err)
{
    if (row.len != GF_TWEET_ROW)
        return gf_fail(err, GF_ECORRUPT, "an index of tweets names a row of %zu bytes", row.len);
    if (!gf_grow(&r->bytes, &r->capacity, r->n + 1, GF_TWEET_ROW))
        return gf_fail_memory(err, "rows of tweets");
    memcpy(r->bytes + r->n++ * GF_TWEET_ROW, row.ptr, GF_TWEET_ROW);
    return GF_OK;
}

static int compare_rows(const void *a, const void *b)
{
    return memcmp(a, b, GF_TWEET_ROW);
}

void gf_raw_rows_sort(gf_raw_rows *r)
{
    size_t n = 0;
    if (r->n) qsort(r->bytes, r->n, GF_TWEET_ROW, compare_rows);
    for (size_t i = 0; i < r->n; i++) {
        char *row = r->bytes + i * GF_TWEET_ROW;
        if (n && compare_rows(r->bytes + (n - 1) * GF_TWEET_ROW, row) == 0) continue;
        memmove(r->bytes + n++ * GF_TWEET_ROW, row, GF_TWEET_ROW);
    }
    r->n = n;
}

void gf_raw_rows_intersect(gf_raw_rows *r, const gf_raw_rows *other)
{
    size_t n = 0, k = 0;
    for (size_t i = 0; i < r->n; i++) {
        char *row = r->bytes + i * GF_TWEET_ROW;
        while (k < other->n && compare_rows(other->bytes + k * GF_TWEET_ROW, row) < 0)
            k++;
        if (k == other->n || compare_rows(other->bytes + k * GF_TWEET_ROW, row) != 0) continue;
        memmove(r->bytes + n++ * GF_TWEET_ROW, row, GF_TWEET_ROW);
    }
    r->n = n;
}
