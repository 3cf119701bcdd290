#include "engine/build/obey.h"

#include "base/grow.h"
#include "base/memory.h"
#include "cluster/passes/nearest_centres.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_POINT UINT32_MAX

/* Least share of documents in a group and in a cluster, of those in either, for both to be the same. */
#define LEAST_SHARE 0.3
enum { LEAST_SAMPLE = 100 /* witnesses of a group of more than GF_EDIT_WITNESSES documents */ };

/* Documents that stand for a group, which is called by a cluster's id. */
typedef struct gf_edit_atom {
    size_t edit; /* place in the plan's list; behind its end in that of those taken back */
    uint32_t id;
    uint32_t *points; /* n: of those that are still there */
    size_t n;
    bool sampled;     /* the group had more documents than witnesses are kept of */
    bool joins, cuts; /* of a merge, of a split */
    size_t topic;     /* edit: the group is that topic; GF_NOT_A_TOPIC */
    size_t within;    /* edit: the group is a part of that topic; likewise */
    bool dead;        /* a later split says more */
} gf_edit_atom;

/* A document that is in a cluster by word of a person. */
typedef struct gf_edit_place {
    size_t edit;
    uint32_t id, point;
} gf_edit_place;

void gf_build_obeying_release(gf_build_obeying *o)
{
    gf_free(o->atoms);
    gf_free(o->places);
    gf_arena_release(&o->memory);
    *o = (gf_build_obeying){0};
}

static gf_kept_edit *fact(const gf_build_plan *plan, size_t edit)
{
    return edit < plan->edits.n ? &plan->edits.at[edit] : &plan->edits.back[edit - plan->edits.n];
}

/* Say why an edit is not kept; the first reason counts. */
static void lose(gf_build_plan *plan, size_t edit, const char *format, uint32_t id)
{
    gf_edit *e = &fact(plan, edit)->edit;
    char text[160];
    if (e->lost.len) return;
    int n = snprintf(text, sizeof text, format, id);
    gf_slice copy = gf_arena_copy(&plan->edits.memory, gf_slice_of(text, (size_t)n));
    e->lost = copy.ptr ? copy : GF_SLICE("memory was short");
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct rows {
    const gf_build_plan *plan;
    const gf_build_gathered *documents;
    gf_build_clustered *c;
    gf_csr read; /* of a file of rows */
    uint32_t *col;
    float *val; /* of a row that is worked out */
} rows;

static void release_rows(rows *r)
{
    gf_csr_release(&r->read);
    gf_free(r->col);
    gf_free(r->val);
}

static gf_status make_room(rows *r, uint32_t n_cols, gf_error *err)
{
    if (r->col) return GF_OK;
    r->col = gf_array(n_cols, sizeof *r->col);
    r->val = gf_array(n_cols, sizeof *r->val);
    if (!r->col || !r->val) return gf_fail_memory(err, "a row");
    for (uint32_t i = 0; i < n_cols; i++)
        r->col[i] = i;
    return GF_OK;
}

/* A row of a matrix, of unit length as it was clustered. */
static gf_status scale_row(rows *r, gf_row_view given, uint32_t n_cols, gf_row_view *row,
                           gf_error *err)
{
    double length = 0;
    gf_status st = make_room(r, n_cols, err);
    if (st != GF_OK) return st;
    for (uint32_t i = 0; i < given.n; i++)
        length += (double)given.val[i] * given.val[i];
    length = length > 0 ? sqrt(length) : 1;
    for (uint32_t i = 0; i < given.n; i++)
        r->val[i] = (float)(given.val[i] / length);
    *row = (gf_row_view){given.col ? given.col : r->col, r->val, given.n};
    return GF_OK;
}

/* The clustered row of a point, until the next one is asked for. */
static gf_status take_row(rows *r, uint32_t point, gf_row_view *row, gf_error *err)
{
    const gf_matrix *m = r->plan->matrix;
    gf_build_clustered *c = r->c;
    const gf_vectors *v = &r->documents->vectors;
    if (m) {
        uint32_t i = c->matrix_row[point];
        gf_row_view given = m->sparse
                                ? gf_csr_row(m->sparse, i)
                                : (gf_row_view){NULL, m->dense + (size_t)i * m->n_cols, m->n_cols};
        return scale_row(r, given, m->n_cols, row, err);
    }
    if (c->dense) {
        gf_status st = make_room(r, c->words.d, err);
        *row = (gf_row_view){r->col, c->dense + (size_t)point * c->words.d, c->words.d};
        return st;
    }
    if (!v->entries) {
        *row = gf_csr_row(&v->x, c->row_of[point]);
        return GF_OK;
    }
    gf_row_file file = gf_build_gathered_row_file(r->documents);
    gf_csr_release(&r->read);
    r->read = (gf_csr){0};
    gf_status st = gf_row_file_read(&file, c->row_of[point], 1, &r->read, err);
    if (st == GF_OK) *row = gf_csr_row(&r->read, 0);
    return st;
}

/* ---- witnesses ------------------------------------------------------------------------------- */

/* The clustered row of a document, or NO_POINT. */
static uint32_t find_point(const gf_build_gathered *d, const gf_build_clustered *c, gf_slice id)
{
    uint32_t from = 0, to = d->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (gf_slice_compare(gf_build_gathered_id(d, middle), id) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == d->n || !gf_slice_equal(gf_build_gathered_id(d, from), id)) return NO_POINT;
    uint32_t document = from;
    from = 0;
    to = c->kmeans.n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (c->row_of[middle] < document)
            from = middle + 1;
        else
            to = middle;
    }
    return from < c->kmeans.n && c->row_of[from] == document ? from : NO_POINT;
}

