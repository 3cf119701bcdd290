/* Groups: clusters that are joined and cut by the documents that stand for merges and splits, and their centres. */
#include "engine/build/obey_internal.h"

#include "base/memory.h"
#include "cluster/passes/nearest_centres.h"

#include <string.h>

/* ---- groups ---------------------------------------------------------------------------------- */

/*
 * The cluster that most of the points are in; GF_NO_CLUSTER: there is none. A topic's is its own, and what is no
 * topic's counts only outside of topics, whose clusters would else be joined and cut by what was said of others.
 * votes: k zeros, also afterwards; *n: points in it.
 */
static uint32_t most_of(const gf_build_clustered *c, const gf_edit_atom *a, uint32_t *votes,
                        uint32_t *n)
{
    uint32_t best = GF_NO_CLUSTER;
    *n = 0;
    for (uint32_t l = 0; a->topic != GF_NOT_A_TOPIC && l < c->kmeans.k; l++)
        if (gf_obey_maker_of(c, l) == a->topic) return l;
    for (size_t i = 0; i < a->n; i++) {
        uint32_t l = c->kmeans.label[a->points[i]];
        size_t maker = gf_obey_maker_of(c, l);
        if (maker != GF_NOT_A_TOPIC && maker != a->within) continue;
        votes[l]++;
        if (best == GF_NO_CLUSTER || votes[l] > votes[best] ||
            (votes[l] == votes[best] && l < best))
            best = l;
    }
    if (best != GF_NO_CLUSTER) *n = votes[best];
    for (size_t i = 0; i < a->n; i++)
        votes[c->kmeans.label[a->points[i]]] = 0;
    return best;
}

typedef struct regrouping {
    gf_obey_rows r;
    gf_build_obeying *o;
    uint32_t *votes; /* k of room */
    uint32_t *sizes; /* likewise */
    bool *changed;   /* likewise: clusters whose members are others now */
    uint32_t k, room;
} regrouping;

static gf_status grow_clusters(regrouping *g, uint32_t k, gf_error *err)
{
    if (k <= g->room) return GF_OK;
    uint32_t room = k + 64;
    uint32_t *votes = gf_calloc(room, sizeof *votes), *sizes = gf_calloc(room, sizeof *sizes);
    bool *changed = gf_calloc(room, sizeof *changed);
    if (!votes || !sizes || !changed) {
        gf_free(votes);
        gf_free(sizes);
        gf_free(changed);
        return gf_fail_memory(err, "clusters");
    }
    if (g->k) memcpy(changed, g->changed, g->k * sizeof *changed);
    if (g->k) memcpy(sizes, g->sizes, g->k * sizeof *sizes);
    gf_free(g->votes);
    gf_free(g->sizes);
    gf_free(g->changed);
    g->votes = votes;
    g->sizes = sizes;
    g->changed = changed;
    g->room = room;
    return GF_OK;
}

static void put_point(regrouping *g, uint32_t point, uint32_t into)
{
    uint32_t *label = &g->r.c->kmeans.label[point];
    g->changed[*label] = g->changed[into] = g->o->regrouped = true;
    g->sizes[*label]--, g->sizes[into]++;
    *label = into;
}

/* A side of a merge: the cluster that it is in for the most part, and whether that is its own. */
typedef struct merged_side {
    const gf_edit_atom *atom;
    uint32_t cluster, both;
    bool own;
} merged_side;

/*
 * Clusters of sides become that of the first; of a side that has none, whose documents are some of another
 * cluster's or lie apart, the witnesses alone go there.
 */
static gf_status join(regrouping *g, size_t edit, gf_error *err)
{
    gf_build_clustered *c = g->r.c;
    size_t n = 0, first = 0;
    merged_side *side = gf_array(gf_edit_sides(&gf_obey_fact(g->r.plan, edit)->edit), sizeof *side);
    if (!side) return gf_fail_memory(err, "edits");
    for (size_t a = 0; a < g->o->n_atoms; a++) {
        const gf_edit_atom *atom = &g->o->atoms[a];
        if (atom->edit != edit || !atom->joins || atom->dead || atom->n == 0) continue;
        merged_side s = {.atom = atom};
        s.cluster = most_of(c, atom, g->votes, &s.both);
        if (s.cluster == GF_NO_CLUSTER) continue;
        s.own = atom->topic != GF_NOT_A_TOPIC ||
                gf_obey_is_group(atom->sampled, atom->n, s.both, g->sizes[s.cluster]);
        side[n] = s;
        const merged_side *f = &side[first];
        if (s.own ? !f->own : !f->own && s.both > f->both) first = n;
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t into = side[first].cluster, l = side[i].cluster;
        for (uint32_t p = 0; side[i].own && l != into && p < c->kmeans.n; p++)
            if (c->kmeans.label[p] == l) put_point(g, p, into);
        for (size_t w = 0; !side[i].own && w < side[i].atom->n; w++) {
            uint32_t p = side[i].atom->points[w], now = c->kmeans.label[p];
            if (now != into && gf_obey_maker_of(c, now) == GF_NOT_A_TOPIC) put_point(g, p, into);
        }
    }
    gf_free(side);
    return GF_OK;
}

