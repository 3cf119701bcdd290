/* Edits of clusters: merge, split, move, keep, hide, lock, rename, set; the list of them, and undo. */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

#include "base/memory.h"
#include "base/number.h"

#include <inttypes.h>

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *kind_word(const gf_edit *e)
{
    if (e->kind == GF_EDIT_TOPIC) return e->off ? "topic delete" : "topic add";
    if (e->kind == GF_EDIT_HIDE && e->off) return "show";
    if (e->kind == GF_EDIT_LOCK && e->off) return "unlock";
    return gf_edit_kind_name(e->kind);
}

static void put_maybe(gf_json_writer *w, const char *name, gf_slice text)
{
    if (text.len) gf_json_put_string(w, name, text);
}

static void put_edit(gf_json_writer *w, const gf_edit *e)
{
    gf_json_put_uint(w, "edit", e->number);
    gf_json_put_str(w, "kind", kind_word(e));
    if (e->cluster) gf_json_put_uint(w, "cluster", e->cluster);
    if (e->n_others) {
        gf_json_key(w, "others");
        gf_json_begin(w, '[');
        for (size_t i = 0; i < e->n_others; i++)
            gf_json_uint(w, e->others[i]);
        gf_json_end(w, ']');
    }
    put_maybe(w, "document", e->document);
    put_maybe(w, e->kind == GF_EDIT_TOPIC ? "topic" : "label", e->text);
    put_maybe(w, "words", e->words);
    put_maybe(w, "field", e->field);
    if (e->like) gf_json_put_uint(w, "like", e->like);
    gf_row_put_state(w, e->kind == GF_EDIT_STATE ? &e->state : NULL);
    put_maybe(w, "by", e->by);
    put_maybe(w, "reason", e->reason);
    gf_row_put_time(w, "time", e->when);
    if (e->build) gf_json_put_uint(w, "build", (uint64_t)e->build);
    gf_json_put_bool(w, "holds", e->lost.len == 0);
    put_maybe(w, "lost", e->lost);
}

gf_status gf_edits_emit(void *context, const gf_edit *e, gf_error *err)
{
    gf_row_writer *row = context;
    put_edit(gf_row_writer_begin(row), e);
    return gf_row_writer_emit(row, err);
}

typedef struct lost_list {
    const gf_call *call;
    gf_slice collection;
} lost_list;

static gf_status tell_lost(void *context, const gf_edit *e, gf_error *err)
{
    const lost_list *l = context;
    gf_buffer message = {0};
    if (!e->lost.len) return GF_OK;
    if (e->kind == GF_EDIT_TOPIC)
        gf_buffer_format(&message, "topic \"%.*s\" has no cluster: %.*s", GF_SLICE_ARG(e->text),
                         GF_SLICE_ARG(e->lost));
    else
        gf_buffer_format(&message,
                         "edit %" PRIu64 " (%s, cluster %" PRIu32 ") could not be kept: %.*s",
                         e->number, kind_word(e), e->cluster, GF_SLICE_ARG(e->lost));
    gf_status st = gf_buffer_check(&message, err);
    gf_notice n = {.reason = "lost",
                   .source = l->collection,
                   .message = st == GF_OK ? gf_buffer_cstr(&message) : ""};
    if (st == GF_OK) gf_call_notify(l->call, &n);
    gf_buffer_release(&message);
    return st;
}

gf_status gf_edits_tell_lost(const gf_call *call, gf_store *store, gf_place where,
                             gf_slice configuration, gf_error *err)
{
    lost_list l = {call, where.collection};
    return gf_edits_visit(store, where, configuration, tell_lost, &l, err);
}

/* ---- making ---------------------------------------------------------------------------------- */

static gf_status find_id(gf_call *call, gf_slice name, uint32_t *id, gf_error *err)
{
    gf_view *view;
    gf_slice label = {0};
    gf_status st = gf_cluster_read_name(name, id, &label, err);
    if (st != GF_OK || !label.len) return st;
    st = gf_call_view(call, &view, err);
    if (st != GF_OK) return st;
    st = gf_cluster_find(view, 0, label, id, err);
    gf_view_close(view);
    return st;
}

static gf_status make(gf_call *call, gf_edit_request *r, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    r->by = gf_call_text(call, "by");
    r->reason = gf_call_text(call, "reason");
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK && gf_call_has(call, "cluster"))
        st = find_id(call, gf_call_text(call, "cluster"), &r->cluster, err);
    if (st == GF_OK)
        st = gf_edit_make(store, gf_call_place(call), gf_call_configuration(call), r, gf_edits_emit,
                          &row, err);
    gf_row_writer_release(&row);
    return st;
}

