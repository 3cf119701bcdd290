/*
 * One caller: what it asks is run here, on the connection's thread, and what comes meanwhile (the
 * input that was asked for, a cancel, the end of the connection) is received by a second one.
 */
#include "server/socket/internal.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"
#include "server/service/audit.h"

#include <stdio.h>
#include <time.h>

enum { LOOK_MS = 100 };

/* A message that comes so long after the last one was sent is not kept back. */
static const double SEND_AFTER = 0.02, PROGRESS_EVERY = 0.05;

/* Seconds that a holder must have answered before it takes a call with an input. */
static const double INPUT_AFTER = 1;

/* Seconds that a remote caller has to hang up. */
static const double REMOTE_CLOSES = 2;

void gf_call_connection_stop(gf_connection *c, bool cut)
{
    gf_cancel_request(&c->cancel);
    pthread_mutex_lock(&c->lock);
    if (cut && !c->gone) {
        c->gone = true;
        shutdown(c->fd, SHUT_RDWR);
    }
    pthread_cond_broadcast(&c->answered);
    pthread_mutex_unlock(&c->lock);
}

static bool is_gone(gf_connection *c)
{
    pthread_mutex_lock(&c->lock);
    bool gone = c->gone;
    pthread_mutex_unlock(&c->lock);
    return gone;
}

static gf_status check_patience(gf_connection *c, double idle, gf_error *err)
{
    if (idle < c->socket->patience || !gf_socket_drains(c->socket)) return GF_OK;
    return gf_fail(err, GF_ECANCELLED, "the caller does nothing, and the store is being closed");
}

static gf_status tick(void *connection, bool sending, double idle, gf_error *err)
{
    gf_connection *c = connection;
    if (is_gone(c)) return gf_fail(err, GF_EIO, "the caller has gone");
    if (!c->running && gf_clock_seconds() > c->greeted_by)
        return gf_fail(err, GF_EIO, "the caller does not say what it wants");
    return sending ? check_patience(c, idle, err) : GF_OK;
}

/* ---- what comes ------------------------------------------------------------------------------ */

/* False where nothing was asked. */
static bool take_answer(gf_connection *c, gf_wire_type type, gf_slice bytes)
{
    pthread_mutex_lock(&c->lock);
    bool good = type >= GF_WIRE_STREAM && type <= GF_WIRE_FAILED && c->waiting && !c->answer;
    if (good) {
        gf_buffer_reset(&c->answer_bytes);
        gf_buffer_slice(&c->answer_bytes, bytes);
        c->answer = type;
        pthread_cond_broadcast(&c->answered);
    }
    pthread_mutex_unlock(&c->lock);
    /* Who is cancelled asks and does not wait. */
    return good || gf_cancel_check(&c->cancel, NULL) != GF_OK;
}

static void *receive_from_caller(void *connection)
{
    gf_connection *c = connection;
    gf_wire_type type;
    gf_slice bytes;
    while (gf_wire_receive(&c->wire, &type, &bytes, NULL) == GF_OK) {
        if (type == GF_WIRE_CANCEL) {
            __atomic_store_n(&c->told_to_stop, true, __ATOMIC_RELEASE);
            gf_call_connection_stop(c, false);
        } else if (!take_answer(c, type, bytes))
            break;
    }
    gf_cancel_request(&c->cancel);
    pthread_mutex_lock(&c->lock);
    c->gone = true;
    pthread_cond_broadcast(&c->answered);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- what goes ------------------------------------------------------------------------------- */

/* With `sending` held. Where it fails in the middle of a message, nothing can follow. */
static gf_status send_locked(gf_connection *c, gf_wire_type type, gf_slice bytes, bool at_once,
                             gf_error *err)
{
    double now = gf_clock_seconds();
    gf_status st = gf_wire_send(&c->wire, type, bytes, err);
    if (st == GF_OK && (at_once || now - c->flushed >= SEND_AFTER)) {
        c->flushed = now;
        st = gf_wire_flush(&c->wire, err);
    }
    if (st != GF_OK) gf_call_connection_stop(c, true);
    return st;
}

static gf_status send_message(gf_connection *c, gf_wire_type type, gf_slice bytes, bool at_once,
                              gf_error *err)
{
    pthread_mutex_lock(&c->sending);
    gf_status st = send_locked(c, type, bytes, at_once, err);
    pthread_mutex_unlock(&c->sending);
    return st;
}

static gf_status send_result(gf_connection *c, gf_status status, const gf_call *call,
                             const gf_error *why)
{
    gf_buffer b = {0};
    gf_wire_result r = {.status = status, .outcome = call->outcome, .partly = call->partly};
    if (status != GF_OK) r.message = gf_slice_str(why->message);
    gf_wire_write_result(&b, &r);
    gf_status st = gf_buffer_check(&b, NULL);
    if (st == GF_OK) st = send_message(c, GF_WIRE_RESULT, gf_buffer_view(&b), true, NULL);
    gf_buffer_release(&b);
    return st;
}

/* ---- the call, as the service sees it -------------------------------------------------------- */

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    return send_message(context, GF_WIRE_ROW, row, false, err);
}

