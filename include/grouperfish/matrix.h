/** A build as rows and centroids, for other programs. */
#ifndef GF_GROUPERFISH_MATRIX_H
#define GF_GROUPERFISH_MATRIX_H

#include "grouperfish/csr.h"
#include "grouperfish/export.h"
#include "grouperfish/views.h"

GF_PUBLIC_BEGIN

struct gf_vocabulary;

/** A build as a matrix. */
typedef struct gf_build_matrix {
    gf_csr rows;     /* documents that are still there, by id; weights, of unit length. Where the
                            build's rows are dense ones each has all columns, also one of zeros */
    gf_slice *id;    /* rows.n_rows */
    uint32_t *label; /* rows.n_rows: id of the cluster; 0: in none */
    float *score;    /* rows.n_rows: similarity to its centroid */
    bool *replaced;  /* rows.n_rows: put anew since the build; the row is the new text's */
    uint32_t n_clusters;                    /* by id */
    uint32_t *cluster;                      /* n_clusters: ids */
    gf_slice *name;                         /* n_clusters: labels; borrowed from the view */
    gf_csr centroids;                       /* [n_clusters x rows.n_cols], of unit length */
    const struct gf_vocabulary *vocabulary; /* of the columns; borrowed from the view; NULL where
                                               they are no terms: the rows were made elsewhere */
    char *id_bytes;                         /* what id borrows from */
} gf_build_matrix;

/**
 * The rows of a build, worked out again from the stored texts, with its centroids and labels. Rows
 * that were made elsewhere are given as the build keeps them: dense ones to a byte a column.
 * @return GF_OK; GF_ECONFLICT where a build of an earlier version did not keep those; GF_ENOMEM,
 *         GF_ECANCELLED, GF_ECORRUPT, GF_EIO. On failure *matrix is unchanged.
 * Owner:  gf_build_matrix_release; names and terms last until the view is closed.
 * Cost:   that of analysing the texts; memory 8 bytes an entry, 33 and the id for a row.
 */
gf_status gf_view_read_matrix(gf_view *view, const gf_cancel *cancel, gf_build_matrix *matrix,
                              gf_error *err);
void gf_build_matrix_release(gf_build_matrix *matrix);

/**
 * The same without the rows: clusters with their names and centroids, and what columns are. The row
 * part of *matrix is empty, but for n_cols.
 * Cost: that of reading the centres and the vocabulary.
 */
gf_status gf_view_read_centres(gf_view *view, gf_build_matrix *matrix, gf_error *err);

/**
 * The similarity of documents, as gf_view_assign_document reads them, to the centre of each cluster.
 *
 * @param threads     0: one per processor; given rows take one
 * @param cancel      may be NULL
 * @param similarity  n * clusters of the build, by document, then by the clusters' ids; 0..1. The same
 *                    for any number of threads
 * Cost: reading the centres once a call; for each term of a document the clusters that have it.
 */
gf_status gf_view_similarities(gf_view *view, const gf_document *documents, size_t n,
                               unsigned threads, const gf_cancel *cancel, float *similarity,
                               gf_error *err);

/** A build as a map: places in the plane, documents that are alike near each other. */
typedef struct gf_build_map {
    uint32_t n; /* documents, in the order of gf_view_memberships */
    float *x,
        *y; /* n: around 0, with 1 as the mean square of the distance from it; NaN of a document
                     that has no place, since it has no terms (or no vector) */
} gf_build_map;

/**
 * Lay out the documents of a build that are still there: t-SNE from the places of their clusters.
 * Units mean nothing, and there is no up or down; far apart is not how different.
 *
 * @param threads  0: one per processor; what comes out is the same bytes for any number of them
 * @param cancel   may be NULL
 * @return GF_OK; GF_ECONFLICT of a build of dense vectors, and where one of an earlier version did not
 *         keep its rows; GF_ENOMEM, GF_ECANCELLED, GF_ECORRUPT, GF_EIO. On failure *map is unchanged.
 * Owner:  gf_build_map_release.
 * Cost:   of 100,000 short texts some seconds (docs/algorithms.md); memory that of gf_view_read_matrix,
 *         8 bytes an entry more, and some 170 a document.
 * Source: see docs/algorithms.md.
 */
gf_status gf_view_read_map(gf_view *view, unsigned threads, const gf_cancel *cancel,
                           gf_build_map *map, gf_error *err);
void gf_build_map_release(gf_build_map *map);

/** The term of a column, where columns are terms: as it is counted (unique), and as documents write it most often. */
gf_slice gf_build_matrix_term(const gf_build_matrix *matrix, uint32_t column);
gf_slice gf_build_matrix_surface(const gf_build_matrix *matrix, uint32_t column);

GF_PUBLIC_END

#endif
