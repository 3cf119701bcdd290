/*
 * Similarities of texts to all centres: the centres are turned once, so that each term of a text adds
 * to those clusters that have it.
 */
#include "engine/view/view.h"

#include "base/memory.h"
#include "grouperfish/matrix.h"

static void add_row(const gf_csr *by_term, gf_row_view row, double *sum)
{
    for (uint32_t e = 0; e < row.n; e++) {
        uint32_t term = row.col ? row.col[e] : e;
        if (term >= by_term->n_rows) continue;
        gf_row_view clusters = gf_csr_row(by_term, term);
        for (uint32_t c = 0; c < clusters.n; c++)
            sum[clusters.col[c]] += (double)row.val[e] * (double)clusters.val[c];
    }
}

static gf_status write_similarities(gf_view *v, const gf_csr *by_term, const gf_document *documents,
                                    size_t n, double *sum, float *similarity, gf_error *err)
{
    uint32_t k = by_term->n_cols;
    for (size_t i = 0; i < n; i++) {
        gf_row_view row;
        gf_status st = gf_view_row_of(v, &documents[i], &row, err);
        if (st != GF_OK) return st;
        for (uint32_t c = 0; c < k; c++)
            sum[c] = 0;
        add_row(by_term, row, sum);
        for (uint32_t c = 0; c < k; c++)
            similarity[i * k + c] = sum[c] < 0 ? 0 : sum[c] > 1 ? 1 : (float)sum[c];
    }
    return GF_OK;
}

gf_status gf_view_similarities(gf_view *v, const gf_document *documents, size_t n,
                               float *similarity, gf_error *err)
{
    gf_build_matrix m = {0};
    gf_csr by_term = {0};
    double *sum = NULL;
    gf_status st = gf_view_read_centres(v, &m, err);
    if (st == GF_OK) st = gf_csr_transpose(&m.centroids, &by_term, err);
    if (st == GF_OK) {
        sum = gf_array((size_t)m.n_clusters + 1, sizeof *sum);
        st = sum ? write_similarities(v, &by_term, documents, n, sum, similarity, err)
                 : gf_fail_memory(err, "similarities");
    }
    gf_free(sum);
    gf_csr_release(&by_term);
    gf_build_matrix_release(&m);
    return st;
}
