/* Check of one build: what its rows say of its clusters and documents, each in several places. */
#include "engine/upkeep/verify_internal.h"

#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/hours.h"
#include "engine/search/check.h"
#include "engine/upkeep/verify.h"
#include "engine/upkeep/verify_best.h"
#include "engine/view/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct counted_cluster {
    uint32_t id;
    uint64_t size, documents, ranked, members; /* said; found in each place */
    uint64_t hours;                            /* mix_hour of the members', summed */
    /* mix_member summed: of its list, of its ranking, of the memberships that name it as either
       would have them */
    uint64_t mixed_list, mixed_ranks, mixed_members, mixed_members_ranked;
} counted_cluster;

typedef struct build_check {
    gf_verifying *c;
    gf_view *view;
    const char *where;
    counted_cluster *clusters; /* info.k */
    uint64_t members, without_terms, unplaced, hours_without_terms;
    gf_buffer id, key; /* of the membership at hand: its document's, its cluster's */
    gf_row listed;
} build_check;

static int by_cluster_id(const void *a, const void *b)
{
    const counted_cluster *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* They rise by id, as those of the view do. */
static counted_cluster *find_counted(const build_check *b, uint32_t id)
{
    counted_cluster wanted = {.id = id};
    uint32_t k = b->view->info.k;
    return k ? bsearch(&wanted, b->clusters, k, sizeof wanted, by_cluster_id) : NULL;
}

static uint64_t mix_bits(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    v = (v ^ v >> 27) * UINT64_C(0x94D049BB133111EB);
    return v ^ v >> 31;
}

/* Sums of these differ where members do, or their scores: the list of a cluster, its ranking and the
   memberships are compared by them, whatever order each has. */
static uint64_t mix_member(gf_slice id, float score)
{
    uint64_t v = UINT64_C(0xCBF29CE484222325);
    uint32_t bits = 0;
    if (score != 0) memcpy(&bits, &score, sizeof bits);
    for (size_t i = 0; i < id.len; i++)
        v = (v ^ (unsigned char)id.ptr[i]) * UINT64_C(0x100000001B3);
    return mix_bits(v + bits * UINT64_C(0x9E3779B97F4A7C15));
}

static uint64_t mix_listed(const gf_cell *cell)
{
    double score;
    bool good = gf_number_read_decimal(cell->value, &score);
    return mix_member(cell->qualifier, good ? (float)score : -1);
}

static uint64_t mix_ranked(const gf_cell *cell)
{
    float score;
    gf_slice id;
    return gf_tables_rank_read(cell->qualifier, &score, &id) ? mix_member(id, score) : 0;
}

static gf_status count_cells(build_check *b, unsigned family, gf_slice label, uint64_t *n,
                             uint64_t *mixed, gf_error *err)
{
    gf_view *v = b->view;
    gf_buffer key = {0};
    gf_scan *scan = NULL;
    bool ranked = family == GF_CLUSTERS_RANKED;
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), label);
    gf_status st = gf_buffer_check(&key, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = family,
                                        .prefix = gf_buffer_view(&key), .keys_only = ranked);
    if (st == GF_OK) st = gf_scan_open(v->store->tables.clusters, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &v->row, err)) == GF_OK) {
        *mixed += ranked ? mix_ranked(&v->row.cells[0]) : mix_listed(&v->row.cells[0]);
        ++*n;
    }
    gf_scan_close(scan);
    gf_buffer_release(&key);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status count_clusters(build_check *b, gf_error *err)
{
    gf_view *v = b->view;
    gf_status st = GF_OK;
    for (size_t i = 0; i < v->n_clusters && st == GF_OK; i++) {
        counted_cluster *c = &b->clusters[i];
        gf_slice label = v->clusters[i].own_label;
        *c = (counted_cluster){.id = v->clusters[i].id, .size = v->clusters[i].size};
        st = count_cells(b, GF_CLUSTERS_DOCUMENTS, label, &c->documents, &c->mixed_list, err);
        if (st == GF_OK)
            st = count_cells(b, GF_CLUSTERS_RANKED, label, &c->ranked, &c->mixed_ranks, err);
        if (st == GF_OK) st = gf_cancel_check(b->c->audit.cancel, err);
    }
    return st;
}