static gf_status run_merge(gf_call *call, gf_error *err)
{
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE);
    gf_slice *names = NULL;
    uint32_t *ids = NULL;
    gf_status st = gf_call_list(call, "others", &names, &r.n_others, err);
    if (st == GF_OK) ids = gf_array(r.n_others, sizeof *ids);
    if (st == GF_OK && !ids) st = gf_fail_memory(err, "clusters");
    for (size_t i = 0; i < r.n_others && st == GF_OK; i++)
        st = find_id(call, names[i], &ids[i], err);
    r.others = ids;
    if (st == GF_OK) st = make(call, &r, err);
    gf_free(names);
    gf_free(ids);
    return st;
}

static gf_status run_split(gf_call *call, gf_error *err)
{
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT);
    r.parts = (uint32_t)gf_call_number(call, "k", 2);
    return make(call, &r, err);
}

static gf_status run_hide(gf_call *call, gf_error *err)
{
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE);
    return make(call, &r, err);
}

static gf_status run_show(gf_call *call, gf_error *err)
{
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .off = true);
    return make(call, &r, err);
}

static gf_status run_lock(gf_call *call, gf_error *err)
{
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK);
    return make(call, &r, err);
}

static gf_status run_unlock(gf_call *call, gf_error *err)
{
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .off = true);
    return make(call, &r, err);
}

static gf_status run_set(gf_call *call, gf_error *err)
{
    static const char *const names[] = {"status", "owner", "link", "note"};
    enum { NAMES = sizeof names / sizeof names[0] };
    gf_pair set[2 * NAMES];
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_STATE, .set = set);
    gf_slice *cleared = NULL;
    size_t n = 0;
    gf_status st = gf_call_list(call, "clear", &cleared, &n, err);
    if (st == GF_OK && n > NAMES)
        st = gf_fail(err, GF_EINVAL, "clear names status, owner, link or note, each once");
    for (size_t i = 0; i < n && st == GF_OK; i++)
        set[r.n_set++] = (gf_pair){cleared[i], GF_SLICE("")};
    for (size_t i = 0; i < NAMES; i++)
        if (gf_call_has(call, names[i]))
            set[r.n_set++] = (gf_pair){gf_slice_str(names[i]), gf_call_text(call, names[i])};
    if (st == GF_OK) st = make(call, &r, err);
    gf_free(cleared);
    return st;
}

static gf_status run_rename(gf_call *call, gf_error *err)
{
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL);
    r.text = gf_call_text(call, "text");
    return make(call, &r, err);
}

static gf_status run_move(gf_call *call, gf_error *err)
{
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE);
    r.document = gf_call_text(call, "id");
    return make(call, &r, err);
}

static gf_status run_keep(gf_call *call, gf_error *err)
{
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP);
    r.document = gf_call_text(call, "id");
    return make(call, &r, err);
}

/* ---- the list, and undo ---------------------------------------------------------------------- */

static gf_status run_edits(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_edits_visit(store, gf_call_place(call), gf_call_configuration(call), gf_edits_emit,
                            &row, err);
    gf_row_writer_release(&row);
    return st;
}

static gf_status begin_edit(void *context, const gf_edit *e, gf_error *err)
{
    gf_row_writer *row = context;
    (void)err;
    put_edit(gf_row_writer_begin(row), e);
    return GF_OK;
}