static gf_status write_bytes(void *context, gf_slice bytes, gf_error *err)
{
    return send_message(context, GF_WIRE_WRITTEN, bytes, false, err);
}

static gf_status reject(void *context, gf_slice record, gf_error *err)
{
    return send_message(context, GF_WIRE_REJECTED, record, false, err);
}

/* A caller that has gone is noticed where the call's rows go. */
static void notice(void *context, const gf_notice *n)
{
    gf_connection *c = context;
    pthread_mutex_lock(&c->sending);
    gf_buffer_reset(&c->message);
    gf_wire_write_notice(&c->message, n);
    if (gf_buffer_check(&c->message, NULL) == GF_OK)
        send_locked(c, GF_WIRE_NOTICE, gf_buffer_view(&c->message), false, NULL);
    pthread_mutex_unlock(&c->sending);
}

/* The caller shows no more than ten in a second. */
static void progress(void *context, gf_slice what, const char *phase, uint64_t done, uint64_t total)
{
    gf_connection *c = context;
    pthread_mutex_lock(&c->sending);
    double now = gf_clock_seconds();
    if (now - c->progressed >= PROGRESS_EVERY) {
        c->progressed = now;
        gf_buffer_reset(&c->message);
        gf_wire_write_progress(&c->message, &(gf_wire_progress){what, phase, done, total});
        if (gf_buffer_check(&c->message, NULL) == GF_OK)
            send_locked(c, GF_WIRE_PROGRESS, gf_buffer_view(&c->message), true, NULL);
    }
    pthread_mutex_unlock(&c->sending);
}

/* ---- the call's input ------------------------------------------------------------------------ */

static gf_status wait_for_answer(gf_connection *c, gf_error *err)
{
    double since = gf_clock_seconds();
    gf_status st = GF_OK;
    pthread_mutex_lock(&c->lock);
    while (st == GF_OK && !c->answer) {
        if (c->gone)
            st = gf_fail(err, GF_ECANCELLED, "the caller has gone");
        else
            st = gf_cancel_check(&c->cancel, err);
        if (st == GF_OK) gf_condition_wait_ms(&c->answered, &c->lock, LOOK_MS);
        if (st != GF_OK || c->answer) break;
        pthread_mutex_unlock(&c->lock);
        st = check_patience(c, gf_clock_seconds() - since, err);
        pthread_mutex_lock(&c->lock);
    }
    c->waiting = false;
    if (st == GF_OK) st = gf_buffer_check(&c->answer_bytes, err);
    pthread_mutex_unlock(&c->lock);
    return st;
}

/* The input's own failure, as the caller tells it. */
static gf_status fail_input(const gf_connection *c, gf_error *err)
{
    gf_wire_result r;
    if (!gf_wire_read_result(gf_buffer_view(&c->answer_bytes), &r) || r.status == GF_OK)
        return gf_fail(err, GF_EINVAL, "the store's socket: what came is no answer");
    return gf_fail(err, r.status, "%.*s", GF_SLICE_ARG(r.message));
}

static gf_status ask(gf_connection *c, gf_wire_type question, gf_slice bytes, gf_error *err)
{
    pthread_mutex_lock(&c->lock);
    c->answer = 0;
    c->waiting = true;
    pthread_mutex_unlock(&c->lock);
    return send_message(c, question, bytes, true, err);
}

/* The answer is `type` with its bytes, or one of the others. */
static gf_status take_asked(gf_connection *c, gf_error *err)
{
    gf_status st = wait_for_answer(c, err);
    return st == GF_OK && c->answer == GF_WIRE_FAILED ? fail_input(c, err) : st;
}

static gf_status ask_for_bytes(gf_connection *c, gf_error *err)
{
    gf_buffer most = {0};
    gf_buffer_varint(&most, GF_WIRE_FRAME);
    gf_status st = gf_buffer_check(&most, err);
    if (st == GF_OK) st = ask(c, GF_WIRE_WANT_BYTES, gf_buffer_view(&most), err);
    gf_buffer_release(&most);
    c->bytes_asked = st == GF_OK;
    return st;
}

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    gf_connection *c = context;
    gf_status st = GF_OK;
    if (c->bytes_asked) st = take_asked(c, err); /* of a stream that is not read to its end */
    c->bytes_asked = false;
    c->bytes_taken = 0;
    c->bytes_left = false;
    if (st == GF_OK) st = ask(c, GF_WIRE_WANT_STREAM, (gf_slice){0}, err);
    if (st == GF_OK) st = take_asked(c, err);
    gf_slice answer = gf_buffer_view(&c->answer_bytes);
    if (st != GF_OK) return st;
    if (c->answer == GF_WIRE_END) return GF_ENOTFOUND;
    if (c->answer != GF_WIRE_STREAM || answer.len == 0)
        return gf_fail(err, GF_EINVAL, "the store's socket: what came is no answer");
    c->stream_in_folder = answer.ptr[0] != 0;
    gf_buffer_reset(&c->stream_name);
    gf_buffer_slice(&c->stream_name, gf_slice_skip(answer, 1));
    *name = gf_buffer_view(&c->stream_name);
    return gf_buffer_check(&c->stream_name, err);
}

