/**
 * The model of a build, by which it is read and applied without another document: in builds:model
 * the cells
 *
 *     analysis    the language that was fallen back on, a line feed, the settings of the analysis
 *     vocabulary  terms with document frequencies and surfaces (vectorize/rows/vocabulary.h)
 *     centre <id> each cluster's centre: see gf_centre_write
 *     centre 0    the sum of all rows, where only topics are clusters: what is more like it than like
 *                 any of them is in none
 *     times <id>  each cluster's documents by hour, and those of none: see engine/rows/hours.h
 *     copies <id> the members of a cluster that are copies of others: see engine/rows/copy_list.h
 *     tree        the tree over the clusters: see engine/build/tree.h
 *     index:, search:   indexes, where they are kept: see engine/rows/index_cells.h
 *     rows        the rows that were clustered, where they are not the texts': see
 *                 engine/rows/kept_rows.h
 */
#ifndef GF_ENGINE_ROWS_MODEL_H
#define GF_ENGINE_ROWS_MODEL_H

#include "base/pool.h"
#include "cluster/passes/centres.h"
#include "engine/rows/languages.h"
#include "grouperfish/table.h"
#include "vectorize/rows/transformer.h"

/** How a build's texts are analysed. */
typedef struct gf_model_analysis {
    gf_row row; /* the options borrow from it */
    gf_vectorizer_options options;
    bool detect; /* language=auto */
    gf_fallback fallback;
} gf_model_analysis;

/** Read it; on failure it is empty. */
gf_status gf_model_analysis_load(gf_table *builds, const gf_snapshot *snapshot, gf_slice build_key,
                                 gf_model_analysis *analysis, gf_error *err);
void gf_model_analysis_release(gf_model_analysis *analysis);

/** The language that a document is analysed in; NULL for none. */
gf_status gf_model_analysis_language(const gf_model_analysis *analysis, gf_slice lang,
                                     gf_slice text, const gf_language **language, gf_error *err);

/** A build's analysis and vocabulary. */
typedef struct gf_model {
    gf_model_analysis analysis;
    gf_vocabulary vocabulary;
    gf_transformer *transformer;
} gf_model;

/** Load into *model, which must then stay where it is. On failure it is empty. */
gf_status gf_model_load(gf_table *builds, const gf_snapshot *snapshot, gf_slice build_key,
                        gf_model *model, gf_error *err);
void gf_model_release(gf_model *model);

/** The row of a document in the build's space; borrowed until the next call. */
gf_status gf_model_row(gf_model *model, gf_slice lang, gf_slice text, gf_row_view *row,
                       gf_error *err);

/** Threads that work out rows of a model, each with a transformer; they remember words together. */
typedef struct gf_model_workers {
    const gf_model *model;
    gf_pool *pool;
    gf_transformer **transformer; /* n */
    unsigned n;
} gf_model_workers;

/** n 0 takes one per processor. The model must stay until release. On failure *workers is empty. */
gf_status gf_model_workers_init(gf_model_workers *workers, const gf_model *model, unsigned n,
                                gf_error *err);
void gf_model_workers_release(gf_model_workers *workers);

/** Bound what the workers remember; while none is at work, after some ten thousand rows. */
gf_status gf_model_workers_bound(const gf_model_workers *workers, gf_error *err);

/** As gf_model_row, by one worker; borrowed until its next call. */
gf_status gf_model_workers_row(const gf_model_workers *workers, unsigned worker, gf_slice lang,
                               gf_slice text, gf_row_view *row, gf_error *err);

/** "centre" and the id, as a qualifier of builds:model. */
void gf_model_centre_qualifier(gf_buffer *out, uint32_t id);

/**
 * A sparse vector as bytes: number of entries, then each column less the one before it (varints),
 * then the values (floats, little-endian). Centres and documents' vectors are written so.
 */
void gf_model_vector_write(gf_row_view row, gf_buffer *out);

/** Read it into arrays of the caller's, to be freed; GF_ECORRUPT, GF_ENOMEM. */
gf_status gf_model_vector_read(gf_slice bytes, uint32_t n_cols, uint32_t **col, float **val,
                               uint32_t *n, gf_error *err);

/** The analysis cell. */
void gf_model_analysis_write(bool detect, const gf_fallback *fallback,
                             const gf_vectorizer_options *options, gf_buffer *out);

#endif
