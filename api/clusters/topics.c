/* Topics: added, listed, deleted. They are edits, which the next rebuild obeys. */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

#include "base/memory.h"

/* ---- adding and deleting --------------------------------------------------------------------- */

/* Topics take effect when the clusters are made anew: the command that does it is told. */
static void tell_owed(const gf_call *call, const char *what)
{
    gf_buffer message = {0};
    gf_slice collection = gf_call_text(call, "collection"), config = gf_call_text(call, "config");
    gf_buffer_format(&message, "%s with the next rebuild: grouperfish rebuild %.*s%s%.*s", what,
                     GF_SLICE_ARG(collection), config.len ? " --config " : "",
                     GF_SLICE_ARG(config));
    gf_status st = gf_buffer_check(&message, NULL);
    gf_notice n = {.reason = "owed",
                   .source = collection,
                   .message = st == GF_OK ? gf_buffer_cstr(&message) : ""};
    if (st == GF_OK) gf_call_notify(call, &n);
    gf_buffer_release(&message);
}

static gf_status run_add(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_slice *like = NULL;
    gf_topic_request r =
        GF_TOPIC_REQUEST(.name = gf_call_text(call, "name"), .words = gf_call_text(call, "words"),
                         .field = gf_call_text(call, "from-field"), .by = gf_call_text(call, "by"),
                         .reason = gf_call_text(call, "reason"));
    gf_status st = gf_call_list(call, "like", &like, &r.n_like, err);
    r.like = like;
    if (st == GF_OK) st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_topic_add(store, gf_call_place(call), gf_call_configuration(call), &r,
                          gf_edits_emit, &row, err);
    if (st == GF_OK) tell_owed(call, "it gets its documents");
    gf_row_writer_release(&row);
    gf_free(like);
    return st;
}

static gf_status run_delete(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_topic_delete(store, gf_call_place(call), gf_call_configuration(call),
                             gf_call_text(call, "name"), gf_call_text(call, "by"),
                             gf_call_text(call, "reason"), gf_edits_emit, &row, err);
    if (st == GF_OK) tell_owed(call, "it ends");
    gf_row_writer_release(&row);
    return st;
}

/* ---- the list -------------------------------------------------------------------------------- */

static void put_maybe(gf_json_writer *w, const char *name, gf_slice text)
{
    if (text.len) gf_json_put_string(w, name, text);
}

static gf_status emit_topic(void *context, const gf_topic_info *t, gf_error *err)
{
    gf_row_writer *row = context;
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_json_put_string(w, "topic", t->name);
    if (t->cluster) gf_json_put_uint(w, "cluster", t->cluster);
    gf_json_put_uint(w, "documents", t->documents);
    if (t->documents) {
        gf_json_key(w, "threshold");
        gf_json_float(w, t->threshold);
    }
    put_maybe(w, "words", t->words);
    if (t->like) gf_json_put_uint(w, "like", t->like);
    put_maybe(w, "field", t->field);
    gf_json_put_bool(w, "owed", t->owed);
    put_maybe(w, "lost", t->lost);
    gf_json_put_uint(w, "edit", t->number);
    put_maybe(w, "by", t->by);
    put_maybe(w, "reason", t->reason);
    gf_row_put_time(w, "time", t->when);
    return gf_row_writer_emit(row, err);
}

static gf_status run_list(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    bool owed = false;
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_topics_visit(store, gf_call_place(call), gf_call_configuration(call), &owed,
                             emit_topic, &row, err);
    if (st == GF_OK && owed) tell_owed(call, "topics were added or deleted: that takes effect");
    gf_row_writer_release(&row);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

#define P_BY     P_TEXT("by", "NAME", "who does it")
#define P_REASON P_TEXT("reason", "TEXT", "why")

static const gf_parameter add_parameters[] = {
    P_COLLECTION,
    P_TEXT("name", "NAME", "what it is called; with from-field the one value (all of them)"),
    P_TEXT("words", "WORDS", "words that describe it"),
    P_LIST("like", "ID[,ID...]", "documents that are examples of it"),
    P_TEXT("from-field", "FIELD", "documents that have its name in that field are examples"),
    P_CONFIG,
    P_BY,
    P_REASON};
static const gf_parameter list_parameters[] = {P_COLLECTION, P_CONFIG};
static const gf_parameter delete_parameters[] = {
    P_COLLECTION, P_REQUIRED("name", "NAME", "what it is called"), P_CONFIG, P_BY, P_REASON};

const gf_operation gf_topic_add_operation = {
    .name = "topic add",
    .method = "POST",
    .path = "/collections/{collection}/topics",
    .meaning = "Add a topic by words, examples or a field",
    GF_PARAMETERS(add_parameters),
    .members = gf_schema_topic_edit,
    .run = run_add,
    .authored = true,
};

const gf_operation gf_topic_list_operation = {
    .name = "topic list",
    .method = "GET",
    .path = "/collections/{collection}/topics",
    .meaning = "List topics and what they took",
    GF_PARAMETERS(list_parameters),
    .members = gf_schema_topics,
    .run = run_list,
    .cacheable = true,
};

const gf_operation gf_topic_delete_operation = {
    .name = "topic delete",
    .method = "DELETE",
    .path = "/collections/{collection}/topics/{name}",
    .meaning = "Delete a topic",
    GF_PARAMETERS(delete_parameters),
    .members = gf_schema_topic_edit,
    .run = run_delete,
    .single = true,
    .authored = true,
};
