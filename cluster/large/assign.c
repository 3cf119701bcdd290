#include "cluster/large/assign.h"

#include "cluster/large/branches.h"

#include <stdlib.h>

static gf_status assign_by_tree(gf_pool *pool, const gf_points *points, gf_partition *p,
                                uint32_t *runner_up, const gf_cancel *cancel, gf_error *err)
{
    gf_branches b;
    gf_status st = gf_branches_init(&b, &p->centres, pool, cancel, err);
    if (st == GF_OK)
        st = gf_branches_assign(&b, pool, points->x, p->label, runner_up, p->own, p->other, cancel,
                                err);
    gf_branches_release(&b);
    return st;
}

gf_status gf_assign_rows(gf_pool *pool, const gf_points *points, gf_partition *p,
                         uint32_t *runner_up, const gf_cancel *cancel, gf_error *err)
{
    gf_passes *passes = NULL;
    gf_pass_report report;
    if (gf_branches_serve(&p->centres))
        return assign_by_tree(pool, points, p, runner_up, cancel, err);
    gf_status st = gf_passes_create(pool, points, p->k, cancel, &passes, err);
    if (st == GF_OK) st = gf_passes_assign_all(passes, p, runner_up, &report, err);
    gf_passes_free(passes);
    return st;
}

/* ---- clusters that would be empty ------------------------------------------------------------ */

void gf_assign_find_keepers(const gf_partition *p, uint32_t *keeper)
{
    for (uint32_t c = 0; c < p->k; c++)
        keeper[c] = UINT32_MAX;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t *held = &keeper[p->label[i]];
        if (*held == UINT32_MAX || p->own[i] > p->own[*held]) *held = i;
    }
}

static int by_row(const void *a, const void *b)
{
    const gf_keeper *x = a, *y = b;
    return x->row < y->row ? -1 : x->row > y->row;
}

uint32_t gf_assign_list_lost(const gf_partition *p, const double *weight, const uint32_t *keeper,
                             gf_keeper *lost)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < p->k; c++)
        if (!(weight[c] > 0) && keeper[c] != UINT32_MAX) lost[n++] = (gf_keeper){keeper[c], c};
    qsort(lost, n, sizeof *lost, by_row);
    return n;
}

void gf_assign_give_back(gf_partition *p, const gf_keeper *lost, uint32_t n, const gf_csr *x,
                         const float *row_weight, double *weight, uint32_t *runner_up)
{
    for (uint32_t l = 0; l < n; l++) {
        uint32_t i = lost[l].row, c = lost[l].cluster, from = p->label[i];
        double w = row_weight ? (double)row_weight[l] : 1;
        if (!(weight[from] > w)) continue;
        weight[from] -= w;
        weight[c] += w;
        p->label[i] = c;
        p->own[i] = (float)gf_csr_row_dot(gf_csr_row(x, l), gf_centre_row(&p->centres.at[c]));
        p->other[i] = p->own[i];
        runner_up[i] = from;
    }
}
