#include "engine/rows/cluster_figures.h"

#include "base/json/writer.h"

#include <math.h>

/* ---- the word -------------------------------------------------------------------------------- */

/*
 * Weights and limits: docs/figures.md, "The word". They were fitted to the purity of clusters of
 * labelled collections, each left out in its turn.
 */
static const double BY_NPMI = 0.5, BY_PRECISION = 0.25, BY_MARGIN = 0.75;
static const double CLEAR = 0.35, FAIR = 0.2;

const char *gf_cluster_figures_word(gf_clarity clarity)
{
    static const char *const words[] = {"clear", "fair", "mixed"};
    return words[clarity];
}

/* One term alone is always together; a label that cannot be counted is half right. */
void gf_cluster_figures_judge(gf_cluster_figures *f)
{
    double npmi = isnan(f->npmi) ? 1 : f->npmi;
    double precision = f->found ? (double)f->hits / (double)f->found : 0.5;
    double sum = BY_NPMI * npmi + BY_PRECISION * precision + BY_MARGIN * f->margin;
    f->clarity = sum >= CLEAR ? GF_CLARITY_CLEAR : sum >= FAIR ? GF_CLARITY_FAIR : GF_CLARITY_MIXED;
}

/* ---- the cell -------------------------------------------------------------------------------- */

void gf_cluster_figures_write(const gf_cluster_figures *f, gf_buffer *out)
{
    gf_json_writer w = gf_json_writer_to(out);
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "documents", f->documents);
    gf_json_put_float(&w, "score", (float)f->score);
    gf_json_put_float(&w, "margin", (float)f->margin);
    gf_json_put_uint(&w, "weak", f->weak);
    gf_json_put_uint(&w, "terms", f->terms);
    gf_json_put_uint(&w, "own_terms", f->own_terms);
    if (f->has_label) {
        gf_json_put_uint(&w, "found", f->found);
        gf_json_put_uint(&w, "hits", f->hits);
    }
    if (!isnan(f->npmi)) gf_json_put_float(&w, "npmi", (float)f->npmi);
    if (f->nearest) {
        gf_json_put_uint(&w, "nearest", f->nearest);
        gf_json_put_float(&w, "similarity", (float)f->similarity);
    }
    gf_json_end(&w, '}');
}

/* A number of the object; false where it is missing or none. */
static bool take_number(gf_json_value object, const char *name, double *v)
{
    gf_json_value member;
    if (!gf_json_member(object, name, &member)) return false;
    *v = gf_json_number(member);
    return isfinite(*v);
}

static bool take_count(gf_json_value object, const char *name, uint64_t *n)
{
    double v = 0;
    bool good = take_number(object, name, &v) && v >= 0 && v <= 1e15;
    *n = good ? (uint64_t)v : 0;
    return good;
}

gf_status gf_cluster_figures_read(gf_json_parser *parser, gf_slice json,
                                  gf_cluster_figures *figures, gf_error *err)
{
    gf_json_value root;
    gf_cluster_figures f = {.npmi = NAN};
    uint64_t terms = 0, own = 0, nearest = 0;
    gf_status st = gf_json_parse_copy(parser, json, &root, err);
    if (st != GF_OK && st != GF_EINVAL) return st;
    bool good = st == GF_OK && take_count(root, "documents", &f.documents) &&
                take_number(root, "score", &f.score) && take_number(root, "margin", &f.margin) &&
                take_count(root, "weak", &f.weak) && take_count(root, "terms", &terms) &&
                take_count(root, "own_terms", &own);
    if (!good || terms > UINT32_MAX || own > terms)
        return gf_fail(err, GF_ECORRUPT, "table clusters: figures are damaged");
    f.terms = (uint32_t)terms;
    f.own_terms = (uint32_t)own;
    f.has_label = take_count(root, "found", &f.found) && take_count(root, "hits", &f.hits);
    double npmi;
    if (take_number(root, "npmi", &npmi)) f.npmi = npmi;
    if (take_count(root, "nearest", &nearest) && nearest <= UINT32_MAX)
        f.nearest = (uint32_t)nearest;
    if (f.nearest) take_number(root, "similarity", &f.similarity);
    gf_cluster_figures_judge(&f);
    *figures = f;
    return GF_OK;
}