/* The list of a cluster has each of its members, with the score that the membership has. */
static gf_status look_in_list(build_check *b, gf_slice id, const gf_membership_cells *m,
                              gf_error *err)
{
    gf_view *v = b->view;
    double score;
    gf_buffer_reset(&b->key);
    gf_tables_cluster_key(&b->key, gf_buffer_view(&v->key),
                          gf_view_find_cluster(v, m->cluster)->own_label);
    gf_status st = gf_buffer_check(&b->key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(v->store->tables.clusters, v->snapshot, gf_buffer_view(&b->key),
                               GF_CLUSTERS_DOCUMENTS, id, 1, &b->listed, err);
    if (st == GF_ENOTFOUND)
        return gf_audit_fault(&b->c->audit, b->where, err,
                              "document \"%.*s\" is not in the list of cluster %" PRIu32,
                              GF_SLICE_ARG(id), m->cluster);
    if (st != GF_OK) return gf_audit_read(&b->c->audit, st, b->where, err);
    if (gf_number_read_decimal(b->listed.cells[0].value, &score) && (float)score == m->score)
        return GF_OK;
    return gf_audit_fault(&b->c->audit, b->where, err,
                          "document \"%.*s\" has two scores in cluster %" PRIu32, GF_SLICE_ARG(id),
                          m->cluster);
}

/* Sums of these differ where numbers of documents by hour do. */
static uint64_t mix_hour(const gf_membership_cells *m)
{
    uint64_t v = m->dated ? (uint64_t)m->hour * UINT64_C(0x9E3779B97F4A7C15) + 1 : 0;
    v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return v ^ v >> 31;
}

/* The membership at hand and its document's id, which is borrowed from the row or from b->id. */
static gf_status read_membership(build_check *b, const gf_row *row, gf_slice *id,
                                 gf_membership_cells *m, gf_error *err)
{
    gf_status st = gf_tables_key_rest_string(b->view->store->tables.memberships, row->key,
                                             b->view->key.len, &b->id, id, err);
    return st == GF_OK ? gf_tables_membership_read(row, GF_MEMBERSHIPS_MAIN, m, err) : st;
}

static gf_status count_membership(build_check *b, const gf_row *row, gf_error *err)
{
    gf_membership_cells m;
    gf_slice id;
    gf_status st = read_membership(b, row, &id, &m, err);
    if (st != GF_OK) return gf_audit_read(&b->c->audit, st, b->where, err);
    b->members++;
    b->c->found.memberships++;
    if (m.cluster == 0) {
        *(m.runner_up ? &b->unplaced : &b->without_terms) += 1;
        b->hours_without_terms += mix_hour(&m);
        return GF_OK;
    }
    counted_cluster *c = find_counted(b, m.cluster);
    if (!c)
        return gf_audit_fault(&b->c->audit, b->where, err,
                              "a document is in cluster %" PRIu32 ", which is missing", m.cluster);
    c->members++;
    c->hours += mix_hour(&m);
    c->mixed_members += mix_member(id, m.score);
    c->mixed_members_ranked += mix_member(id, m.score > 0 ? m.score : 0);
    if (m.runner_up && !find_counted(b, m.runner_up))
        return gf_audit_fault(&b->c->audit, b->where, err,
                              "a runner-up is cluster %" PRIu32 ", which is missing", m.runner_up);
    return GF_OK;
}

/* Members whose cluster's list is not that of its members are looked for in it one by one. */
static gf_status compare_membership(build_check *b, const gf_row *row, gf_error *err)
{
    gf_membership_cells m;
    gf_slice id;
    if (read_membership(b, row, &id, &m, NULL) != GF_OK) return GF_OK; /* told of already */
    const counted_cluster *c = m.cluster ? find_counted(b, m.cluster) : NULL;
    return c && c->mixed_list != c->mixed_members ? look_in_list(b, id, &m, err) : GF_OK;
}

typedef gf_status each_membership(build_check *b, const gf_row *row, gf_error *err);

static gf_status walk_memberships(build_check *b, each_membership *each, gf_error *err)
{
    gf_view *v = b->view;
    gf_scan *scan;
    gf_row row = {0};
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_MEMBERSHIPS_MAIN,
                                        .prefix = gf_buffer_view(&v->key));
    gf_status st = gf_scan_open(v->store->tables.memberships, &o, &scan, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && (st = gf_scan_next(scan, &row, err)) == GF_OK) {
        st = each(b, &row, err);
        if (st == GF_OK) st = gf_cancel_check(b->c->audit.cancel, err);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Lists and rankings of clusters have the members that memberships say, with their scores. */
static gf_status compare_lists(build_check *b, gf_error *err)
{
    bool differs = false;
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < b->view->info.k && st == GF_OK; i++) {
        const counted_cluster *c = &b->clusters[i];
        bool is_listed = c->mixed_list == c->mixed_members;
        differs = differs || !is_listed;
        if (is_listed && c->mixed_ranks != c->mixed_members_ranked && c->ranked == c->members)
            st = gf_audit_fault(&b->c->audit, b->where, err,
                                "the ranks of cluster %" PRIu32 " are not those of its members",
                                c->id);
    }
    return st == GF_OK && differs ? walk_memberships(b, compare_membership, err) : st;
}

/* Sizes as stored: deleted documents are not subtracted. */
static gf_status compare_counts(build_check *b, gf_error *err)
{
    const gf_build_info *info = &b->view->info;
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < info->k && st == GF_OK; i++) {
        const counted_cluster *c = &b->clusters[i];
        b->c->listed += c->size;
        if (c->size != c->documents || c->size != c->ranked || c->size != c->members)
            st = gf_audit_fault(&b->c->audit, b->where, err,
                                "cluster %" PRIu32 " says %" PRIu64
                                " documents; its lists have %" PRIu64 " and %" PRIu64
                                ", and %" PRIu64 " memberships name it",
                                c->id, c->size, c->documents, c->ranked, c->members);
    }
    if (st == GF_OK && b->members != info->documents)
        st = gf_audit_fault(&b->c->audit, b->where, err,
                            "%" PRIu64 " memberships of %" PRIu64 " documents", b->members,
                            info->documents);
    if (st == GF_OK && b->without_terms != info->without_terms)
        st = gf_audit_fault(&b->c->audit, b->where, err,
                            "%" PRIu64 " documents without terms, not %" PRIu64, b->without_terms,
                            info->without_terms);
    if (st == GF_OK && b->unplaced != info->unplaced)
        st = gf_audit_fault(&b->c->audit, b->where, err,
                            "%" PRIu64 " documents of no topic, not %" PRIu64, b->unplaced,
                            info->unplaced);
    return st;
}

