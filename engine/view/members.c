/* Reading clusters and their members. */
#include "engine/view/view.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cluster/label/labels.h"
#include "engine/rows/cluster_figures.h"

#include <stdlib.h>

/* ---- clusters -------------------------------------------------------------------------------- */

/*
 * Take the sentence out of v->row, unless its document was deleted or put anew since. kept: its
 * text and id, which are borrowed from it.
 */
static gf_status take_sentence(gf_view *v, gf_cluster_info *info, gf_buffer *kept, gf_error *err)
{
    gf_membership m;
    const gf_cell *text = gf_row_find(&v->row, GF_CLUSTERS_MAIN, "sentence");
    const gf_cell *of = gf_row_find(&v->row, GF_CLUSTERS_MAIN, "sentence_of");
    if (!text || !of) return GF_OK;
    size_t length = text->value.len;
    gf_buffer_slice(kept, text->value);
    gf_buffer_slice(kept, of->value);
    gf_status st = gf_buffer_check(kept, err);
    if (st != GF_OK) return st;
    gf_slice all = gf_buffer_view(kept), id = gf_slice_skip(all, length);
    if (v->seq != v->info.seq || !v->snapshot) {
        if (gf_deleted_set_has(v->deleted, id)) return GF_OK;
        st = gf_view_membership(v, id, &m, err);
        if (st == GF_ENOTFOUND || (st == GF_OK && m.replaced)) return GF_OK;
    }
    info->sentence = gf_slice_of(all.ptr, length);
    info->sentence_of = id;
    return st;
}

static gf_slice value_of(const gf_row *row, const char *column)
{
    const gf_cell *cell = gf_row_find(row, GF_CLUSTERS_MAIN, column);
    return cell ? cell->value : (gf_slice){0};
}

/* Take the title out of v->row into *kept, which it is borrowed from; a person's label wins. */
static gf_status take_title(gf_view *v, gf_cluster_info *info, gf_buffer *kept, gf_error *err)
{
    gf_slice title = value_of(&v->row, "title"), model = value_of(&v->row, "title_model");
    gf_slice prompt = value_of(&v->row, "title_prompt");
    if (!title.len || gf_pins_label(&v->pins, info->id)) return GF_OK;
    gf_buffer_slice(kept, title);
    gf_buffer_slice(kept, model);
    gf_buffer_slice(kept, prompt);
    gf_status st = gf_buffer_check(kept, err);
    if (st != GF_OK) return st;
    info->title = gf_slice_of(kept->ptr, title.len);
    info->title_model = gf_slice_of(kept->ptr + title.len, model.len);
    info->title_prompt = gf_slice_of(kept->ptr + title.len + model.len, prompt.len);
    return GF_OK;
}

static gf_status visit_one(gf_view *v, const gf_listed_cluster *c, gf_json_parser *parser,
                           gf_visit_cluster *visit, void *context, gf_error *err)
{
    gf_buffer key = {0}, titles = {0};
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), c->own_label);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.clusters, v->snapshot, gf_buffer_view(&key),
                          1u << GF_CLUSTERS_MAIN, &v->row, err);
    gf_buffer_reset(&key);
    const gf_cell *cell = st == GF_OK ? gf_row_find(&v->row, GF_CLUSTERS_MAIN, "terms") : NULL;
    if (st == GF_OK && !cell) st = gf_fail(err, GF_ECORRUPT, "table clusters: a row is damaged");
    gf_cluster_info info = {.id = c->id,
                            .label = c->label,
                            .size = c->size,
                            .hidden = gf_pins_hide(&v->pins, c->id),
                            .locked = gf_pins_lock(&v->pins, c->id),
                            .state = gf_pins_state(&v->pins, c->id)};
    gf_cluster_figures figures;
    gf_term *terms = NULL;
    const gf_cell *kept = st == GF_OK ? gf_row_find(&v->row, GF_CLUSTERS_MAIN, "figures") : NULL;
    if (kept) st = gf_cluster_figures_read(parser, kept->value, &figures, err);
    if (st == GF_OK && kept) {
        const gf_listed_cluster *nearest = gf_view_find_cluster(v, figures.nearest);
        if (nearest) figures.nearest_label = nearest->label;
        if (!nearest) figures.nearest = 0; /* an edit has ended it */
        info.figures = &figures;
    }
    if (st == GF_OK) st = gf_view_take_terms(parser, cell->value, &terms, &info.n_terms, err);
    info.terms = terms;
    if (st == GF_OK) st = take_title(v, &info, &titles, err);
    if (st == GF_OK) st = take_sentence(v, &info, &key, err);
    if (st == GF_OK) st = visit(context, &info, err);
    gf_buffer_release(&key);
    gf_buffer_release(&titles);
    gf_free(terms);
    return st;
}

