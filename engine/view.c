#include "engine/view.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- opening ----------------------------------------------------------------------------------
 */

static gf_status copy_names(gf_view *v, gf_place where, gf_slice configuration, gf_error *err)
{
    v->where.name_space = gf_arena_copy(&v->memory, where.name_space);
    v->where.collection = gf_arena_copy(&v->memory, where.collection);
    v->configuration = gf_arena_copy(&v->memory, configuration);
    bool ok = v->where.name_space.ptr && v->where.collection.ptr && v->configuration.ptr;
    return ok ? GF_OK : gf_fail_memory(err, "a view");
}

/* Which build is meant; also that the configuration is there. */
static gf_status resolve(gf_view *v, int64_t build, int64_t *served, gf_error *err)
{
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    gf_status st = gf_collection_row_read(v->store, v->snapshot, v->where, &row, err);
    if (st == GF_OK) st = gf_settings_map_read(row.settings, v->configuration, &map, err);
    if (st == GF_OK) *served = gf_collection_row_served(&row, v->configuration);
    if (st == GF_OK && build == 0 && *served == 0)
        st =
            gf_fail(err, GF_ENOTFOUND,
                    "collection \"%.*s\" has not been rebuilt by \"%.*s\" yet: grouperfish rebuild",
                    GF_SLICE_ARG(v->where.collection), GF_SLICE_ARG(v->configuration));
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

static gf_status keep_info(gf_view *v, const gf_build_info *info, gf_error *err)
{
    v->info = *info;
    v->info.settings = gf_arena_copy(&v->memory, info->settings);
    v->info.versions = gf_arena_copy(&v->memory, info->versions);
    bool ok = v->info.settings.ptr && v->info.versions.ptr;
    return ok ? GF_OK : gf_fail_memory(err, "a view");
}

/* A build that is not finished, or that is going, is not there. */
static gf_status read_build(gf_view *v, int64_t build, int64_t served, gf_error *err)
{
    gf_build_info info;
    gf_build_key(&v->key, v->where.name_space, v->where.collection, v->configuration, build);
    gf_status st = gf_buffer_check(&v->key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                          1u << GF_BUILDS_MAIN | 1u << GF_BUILDS_PROGRESS, &v->row, err);
    bool unfinished =
        st == GF_OK && build != served && gf_row_find(&v->row, GF_BUILDS_PROGRESS, "state");
    if (st == GF_OK && !unfinished) st = gf_build_decode(v->store, &v->row, &info, err);
    if (st == GF_ENOTFOUND && build == served)
        return gf_fail(err, GF_ECORRUPT, "the served build %" PRId64 " is missing", build);
    if (st == GF_ENOTFOUND || unfinished)
        return gf_fail(err, GF_ENOTFOUND, "there is no build %" PRId64 " of \"%.*s\"", build,
                       GF_SLICE_ARG(v->where.collection));
    if (st != GF_OK) return st;
    info.served = build == served;
    return keep_info(v, &info, err);
}

static gf_status open_view(gf_view *v, gf_place where, gf_slice configuration, int64_t build,
                           gf_error *err)
{
    int64_t served = 0;
    gf_status st = gf_snapshot_create(v->store->db, &v->snapshot, err);
    if (st == GF_OK) st = copy_names(v, where, configuration, err);
    if (st == GF_OK) st = resolve(v, build, &served, err);
    if (st == GF_OK) st = read_build(v, build ? build : served, served, err);
    return st;
}

gf_status gf_view_open(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                       gf_view **view, gf_error *err)
{
    gf_view *v = gf_calloc(1, sizeof *v);
    if (!v) return gf_fail_memory(err, "a view");
    v->store = store;
    gf_status st = open_view(v, where, configuration, build, err);
    if (st == GF_OK)
        *view = v;
    else
        gf_view_close(v);
    return st;
}

void gf_view_close(gf_view *v)
{
    if (!v) return;
    if (v->model_loaded) gf_model_release(&v->model);
    gf_free(v->clusters);
    gf_strings_release(&v->gone);
    gf_row_release(&v->row);
    gf_row_release(&v->document_row);
    gf_buffer_release(&v->text);
    gf_buffer_release(&v->key);
    gf_arena_release(&v->memory);
    gf_snapshot_free(v->snapshot);
    gf_free(v);
}

const gf_build_info *gf_view_build(const gf_view *v)
{
    return &v->info;
}

gf_status gf_builds_visit(gf_store *store, gf_place where, gf_slice configuration,
                          gf_visit_build *visit, void *context, gf_error *err)
{
    int64_t *builds = NULL;
    size_t n = 0;
    gf_snapshot *snapshot = NULL;
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    gf_buffer key = {0};
    gf_configuration_key(&key, where.name_space, where.collection, configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_snapshot_create(store->db, &snapshot, err);
    if (st == GF_OK) st = gf_collection_row_read(store, snapshot, where, &row, err);
    if (st == GF_OK) st = gf_settings_map_read(row.settings, configuration, &map, err);
    if (st == GF_OK) st = gf_builds_list(store, snapshot, gf_buffer_view(&key), &builds, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        gf_view *view;
        st = gf_view_open(store, where, configuration, builds[i], &view, err);
        if (st == GF_ENOTFOUND) { /* unfinished, or dropped meanwhile */
            st = GF_OK;
            continue;
        }
        if (st == GF_OK) st = visit(context, &view->info, err);
        if (st == GF_OK) gf_view_close(view);
    }
    gf_free(builds);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    gf_snapshot_free(snapshot);
    gf_buffer_release(&key);
    return st;
}

/* ---- what has been deleted since --------------------------------------------------------------
 */

/* A document that was deleted, and has not been put again, is gone from the build. */
static gf_status check_gone(gf_view *v, gf_slice id, gf_buffer *key, gf_row *row, gf_error *err)
{
    uint32_t number;
    gf_buffer_reset(key);
    gf_document_key(key, v->where.name_space, v->where.collection, id);
    gf_status st = gf_buffer_check(key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.documents, v->snapshot, gf_buffer_view(key),
                          1u << GF_DOCUMENTS_MAIN, row, err);
    return st == GF_ENOTFOUND ? gf_strings_add(&v->gone, id, &number, NULL, err) : st;
}

static gf_status find_gone(gf_view *v, gf_error *err)
{
    gf_buffer start = {0}, prefix = {0}, key = {0};
    gf_scan *scan = NULL;
    gf_row row = {0}, document = {0};
    gf_collection_key(&prefix, v->where.name_space, v->where.collection);
    gf_change_key(&start, v->where.name_space, v->where.collection, v->info.seq + 1);
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&prefix, err);
    gf_scan_options o = {.snapshot = v->snapshot,
                         .family = GF_CHANGES_MAIN,
                         .prefix = gf_buffer_view(&prefix),
                         .start = gf_buffer_view(&start)};
    if (st == GF_OK) st = gf_scan_open(v->store->tables.changes, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &row, err)) == GF_OK) {
        const gf_cell *id = gf_row_find(&row, GF_CHANGES_MAIN, "id");
        const gf_cell *operation = gf_row_find(&row, GF_CHANGES_MAIN, "operation");
        if (!id || !operation)
            st = gf_fail(err, GF_ECORRUPT, "table changes: a row is damaged");
        else if (gf_slice_equal(operation->value, GF_SLICE("delete")))
            st = check_gone(v, id->value, &key, &document, err);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    gf_row_release(&document);
    gf_buffer_release(&start);
    gf_buffer_release(&prefix);
    gf_buffer_release(&key);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- clusters ---------------------------------------------------------------------------------
 */

static gf_status add_cluster(gf_view *v, const gf_row *row, size_t *capacity, gf_error *err)
{
    uint64_t id = 0, size;
    if (v->n_clusters == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 32;
        gf_known_cluster *grown = gf_realloc(v->clusters, *capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "clusters");
        v->clusters = grown;
    }
    if (!gf_cell_number(gf_row_find(row, GF_CLUSTERS_MAIN, "id"), &id) || id > UINT32_MAX ||
        !gf_cell_number(gf_row_find(row, GF_CLUSTERS_MAIN, "size"), &size))
        return gf_fail(err, GF_ECORRUPT, "table clusters: a row is damaged");
    gf_buffer_reset(&v->text);
    gf_status st = gf_key_last_string(v->store->tables.clusters, row->key, &v->text, err);
    if (st != GF_OK) return st;
    gf_slice label = gf_arena_copy(&v->memory, gf_buffer_view(&v->text));
    if (!label.ptr) return gf_fail_memory(err, "clusters");
    v->clusters[v->n_clusters++] = (gf_known_cluster){(uint32_t)id, size, label};
    return GF_OK;
}

gf_status gf_view_list_clusters(gf_view *v, gf_error *err)
{
    v->n_clusters = 0;
    gf_scan *scan;
    size_t capacity = 0;
    gf_scan_options o = {
        .snapshot = v->snapshot, .family = GF_CLUSTERS_MAIN, .prefix = gf_buffer_view(&v->key)};
    gf_status st = gf_scan_open(v->store->tables.clusters, &o, &scan, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && (st = gf_scan_next(scan, &v->row, err)) == GF_OK)
        st = add_cluster(v, &v->row, &capacity, err);
    gf_scan_close(scan);
    if (st == GF_ENOTFOUND && v->n_clusters != v->info.k)
        return gf_fail(err, GF_ECORRUPT, "a build of %" PRIu32 " clusters has %zu", v->info.k,
                       v->n_clusters);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status read_cells(gf_view *v, gf_slice id, gf_membership_cells *m, gf_error *err)
{
    gf_buffer key = {0};
    gf_membership_key(&key, gf_buffer_view(&v->key), id);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.memberships, v->snapshot, gf_buffer_view(&key),
                          1u << GF_MEMBERSHIPS_MAIN, &v->row, err);
    if (st == GF_OK) st = gf_membership_read(&v->row, GF_MEMBERSHIPS_MAIN, m, err);
    gf_buffer_release(&key);
    return st;
}

static gf_known_cluster *find(const gf_view *v, uint32_t id)
{
    for (size_t i = 0; i < v->n_clusters; i++)
        if (v->clusters[i].id == id) return &v->clusters[i];
    return NULL;
}

/* Clusters lose the members that have gone. */
static gf_status subtract_gone(gf_view *v, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < v->gone.n && st == GF_OK; i++) {
        gf_membership_cells m;
        st = read_cells(v, gf_strings_at(&v->gone, i), &m, err);
        if (st == GF_ENOTFOUND) { /* put and deleted after the build */
            st = GF_OK;
            continue;
        }
        gf_known_cluster *c = st == GF_OK ? find(v, m.cluster) : NULL;
        if (c && c->size) c->size--;
    }
    return st;
}