static gf_status read_points(const gf_build_plan *plan, const gf_build_gathered *d,
                             const gf_build_clustered *c, size_t edit, uint32_t side,
                             gf_build_obeying *o, gf_edit_atom *atom, gf_error *err)
{
    gf_row row = {0};
    gf_slice ids = {"", 0}, id;
    gf_status st = gf_edits_read_side(plan->store, plan->snapshot, plan->where, plan->configuration,
                                      fact(plan, edit)->edit.number, side, &row, err);
    if (st == GF_OK) ids = row.cells[0].value;
    if (st == GF_ENOTFOUND) st = GF_OK;
    atom->points = gf_arena_alloc(&o->memory, (GF_EDIT_WITNESSES + 1) * sizeof *atom->points);
    if (st == GF_OK && !atom->points) st = gf_fail_memory(err, "edits");
    size_t kept = 0;
    while (st == GF_OK && kept < GF_EDIT_WITNESSES && gf_slice_take_string(&ids, &id)) {
        uint32_t point = find_point(d, c, id);
        if (point != NO_POINT) atom->points[atom->n++] = point;
        kept++;
    }
    atom->sampled = kept == GF_EDIT_WITNESSES;
    gf_row_release(&row);
    return st;
}

/* The topic whose cluster an id is; GF_NOT_A_TOPIC. */
static size_t topic_of(const gf_build_plan *plan, uint32_t id)
{
    size_t at = gf_edits_topic_of(&plan->edits, id);
    return at < plan->edits.n ? at : GF_NOT_A_TOPIC;
}

static gf_status add_atoms(gf_build_plan *plan, const gf_build_gathered *d,
                           const gf_build_clustered *c, size_t edit, gf_build_obeying *o,
                           gf_error *err)
{
    const gf_edit *e = &fact(plan, edit)->edit;
    /* A merge that was taken back is cut, a split is joined. */
    bool back = fact(plan, edit)->taken_back;
    bool merges = e->kind == (back ? GF_EDIT_SPLIT : GF_EDIT_MERGE);
    bool splits = e->kind == (back ? GF_EDIT_MERGE : GF_EDIT_SPLIT);
    gf_status st = GF_OK;
    if (e->kind == GF_EDIT_TOPIC) return GF_OK;
    for (size_t side = 0; side < gf_edit_sides(e) && st == GF_OK; side++) {
        if (!gf_grow(&o->atoms, &o->atom_capacity, o->n_atoms + 1, sizeof *o->atoms))
            return gf_fail_memory(err, "edits");
        gf_edit_atom a = {.edit = edit,
                          .id = side == 0 || merges ? e->cluster : e->others[side - 1],
                          .joins = merges,
                          .cuts = splits,
                          .topic = topic_of(plan, side ? e->others[side - 1] : e->cluster),
                          .within = merges ? GF_NOT_A_TOPIC : topic_of(plan, e->cluster)};
        st = read_points(plan, d, c, edit, (uint32_t)side, o, &a, err);
        if (st == GF_OK && a.n == 0 && (a.joins || a.cuts))
            lose(plan, edit, "no document of cluster %" PRIu32 " is left",
                 side ? e->others[side - 1] : e->cluster);
        if (st == GF_OK) o->atoms[o->n_atoms++] = a;
    }
    return st;
}