gf_status gf_view_clusters(gf_view *v, gf_visit_cluster *visit, void *context, gf_error *err)
{
    gf_json_parser *parser = NULL;
    gf_status st = gf_view_order_clusters(v, err);
    if (st == GF_OK) st = gf_json_parser_create(&parser, err);
    for (size_t i = 0; i < v->n_clusters && st == GF_OK; i++)
        st = visit_one(v, &v->clusters[v->by_size[i]], parser, visit, context, err);
    gf_json_parser_free(parser);
    return st;
}

/* The cluster of that label; where there is none, the one whose label differs in case alone. */
static const gf_listed_cluster *find_label(const gf_view *v, gf_slice label)
{
    const gf_listed_cluster *alike = NULL;
    for (size_t i = 0; i < v->n_clusters; i++) {
        if (gf_slice_equal(v->clusters[i].label, label)) return &v->clusters[i];
        if (!alike && gf_utf8_same_letters(v->clusters[i].label, label)) alike = &v->clusters[i];
    }
    return alike;
}

gf_status gf_view_cluster(gf_view *v, uint32_t id, gf_slice label, gf_visit_cluster *visit,
                          void *context, gf_error *err)
{
    gf_json_parser *parser;
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK) return st;
    const gf_listed_cluster *c = id ? gf_view_find_cluster(v, id) : find_label(v, label);
    if (!c) st = gf_view_load_new(v, err);
    if (st != GF_OK) return st;
    const gf_new_candidate *new = c    ? NULL
                                  : id ? gf_view_find_new(v, id)
                                       : gf_view_find_new_label(v, label);
    if (new) return gf_view_visit_new(v, new, visit, context, err);
    if (!c && id) return gf_fail(err, GF_ENOTFOUND, "there is no cluster %u", id);
    if (!c)
        return gf_fail(err, GF_ENOTFOUND, "there is no cluster labelled \"%.*s\"",
                       GF_SLICE_ARG(label));
    st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    st = visit_one(v, c, parser, visit, context, err);
    gf_json_parser_free(parser);
    return st;
}

/* ---- members --------------------------------------------------------------------------------- */

typedef struct member_walk {
    gf_view *view;
    gf_visit_member *visit;
    void *context;
    uint64_t left;
    bool reverse;    /* worst first */
    gf_buffer after; /* the rank behind which the walk begins; empty: at the first */
    gf_row row;      /* of the walk; the view's own row is used for what is looked up */
} member_walk;

static gf_status visit_member(member_walk *w, gf_error *err)
{
    gf_membership m;
    float score;
    gf_slice id;
    if (!gf_tables_rank_read(w->row.cells[0].qualifier, &score, &id))
        return gf_fail(err, GF_ECORRUPT, "table clusters: a rank is damaged");
    if (gf_deleted_set_has(w->view->deleted, id)) return GF_OK;
    gf_status st = gf_view_membership(w->view, id, &m, err);
    if (st == GF_ENOTFOUND && !w->view->snapshot) return GF_OK; /* deleted just now */
    if (st == GF_ENOTFOUND)
        return gf_fail(err, GF_ECORRUPT, "a member of a cluster, \"%.*s\", is missing",
                       GF_SLICE_ARG(id));
    if (st != GF_OK) return st;
    w->left--;
    return w->visit(w->context, id, &m, err);
}

