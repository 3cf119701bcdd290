/*
 * The place of a text in a view's build: the nearest of its centres, by the inverted index over
 * the centres that the build's own passes used, so that a document of the build gets the score that
 * it has there.
 *
 * The centres are read once for each view. After that a text costs its analysis and, for each of
 * its terms, a row of k floats or the postings of the centres that have the term.
 */
#include "engine/view/view.h"

#include "base/memory.h"
#include "cluster/passes/nearest_centres.h"

struct gf_assigner {
    gf_nearest_centres locator; /* clusters in the order of the view's list: by id */
    gf_model_workers workers;   /* once several texts were asked for; until then there is one */
};

/* ---- centres --------------------------------------------------------------------------------- */

static gf_status read_centres(gf_view *v, gf_centres *centres, gf_error *err)
{
    gf_status st =
        gf_centres_init(centres, (uint32_t)v->n_clusters, v->model.vocabulary.n_terms, err);
    for (size_t j = 0; j < v->n_clusters && st == GF_OK; j++) {
        gf_centre *c = &centres->at[j];
        st = gf_view_read_centre(v, v->clusters[j].id, &c->term, &c->value, &c->n, err);
        if (st == GF_OK) c->capacity = c->n;
    }
    return st;
}

void gf_assign_free(gf_assigner *a)
{
    if (!a) return;
    gf_model_workers_release(&a->workers);
    gf_nearest_centres_release(&a->locator);
    gf_free(a);
}

static gf_status load_assigner(gf_view *v, gf_error *err)
{
    gf_centres centres = {0};
    if (v->assigner) return GF_OK;
    if (v->info.rows != GF_ROWS_OF_TEXTS)
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters vectors that were made elsewhere: a text has no place "
                       "in it");
    gf_assigner *a = gf_calloc(1, sizeof *a);
    if (!a) return gf_fail_memory(err, "the index of cluster centres");
    gf_status st = read_centres(v, &centres, err);
    if (st == GF_OK) st = gf_nearest_centres_init(&a->locator, &centres, err);
    gf_centres_release(&centres);
    if (st == GF_OK)
        v->assigner = a;
    else
        gf_assign_free(a);
    return st;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static float at_most_1(double score)
{
    return score < 1 ? (float)score : 1;
}

/* The most similar centre and the second: as a build's last pass takes them. */
static void find_nearest(const gf_view *v, unsigned worker, gf_row_view row,
                         gf_membership_cells *cells)
{
    gf_nearest_two two = gf_nearest_centres_find(&v->assigner->locator, worker, row);
    cells->cluster = v->clusters[two.cluster].id;
    cells->score = at_most_1(two.similarity);
    if (v->n_clusters < 2) return;
    cells->runner_up = v->clusters[two.runner_up].id;
    cells->second = at_most_1(two.of_second);
}

static void describe_row(const gf_view *v, unsigned worker, gf_row_view row, gf_membership *m)
{
    gf_membership_cells cells = {0};
    if (row.n && v->n_clusters) find_nearest(v, worker, row, &cells);
    gf_view_describe(v, &cells, m);
    m->provisional = true;
}

static gf_status load_parts(gf_view *v, gf_error *err)
{
    gf_status st = gf_view_load_clusters(v, err);
    if (st == GF_OK) st = gf_view_load_model(v, err);
    return st == GF_OK && v->n_clusters ? load_assigner(v, err) : st;
}

gf_status gf_view_assign(gf_view *v, gf_slice language, gf_slice text, gf_membership *m,
                         gf_error *err)
{
    gf_row_view row;
    gf_status st = load_parts(v, err);
    if (st == GF_OK) st = gf_model_row(&v->model, language, text, &row, err);
    if (st == GF_OK) describe_row(v, 0, row, m);
    return st;
}

/* ---- several texts --------------------------------------------------------------------------- */

typedef struct several_texts {
    const gf_view *view;
    const gf_document *document;
    gf_membership *membership;
} several_texts;

static gf_status assign_task(void *context, size_t i, unsigned worker, gf_error *err)
{
    several_texts *s = context;
    gf_row_view row;
    gf_status st = gf_model_workers_row(&s->view->assigner->workers, worker,
                                        s->document[i].language, s->document[i].text, &row, err);
    if (st == GF_OK) describe_row(s->view, worker, row, &s->membership[i]);
    return st;
}

static gf_status load_workers(gf_view *v, unsigned threads, gf_error *err)
{
    gf_assigner *a = v->assigner;
    if (a->workers.n) return GF_OK;
    gf_status st = gf_model_workers_init(&a->workers, &v->model, threads, err);
    if (st == GF_OK) st = gf_nearest_centres_make_room(&a->locator, a->workers.n, err);
    if (st != GF_OK) gf_model_workers_release(&a->workers);
    return st;
}

gf_status gf_view_assign_all(gf_view *v, const gf_document *documents, size_t n, unsigned threads,
                             gf_membership *memberships, gf_error *err)
{
    several_texts s = {v, documents, memberships};
    gf_status st = load_parts(v, err);
    if (st == GF_OK && v->n_clusters == 0) {
        for (size_t i = 0; i < n && st == GF_OK; i++)
            st = gf_view_assign(v, documents[i].language, documents[i].text, &memberships[i], err);
        return st;
    }
    if (st == GF_OK) st = load_workers(v, threads, err);
    return st == GF_OK ? gf_pool_run(v->assigner->workers.pool, n, assign_task, &s, NULL, err) : st;
}