/* An answer may be more than is wanted now: what is left of it comes next. */
static gf_status read_stream(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_connection *c = context;
    gf_status st = GF_OK;
    if (!c->bytes_left) {
        if (!c->bytes_asked) st = ask_for_bytes(c, err);
        c->bytes_asked = false;
        if (st == GF_OK) st = take_asked(c, err);
        if (st != GF_OK) return st;
        if (c->answer != GF_WIRE_BYTES || c->answer_bytes.len > GF_WIRE_FRAME)
            return gf_fail(err, GF_EINVAL, "the store's socket: what came is no answer");
        c->bytes_taken = 0;
    }
    gf_slice left = gf_slice_skip(gf_buffer_view(&c->answer_bytes), c->bytes_taken);
    *got = left.len < n ? left.len : n;
    if (*got) memcpy(to, left.ptr, *got);
    c->bytes_taken += *got;
    c->bytes_left = *got < left.len;
    return GF_OK;
}

/* Asks ahead, and looks whether the answer comes. */
static bool waits(void *context, unsigned milliseconds)
{
    gf_connection *c = context;
    double until = gf_clock_seconds() + milliseconds / 1e3;
    if (c->bytes_left || (!c->bytes_asked && ask_for_bytes(c, NULL) != GF_OK)) return false;
    pthread_mutex_lock(&c->lock);
    bool nothing;
    while ((nothing = !c->answer && !c->gone && gf_cancel_check(&c->cancel, NULL) == GF_OK) &&
           gf_clock_seconds() < until)
        gf_condition_wait_ms(&c->answered, &c->lock, LOOK_MS);
    pthread_mutex_unlock(&c->lock);
    return nothing;
}

static bool is_in_folder(void *context)
{
    return ((gf_connection *)context)->stream_in_folder;
}

/* ---- one call -------------------------------------------------------------------------------- */

static void run_accepted(gf_connection *c, const gf_operation *o, const gf_wire_call *w)
{
    gf_error err = {GF_OK, ""};
    gf_call call = {.arguments = w->arguments,
                    .n_arguments = w->n_arguments,
                    .name_space = w->name_space,
                    .sink = {.context = c,
                             .emit = emit,
                             .write = w->write ? write_bytes : NULL,
                             .notice = w->notice ? notice : NULL,
                             .progress = w->progress ? progress : NULL,
                             .reject = w->reject ? reject : NULL},
                    .holder = {.path = gf_buffer_cstr(&c->path)},
                    .cancel = &c->cancel};
    if (w->input)
        call.input = (gf_input){.context = c,
                                .next = next_stream,
                                .read = read_stream,
                                .in_folder = is_in_folder,
                                .waits = waits};
    const gf_remote_caller *remote = &c->remote;
    if (remote->run) call.name_space = remote->name_space;
    double begun = gf_clock_seconds();
    gf_status st = remote->run ? remote->run(remote->context, o, &call, &c->told_to_stop, &err)
                               : gf_service_run(c->socket->service, o, &call, &err);
    if (!remote->run && gf_operation_writes(o)) /* a remote's is told where its token is known */
        gf_audit_write(c->socket->log, GF_LOG_INFO,
                       &(gf_audited_call){.operation = o->name,
                                          .name_space = call.name_space,
                                          .arguments = call.arguments,
                                          .n_arguments = call.n_arguments,
                                          .result = st == GF_OK ? "done" : err.message,
                                          .uid = c->uid,
                                          .process = c->process,
                                          .seconds = gf_clock_seconds() - begun});
    send_result(c, st, &call, &err);
}

/*
 * Over a network, closing with something unread takes back what was sent last: the remote closes
 * first, once it has its result.
 */
static void wait_for_remote_end(gf_connection *c)
{
    double since = gf_clock_seconds();
    shutdown(c->fd, SHUT_WR);
    pthread_mutex_lock(&c->lock);
    while (!c->gone && gf_clock_seconds() - since < REMOTE_CLOSES)
        gf_condition_wait_ms(&c->answered, &c->lock, LOOK_MS);
    pthread_mutex_unlock(&c->lock);
}

