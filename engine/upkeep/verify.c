/*
 * Checking a store: every byte of its files, then that the tables agree with each other.
 *
 * A log that is cut at its end counts as a normal end for LevelDB, so what is there must also add
 * up: sizes with documents, clusters with memberships, pointers with builds.
 */
#include "engine/upkeep/verify.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "engine/config/edits.h"
#include "engine/config/pins.h"
#include "engine/config/settings.h"
#include "engine/rows/audit.h"
#include "engine/rows/hours.h"
#include "engine/rows/kept_rows.h"
#include "engine/search/check.h"
#include "engine/store/builds.h"
#include "engine/upkeep/verify_best.h"
#include "engine/user_tables/user_tables_internal.h"
#include "engine/view/tree.h"
#include "engine/watch/kept.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct checking {
    gf_audit audit;
    gf_verified found;
    gf_snapshot *snapshot;
    gf_error visit_error; /* of a visitor that ended the check of files */
    uint64_t documents, clusters, listed, memberships; /* as the rows that count them say */
    bool unfinished; /* there are rows of interrupted builds: totals do not add up */
} checking;

static const char *name_of(gf_buffer *text, gf_slice collection, gf_slice configuration,
                           int64_t build)
{
    gf_buffer_reset(text);
    gf_buffer_format(text, "collection \"%.*s\"", GF_SLICE_ARG(collection));
    if (configuration.len)
        gf_buffer_format(text, ", configuration \"%.*s\"", GF_SLICE_ARG(configuration));
    if (build) gf_buffer_format(text, ", build %" PRId64, build);
    return gf_buffer_cstr(text);
}

/* ---- one build ------------------------------------------------------------------------------- */

typedef struct counted_cluster {
    uint32_t id;
    uint64_t size, documents, ranked, members; /* said; found in each place */
    uint64_t hours;                            /* mix_hour of the members', summed */
    /* mix_member summed: of its list, of its ranking, of the memberships that name it as either
       would have them */
    uint64_t mixed_list, mixed_ranks, mixed_members, mixed_members_ranked;
} counted_cluster;

typedef struct build_check {
    checking *c;
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

static gf_status check_build(checking *c, gf_place where, gf_slice configuration, int64_t build,
                             gf_error *err)
{
    gf_view *view;
    gf_buffer name = {0};
    name_of(&name, where.collection, configuration, build);
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
    checking c = {.audit = {.store = s, .cancel = cancel, .visit = pass_over}};
    gf_status st = check_build(&c, where, configuration, build, err ? err : &own);
    if (st == GF_OK) *whole = c.audit.faults == 0 && c.found.builds == 1;
    return st;
}

/* ---- one collection -------------------------------------------------------------------------- */

static gf_status check_documents(checking *c, gf_place where, const gf_collection_row *row,
                                 const char *name, gf_error *err)
{
    gf_buffer prefix = {0};
    gf_scan *scan = NULL;
    gf_row document = {0};
    uint64_t n = 0, seq;
    gf_tables_collection_key(&prefix, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&prefix, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = c->snapshot, .family = GF_DOCUMENTS_MAIN,
                                        .prefix = gf_buffer_view(&prefix));
    if (st == GF_OK) st = gf_scan_open(c->audit.store->tables.documents, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &document, err)) == GF_OK) {
        n++;
        if (!gf_row_find(&document, GF_DOCUMENTS_MAIN, "text"))
            st = gf_audit_fault(&c->audit, name, err, "a document has lost its text");
        else if (!gf_rows_cell_number(gf_row_find(&document, GF_DOCUMENTS_MAIN, "seq"), &seq) ||
                 seq > row->seq)
            st = gf_audit_fault(&c->audit, name, err,
                                "a document is newer than the collection says");
        if (st == GF_OK) st = gf_cancel_check(c->audit.cancel, err);
    }
    gf_scan_close(scan);
    gf_row_release(&document);
    gf_buffer_release(&prefix);
    c->found.documents += n;
    c->documents += row->size;
    if (st != GF_ENOTFOUND) return gf_audit_read(&c->audit, st, name, err);
    if (n == row->size) return GF_OK;
    return gf_audit_fault(&c->audit, name, err, "%" PRIu64 " documents, not %" PRIu64 " as it says",
                          n, row->size);
}

