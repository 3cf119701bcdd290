/* clusters: the list of a build's clusters. terms: its vocabulary. */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

#include "api/groups_internal.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TERMS_IN_LIST = 10 };

typedef struct listed {
    uint32_t id;
    gf_slice label, row;
} listed;

typedef struct listing {
    gf_row_writer row;
    uint64_t documents; /* of the build that are still there: what shares are of */
    bool sorted;        /* by something else than size, in which order they come */
    bool figures;
    bool with_hidden;
    uint64_t hidden; /* that were left out */
    gf_arena memory;
    listed *rows; /* n */
    size_t n, capacity;
} listing;

void gf_clusters_tell_hidden(const gf_call *call, uint64_t hidden)
{
    char message[80];
    gf_notice n = {
        .reason = "hidden", .source = gf_call_text(call, "collection"), .message = message};
    if (hidden == 0) return;
    snprintf(message, sizeof message, "%" PRIu64 " cluster%s hidden: --hidden lists %s too", hidden,
             hidden == 1 ? " is" : "s are", hidden == 1 ? "it" : "them");
    gf_call_notify(call, &n);
}

static gf_status keep(listing *l, const gf_cluster_info *info, gf_error *err)
{
    if (!gf_grow(&l->rows, &l->capacity, l->n + 1, sizeof *l->rows))
        return gf_fail_memory(err, "clusters");
    listed *r = &l->rows[l->n];
    *r = (listed){.id = info->id, .label = gf_arena_copy(&l->memory, info->label)};
    if (!r->label.ptr) return gf_fail_memory(err, "clusters");
    gf_status st = gf_row_writer_keep(&l->row, &l->memory, &r->row, err);
    l->n += st == GF_OK;
    return st;
}

static gf_status visit(void *context, const gf_cluster_info *info, gf_error *err)
{
    listing *l = context;
    if (info->hidden && !l->with_hidden) {
        l->hidden++;
        return GF_OK;
    }
    gf_json_writer *w = gf_row_writer_begin(&l->row);
    gf_row_put_cluster(w, info);
    gf_row_put_marks(w, info);
    if (!info->is_new) gf_row_put_share(w, info->size, l->documents);
    if (l->figures) gf_row_put_figures(w, info->figures);
    gf_row_put_terms(w, info, TERMS_IN_LIST);
    gf_row_put_sentence(&l->row, info);
    gf_row_put_title(w, info);
    return l->sorted ? keep(l, info, err) : gf_row_writer_emit(&l->row, err);
}

static int by_label(const void *a, const void *b)
{
    return gf_slice_compare(((const listed *)a)->label, ((const listed *)b)->label);
}

static int by_id(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* ---- documents put after the build ----------------------------------------------------------- */

typedef struct pending {
    gf_row_writer row;
    float min_score;
} pending;

static gf_status emit_pending(void *context, const gf_document *d, const gf_membership *m,
                              gf_error *err)
{
    pending *p = context;
    gf_status st = gf_cancel_check(p->row.call->cancel, err);
    if (st != GF_OK || m->score < p->min_score) return st;
    gf_json_writer *w = gf_row_writer_begin(&p->row);
    gf_row_put_id(&p->row, d->id);
    gf_row_put_membership(w, m);
    gf_json_put_string(w, "text", d->text);
    return gf_row_writer_emit(&p->row, err);
}

static gf_status list_pending(gf_call *call, gf_view *view, float min_score, gf_error *err)
{
    pending p = {.row = {.call = call}, .min_score = min_score};
    gf_status st = gf_view_pending(view, emit_pending, &p, err);
    gf_row_writer_release(&p.row);
    return st;
}

/* ---- clusters -------------------------------------------------------------------------------- */

static gf_status list_clusters(gf_call *call, gf_view *view, float min_score, gf_error *err)
{
    gf_slice sort = gf_call_text_or(call, "sort", "size");
    bool label = gf_slice_equal(sort, GF_SLICE("label"));
    listing l = {.row = {.call = call}, .sorted = !gf_slice_equal(sort, GF_SLICE("size"))};
    l.figures = gf_call_flag(call, "figures");
    l.with_hidden = gf_call_flag(call, "hidden");
    gf_status st = gf_view_documents_left(view, &l.documents, err);
    if (st == GF_OK)
        st = min_score > 0 ? gf_view_clusters_above(view, min_score, visit, &l, err)
                           : gf_view_clusters(view, visit, &l, err);
    /* Candidates have their scores in a space of their own. */
    if (st == GF_OK && !(min_score > 0)) st = gf_view_new_clusters(view, visit, &l, err);
    if (st == GF_OK && l.n) qsort(l.rows, l.n, sizeof *l.rows, label ? by_label : by_id);
    for (size_t i = 0; i < l.n && st == GF_OK; i++)
        st = gf_call_emit(call, l.rows[i].row, err);
    if (st == GF_OK) gf_clusters_tell_hidden(call, l.hidden);
    gf_row_writer_release(&l.row);
    gf_arena_release(&l.memory);
    gf_free(l.rows);
    return st;
}

static gf_status refuse(const char *name, const char *with, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "%s cannot be given with %s", name, with);
}