/* The answers to a call are received on a thread of their own. */
static void run_with_receiver(gf_connection *c, const gf_operation *o, const gf_wire_call *w)
{
    pthread_t receiver;
    gf_error err = {GF_OK, ""};
    c->running = true;
    gf_status st = send_message(c, GF_WIRE_ACCEPTED, (gf_slice){0}, true, &err);
    if (st != GF_OK) return;
    if (pthread_create(&receiver, NULL, receive_from_caller, c) != 0) {
        gf_fail(&err, GF_ENOMEM, "cannot start a thread");
        send_result(c, GF_ENOMEM, &(gf_call){0}, &err);
        return;
    }
    run_accepted(c, o, w);
    if (c->remote.run) wait_for_remote_end(c);
    shutdown(c->fd, SHUT_RD);
    pthread_join(receiver, NULL);
}

static void refuse(gf_connection *c, gf_wire_type how, const char *why)
{
    char message[GF_ERROR_MESSAGE];
    snprintf(message, sizeof message, "%s %s", c->socket->holder, why);
    send_message(c, how, gf_slice_str(message), true, NULL);
}

static void fail_call(gf_connection *c, gf_slice operation)
{
    gf_error err;
    gf_fail(&err, GF_EINVAL, "%s does not do \"%.*s\" for others", c->socket->holder,
            GF_SLICE_ARG(operation));
    send_result(c, GF_EINVAL, &(gf_call){0}, &err);
}

/*
 * An input may go on for ever, and so would a command that ends after it: one that holds the store
 * for a moment is not to be caught so. What serves is there for that.
 */
static bool is_too_early(const gf_socket *s, const gf_wire_call *w)
{
    return w->input && !s->rebuilds && gf_clock_seconds() - s->begun < INPUT_AFTER;
}

/* A remote caller may run the one operation that its upgrade was granted for. */
static bool may_run(const gf_connection *c, const gf_operation *o)
{
    if (!o) return false;
    return c->remote.run ? o == c->remote.operation : o->use == GF_USE_SHARED;
}

static void handle_call(gf_connection *c, const gf_wire_call *w)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", GF_SLICE_ARG(w->operation));
    const gf_operation *o = gf_operation_find(name);
    gf_buffer_slice(&c->path, w->store_path);
    if (!may_run(c, o))
        fail_call(c, w->operation);
    else if (!c->socket->rebuilds && gf_service_rebuilds(o, w->arguments, w->n_arguments))
        refuse(c, GF_WIRE_LATER, "holds the store, and rebuilds and purges only for itself");
    else if (is_too_early(c->socket, w))
        refuse(c, GF_WIRE_AGAIN, "has just taken the store");
    else if (!gf_socket_begin_call(c->socket, c))
        refuse(c, GF_WIRE_AGAIN, "is about to give the store back");
    else
        run_with_receiver(c, o, w);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static gf_status greet(gf_connection *c)
{
    gf_buffer hello = {0};
    gf_wire_type type;
    gf_slice bytes, who;
    uint32_t version;
    gf_wire_write_hello(&hello, c->socket->holder);
    gf_status st = gf_buffer_check(&hello, NULL);
    if (st == GF_OK) st = send_message(c, GF_WIRE_HELLO, gf_buffer_view(&hello), true, NULL);
    gf_buffer_release(&hello);
    if (st == GF_OK) st = gf_wire_receive(&c->wire, &type, &bytes, NULL);
    if (st != GF_OK) return st;
    bool ours = type == GF_WIRE_HELLO && gf_wire_read_hello(bytes, &version, &who) &&
                version == GF_WIRE_VERSION;
    return ours ? GF_OK : GF_EINVAL; /* another version's caller reads ours in the hello */
}

void gf_call_connection_run(gf_connection *c)
{
    gf_wire_type type;
    gf_slice bytes;
    gf_wire_call call;
    gf_buffer kept = {0}; /* the call's message: receiving goes on while it runs */
    gf_wire_init(&c->wire, c->fd, tick, c);
    c->wire.most = GF_WIRE_MOST_CALL;
    gf_status st = greet(c);
    if (st == GF_OK) st = gf_wire_receive(&c->wire, &type, &bytes, NULL);
    if (st == GF_OK && type != GF_WIRE_CALL) st = GF_EINVAL;
    if (st == GF_OK) gf_buffer_slice(&kept, bytes);
    if (st == GF_OK) st = gf_buffer_check(&kept, NULL);
    if (st == GF_OK) st = gf_wire_read_call(gf_buffer_view(&kept), &call, NULL);
    if (st == GF_OK) {
        handle_call(c, &call);
        gf_free(call.arguments);
    }
    gf_buffer_release(&kept);
}
