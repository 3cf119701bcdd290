#include "server/socket/internal.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CONNECT_POLL_MS = 5, INPUT_MS = 50 };

static const double LEAST_WAIT = 1;

/* The caller's side of a conversation. */
typedef struct client {
    const gf_operation *operation;
    gf_call *call;
    gf_wire wire;
    const char *server; /* what is called over a network; NULL: the store's own socket */
    char holder[GF_HOLDER_NAME];
    double answer_by; /* the holder's hello; 0: it came */
    bool begun;       /* the holder has accepted the call */
    bool used;        /* something came of it: a row, a notice, a byte that was read */
    bool cancelled;   /* the holder was told to stop */
    gf_error failed;  /* of a callback */
    bool emit_failed;
    bool in_stream;  /* one of the input was given, and no end of it since */
    uint64_t wanted; /* bytes of the input that the holder waits for; 0: none */
    gf_buffer message, text;
} client;

/* ---- connecting ------------------------------------------------------------------------------ */

static gf_status fail_silent(const client *c, gf_error *err)
{
    if (c->server) return gf_fail(err, GF_EBUSY, "%s does not answer", c->server);
    return gf_fail(err, GF_EBUSY, "%s holds the store and does not answer",
                   *c->holder ? c->holder : "a process");
}

/* Nobody answers where there is no socket, or where its process has gone. */
static bool means_nobody(int number)
{
    return number != EAGAIN && number != EINTR;
}

/*
 * For as long as the holder says nothing, the kernel says who it is. What a command sends, and what
 * it believes, is for its own user: whoever can write in the folder could else answer.
 */
static gf_status check_peer(client *c, gf_error *err)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(c->wire.fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return gf_fail_errno(err, "cannot tell who answers on the store's socket");
    snprintf(c->holder, sizeof c->holder, "process %ld", (long)peer.pid);
    if (peer.uid == 0 || peer.uid == geteuid()) return GF_OK;
    return gf_fail(
        err, GF_EIO,
        "on the store's socket process %ld of another user (number %lu) answers, which is "
        "not trusted; run the command as that user, or ask a server (--server)",
        (long)peer.pid, (unsigned long)peer.uid);
}

/* A link would lead to somebody else's socket, of the same user maybe. */
static bool is_link(const struct sockaddr_un *address)
{
    struct stat s;
    return lstat(address->sun_path, &s) == 0 && S_ISLNK(s.st_mode);
}

/* A holder with many callers takes in the next when one has gone. */
static gf_status connect_to(client *c, const struct sockaddr_un *address, double deadline,
                            gf_asked *asked, gf_error *err)
{
    if (is_link(address))
        return gf_fail(err, GF_EIO,
                       "the store's socket is a link, which is not followed; remove %s",
                       address->sun_path);
    while (connect(c->wire.fd, (const struct sockaddr *)address, sizeof *address) != 0) {
        if (means_nobody(errno)) {
            *asked = GF_CLIENT_NOBODY;
            return GF_OK;
        }
        gf_status st = gf_cancel_check(c->call->cancel, err);
        if (st != GF_OK) return st;
        if (gf_clock_seconds() >= deadline) return fail_silent(c, err);
        nanosleep(&(struct timespec){.tv_nsec = CONNECT_POLL_MS * 1000000L}, NULL);
    }
    return check_peer(c, err);
}

/* ---- stopping -------------------------------------------------------------------------------- */

/* A holder that has gone is noticed where its answer is awaited. */
static void tell_to_stop(client *c)
{
    if (c->cancelled) return;
    c->cancelled = true;
    if (gf_wire_send(&c->wire, GF_WIRE_CANCEL, (gf_slice){0}, NULL) == GF_OK)
        gf_wire_flush(&c->wire, NULL);
}

static void look_for_cancel(client *c)
{
    if (c->begun && gf_cancel_check(c->call->cancel, NULL) != GF_OK) tell_to_stop(c);
}

static gf_status tick(void *context, bool sending, double idle, gf_error *err)
{
    client *c = context;
    (void)idle;
    if (!sending) look_for_cancel(c);
    if (c->begun) return GF_OK;
    gf_status st = gf_cancel_check(c->call->cancel, err);
    if (st != GF_OK || c->answer_by == 0 || gf_clock_seconds() < c->answer_by) return st;
    return fail_silent(c, err);
}

/* ---- what the holder sends ------------------------------------------------------------------- */

