/*
 * Regrouping: the members of some clusters go into new groups.
 *
 *     merge    all into the first; its centre is that of all members
 *     split    k-means of their rows; the largest part keeps the id
 *     move     one document goes over; centres stay as they are, as the document is there by word of a
 *              person and not by its own
 *
 * A centre is the sum of its members' rows, of unit length, as a build has it; scores and runners-up are
 * those of the centres afterwards. Documents of other clusters keep their places; where the next best
 * cluster of one has ended, it is the one that took its members, with the similarity that was
 * kept. A document that was deleted since the build has no row: it goes along with its score. Where no member has
 * one, as all were deleted, the cluster keeps its centre and its terms.
 */
#include "engine/edit/internal.h"

#include "base/json/writer.h"
#include "base/memory.h"
#include "cluster/kmeans.h"
#include "cluster/passes/nearest_centres.h"
#include "engine/build/figures.h"
#include "engine/rows/copy_list.h"
#include "engine/rows/hours.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct regrouping {
    gf_editing *e;
    gf_edit_members m;
    const uint32_t *ids; /* n: of the new groups */
    uint32_t n;
    bool moves;              /* one document moves, and no centre */
    gf_centres centres;      /* of all clusters afterwards: the untouched, then the groups' */
    uint32_t *centre_ids;    /* centres.k */
    uint64_t *sizes;         /* likewise */
    gf_centres term_centres; /* of the groups, in terms, where the rows are none of texts */
    gf_edit_member **ranked; /* members by group, best first */
    uint32_t *start;         /* n + 1: of each group in ranked */
    uint32_t *copy_of;       /* m.n: the member that it is a copy of, or UINT32_MAX */
} regrouping;

static void release(regrouping *r)
{
    gf_edit_members_release(&r->m);
    gf_centres_release(&r->centres);
    gf_centres_release(&r->term_centres);
    gf_free(r->centre_ids);
    gf_free(r->sizes);
    gf_free(r->ranked);
    gf_free(r->start);
    gf_free(r->copy_of);
}

/* ---- centres --------------------------------------------------------------------------------- */

static void add_row(double *sum, gf_row_view row)
{
    for (uint32_t i = 0; i < row.n; i++)
        sum[row.col[i]] += row.val[i];
}

static gf_status sum_group(regrouping *r, uint32_t group, uint32_t n_cols, double *sum,
                           gf_centre *c, gf_error *err)
{
    for (size_t i = 0; i < r->m.n; i++)
        if (r->m.at[i].to == group) add_row(sum, r->m.at[i].row);
    return gf_centre_take_sum(sum, n_cols, c, err);
}

static gf_status read_centre(regrouping *r, uint32_t id, gf_centre *c, gf_error *err)
{
    gf_free(c->term);
    gf_free(c->value);
    *c = (gf_centre){.n = 0};
    gf_status st = gf_view_read_centre(r->e->view, id, &c->term, &c->value, &c->n, err);
    if (st == GF_OK) c->capacity = c->n;
    return st;
}

static bool is_touched(const regrouping *r, uint32_t id)
{
    for (size_t i = 0; i < r->m.n_clusters; i++)
        if (r->m.clusters[i] == id) return true;
    return false;
}

