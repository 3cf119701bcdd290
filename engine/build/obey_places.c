/* Places: locked centres and the documents that they draw, documents that a person has placed, and the order. */
#include "engine/build/obey_internal.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- locked centres -------------------------------------------------------------------------- */

/* The centre as it was kept, over the terms of this build; n is 0 where none of them is left. */
static gf_status read_centre(const gf_build_plan *plan, const gf_vocabulary *v, uint64_t number,
                             double *dense, gf_centre *out, gf_error *err)
{
    gf_row row = {0};
    gf_slice bytes = {"", 0}, term;
    uint32_t bits, n = 0;
    double length = 0;
    gf_status st = gf_edits_read_side(plan->store, plan->snapshot, plan->where, plan->configuration,
                                      number, GF_EDIT_CENTRE, &row, err);
    if (st == GF_OK) bytes = row.cells[0].value;
    if (st == GF_ENOTFOUND) st = GF_OK;
    while (st == GF_OK && gf_slice_take_string(&bytes, &term) &&
           gf_slice_take_u32be(&bytes, &bits)) {
        uint32_t t = gf_vocabulary_find(v, term);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (t == GF_TERM_NONE || !(value > 0)) continue;
        n += dense[t] == 0;
        dense[t] = value;
    }
    gf_row_release(&row);
    gf_centre c = {.term = gf_array(n, sizeof *c.term),
                   .value = gf_array(n, sizeof *c.value),
                   .capacity = n,
                   .weight = 1};
    if (st == GF_OK && (!c.term || !c.value)) st = gf_fail_memory(err, "a centre");
    for (uint32_t t = 0; t < v->n_terms; t++)
        length += dense[t] * dense[t];
    c.length = sqrt(length);
    for (uint32_t t = 0; t < v->n_terms; t++) {
        if (dense[t] == 0) continue;
        if (st == GF_OK) {
            c.term[c.n] = t;
            c.value[c.n++] = (float)(dense[t] / c.length);
        }
        dense[t] = st == GF_OK ? dense[t] / c.length : 0;
    }
    *out = c;
    return st;
}

static gf_status add_cluster(gf_build_clustered *c, gf_build_matched *m, uint32_t id, gf_error *err)
{
    uint32_t k = c->kmeans.k;
    gf_centre *at = gf_realloc(c->kmeans.centres.at, (size_t)k + 1, sizeof *at);
    if (at) c->kmeans.centres.at = at;
    uint32_t *ids = at ? gf_realloc(m->ids, (size_t)k + 1, sizeof *ids) : NULL;
    if (!ids) return gf_fail_memory(err, "clusters");
    m->ids = ids;
    at[k] = (gf_centre){0};
    ids[k] = id;
    if (c->topic) {
        size_t *topic = gf_realloc(c->topic, (size_t)k + 1, sizeof *topic);
        if (!topic) return gf_fail_memory(err, "clusters");
        c->topic = topic;
        topic[k] = GF_NOT_A_TOPIC;
    }
    c->kmeans.k = c->kmeans.centres.k = k + 1;
    return GF_OK;
}

/* Documents join the locked cluster where its centre is nearest, and leave it where it is not. */
static gf_status assign_locked(gf_obey_rows *r, const gf_build_obeying *o, uint32_t own,
                               const double *dense, uint32_t *sizes, gf_error *err)
{
    gf_kmeans *k = &r->c->kmeans;
    gf_status st = GF_OK;
    (void)o;
    for (uint32_t p = 0; p < k->n && st == GF_OK; p++) {
        gf_row_view row = {NULL, NULL, 0};
        double dot = 0;
        st = gf_obey_rows_take(r, p, &row, err);
        for (uint32_t j = 0; st == GF_OK && j < row.n; j++)
            dot += row.val[j] * dense[row.col[j]];
        float similarity = gf_obey_within_1(dot);
        uint32_t now = k->label[p], next = k->runner_up[p];
        if (now == own) {
            bool leaves = next != GF_NO_CLUSTER && k->second[p] > similarity && sizes[own] > 1;
            if (leaves) {
                k->label[p] = next;
                k->score[p] = k->second[p];
                k->runner_up[p] = own;
                k->second[p] = similarity;
                sizes[own]--, sizes[next]++;
            } else {
                k->score[p] = similarity;
            }
        } else if (similarity > k->score[p] && sizes[now] > 1) {
            k->runner_up[p] = now;
            k->second[p] = k->score[p];
            k->label[p] = own;
            k->score[p] = similarity;
            sizes[now]--, sizes[own]++;
        } else if (next == own || next == GF_NO_CLUSTER || similarity > k->second[p]) {
            k->runner_up[p] = own;
            k->second[p] = similarity;
        }
    }
    return st;
}

static gf_status count_sizes(const gf_kmeans *k, uint32_t room, uint32_t **sizes, gf_error *err)
{
    *sizes = gf_calloc(room, sizeof **sizes);
    if (!*sizes) return gf_fail_memory(err, "clusters");
    for (uint32_t p = 0; p < k->n; p++)
        (*sizes)[k->label[p]]++;
    return GF_OK;
}