static gf_status add_point(regrouping *g, uint32_t point, double *sum, gf_error *err)
{
    gf_row_view row = {NULL, NULL, 0};
    gf_status st = gf_obey_rows_take(&g->r, point, &row, err);
    for (uint32_t j = 0; st == GF_OK && j < row.n; j++)
        sum[row.col[j]] += row.val[j];
    return st;
}

/* The centres of the witnesses of parts, to find the nearest of. */
static gf_status locate_parts(regrouping *g, gf_edit_atom *const *parts, size_t n,
                              gf_nearest_centres *out, gf_error *err)
{
    uint32_t n_cols = g->r.c->kmeans.centres.n_terms;
    gf_centres centres = {0};
    double *sum = gf_calloc(n_cols, sizeof *sum);
    gf_status st =
        sum ? gf_centres_init(&centres, (uint32_t)n, n_cols, err) : gf_fail_memory(err, "centres");
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        for (size_t w = 0; w < parts[i]->n && st == GF_OK; w++)
            st = add_point(g, parts[i]->points[w], sum, err);
        if (st == GF_OK) st = gf_centre_take_sum(sum, n_cols, &centres.at[i], err);
    }
    if (st == GF_OK) st = gf_nearest_centres_init(out, &centres, NULL, err);
    gf_centres_release(&centres);
    gf_free(sum);
    return st;
}

/* Cut a cluster by the nearest of the parts that are in it; the first keeps the label. */
static gf_status cut_cluster(regrouping *g, uint32_t label, gf_edit_atom *const *parts, size_t n,
                             gf_error *err)
{
    gf_build_clustered *c = g->r.c;
    uint32_t first_new = g->k;
    gf_nearest_centres locator;
    gf_status st = locate_parts(g, parts, n, &locator, err);
    if (st != GF_OK) return st;
    st = grow_clusters(g, g->k + (uint32_t)n, err);
    for (uint32_t p = 0; p < c->kmeans.n && st == GF_OK; p++) {
        gf_row_view row = {NULL, NULL, 0};
        if (c->kmeans.label[p] != label) continue;
        st = gf_obey_rows_take(&g->r, p, &row, err);
        uint32_t to = st == GF_OK ? gf_nearest_centres_find(&locator, 0, row).cluster : 0;
        if (to) put_point(g, p, first_new + to - 1);
    }
    gf_nearest_centres_release(&locator);
    /* Witnesses are where they were seen, whatever is near. */
    for (size_t i = 0; i < n && st == GF_OK; i++)
        for (size_t w = 0; w < parts[i]->n; w++) {
            uint32_t point = parts[i]->points[w], now = c->kmeans.label[point];
            if (now == label || now >= first_new)
                put_point(g, point, i ? first_new + (uint32_t)i - 1 : label);
        }
    if (st == GF_OK) g->k += (uint32_t)n - 1;
    return st;
}

