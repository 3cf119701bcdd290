#include "engine/build/centre_terms.h"

#include "base/grid.h"
#include "base/memory.h"
#include "cluster/kmeans.h"
#include "cluster/measure/term_growth.h"

#include <math.h>

enum {
    MOST_CLUSTERS = 100, /* of the sample */
    ROWS_A_CLUSTER = 20  /* at least, on the average */
};

/*
 * The rows that have terms which other rows have, with those alone, as unit rows: words of one row would be
 * most of its direction, and are nothing that it could share.
 */
static gf_status take_shared(const gf_csr *x, gf_csr *shared, gf_error *err)
{
    uint32_t *rows = gf_calloc(x->n_cols, sizeof *rows);
    gf_status st = rows ? gf_csr_init(shared, x->n_rows, x->n_cols, gf_csr_nnz(x), err)
                        : gf_fail_memory(err, "an estimate");
    if (st != GF_OK) {
        gf_free(rows);
        return st;
    }
    for (uint64_t p = 0; p < gf_csr_nnz(x); p++)
        rows[x->col[p]]++;
    shared->n_rows = 0;
    for (uint32_t i = 0; i < x->n_rows; i++) {
        gf_row_view row = gf_csr_row(x, i);
        uint64_t at = shared->start[shared->n_rows], first = at;
        double squares = 0;
        for (uint32_t p = 0; p < row.n; p++) {
            if (rows[row.col[p]] == 1) continue;
            shared->col[at] = row.col[p];
            shared->val[at++] = row.val[p];
            squares += (double)row.val[p] * (double)row.val[p];
        }
        if (!(squares > 0)) continue;
        for (uint64_t p = first; p < at; p++)
            shared->val[p] = gf_grid_round((double)shared->val[p] / sqrt(squares));
        shared->start[++shared->n_rows] = at;
    }
    gf_free(rows);
    return GF_OK;
}

gf_status gf_centre_terms_fit(gf_pool *pool, const gf_csr *x, uint32_t k, const gf_cancel *cancel,
                              double *a, gf_error *err)
{
    gf_kmeans_options o = {.quick = true, .cancel = cancel};
    gf_kmeans r = {0};
    gf_csr shared = {0};
    double terms = 0;
    *a = 1;
    gf_status st = take_shared(x, &shared, err);
    if (st != GF_OK || shared.n_rows == 0) goto done;
    o.k = shared.n_rows / ROWS_A_CLUSTER;
    if (o.k > MOST_CLUSTERS) o.k = MOST_CLUSTERS;
    if (o.k > k) o.k = k;
    if (o.k == 0) o.k = 1;
    st = gf_kmeans_run(pool, &shared, &o, &r, err);
    if (st != GF_OK) goto done;
    /* A cluster of mean size is what is asked for; how uneven they are is in a. */
    for (uint32_t c = 0; c < r.k; c++)
        terms += r.centres.at[c].n;
    *a = gf_term_growth_fit((double)gf_csr_nnz(&shared) / r.k, terms / r.k);
done:
    gf_kmeans_release(&r);
    gf_csr_release(&shared);
    return st;
}