static void keep_failure(client *c, gf_status st, const gf_error *why)
{
    if (st == GF_OK) return;
    if (c->failed.status == GF_OK) {
        c->failed = *why;
        c->failed.status = st;
    }
    tell_to_stop(c);
}

static void take_row(client *c, gf_slice row)
{
    gf_error why = {GF_OK, ""};
    if (c->emit_failed) return;
    gf_status st = gf_call_emit(c->call, row, &why);
    c->emit_failed = st != GF_OK;
    keep_failure(c, st, &why);
}

static void take_bytes(client *c, gf_wire_type type, gf_slice bytes)
{
    gf_error why = {GF_OK, ""};
    gf_status (*to)(void *, gf_slice, gf_error *) =
        type == GF_WIRE_WRITTEN ? c->call->sink.write : c->call->sink.reject;
    if (to && c->failed.status == GF_OK)
        keep_failure(c, to(c->call->sink.context, bytes, &why), &why);
}

static bool take_notice(client *c, gf_slice bytes)
{
    gf_notice n;
    if (!gf_wire_read_notice(bytes, &c->text, &n)) return false;
    gf_call_notify(c->call, &n);
    return true;
}

static bool take_progress(client *c, gf_slice bytes)
{
    gf_wire_progress p;
    if (!gf_wire_read_progress(bytes, &c->text, &p)) return false;
    gf_call_progress(c->call, p.what, p.phase, p.done, p.total);
    return true;
}

/* ---- the input ------------------------------------------------------------------------------- */

/* A holder that takes no more may have said why: that is received next. */
static gf_status answer(client *c, gf_wire_type type, gf_slice bytes, gf_error *err)
{
    gf_status st = gf_wire_send(&c->wire, type, bytes, err);
    if (st == GF_OK) st = gf_wire_flush(&c->wire, err);
    return st == GF_EIO ? GF_OK : st;
}

static gf_status answer_failed(client *c, gf_status status, const gf_error *why, gf_error *err)
{
    gf_buffer_reset(&c->message);
    gf_wire_write_result(
        &c->message, &(gf_wire_result){.status = status, .message = gf_slice_str(why->message)});
    gf_status st = gf_buffer_check(&c->message, err);
    return st == GF_OK ? answer(c, GF_WIRE_FAILED, gf_buffer_view(&c->message), err) : st;
}

static gf_status answer_stream(client *c, gf_error *err)
{
    const gf_input *in = &c->call->input;
    gf_error why = {GF_OK, ""};
    gf_slice name = {0};
    gf_status st = in->next(in->context, &name, &why);
    c->used = true;
    c->in_stream = st == GF_OK;
    if (st == GF_ENOTFOUND) return answer(c, GF_WIRE_END, (gf_slice){0}, err);
    if (st != GF_OK) return answer_failed(c, st, &why, err);
    gf_buffer_reset(&c->message);
    gf_buffer_byte(&c->message, in->in_folder && in->in_folder(in->context));
    gf_buffer_slice(&c->message, name);
    st = gf_buffer_check(&c->message, err);
    return st == GF_OK ? answer(c, GF_WIRE_STREAM, gf_buffer_view(&c->message), err) : st;
}

/* A call may have no input, and bytes are those of a stream. */
static gf_status take_question(client *c, gf_wire_type type, gf_slice bytes, gf_error *err)
{
    uint64_t most = 0;
    if (type == GF_WIRE_WANT_STREAM && c->call->input.next) return answer_stream(c, err);
    if (type == GF_WIRE_WANT_BYTES && c->in_stream && gf_slice_take_varint(&bytes, &most) &&
        most > 0 && most <= GF_WIRE_FRAME) {
        c->wanted = most;
        return GF_OK;
    }
    return gf_fail(err, GF_EINVAL, "the store's socket: what came is no question");
}

static gf_status answer_bytes(client *c, gf_error *err)
{
    const gf_input *in = &c->call->input;
    gf_error why = {GF_OK, ""};
    uint64_t most = c->wanted;
    size_t got = 0;
    c->wanted = 0;
    gf_buffer_reset(&c->message);
    char *to = gf_buffer_reserve(&c->message, (size_t)most);
    if (!to) return gf_fail_memory(err, "an input");
    gf_status st = in->read(in->context, to, (size_t)most, &got, &why);
    return st == GF_OK ? answer(c, GF_WIRE_BYTES, gf_slice_of(to, got), err)
                       : answer_failed(c, st, &why, err);
}