static gf_status cut(regrouping *g, size_t edit, gf_error *err)
{
    gf_build_obeying *o = g->o;
    size_t sides = gf_edit_sides(&gf_obey_fact(g->r.plan, edit)->edit), n = 0;
    gf_edit_atom **parts = gf_array(sides, sizeof(gf_edit_atom *));
    gf_edit_atom **same = gf_array(sides, sizeof(gf_edit_atom *));
    uint32_t *label = gf_array(sides, sizeof *label);
    gf_status st = parts && same && label ? GF_OK : gf_fail_memory(err, "edits");
    for (size_t a = 0; a < o->n_atoms && st == GF_OK; a++) {
        gf_edit_atom *atom = &o->atoms[a];
        if (atom->edit != edit || !atom->cuts || atom->dead || atom->n == 0) continue;
        uint32_t both;
        bool again = false; /* a later merge has put two parts together */
        for (size_t i = 0; i < n; i++)
            again = again || parts[i]->id == atom->id;
        if (again) continue;
        label[n] = most_of(g->r.c, atom, g->votes, &both);
        parts[n++] = atom;
    }
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        size_t m = 0;
        if (label[i] == GF_NO_CLUSTER) continue;
        for (size_t j = i; j < n; j++)
            if (label[j] == label[i]) same[m++] = parts[j];
        if (m > 1) st = cut_cluster(g, label[i], same, m, err);
        for (size_t j = n; j-- > i;)
            if (label[j] == label[i]) label[j] = GF_NO_CLUSTER;
    }
    gf_free(parts);
    gf_free(same);
    gf_free(label);
    return st;
}

/* ---- centres anew ---------------------------------------------------------------------------- */

/* Number the clusters that have members, in their order; *map: k, each one's number. */
static uint32_t number_clusters(const gf_kmeans *r, uint32_t k, uint32_t *map)
{
    uint32_t n = 0;
    memset(map, 0, k * sizeof *map);
    for (uint32_t p = 0; p < r->n; p++)
        map[r->label[p]] = 1;
    for (uint32_t l = 0; l < k; l++)
        map[l] = map[l] ? n++ : GF_NO_CLUSTER;
    return n;
}

/* Whether one of its members counts for itself, where near-duplicates count once. */
static bool has_counted(const gf_build_clustered *c, uint32_t label)
{
    for (uint32_t p = 0; p < c->kmeans.n; p++)
        if (c->kmeans.label[p] == label && c->once[c->row_of[p]] == c->row_of[p]) return true;
    return false;
}

static gf_status sum_cluster(regrouping *g, uint32_t label, double *sum, gf_centre *c,
                             gf_error *err)
{
    gf_kmeans *k = &g->r.c->kmeans;
    const uint32_t *once = g->r.c->once;
    if (once && !has_counted(g->r.c, label)) once = NULL;
    uint32_t members = 0;
    gf_status st = GF_OK;
    for (uint32_t p = 0; p < k->n && st == GF_OK; p++) {
        if (k->label[p] != label || (once && once[g->r.c->row_of[p]] != g->r.c->row_of[p]))
            continue;
        members++;
        st = add_point(g, p, sum, err);
    }
    c->weight = members;
    return st == GF_OK ? gf_centre_take_sum(sum, k->centres.n_terms, c, err) : st;
}

/* Scores and runners-up of members of clusters that have changed, and of what such were next to. */
static gf_status score_again(regrouping *g, const bool *moved, gf_error *err)
{
    gf_kmeans *k = &g->r.c->kmeans;
    gf_nearest_centres locator;
    gf_centres copy = {0};
    gf_status st = gf_centres_copy(&k->centres, &copy, err);
    if (st == GF_OK) st = gf_nearest_centres_init(&locator, &copy, NULL, err);
    gf_centres_release(&copy);
    if (st != GF_OK) return st;
    for (uint32_t p = 0; p < k->n && st == GF_OK; p++) {
        gf_row_view row = {NULL, NULL, 0};
        uint32_t own = k->label[p];
        bool next = k->runner_up[p] == GF_NO_CLUSTER || moved[k->runner_up[p]];
        if (!moved[own] && !next) continue;
        st = gf_obey_rows_take(&g->r, p, &row, err);
        if (st != GF_OK) break;
        gf_nearest_two two = gf_nearest_centres_find(&locator, 0, row);
        bool nearest = two.cluster == own;
        if (moved[own])
            k->score[p] = gf_obey_within_1(
                nearest ? two.similarity : gf_csr_row_dot(row, gf_centre_row(&k->centres.at[own])));
        k->runner_up[p] = k->k < 2 ? GF_NO_CLUSTER : nearest ? two.runner_up : two.cluster;
        k->second[p] = k->k < 2 ? 0 : gf_obey_within_1(nearest ? two.of_second : two.similarity);
    }
    gf_nearest_centres_release(&locator);
    return st;
}