static gf_status open_ranked(gf_view *v, const gf_listed_cluster *c, bool reverse, gf_slice after,
                             gf_scan **scan, gf_error *err)
{
    gf_buffer key = {0};
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), c->own_label);
    gf_status st = gf_buffer_check(&key, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_CLUSTERS_RANKED,
                                        .prefix = gf_buffer_view(&key), .after_qualifier = after,
                                        .reverse = reverse, .keys_only = true);
    if (st == GF_OK) st = gf_scan_open(v->store->tables.clusters, &o, scan, err);
    gf_buffer_release(&key);
    return st;
}

static gf_status walk_ranked(member_walk *w, const gf_listed_cluster *c, gf_error *err)
{
    gf_scan *scan = NULL;
    bool more = true;
    gf_status st = open_ranked(w->view, c, w->reverse, gf_buffer_view(&w->after), &scan, err);
    while (st == GF_OK && more && w->left) {
        st = gf_scan_step(scan, &w->row, &more, err);
        if (st == GF_OK && more) st = visit_member(w, err);
    }
    gf_scan_close(scan);
    return st;
}

static gf_status visit_new_members(gf_view *v, uint32_t cluster, const member_walk *w,
                                   gf_error *err)
{
    gf_member_place after;
    gf_status st = gf_view_load_new(v, err);
    if (st != GF_OK) return st;
    const gf_new_candidate *c = gf_view_find_new(v, cluster);
    if (!c) return gf_fail(err, GF_ENOTFOUND, "there is no cluster %u", cluster);
    bool begins = w->after.len == 0;
    if (!begins) gf_tables_rank_read(gf_buffer_view(&w->after), &after.score, &after.id);
    return gf_view_visit_new_members(v, c, w->reverse, begins ? NULL : &after, w->left, w->visit,
                                     w->context, err);
}

static gf_status visit_members(gf_view *v, uint32_t cluster, member_walk *w, gf_error *err)
{
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK) return st;
    const gf_listed_cluster *c = gf_view_find_cluster(v, cluster);
    if (!c) return visit_new_members(v, cluster, w, err);
    if (w->left == 0) w->left = UINT64_MAX;
    st = walk_ranked(w, c, err);
    gf_row_release(&w->row);
    return st;
}

gf_status gf_view_members(gf_view *v, uint32_t cluster, uint64_t limit, gf_visit_member *visit,
                          void *context, gf_error *err)
{
    member_walk w = {.view = v, .visit = visit, .context = context, .left = limit};
    return visit_members(v, cluster, &w, err);
}

gf_status gf_view_members_after(gf_view *v, uint32_t cluster, float score, gf_slice id,
                                uint64_t limit, gf_visit_member *visit, void *context,
                                gf_error *err)
{
    member_walk w = {.view = v, .visit = visit, .context = context, .left = limit};
    gf_tables_rank_write(&w.after, score, id);
    gf_status st = gf_buffer_check(&w.after, err);
    if (st == GF_OK) st = visit_members(v, cluster, &w, err);
    gf_buffer_release(&w.after);
    return st;
}

/* A cluster's members in several clusters' ranking. */
typedef struct rank_head {
    gf_scan *scan;
    gf_row row;
    bool more;
} rank_head;

/* The head that comes first; n: none has more. Few members are asked for, so all heads are compared. */
static size_t first_head(const rank_head *heads, size_t n)
{
    size_t first = n;
    for (size_t i = 0; i < n; i++) {
        if (!heads[i].more) continue;
        if (first == n || gf_slice_compare(heads[i].row.cells[0].qualifier,
                                           heads[first].row.cells[0].qualifier) < 0)
            first = i;
    }
    return first;
}

static gf_status open_head(gf_view *v, uint32_t cluster, gf_slice after, rank_head *h,
                           gf_error *err)
{
    const gf_listed_cluster *c = gf_view_find_cluster(v, cluster);
    if (!c) return gf_fail(err, GF_ENOTFOUND, "there is no cluster %u", cluster);
    gf_status st = open_ranked(v, c, false, after, &h->scan, err);
    return st == GF_OK ? gf_scan_step(h->scan, &h->row, &h->more, err) : st;
}

