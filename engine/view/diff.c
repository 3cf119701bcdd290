/*
 * Two builds of a configuration, compared: what became of each cluster, and of each document.
 *
 *     memberships of the earlier build   a:1  b:1  c:4       e:4     in the order of ids
 *     memberships of the later one       a:1       c:1  d:4  e:4     likewise
 *     so of the documents                stayed    moved     stayed; b is removed, d is added
 *
 * Both walks go side by side. Of the later build only documents count that are still there, so that
 * no id of a document is shown that has been deleted since.
 */
#include "engine/view/view.h"

#include "base/grow.h"
#include "base/memory.h"
#include "cluster/measure/match.h"
#include "grouperfish/changes.h"

#include <stdlib.h>

/* ---- documents side by side ------------------------------------------------------------------ */

/* Place of a document's cluster among those of its view; that behind the last for no cluster. */
#define ABSENT GF_UNMATCHED /* the build does not have the document */

typedef gf_status each_document(void *context, gf_slice id, uint32_t before, uint32_t now,
                                gf_error *err);

typedef struct pairing {
    gf_view *earlier, *later;
    const gf_cancel *cancel;
    gf_scan *scan; /* over the earlier build's memberships: always one ahead */
    gf_row row;
    gf_buffer id;
    uint32_t before;
    bool more;
    each_document *each;
    void *context;
} pairing;

static gf_status place_of(const gf_view *v, uint32_t cluster, uint32_t *place, gf_error *err)
{
    const gf_listed_cluster *c = gf_view_find_cluster(v, cluster);
    if (!c && cluster) return gf_fail(err, GF_ECORRUPT, "there is no cluster %u", cluster);
    *place = (uint32_t)(c ? (size_t)(c - v->clusters) : v->n_clusters);
    return GF_OK;
}

static gf_status step_earlier(pairing *p, gf_error *err)
{
    gf_membership_cells m;
    gf_status st = gf_cancel_check(p->cancel, err);
    if (st == GF_OK) st = gf_scan_step(p->scan, &p->row, &p->more, err);
    if (st != GF_OK || !p->more) return st;
    gf_buffer_reset(&p->id);
    st = gf_tables_key_last_string(p->earlier->store->tables.memberships, p->row.key, &p->id, err);
    if (st == GF_OK) st = gf_tables_membership_read(&p->row, GF_MEMBERSHIPS_MAIN, &m, err);
    return st == GF_OK ? place_of(p->earlier, m.cluster, &p->before, err) : st;
}

/* Documents of the earlier build before that id, or all that are left. */
static gf_status visit_removed(pairing *p, const gf_slice *up_to, gf_error *err)
{
    gf_status st = GF_OK;
    while (st == GF_OK && p->more) {
        gf_slice id = gf_buffer_view(&p->id);
        if (up_to && gf_slice_compare(id, *up_to) >= 0) break;
        st = p->each(p->context, id, p->before, ABSENT, err);
        if (st == GF_OK) st = step_earlier(p, err);
    }
    return st;
}

static gf_status pair_document(void *context, gf_slice id, const gf_membership_cells *cells,
                               const gf_row *document, gf_error *err)
{
    pairing *p = context;
    uint32_t now = ABSENT;
    (void)document;
    gf_status st = gf_cancel_check(p->cancel, err);
    if (st == GF_OK) st = place_of(p->later, cells->cluster, &now, err);
    if (st == GF_OK) st = visit_removed(p, &id, err);
    if (st != GF_OK) return st;
    if (!p->more || !gf_slice_equal(gf_buffer_view(&p->id), id))
        return p->each(p->context, id, ABSENT, now, err);
    st = p->each(p->context, id, p->before, now, err);
    return st == GF_OK ? step_earlier(p, err) : st;
}

