/**
 * The row that a document brings along, in its field "vector", for builds whose rows were made
 * elsewhere: an array with a number for each column, or an object of numbers by column.
 */
#ifndef GF_ENGINE_ROWS_VECTOR_H
#define GF_ENGINE_ROWS_VECTOR_H

#include "base/json/json.h"
#include "grouperfish/csr.h"
#include "grouperfish/document.h"

#include <stdbool.h>

#define GF_VECTOR_FIELD   "vector"
#define GF_VECTOR_WITHOUT "without a vector"
#define GF_WORDS_WITHOUT  "without known words"

/** A row of unit length, and what reading it takes. {0} to begin with. */
typedef struct gf_vector {
    gf_json_parser *parser;
    uint32_t *col; /* n of capacity, rising */
    float *val;
    uint32_t n, capacity;
    const char *why; /* where n is 0: why there is none, as a label */
} gf_vector;

void gf_vector_release(gf_vector *v);

/** Read the field of a document; n is 0 where it has none, or one that does not fit the columns. */
gf_status gf_vector_read(gf_vector *v, const gf_document *document, uint32_t n_cols, gf_error *err);

/** Take a row, col NULL: all columns; GF_EINVAL where it is not finite. */
gf_status gf_vector_take(gf_vector *v, gf_row_view row, gf_error *err);

/** Room for n columns, all of them; val is the caller's to set. */
gf_status gf_vector_make_dense(gf_vector *v, uint32_t n, gf_error *err);

static inline gf_row_view gf_vector_row(const gf_vector *v)
{
    return (gf_row_view){v->col, v->val, v->n};
}

#endif