static gf_status add_place(gf_build_plan *plan, const gf_build_gathered *d,
                           const gf_build_clustered *c, size_t edit, gf_build_obeying *o,
                           gf_error *err)
{
    const gf_edit *e = &plan->edits.at[edit].edit;
    uint32_t point = find_point(d, c, e->document);
    size_t at = 0;
    if (point == NO_POINT) {
        lose(plan, edit, "the document is gone, or has no terms any more", 0);
        return GF_OK;
    }
    while (at < o->n_places && o->places[at].point != point)
        at++;
    if (!gf_grow(&o->places, &o->place_capacity, o->n_places + 1, sizeof *o->places))
        return gf_fail_memory(err, "edits");
    o->places[at] = (gf_edit_place){edit, e->cluster, point};
    o->n_places += at == o->n_places;
    return GF_OK;
}

/* Groups and places of before change as the edit says. */
static void follow(const gf_edit *e, gf_build_obeying *o)
{
    for (size_t a = 0; a < o->n_atoms; a++) {
        gf_edit_atom *atom = &o->atoms[a];
        if (e->kind == GF_EDIT_SPLIT && atom->id == e->cluster) atom->dead = true;
        for (size_t i = 0; i < e->n_others && e->kind == GF_EDIT_MERGE; i++)
            if (atom->id == e->others[i]) atom->id = e->cluster;
    }
    for (size_t p = 0; p < o->n_places; p++)
        for (size_t i = 0; i < e->n_others && e->kind == GF_EDIT_MERGE; i++)
            if (o->places[p].id == e->others[i]) o->places[p].id = e->cluster;
}

