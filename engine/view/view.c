#include "engine/view/view.h"

#include "base/memory.h"
#include "engine/rows/document_row.h"

#include <inttypes.h>

/* ---- opening --------------------------------------------------------------------------------- */

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
    if (st == GF_OK)
        st = gf_configuration_load(v->store, v->snapshot, v->where, &row, v->configuration, &map,
                                   err);
    if (st == GF_OK) *served = gf_collection_row_served(&row, v->configuration);
    v->seq = row.seq;
    if (st == GF_OK) st = gf_pins_read(row.pins, v->configuration, &v->pins, err);
    if (st == GF_OK && build == 0 && *served == 0)
        st = gf_fail(err, GF_ENOTFOUND,
                     "collection \"%.*s\" has not been rebuilt by \"%.*s\" yet; rebuild it first",
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
    gf_assigner_free(v->assigner);
    if (v->model_loaded) gf_model_release(&v->model);
    gf_analysis_release(&v->analysis);
    if (v->filter_loaded) gf_filter_release(&v->filter);
    gf_free(v->clusters);
    gf_cluster_list_let_go(v->list);
    gf_free(v->by_size);
    gf_cluster_cache_let_gone_go(v);
    gf_pins_release(&v->pins);
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

typedef struct builds_walk {
    gf_store *store;
    const gf_snapshot *snapshot;
    gf_buffer key; /* of the configuration */
    int64_t served;
    gf_pins pins;
    gf_visit_build *visit;
    void *context;
} builds_walk;

static gf_status visit_build(builds_walk *w, int64_t build, gf_error *err)
{
    gf_row row = {0};
    gf_build_info info;
    size_t configuration = w->key.len;
    gf_key_u64(&w->key, (uint64_t)build);
    gf_status st = gf_buffer_check(&w->key, err);
    if (st == GF_OK)
        st = gf_table_get(w->store->tables.builds, w->snapshot, gf_buffer_view(&w->key),
                          1u << GF_BUILDS_MAIN, &row, err);
    if (st == GF_OK) st = gf_build_decode(w->store, &row, &info, err);
    if (st == GF_OK) {
        info.served = build == w->served;
        info.pinned = gf_pins_have_build(&w->pins, build);
        st = w->visit(w->context, &info, err);
    }
    w->key.len = configuration;
    gf_row_release(&row);
    return st;
}

static gf_status visit_builds(builds_walk *w, gf_error *err)
{
    int64_t *builds = NULL;
    size_t n = 0;
    gf_status st = gf_builds_list(w->store, w->snapshot, gf_buffer_view(&w->key), &builds, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = visit_build(w, builds[i], err);
    gf_free(builds);
    return st;
}

gf_status gf_builds_visit(gf_store *store, gf_place where, gf_slice configuration,
                          gf_visit_build *visit, void *context, gf_error *err)
{
    builds_walk w = {.store = store, .visit = visit, .context = context};
    gf_snapshot *snapshot = NULL;
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    gf_configuration_key(&w.key, where.name_space, where.collection, configuration);
    gf_status st = gf_buffer_check(&w.key, err);
    if (st == GF_OK) st = gf_snapshot_create(store->db, &snapshot, err);
    w.snapshot = snapshot;
    if (st == GF_OK) st = gf_collection_row_read(store, snapshot, where, &row, err);
    if (st == GF_OK)
        st = gf_configuration_load(store, snapshot, where, &row, configuration, &map, err);
    if (st == GF_OK) {
        w.served = gf_collection_row_served(&row, configuration);
        st = gf_pins_read(row.pins, configuration, &w.pins, err);
    }
    if (st == GF_OK) {
        st = visit_builds(&w, err);
    }
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    gf_pins_release(&w.pins);
    gf_snapshot_free(snapshot);
    gf_buffer_release(&w.key);
    return st;
}

/* ---- models and documents -------------------------------------------------------------------- */

gf_status gf_view_need_model(gf_view *v, gf_error *err)
{
    if (v->model_loaded) return GF_OK;
    gf_status st = gf_model_load(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                                 &v->model, err);
    v->model_loaded = st == GF_OK;
    return st;
}

gf_status gf_view_language(gf_view *v, const gf_document *d, const char **name, gf_error *err)
{
    const gf_language *language;
    gf_status st = GF_OK;
    if (!v->analysis_loaded)
        st = gf_analysis_load(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                              &v->analysis, err);
    v->analysis_loaded = st == GF_OK;
    if (st == GF_OK) st = gf_analysis_language(&v->analysis, d->language, d->text, &language, err);
    if (st == GF_OK) *name = language ? language->name : NULL;
    return st;
}

gf_status gf_view_read_document(gf_view *v, gf_slice id, gf_row *row, gf_document *document,
                                gf_field **fields, uint64_t *seq, gf_error *err)
{
    gf_buffer key = {0};
    gf_document_key(&key, v->where.name_space, v->where.collection, id);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.documents, v->snapshot, gf_buffer_view(&key),
                          1u << GF_DOCUMENTS_MAIN, row, err);
    gf_buffer_release(&key);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st, "there is no document \"%.*s\" in \"%.*s\"", GF_SLICE_ARG(id),
                       GF_SLICE_ARG(v->where.collection));
    if (st != GF_OK) return st;
    *fields = gf_array(row->n_cells, sizeof **fields);
    if (!*fields) return gf_fail_memory(err, "a document");
    gf_document_from_row(row, id, *fields, document, seq);
    return GF_OK;
}

gf_status gf_view_document(gf_view *v, gf_slice id, gf_visit_document *visit, void *context,
                           gf_error *err)
{
    gf_row row = {0}; /* its own: the visitor may use the view */
    gf_document document;
    gf_field *fields = NULL;
    uint64_t seq;
    gf_status st = gf_view_read_document(v, id, &row, &document, &fields, &seq, err);
    if (st == GF_OK) st = visit(context, &document, err);
    gf_free(fields);
    gf_row_release(&row);
    return st;
}

/* ---- memberships ----------------------------------------------------------------------------- */

gf_status gf_view_read_cells(gf_view *v, gf_slice id, gf_membership_cells *m, gf_error *err)
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
    gf_field *fields = NULL;
    uint64_t seq;
    gf_status st = gf_view_read_document(v, id, &v->document_row, &document, &fields, &seq, err);
    gf_free(fields);
    if (st == GF_OK) *replaced = seq > v->info.seq;
    return st;
}

/* Whether the build is about a part of its collection. */
static bool is_of_a_part(const gf_build_info *info)
{
    static const char *const keys[] = {"\"filter\":", "\"since\":", "\"until\":"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (info->settings.len &&
            memmem(info->settings.ptr, info->settings.len, keys[i], strlen(keys[i])))
            return true;
    return false;
}

gf_status gf_view_membership(gf_view *v, gf_slice id, gf_membership *m, gf_error *err)
{
    gf_membership_cells cells;
    bool replaced = false;
    gf_status st = gf_view_know_clusters(v, err);
    if (st == GF_OK) st = look_at_document(v, id, &replaced, err);
    if (st != GF_OK) return st;
    st = gf_view_read_cells(v, id, &cells, err);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st, "document \"%.*s\" was put after the build%s", GF_SLICE_ARG(id),
                       is_of_a_part(&v->info) ? ", or is left out by its settings" : "");
    if (st != GF_OK) return st;
    gf_view_describe(v, &cells, m);
    m->replaced = replaced;
    return GF_OK;
}