/* Numbers of edits rise up to the last that the pins know of; each has its witnesses. */
static gf_status check_edits(checking *c, gf_place where, gf_slice configuration, gf_slice column,
                             gf_error *err)
{
    gf_kept_edits edits = {0};
    gf_pins pins = {0};
    gf_buffer name = {0};
    gf_row row = {0};
    gf_store *s = c->audit.store;
    const char *of = name_of(&name, where.collection, configuration, 0);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) st = gf_pins_read(column, configuration, &pins, err);
    if (st == GF_OK) st = gf_edits_read(s, c->snapshot, where, configuration, &edits, err);
    if (st == GF_OK && edits.n && edits.at[edits.n - 1].edit.number > pins.edited)
        st = gf_audit_fault(&c->audit, of, err, "an edit is newer than the collection says");
    if (st == GF_OK && edits.n_back && edits.back[edits.n_back - 1].edit.number > pins.edited)
        st = gf_audit_fault(&c->audit, of, err, "an edit is newer than the collection says");
    for (size_t i = 0; i < edits.n + edits.n_back && st == GF_OK; i++) {
        const gf_edit *e = i < edits.n ? &edits.at[i].edit : &edits.back[i - edits.n].edit;
        for (size_t side = 0; side < gf_edit_sides(e) && st == GF_OK; side++)
            st = gf_edits_read_side(s, c->snapshot, where, configuration, e->number, (uint32_t)side,
                                    &row, err);
        if (st == GF_ENOTFOUND)
            st = gf_audit_fault(&c->audit, of, err, "edit %" PRIu64 " has lost its witnesses",
                                e->number);
    }
    st = gf_audit_read(&c->audit, st, of, err);
    gf_edits_release(&edits);
    gf_pins_release(&pins);
    gf_row_release(&row);
    gf_buffer_release(&name);
    return st;
}

/* Rules and alerts can be read, are no newer than the last numbers, and each alert has what it sends. */
static gf_status check_watches(checking *c, gf_place where, gf_slice configuration, gf_error *err)
{
    gf_watch_place p = {c->audit.store, where, configuration, c->snapshot};
    gf_kept_watches rules = {0};
    gf_kept_alerts alerts = {0};
    gf_watch_state state = {0};
    gf_buffer name = {0}, body = {0};
    const char *of = name_of(&name, where.collection, configuration, 0);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) st = gf_watch_read_rules(&p, &rules, err);
    if (st == GF_OK) st = gf_watch_read_alerts(&p, &alerts, err);
    if (st == GF_OK) st = gf_watch_read_state(&p, &state, err);
    if (st == GF_OK && rules.n && rules.at[rules.n - 1].number > state.watches)
        st = gf_audit_fault(&c->audit, of, err, "a watch is newer than the collection says");
    if (st == GF_OK && alerts.n && alerts.at[alerts.n - 1].alert.number > state.alerts)
        st = gf_audit_fault(&c->audit, of, err, "an alert is newer than the collection says");
    for (size_t i = 0; i < alerts.n && st == GF_OK; i++) {
        gf_buffer_reset(&body);
        st = gf_watch_read_body(&p, alerts.at[i].alert.number, &body, err);
        if (st == GF_ENOTFOUND)
            st = gf_audit_fault(&c->audit, of, err, "alert %" PRIu64 " has lost what it tells",
                                alerts.at[i].alert.number);
    }
    st = gf_audit_read(&c->audit, st, of, err);
    gf_watch_release_rules(&rules);
    gf_watch_release_alerts(&alerts);
    gf_buffer_release(&name);
    gf_buffer_release(&body);
    return st;
}