static gf_status check_centre(build_check *b, uint32_t id, gf_error *err)
{
    gf_view *v = b->view;
    uint32_t *col, n;
    float *val;
    gf_buffer_reset(&v->text);
    gf_model_centre_qualifier(&v->text, id);
    gf_status st = gf_buffer_check(&v->text, err);
    if (st == GF_OK)
        st = gf_table_get_cell(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                               GF_BUILDS_MODEL, gf_buffer_view(&v->text), 1, &v->row, err);
    if (st == GF_ENOTFOUND)
        return gf_audit_fault(&b->c->audit, b->where, err,
                              "cluster %" PRIu32 " has lost its centre", id);
    if (st == GF_OK)
        st = gf_model_vector_read(v->row.cells[0].value, v->info.terms, &col, &val, &n, err);
    if (st != GF_OK) return gf_audit_read(&b->c->audit, st, b->where, err);
    gf_free(col);
    gf_free(val);
    return GF_OK;
}

static gf_status check_model(build_check *b, gf_error *err)
{
    gf_view *v = b->view;
    gf_status st = gf_view_load_model(v, err);
    if (st != GF_OK) return gf_audit_read(&b->c->audit, st, b->where, err);
    if (v->info.rows == GF_ROWS_OF_TEXTS && v->model.vocabulary.n_terms != v->info.terms)
        st = gf_audit_fault(&b->c->audit, b->where, err,
                            "the vocabulary has %" PRIu32 " terms, not %" PRIu32,
                            v->model.vocabulary.n_terms, v->info.terms);
    if (st == GF_OK && v->info.rows == GF_ROWS_OF_WORDS) {
        gf_term_vectors words;
        st = gf_term_vectors_load(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                                  &words, err);
        gf_term_vectors_release(&words);
        if (st != GF_OK) st = gf_audit_read(&b->c->audit, st, b->where, err);
    }
    for (uint32_t i = 0; i < v->info.k && st == GF_OK; i++)
        st = check_centre(b, b->clusters[i].id, err);
    if (st == GF_OK && b->view->info.unplaced) st = check_centre(b, 0, err);
    return st;
}