static gf_status run_undo(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    bool waits = false;
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_edit_undo(store, gf_call_place(call), gf_call_configuration(call),
                          gf_call_number(call, "edit", 0), &waits, begin_edit, &row, err);
    if (st == GF_OK) {
        gf_json_put_bool(&row.json, "waits", waits);
        st = gf_row_writer_emit(&row, err);
    }
    gf_row_writer_release(&row);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

#define P_CLUSTER P_REQUIRED("cluster", "ID|label:TEXT", "the cluster, by id or label")
#define P_BY      P_TEXT("by", "NAME", "who does it")
#define P_REASON  P_TEXT("reason", "TEXT", "why")

static const gf_parameter merge_parameters[] = {
    P_COLLECTION,
    P_REQUIRED("cluster", "ID|label:TEXT", "the cluster that stays, by id or label"),
    {"others", GF_PARAMETER_LIST, true, "ID|label:TEXT", "those that go into it and end", 0, 0},
    P_CONFIG,
    P_BY,
    P_REASON};
static const gf_parameter split_parameters[] = {
    P_COLLECTION, P_CLUSTER, P_NUMBER("k", 2, 100, "parts (2)"), P_CONFIG, P_BY, P_REASON};
static const gf_parameter cluster_parameters[] = {P_COLLECTION, P_CLUSTER, P_CONFIG, P_BY,
                                                  P_REASON};
static const gf_parameter set_parameters[] = {
    P_COLLECTION,
    P_CLUSTER,
    P_TEXT("status", "TEXT", "how far it is, such as planned"),
    P_TEXT("owner", "TEXT", "whose it is"),
    P_TEXT("link", "TEXT", "where it is worked on"),
    P_TEXT("note", "TEXT", "anything else"),
    P_LIST("clear", "NAME[,NAME...]", "take away the status, owner, link or note"),
    P_CONFIG,
    P_BY,
    P_REASON};
static const gf_parameter rename_parameters[] = {
    P_COLLECTION, P_CLUSTER, P_REQUIRED("text", "TEXT", "what it is to be called"),
    P_CONFIG,     P_BY,      P_REASON};
static const gf_parameter move_parameters[] = {
    P_COLLECTION,
    P_REQUIRED("id", "ID", "the document"),
    P_REQUIRED("cluster", "ID|label:TEXT", "the cluster that it goes into, by id or label"),
    P_CONFIG,
    P_BY,
    P_REASON};
static const gf_parameter keep_parameters[] = {P_COLLECTION, P_REQUIRED("id", "ID", "the document"),
                                               P_CONFIG, P_BY, P_REASON};
static const gf_parameter edits_parameters[] = {P_COLLECTION, P_CONFIG};
static const gf_parameter undo_parameters[] = {
    P_COLLECTION, P_NUMBER("edit", 1, 0, "its number (the last one)"), P_CONFIG};

#define EDIT_OPERATION(variable, operation_name, of_method, of_path, what, list, handler)          \
    const gf_operation variable = {                                                                \
        .name = (operation_name),                                                                  \
        .method = (of_method),                                                                     \
        .path = (of_path),                                                                         \
        .meaning = (what),                                                                         \
        GF_PARAMETERS(list),                                                                       \
        .members = gf_schema_edit,                                                                 \
        .run = (handler),                                                                          \
        .single = true,                                                                            \
        .authored = true,                                                                          \
    }

#define OF_CLUSTER "/collections/{collection}/clusters/{cluster}"

EDIT_OPERATION(gf_merge_operation, "cluster merge", "POST", OF_CLUSTER "/merge",
               "Merge clusters into one", merge_parameters, run_merge);
EDIT_OPERATION(gf_split_operation, "cluster split", "POST", OF_CLUSTER "/split", "Split a cluster",
               split_parameters, run_split);
EDIT_OPERATION(gf_hide_operation, "cluster hide", "PUT", OF_CLUSTER "/hidden",
               "Leave a cluster out of lists", cluster_parameters, run_hide);
EDIT_OPERATION(gf_show_operation, "cluster show", "DELETE", OF_CLUSTER "/hidden",
               "Have a hidden cluster in lists again", cluster_parameters, run_show);
EDIT_OPERATION(gf_lock_operation, "cluster lock", "PUT", OF_CLUSTER "/lock",
               "Keep a cluster's centre where it is", cluster_parameters, run_lock);
EDIT_OPERATION(gf_unlock_operation, "cluster unlock", "DELETE", OF_CLUSTER "/lock",
               "Let a locked cluster's centre move again", cluster_parameters, run_unlock);
EDIT_OPERATION(gf_set_operation, "cluster set", "PATCH", OF_CLUSTER,
               "Note a cluster's status, owner, link, note", set_parameters, run_set);
EDIT_OPERATION(gf_rename_operation, "rename", "PUT", OF_CLUSTER "/name", "Call a cluster otherwise",
               rename_parameters, run_rename);
EDIT_OPERATION(gf_move_operation, "doc move", "PUT",
               "/collections/{collection}/documents/{id}/cluster",
               "Put a document into another cluster", move_parameters, run_move);
EDIT_OPERATION(gf_keep_operation, "doc keep", "PUT",
               "/collections/{collection}/documents/{id}/kept", "Keep a document in its cluster",
               keep_parameters, run_keep);

const gf_operation gf_edits_operation = {
    .name = "edits",
    .method = "GET",
    .path = "/collections/{collection}/edits",
    .meaning = "List what people changed in clusters",
    GF_PARAMETERS(edits_parameters),
    .members = gf_schema_edit,
    .run = run_edits,
    .cacheable = true,
};

const gf_operation gf_undo_operation = {
    .name = "undo",
    .method = "POST",
    .path = "/collections/{collection}/undo",
    .meaning = "Take an edit back",
    GF_PARAMETERS(undo_parameters),
    .members = gf_schema_undo,
    .run = run_undo,
    .single = true,
};