/* Centres of all clusters as they are afterwards. */
static gf_status make_centres(regrouping *r, gf_error *err)
{
    gf_view *v = r->e->view;
    uint32_t n_cols = v->info.terms, k = (uint32_t)(v->n_clusters - r->m.n_clusters) + r->n, at = 0;
    double *sum = gf_calloc((size_t)n_cols + 1, sizeof *sum);
    r->centre_ids = gf_array(k, sizeof *r->centre_ids);
    r->sizes = gf_calloc(k, sizeof *r->sizes);
    gf_status st = sum && r->centre_ids && r->sizes ? GF_OK : gf_fail_memory(err, "centres");
    if (st == GF_OK) st = gf_centres_init(&r->centres, k, n_cols, err);
    for (size_t i = 0; i < v->n_clusters && st == GF_OK; i++) {
        if (is_touched(r, v->clusters[i].id)) continue;
        r->centre_ids[at] = v->clusters[i].id;
        r->sizes[at] = v->clusters[i].size;
        st = read_centre(r, v->clusters[i].id, &r->centres.at[at++], err);
    }
    for (uint32_t g = 0; g < r->n && st == GF_OK; g++) {
        gf_centre *c = &r->centres.at[at];
        r->centre_ids[at] = r->ids[g];
        for (size_t i = 0; i < r->m.n; i++)
            r->sizes[at] += r->m.at[i].to == g;
        st = sum_group(r, g, n_cols, sum, c, err);
        if (st == GF_OK && c->n == 0) st = read_centre(r, r->ids[g], c, err);
        at++;
    }
    gf_free(sum);
    return st;
}

static const gf_centre *group_centre(const regrouping *r, uint32_t group)
{
    return &r->centres.at[r->centres.k - r->n + group];
}

/* Similarities of given rows may be below 0: a build keeps them from 0 to 1. */
static float within_1(double score)
{
    return score < 1 ? score > 0 ? (float)score : 0 : 1;
}

/* The next best centre beside the one that the member is in, by the two nearest. */
static void place_member(gf_edit_member *m, gf_nearest_two two, uint32_t own, const uint32_t *ids,
                         uint32_t k, double similarity)
{
    bool nearest = two.cluster == own;
    m->score = within_1(nearest ? two.similarity : similarity);
    m->runner_up = 0;
    m->second = 0;
    if (k < 2) return;
    m->runner_up = ids[nearest ? two.runner_up : two.cluster];
    m->second = within_1(nearest ? two.of_second : two.similarity);
}