/* ---- how it ends ----------------------------------------------------------------------------- */

/*
 * A connection that breaks off: what was stored before stays. A rebuild is a task of the server's,
 * which asking again finds.
 */
static gf_status end_lost(const client *c, gf_asked *asked, gf_error *err)
{
    const char *then = "";
    if (!c->begun && !c->used) {
        *asked = GF_CLIENT_AGAIN;
        return gf_fail(err, GF_EBUSY, "%s hung up before it began", c->server);
    }
    if (c->operation->resumes) then = "; what was stored stays, and the same command goes on";
    if (c->operation->rebuilds)
        then = "; a rebuild that has begun goes on there, and the same command waits for it";
    return gf_fail(err, GF_EIO, "the connection to %s was lost in the middle of this%s", c->server,
                   then);
}

/* It can be asked again where nothing came of it yet, and where nothing can have changed. */
static bool may_repeat(const client *c)
{
    return !c->used && (!c->begun || !gf_operation_writes(c->operation));
}

/* The holder was stopped, or killed. */
static gf_status end_stopped(client *c, gf_asked *asked, gf_error *err)
{
    if (c->failed.status != GF_OK) {
        *err = c->failed;
        return c->failed.status;
    }
    if (c->cancelled) return gf_fail(err, GF_ECANCELLED, "stopped on request");
    if (c->server) return end_lost(c, asked, err);
    if (may_repeat(c)) {
        *asked = GF_CLIENT_AGAIN;
        return gf_fail(err, GF_EBUSY, "%s, which held the store, has ended", c->holder);
    }
    return gf_fail(
        err, GF_EIO, "%s, which held the store, ended in the middle of this%s", c->holder,
        c->operation->resumes ? "; what was stored stays, and the same command goes on" : "");
}

static gf_status end_with_result(client *c, gf_slice bytes, gf_asked *asked, gf_error *err)
{
    gf_wire_result r;
    if (!gf_wire_read_result(bytes, &r))
        return gf_fail(err, GF_EINVAL, "the store's socket: what came is no result");
    c->call->outcome = r.outcome;
    c->call->partly = r.partly;
    if (c->failed.status != GF_OK) {
        *err = c->failed;
        return c->failed.status;
    }
    if (r.status == GF_ECANCELLED && !c->cancelled) return end_stopped(c, asked, err);
    return r.status == GF_OK ? GF_OK : gf_fail(err, r.status, "%.*s", GF_SLICE_ARG(r.message));
}

static gf_status end_refused(gf_wire_type type, gf_slice bytes, gf_asked *asked, gf_error *err)
{
    *asked = type == GF_WIRE_LATER ? GF_CLIENT_LATER : GF_CLIENT_AGAIN;
    return gf_fail(err, GF_EBUSY, "%.*s", GF_SLICE_ARG(bytes));
}

/* ---- one message ----------------------------------------------------------------------------- */

/* One message of the holder's; *ended where it was the last. */
static gf_status take_message(client *c, gf_wire_type type, gf_slice bytes, bool *ended,
                              gf_asked *asked, gf_error *err)
{
    bool good = true;
    if (type == GF_WIRE_ROW || type == GF_WIRE_WRITTEN || type == GF_WIRE_REJECTED ||
        type == GF_WIRE_NOTICE)
        c->used = true;
    switch (type) {
    case GF_WIRE_ACCEPTED:
        c->begun = true;
        break;
    case GF_WIRE_ROW:
        take_row(c, bytes);
        break;
    case GF_WIRE_WRITTEN:
    case GF_WIRE_REJECTED:
        take_bytes(c, type, bytes);
        break;
    case GF_WIRE_NOTICE:
        good = take_notice(c, bytes);
        break;
    case GF_WIRE_PROGRESS:
        good = take_progress(c, bytes);
        break;
    case GF_WIRE_WANT_STREAM:
    case GF_WIRE_WANT_BYTES:
        return take_question(c, type, bytes, err);
    case GF_WIRE_AGAIN:
    case GF_WIRE_LATER:
        *ended = true;
        return end_refused(type, bytes, asked, err);
    case GF_WIRE_RESULT:
        *ended = true;
        return end_with_result(c, bytes, asked, err);
    default:
        good = false;
    }
    return good ? GF_OK : gf_fail(err, GF_EINVAL, "the store's socket: what came is no message");
}