static gf_status read_facts(gf_build_plan *plan, const gf_build_gathered *d,
                            const gf_build_clustered *c, gf_build_obeying *o, gf_error *err)
{
    size_t back = 0;
    gf_status st = GF_OK;
    for (size_t i = 0; i <= plan->edits.n && st == GF_OK; i++) {
        gf_edit *e = i < plan->edits.n ? &plan->edits.at[i].edit : NULL;
        for (; back < plan->edits.n_back && st == GF_OK &&
               (!e || plan->edits.back[back].edit.number < e->number);
             back++)
            st = add_atoms(plan, d, c, plan->edits.n + back, o, err);
        if (!e || st != GF_OK) break;
        e->lost = GF_SLICE("");
        follow(e, o);
        st = add_atoms(plan, d, c, i, o, err);
        if (st == GF_OK && (e->kind == GF_EDIT_MOVE || e->kind == GF_EDIT_KEEP))
            st = add_place(plan, d, c, i, o, err);
    }
    return st;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The topic that made a cluster; those that were cut off since come after the others. */
static size_t maker_of(const gf_build_clustered *c, uint32_t cluster)
{
    return c->topic && cluster < c->kmeans.k ? c->topic[cluster] : GF_NOT_A_TOPIC;
}

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
        if (maker_of(c, l) == a->topic) return l;
    for (size_t i = 0; i < a->n; i++) {
        uint32_t l = c->kmeans.label[a->points[i]];
        size_t maker = maker_of(c, l);
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

/*
 * Whether a cluster is the group: few witnesses that are left, or that lie far apart, stand for no cluster of
 * others. both: points of the group that are in it, of n; size: of the cluster.
 */
static bool is_group(bool sampled, size_t n, uint32_t both, uint32_t size)
{
    if (sampled) return n >= LEAST_SAMPLE && both >= LEAST_SHARE * (double)n;
    return both >= LEAST_SHARE * ((double)size + (double)n - both);
}

typedef struct regrouping {
    rows r;
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
    merged_side *side = gf_array(gf_edit_sides(&fact(g->r.plan, edit)->edit), sizeof *side);
    if (!side) return gf_fail_memory(err, "edits");
    for (size_t a = 0; a < g->o->n_atoms; a++) {
        const gf_edit_atom *atom = &g->o->atoms[a];
        if (atom->edit != edit || !atom->joins || atom->dead || atom->n == 0) continue;
        merged_side s = {.atom = atom};
        s.cluster = most_of(c, atom, g->votes, &s.both);
        if (s.cluster == GF_NO_CLUSTER) continue;
        s.own = atom->topic != GF_NOT_A_TOPIC ||
                is_group(atom->sampled, atom->n, s.both, g->sizes[s.cluster]);
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
            if (now != into && maker_of(c, now) == GF_NOT_A_TOPIC) put_point(g, p, into);
        }
    }
    gf_free(side);
    return GF_OK;
}

/* The sum of the witnesses' rows, of unit length. */
static gf_status sum_atom(regrouping *g, const gf_edit_atom *a, double *sum, uint32_t n_cols,
                          gf_error *err)
{
    double length = 0;
    gf_status st = GF_OK;
    for (size_t i = 0; i < a->n && st == GF_OK; i++) {
        gf_row_view row = {NULL, NULL, 0};
        st = take_row(&g->r, a->points[i], &row, err);
        for (uint32_t j = 0; st == GF_OK && j < row.n; j++)
            sum[row.col[j]] += row.val[j];
    }
    for (uint32_t t = 0; t < n_cols; t++)
        length += sum[t] * sum[t];
    for (uint32_t t = 0; t < n_cols && length > 0; t++)
        sum[t] /= sqrt(length);
    return st;
}

/* Cut a cluster by the nearest of the parts that are in it; the first keeps the label. */
static gf_status cut_cluster(regrouping *g, uint32_t label, gf_edit_atom *const *parts, size_t n,
                             gf_error *err)
{
    gf_build_clustered *c = g->r.c;
    uint32_t n_cols = c->kmeans.centres.n_terms, first_new = g->k;
    double *sums = gf_calloc(n * n_cols, sizeof *sums);
    gf_status st =
        sums ? grow_clusters(g, g->k + (uint32_t)n, err) : gf_fail_memory(err, "centres");
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = sum_atom(g, parts[i], sums + i * n_cols, n_cols, err);
    for (uint32_t p = 0; p < c->kmeans.n && st == GF_OK; p++) {
        gf_row_view row = {NULL, NULL, 0};
        double best = -2;
        uint32_t to = 0;
        if (c->kmeans.label[p] != label) continue;
        st = take_row(&g->r, p, &row, err);
        for (size_t i = 0; i < n && st == GF_OK; i++) {
            double dot = 0;
            for (uint32_t j = 0; j < row.n; j++)
                dot += row.val[j] * sums[i * n_cols + row.col[j]];
            if (dot > best) best = dot, to = (uint32_t)i;
        }
        if (to) put_point(g, p, first_new + to - 1);
    }
    /* Witnesses are where they were seen, whatever is near. */
    for (size_t i = 0; i < n && st == GF_OK; i++)
        for (size_t w = 0; w < parts[i]->n; w++) {
            uint32_t point = parts[i]->points[w], now = c->kmeans.label[point];
            if (now == label || now >= first_new)
                put_point(g, point, i ? first_new + (uint32_t)i - 1 : label);
        }
    if (st == GF_OK) g->k += (uint32_t)n - 1;
    gf_free(sums);
    return st;
}

static gf_status cut(regrouping *g, size_t edit, gf_error *err)
{
    gf_build_obeying *o = g->o;
    size_t sides = gf_edit_sides(&fact(g->r.plan, edit)->edit), n = 0;
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
    double length = 0;
    uint32_t n = 0, n_cols = k->centres.n_terms, members = 0;
    gf_status st = GF_OK;
    for (uint32_t p = 0; p < k->n && st == GF_OK; p++) {
        gf_row_view row = {NULL, NULL, 0};
        if (k->label[p] != label || (once && once[g->r.c->row_of[p]] != g->r.c->row_of[p]))
            continue;
        members++;
        st = take_row(&g->r, p, &row, err);
        for (uint32_t j = 0; st == GF_OK && j < row.n; j++)
            sum[row.col[j]] += row.val[j];
    }
    for (uint32_t t = 0; t < n_cols; t++) {
        length += sum[t] * sum[t];
        n += sum[t] != 0;
    }
    gf_centre made = {.term = gf_array(n, sizeof *made.term),
                      .value = gf_array(n, sizeof *made.value),
                      .capacity = n,
                      .length = sqrt(length),
                      .weight = members};
    if (st == GF_OK && (!made.term || !made.value)) st = gf_fail_memory(err, "a centre");
    for (uint32_t t = 0; t < n_cols; t++) {
        if (st == GF_OK && sum[t] != 0) {
            made.term[made.n] = t;
            made.value[made.n++] = (float)(sum[t] / made.length);
        }
        sum[t] = 0;
    }
    *c = made;
    return st;
}

static float within_1(double v)
{
    return v < 1 ? v > 0 ? (float)v : 0 : 1;
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
        st = take_row(&g->r, p, &row, err);
        if (st != GF_OK) break;
        gf_nearest_two two = gf_nearest_centres_find(&locator, 0, row);
        bool nearest = two.cluster == own;
        if (moved[own])
            k->score[p] = within_1(
                nearest ? two.similarity : gf_csr_row_dot(row, gf_centre_row(&k->centres.at[own])));
        k->runner_up[p] = k->k < 2 ? GF_NO_CLUSTER : nearest ? two.runner_up : two.cluster;
        k->second[p] = k->k < 2 ? 0 : within_1(nearest ? two.of_second : two.similarity);
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
        lose(plan, i, "there are no clusters", 0);
    }
    if (plan->edits.n + plan->edits.n_back == 0 || c->kmeans.k == 0) return GF_OK;
    regrouping g = {.r = {.plan = plan, .documents = documents, .c = c}, .o = o};
    gf_status st = read_facts(plan, documents, c, o, err);
    for (size_t i = 0; i < plan->edits.n && st == GF_OK && c->topic_lost; i++)
        if (c->topic_lost[i]) lose(plan, i, c->topic_lost[i], 0);
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
    release_rows(&g.r);
    gf_free(g.votes);
    gf_free(g.sizes);
    gf_free(g.changed);
    return st;
}

