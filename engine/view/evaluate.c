/* A build compared with known classes. */
#include "engine/view/view.h"

#include "base/grow.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "cluster/measure/quality.h"
#include "engine/rows/document_row.h"
#include "grouperfish/quality.h"

#include <stdlib.h>

/* Two labels for each document that has a class. */
typedef struct judging {
    gf_view *view;
    gf_slice field;
    gf_class_of *class_of;
    void *class_context;
    const gf_cancel *cancel;
    gf_json_parser *parser;
    gf_strings classes;
    uint32_t *cluster, *class_number; /* n of capacity; cluster 0: without terms */
    uint32_t n;
    size_t capacity;
} judging;

/* The value of the field, decoded where it is a string; empty where it is missing or null. */
static gf_status class_in_field(judging *g, gf_slice id, gf_slice *name, gf_error *err)
{
    gf_document d;
    gf_field *fields;
    uint64_t seq;
    gf_status st =
        gf_state_document_row(g->view->state, id, &g->view->document_row, &d, &fields, &seq, err);
    if (st != GF_OK) return st;
    st = gf_document_row_value(&d, g->field, g->parser, name, err);
    gf_free(fields);
    return st;
}

static gf_status add_document(judging *g, uint32_t cluster, uint32_t class_number, gf_error *err)
{
    size_t same = g->capacity, n = (size_t)g->n + 1; /* the two arrays grow alike */
    if (!gf_grow(&g->cluster, &same, n, sizeof *g->cluster) ||
        !gf_grow(&g->class_number, &g->capacity, n, sizeof *g->class_number))
        return gf_fail_memory(err, "an evaluation");
    g->cluster[g->n] = cluster;
    g->class_number[g->n++] = class_number;
    return GF_OK;
}

static gf_status judge_document(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    judging *g = context;
    gf_slice name = {0};
    uint32_t number;
    gf_status st = gf_cancel_check(g->cancel, err);
    if (st == GF_OK)
        st = g->class_of ? g->class_of(g->class_context, id, &name, err)
                         : class_in_field(g, id, &name, err);
    if (st != GF_OK || name.len == 0) return st;
    st = gf_strings_add(&g->classes, name, &number, NULL, err);
    return st == GF_OK ? add_document(g, m->cluster, number, err) : st;
}

static int by_name(const void *a, const void *b)
{
    return gf_slice_compare(((const gf_class_score *)a)->name, ((const gf_class_score *)b)->name);
}

static gf_status visit_scores(judging *g, const gf_quality *q, gf_visit_evaluation *visit,
                              void *context, gf_error *err)
{
    gf_class_score *scores = gf_calloc(q->n_classes, sizeof *scores);
    if (!scores) return gf_fail_memory(err, "an evaluation");
    for (uint32_t i = 0; i < q->n_classes; i++) {
        const gf_quality_class *c = &q->classes[i];
        const gf_listed_cluster *cluster = gf_view_find_cluster(g->view, c->cluster);
        scores[i] =
            (gf_class_score){.name = gf_strings_at(&g->classes, c->label),
                             .size = c->size,
                             .cluster = c->cluster,
                             .label = cluster ? cluster->label : gf_view_label_of_none(g->view),
                             .recall = c->recall,
                             .precision = c->precision,
                             .f1 = c->f1};
    }
    if (q->n_classes) qsort(scores, q->n_classes, sizeof *scores, by_name);
    gf_evaluation e = {.documents = q->n,
                       .classes = q->n_classes,
                       .clusters = q->n_clusters,
                       .nmi = q->nmi,
                       .ari = q->ari,
                       .homogeneity = q->homogeneity,
                       .completeness = q->completeness,
                       .v_measure = q->v_measure,
                       .purity = q->purity,
                       .scores = scores};
    gf_status st = visit(context, &e, err);
    gf_free(scores);
    return st;
}

gf_status gf_view_evaluate(gf_view *v, gf_slice field, gf_class_of *class_of, void *class_context,
                           const gf_cancel *cancel, gf_visit_evaluation *visit, void *context,
                           gf_error *err)
{
    judging g = {.view = v,
                 .field = field,
                 .class_of = class_of,
                 .class_context = class_context,
                 .cancel = cancel};
    gf_quality q;
    gf_status st = gf_json_parser_create(&g.parser, err);
    if (st == GF_OK) st = gf_view_memberships(v, judge_document, &g, err);
    if (st == GF_OK && g.n == 0)
        st = class_of ? gf_fail(err, GF_ENOTFOUND, "no document of the build has a class")
                      : gf_fail(err, GF_ENOTFOUND, "no document has a field \"%.*s\"",
                                GF_SLICE_ARG(field));
    if (st == GF_OK) {
        st = gf_quality_compare(g.cluster, g.class_number, g.n, &q, err);
        if (st == GF_OK) {
            st = visit_scores(&g, &q, visit, context, err);
            gf_quality_release(&q);
        }
    }
    gf_json_parser_free(g.parser);
    gf_strings_release(&g.classes);
    gf_free(g.cluster);
    gf_free(g.class_number);
    return st;
}