static gf_status pass_row(void *context, gf_slice id, gf_row_view row, gf_error *err)
{
    (void)context, (void)id, (void)row, (void)err;
    return GF_OK;
}

/* Rows that the build keeps, if it does; builds of earlier versions have none. */
static gf_status check_rows(build_check *b, gf_error *err)
{
    gf_view *v = b->view;
    gf_kept_rows rows = {0};
    if (v->info.rows == GF_ROWS_OF_TEXTS) return GF_OK;
    gf_status st = gf_kept_rows_open(&rows, v->store->tables.builds, v->snapshot,
                                     gf_buffer_view(&v->key), err);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st == GF_OK) st = gf_kept_rows_each(&rows, pass_row, NULL, err);
    uint64_t n = rows.n;
    uint32_t n_cols = rows.n_cols;
    gf_kept_rows_release(&rows);
    if (st != GF_OK) return gf_audit_read(&b->c->audit, st, b->where, err);
    if (n == v->info.documents - v->info.without_terms && n_cols == v->info.terms) return GF_OK;
    return gf_audit_fault(&b->c->audit, b->where, err,
                          "%" PRIu64 " rows of %" PRIu32 " columns are kept, not %" PRIu64
                          " of %" PRIu32,
                          n, n_cols, v->info.documents - v->info.without_terms, v->info.terms);
}

/* Indexes that the build keeps, if it does; of those of earlier versions nothing is read. */
static gf_status check_indexes(build_check *b, gf_error *err)
{
    gf_view *v = b->view;
    gf_slice key = gf_buffer_view(&v->key);
    const gf_cancel *cancel = b->c->audit.cancel;
    gf_status st = gf_search_index_check(v->store, v->snapshot, key, cancel, err);
    if (st != GF_OK) st = gf_audit_read(&b->c->audit, st, b->where, err);
    if (st != GF_OK) return st;
    st = gf_similar_index_check(v->store, v->snapshot, key, v->info.documents,
                                v->model.vocabulary.n_terms, cancel, err);
    return st == GF_OK ? GF_OK : gf_audit_read(&b->c->audit, st, b->where, err);
}

/* Builds of more clusters, and of earlier versions, have none. */
static gf_status check_tree(build_check *b, gf_error *err)
{
    gf_kept_tree tree = {0};
    gf_status st = gf_view_load_tree(b->view, &tree, err);
    gf_tree_kept_release(&tree);
    return st == GF_OK || st == GF_ENOTFOUND ? GF_OK
                                             : gf_audit_read(&b->c->audit, st, b->where, err);
}

/* ---- documents by hour ----------------------------------------------------------------------- */

static gf_status count_hours(build_check *b, const gf_cell *cell, gf_error *err)
{
    gf_hours hours;
    bool more = true;
    uint32_t id;
    gf_status st = gf_hours_begin(&hours, cell->value, err);
    uint64_t n = st == GF_OK ? hours.undated : 0, mixed = 0;
    while (st == GF_OK && (st = gf_hours_next(&hours, &more, err)) == GF_OK && more) {
        gf_membership_cells m = {.dated = true, .hour = hours.hour};
        n += hours.documents;
        mixed += mix_hour(&m) * hours.documents;
    }
    if (st != GF_OK) return gf_audit_read(&b->c->audit, st, b->where, err);
    if (!gf_hours_cluster(cell->qualifier, &id)) return GF_OK;
    const counted_cluster *c = find_counted(b, id);
    bool right = id == 0 ? n == b->without_terms + b->unplaced && mixed == b->hours_without_terms
                         : c && n == c->size && mixed == c->hours;
    if (right) return GF_OK;
    return gf_audit_fault(&b->c->audit, b->where, err,
                          "cluster %" PRIu32 " has other documents by hour than by membership", id);
}

