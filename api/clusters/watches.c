/* Watches: rules, looks, alerts. */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "grouperfish/watches.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- rules ----------------------------------------------------------------------------------- */

enum { LEAST_KEY = 16 /* bytes of a part of a path that may be a key */ };

/*
 * An address as whoever may read can see it: without its query, and without parts of its path that are as
 * long as keys. Hooks of chats have theirs there, and who knows it may post.
 */
static gf_status show_address(gf_slice address, gf_buffer *out, gf_error *err)
{
    size_t at = 0, end;
    for (unsigned part = 0; at < address.len; at = end, part++) {
        for (end = at; end < address.len && !strchr("/?#", address.ptr[end]);)
            end++;
        gf_slice text = gf_slice_of(address.ptr + at, end - at);
        if (part > 2 && text.len >= LEAST_KEY) text = GF_SLICE("\xe2\x80\xa6");
        gf_buffer_slice(out, text);
        if (end == address.len || address.ptr[end] != '/') break;
        gf_buffer_byte(out, address.ptr[end++]);
    }
    return gf_buffer_check(out, err);
}

static gf_status emit_watch(void *context, const gf_watch *watch, gf_error *err)
{
    gf_row_writer *row = context;
    gf_buffer address = {0};
    if (watch->way == GF_WATCH_POST) {
        gf_status st = show_address(watch->target, &address, err);
        if (st != GF_OK) {
            gf_buffer_release(&address);
            return st;
        }
    }
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_json_put_uint(w, "watch", watch->number);
    gf_json_put_string(w, "when", watch->when);
    gf_json_put_str(w, "way", gf_watch_way_name(watch->way));
    gf_json_put_string(w, "target", address.len ? gf_buffer_view(&address) : watch->target);
    gf_buffer_release(&address);
    gf_json_put_bool(w, "signed", watch->secret_file.len > 0);
    gf_row_put_time(w, "since", watch->since);
    if (watch->away) gf_json_put_bool(w, "away", true);
    return gf_row_writer_emit(row, err);
}

/* A path that holds wherever the server that uses it later runs. */
static gf_status keep_path(gf_slice given, gf_buffer *memory, gf_slice *path, gf_error *err)
{
    *path = given;
    if (!given.len || given.ptr[0] == '/') return GF_OK;
    char *here = getcwd(NULL, 0);
    if (!here) return gf_fail_errno(err, "cannot tell the working folder");
    gf_buffer_format(memory, "%s/%.*s", here, GF_SLICE_ARG(given));
    free(here);
    *path = gf_buffer_view(memory);
    return gf_buffer_check(memory, err);
}

static gf_status read_rule(const gf_call *call, gf_buffer *memory, gf_watch *w, gf_error *err)
{
    unsigned ways = 0;
    w->when = gf_call_text(call, "when");
    for (unsigned i = GF_WATCH_POST; i <= GF_WATCH_MAIL; i++) {
        const char *name = gf_watch_way_name((gf_watch_way)i);
        if (!gf_call_has(call, name)) continue;
        ways++;
        w->way = (gf_watch_way)i;
        w->target = gf_call_text(call, name);
    }
    if (ways != 1)
        return gf_fail(err, GF_EINVAL, "give one of post, exec and mail: the way that alerts go");
    gf_status st = keep_path(gf_call_text(call, "secret-file"), &memory[0], &w->secret_file, err);
    if (st == GF_OK && w->way == GF_WATCH_MAIL)
        st = keep_path(w->target, &memory[1], &w->target, err);
    return st;
}

static gf_status run_add(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_buffer memory[2] = {{0}};
    gf_watch w = {.number = 0};
    gf_status st = read_rule(call, memory, &w, err);
    if (st == GF_OK) st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_watch_add(store, gf_call_place(call), gf_call_configuration(call), &w, emit_watch,
                          &row, err);
    gf_row_writer_release(&row);
    gf_buffer_release(&memory[0]);
    gf_buffer_release(&memory[1]);
    return st;
}

static gf_status run_list(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_watch_visit(store, gf_call_place(call), gf_call_configuration(call), emit_watch,
                            &row, err);
    gf_row_writer_release(&row);
    return st;
}

static gf_status run_delete(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_watch_delete(store, gf_call_place(call), gf_call_configuration(call),
                             gf_call_number(call, "watch", 0), emit_watch, &row, err);
    gf_row_writer_release(&row);
    return st;
}

/* ---- a look, and alerts ---------------------------------------------------------------------- */