/* ---- ids ------------------------------------------------------------------------------------- */

static uint32_t cluster_of(const gf_build_matched *m, uint32_t k, uint32_t id)
{
    for (uint32_t c = 0; c < k; c++)
        if (m->ids[c] == id) return c;
    return GF_NO_CLUSTER;
}

static bool is_named(const gf_build_obeying *o, uint32_t id)
{
    for (size_t a = 0; a < o->n_atoms; a++)
        if (!o->atoms[a].dead && o->atoms[a].id == id) return true;
    return false;
}

/* The witnesses of all that is said of one cluster: each once. */
typedef struct naming {
    uint32_t *votes; /* k zeros */
    uint32_t *sizes; /* k */
    size_t *seen;    /* n points: 1 + the place of the atom that it was last counted for */
} naming;

/* The cluster that the group of that id is, by the witnesses of this atom and of later ones. */
static uint32_t find_named(const gf_build_clustered *c, const gf_build_obeying *o, size_t atom,
                           naming *n)
{
    uint32_t best = GF_NO_CLUSTER, id = o->atoms[atom].id;
    size_t points = 0;
    bool sampled = false;
    for (size_t a = atom; a < o->n_atoms; a++) {
        const gf_edit_atom *of = &o->atoms[a];
        if (of->dead || of->id != id) continue;
        sampled = sampled || of->sampled;
        for (size_t i = 0; i < of->n; i++) {
            uint32_t p = of->points[i];
            if (n->seen[p] == atom + 1) continue;
            n->seen[p] = atom + 1;
            n->votes[c->kmeans.label[p]]++;
            points++;
        }
    }
    for (uint32_t l = 0; l < c->kmeans.k; l++)
        if (n->votes[l] && maker_of(c, l) == GF_NOT_A_TOPIC &&
            (best == GF_NO_CLUSTER || n->votes[l] > n->votes[best]))
            best = l;
    if (best != GF_NO_CLUSTER && !is_group(sampled, points, n->votes[best], n->sizes[best]))
        best = GF_NO_CLUSTER;
    memset(n->votes, 0, c->kmeans.k * sizeof *n->votes);
    return best;
}

