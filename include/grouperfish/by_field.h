/** Clusters by a field of their documents: a crosstab of its values, or its numbers. */
#ifndef GF_GROUPERFISH_BY_FIELD_H
#define GF_GROUPERFISH_BY_FIELD_H

#include "grouperfish/calendar.h"
#include "grouperfish/cancel.h"
#include "grouperfish/export.h"
#include "grouperfish/views.h"

GF_PUBLIC_BEGIN

/** A cluster's documents beside those elsewhere. */
typedef enum gf_difference { GF_AS_ELSEWHERE, GF_MORE, GF_LESS } gf_difference;

/** Documents of one cluster that have one value. */
typedef struct gf_field_cell {
    uint64_t documents;
    double share;  /* of the cluster's documents that have the field, 0..1 */
    double change; /* log of the odds ratio of the cluster to elsewhere; > 0: it has more */
    double z;      /* change in units of its standard error */
    gf_difference difference;
} gf_field_cell;

/** Numbers of one cluster. All but n and above are NAN where n is 0. */
typedef struct gf_field_numbers {
    uint64_t n;
    double mean, least, lower, median, upper, most; /* lower and upper: quartiles */
    double above; /* chance that one of the cluster is greater than one elsewhere; 0.5: neither */
    double z;     /* of the rank sum test; 0 where there is no number elsewhere */
    gf_difference difference; /* GF_MORE: higher */
} gf_field_numbers;

typedef struct gf_field_row {
    uint32_t cluster; /* id; 0: documents without terms, and the row of all */
    gf_slice label;   /* of the row of all empty */
    uint64_t size;    /* documents that count */
    uint64_t missing; /* of these, without the field; of numbers: or with something else in it */
    uint64_t other;   /* with a value that has no column */
    const gf_field_cell *cells; /* n_values; NULL of numbers */
    gf_field_numbers numbers;   /* n is 0 of a crosstab */
} gf_field_row;

/** The clusters by a field, over all time or in one period. */
typedef struct gf_by_field {
    bool numbers;           /* the field holds numbers; else values */
    bool in_period;         /* only documents whose time lies in `period` count */
    gf_period kind;         /* never GF_PERIOD_AUTO */
    int64_t period;         /* include/grouperfish/calendar.h */
    const gf_slice *values; /* n_values: the most frequent first; 0 of numbers */
    size_t n_values;
    uint64_t distinct;        /* values that the field has, those without a column too */
    const gf_field_row *rows; /* n_rows: of all, then the clusters as gf_view_clusters has them,
                                 then, if there are any, the documents without terms */
    size_t n_rows;
    uint64_t before, undated; /* with periods: documents before the first one; without a time */
    double clear;             /* least |z| of a difference */
} gf_by_field;

typedef gf_status gf_visit_by_field(void *context, const gf_by_field *table, gf_error *err);

typedef struct gf_by_field_options {
    unsigned version;      /* GF_BY_FIELD_OPTIONS_VERSION: set by GF_BY_FIELD_OPTIONS() */
    gf_slice field;        /* not "id", "text" or "time" */
    size_t most_values;    /* columns, 1 to 1000; 0: 8, and a field of numbers is told as numbers */
    bool by_time;          /* a table for each period that has a document */
    gf_period kind;        /* of by_time; GF_PERIOD_AUTO as of gf_view_trends */
    size_t most_periods;   /* of by_time: the latest so many, 1 or more */
    const gf_slice *where; /* n_where demands, such as "lang=en", that documents must meet */
    size_t n_where;
    const gf_cancel *cancel; /* may be NULL */
} gf_by_field_options;

#define GF_BY_FIELD_OPTIONS_VERSION 1
#define GF_BY_FIELD_OPTIONS(...)                                                                   \
    ((gf_by_field_options){.version = GF_BY_FIELD_OPTIONS_VERSION, __VA_ARGS__})

/**
 * Count the documents of each cluster by the values of a field, or summarise its numbers.
 *
 * Documents of the build count that are still there, with what they have now. One whose field is a
 * list counts for each value in it, once; null, an object and an empty list are no value. A field
 * holds numbers where at least 95 of 100 of the documents that have it have one number, as a number
 * or as text; the others then count as missing.
 *
 * Values. Of n documents of a cluster that have the field a have the value, elsewhere c of m:
 *
 *     change = ln((a + 1/2) / (n - a + 1/2)) - ln((c + 1/2) / (m - c + 1/2))
 *
 * and its standard error is the root of the sum of the four terms' reciprocals, as of
 * gf_view_trends. Both are 0 where n or m is.
 *
 * Numbers. z is that of the rank sum test, the cluster's numbers beside all others, normal
 * approximation with the correction for ties and none for continuity; quartiles and the median
 * interpolate between the two nearest numbers.
 *
 * Differences. So many comparisons have chance results: a difference counts where |z| is `clear` or
 * more, which is such that, were there none at all, the chance of even one in the whole answer
 * would be at most 5 % (Bonferroni's correction over all rows, columns and periods).
 *
 * @param visit  called once, or once for each period, the earliest first; what it gets is borrowed
 * @return GF_OK; GF_EINVAL (the field, a demand, a version); GF_ENOTFOUND (no document that counts
 *         has the field), GF_ELIMIT (more than 8 << 20 cells), GF_ECANCELLED, GF_ENOMEM, GF_ECORRUPT,
 *         GF_EIO
 * Cost: a walk over the build's memberships and their documents; memory 16 bytes for each document,
 * the distinct values, and 48 bytes for each cluster and column.
 * Sources: Woolf, Annals of Human Genetics 19 (1955) 251-253; Haldane, ibid. 20 (1956) 309-311;
 * Wilcoxon, Biometrics Bulletin 1 (1945) 80-83; Mann & Whitney, Annals of Mathematical Statistics
 * 18 (1947) 50-60; Dunn, Journal of the American Statistical Association 56 (1961) 52-64;
 * Hyndman & Fan, American Statistician 50 (1996) 361-365 (their definition 7).
 */
gf_status gf_view_by_field(gf_view *view, const gf_by_field_options *options,
                           gf_visit_by_field *visit, void *context, gf_error *err);

GF_PUBLIC_END

#endif