static gf_status walk_both(pairing *p, gf_error *err)
{
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = p->earlier->snapshot, .family = GF_MEMBERSHIPS_MAIN,
                        .prefix = gf_buffer_view(&p->earlier->key));
    gf_status st = gf_scan_open(p->earlier->store->tables.memberships, &o, &p->scan, err);
    if (st == GF_OK) st = step_earlier(p, err);
    if (st == GF_OK) st = gf_view_each_member(p->later, pair_document, p, err);
    if (st == GF_OK) st = visit_removed(p, NULL, err);
    gf_scan_close(p->scan);
    gf_row_release(&p->row);
    gf_buffer_release(&p->id);
    return st;
}

static gf_status load_both(gf_view *earlier, gf_view *later, gf_error *err)
{
    if (!gf_slice_equal(earlier->where.name_space, later->where.name_space) ||
        !gf_slice_equal(earlier->where.collection, later->where.collection) ||
        !gf_slice_equal(earlier->configuration, later->configuration))
        return gf_fail(err, GF_EINVAL, "builds of two configurations cannot be compared");
    gf_status st = gf_view_load_clusters(earlier, err);
    return st == GF_OK ? gf_view_load_clusters(later, err) : st;
}

/* ---- documents that moved -------------------------------------------------------------------- */

typedef struct moves {
    const gf_view *earlier, *later;
    gf_visit_moved *visit;
    void *context;
} moves;

static void name_cluster(const gf_view *v, uint32_t place, uint32_t *id, gf_slice *label)
{
    bool none = place == v->n_clusters;
    *id = none ? 0 : v->clusters[place].id;
    *label = none ? gf_view_label_of_none(v) : v->clusters[place].label;
}

static gf_status look_at_move(void *context, gf_slice id, uint32_t before, uint32_t now,
                              gf_error *err)
{
    const moves *m = context;
    gf_moved moved = {.id = id};
    if (before == ABSENT || now == ABSENT) return GF_OK;
    name_cluster(m->earlier, before, &moved.from, &moved.from_label);
    name_cluster(m->later, now, &moved.to, &moved.to_label);
    return moved.from == moved.to ? GF_OK : m->visit(m->context, &moved, err);
}

gf_status gf_diff_documents(gf_view *earlier, gf_view *later, const gf_cancel *cancel,
                            gf_visit_moved *visit, void *context, gf_error *err)
{
    moves m = {earlier, later, visit, context};
    pairing p = {
        .earlier = earlier, .later = later, .cancel = cancel, .each = look_at_move, .context = &m};
    gf_status st = load_both(earlier, later, err);
    return st == GF_OK ? walk_both(&p, err) : st;
}

/* ---- clusters -------------------------------------------------------------------------------- */

typedef struct comparison {
    const gf_view *earlier, *later;
    gf_cluster_change *rows; /* n_rows: clusters of either, by id; then as they are visited */
    size_t n_rows, rows_capacity;
    uint32_t *row_before;   /* clusters of the earlier build: places in rows */
    uint32_t *row_now;      /* clusters of the later one: likewise */
    uint32_t *before, *now; /* n of capacity: clusters of the documents in both */
    uint32_t n;
    size_t capacity;
} comparison;

static void release_comparison(comparison *c)
{
    gf_free(c->rows);
    gf_free(c->row_before);
    gf_free(c->row_now);
    gf_free(c->before);
    gf_free(c->now);
}

/* Both lists are by id: one row for an id of either. */
static void pair_clusters(comparison *c)
{
    const gf_view *a = c->earlier, *b = c->later;
    for (size_t i = 0, j = 0; i < a->n_clusters || j < b->n_clusters;) {
        const gf_listed_cluster *old = i < a->n_clusters ? &a->clusters[i] : NULL;
        const gf_listed_cluster *new = j < b->n_clusters ? &b->clusters[j] : NULL;
        if (old && new && old->id < new->id) new = NULL;
        if (old && new && old->id > new->id) old = NULL;
        if (old) c->row_before[i++] = (uint32_t)c->n_rows;
        if (new) c->row_now[j++] = (uint32_t)c->n_rows;
        c->rows[c->n_rows++] =
            (gf_cluster_change){.fate = !new   ? GF_FATE_GONE
                                        : !old ? GF_FATE_NEW
                                               : GF_FATE_CONTINUED,
                                .cluster = old ? old->id : new->id,
                                .label = new ? new->label : old->label,
                                .label_before = old ? old->label : (gf_slice){"", 0}};
    }
}

