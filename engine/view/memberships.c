/* Documents of a view's build that are still there, and the clusters that they are in. */
#include "engine/view/view.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/rows/document_row.h"

void gf_view_describe(const gf_view *v, const gf_membership_cells *cells, gf_membership *m)
{
    const gf_listed_cluster *own = gf_view_find_cluster(v, cells->cluster);
    const gf_listed_cluster *second = gf_view_find_cluster(v, cells->runner_up);
    *m = (gf_membership){.cluster = cells->cluster,
                         .score = cells->score,
                         .runner_up = cells->runner_up,
                         .second = cells->second,
                         .state = gf_pins_state(&v->pins, cells->cluster)};
    m->label = own                                ? own->label
               : cells->runner_up                 ? GF_SLICE("no topic")
               : gf_rows_are_given(v->info.rows)  ? GF_SLICE(GF_VECTOR_WITHOUT)
               : v->info.rows == GF_ROWS_OF_WORDS ? GF_SLICE(GF_WORDS_WITHOUT)
                                                  : GF_SLICE("without terms");
    if (second) m->runner_up_label = second->label;
}

gf_slice gf_view_label_of_none(const gf_view *v)
{
    if (v->info.unplaced == 0) return GF_SLICE("without terms");
    return v->info.without_terms ? GF_SLICE("in no cluster") : GF_SLICE("no topic");
}

/* True if the build is about a part of its collection. */
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
    uint64_t seq = 0;
    gf_status st = gf_view_load_clusters(v, err);
    if (st == GF_OK) st = gf_state_row(v->state, id, &v->document_row, err);
    if (st != GF_OK) return st;
    gf_rows_cell_number(gf_row_find(&v->document_row, GF_DOCUMENTS_MAIN, "seq"), &seq);
    st = gf_view_read_cells(v, id, &cells, err);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st, "document \"%.*s\" was put after the build%s", GF_SLICE_ARG(id),
                       is_of_a_part(&v->info) ? ", or is left out by its settings" : "");
    if (st != GF_OK) return st;
    gf_view_describe(v, &cells, m);
    m->replaced = seq > v->info.seq;
    return GF_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/*
 * Memberships come in the order of ids, and so do documents: the two walks go side by side, so that
 * whether a document is still there, and the same, takes no look-up.
 */
typedef struct pair_walk {
    gf_scan *memberships, *documents;
    gf_row membership, document;
    gf_buffer id, document_id;
    bool documents_left;
} pair_walk;

static gf_status next_document(gf_view *v, pair_walk *w, gf_error *err)
{
    gf_buffer_reset(&w->document_id);
    gf_status st = gf_scan_step(w->documents, &w->document, &w->documents_left, err);
    if (st != GF_OK || !w->documents_left) return st;
    return gf_tables_key_last_string(v->store->tables.documents, w->document.key, &w->document_id,
                                     err);
}

/* Step the walk over documents up to the membership at hand; *there: it has that id. */
static gf_status catch_up(gf_view *v, pair_walk *w, bool *there, gf_error *err)
{
    gf_status st = GF_OK;
    while (st == GF_OK && w->documents_left &&
           gf_slice_compare(gf_buffer_view(&w->document_id), gf_buffer_view(&w->id)) < 0)
        st = next_document(v, w, err);
    *there = w->documents_left &&
             gf_slice_equal(gf_buffer_view(&w->document_id), gf_buffer_view(&w->id));
    return st;
}

static gf_status visit_pair(gf_view *v, pair_walk *w, gf_each_member *each, void *context,
                            gf_error *err)
{
    gf_membership_cells cells;
    bool there;
    gf_buffer_reset(&w->id);
    gf_status st =
        gf_tables_key_last_string(v->store->tables.memberships, w->membership.key, &w->id, err);
    if (st == GF_OK)
        st = gf_tables_membership_read(&w->membership, GF_MEMBERSHIPS_MAIN, &cells, err);
    if (st == GF_OK) st = catch_up(v, w, &there, err);
    if (st != GF_OK || !there) return st;
    return each(context, gf_buffer_view(&w->id), &cells, &w->document, err);
}

gf_status gf_view_each_member(gf_view *v, gf_each_member *each, void *context, gf_error *err)
{
    pair_walk w = {0};
    gf_buffer prefix = {0};
    gf_tables_collection_key(&prefix, v->where.name_space, v->where.collection);
    gf_status st = gf_buffer_check(&prefix, err);
    if (st == GF_OK) st = gf_view_load_clusters(v, err);
    gf_scan_options memberships =
        GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_MEMBERSHIPS_MAIN,
                        .prefix = gf_buffer_view(&v->key));
    gf_scan_options documents =
        GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_DOCUMENTS_MAIN,
                        .prefix = gf_buffer_view(&prefix));
    if (st == GF_OK)
        st = gf_scan_open(v->store->tables.memberships, &memberships, &w.memberships, err);
    if (st == GF_OK) st = gf_scan_open(v->store->tables.documents, &documents, &w.documents, err);
    if (st == GF_OK) st = next_document(v, &w, err);
    bool more = true;
    while (st == GF_OK && more) {
        st = gf_scan_step(w.memberships, &w.membership, &more, err);
        if (st == GF_OK && more) st = visit_pair(v, &w, each, context, err);
    }
    gf_scan_close(w.memberships);
    gf_scan_close(w.documents);
    gf_row_release(&w.membership);
    gf_row_release(&w.document);
    gf_buffer_release(&w.id);
    gf_buffer_release(&w.document_id);
    gf_buffer_release(&prefix);
    return st;
}

typedef struct membership_walk {
    gf_view *view;
    gf_visit_member *visit;
    gf_visit_member_document *visit_document;
    void *context;
    gf_field *fields; /* of capacity */
    size_t capacity;
} membership_walk;

static gf_status visit_membership(void *context, gf_slice id, const gf_membership_cells *cells,
                                  const gf_row *row, gf_error *err)
{
    membership_walk *w = context;
    gf_document document;
    gf_membership m;
    uint64_t seq = 0;
    gf_view_describe(w->view, cells, &m);
    if (w->visit) {
        gf_rows_cell_number(gf_row_find(row, GF_DOCUMENTS_MAIN, "seq"), &seq);
        m.replaced = seq > w->view->info.seq;
        return w->visit(w->context, id, &m, err);
    }
    if (!gf_grow(&w->fields, &w->capacity, row->n_cells, sizeof *w->fields))
        return gf_fail_memory(err, "a document");
    gf_document_row_read(row, id, w->fields, &document, &seq);
    m.replaced = seq > w->view->info.seq;
    return w->visit_document(w->context, &document, &m, err);
}

gf_status gf_view_memberships(gf_view *v, gf_visit_member *visit, void *context, gf_error *err)
{
    membership_walk w = {.view = v, .visit = visit, .context = context};
    return gf_view_each_member(v, visit_membership, &w, err);
}

gf_status gf_view_member_documents(gf_view *v, gf_visit_member_document *visit, void *context,
                                   gf_error *err)
{
    membership_walk w = {.view = v, .visit_document = visit, .context = context};
    gf_status st = gf_view_each_member(v, visit_membership, &w, err);
    gf_free(w.fields);
    return st;
}