/*
 * Clusters that come back, as a merge was taken back, have the ids of before: matching gives that of the merged
 * cluster to the largest. One that has such an id takes the other's.
 */
static void name_again(const gf_build_plan *plan, const gf_build_clustered *c,
                       const gf_build_obeying *o, gf_build_matched *m, naming *n)
{
    for (size_t a = 0; a < o->n_atoms; a++) {
        const gf_edit_atom *atom = &o->atoms[a];
        if (atom->edit < plan->edits.n || !atom->cuts || atom->dead) continue;
        uint32_t l = find_named(c, o, a, n), had = cluster_of(m, c->kmeans.k, atom->id);
        if (l == GF_NO_CLUSTER) continue;
        if (had != GF_NO_CLUSTER) m->ids[had] = m->ids[l];
        m->ids[l] = atom->id;
    }
}

/* Say of an edit of a cluster that is gone that it is not kept; a lock makes its cluster anew. */
static void lose_named(gf_build_plan *plan, const gf_build_obeying *o, const gf_edit_atom *atom)
{
    const gf_edit *e = &fact(plan, atom->edit)->edit;
    bool any = false;
    if (e->kind == GF_EDIT_LOCK && !e->off) return;
    for (size_t a = 0; a < o->n_atoms && !any; a++)
        any = o->atoms[a].id == atom->id && o->atoms[a].n > 0;
    lose(plan, atom->edit,
         any ? "cluster %" PRIu32 " is gone: its documents are in others"
             : "no document of cluster %" PRIu32 " is left",
         atom->id);
}