/* ---- the conversation ------------------------------------------------------------------------ */

/* While the input gives nothing, what the holder says is listened to. */
static bool can_answer(client *c)
{
    const gf_input *in = &c->call->input;
    if (c->wanted == 0 || c->cancelled || gf_wire_has_more(&c->wire)) return false;
    return !in->waits || !in->waits(in->context, INPUT_MS);
}

static gf_status converse(client *c, gf_asked *asked, gf_error *err)
{
    gf_wire_type type;
    gf_slice bytes;
    bool ended = false;
    gf_status st = GF_OK;
    while (st == GF_OK && !ended) {
        look_for_cancel(c);
        if (can_answer(c)) {
            st = answer_bytes(c, err);
            continue;
        }
        if (c->wanted && !c->cancelled && !gf_wire_has_more(&c->wire)) continue;
        st = gf_wire_receive(&c->wire, &type, &bytes, err);
        if (st == GF_OK) st = take_message(c, type, bytes, &ended, asked, err);
    }
    return st == GF_EIO && !ended ? end_stopped(c, asked, err) : st;
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* A folder that others are to make must be named as they see it. */
static gf_status make_absolute(gf_argument *a, gf_arena *memory, gf_error *err)
{
    gf_buffer path = {0};
    if (a->value.len && a->value.ptr[0] == '/') return GF_OK;
    char *here = getcwd(NULL, 0);
    if (!here) return gf_fail_errno(err, "cannot tell the working folder");
    gf_buffer_format(&path, "%s/%.*s", here, GF_SLICE_ARG(a->value));
    free(here);
    gf_status st = gf_buffer_check(&path, err);
    if (st == GF_OK) a->value = gf_arena_copy(memory, gf_buffer_view(&path));
    gf_buffer_release(&path);
    return st != GF_OK || a->value.ptr ? st : gf_fail_memory(err, "a call");
}

static bool is_path(const gf_operation *o, gf_slice name)
{
    for (size_t i = 0; i < o->n_parameters; i++)
        if (o->parameters[i].kind == GF_PARAMETER_PATH &&
            gf_slice_equal(gf_slice_str(o->parameters[i].name), name))
            return true;
    return false;
}

static gf_status write_call(client *c, const char *store_path, gf_argument *arguments,
                            gf_error *err)
{
    const gf_call *call = c->call;
    gf_wire_call w = {.operation = gf_slice_str(c->operation->name),
                      .name_space = call->name_space,
                      .store_path = gf_slice_str(store_path),
                      .input = call->input.next != NULL,
                      .notice = call->sink.notice != NULL,
                      .progress = call->sink.progress != NULL,
                      .write = call->sink.write != NULL,
                      .reject = call->sink.reject != NULL,
                      .arguments = arguments,
                      .n_arguments = call->n_arguments};
    gf_status st = GF_OK;
    gf_arena paths = {0};
    for (size_t i = 0; st == GF_OK && i < w.n_arguments; i++)
        if (is_path(c->operation, arguments[i].name))
            st = make_absolute(&arguments[i], &paths, err);
    gf_buffer_reset(&c->message);
    gf_wire_write_call(&c->message, &w);
    if (st == GF_OK) st = gf_buffer_check(&c->message, err);
    if (st == GF_OK && c->message.len > GF_WIRE_MOST_CALL)
        st = gf_fail(err, GF_ELIMIT, "the arguments have more than %d bytes", GF_WIRE_MOST_CALL);
    gf_arena_release(&paths);
    return st;
}

static gf_status send_call(client *c, const char *store_path, gf_error *err)
{
    gf_buffer hello = {0};
    size_t n = c->call->n_arguments;
    gf_argument *arguments = gf_array(n, sizeof *arguments);
    if (!arguments) return gf_fail_memory(err, "a call");
    for (size_t i = 0; i < n; i++)
        arguments[i] = c->call->arguments[i];
    gf_wire_write_hello(&hello, "");
    gf_status st = gf_buffer_check(&hello, err);
    if (st == GF_OK) st = write_call(c, store_path, arguments, err);
    if (st == GF_OK) st = gf_wire_send(&c->wire, GF_WIRE_HELLO, gf_buffer_view(&hello), err);
    if (st == GF_OK) st = gf_wire_send(&c->wire, GF_WIRE_CALL, gf_buffer_view(&c->message), err);
    if (st == GF_OK) st = gf_wire_flush(&c->wire, err);
    gf_buffer_release(&hello);
    gf_free(arguments);
    return st;
}

static gf_status take_hello(client *c, gf_error *err)
{
    gf_wire_type type;
    gf_slice bytes, holder;
    uint32_t version = 0;
    gf_status st = gf_wire_receive(&c->wire, &type, &bytes, err);
    if (st != GF_OK) return st;
    if (type != GF_WIRE_HELLO || !gf_wire_read_hello(bytes, &version, &holder))
        return c->server
                   ? gf_fail(err, GF_EINVAL, "what answers at %s is no Grouperfish", c->server)
                   : gf_fail(err, GF_EBUSY, "%s holds the store, and is no Grouperfish", c->holder);
    snprintf(c->holder, sizeof c->holder, "%.*s", GF_SLICE_ARG(holder));
    if (version != GF_WIRE_VERSION && c->server)
        return gf_fail(
            err, GF_EINVAL,
            "the Grouperfish at %s is of another version (it speaks %u, this program %d)",
            c->server, version, GF_WIRE_VERSION);
    if (version != GF_WIRE_VERSION)
        return gf_fail(err, GF_EBUSY,
                       "%s holds the store, and is of another version (its socket speaks %u, this "
                       "program %d); try again when it has ended",
                       c->holder, version, GF_WIRE_VERSION);
    c->answer_by = 0;
    return GF_OK;
}

/* A holder that goes meanwhile has not begun. Its hello is read also where it takes nothing more.
 */
static gf_status begin(client *c, const char *store_path, gf_asked *asked, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_status sent = send_call(c, store_path, &why), st = GF_OK;
    if (sent != GF_OK && sent != GF_EIO) {
        *err = why;
        return sent;
    }
    st = take_hello(c, err);
    if (st == GF_OK && sent != GF_OK) st = gf_fail(err, sent, "%s", why.message);
    return st == GF_EIO ? end_stopped(c, asked, err) : st;
}

static void begin_client(client *c, const gf_operation *operation, gf_call *call, double wait)
{
    *c = (client){.operation = operation, .call = call, .failed = {GF_OK, ""}};
    c->answer_by = gf_clock_seconds() + (wait > LEAST_WAIT ? wait : LEAST_WAIT);
    call->outcome = GF_OUTCOME_DONE;
    call->partly = false;
}

static void end_client(client *c)
{
    gf_wire_release(&c->wire);
    gf_buffer_release(&c->message);
    gf_buffer_release(&c->text);
}

gf_status gf_client_talk(const gf_client_line *line, double wait, const gf_operation *operation,
                         gf_call *call, gf_asked *asked, gf_error *err)
{
    client c;
    gf_error own;
    if (!err) err = &own;
    begin_client(&c, operation, call, wait);
    gf_wire_init(&c.wire, line->fd, tick, &c);
    c.wire.through = line->through;
    c.wire.through_context = line->context;
    c.server = line->server;
    *asked = GF_CLIENT_ASKED;
    gf_status st = begin(&c, line->server, asked, err);
    if (st == GF_OK && *asked == GF_CLIENT_ASKED) st = converse(&c, asked, err);
    end_client(&c);
    return st;
}

gf_status gf_client_run(const char *store_path, double wait, const gf_operation *operation,
                        gf_call *call, gf_asked *asked, gf_error *err)
{
    struct sockaddr_un address;
    int folder;
    gf_error own;
    client c;
    if (!err) err = &own;
    begin_client(&c, operation, call, wait);
    *asked = GF_CLIENT_NOBODY;
    if (gf_socket_address(store_path, &address, &folder, NULL) != GF_OK) return GF_OK;
    *asked = GF_CLIENT_ASKED;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    gf_wire_init(&c.wire, fd, tick, &c);
    gf_status st = GF_OK;
    if (fd < 0)
        st = gf_fail_errno(err, "cannot make a socket");
    else
        st = connect_to(&c, &address, c.answer_by, asked, err);
    if (folder >= 0) close(folder);
    if (st == GF_OK && *asked == GF_CLIENT_ASKED) st = begin(&c, store_path, asked, err);
    if (st == GF_OK && *asked == GF_CLIENT_ASKED) st = converse(&c, asked, err);
    if (fd >= 0) close(fd);
    end_client(&c);
    return st;
}
