#include "cluster/split.h"

#include "base/memory.h"
#include "cluster/seed.h"

#include <inttypes.h>
#include <string.h>

enum { PASSES = 6 };

#define TOLERANCE 0.002

void gf_split_release(gf_split *s)
{
    gf_free(s->rows);
    gf_free(s->second);
    gf_centres_release(&s->halves);
    *s = (gf_split){0};
}

static gf_status run(const gf_points *members, gf_random *random, const gf_cancel *cancel,
                     gf_partition *p, gf_error *err)
{
    gf_passes *passes = NULL;
    gf_passes_made made;
    gf_status st = gf_passes_create(NULL, members, 2, cancel, &passes, err);
    if (st == GF_OK) st = gf_seed_centres(members, random, &p->centres, cancel, err);
    if (st == GF_OK) st = gf_passes_run(passes, p, TOLERANCE, PASSES, &made, err);
    gf_passes_free(passes);
    return st;
}

/* The halves that the partition found, for the rows it was made of. */
static gf_status take(gf_partition *p, const uint32_t *rows, double length, gf_split *out,
                      gf_error *err)
{
    gf_split s = {.n = p->n, .gain = gf_centres_objective(&p->centres) - length};
    s.rows = gf_array(p->n, sizeof *s.rows);
    s.second = gf_array(p->n, sizeof *s.second);
    if (!s.rows || !s.second) {
        gf_split_release(&s);
        return gf_fail_memory(err, "splitting a cluster");
    }
    memcpy(s.rows, rows, p->n * sizeof *rows);
    for (uint32_t i = 0; i < p->n; i++)
        s.second[i] = p->label[i] == 1;
    s.halves = p->centres;
    p->centres = (gf_centres){0};
    *out = s;
    return GF_OK;
}

gf_status gf_split_rows(const gf_points *points, const uint32_t *rows, uint32_t n_rows,
                        double length, gf_random *random, const gf_cancel *cancel, gf_split *out,
                        gf_error *err)
{
    if (n_rows < 2)
        return gf_fail(err, GF_EINVAL, "a cluster of %" PRIu32 " rows cannot be split", n_rows);
    gf_csr x = {0};
    float *weight = NULL;
    uint32_t *term = NULL;
    gf_partition p = {0};
    gf_status st = gf_gather_rows(points, rows, n_rows, &x, &weight, err);
    if (st == GF_OK) st = gf_pack_columns(&x, &term, err);
    if (st == GF_OK) st = gf_partition_init(&p, n_rows, 2, x.n_cols, err);
    gf_points members = {&x, weight};
    if (st == GF_OK) st = run(&members, random, cancel, &p, err);
    if (st == GF_OK) {
        gf_centres_unpack(&p.centres, term, points->x->n_cols);
        st = take(&p, rows, length, out, err);
    }
    gf_partition_release(&p);
    gf_csr_release(&x);
    gf_free(weight);
    gf_free(term);
    return st;
}
