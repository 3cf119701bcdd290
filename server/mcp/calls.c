/* The calls of a connection: they wait in a queue, and one thread runs them in their order. */
#include "server/mcp/connection.h"

#include "base/clock.h"
#include "base/memory.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const double GRACE = 2, TELL_EVERY = 0.2; /* seconds */

typedef struct gf_mcp_job {
    struct gf_mcp_job *next;
    struct gf_mcp_connection *server;
    gf_mcp_batch *batch; /* NULL: alone */
    const gf_operation *operation;
    gf_buffer id, token, arguments; /* as JSON; no token: nobody wants to know of progress */
    bool stateless;
    gf_cancel cancel;
    bool silent;        /* cancelled by the client: there is no answer */
    double begun, told; /* seconds */
} gf_mcp_job;

static void free_job(gf_mcp_job *j)
{
    if (!j) return;
    gf_buffer_release(&j->id);
    gf_buffer_release(&j->token);
    gf_buffer_release(&j->arguments);
    gf_free(j);
}

/* Progress has to grow from one message to the next: it is the seconds that the call has run. */
static void tell_progress(void *context, gf_slice what, const char *phase, uint64_t done,
                          uint64_t total)
{
    gf_mcp_job *j = context;
    gf_mcp_connection *s = j->server;
    pthread_mutex_lock(&s->telling);
    double now = gf_clock_seconds();
    if (now - j->told >= TELL_EVERY && gf_cancel_check(&j->cancel, NULL) == GF_OK) {
        gf_buffer line = {0}, message = {0};
        gf_json_writer w = gf_json_writer_to(&line);
        j->told = now;
        if (what.len) {
            gf_buffer_slice(&message, what);
            gf_buffer_str(&message, ": ");
        }
        gf_buffer_str(&message, phase);
        if (done || total) {
            gf_buffer_byte(&message, ' ');
            gf_buffer_count(&message, done);
        }
        if (total) {
            gf_buffer_str(&message, " of ");
            gf_buffer_count(&message, total);
        }
        gf_json_begin(&w, '{');
        gf_json_put_str(&w, "jsonrpc", "2.0");
        gf_json_put_str(&w, "method", "notifications/progress");
        gf_json_key(&w, "params");
        gf_json_begin(&w, '{');
        gf_json_key(&w, "progressToken");
        gf_json_raw(&w, gf_buffer_view(&j->token));
        gf_json_put_double(&w, "progress", now - j->begun);
        gf_json_put_string(&w, "message", gf_buffer_view(&message));
        gf_json_end(&w, '}');
        gf_json_end(&w, '}');
        if (line.state == GF_OK && message.state == GF_OK) gf_mcp_send_line(s, &line);
        gf_buffer_release(&line);
        gf_buffer_release(&message);
    }
    pthread_mutex_unlock(&s->telling);
}

/* The call's receivers of progress and of rows: a sink has one context for both. */
typedef struct call_sink {
    gf_mcp_answer answer;
    gf_mcp_job *job;
} call_sink;

static gf_status take_row(void *context, gf_slice row, gf_error *err)
{
    return gf_mcp_answer_emit(&((call_sink *)context)->answer, row, err);
}

static void take_notice(void *context, const gf_notice *notice)
{
    gf_mcp_answer_notice(&((call_sink *)context)->answer, notice);
}

static void take_progress(void *context, gf_slice what, const char *phase, uint64_t done,
                          uint64_t total)
{
    tell_progress(((call_sink *)context)->job, what, phase, done, total);
}

static gf_status run_operation(gf_mcp_job *j, call_sink *sink, gf_call *call,
                               gf_mcp_arguments *arguments, gf_json_parser *parser, gf_error *err)
{
    const gf_mcp_options *o = &j->server->options;
    gf_json_value object;
    gf_status st = gf_json_parse_copy(parser, gf_buffer_view(&j->arguments), &object, err);
    if (st == GF_OK) st = gf_mcp_arguments_read(j->operation, object, arguments, err);
    if (st != GF_OK) return st;
    *call = (gf_call){.arguments = arguments->list.at,
                      .n_arguments = arguments->list.n,
                      .name_space = o->name_space,
                      .sink = {.context = sink,
                               .emit = take_row,
                               .notice = take_notice,
                               .progress = j->token.len ? take_progress : NULL},
                      .cancel = &j->cancel};
    if (arguments->has_input) call->input = gf_mcp_arguments_input(arguments);
    st = gf_operation_check_from_afar(j->operation, call->arguments, call->n_arguments, err);
    if (st == GF_OK) st = o->run(o->context, j->operation, call, err);
    return st == GF_ECANCELLED && sink->answer.stopped ? GF_OK : st;
}