static gf_status score_members(regrouping *r, gf_error *err)
{
    gf_nearest_centres locator;
    uint32_t k = r->centres.k;
    gf_centres copy = {0};
    gf_status st = gf_centres_copy(&r->centres, &copy, err);
    if (st == GF_OK) st = gf_nearest_centres_init(&locator, &copy, NULL, err);
    for (size_t i = 0; i < r->m.n && st == GF_OK; i++) {
        gf_edit_member *m = &r->m.at[i];
        uint32_t own = k - r->n + m->to;
        if (m->row.n == 0) { /* what it is next to is not known any more */
            if (is_touched(r, m->runner_up) || m->runner_up == r->ids[m->to])
                m->runner_up = 0, m->second = 0;
            continue;
        }
        gf_nearest_two two = gf_nearest_centres_find(&locator, 0, m->row);
        double similarity =
            two.cluster == own ? 0 : gf_csr_row_dot(m->row, gf_centre_row(group_centre(r, m->to)));
        place_member(m, two, own, r->centre_ids, k, similarity);
    }
    if (st == GF_OK) gf_nearest_centres_release(&locator);
    gf_centres_release(&copy);
    return st;
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* Groups are named by their texts also where the rows are none of texts. */
static gf_status sum_texts(regrouping *r, gf_error *err)
{
    gf_editing *e = r->e;
    gf_view *v = e->view;
    gf_status st = gf_view_load_model(v, err);
    uint32_t n_terms = v->model.vocabulary.n_terms;
    double *sum = gf_calloc((size_t)n_terms + 1, sizeof *sum);
    if (st == GF_OK && !sum) st = gf_fail_memory(err, "centres");
    if (st == GF_OK) st = gf_centres_init(&r->term_centres, r->n, n_terms, err);
    for (uint32_t g = 0; g < r->n && st == GF_OK; g++) {
        for (size_t i = 0; i < r->m.n && st == GF_OK; i++) {
            gf_row_view row;
            gf_document d;
            gf_field *fields = NULL;
            uint64_t seq;
            if (r->m.at[i].to != g || r->m.at[i].gone) continue;
            st = gf_state_document_row(v->state, r->m.at[i].id, &v->document_row, &d, &fields, &seq,
                                       err);
            if (st == GF_OK) st = gf_model_row(&v->model, d.language, d.text, &row, err);
            if (st == GF_OK) add_row(sum, row);
            gf_free(fields);
        }
        if (st == GF_OK) st = gf_centre_take_sum(sum, n_terms, &r->term_centres.at[g], err);
    }
    gf_free(sum);
    return st;
}

static gf_status keep_buffer(gf_editing *e, gf_buffer *b, gf_slice *out, gf_error *err)
{
    gf_status st = gf_buffer_check(b, err);
    if (st == GF_OK) *out = gf_arena_copy(&e->memory, gf_buffer_view(b));
    if (st == GF_OK && !out->ptr) st = gf_fail_memory(err, "an edit");
    gf_buffer_release(b);
    return st;
}

/* ---- near-duplicates ------------------------------------------------------------------------- */

static int by_old_rank(const void *a, const void *b)
{
    const gf_edit_member *x = *(gf_edit_member *const *)a, *y = *(gf_edit_member *const *)b;
    if (x->cells.score != y->cells.score) return x->cells.score > y->cells.score ? -1 : 1;
    return gf_slice_compare(x->id, y->id);
}

/* Copies among the members of a cluster, by its list. */
static gf_status read_copies(regrouping *r, uint32_t from, gf_slice list, gf_error *err)
{
    size_t n = 0;
    if (!list.ptr) return GF_OK;
    gf_edit_member **ranked = gf_array(r->m.n, sizeof(gf_edit_member *));
    uint32_t *first = gf_array(r->m.n, sizeof *first);
    gf_status st = ranked && first ? GF_OK : gf_fail_memory(err, "copies");
    for (size_t i = 0; i < r->m.n && st == GF_OK; i++)
        if (r->m.at[i].from == from) ranked[n++] = &r->m.at[i];
    if (st == GF_OK && n) qsort(ranked, n, sizeof(gf_edit_member *), by_old_rank);
    if (st == GF_OK) st = gf_copy_list_read(list, first, (uint32_t)n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        if (first[i] != i) r->copy_of[ranked[i] - r->m.at] = (uint32_t)(ranked[first[i]] - r->m.at);
    gf_free(ranked);
    gf_free(first);
    return st;
}

static gf_status write_copies(regrouping *r, uint32_t group, gf_group *out, gf_error *err)
{
    gf_edit_member *const *ranked = r->ranked + r->start[group];
    uint32_t n = r->start[group + 1] - r->start[group];
    uint32_t *first = gf_array(n, sizeof *first);
    uint32_t *place = gf_array(r->m.n, sizeof *place);
    gf_buffer bytes = {0};
    gf_status st = first && place ? GF_OK : gf_fail_memory(err, "copies");
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        uint32_t of = r->copy_of[ranked[i] - r->m.at];
        place[ranked[i] - r->m.at] = i;
        first[i] = i;
        if (of == UINT32_MAX || r->m.at[of].to != group) continue;
        /* The original comes before it in the ranking, or it counts as none. */
        bool before = r->m.at[of].score > ranked[i]->score ||
                      (r->m.at[of].score == ranked[i]->score &&
                       gf_slice_compare(r->m.at[of].id, ranked[i]->id) < 0);
        if (before) first[i] = place[of];
    }
    if (st == GF_OK) gf_copy_list_write(first, n, &bytes);
    if (st == GF_OK && bytes.len)
        st = keep_buffer(r->e, &bytes, &out->copies, err);
    else
        gf_buffer_release(&bytes);
    gf_free(first);
    gf_free(place);
    return st;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int by_new_rank(const void *a, const void *b)
{
    const gf_edit_member *x = *(gf_edit_member *const *)a, *y = *(gf_edit_member *const *)b;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return gf_slice_compare(x->id, y->id);
}

static gf_status rank_members(regrouping *r, gf_error *err)
{
    size_t n = r->m.n;
    r->ranked = gf_array(n, sizeof(gf_edit_member *));
    r->start = gf_calloc((size_t)r->n + 1, sizeof *r->start);
    r->copy_of = gf_array(n, sizeof *r->copy_of);
    if (!r->ranked || !r->start || !r->copy_of) return gf_fail_memory(err, "members");
    for (size_t i = 0; i < n; i++) {
        r->ranked[i] = &r->m.at[i];
        r->copy_of[i] = UINT32_MAX;
        r->start[r->m.at[i].to + 1]++;
    }
    for (uint32_t g = 0; g < r->n; g++)
        r->start[g + 1] += r->start[g];
    if (n) qsort(r->ranked, n, sizeof(gf_edit_member *), by_new_rank);
    return GF_OK;
}

static gf_status list_members(regrouping *r, uint32_t group, gf_group *out, gf_error *err)
{
    out->n = r->start[group + 1] - r->start[group];
    out->members = gf_arena_alloc(&r->e->memory, (out->n + 1) * sizeof *out->members);
    if (!out->members) return gf_fail_memory(err, "members");
    for (size_t i = 0; i < out->n; i++) {
        const gf_edit_member *m = r->ranked[r->start[group] + i];
        out->members[i] = (gf_group_member){m->id, m->score};
    }
    return GF_OK;
}

static gf_status write_times(regrouping *r, uint32_t group, gf_group *out, gf_error *err)
{
    uint32_t n = r->start[group + 1] - r->start[group];
    int32_t *hours = gf_array(n, sizeof *hours);
    gf_buffer bytes = {0};
    if (!hours) return gf_fail_memory(err, "documents by hour");
    for (uint32_t i = 0; i < n; i++) {
        const gf_membership_cells *c = &r->ranked[r->start[group] + i]->cells;
        hours[i] = c->dated ? c->hour : GF_NO_HOUR;
    }
    gf_hours_write(hours, n, &bytes);
    gf_free(hours);
    return keep_buffer(r->e, &bytes, &out->times, err);
}

/* Terms and centre of a group whose members have changed. */
static gf_status write_centre(regrouping *r, const gf_grouping *before, uint32_t group,
                              gf_group *out, gf_error *err)
{
    gf_buffer centre = {0}, terms = {0};
    const gf_centre *c = group_centre(r, group);
    gf_model_vector_write(gf_centre_row(c), &centre);
    gf_status st = keep_buffer(r->e, &centre, &out->centre, err);
    if (st != GF_OK) return st;
    if (r->term_centres.at) c = &r->term_centres.at[group];
    for (size_t i = 0; i < before->n && c->n == 0; i++)
        if (before->at[i].id == out->id) out->terms = before->at[i].terms;
    if (c->n == 0) return GF_OK;
    gf_build_write_terms(c, &r->e->view->model.vocabulary, &terms);
    return keep_buffer(r->e, &terms, &out->terms, err);
}

static uint32_t group_of(const regrouping *r, gf_slice id)
{
    for (size_t i = 0; i < r->m.n; i++)
        if (gf_slice_equal(r->m.at[i].id, id)) return r->m.at[i].to;
    return UINT32_MAX;
}

/* The sentence of the largest of the clusters before whose document is a member now. */
static void take_sentence(regrouping *r, const gf_grouping *before, uint32_t group, gf_group *out)
{
    size_t most = 0;
    for (size_t i = 0; i < before->n; i++) {
        const gf_group *b = &before->at[i];
        if (!b->sentence_of.ptr || b->n <= most || group_of(r, b->sentence_of) != group) continue;
        most = b->n;
        out->sentence = b->sentence;
        out->sentence_of = b->sentence_of;
    }
}

static gf_status read_before(regrouping *r, gf_grouping *out, gf_error *err)
{
    gf_editing *e = r->e;
    gf_view *v = e->view;
    out->n = r->m.n_clusters;
    out->k = v->info.k;
    out->objective = v->info.objective;
    out->at = gf_arena_alloc(&e->memory, (out->n + 1) * sizeof *out->at);
    gf_status st = out->at ? GF_OK : gf_fail_memory(err, "clusters");
    for (size_t c = 0; c < out->n && st == GF_OK; c++) {
        gf_group *g = &out->at[c];
        const gf_listed_cluster *listed = gf_view_find_cluster(v, r->m.clusters[c]);
        if (!listed)
            return gf_fail(err, GF_ECORRUPT,
                           "table memberships: a document is in cluster %" PRIu32
                           ", which its build has not",
                           r->m.clusters[c]);
        st = gf_groups_read_cluster(v, listed, &e->memory, g, err);
        if (st != GF_OK) break;
        for (size_t i = 0; i < r->m.n; i++)
            g->n += r->m.at[i].from == c;
        g->members = gf_arena_alloc(&e->memory, (g->n + 1) * sizeof *g->members);
        if (!g->members) return gf_fail_memory(err, "members");
        g->n = 0;
        for (size_t i = 0; i < r->m.n; i++)
            if (r->m.at[i].from == c)
                g->members[g->n++] = (gf_group_member){r->m.at[i].id, r->m.at[i].cells.score};
        gf_groups_rank(g->members, g->n);
    }
    return st == GF_OK ? gf_groups_read_tree(v, &e->memory, out, err) : st;
}

static int by_place_id(const void *a, const void *b)
{
    return gf_slice_compare(((const gf_group_place *)a)->id, ((const gf_group_place *)b)->id);
}

/* Places that change, as they were and as they are. */
static gf_status list_places(regrouping *r, gf_grouping *before, gf_grouping *after, gf_error *err)
{
    size_t most = r->m.n + r->m.n_others + 1, n = 0;
    gf_arena *memory = &r->e->memory;
    before->places = gf_arena_alloc(memory, most * sizeof *before->places);
    after->places = gf_arena_alloc(memory, most * sizeof *after->places);
    if (!before->places || !after->places) return gf_fail_memory(err, "memberships");
    for (size_t i = 0; i < r->m.n; i++) {
        const gf_edit_member *m = &r->m.at[i];
        const gf_membership_cells *c = &m->cells;
        gf_group_place was = {m->id, c->cluster, c->runner_up, c->score, c->second};
        gf_group_place now = {m->id, r->ids[m->to], m->runner_up, m->score, m->second};
        bool same = was.cluster == now.cluster && was.runner_up == now.runner_up &&
                    was.score == now.score && was.second == now.second;
        if (same) continue;
        before->places[n] = was;
        after->places[n++] = now;
    }
    for (size_t i = 0; i < r->m.n_others; i++) {
        before->places[n] = after->places[n] = r->m.others[i];
        after->places[n].runner_up = r->ids[0];
        if (after->places[n].cluster == r->ids[0])
            after->places[n].runner_up = 0, after->places[n].second = 0;
        n++;
    }
    before->n_places = after->n_places = n;
    if (n) qsort(before->places, n, sizeof *before->places, by_place_id);
    if (n) qsort(after->places, n, sizeof *after->places, by_place_id);
    return GF_OK;
}

static double objective_after(const regrouping *r)
{
    const gf_build_info *info = &r->e->view->info;
    double n = (double)(info->documents - info->without_terms - info->unplaced), gain = 0;
    for (size_t i = 0; i < r->m.n; i++)
        gain += (double)r->m.at[i].score - r->m.at[i].cells.score;
    return n > 0 ? info->objective + gain / n : info->objective;
}

static gf_status fill_group(regrouping *r, const gf_grouping *before, uint32_t group, gf_group *out,
                            gf_error *err)
{
    gf_status st = list_members(r, group, out, err);
    if (st == GF_OK) st = write_times(r, group, out, err);
    if (st == GF_OK) st = write_copies(r, group, out, err);
    if (st == GF_OK) take_sentence(r, before, group, out);
    if (st == GF_OK && !r->moves) st = write_centre(r, before, group, out, err);
    return st;
}

/* Label, terms, title and centre stay with a cluster whose centre does not move. */
static void keep_centre(const gf_grouping *before, uint32_t id, gf_group *out)
{
    for (size_t i = 0; i < before->n; i++) {
        const gf_group *b = &before->at[i];
        if (b->id != id) continue;
        out->label = b->label;
        out->terms = b->terms;
        out->figures = b->figures;
        out->title = b->title;
        out->title_model = b->title_model;
        out->title_prompt = b->title_prompt;
        out->centre = b->centre;
    }
}

/* Members know their groups; all else follows. */
static gf_status regroup(regrouping *r, gf_regrouped *out, gf_error *err)
{
    gf_editing *e = r->e;
    gf_grouping *before = &out->before, *after = &out->after;
    gf_status st = rank_members(r, err);
    if (st == GF_OK) st = read_before(r, before, err);
    for (uint32_t c = 0; c < r->m.n_clusters && st == GF_OK; c++)
        st = read_copies(r, c, before->at[c].copies, err);
    if (st != GF_OK) return st;
    after->n = r->n;
    after->at = gf_arena_alloc(&e->memory, (r->n + 1) * sizeof *after->at);
    if (!after->at) return gf_fail_memory(err, "clusters");
    for (uint32_t g = 0; g < r->n && st == GF_OK; g++) {
        after->at[g] = (gf_group){.id = r->ids[g]};
        if (r->moves) keep_centre(before, r->ids[g], &after->at[g]);
        st = fill_group(r, before, g, &after->at[g], err);
    }
    if (st == GF_OK) st = list_places(r, before, after, err);
    after->k = (uint32_t)(e->view->n_clusters - r->m.n_clusters) + r->n;
    after->objective = objective_after(r);
    after->tree = before->tree;
    after->group_ids = before->group_ids;
    if (st == GF_OK && !r->moves)
        st = gf_edit_name(e, after->at, after->n, r->m.clusters, r->m.n_clusters, err);
    if (st == GF_OK && !r->moves)
        st = gf_edit_tree(e, before, after, &r->centres, r->centre_ids, r->sizes, err);
    out->ids = gf_arena_alloc(&e->memory, (r->m.n_clusters + 1) * sizeof *out->ids);
    if (st == GF_OK && !out->ids) st = gf_fail_memory(err, "clusters");
    if (st != GF_OK) return st;
    memcpy(out->ids, r->m.clusters, r->m.n_clusters * sizeof *out->ids);
    out->n_ids = r->m.n_clusters;
    return GF_OK;
}

static gf_status place_again(regrouping *r, gf_error *err)
{
    gf_status st = make_centres(r, err);
    if (st == GF_OK) st = score_members(r, err);
    if (st == GF_OK && r->e->view->info.rows != GF_ROWS_OF_TEXTS) st = sum_texts(r, err);
    return st;
}

/* ---- merge ----------------------------------------------------------------------------------- */

gf_status gf_regroup_merge(gf_editing *e, const gf_edit *edit, gf_regrouped *out, gf_error *err)
{
    size_t n = 1 + edit->n_others;
    uint32_t *ids = gf_arena_alloc(&e->memory, n * sizeof *ids);
    if (!ids) return gf_fail_memory(err, "clusters");
    ids[0] = edit->cluster;
    memcpy(ids + 1, edit->others, edit->n_others * sizeof *ids);
    regrouping r = {
        .e = e, .m = {.clusters = ids, .n_clusters = n, .ends = true}, .ids = ids, .n = 1};
    gf_status st = gf_edit_members_read(e, &r.m, err);
    if (st == GF_OK) st = gf_edit_members_read_rows(e, &r.m, err);
    if (st == GF_OK) st = place_again(&r, err);
    if (st == GF_OK) st = regroup(&r, out, err);
    release(&r);
    return st;
}

/* ---- split ----------------------------------------------------------------------------------- */

static gf_edit_member *find_member(const gf_edit_members *m, gf_slice id)
{
    size_t from = 0, to = m->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (gf_slice_compare(m->at[middle].id, id) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < m->n && gf_slice_equal(m->at[from].id, id) ? &m->at[from] : NULL;
}

/*
 * Documents that are in the cluster by word of a person stay where the id does, and those that are kept in a part of a
 * split that is made again stay in that part; the last word counts.
 */
static gf_status keep_placed(regrouping *r, gf_error *err)
{
    const gf_kept_edits *edits = &r->e->edits;
    bool *said = gf_calloc(r->m.n + 1, sizeof *said);
    if (!said) return gf_fail_memory(err, "members");
    for (size_t i = edits->n; i-- > 0;) {
        const gf_edit *x = &edits->at[i].edit;
        bool places = x->kind == GF_EDIT_MOVE || x->kind == GF_EDIT_KEEP;
        gf_edit_member *m = places ? find_member(&r->m, x->document) : NULL;
        if (!m || said[m - r->m.at]) continue;
        said[m - r->m.at] = true;
        uint32_t id = gf_edits_called_after(edits, i, x->cluster);
        for (uint32_t g = 0; g < (x->kind == GF_EDIT_KEEP ? r->n : 1); g++)
            if (r->ids[g] == id) m->to = g;
    }
    gf_free(said);
    return GF_OK;
}

static gf_status copy_rows(const regrouping *r, uint32_t n, uint64_t nnz, gf_csr *x, gf_error *err)
{
    gf_status st = gf_csr_init(x, n, r->e->view->info.terms, nnz, err);
    uint32_t at = 0;
    if (st != GF_OK) return st;
    x->start[0] = 0;
    for (size_t i = 0; i < r->m.n; i++) {
        gf_row_view row = r->m.at[i].row;
        if (row.n == 0) continue;
        uint64_t from = x->start[at];
        memcpy(x->col + from, row.col, row.n * sizeof *row.col);
        memcpy(x->val + from, row.val, row.n * sizeof *row.val);
        x->start[++at] = from + row.n;
    }
    return GF_OK;
}

/* Parts by k-means, the largest first; what has no row goes with the largest. */
static gf_status cut(regrouping *r, uint32_t parts, gf_error *err)
{
    gf_csr x = {0};
    gf_kmeans result = {0};
    uint32_t n = 0, at = 0;
    uint64_t nnz = 0;
    for (size_t i = 0; i < r->m.n; i++) {
        n += r->m.at[i].row.n > 0;
        nnz += r->m.at[i].row.n;
    }
    uint32_t cluster = r->m.clusters[0];
    if (n < parts)
        return gf_fail(err, GF_EINVAL,
                       "cluster %" PRIu32 " has %" PRIu32
                       " document%s: it cannot be split into %" PRIu32,
                       cluster, n, n == 1 ? "" : "s", parts);
    gf_status st = copy_rows(r, n, nnz, &x, err);
    gf_kmeans_options o = {.k = parts, .seed = 1};
    if (st == GF_OK) st = gf_kmeans_run(NULL, &x, &o, &result, err);
    if (st == GF_OK && result.k < parts)
        st = gf_fail(err, GF_EINVAL,
                     "cluster %" PRIu32 " has %" PRIu32
                     " distinct document%s: it cannot be split into %" PRIu32,
                     cluster, result.distinct, result.distinct == 1 ? "" : "s", parts);
    for (size_t i = 0; i < r->m.n && st == GF_OK; i++) {
        gf_edit_member *m = &r->m.at[i];
        m->to = m->row.n ? result.label[at++] : 0;
    }
    if (st == GF_OK) st = keep_placed(r, err);
    gf_kmeans_release(&result);
    gf_csr_release(&x);
    return st;
}

/* Each part has a document, also after those that are placed went to the first. */
static gf_status check_parts(const regrouping *r, gf_error *err)
{
    for (uint32_t g = 0; g < r->n; g++) {
        bool any = false;
        for (size_t i = 0; i < r->m.n && !any; i++)
            any = r->m.at[i].to == g && r->m.at[i].row.n;
        if (!any)
            return gf_fail(err, GF_EINVAL,
                           "cluster %" PRIu32 " cannot be split so: too many of its documents were "
                           "moved there, or are kept there, by hand",
                           r->m.clusters[0]);
    }
    return GF_OK;
}

gf_status gf_regroup_split(gf_editing *e, gf_edit *edit, uint32_t parts, gf_regrouped *out,
                           gf_error *err)
{
    uint32_t *ids = gf_arena_alloc(&e->memory, parts * sizeof *ids);
    uint64_t next = out->next_id;
    if (!ids) return gf_fail_memory(err, "clusters");
    if (next + parts - 1 > UINT32_MAX)
        return gf_fail(err, GF_ELIMIT, "this configuration has used up its cluster ids");
    ids[0] = edit->cluster;
    for (uint32_t i = 1; i < parts; i++)
        ids[i] = edit->n_others ? edit->others[i - 1] : (uint32_t)next++;
    regrouping r = {.e = e, .m = {.clusters = ids, .n_clusters = 1}, .ids = ids, .n = parts};
    gf_status st = gf_edit_members_read(e, &r.m, err);
    if (st == GF_OK) st = gf_edit_members_read_rows(e, &r.m, err);
    if (st == GF_OK) st = cut(&r, parts, err);
    if (st == GF_OK) st = check_parts(&r, err);
    if (st == GF_OK) st = place_again(&r, err);
    if (st == GF_OK) st = regroup(&r, out, err);
    release(&r);
    edit->others = ids + 1;
    edit->n_others = parts - 1;
    out->next_id = next;
    return st;
}

/* ---- move ------------------------------------------------------------------------------------ */

/* The similarity to the centre that the document goes to, and to the nearest of the others. */
static gf_status place_moved(regrouping *r, gf_edit_member *m, uint32_t to, gf_error *err)
{
    gf_view *v = r->e->view;
    m->runner_up = 0;
    m->second = 0;
    m->score = 0;
    gf_status st = gf_edit_members_read_row(r->e, m, err);
    for (size_t i = 0; i < v->n_clusters && st == GF_OK && m->row.n; i++) {
        uint32_t *term = NULL, n = 0;
        float *value = NULL;
        st = gf_view_read_centre(v, v->clusters[i].id, &term, &value, &n, err);
        if (st != GF_OK) break;
        float similarity = within_1(gf_csr_row_dot(m->row, (gf_row_view){term, value, n}));
        gf_free(term);
        gf_free(value);
        if (v->clusters[i].id == to) {
            m->score = similarity;
        } else if (m->runner_up == 0 || similarity > m->second) {
            m->runner_up = v->clusters[i].id;
            m->second = similarity;
        }
    }
    return st;
}

gf_status gf_regroup_move(gf_editing *e, const gf_edit *edit, gf_regrouped *out, gf_error *err)
{
    gf_membership_cells cells;
    uint32_t *ids = gf_arena_alloc(&e->memory, 2 * sizeof *ids);
    if (!ids) return gf_fail_memory(err, "clusters");
    gf_status st = gf_view_read_cells(e->view, edit->document, &cells, err);
    if (st != GF_OK) return st;
    ids[0] = edit->cluster;
    ids[1] = cells.cluster;
    regrouping r = {
        .e = e, .m = {.clusters = ids, .n_clusters = 2}, .ids = ids, .n = 2, .moves = true};
    st = gf_edit_members_read(e, &r.m, err);
    uint32_t left = 0;
    for (size_t i = 0; i < r.m.n && st == GF_OK; i++) {
        gf_edit_member *m = &r.m.at[i];
        m->to = m->from;
        left += m->from == 1;
        if (!gf_slice_equal(m->id, edit->document)) continue;
        m->to = 0;
        st = place_moved(&r, m, ids[0], err);
    }
    if (st == GF_OK && left == 1)
        st = gf_fail(err, GF_EINVAL,
                     "cluster %" PRIu32 " has no other document: merge it into cluster %" PRIu32
                     " instead",
                     ids[1], ids[0]);
    if (st == GF_OK) st = regroup(&r, out, err);
    release(&r);
    return st;
}