static gf_status begin_comparison(comparison *c, gf_error *err)
{
    size_t k_a = c->earlier->n_clusters, k_b = c->later->n_clusters;
    c->rows = gf_array(k_a + k_b + 1, sizeof *c->rows);
    c->rows_capacity = k_a + k_b + 1;
    c->row_before = gf_array(k_a + 1, sizeof *c->row_before);
    c->row_now = gf_array(k_b + 1, sizeof *c->row_now);
    if (!c->rows || !c->row_before || !c->row_now) return gf_fail_memory(err, "clusters");
    pair_clusters(c);
    return GF_OK;
}

static gf_status count_document(void *context, gf_slice id, uint32_t before, uint32_t now,
                                gf_error *err)
{
    comparison *c = context;
    (void)id;
    if (now == ABSENT) {
        if (before < c->earlier->n_clusters) c->rows[c->row_before[before]].removed++;
        return GF_OK;
    }
    if (before == ABSENT) {
        if (now < c->later->n_clusters) c->rows[c->row_now[now]].added++;
        return GF_OK;
    }
    if (c->n == UINT32_MAX) return gf_fail(err, GF_ELIMIT, "too many documents");
    size_t same = c->capacity; /* the two arrays grow alike */
    if (!gf_grow(&c->before, &same, (size_t)c->n + 1, sizeof *c->before) ||
        !gf_grow(&c->now, &c->capacity, (size_t)c->n + 1, sizeof *c->now))
        return gf_fail_memory(err, "documents");
    c->before[c->n] = before;
    c->now[c->n++] = now;
    return GF_OK;
}

/* A part is a quarter or more, so that there are at most four; the largest comes first. */
static void add_part(gf_flow *parts, size_t *n, const gf_listed_cluster *other, uint64_t documents,
                     uint64_t of)
{
    if (documents * GF_CHANGE_MOST_PARTS < of) return;
    size_t at = (*n)++;
    for (; at > 0 && parts[at - 1].documents < documents; at--)
        parts[at] = parts[at - 1];
    parts[at] = (gf_flow){other->id, other->label, documents};
}

static void add_overlap(comparison *c, const gf_overlaps *o, const gf_overlap *both)
{
    const gf_view *a = c->earlier, *b = c->later;
    gf_cluster_change *old = both->a < a->n_clusters ? &c->rows[c->row_before[both->a]] : NULL;
    gf_cluster_change *new = both->b < b->n_clusters ? &c->rows[c->row_now[both->b]] : NULL;
    if (old && old == new) {
        old->stayed = both->shared;
    } else {
        if (old) old->left += both->shared;
        if (new) new->came += both->shared;
    }
    if (!old || !new) return;
    add_part(old->split, &old->n_split, &b->clusters[both->b], both->shared, o->size_a[both->a]);
    add_part(new->merged, &new->n_merged, &a->clusters[both->a], both->shared, o->size_b[both->b]);
}

static void complete_rows(comparison *c)
{
    for (size_t i = 0; i < c->n_rows; i++) {
        gf_cluster_change *r = &c->rows[i];
        r->size_before = r->stayed + r->left + r->removed;
        r->size = r->stayed + r->came + r->added;
        if (r->n_split < 2) r->n_split = 0;
        if (r->n_merged < 2) r->n_merged = 0;
    }
}

/* ---- candidates ------------------------------------------------------------------------------ */

static gf_cluster_change *find_row(comparison *c, uint32_t id)
{
    for (size_t i = 0; i < c->n_rows; i++)
        if (c->rows[i].cluster == id) return &c->rows[i];
    return NULL;
}

