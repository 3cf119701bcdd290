/*
 * What a holder sends to the caller, message by message: what came of the call, what it asks for of
 * the input, and how it ended.
 */
#include "server/socket/client_internal.h"

/* ---- what the holder sends ------------------------------------------------------------------- */

static void keep_failure(gf_client *c, gf_status st, const gf_error *why)
{
    if (st == GF_OK) return;
    if (c->failed.status == GF_OK) {
        c->failed = *why;
        c->failed.status = st;
    }
    gf_client_tell_to_stop(c);
}

static void take_row(gf_client *c, gf_slice row)
{
    gf_error why = {GF_OK, ""};
    if (c->emit_failed) return;
    gf_status st = gf_call_emit(c->call, row, &why);
    c->emit_failed = st != GF_OK;
    keep_failure(c, st, &why);
}

static void take_bytes(gf_client *c, gf_wire_type type, gf_slice bytes)
{
    gf_error why = {GF_OK, ""};
    gf_status (*to)(void *, gf_slice, gf_error *) =
        type == GF_WIRE_WRITTEN ? c->call->sink.write : c->call->sink.reject;
    if (to && c->failed.status == GF_OK)
        keep_failure(c, to(c->call->sink.context, bytes, &why), &why);
}

static bool take_notice(gf_client *c, gf_slice bytes)
{
    gf_notice n;
    if (!gf_wire_read_notice(bytes, &c->text, &n)) return false;
    gf_call_notify(c->call, &n);
    return true;
}

static bool take_progress(gf_client *c, gf_slice bytes)
{
    gf_wire_progress p;
    if (!gf_wire_read_progress(bytes, &c->text, &p)) return false;
    gf_call_progress(c->call, p.what, p.phase, p.done, p.total);
    return true;
}

/* ---- the input ------------------------------------------------------------------------------- */

/* A holder that takes no more may have said why: that is received next. */
static gf_status answer(gf_client *c, gf_wire_type type, gf_slice bytes, gf_error *err)
{
    gf_status st = gf_wire_send(&c->wire, type, bytes, err);
    if (st == GF_OK) st = gf_wire_flush(&c->wire, err);
    return st == GF_EIO ? GF_OK : st;
}

static gf_status answer_failed(gf_client *c, gf_status status, const gf_error *why, gf_error *err)
{
    gf_buffer_reset(&c->message);
    gf_wire_write_result(
        &c->message, &(gf_wire_result){.status = status, .message = gf_slice_str(why->message)});
    gf_status st = gf_buffer_check(&c->message, err);
    return st == GF_OK ? answer(c, GF_WIRE_FAILED, gf_buffer_view(&c->message), err) : st;
}

static gf_status answer_stream(gf_client *c, gf_error *err)
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
static gf_status take_question(gf_client *c, gf_wire_type type, gf_slice bytes, gf_error *err)
{
    uint64_t most = 0;
    if (type == GF_WIRE_WANT_STREAM && c->call->input.next) return answer_stream(c, err);
    if (type == GF_WIRE_WANT_BYTES && c->in_stream && gf_take_varint(&bytes, &most) && most > 0 &&
        most <= GF_WIRE_FRAME) {
        c->wanted = most;
        return GF_OK;
    }
    return gf_fail(err, GF_EINVAL, "the store's socket: what came is no question");
}

gf_status gf_client_answer_bytes(gf_client *c, gf_error *err)
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
static gf_status end_lost(const gf_client *c, gf_asked *asked, gf_error *err)
{
    const char *then = "";
    if (!c->begun && !c->used) {
        *asked = GF_AGAIN;
        return gf_fail(err, GF_EBUSY, "%s hung up before it began", c->server);
    }
    if (c->operation->resumes) then = "; what was stored stays, and the same command goes on";
    if (c->operation->rebuilds)
        then = "; a rebuild that has begun goes on there, and the same command waits for it";
    return gf_fail(err, GF_EIO, "the connection to %s was lost in the middle of this%s", c->server,
                   then);
}

/* It can be asked again where nothing came of it yet, and where nothing can have changed. */
static bool may_repeat(const gf_client *c)
{
    return !c->used && (!c->begun || !gf_operation_writes(c->operation));
}

/* The holder was stopped, or killed. */
gf_status gf_client_end_stopped(gf_client *c, gf_asked *asked, gf_error *err)
{
    if (c->failed.status != GF_OK) {
        *err = c->failed;
        return c->failed.status;
    }
    if (c->cancelled) return gf_fail(err, GF_ECANCELLED, "stopped on request");
    if (c->server) return end_lost(c, asked, err);
    if (may_repeat(c)) {
        *asked = GF_AGAIN;
        return gf_fail(err, GF_EBUSY, "%s, which held the store, has ended", c->holder);
    }
    return gf_fail(
        err, GF_EIO, "%s, which held the store, ended in the middle of this%s", c->holder,
        c->operation->resumes ? "; what was stored stays, and the same command goes on" : "");
}

static gf_status end_with_result(gf_client *c, gf_slice bytes, gf_asked *asked, gf_error *err)
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
    if (r.status == GF_ECANCELLED && !c->cancelled) return gf_client_end_stopped(c, asked, err);
    return r.status == GF_OK ? GF_OK : gf_fail(err, r.status, "%.*s", GF_SLICE_ARG(r.message));
}

static gf_status end_refused(gf_wire_type type, gf_slice bytes, gf_asked *asked, gf_error *err)
{
    *asked = type == GF_WIRE_LATER ? GF_LATER : GF_AGAIN;
    return gf_fail(err, GF_EBUSY, "%.*s", GF_SLICE_ARG(bytes));
}

/* ---- one message ----------------------------------------------------------------------------- */

/* One message of the holder's; *ended where it was the last. */
gf_status gf_client_take(gf_client *c, gf_wire_type type, gf_slice bytes, bool *ended,
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