/* The builds of one configuration, and that its pointer leads to one of them. */
static gf_status check_configuration(checking *c, gf_place where, gf_slice configuration,
                                     int64_t served, gf_error *err)
{
    int64_t *builds = NULL;
    size_t n = 0;
    bool found = served == 0;
    gf_buffer key = {0};
    gf_tables_configuration_key(&key, where.name_space, where.collection, configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_builds_list(c->audit.store, c->snapshot, gf_buffer_view(&key), &builds, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        found = found || builds[i] == served;
        st = check_build(c, where, configuration, builds[i], err);
    }
    gf_buffer_reset(&key);
    if (st == GF_OK && !found)
        st = gf_audit_fault(&c->audit, name_of(&key, where.collection, configuration, served), err,
                            "this build is served, but is missing");
    gf_free(builds);
    gf_buffer_release(&key);
    return st;
}

typedef struct configuration_walk {
    checking *c;
    gf_place where;
    const gf_collection_row *row;
} configuration_walk;

static gf_status visit_configuration(void *context, const gf_configuration_info *info,
                                     gf_error *err)
{
    configuration_walk *w = context;
    gf_status st = check_edits(w->c, w->where, info->name, w->row->pins, err);
    if (st == GF_OK) st = check_watches(w->c, w->where, info->name, err);
    if (st != GF_OK) return st;
    return check_configuration(w->c, w->where, info->name,
                               gf_collection_row_served(w->row, info->name), err);
}

static gf_status check_collection(checking *c, gf_collection_row *row, gf_error *err)
{
    gf_buffer space = {0}, collection = {0}, name = {0};
    gf_slice key = row->row.key;
    bool going = false;
    gf_status st = GF_OK;
    if (!gf_key_take_string(&key, &space) || !gf_key_take_string(&key, &collection))
        st = gf_fail(err, GF_ECORRUPT, "table collections: a key is damaged");
    gf_place where = {gf_buffer_view(&space), gf_buffer_view(&collection)};
    name_of(&name, where.collection, (gf_slice){0}, 0);
    if (st == GF_OK) st = gf_buffer_check(&space, err);
    if (st == GF_OK) st = gf_buffer_check(&collection, err);
    if (st == GF_OK) st = gf_buffer_check(&name, err);
    if (st == GF_OK)
        st = gf_collection_is_deleting(c->audit.store, c->snapshot, row->row.key, &going, err);
    c->unfinished = c->unfinished || going;
    if (st == GF_OK && !going) {
        configuration_walk w = {c, where, row};
        c->found.collections++;
        st = gf_collection_row_decode(row, err);
        if (st == GF_OK) st = check_documents(c, where, row, gf_buffer_cstr(&name), err);
        if (st == GF_OK)
            st = gf_configuration_list(c->audit.store, c->snapshot, where, row, visit_configuration,
                                       &w, err);
    }
    st = gf_audit_read(&c->audit, st, gf_buffer_cstr(&name), err);
    gf_buffer_release(&space);
    gf_buffer_release(&collection);
    gf_buffer_release(&name);
    return st;
}

/* ---- all ------------------------------------------------------------------------------------- */

static gf_status count_table(checking *c, gf_table *table, unsigned family, uint64_t said,
                             const char *what, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    uint64_t n = 0;
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = c->snapshot, .family = family, .keys_only = true);
    gf_status st = gf_scan_open(table, &o, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK)
        n++;
    gf_scan_close(scan);
    gf_row_release(&row);
    if (st != GF_ENOTFOUND) return gf_audit_read(&c->audit, st, what, err);
    if (n == said) return GF_OK;
    return gf_audit_fault(&c->audit, what, err,
                          "%" PRIu64 " entries are there, %" PRIu64 " are accounted for", n, said);
}

