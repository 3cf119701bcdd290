/* Figures of a build: sums and means of those of its clusters. */
#include "engine/view/view.h"

#include "base/strings.h"
#include "grouperfish/quality.h"

#include <math.h>

enum { TERMS = 10 }; /* of a cluster, as in cluster/measure/figures.h */

typedef struct summing {
    gf_figures f;
    gf_strings terms;       /* distinct ones among the clusters' first */
    uint64_t n_terms;       /* of all clusters */
    uint64_t weak;          /* documents */
    uint64_t labelled;      /* documents in clusters whose label is counted */
    uint64_t found, hits;   /* of these labels */
    uint64_t rated, beside; /* clusters that have an NPMI, and a nearest one */
} summing;

static gf_status add_terms(summing *s, const gf_cluster_info *info, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < info->n_terms && i < TERMS && st == GF_OK; i++) {
        uint32_t number;
        st = gf_strings_add(&s->terms, info->terms[i].surface, &number, NULL, err);
        s->n_terms++;
    }
    return st;
}

static gf_status add_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    summing *s = context;
    const gf_cluster_figures *c = info->figures;
    if (!c)
        return gf_fail(err, GF_ENOTFOUND,
                       "this build is of a version that made no figures: rebuild --force makes "
                       "one that has them");
    uint64_t *const words[] = {&s->f.clear, &s->f.fair, &s->f.mixed};
    ++*words[c->clarity];
    s->f.clusters++;
    s->f.documents += c->documents;
    s->f.score += c->score * (double)c->documents;
    s->f.margin += c->margin * (double)c->documents;
    s->weak += c->weak;
    if (c->has_label) {
        s->labelled += c->documents;
        s->found += c->found;
        s->hits += c->hits;
    }
    if (!isnan(c->npmi)) {
        s->f.npmi += c->npmi;
        s->rated++;
    }
    if (c->nearest) {
        s->f.similarity += c->similarity;
        s->beside++;
    }
    return add_terms(s, info, err);
}

static double ratio(double part, uint64_t whole)
{
    return whole ? part / (double)whole : NAN;
}

gf_status gf_view_figures(gf_view *v, gf_figures *figures, gf_error *err)
{
    summing s = {.rated = 0};
    gf_status st = gf_view_clusters(v, add_cluster, &s, err);
    gf_figures *f = &s.f;
    uint64_t distinct = s.terms.n;
    gf_strings_release(&s.terms);
    if (st != GF_OK) return st;
    f->score = ratio(f->score, f->documents);
    f->margin = ratio(f->margin, f->documents);
    f->weak = ratio((double)s.weak, f->documents);
    f->recall = ratio((double)s.hits, s.labelled);
    f->precision = ratio((double)s.hits, s.found);
    f->f1 = ratio(2.0 * (double)s.hits, s.labelled + s.found);
    f->npmi = ratio(f->npmi, s.rated);
    f->diversity = ratio((double)distinct, s.n_terms);
    f->similarity = ratio(f->similarity, s.beside);
    *figures = *f;
    return GF_OK;
}
