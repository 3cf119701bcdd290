/*
 * Rebuilds as tasks:
 *
 *     POST   /v1/collections/{c}/builds   202, the task, its Location
 *     GET    /v1/tasks                    those of the namespace, newest first
 *     GET    /v1/tasks/{task}
 *     DELETE /v1/tasks/{task}             asks it to end
 *     GET    /v1/tasks/{task}/events      server-sent events, to its end
 */
#include "server/http/answer.h"
#include "server/http/route.h"
#include "server/http/rows.h"

#include "base/clock.h"

#include <stdio.h>

enum { LOOK_MS = 500, KEEP_ALIVE_SECONDS = 15 };

static void put_time(gf_json_writer *w, const char *name, int64_t ms)
{
    gf_buffer text = {0};
    if (ms == 0) return;
    gf_clock_write_iso(&text, ms);
    gf_json_put_string(w, name, gf_buffer_view(&text));
    gf_buffer_release(&text);
}

static void put_progress(gf_json_writer *w, const gf_task_info *t)
{
    gf_json_put_str(w, "phase", t->phase);
    if (t->what[0]) gf_json_put_str(w, "of", t->what);
    gf_json_put_uint(w, "done", t->done);
    if (t->total) gf_json_put_uint(w, "total", t->total);
}

static void put_task(gf_json_writer *w, const gf_task_info *t)
{
    gf_json_begin(w, '{');
    gf_json_put_str(w, "task", t->id);
    gf_json_put_str(w, "state", gf_task_state_name(t->state));
    gf_json_put_string(w, "namespace", t->name_space);
    gf_json_put_string(w, "collection", t->collection);
    if (t->configuration.len) gf_json_put_string(w, "configuration", t->configuration);
    put_time(w, "asked", t->asked);
    put_time(w, "begun", t->begun);
    put_time(w, "ended", t->ended);
    if (t->phase[0]) put_progress(w, t);
    if (t->state == GF_TASK_FAILED) gf_json_put_str(w, "error", t->error.message);
    if (t->rows.len) {
        gf_json_key(w, "rows");
        gf_json_raw(w, t->rows);
    }
    if (t->notices.len) {
        gf_json_key(w, "notices");
        gf_json_raw(w, t->notices);
    }
    gf_json_end(w, '}');
}

/* ---- asking ---------------------------------------------------------------------------------- */

static gf_status write_task(void *context, const gf_task_info *t, gf_error *err)
{
    gf_request *r = context;
    gf_json_writer w = gf_json_writer_to(&r->answer);
    put_task(&w, t);
    gf_buffer_byte(&r->answer, '\n');
    return gf_buffer_check(&r->answer, err);
}