gf_status gf_build_obey_ids(gf_build_plan *plan, const gf_build_clustered *c,
                            const gf_build_obeying *o, gf_build_matched *m, gf_error *err)
{
    uint32_t k = c->kmeans.k;
    for (uint32_t l = 0; l < k; l++)
        if (gf_build_clustered_is_topic(c, l)) plan->edits.at[c->topic[l]].edit.cluster = m->ids[l];
    if (o->n_atoms == 0) return GF_OK;
    naming n = {.votes = gf_calloc((size_t)k + 1, sizeof *n.votes),
                .sizes = gf_calloc((size_t)k + 1, sizeof *n.sizes),
                .seen = gf_calloc((size_t)c->kmeans.n + 1, sizeof *n.seen)};
    gf_status st = n.votes && n.sizes && n.seen ? GF_OK : gf_fail_memory(err, "edits");
    for (uint32_t p = 0; st == GF_OK && p < c->kmeans.n; p++)
        n.sizes[c->kmeans.label[p]]++;
    if (st == GF_OK && c->continued) name_again(plan, c, o, m, &n);
    for (size_t a = 0; a < o->n_atoms && st == GF_OK; a++) {
        const gf_edit_atom *atom = &o->atoms[a];
        if (atom->dead || cluster_of(m, k, atom->id) != GF_NO_CLUSTER) continue;
        if (topic_of(plan, atom->id) != GF_NOT_A_TOPIC) continue; /* an id that waits for it */
        uint32_t l = find_named(c, o, a, &n);
        /* A label that was pinned before there were edits is of its cluster without a fact. */
        if (l != GF_NO_CLUSTER && !is_named(o, m->ids[l]) &&
            !gf_pins_kept_label(&plan->pins, m->ids[l]))
            m->ids[l] = atom->id;
    }
    for (size_t a = 0; a < o->n_atoms && st == GF_OK; a++)
        if (cluster_of(m, k, o->atoms[a].id) == GF_NO_CLUSTER) lose_named(plan, o, &o->atoms[a]);
    gf_free(n.votes);
    gf_free(n.sizes);
    gf_free(n.seen);
    return st;
}

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
static gf_status assign_locked(rows *r, const gf_build_obeying *o, uint32_t own,
                               const double *dense, uint32_t *sizes, gf_error *err)
{
    gf_kmeans *k = &r->c->kmeans;
    gf_status st = GF_OK;
    (void)o;
    for (uint32_t p = 0; p < k->n && st == GF_OK; p++) {
        gf_row_view row = {NULL, NULL, 0};
        double dot = 0;
        st = take_row(r, p, &row, err);
        for (uint32_t j = 0; st == GF_OK && j < row.n; j++)
            dot += row.val[j] * dense[row.col[j]];
        float similarity = within_1(dot);
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

static gf_status obey_lock(rows *r, gf_build_plan *plan, size_t edit, gf_build_obeying *o,
                           gf_build_matched *m, gf_error *err)
{
    gf_kmeans *k = &r->c->kmeans;
    const gf_edit *e = &plan->edits.at[edit].edit;
    const gf_vocabulary *v = &r->documents->vectors.vocabulary;
    uint32_t own = cluster_of(m, k->k, e->cluster), *sizes = NULL;
    bool is_new = own == GF_NO_CLUSTER;
    gf_centre centre = {0};
    runners_up before = {0};
    double *dense = gf_calloc((size_t)v->n_terms + 1, sizeof *dense);
    gf_status st = dense ? GF_OK : gf_fail_memory(err, "a centre");
    if (st == GF_OK) st = read_centre(plan, v, e->number, dense, &centre, err);
    if (st == GF_OK) st = count_sizes(k, k->k + 1, &sizes, err);
    if (st == GF_OK && centre.n == 0) {
        lose(plan, edit, "no document has a term of cluster %" PRIu32 " any more", e->cluster);
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
            lose(plan, edit, "no document is nearest to cluster %" PRIu32 " any more", e->cluster);
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

static gf_status obey_locks(rows *r, gf_build_plan *plan, gf_build_obeying *o, gf_build_matched *m,
                            gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < plan->edits.n && st == GF_OK; i++) {
        if (!is_locked_by(plan, i)) continue;
        if (plan->matrix || r->c->dense)
            lose(plan, i, "a centre is locked by its terms, which clusters of vectors have not", 0);
        else
            st = obey_lock(r, plan, i, o, m, err);
    }
    return st;
}

/* ---- places ---------------------------------------------------------------------------------- */

static gf_status place_one(rows *r, gf_build_plan *plan, const gf_edit_place *place,
                           const gf_build_matched *m, uint32_t *sizes, gf_build_obeying *o,
                           gf_error *err)
{
    gf_kmeans *k = &r->c->kmeans;
    uint32_t to = cluster_of(m, k->k, place->id), p = place->point, from = k->label[p];
    gf_row_view row = {NULL, NULL, 0};
    if (to == GF_NO_CLUSTER) {
        lose(plan, place->edit, "cluster %" PRIu32 " is gone", place->id);
        return GF_OK;
    }
    if (to == from) return GF_OK;
    if (sizes[from] == 1) {
        lose(plan, place->edit, "cluster %" PRIu32 " has no other document", m->ids[from]);
        return GF_OK;
    }
    gf_status st = take_row(r, p, &row, err);
    if (st != GF_OK) return st;
    sizes[from]--, sizes[to]++;
    k->runner_up[p] = from;
    k->second[p] = k->score[p];
    k->label[p] = to;
    k->score[p] = within_1(gf_csr_row_dot(row, gf_centre_row(&k->centres.at[to])));
    o->regrouped = true;
    return GF_OK;
}

static gf_status place_all(rows *r, gf_build_plan *plan, const gf_build_matched *m,
                           gf_build_obeying *o, gf_error *err)
{
    uint32_t *sizes;
    gf_status st = count_sizes(&r->c->kmeans, r->c->kmeans.k, &sizes, err);
    for (size_t i = 0; i < o->n_places && st == GF_OK; i++)
        st = place_one(r, plan, &o->places[i], m, sizes, o, err);
    gf_free(sizes);
    return st;
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
    rows r = {.plan = plan, .documents = documents, .c = c};
    gf_status st = obey_locks(&r, plan, o, m, err);
    if (st == GF_OK) st = place_all(&r, plan, m, o, err);
    release_rows(&r);
    if (st != GF_OK || !o->regrouped) return st;
    st = order_clusters(c, m, err);
    if (st != GF_OK || !c->term_centres.at) return st;
    gf_centres_release(&c->term_centres);
    c->term_centres = (gf_centres){0};
    return gf_build_finish_dense(pool, &documents->vectors.x, plan->options->cancel, c, err);
}