/* The answer to a call; nothing where there is no memory. */
static void write_result(gf_mcp_job *j, gf_buffer *out)
{
    const gf_mcp_options *o = &j->server->options;
    call_sink sink = {
        .answer = {.operation = j->operation, .max_rows = o->max_rows, .max_bytes = o->max_bytes},
        .job = j};
    gf_mcp_arguments arguments = {.has_input = false};
    gf_json_parser *parser = NULL;
    gf_call call = {.n_arguments = 0};
    gf_error err = {GF_OK, ""};
    gf_status st = gf_json_parser_create(&parser, &err);
    if (st == GF_OK) st = run_operation(j, &sink, &call, &arguments, parser, &err);
    gf_json_writer w = gf_json_writer_to(out);
    gf_mcp_begin_result(&w, gf_buffer_view(&j->id));
    gf_mcp_answer_write(&w, &sink.answer, &call, st, &err);
    gf_mcp_end_result(&w, j->stateless);
    gf_mcp_answer_release(&sink.answer);
    gf_mcp_arguments_release(&arguments);
    gf_json_parser_free(parser);
}

static void run_job(gf_mcp_job *j)
{
    gf_mcp_connection *s = j->server;
    gf_buffer out = {0};
    j->begun = gf_clock_seconds();
    write_result(j, &out);
    pthread_mutex_lock(&s->lock);
    assert(s->jobs == j);
    bool silent = j->silent;
    s->jobs = j->next;
    s->n_jobs--;
    s->bytes -= j->arguments.len;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (!silent) {
        gf_mcp_send_answer(s, j->batch, gf_buffer_view(&j->id), &out);
    } else {
        gf_buffer_release(&out);
        if (j->batch) gf_mcp_finish_in_batch(s, j->batch, NULL);
    }
    free_job(j);
}

static void *run_calls(void *context)
{
    gf_mcp_connection *s = context;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (!s->jobs && !s->ending)
            pthread_cond_wait(&s->changed, &s->lock);
        gf_mcp_job *j = s->jobs;
        pthread_mutex_unlock(&s->lock);
        if (!j) return NULL;
        run_job(j);
    }
}