static gf_status ignore(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

static gf_status check_rebuild(gf_request *r, gf_error *err)
{
    const gf_operation *o = r->route->operation;
    gf_call call = {.arguments = r->arguments, .n_arguments = r->n_arguments};
    gf_status st = gf_operation_check(o, &call, err);
    if (st != GF_OK || gf_several_is_asked(o, r->arguments, r->n_arguments)) return st;
    gf_store *store;
    gf_place where = {r->name_space, gf_route_argument(r, "collection")};
    st = gf_service_take(r->http->options.service, &store, err);
    if (st != GF_OK) return st;
    st = gf_collection_read(store, where, ignore, NULL, err);
    gf_service_give(r->http->options.service);
    return st;
}

static void locate(gf_request *r, const char *id)
{
    gf_buffer b = {0};
    gf_buffer_format(&b, "/v1/tasks/%s", id);
    if (!gf_slice_equal(r->name_space, GF_SLICE("default"))) {
        gf_buffer_str(&b, "?namespace=");
        gf_route_percent_encode(&b, r->name_space);
    }
    if (b.state == GF_OK) r->location = gf_arena_copy(&r->memory, gf_buffer_view(&b));
    gf_buffer_release(&b);
}

bool gf_tasks_is_answered_now(const gf_argument *arguments, size_t n)
{
    static const char *const flags[] = {"dry-run", "explain-k", "matrix"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        for (size_t k = 0; k < n; k++)
            if (gf_slice_equal(arguments[k].name, gf_slice_str(flags[i])) &&
                !gf_slice_equal(arguments[k].value, GF_SLICE("false")))
                return true;
    return false;
}

static void rebuild(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    char id[32];
    bool is_new;
    gf_tasks *tasks = r->http->options.tasks;
    if (gf_parameters_take(r) != GF_OK) return;
    if (gf_tasks_is_answered_now(r->arguments, r->n_arguments)) {
        gf_rows_run(r);
        return;
    }
    gf_status st = check_rebuild(r, &err);
    if (st == GF_OK)
        st = gf_tasks_ask(tasks, r->name_space, r->arguments, r->n_arguments, id, &is_new, &err);
    if (st != GF_OK) {
        gf_answer_failure(r, &err);
        return;
    }
    gf_answer(r, 202, "application/json", (gf_slice){0});
    locate(r, id);
    if (gf_tasks_read(tasks, r->name_space, gf_slice_str(id), write_task, r, &err) != GF_OK)
        gf_answer_failure(r, &err);
}

static void refuse(gf_request *r)
{
    gf_answer_problem(r, 403, GF_REFUSED_OVER_HTTP);
}

void gf_tasks_adjust_route(gf_route *route)
{
    if (route->operation->rebuilds) route->run = rebuild;
    if (route->operation->local) route->run = refuse;
}

/* ---- looking --------------------------------------------------------------------------------- */

static gf_status list_task(void *context, const gf_task_info *t, gf_error *err)
{
    gf_request *r = context;
    gf_buffer_str(&r->answer, r->n_rows++ ? ",\n" : "[");
    gf_json_writer w = gf_json_writer_to(&r->answer);
    put_task(&w, t);
    return gf_buffer_check(&r->answer, err);
}

static void list(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    gf_answer(r, 200, "application/json", (gf_slice){0});
    if (gf_tasks_visit(r->http->options.tasks, r->name_space, list_task, r, &err) != GF_OK)
        gf_answer_failure(r, &err);
    else
        gf_buffer_str(&r->answer, r->n_rows ? "]\n" : "[]\n");
}

static void show(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    gf_answer(r, 200, "application/json", (gf_slice){0});
    gf_slice id = gf_route_argument(r, "task");
    if (gf_tasks_read(r->http->options.tasks, r->name_space, id, write_task, r, &err) != GF_OK)
        gf_answer_failure(r, &err);
}

static void cancel(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    gf_slice id = gf_route_argument(r, "task");
    if (gf_tasks_cancel(r->http->options.tasks, r->name_space, id, &err) != GF_OK)
        gf_answer_failure(r, &err);
    else
        show(r);
    if (err.status == GF_OK) r->status = 202;
}

/* ---- events ---------------------------------------------------------------------------------- */

typedef struct watching {
    gf_request *request;
    uint64_t version;
    bool ended;
} watching;

static gf_status write_event(void *context, const gf_task_info *t, gf_error *err)
{
    watching *w = context;
    gf_buffer *out = &w->request->answer;
    if (t->version == w->version && !(t->state >= GF_TASK_DONE)) return GF_OK;
    w->version = t->version;
    w->ended = t->state >= GF_TASK_DONE;
    gf_buffer_str(out, w->ended ? "event: end\ndata: " : "event: progress\ndata: ");
    gf_json_writer json = gf_json_writer_to(out);
    put_task(&json, t);
    gf_buffer_str(out, "\n\n");
    return gf_buffer_check(out, err);
}

static void events(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    gf_tasks *tasks = r->http->options.tasks;
    gf_slice id = gf_route_argument(r, "task");
    watching w = {r, UINT64_MAX, false};
    gf_answer(r, 200, "text/event-stream", (gf_slice){0});
    gf_status st = gf_tasks_read(tasks, r->name_space, id, write_event, &w, &err);
    if (st != GF_OK) {
        gf_answer_failure(r, &err);
        return;
    }
    double sent = gf_clock_seconds();
    while (st == GF_OK && !w.ended && gf_cancel_check(&r->cancel, NULL) == GF_OK &&
           gf_cancel_check(&r->http->stopping, NULL) == GF_OK) {
        if (r->answer.len) sent = gf_clock_seconds();
        st = gf_answer_flush(r, &err);
        gf_tasks_wait(tasks, r->name_space, id, w.version, LOOK_MS);
        if (st == GF_OK) st = gf_tasks_read(tasks, r->name_space, id, write_event, &w, &err);
        if (gf_clock_seconds() - sent > KEEP_ALIVE_SECONDS && r->answer.len == 0)
            gf_buffer_str(&r->answer, ":\n\n");
    }
}

static const gf_row_member task_members[] = {
    M("task", TEXT, "its name in /v1/tasks"),
    M_WORD("state", "queued|running|done|failed|cancelled", "where it is"),
    M("namespace", TEXT, "whose collection"),
    M("collection", TEXT, "its name"),
    M_MAYBE("configuration", TEXT, "where one was named"),
    M("asked", TIME, "when it was asked for"),
    M_MAYBE("begun", TIME, "once it has"),
    M_MAYBE("ended", TIME, "once it has"),
    M_MAYBE("phase", TEXT, "what it does, or did last"),
    M_MAYBE("of", TEXT, "the collection that it does that for"),
    M_MAYBE("done", INTEGER, "steps of the phase"),
    M_MAYBE("total", INTEGER, "of so many; absent where that is not known"),
    M_MAYBE("error", TEXT, "why it failed"),
    M_MAYBE("rows", ITEMS, "rows of rebuild, once it has ended"),
    M_MAYBE("notices", ITEMS, "what was told beside them, such as edits that are lost"),
    GF_ROW_MEMBERS_END};

const gf_route gf_routes_of_tasks[] = {{.name = "task list",
                                        .method = "GET",
                                        .path = "/v1/tasks",
                                        .run = list,
                                        .scope = GF_SCOPE_NAMESPACE,
                                        .meaning = "List the tasks of a namespace, newest first",
                                        .row = "task",
                                        .members = task_members},
                                       {.name = "task show",
                                        .method = "GET",
                                        .path = "/v1/tasks/{task}",
                                        .run = show,
                                        .scope = GF_SCOPE_NAMESPACE,
                                        .meaning = "Show a task",
                                        .row = "task",
                                        .members = task_members,
                                        .single = true},
                                       {.name = "task cancel",
                                        .method = "DELETE",
                                        .path = "/v1/tasks/{task}",
                                        .run = cancel,
                                        .scope = GF_SCOPE_NAMESPACE,
                                        .writes = true,
                                        .status = 202,
                                        .meaning = "Ask a task to end",
                                        .row = "task",
                                        .members = task_members,
                                        .single = true},
                                       {.name = "task events",
                                        .method = "GET",
                                        .path = "/v1/tasks/{task}/events",
                                        .run = events,
                                        .scope = GF_SCOPE_NAMESPACE,
                                        .meaning = "Follow a task to its end by server-sent events",
                                        .type = "text/event-stream"}};
const size_t gf_n_routes_of_tasks = sizeof gf_routes_of_tasks / sizeof gf_routes_of_tasks[0];