gf_status gf_view_members_of(gf_view *v, const uint32_t *clusters, size_t n,
                             const gf_member_place *after, uint64_t limit, gf_visit_member *visit,
                             void *context, gf_error *err)
{
    member_walk w = {
        .view = v, .visit = visit, .context = context, .left = limit ? limit : UINT64_MAX};
    gf_status st = gf_view_load_clusters(v, err);
    if (st == GF_OK && after) gf_tables_rank_write(&w.after, after->score, after->id);
    if (st == GF_OK) st = gf_buffer_check(&w.after, err);
    rank_head *heads = gf_calloc(n + 1, sizeof *heads);
    if (st == GF_OK && !heads) st = gf_fail_memory(err, "members");
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = open_head(v, clusters[i], gf_buffer_view(&w.after), &heads[i], err);
    while (st == GF_OK && w.left) {
        size_t first = first_head(heads, n);
        if (first == n) break;
        w.row = heads[first].row; /* lent */
        st = visit_member(&w, err);
        if (st == GF_OK)
            st = gf_scan_step(heads[first].scan, &heads[first].row, &heads[first].more, err);
    }
    for (size_t i = 0; heads && i < n; i++) {
        gf_scan_close(heads[i].scan);
        gf_row_release(&heads[i].row);
    }
    gf_free(heads);
    gf_buffer_release(&w.after);
    return st;
}

gf_status gf_view_weakest(gf_view *v, uint32_t cluster, uint64_t limit, gf_visit_member *visit,
                          void *context, gf_error *err)
{
    member_walk w = {.view = v, .visit = visit, .context = context, .left = limit, .reverse = true};
    return visit_members(v, cluster, &w, err);
}

/* ---- sizes above a score --------------------------------------------------------------------- */

/* Members come by falling score: those that count come first. */
static gf_status count_above(gf_view *v, const gf_listed_cluster *c, float min_score, uint64_t *n,
                             gf_error *err)
{
    gf_scan *scan = NULL;
    gf_row row = {0};
    bool more = true;
    gf_status st = open_ranked(v, c, false, (gf_slice){0}, &scan, err);
    while (st == GF_OK && more) {
        float score;
        gf_slice id;
        st = gf_scan_step(scan, &row, &more, err);
        if (st != GF_OK || !more) break;
        if (!gf_tables_rank_read(row.cells[0].qualifier, &score, &id))
            st = gf_fail(err, GF_ECORRUPT, "table clusters: a rank is damaged");
        else if (score < min_score)
            break;
        else
            *n += !gf_deleted_set_has(v->deleted, id);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    return st;
}

/* Clusters without a subject come last. */
static int by_falling_size(const void *a, const void *b)
{
    const gf_listed_cluster *x = a, *y = b;
    bool mixed = gf_label_is_mixed(x->label);
    if (mixed != gf_label_is_mixed(y->label)) return mixed ? 1 : -1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

gf_status gf_view_clusters_above(gf_view *v, float min_score, gf_visit_cluster *visit,
                                 void *context, gf_error *err)
{
    gf_json_parser *parser = NULL;
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK) return st;
    gf_listed_cluster *counted = gf_array(v->n_clusters, sizeof *counted);
    if (!counted) return gf_fail_memory(err, "clusters");
    for (size_t i = 0; i < v->n_clusters && st == GF_OK; i++) {
        counted[i] = v->clusters[i];
        counted[i].size = 0;
        st = count_above(v, &v->clusters[i], min_score, &counted[i].size, err);
    }
    if (st == GF_OK && v->n_clusters)
        qsort(counted, v->n_clusters, sizeof *counted, by_falling_size);
    if (st == GF_OK) st = gf_json_parser_create(&parser, err);
    for (size_t i = 0; i < v->n_clusters && st == GF_OK; i++)
        st = visit_one(v, &counted[i], parser, visit, context, err);
    gf_json_parser_free(parser);
    gf_free(counted);
    return st;
}