/* The next best clusters of all points, as they are before a cluster is added. */
typedef struct runners_up {
    uint32_t *cluster; /* n */
    float *similarity; /* n */
} runners_up;

static gf_status keep_runners_up(const gf_kmeans *k, runners_up *r, gf_error *err)
{
    r->cluster = gf_array(k->n, sizeof *r->cluster);
    r->similarity = gf_array(k->n, sizeof *r->similarity);
    if (!r->cluster || !r->similarity) return gf_fail_memory(err, "clusters");
    memcpy(r->cluster, k->runner_up, k->n * sizeof *r->cluster);
    memcpy(r->similarity, k->second, k->n * sizeof *r->similarity);
    return GF_OK;
}

/* Take off the last cluster again, which nothing joined. */
static void drop_last(gf_kmeans *k, const runners_up *before)
{
    uint32_t last = k->k - 1;
    gf_centre *c = &k->centres.at[last];
    gf_free(c->term);
    gf_free(c->value);
    k->k = k->centres.k = last;
    memcpy(k->runner_up, before->cluster, k->n * sizeof *before->cluster);
    memcpy(k->second, before->similarity, k->n * sizeof *before->similarity);
}

static gf_status obey_lock(gf_obey_rows *r, gf_build_plan *plan, size_t edit, gf_build_obeying *o,
                           gf_build_matched *m, gf_error *err)
{
    gf_kmeans *k = &r->c->kmeans;
    const gf_edit *e = &plan->edits.at[edit].edit;
    const gf_vocabulary *v = &r->documents->vectors.vocabulary;
    uint32_t own = gf_obey_cluster_of(m, k->k, e->cluster), *sizes = NULL;
    bool is_new = own == GF_NO_CLUSTER;
    gf_centre centre = {0};
    runners_up before = {0};
    double *dense = gf_calloc((size_t)v->n_terms + 1, sizeof *dense);
    gf_status st = dense ? GF_OK : gf_fail_memory(err, "a centre");
    if (st == GF_OK) st = read_centre(plan, v, e->number, dense, &centre, err);
    if (st == GF_OK) st = count_sizes(k, k->k + 1, &sizes, err);
    if (st == GF_OK && centre.n == 0) {
        gf_obey_lose(plan, edit, "no document has a term of cluster %" PRIu32 " any more",
                     e->cluster);
    } else if (st == GF_OK) {
        if (is_new) {
            own = k->k;
            st = keep_runners_up(k, &before, err);
            if (st == GF_OK) st = add_cluster(r->c, m, e->cluster, err);
        }
        if (st == GF_OK) {
            gf_centre *at = &k->centres.at[own];
            gf_free(at->term);
            gf_free(at->value);
            *at = centre;
            centre = (gf_centre){0};
            o->regrouped = true;
            st = assign_locked(r, o, own, dense, sizes, err);
        }
        if (st == GF_OK && sizes[own] == 0) {
            drop_last(k, &before);
            gf_obey_lose(plan, edit, "no document is nearest to cluster %" PRIu32 " any more",
                         e->cluster);
        }
    }
    gf_free(centre.term);
    gf_free(centre.value);
    gf_free(before.cluster);
    gf_free(before.similarity);
    gf_free(sizes);
    gf_free(dense);
    return st;
}

/* The last word on a cluster's lock counts. */
static bool is_locked_by(const gf_build_plan *plan, size_t edit)
{
    const gf_edit *e = &plan->edits.at[edit].edit;
    if (e->kind != GF_EDIT_LOCK || e->off) return false;
    for (size_t i = edit + 1; i < plan->edits.n; i++) {
        const gf_edit *x = &plan->edits.at[i].edit;
        if (x->kind == GF_EDIT_LOCK && x->cluster == e->cluster) return false;
    }
    return true;
}

static gf_status obey_locks(gf_obey_rows *r, gf_build_plan *plan, gf_build_obeying *o,
                            gf_build_matched *m, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < plan->edits.n && st == GF_OK; i++) {
        if (!is_locked_by(plan, i)) continue;
        if (plan->matrix || r->c->dense)
            gf_obey_lose(plan, i,
                         "a centre is locked by its terms, which clusters of vectors have not", 0);
        else
            st = obey_lock(r, plan, i, o, m, err);
    }
    return st;
}

/* ---- places ---------------------------------------------------------------------------------- */

