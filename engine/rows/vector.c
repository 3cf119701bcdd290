#include "engine/rows/vector.h"

#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>

#define UNFIT "with a vector that does not fit"

void gf_vector_release(gf_vector *v)
{
    gf_json_parser_free(v->parser);
    gf_free(v->col);
    gf_free(v->val);
    *v = (gf_vector){0};
}

static gf_status make_room(gf_vector *v, uint32_t n, gf_error *err)
{
    if (n <= v->capacity) return GF_OK;
    uint32_t *col = gf_realloc(v->col, n, sizeof *col);
    if (col) v->col = col;
    float *val = col ? gf_realloc(v->val, n, sizeof *val) : NULL;
    if (!val) return gf_fail_memory(err, "a vector");
    v->val = val;
    v->capacity = n;
    return GF_OK;
}

/* A number for each column; false where it is anything else. */
static gf_status take_array(gf_vector *v, gf_json_value array, uint32_t n_cols, bool *good,
                            gf_error *err)
{
    gf_json_iterator it = gf_json_items(array);
    gf_json_value item;
    uint32_t n = 0;
    gf_status st = make_room(v, n_cols, err);
    *good = st == GF_OK;
    while (*good && gf_json_next(&it, NULL, &item)) {
        *good = n < n_cols && gf_json_is_number(item);
        if (!*good) break;
        v->col[n] = n;
        v->val[n++] = (float)gf_json_number(item);
    }
    *good = *good && n == n_cols;
    v->n = n;
    return st;
}

typedef struct entry {
    uint32_t col;
    float val;
} entry;

static int by_column(const void *a, const void *b)
{
    uint32_t x = ((const entry *)a)->col, y = ((const entry *)b)->col;
    return x < y ? -1 : x > y;
}

/* Numbers by column, in any order; one that comes twice does not fit. */
static gf_status take_object(gf_vector *v, gf_json_value object, uint32_t n_cols, bool *good,
                             gf_error *err)
{
    gf_json_iterator it = gf_json_items(object);
    gf_json_value item;
    gf_slice name;
    uint32_t n = 0, count = 0;
    while (gf_json_next(&it, &name, &item))
        count++;
    entry *entries = gf_array(count, sizeof *entries);
    gf_status st = entries ? make_room(v, count, err) : gf_fail_memory(err, "a vector");
    *good = st == GF_OK;
    for (it = gf_json_items(object); *good && gf_json_next(&it, &name, &item); n++) {
        uint64_t column;
        *good = gf_number_read(name, &column) && column < n_cols && gf_json_is_number(item);
        if (*good) entries[n] = (entry){(uint32_t)column, (float)gf_json_number(item)};
    }
    if (*good && n) qsort(entries, n, sizeof *entries, by_column);
    for (uint32_t i = 0; *good && i < n; i++) {
        *good = i == 0 || entries[i].col > entries[i - 1].col;
        v->col[i] = entries[i].col;
        v->val[i] = entries[i].val;
    }
    v->n = n;
    gf_free(entries);
    return st;
}

/* Scale to unit length; false where the row has no direction. */
static bool scale_vector(gf_vector *v)
{
    double squares = 0;
    for (uint32_t i = 0; i < v->n; i++)
        squares += (double)v->val[i] * (double)v->val[i];
    double length = sqrt(squares);
    if (!isfinite(length) || !(length > 0)) return false;
    for (uint32_t i = 0; i < v->n; i++)
        v->val[i] = (float)((double)v->val[i] / length);
    return true;
}

static gf_status parse_vector(gf_vector *v, gf_slice json, uint32_t n_cols, gf_error *err)
{
    gf_json_value root;
    bool good = false;
    gf_status st = v->parser ? GF_OK : gf_json_parser_create(&v->parser, err);
    if (st != GF_OK) return st;
    st = gf_json_parse_copy(v->parser, json, &root, NULL);
    if (st == GF_EINVAL) return GF_OK;
    if (st != GF_OK) return gf_fail_memory(err, "a vector");
    gf_json_kind kind = gf_json_kind_of(root);
    if (kind == GF_JSON_NULL) v->why = GF_VECTOR_WITHOUT;
    if (kind == GF_JSON_ARRAY) st = take_array(v, root, n_cols, &good, err);
    if (kind == GF_JSON_OBJECT) st = take_object(v, root, n_cols, &good, err);
    if (st != GF_OK || !good || !scale_vector(v)) v->n = 0;
    return st;
}

gf_status gf_vector_read(gf_vector *v, const gf_document *d, uint32_t n_cols, gf_error *err)
{
    v->n = 0;
    v->why = GF_VECTOR_WITHOUT;
    for (size_t i = 0; i < d->n_fields; i++) {
        if (!gf_slice_equal(d->fields[i].name, GF_SLICE(GF_VECTOR_FIELD))) continue;
        v->why = UNFIT;
        return parse_vector(v, d->fields[i].json, n_cols, err);
    }
    return GF_OK;
}

gf_status gf_vector_take(gf_vector *v, gf_row_view row, gf_error *err)
{
    gf_status st = make_room(v, row.n, err);
    v->n = st == GF_OK ? row.n : 0;
    v->why = GF_VECTOR_WITHOUT;
    for (uint32_t i = 0; i < v->n; i++) {
        if (!isfinite(row.val[i])) return gf_fail(err, GF_EINVAL, "a row is not finite");
        v->col[i] = row.col ? row.col[i] : i;
        v->val[i] = row.val[i];
    }
    if (!scale_vector(v)) v->n = 0;
    return st;
}

gf_status gf_vector_make_dense(gf_vector *v, uint32_t n, gf_error *err)
{
    gf_status st = make_room(v, n, err);
    v->n = st == GF_OK ? n : 0;
    for (uint32_t c = 0; c < v->n; c++)
        v->col[c] = c;
    return st;
}