/* Why the job cannot wait; NULL: it waits, and belongs to the queue. */
static const char *enqueue(gf_mcp_connection *s, gf_mcp_job *j)
{
    const char *why = NULL;
    gf_mcp_job **at = &s->jobs;
    pthread_mutex_lock(&s->lock);
    for (; *at && !why; at = &(*at)->next)
        if (gf_slice_equal(gf_buffer_view(&(*at)->id), gf_buffer_view(&j->id)))
            why = "a call with that id is not answered yet";
    if (!why &&
        (s->n_jobs >= GF_MCP_MOST_WAITING || s->bytes + j->arguments.len > s->options.max_line))
        why = "too many calls wait already; they are run one after another";
    if (!why) {
        *at = j;
        s->n_jobs++;
        s->bytes += j->arguments.len;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return why;
}

static gf_status copy_call(gf_mcp_job *j, const gf_mcp_message *m, gf_error *err)
{
    gf_json_value v;
    gf_status st = GF_OK;
    gf_buffer_slice(&j->id, m->id);
    if (gf_mcp_message_get(m, "arguments", &v))
        st = gf_json_write(v, &j->arguments, err);
    else
        gf_buffer_str(&j->arguments, "{}");
    if (st == GF_OK && gf_mcp_message_meta(m, "progressToken", &v)) {
        gf_json_kind kind = gf_json_kind_of(v);
        if (kind == GF_JSON_STRING || gf_json_is_number(v)) st = gf_json_write(v, &j->token, err);
    }
    if (st == GF_OK) st = gf_buffer_check(&j->id, err);
    if (st == GF_OK) st = gf_buffer_check(&j->token, err);
    return st == GF_OK ? gf_buffer_check(&j->arguments, err) : st;
}

/* The tool of the message, offered; NULL: refused. */
static const gf_operation *choose_tool(gf_mcp_connection *s, gf_mcp_batch *b,
                                       const gf_mcp_message *m)
{
    gf_json_value name, arguments;
    char text[300];
    if (!gf_mcp_message_get(m, "name", &name) || gf_json_kind_of(name) != GF_JSON_STRING) {
        gf_mcp_refuse(s, b, m->id, GF_MCP_BAD_PARAMETERS, "\"name\" has to name a tool");
        return NULL;
    }
    if (gf_mcp_message_get(m, "arguments", &arguments) &&
        gf_json_kind_of(arguments) != GF_JSON_OBJECT) {
        gf_mcp_refuse(s, b, m->id, GF_MCP_BAD_PARAMETERS, "\"arguments\" is not an object");
        return NULL;
    }
    gf_slice tool = gf_json_get_string(name);
    const gf_operation *o = gf_mcp_tool_find(tool);
    if (o && gf_mcp_tool_is_offered(&s->options, o)) return o;
    if (!o)
        snprintf(text, sizeof text, "there is no tool \"%.*s\"",
                 (int)(tool.len < 100 ? tool.len : 100), tool.ptr);
    else if (gf_mcp_tool_is_allowed(&s->options, o))
        snprintf(text, sizeof text, "the tool %s is none of those that --tools names", o->name);
    else
        snprintf(text, sizeof text, "the tool %s is not offered: grouperfish mcp %s%s%sallows it",
                 o->name, gf_operation_writes(o) ? "--allow-writes " : "",
                 o->local ? "--allow-files " : "", o->network ? "--allow-network " : "");
    gf_mcp_refuse(s, b, m->id, GF_MCP_BAD_PARAMETERS, text);
    return NULL;
}

void gf_mcp_take_call(gf_mcp_connection *s, gf_mcp_batch *b, const gf_mcp_message *m,
                      bool stateless)
{
    const gf_operation *o = choose_tool(s, b, m);
    gf_error err = {GF_OK, ""};
    if (!o) return;
    gf_mcp_job *j = gf_calloc(1, sizeof *j);
    if (!j || copy_call(j, m, &err) != GF_OK) {
        free_job(j);
        gf_mcp_refuse(s, b, m->id, GF_MCP_FAILED, "out of memory");
        return;
    }
    j->server = s;
    j->batch = b;
    j->operation = o;
    j->stateless = stateless;
    const char *why = enqueue(s, j);
    if (!why) return;
    free_job(j);
    gf_mcp_refuse(s, b, m->id, GF_MCP_FAILED, why);
}

void gf_mcp_cancel_call(gf_mcp_connection *s, const gf_mcp_message *m)
{
    gf_json_value v;
    gf_buffer id = {0};
    gf_mcp_job *waiting = NULL;
    if (!gf_mcp_message_get(m, "requestId", &v) || !gf_mcp_message_id(v, &id) ||
        gf_buffer_check(&id, NULL) != GF_OK) {
        gf_buffer_release(&id);
        return;
    }
    pthread_mutex_lock(&s->lock);
    for (gf_mcp_job **at = &s->jobs; *at; at = &(*at)->next) {
        if (!gf_slice_equal(gf_buffer_view(&(*at)->id), gf_buffer_view(&id))) continue;
        (*at)->silent = true;
        gf_cancel_request(&(*at)->cancel);
        if (*at != s->jobs) {
            waiting = *at;
            *at = waiting->next;
            s->n_jobs--;
            s->bytes -= waiting->arguments.len;
        }
        break;
    }
    pthread_mutex_unlock(&s->lock);
    if (waiting && waiting->batch) gf_mcp_finish_in_batch(s, waiting->batch, NULL);
    free_job(waiting);
    gf_buffer_release(&id);
}

static void cancel_all(gf_mcp_connection *s)
{
    pthread_mutex_lock(&s->lock);
    for (gf_mcp_job *j = s->jobs; j; j = j->next)
        gf_cancel_request(&j->cancel);
    pthread_mutex_unlock(&s->lock);
}

static bool has_jobs(gf_mcp_connection *s)
{
    pthread_mutex_lock(&s->lock);
    bool has = s->jobs != NULL;
    pthread_mutex_unlock(&s->lock);
    return has;
}

/* Calls that came before the end of the stream may still be answered. */
void gf_mcp_finish_calls(gf_mcp_connection *s)
{
    double until = gf_clock_seconds() + GRACE;
    while (has_jobs(s) && !gf_mcp_is_stopped(s) && gf_clock_seconds() < until)
        usleep(5000);
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    cancel_all(s);
    pthread_join(s->caller, NULL);
}

/* Signals are for the thread that reads: it is the one that looks at once. */
gf_status gf_mcp_start_calls(gf_mcp_connection *s, gf_error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&s->caller, NULL, run_calls, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? gf_fail(err, GF_ENOMEM, "cannot start a thread") : GF_OK;
}