/* A candidate that a cluster has gone on from, or one that has ended. */
static gf_status add_candidate(comparison *c, const gf_candidate_fate *f, gf_error *err)
{
    gf_cluster_change *row = find_row(c, f->id);
    if (row) {
        row->candidate = f->size;
        row->label_before = f->label;
        return GF_OK;
    }
    if (!gf_grow(&c->rows, &c->rows_capacity, c->n_rows + 1, sizeof *c->rows))
        return gf_fail_memory(err, "clusters");
    row = &c->rows[c->n_rows++];
    *row = (gf_cluster_change){.fate = GF_FATE_GONE,
                               .cluster = f->id,
                               .label = f->label,
                               .label_before = f->label,
                               .candidate = f->size};
    for (size_t i = 0; i < f->n_parts; i++) {
        const gf_listed_cluster *now = gf_view_find_cluster(c->later, f->parts[i].cluster);
        if (now) row->split[row->n_split++] = (gf_flow){now->id, now->label, f->parts[i].documents};
    }
    return GF_OK;
}

/* Candidates that the later build was made with, where the earlier one was served then. */
static gf_status add_candidates(comparison *c, gf_view *later, gf_error *err)
{
    gf_row row = {0};
    uint64_t build;
    gf_candidate_fate f;
    gf_status st =
        gf_table_get_cell(later->store->tables.builds, later->snapshot, gf_buffer_view(&later->key),
                          GF_BUILDS_MODEL, GF_SLICE("candidates"), 1, &row, err);
    gf_slice bytes = {"", 0};
    if (st == GF_OK) bytes = gf_arena_copy(&later->memory, row.cells[0].value);
    gf_row_release(&row);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st == GF_OK && !bytes.ptr) st = gf_fail_memory(err, "candidates");
    if (st != GF_OK) return st;
    bool good = gf_slice_take_varint(&bytes, &build);
    if (good && build != (uint64_t)c->earlier->info.build) return GF_OK;
    while (st == GF_OK && good && bytes.len) {
        good = gf_candidate_fate_take(&bytes, &f);
        if (good) st = add_candidate(c, &f, err);
    }
    return st == GF_OK && !good ? gf_fail(err, GF_ECORRUPT, "the candidates of a build are damaged")
                                : st;
}

static int by_fate(const void *a, const void *b)
{
    const gf_cluster_change *x = a, *y = b;
    if (x->fate != y->fate) return x->fate < y->fate ? -1 : 1;
    bool goes_on = x->fate == GF_FATE_CONTINUED;
    uint64_t of_x = goes_on ? x->came + x->left : x->size_before + x->size;
    uint64_t of_y = goes_on ? y->came + y->left : y->size_before + y->size;
    if (x->fate == GF_FATE_GONE) of_x += x->candidate;
    if (y->fate == GF_FATE_GONE) of_y += y->candidate;
    if (of_x != of_y) return of_x > of_y ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static gf_status compare_clusters(comparison *c, gf_view *later, gf_error *err)
{
    gf_overlaps o = {0};
    if (c->n) {
        uint32_t k_a = (uint32_t)c->earlier->n_clusters, k_b = (uint32_t)c->later->n_clusters;
        gf_status st = gf_match_overlaps_count(c->before, c->now, c->n, k_a + 1, k_b + 1, &o, err);
        if (st != GF_OK) return st;
    }
    for (size_t i = 0; i < o.n; i++)
        add_overlap(c, &o, &o.at[i]);
    complete_rows(c);
    gf_match_overlaps_release(&o);
    gf_status added = add_candidates(c, later, err);
    if (added == GF_OK && c->n_rows) qsort(c->rows, c->n_rows, sizeof *c->rows, by_fate);
    return added;
}

gf_status gf_diff(gf_view *earlier, gf_view *later, const gf_cancel *cancel, gf_visit_change *visit,
                  void *context, gf_error *err)
{
    comparison c = {.earlier = earlier, .later = later};
    pairing p = {.earlier = earlier,
                 .later = later,
                 .cancel = cancel,
                 .each = count_document,
                 .context = &c};
    gf_status st = load_both(earlier, later, err);
    if (st == GF_OK) st = begin_comparison(&c, err);
    if (st == GF_OK) st = walk_both(&p, err);
    if (st == GF_OK) st = compare_clusters(&c, later, err);
    for (size_t i = 0; i < c.n_rows && st == GF_OK; i++)
        st = visit(context, &c.rows[i], err);
    release_comparison(&c);
    return st;
}
