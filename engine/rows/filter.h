/**
 * A filter of documents, by their fields and by their time.
 *
 *     field=value   the field is this, or is a list that has it
 *     field!=value  it is not, or the document lacks the field
 *     field<value   likewise <=, >, >=: numbers by their size, other text by its bytes
 *
 * All that is demanded must hold. A field that is text of digits counts as a number beside one. A
 * document without a time is in no bounds of time.
 */
#ifndef GF_ENGINE_ROWS_FILTER_H
#define GF_ENGINE_ROWS_FILTER_H

#include "base/arena.h"
#include "base/json/json.h"
#include "engine/rows/id_set.h"
#include "grouperfish/table.h"

typedef enum gf_comparison {
    GF_IS,
    GF_IS_NOT,
    GF_IS_BELOW,
    GF_IS_AT_MOST,
    GF_IS_ABOVE,
    GF_IS_AT_LEAST
} gf_comparison;

typedef struct gf_demand {
    gf_slice text;   /* as it was demanded: "type!=praise" */
    gf_slice column; /* of documents:main */
    gf_comparison comparison;
    gf_slice value;
    bool plain;     /* the column holds text and not JSON */
    bool of_time;   /* the value is `moment` */
    bool is_number; /* the value is `number` */
    double number;
    int64_t moment;
} gf_demand;

/** For one thread. Start with gf_filter_init. */
typedef struct gf_filter {
    gf_arena memory;
    gf_demand *demands; /* n of capacity */
    size_t n, capacity;
    int64_t since, until;      /* since <= time < until, in ms; INT64_MIN, INT64_MAX: no bound */
    const gf_id_set *within;   /* borrowed: documents that may be meant; NULL: all */
    const gf_table *documents; /* where there is `within`: the table of the rows */
    gf_buffer id;              /* likewise: of the row at hand */
    gf_json_parser *parser;    /* for values that have to be parsed; NULL until then */
} gf_filter;

void gf_filter_init(gf_filter *f);
void gf_filter_release(gf_filter *f);

/** Demand one thing, such as "type!=praise"; GF_EINVAL. The text is copied. */
gf_status gf_filter_add(gf_filter *f, gf_slice demand, gf_error *err);

/** The same for several with commas between; \, and \\ stand for themselves. */
gf_status gf_filter_add_list(gf_filter *f, gf_slice demands, gf_error *err);

/** True if the filter selects all documents. */
bool gf_filter_is_empty(const gf_filter *f);

/**
 * Test a row of documents:main. Only demanded columns are read, and only lists and text with
 * escapes are parsed.
 */
gf_status gf_filter_test(gf_filter *f, const gf_row *row, bool *meant, gf_error *err);

/**
 * Append what a row that is not selected fails: "filter type!=praise", "since 2015-02-16T00:00:00Z".
 */
gf_status gf_filter_why_not(gf_filter *f, const gf_row *row, gf_buffer *out, gf_error *err);

/**
 * A moment as people write it: ISO 8601, Unix seconds (or milliseconds), or an age, which is a
 * number of hours, days or weeks: "12h", "30d", "4w". An age counts back from the beginning of the
 * hour (h) or of the day (d, w; UTC) that `now` is in, so that it means the same all through it.
 */
bool gf_filter_read_moment(gf_slice text, int64_t now, int64_t *ms);

#endif