/* Topics go where their clusters went. */
static gf_status number_topics(const regrouping *g, const uint32_t *map, uint32_t n, gf_error *err)
{
    gf_build_clustered *c = g->r.c;
    if (!c->topic) return GF_OK;
    size_t *topic = gf_array(n, sizeof *topic);
    if (!topic) return gf_fail_memory(err, "clusters");
    for (uint32_t l = 0; l < n; l++)
        topic[l] = GF_NOT_A_TOPIC;
    for (uint32_t l = 0; l < c->kmeans.k; l++)
        if (map[l] != GF_NO_CLUSTER) topic[map[l]] = c->topic[l];
    gf_free(c->topic);
    c->topic = topic;
    return GF_OK;
}

/* Clusters that have members move together; those that changed get their centres anew. */
static gf_status settle(regrouping *g, gf_error *err)
{
    gf_kmeans *k = &g->r.c->kmeans;
    gf_centres centres = {0};
    uint32_t *map = gf_array(g->k, sizeof *map);
    double *sum = gf_calloc(k->centres.n_terms, sizeof *sum);
    bool *moved = gf_calloc((size_t)g->k + 1, sizeof *moved);
    gf_status st = map && sum && moved ? GF_OK : gf_fail_memory(err, "clusters");
    uint32_t n = st == GF_OK ? number_clusters(k, g->k, map) : 0;
    if (st == GF_OK) st = gf_centres_init(&centres, n, k->centres.n_terms, err);
    for (uint32_t l = 0; l < g->k && st == GF_OK; l++) {
        if (map[l] == GF_NO_CLUSTER) continue;
        moved[map[l]] = g->changed[l];
        if (g->changed[l]) {
            st = sum_cluster(g, l, sum, &centres.at[map[l]], err);
        } else {
            centres.at[map[l]] = k->centres.at[l];
            k->centres.at[l] = (gf_centre){0};
        }
    }
    if (st == GF_OK) {
        for (uint32_t p = 0; p < k->n; p++) {
            uint32_t next = k->runner_up[p];
            k->label[p] = map[k->label[p]];
            k->runner_up[p] = next == GF_NO_CLUSTER ? next : map[next];
        }
        gf_centres_release(&k->centres);
        k->centres = centres;
        st = number_topics(g, map, n, err);
        k->k = n;
        if (st == GF_OK) st = score_again(g, moved, err);
    } else {
        gf_centres_release(&centres);
    }
    gf_free(map);
    gf_free(sum);
    gf_free(moved);
    return st;
}

gf_status gf_build_obey_groups(gf_build_plan *plan, const gf_build_gathered *documents,
                               gf_build_clustered *c, gf_build_obeying *o, gf_error *err)
{
    for (size_t i = 0; i < plan->edits.n && c->kmeans.k == 0; i++) {
        plan->edits.at[i].edit.lost = GF_SLICE("");
        gf_obey_lose(plan, i, "there are no clusters", 0);
    }
    if (plan->edits.n + plan->edits.n_back == 0 || c->kmeans.k == 0) return GF_OK;
    regrouping g = {.r = {.plan = plan, .documents = documents, .c = c}, .o = o};
    gf_status st = gf_obey_read_facts(plan, documents, c, o, err);
    for (size_t i = 0; i < plan->edits.n && st == GF_OK && c->topic_lost; i++)
        if (c->topic_lost[i]) gf_obey_lose(plan, i, c->topic_lost[i], 0);
    if (st == GF_OK) st = grow_clusters(&g, c->kmeans.k, err);
    g.k = c->kmeans.k;
    for (uint32_t p = 0; st == GF_OK && p < c->kmeans.n; p++)
        g.sizes[c->kmeans.label[p]]++;
    /* The clusters that go on have what was taken back: it is undone first, the last of it before all. */
    for (size_t b = plan->edits.n_back; b-- > 0 && c->continued && st == GF_OK;) {
        size_t edit = plan->edits.n + b;
        st = plan->edits.back[b].edit.kind == GF_EDIT_MERGE ? cut(&g, edit, err)
                                                            : join(&g, edit, err);
    }
    for (size_t i = 0; i < plan->edits.n && st == GF_OK; i++) {
        if (plan->edits.at[i].edit.kind == GF_EDIT_MERGE) st = join(&g, i, err);
        if (plan->edits.at[i].edit.kind == GF_EDIT_SPLIT) st = cut(&g, i, err);
    }
    if (st == GF_OK && o->regrouped) st = settle(&g, err);
    gf_obey_rows_release(&g.r);
    gf_free(g.votes);
    gf_free(g.sizes);
    gf_free(g.changed);
    return st;
}