static int by_size(const void *a, const void *b)
{
    const gf_known_cluster *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

gf_status gf_view_know_clusters(gf_view *v, gf_error *err)
{
    if (v->clusters_known) return GF_OK;
    gf_status st = gf_view_list_clusters(v, err);
    if (st == GF_OK) st = find_gone(v, err);
    if (st == GF_OK) st = subtract_gone(v, err);
    if (st != GF_OK) return st;
    if (v->n_clusters) qsort(v->clusters, v->n_clusters, sizeof *v->clusters, by_size);
    v->clusters_known = true;
    return GF_OK;
}

const gf_known_cluster *gf_view_find(const gf_view *v, uint32_t id)
{
    return id ? find(v, id) : NULL;
}

/* ---- models and documents ---------------------------------------------------------------------
 */

gf_status gf_view_need_model(gf_view *v, gf_error *err)
{
    if (v->model_loaded) return GF_OK;
    gf_status st = gf_model_load(v->store, v->snapshot, gf_buffer_view(&v->key), &v->model, err);
    v->model_loaded = st == GF_OK;
    return st;
}

gf_status gf_view_read_document(gf_view *v, gf_slice id, gf_document *document, gf_field **fields,
                                uint64_t *seq, gf_error *err)
{
    gf_buffer key = {0};
    gf_document_key(&key, v->where.name_space, v->where.collection, id);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.documents, v->snapshot, gf_buffer_view(&key),
                          1u << GF_DOCUMENTS_MAIN, &v->document_row, err);
    gf_buffer_release(&key);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st, "there is no document \"%.*s\" in \"%.*s\"", GF_SLICE_ARG(id),
                       GF_SLICE_ARG(v->where.collection));
    if (st != GF_OK) return st;
    *fields = gf_array(v->document_row.n_cells, sizeof **fields);
    if (!*fields) return gf_fail_memory(err, "a document");
    gf_document_from_row(&v->document_row, id, *fields, document, seq);
    return GF_OK;
}