static gf_status place_one(gf_obey_rows *r, gf_build_plan *plan, const gf_edit_place *place,
                           const gf_build_matched *m, uint32_t *sizes, gf_build_obeying *o,
                           gf_error *err)
{
    gf_kmeans *k = &r->c->kmeans;
    uint32_t to = gf_obey_cluster_of(m, k->k, place->id), p = place->point, from = k->label[p];
    gf_row_view row = {NULL, NULL, 0};
    if (to == GF_NO_CLUSTER) {
        gf_obey_lose(plan, place->edit, "cluster %" PRIu32 " is gone", place->id);
        return GF_OK;
    }
    if (to == from) return GF_OK;
    if (sizes[from] == 1) {
        gf_obey_lose(plan, place->edit, "cluster %" PRIu32 " has no other document", m->ids[from]);
        return GF_OK;
    }
    gf_status st = gf_obey_rows_take(r, p, &row, err);
    if (st != GF_OK) return st;
    sizes[from]--, sizes[to]++;
    k->runner_up[p] = from;
    k->second[p] = k->score[p];
    k->label[p] = to;
    k->score[p] = gf_obey_within_1(gf_csr_row_dot(row, gf_centre_row(&k->centres.at[to])));
    o->regrouped = true;
    return GF_OK;
}

static gf_status place_all(gf_obey_rows *r, gf_build_plan *plan, const gf_build_matched *m,
                           gf_build_obeying *o, gf_error *err)
{
    uint32_t *sizes;
    gf_status st = count_sizes(&r->c->kmeans, r->c->kmeans.k, &sizes, err);
    for (size_t i = 0; i < o->n_places && st == GF_OK; i++)
        st = place_one(r, plan, &o->places[i], m, sizes, o, err);
    gf_free(sizes);
    return st;
}

/* ---- merges ----------------------------------------------------------------------------------- */

/* A merge of which a cluster is there again, as later edits on an earlier build name or lock it, does not hold. */
static void lose_undone_merges(gf_build_plan *plan, const gf_build_matched *m, uint32_t k)
{
    for (size_t i = 0; i < plan->edits.n; i++) {
        const gf_edit *e = &plan->edits.at[i].edit;
        for (size_t o = 0; o < e->n_others && e->kind == GF_EDIT_MERGE; o++)
            if (gf_obey_cluster_of(m, k, e->others[o]) != GF_NO_CLUSTER)
                gf_obey_lose(plan, i, "cluster %" PRIu32 " is there again, by a later edit",
                             e->others[o]);
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

typedef struct sized {
    uint32_t cluster, size;
} sized;

static int by_size(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

/* Clusters come by falling size, as the clustering gives them. */
static gf_status order_clusters(gf_build_clustered *c, gf_build_matched *m, gf_error *err)
{
    gf_kmeans *k = &c->kmeans;
    sized *order = gf_calloc(k->k, sizeof *order);
    uint32_t *map = gf_array(k->k, sizeof *map), *ids = gf_array(k->k, sizeof *ids);
    gf_centre *centres = gf_array(k->k, sizeof *centres);
    size_t *topics = gf_array(k->k, sizeof *topics);
    bool good = order && map && ids && centres && topics;
    for (uint32_t p = 0; good && p < k->n; p++)
        order[k->label[p]].size++;
    for (uint32_t l = 0; good && l < k->k; l++)
        order[l].cluster = l;
    if (good) qsort(order, k->k, sizeof *order, by_size);
    for (uint32_t l = 0; good && l < k->k; l++) {
        map[order[l].cluster] = l;
        ids[l] = m->ids[order[l].cluster];
        centres[l] = k->centres.at[order[l].cluster];
        topics[l] = c->topic ? c->topic[order[l].cluster] : GF_NOT_A_TOPIC;
    }
    if (good) memcpy(m->ids, ids, k->k * sizeof *ids);
    if (good) memcpy(k->centres.at, centres, k->k * sizeof *centres);
    if (good && c->topic) memcpy(c->topic, topics, k->k * sizeof *topics);
    k->objective = 0;
    for (uint32_t p = 0; good && p < k->n; p++) {
        k->label[p] = map[k->label[p]];
        if (k->runner_up[p] != GF_NO_CLUSTER) k->runner_up[p] = map[k->runner_up[p]];
        k->objective += (double)k->score[p];
    }
    gf_free(order);
    gf_free(map);
    gf_free(ids);
    gf_free(centres);
    gf_free(topics);
    return good ? GF_OK : gf_fail_memory(err, "clusters");
}

gf_status gf_build_obey_places(gf_build_plan *plan, gf_pool *pool,
                               const gf_build_gathered *documents, gf_build_clustered *c,
                               gf_build_obeying *o, gf_build_matched *m, gf_error *err)
{
    if (plan->edits.n + plan->edits.n_back == 0 || c->kmeans.k == 0) return GF_OK;
    gf_obey_rows r = {.plan = plan, .documents = documents, .c = c};
    gf_status st = obey_locks(&r, plan, o, m, err);
    if (st == GF_OK) st = place_all(&r, plan, m, o, err);
    if (st == GF_OK) lose_undone_merges(plan, m, c->kmeans.k);
    gf_obey_rows_release(&r);
    if (st != GF_OK || !o->regrouped) return st;
    st = order_clusters(c, m, err);
    if (st != GF_OK || !c->term_centres.at) return st;
    gf_centres_release(&c->term_centres);
    c->term_centres = (gf_centres){0};
    return gf_build_finish_dense(pool, &documents->vectors.x, plan->options->cancel, c, err);
}