/* Builds of earlier versions have none; of the others each cluster has a cell, and so has none. */
static gf_status check_hours(build_check *b, gf_error *err)
{
    gf_view *v = b->view;
    gf_scan *scan;
    gf_row row = {0};
    uint64_t n = 0;
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_BUILDS_MODEL,
                                        .prefix = gf_buffer_view(&v->key),
                                        .qualifier_prefix = GF_SLICE(GF_HOURS_PREFIX));
    gf_status st = gf_scan_open(v->store->tables.builds, &o, &scan, err);
    if (st != GF_OK) return st;
    for (; st == GF_OK && (st = gf_scan_next(scan, &row, err)) == GF_OK; n++)
        st = count_hours(b, &row.cells[0], err);
    gf_scan_close(scan);
    gf_row_release(&row);
    if (st != GF_ENOTFOUND) return gf_audit_read(&b->c->audit, st, b->where, err);
    if (n == 0 || n == (uint64_t)v->info.k + 1) return GF_OK;
    return gf_audit_fault(&b->c->audit, b->where, err,
                          "documents by hour of %" PRIu64 " clusters, not of %" PRIu32, n - 1,
                          v->info.k);
}

static gf_status check_view(build_check *b, gf_error *err)
{
    gf_status st = gf_view_list_clusters(b->view, err);
    if (st != GF_OK) return gf_audit_read(&b->c->audit, st, b->where, err);
    b->clusters = gf_calloc(b->view->info.k, sizeof *b->clusters);
    if (!b->clusters) return gf_fail_memory(err, "a check");
    st = count_clusters(b, err);
    if (st == GF_OK) st = walk_memberships(b, count_membership, err);
    if (st == GF_OK) st = compare_lists(b, err);
    if (st != GF_OK) st = gf_audit_read(&b->c->audit, st, b->where, err);
    if (st == GF_OK) st = compare_counts(b, err);
    if (st == GF_OK) st = check_model(b, err);
    if (st == GF_OK) st = check_rows(b, err);
    if (st == GF_OK) st = check_indexes(b, err);
    if (st == GF_OK) st = check_tree(b, err);
    if (st == GF_OK) st = check_hours(b, err);
    if (st == GF_OK) st = gf_verify_best(&b->c->audit, b->view, b->where, err);
    gf_free(b->clusters);
    return st;
}

gf_status gf_verify_one_build(gf_verifying *c, gf_place where, gf_slice configuration,
                              int64_t build, gf_error *err)
{
    gf_view *view;
    gf_buffer name = {0};
    gf_verify_name(&name, where.collection, configuration, build);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) st = gf_view_open(c->audit.store, where, configuration, build, &view, err);
    if (st == GF_OK) {
        build_check b = {.c = c, .view = view, .where = gf_buffer_cstr(&name)};
        c->found.builds++;
        c->clusters += view->info.k;
        c->memberships += view->info.documents;
        st = check_view(&b, err);
        gf_buffer_release(&b.id);
        gf_buffer_release(&b.key);
        gf_row_release(&b.listed);
        gf_view_close(view);
    } else if (st == GF_ENOTFOUND) { /* unfinished */
        c->unfinished = true;
        st = GF_OK;
    } else {
        st = gf_audit_read(&c->audit, st, gf_buffer_cstr(&name), err);
    }
    gf_buffer_release(&name);
    return st;
}

static gf_status pass_over(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)where, (void)what, (void)err;
    return GF_OK;
}

gf_status gf_verify_build(gf_store *s, gf_place where, gf_slice configuration, int64_t build,
                          const gf_cancel *cancel, bool *whole, gf_error *err)
{
    gf_error own;
    gf_verifying c = {.audit = {.store = s, .cancel = cancel, .visit = pass_over}};
    gf_status st = gf_verify_one_build(&c, where, configuration, build, err ? err : &own);
    if (st == GF_OK) *whole = c.audit.faults == 0 && c.found.builds == 1;
    return st;
}