/*
 * The parameter that asks for other rows, in an order of their own; NULL where none does. by-field
 * goes with by, which is then the third direction.
 */
static gf_status find_other(const gf_call *call, const char **other, gf_error *err)
{
    static const char *const others[] = {"by-field", "by", "tree", "levels", "pending"};
    *other = NULL;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const char *name = others[i];
        bool flag = strcmp(name, "tree") == 0 || strcmp(name, "pending") == 0;
        if (flag ? !gf_call_flag(call, name) : !gf_call_has(call, name)) continue;
        bool third = *other && strcmp(*other, "by-field") == 0 && strcmp(name, "by") == 0;
        if (*other && !third) return refuse(*other, name, err);
        if (!third) *other = name;
    }
    return GF_OK;
}

static gf_status check_combination(const gf_call *call, gf_error *err)
{
    const char *other;
    gf_status st = find_other(call, &other, err);
    if (st != GF_OK) return st;
    bool by = gf_call_has(call, "by"), tree = other && strcmp(other, "tree") == 0;
    bool is_pending = other && strcmp(other, "pending") == 0;
    if (other && gf_call_has(call, "sort")) return refuse("sort", other, err);
    if (other && gf_call_flag(call, "figures")) return refuse("figures", other, err);
    if (other && !is_pending && gf_call_has(call, "min-score"))
        return refuse("min-score", other, err);
    if (!by && gf_call_has(call, "periods"))
        return gf_fail(err, GF_EINVAL, "periods is for clusters over time: give by, too");
    if (!tree && gf_call_has(call, "depth"))
        return gf_fail(err, GF_EINVAL, "depth is for the tree");
    for (size_t i = 0; i < 2; i++) {
        const char *name = i ? "where" : "values";
        if (gf_call_has(call, name) && !gf_call_has(call, "by-field"))
            return gf_fail(err, GF_EINVAL, "%s is for clusters by a field: give by-field, too",
                           name);
    }
    return GF_OK;
}