static gf_status check_totals(checking *c, gf_error *err)
{
    gf_tables *t = &c->audit.store->tables;
    gf_store_status status;
    gf_status st = gf_store_read_status(c->audit.store, &status, err);
    if (st != GF_OK) return gf_audit_read(&c->audit, st, "tables", err);
    if (c->unfinished || status.unfinished || c->audit.faults) return GF_OK;
    st = count_table(c, t->documents, GF_DOCUMENTS_MAIN, c->documents, "table documents", err);
    if (st == GF_OK)
        st = count_table(c, t->clusters, GF_CLUSTERS_MAIN, c->clusters, "table clusters", err);
    if (st == GF_OK)
        st =
            count_table(c, t->clusters, GF_CLUSTERS_DOCUMENTS, c->listed, "lists of clusters", err);
    if (st == GF_OK)
        st = count_table(c, t->clusters, GF_CLUSTERS_RANKED, c->listed, "ranks of clusters", err);
    if (st == GF_OK)
        st = count_table(c, t->memberships, GF_MEMBERSHIPS_MAIN, c->memberships,
                         "table memberships", err);
    if (st == GF_OK)
        st = count_table(c, t->builds, GF_BUILDS_MAIN, c->found.builds, "table builds", err);
    return st;
}

static gf_status check_tables(checking *c, gf_verify_more *more, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_collection_row row = {0};
    gf_status st = gf_snapshot_create(c->audit.store->db, &c->snapshot, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = c->snapshot, .family = GF_COLLECTIONS_MAIN);
    if (st == GF_OK) st = gf_scan_open(c->audit.store->tables.collections, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &row.row, err)) == GF_OK)
        st = check_collection(c, &row, err);
    gf_scan_close(scan);
    gf_collection_row_release(&row);
    if (st == GF_ENOTFOUND) st = GF_OK;
    st = gf_audit_read(&c->audit, st, "table collections", err);
    if (st == GF_OK) st = check_totals(c, err);
    if (st == GF_OK) st = gf_user_tables_verify(&c->audit, &c->found, err);
    st = gf_audit_read(&c->audit, st, "table tables", err);
    if (st == GF_OK && more) {
        gf_audit *a = &c->audit;
        c->found.faults = a->faults;
        st = more(a->store, a->cancel, a->visit, a->context, &c->found, err);
        a->faults = c->found.faults;
        st = gf_audit_read(a, st, "tables of applications", err);
    }
    gf_snapshot_free(c->snapshot);
    return st;
}

static void report_file(void *context, const char *file, const char *what)
{
    checking *c = context;
    c->audit.faults++;
    if (c->visit_error.status == GF_OK) {
        gf_status st = c->audit.visit(c->audit.context, file, what, &c->visit_error);
        c->visit_error.status = st;
    }
}

static gf_status check_files(checking *c, const char *path, const gf_store_options *options,
                             gf_error *err)
{
    gf_folder *folder;
    gf_hold_options hold = {.wait_seconds = options->wait_seconds,
                            .purpose = options->purpose,
                            .cancel = options->cancel,
                            .read_only = true};
    gf_status st = gf_folder_hold(path, &hold, &folder, err);
    if (st != GF_OK) return gf_audit_read(&c->audit, st, path, err);
    st = gf_folder_check(folder, report_file, c, options->cancel, err);
    gf_folder_release(folder);
    if (st == GF_OK && c->visit_error.status != GF_OK) {
        *err = c->visit_error;
        st = err->status;
    }
    return st;
}

gf_status gf_verify(const char *path, const gf_store_options *options, gf_visit_fault *visit,
                    void *context, gf_verified *verified, gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_STORE_OPTIONS_VERSION, "gf_store_options", err);
    if (known != GF_OK) return known;
    gf_error own;
    if (!err) err = &own;
    checking c = {.audit = {.cancel = options->cancel, .visit = visit, .context = context}};
    gf_status st = check_files(&c, path, options, err);
    uint64_t in_files = c.audit.faults;
    if (st == GF_OK) {
        gf_store_options open = *options;
        open.create = false;
        open.read_only = true;
        st = gf_store_open(path, &open, &c.audit.store, err);
        /* Damage that keeps the store from opening was reported with the files, if they have any. */
        if (st == GF_ECORRUPT && in_files) st = GF_OK;
        st = gf_audit_read(&c.audit, st, path, err);
    }
    if (st == GF_OK && c.audit.store) st = check_tables(&c, options->more, err);
    gf_store_close(c.audit.store);
    if (st != GF_OK) return st;
    *verified = c.found;
    verified->faults = c.audit.faults;
    return GF_OK;
}