static gf_status run_look(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_watch_outcome o = {0};
    gf_place where = gf_call_place(call);
    gf_slice configuration = gf_call_configuration(call);
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_watch_check(store, where, configuration, call->cancel, &o, err);
    if (st == GF_OK)
        st = gf_watch_deliver(store, where, configuration, true, call->cancel, &o, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_uint(w, "candidates", o.candidates);
    gf_json_put_uint(w, "told", o.told);
    gf_json_put_uint(w, "delivered", o.delivered);
    gf_json_put_uint(w, "waiting", o.waiting);
    gf_json_put_uint(w, "failed", o.failed);
    if (o.build) gf_json_put_uint(w, "build", (uint64_t)o.build);
    return gf_row_writer_emit_only(&row, err);
}

typedef struct alert_list {
    gf_row_writer row;
    gf_json_parser *parser;
    gf_buffer json;
} alert_list;

/* The alert's body without the members that the row has or that the call named. */
static gf_status put_body(alert_list *l, gf_slice body, gf_error *err)
{
    static const char *const left_out[] = {"alert",  "namespace", "collection",
                                           "config", "watch",     "time"};
    gf_json_writer *w = &l->row.json;
    gf_json_value root, value;
    gf_slice name;
    gf_status st = gf_json_parse_copy(l->parser, body, &root, err);
    if (st != GF_OK || gf_json_kind_of(root) != GF_JSON_OBJECT)
        return gf_fail(err, GF_ECORRUPT, "table collections: an alert is damaged");
    for (gf_json_iterator it = gf_json_items(root); gf_json_next(&it, &name, &value);) {
        bool passed = false;
        for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
            passed = passed || gf_slice_equal(name, gf_slice_str(left_out[i]));
        if (passed) continue;
        gf_buffer_reset(&l->json);
        st = gf_json_write(value, &l->json, err);
        if (st != GF_OK) return st;
        gf_json_key_slice(w, name);
        gf_json_raw(w, gf_buffer_view(&l->json));
    }
    return GF_OK;
}

static gf_status emit_alert(void *context, const gf_alert *a, gf_error *err)
{
    alert_list *l = context;
    gf_json_writer *w = gf_row_writer_begin(&l->row);
    gf_json_put_uint(w, "alert", a->number);
    gf_json_put_uint(w, "watch", a->watch);
    gf_row_put_time(w, "time", a->time);
    gf_status st = put_body(l, a->body, err);
    if (st != GF_OK) return st;
    gf_json_put_str(w, "way", a->way);
    gf_json_put_string(w, "state", a->state);
    gf_json_put_uint(w, "tries", a->tries);
    gf_row_put_time(w, "tried", a->tried);
    gf_row_put_time(w, "next", a->next);
    if (a->problem.len) gf_json_put_string(w, "problem", a->problem);
    return gf_row_writer_emit(&l->row, err);
}

static gf_status run_alerts(gf_call *call, gf_error *err)
{
    gf_store *store;
    alert_list l = {.row = {.call = call}};
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_json_parser_create(&l.parser, err);
    if (st == GF_OK)
        st = gf_alert_visit(store, gf_call_place(call), gf_call_configuration(call),
                            gf_call_number(call, "after", 0), emit_alert, &l, err);
    gf_json_parser_free(l.parser);
    gf_buffer_release(&l.json);
    gf_row_writer_release(&l.row);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter add_parameters[] = {
    P_COLLECTION,
    P_REQUIRED("when", "RULE", "what is told, such as 'new >= 20 or rising z >= 4'"),
    P_TEXT("post", "URL", "post alerts there, as JSON"),
    P_TEXT("exec", "CMD", "run a command of the shell, with the alert on standard input"),
    {"mail", GF_PARAMETER_PATH, false, "FILE", "append alerts to a file of mail (mbox)", 0, 0},
    {"secret-file", GF_PARAMETER_PATH, false, "FILE", "sign what is posted by the key in this file",
     0, 0},
    P_CONFIG};
static const gf_parameter list_parameters[] = {P_COLLECTION, P_CONFIG};
static const gf_parameter delete_parameters[] = {
    P_COLLECTION, {"watch", GF_PARAMETER_NUMBER, true, "N", "its number", 1, 0}, P_CONFIG};
static const gf_parameter alerts_parameters[] = {
    P_COLLECTION, P_NUMBER("after", 1, 0, "only those of higher numbers"), P_CONFIG};

static const char *const at_home[] = {"exec", "mail", "secret-file", NULL};

const gf_operation gf_watch_add_operation = {
    .name = "watch add",
    .method = "POST",
    .path = "/collections/{collection}/watches",
    .meaning = "Have alerts of what is new, or rises",
    GF_PARAMETERS(add_parameters),
    .members = gf_schema_watch,
    .run = run_add,
    .single = true,
    .creates = true,
    .network = true,
    .at_home = at_home,
};

const gf_operation gf_watch_list_operation = {
    .name = "watch list",
    .method = "GET",
    .path = "/collections/{collection}/watches",
    .meaning = "List the rules that make alerts",
    GF_PARAMETERS(list_parameters),
    .members = gf_schema_watch,
    .run = run_list,
};

const gf_operation gf_watch_delete_operation = {
    .name = "watch delete",
    .method = "DELETE",
    .path = "/collections/{collection}/watches/{watch}",
    .meaning = "Delete a rule that makes alerts",
    GF_PARAMETERS(delete_parameters),
    .members = gf_schema_watch,
    .run = run_delete,
    .single = true,
};

const gf_operation gf_watch_run_operation = {
    .name = "watch run",
    .method = "POST",
    .path = "/collections/{collection}/watches/run",
    .meaning = "Look once at what is new, and send alerts",
    GF_PARAMETERS(list_parameters),
    .members = gf_schema_watch_run,
    .run = run_look,
    .single = true,
    .network = true,
};

const gf_operation gf_alerts_operation = {
    .name = "alerts",
    .method = "GET",
    .path = "/collections/{collection}/alerts",
    .meaning = "List what watches told, and whether it arrived",
    GF_PARAMETERS(alerts_parameters),
    .members = gf_schema_alert,
    .run = run_alerts,
};