gf_status gf_view_document(gf_view *v, gf_slice id, gf_visit_document *visit, void *context,
                           gf_error *err)
{
    gf_document document;
    gf_field *fields;
    uint64_t seq;
    gf_status st = gf_view_read_document(v, id, &document, &fields, &seq, err);
    if (st != GF_OK) return st;
    st = visit(context, &document, err);
    gf_free(fields);
    return st;
}

void gf_view_describe(const gf_view *v, const gf_membership_cells *cells, gf_membership *m)
{
    const gf_known_cluster *own = gf_view_find(v, cells->cluster);
    const gf_known_cluster *second = gf_view_find(v, cells->runner_up);
    *m = (gf_membership){.cluster = cells->cluster,
                         .score = cells->score,
                         .runner_up = cells->runner_up,
                         .second = cells->second};
    m->label = own ? own->label : GF_SLICE("without terms");
    if (second) m->runner_up_label = second->label;
}

/* The document as the build saw it must still be there; *replaced tells whether it was put anew. */
static gf_status look_at_document(gf_view *v, gf_slice id, bool *replaced, gf_error *err)
{
    gf_document document;
    gf_field *fields;
    uint64_t seq;
    gf_status st = gf_view_read_document(v, id, &document, &fields, &seq, err);
    if (st != GF_OK) return st;
    gf_free(fields);
    *replaced = seq > v->info.seq;
    return GF_OK;
}

gf_status gf_view_membership(gf_view *v, gf_slice id, gf_membership *m, gf_error *err)
{
    gf_membership_cells cells;
    bool replaced = false;
    gf_status st = gf_view_know_clusters(v, err);
    if (st == GF_OK) st = look_at_document(v, id, &replaced, err);
    if (st != GF_OK) return st;
    st = read_cells(v, id, &cells, err);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st, "document \"%.*s\" was put after the build", GF_SLICE_ARG(id));
    if (st != GF_OK) return st;
    gf_view_describe(v, &cells, m);
    m->replaced = replaced;
    return GF_OK;
}
