/**
 * Columns of Arrow's arrays, read: the schema once, then values of each batch.
 *
 * A schema's formats are looked at when the columns are made; what an array has is checked against
 * them when it is bound, and indexes when they are used. So a buffer that is there as long as its
 * length says is never read beyond: lengths of buffers themselves the interface does not tell.
 *
 * Threads: columns are for one at a time.
 */
#ifndef GF_ENGINE_ARROW_COLUMNS_H
#define GF_ENGINE_ARROW_COLUMNS_H

#include "grouperfish/arrow.h"
#include "grouperfish/buffer.h"

typedef enum gf_arrow_kind {
    GF_ARROW_OTHER, /* of a type that is not read here */
    GF_ARROW_NULL,
    GF_ARROW_BOOL,
    GF_ARROW_INTEGER,
    GF_ARROW_FLOAT,
    GF_ARROW_TEXT,
    GF_ARROW_TEXT_VIEW,
    GF_ARROW_DATE,
    GF_ARROW_TIMESTAMP,
    GF_ARROW_LIST,
    GF_ARROW_FIXED_LIST,
    GF_ARROW_DICTIONARY
} gf_arrow_kind;

typedef struct gf_arrow_column {
    gf_arrow_kind kind;
    const struct ArrowSchema *schema; /* borrowed */
    unsigned width;                   /* bytes of a value; of texts and lists of an offset */
    bool is_signed;                   /* integers, and indexes of a dictionary */
    int64_t unit;  /* of dates and timestamps: values in a second; dates of days: 0 */
    int64_t items; /* of a fixed list */
    struct gf_arrow_column *values; /* of lists and dictionaries; owned */
    const struct ArrowArray *array; /* bound */
} gf_arrow_column;

/** Look at a column's type; `depth` bounds lists of lists. GF_EINVAL where it is none, GF_ENOMEM. */
gf_status gf_arrow_column_init(gf_arrow_column *column, const struct ArrowSchema *schema,
                               unsigned depth, gf_error *err);
void gf_arrow_column_release(gf_arrow_column *column);

/** Read from this array of at least `rows` values from now on; GF_EINVAL where it is not sound. */
gf_status gf_arrow_column_bind(gf_arrow_column *column, const struct ArrowArray *array,
                               int64_t rows, gf_error *err);

/** The name that the schema gives it, "" where there is none; and its type in words. */
const char *gf_arrow_column_name(const gf_arrow_column *column);
void gf_arrow_column_describe(const gf_arrow_column *column, gf_buffer *out);

/** Whether its values are strings, of any form; integers, of any form. */
bool gf_arrow_column_is_text(const gf_arrow_column *column);
bool gf_arrow_column_is_integer(const gf_arrow_column *column);

bool gf_arrow_column_is_null(const gf_arrow_column *column, int64_t i);

/** The string at i, which is not null; borrowed from the array. GF_EINVAL where an index is wrong. */
gf_status gf_arrow_column_text(const gf_arrow_column *column, int64_t i, gf_slice *text,
                               gf_error *err);

/**
 * Append a value as JSON: nothing where it is null, or no number. GF_EINVAL where an index is wrong, a
 * string is no UTF-8, or a time is not one of the years 1 to 9999.
 */
gf_status gf_arrow_column_json(const gf_arrow_column *column, int64_t i, gf_buffer *json,
                               gf_error *err);

#endif