static gf_status run_clusters(gf_call *call, gf_error *err)
{
    gf_view *view;
    float min_score = (float)gf_call_share(call, "min-score", 0); /* scores are floats */
    gf_status st = check_combination(call, err);
    if (st == GF_OK) st = gf_call_view(call, &view, err);
    if (st != GF_OK) return st;
    if (gf_call_has(call, "by-field"))
        st = gf_clusters_run_by_field(call, view, err);
    else if (gf_call_has(call, "by"))
        st = gf_clusters_run_by(call, view, err);
    else if (gf_call_flag(call, "tree"))
        st = gf_clusters_run_tree(call, view, err);
    else if (gf_call_has(call, "levels"))
        st = gf_clusters_run_levels(call, view, err);
    else if (gf_call_flag(call, "pending"))
        st = list_pending(call, view, min_score, err);
    else
        st = list_clusters(call, view, min_score, err);
    gf_view_close(view);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter clusters_parameters[] = {
    P_COLLECTIONS,
    P_EVERY,
    P_CONFIG,
    P_BUILD,
    P_CHOICE("sort", "size|label|id", "order (size)"),
    P_MIN_SCORE("count only documents with at least that score (0)"),
    P_FLAG("hidden", "also those that are hidden"),
    P_FLAG("figures", "also a word on each cluster, and the figures that it comes from"),
    P_FLAG("pending", "instead the documents put after the build, and where they would be"),
    P_CHOICE("by", "auto|hour|day|week|month|quarter|year",
             "count documents by their time (UTC), rising and falling clusters first; auto: by the "
             "unit that suits the time that they span"),
    P_NUMBER("periods", 1, 1000, "with by: the latest so many (12; with auto 48)"),
    P_TEXT("by-field", "FIELD",
           "documents by the values of this field, with what is more or less than elsewhere; of a "
           "field of numbers their mean and quartiles; with by in each period"),
    P_NUMBER("values", 1, 1000,
             "with by-field: columns for so many values, the most frequent ones (8), also of a "
             "field of numbers"),
    P_SEVERAL("where", false, "F=V",
              "with by-field: only documents of which this holds; also !=, <, <=, >, >="),
    P_FLAG("tree", "the hierarchy over the clusters, with labels at its inner nodes"),
    P_NUMBER("depth", 0, 10000, "with tree: down to this depth (all)"),
    P_LIST("levels", "N,N,...",
           "the hierarchy cut into so many groups on each level, all of them named"),
    P_ID_TYPE};

const gf_operation gf_clusters_operation = {
    .name = "clusters",
    .method = "GET",
    .path = "/collections/{collection}/clusters",
    .meaning = "List clusters",
    GF_PARAMETERS(clusters_parameters),
    .members = gf_schema_clusters,
    .run = run_clusters,
    .reach = GF_REACH_ALL,
    .cacheable = true,
};

/* ---- terms ----------------------------------------------------------------------------------- */

static gf_status emit_term(void *context, const gf_term_info *term, gf_error *err)
{
    gf_row_writer *row = context;
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_json_put_string(w, "term", term->term);
    gf_json_put_string(w, "surface", term->surface);
    gf_json_put_uint(w, "documents", term->documents);
    return gf_row_writer_emit(row, err);
}

static gf_status run_terms(gf_call *call, gf_error *err)
{
    gf_view *view;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_view(call, &view, err);
    if (st != GF_OK) return st;
    st = gf_view_terms(view, gf_call_text(call, "prefix"),
                       gf_call_number(call, "limit", UINT64_MAX), emit_term, &row, err);
    gf_row_writer_release(&row);
    gf_view_close(view);
    return st;
}

static const gf_parameter terms_parameters[] = {
    P_COLLECTIONS,
    P_EVERY,
    P_CONFIG,
    P_BUILD,
    P_TEXT("prefix", "TEXT", "only terms that start so"),
    P_NUMBER("limit", 0, 0, "at most so many (all)")};

static const gf_operation terms_operation = {
    .name = "terms",
    .method = "GET",
    .path = "/collections/{collection}/terms",
    .meaning = "List the vocabulary",
    GF_PARAMETERS(terms_parameters),
    .members = gf_schema_terms,
    .run = run_terms,
    .reach = GF_REACH_ALL,
    .cacheable = true,
};

/* ---- the operations of this noun, in the order of the documentation -------------------------- */

static const gf_operation *const operations[] = {
    &gf_clusters_operation,     &gf_cluster_operation,    &gf_members_operation,
    &gf_export_operation,       &gf_assign_operation,     &gf_diff_operation,
    &gf_evaluate_operation,     &terms_operation,         &gf_names_operation,
    &gf_rename_operation,       &gf_merge_operation,      &gf_split_operation,
    &gf_move_operation,         &gf_keep_operation,       &gf_hide_operation,
    &gf_show_operation,         &gf_lock_operation,       &gf_unlock_operation,
    &gf_set_operation,          &gf_edits_operation,      &gf_undo_operation,
    &gf_topic_add_operation,    &gf_topic_list_operation, &gf_topic_delete_operation,
    &gf_new_operation,          &gf_watch_add_operation,  &gf_watch_list_operation,
    &gf_watch_delete_operation, &gf_watch_run_operation,  &gf_alerts_operation,
};
const gf_operation_group gf_clusters_operations = GF_OPERATION_GROUP(operations);
