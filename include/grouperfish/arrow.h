/**
 * Documents in and results out by Arrow's C data interface, so that programs which hold columns
 * (pandas, polars, DuckDB, any with Arrow) need neither JSON nor a library of Arrow's here.
 *
 * A stream (ArrowArrayStream) is read to its end by the function that it is handed to, and belongs to
 * it from then on: it is released exactly once on every path, also where the function fails, and so is
 * each array that came out of it. Strings may be utf8, large_utf8, string views or dictionaries of
 * these. The rows are struct arrays (record batches); a stream of plain strings is a column `text`.
 *
 * Source: https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html, whose
 * definitions stand here as they say they may.
 */
#ifndef GF_GROUPERFISH_ARROW_H
#define GF_GROUPERFISH_ARROW_H

#include "grouperfish/cancel.h"
#include "grouperfish/collections.h"
#include "grouperfish/export.h"
#include "grouperfish/views.h"

GF_PUBLIC_BEGIN

/* ---- the interface, as Arrow defines it ------------------------------------------------------ */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* ---- documents ------------------------------------------------------------------------------- */

/**
 * Called for a row that is no document: its number from 0 on over all batches, a key that lasts
 * ("no_text", "no_id", "not_utf8", "too_long", "bad_value") and a sentence. A failure ends the reading.
 */
typedef gf_status gf_arrow_refused(void *context, uint64_t row, const char *reason,
                                   const char *message, gf_error *err);

/** Called after each batch, with the rows so far. */
typedef void gf_arrow_progress(void *context, uint64_t rows);

typedef struct gf_arrow_options {
    unsigned version; /* GF_ARROW_OPTIONS_VERSION: set by GF_ARROW_OPTIONS() */
    /* Names of columns. An absent one that is named is GF_EINVAL, with the columns that are there. */
    const char *id;       /* strings or integers; NULL: rows get ids of ten digits, see first_id */
    const char *text;     /* strings; NULL: "text" */
    const char *time;     /* timestamps, dates, ISO 8601 as strings, or numbers; NULL: none */
    const char *language; /* strings; NULL: none */
    /* The fields: those of these names, in the schema's order; all further columns; or none.
       Integers, floats, bools, strings, dates, timestamps (as ISO 8601) and lists of them. What is
       null, or not a number, is left out. */
    const char *const *fields; /* n_fields */
    size_t n_fields;           /* 0: all */
    bool no_fields;
    uint64_t first_id; /* where there is no id: the number of the first row; they are padded with
                          zeros, so that the order of ids is that of the rows */
    gf_arrow_refused *refused;   /* NULL: the first such row is a failure, GF_EINVAL */
    gf_arrow_progress *progress; /* may be NULL */
    void *context;               /* of both */
    const gf_cancel *cancel;     /* may be NULL; looked at after some thousand rows */
} gf_arrow_options;

#define GF_ARROW_OPTIONS_VERSION 1
/** Options with these members, as in GF_ARROW_OPTIONS(.member = value), and all others 0. */
#define GF_ARROW_OPTIONS(...) ((gf_arrow_options){.version = GF_ARROW_OPTIONS_VERSION, __VA_ARGS__})

typedef struct gf_arrow_counts {
    uint64_t rows;      /* read */
    uint64_t refused;   /* of them no documents */
    uint64_t bad_times; /* strings in the column of times that are none: they stay as a field */
    gf_put_counts put;  /* written and synced */
} gf_arrow_counts;

/**
 * Put the rows of a stream into a collection, which is made where it is missing, also by no rows. A
 * text is copied once, into what is written.
 *
 * @param counts  also where it fails: what is on disk then; may be NULL
 * @return GF_OK; GF_EINVAL (columns, types; a row where nobody takes refused ones; arrays that are not
 *         as their schema says), GF_EIO (the stream failed: its words), GF_ECANCELLED; as gf_put_open
 *         and gf_put_document. Rows before the failure may be stored, and the rest is not.
 * Memory: a batch at a time, and what gf_put collects.
 */
gf_status gf_arrow_put(gf_store *store, gf_place where, struct ArrowArrayStream *stream,
                       const gf_arrow_options *options, gf_arrow_counts *counts, gf_error *err);

/* ---- results --------------------------------------------------------------------------------- */

/**
 * The documents of a build that are still there, by id, as a stream of one batch:
 *
 *     id                large_utf8
 *     cluster           uint32; null for a document that is in none
 *     label             dictionary<int32, large_utf8>; null likewise
 *     score             float
 *     runner_up         uint32; null where there is no second cluster
 *     runner_up_score   float; null likewise
 *     replaced          bool: the document was put anew since the build
 *
 * Where a value is null, its place in the buffer is 0.
 *
 * @param out  the caller releases it; the view may be closed before
 * @return GF_OK; GF_ECANCELLED, GF_ENOMEM, GF_ECORRUPT, GF_EIO; *out is then unchanged
 * Memory: 25 bytes and the id for each document.
 */
gf_status gf_arrow_memberships(gf_view *view, const gf_cancel *cancel, struct ArrowArrayStream *out,
                               gf_error *err);

/**
 * The places of texts in a build (gf_view_assign_all): for each row of the stream, in its order, the
 * columns of gf_arrow_memberships but `id` and `replaced`, and of the cluster
 *
 *     size                       uint64: its documents; null where there is none
 *     status, owner, link, note  dictionary<int32, large_utf8>: what somebody noted of it; null likewise,
 *                                and where nobody has
 *
 * Of the options id, time and fields count for nothing, but that a build of given rows takes the field
 * "vector"; a refused row is in no cluster.
 *
 * @param threads  0: one per processor
 */
gf_status gf_arrow_assign(gf_view *view, struct ArrowArrayStream *stream,
                          const gf_arrow_options *options, unsigned threads,
                          struct ArrowArrayStream *out, gf_error *err);

/**
 * The similarity of texts to each cluster's centre (gf_view_similarities), likewise: one column
 * `similarity`, fixed_size_list<float>, of as many as the build has clusters, by their ids.
 */
gf_status gf_arrow_similarities(gf_view *view, struct ArrowArrayStream *stream,
                                const gf_arrow_options *options, unsigned threads,
                                struct ArrowArrayStream *out, gf_error *err);

GF_PUBLIC_END

#endif
