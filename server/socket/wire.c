#include "server/socket/wire.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { HEADER = 5, GOES_ON = 0x80, SEND_AT = 32 << 10, TICK_MS = 100 };

void gf_wire_init(gf_wire *w, int fd, gf_wire_tick *tick, void *context)
{
    *w = (gf_wire){.fd = fd, .tick = tick, .context = context};
}

void gf_wire_release(gf_wire *w)
{
    gf_buffer_release(&w->out);
    gf_buffer_release(&w->message);
    gf_free(w->in);
    *w = (gf_wire){.fd = -1};
}

/* Wait until something can be moved, a tick at most. */
static gf_status wait_to(gf_wire *w, bool sending, double since, gf_error *err)
{
    struct pollfd p = {.fd = w->fd, .events = sending ? POLLOUT : POLLIN};
    int n = poll(&p, 1, TICK_MS);
    if (n < 0 && errno != EINTR) return gf_fail_errno(err, "cannot wait at a socket");
    if (!w->tick) return GF_OK;
    return w->tick(w->context, sending, n > 0 ? 0 : gf_clock_seconds() - since, err);
}

static gf_status fail_gone(gf_error *err)
{
    return gf_fail(err, GF_EIO, "the other side of the store's socket has gone");
}

/* After a failed socket call: GF_OK where it can be tried again. */
static gf_status after_failure(gf_wire *w, bool sending, double *since, gf_error *err)
{
    if (errno == EINTR) return w->tick ? w->tick(w->context, sending, 0, err) : GF_OK;
    if (errno == EPIPE || errno == ECONNRESET) return fail_gone(err);
    if (errno != EAGAIN) return gf_fail_errno(err, "the store's socket failed");
    if (*since == 0) *since = gf_clock_seconds();
    return wait_to(w, sending, *since, err);
}

/* ---- sending --------------------------------------------------------------------------------- */

static ssize_t send_some(gf_wire *w, const char *bytes, size_t n)
{
    if (w->through) return w->through->send(w->through_context, bytes, n);
    return send(w->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

gf_status gf_wire_flush(gf_wire *w, gf_error *err)
{
    size_t sent = 0;
    double since = 0;
    gf_status st = gf_buffer_check(&w->out, err);
    while (st == GF_OK && sent < w->out.len) {
        ssize_t n = send_some(w, w->out.ptr + sent, w->out.len - sent);
        if (n < 0) {
            st = after_failure(w, true, &since, err);
        } else {
            sent += (size_t)n;
            since = 0;
        }
    }
    gf_buffer_reset(&w->out);
    return st;
}

gf_status gf_wire_send(gf_wire *w, gf_wire_type type, gf_slice bytes, gf_error *err)
{
    bool goes_on = true;
    while (goes_on) {
        size_t n = bytes.len > GF_WIRE_FRAME ? GF_WIRE_FRAME : bytes.len;
        goes_on = n < bytes.len;
        gf_buffer_u32be(&w->out, (uint32_t)n);
        gf_buffer_byte(&w->out, (char)(type | (goes_on ? GOES_ON : 0)));
        if (n) gf_buffer_append(&w->out, bytes.ptr, n);
        bytes = gf_slice_skip(bytes, n);
        gf_status st =
            w->out.len >= SEND_AT ? gf_wire_flush(w, err) : gf_buffer_check(&w->out, err);
        if (st != GF_OK) return st;
    }
    return GF_OK;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static ssize_t receive_some(gf_wire *w, char *to, size_t n)
{
    if (w->through) return w->through->receive(w->through_context, to, n);
    return recv(w->fd, to, n, MSG_DONTWAIT);
}

static bool make_buffer(gf_wire *w)
{
    if (!w->in) w->in = gf_malloc(HEADER + GF_WIRE_FRAME);
    return w->in != NULL;
}

/* A transport may hold what it has received, so that the descriptor tells nothing of it. */
bool gf_wire_has_more(gf_wire *w)
{
    if (w->in_end > w->in_at || !make_buffer(w)) return true;
    w->in_at = w->in_end = 0;
    ssize_t got = receive_some(w, w->in, HEADER + GF_WIRE_FRAME);
    if (got > 0) w->in_end = (size_t)got;
    return got >= 0 || (errno != EAGAIN && errno != EINTR);
}

/* Have n bytes, a frame at most, in the buffer. */
static gf_status fill(gf_wire *w, size_t n, gf_error *err)
{
    double since = 0;
    gf_status st = GF_OK;
    if (!make_buffer(w)) return gf_fail_memory(err, "a connection");
    if (w->in_at + n > HEADER + GF_WIRE_FRAME) {
        memmove(w->in, w->in + w->in_at, w->in_end - w->in_at);
        w->in_end -= w->in_at;
        w->in_at = 0;
    }
    while (st == GF_OK && w->in_end - w->in_at < n) {
        ssize_t got = receive_some(w, w->in + w->in_end, HEADER + GF_WIRE_FRAME - w->in_end);
        if (got == 0) return fail_gone(err);
        if (got < 0) {
            st = after_failure(w, false, &since, err);
        } else {
            w->in_end += (size_t)got;
            since = 0;
        }
    }
    return st;
}

static gf_status take_frame(gf_wire *w, unsigned *type, gf_slice *bytes, gf_error *err)
{
    if (w->in_at == w->in_end) w->in_at = w->in_end = 0;
    gf_status st = fill(w, HEADER, err);
    if (st != GF_OK) return st;
    uint32_t length = gf_read_u32be(w->in + w->in_at);
    if (length > GF_WIRE_FRAME)
        return gf_fail(err, GF_EINVAL, "the store's socket: what came is no frame");
    st = fill(w, HEADER + length, err);
    if (st != GF_OK) return st;
    *type = (unsigned char)w->in[w->in_at + 4];
    *bytes = gf_slice_of(w->in + w->in_at + HEADER, length);
    w->in_at += HEADER + length;
    return GF_OK;
}

gf_status gf_wire_receive(gf_wire *w, gf_wire_type *type, gf_slice *bytes, gf_error *err)
{
    unsigned got = 0, before = 0;
    bool first = true, goes_on = true;
    if (w->message.len) gf_buffer_release(&w->message);
    while (goes_on) {
        gf_status st = take_frame(w, &got, bytes, err);
        if (st != GF_OK) return st;
        goes_on = got & GOES_ON;
        got &= ~(unsigned)GOES_ON;
        if ((!first && got != before) || (goes_on && bytes->len == 0))
            return gf_fail(err, GF_EINVAL, "the store's socket: a message breaks off");
        if (w->most && w->message.len + bytes->len > w->most)
            return gf_fail(err, GF_ELIMIT, "the store's socket: a message has more than %zu bytes",
                           w->most);
        if (!first || goes_on) gf_buffer_slice(&w->message, *bytes);
        st = gf_buffer_check(&w->message, err);
        if (st != GF_OK) return st;
        if (!first) *bytes = gf_buffer_view(&w->message);
        before = got;
        first = false;
    }
    *type = (gf_wire_type)got;
    return GF_OK;
}

#define MAGIC "GFSH"

enum { HAS_INPUT = 1, HAS_NOTICE = 2, HAS_PROGRESS = 4, HAS_WRITE = 8, HAS_REJECT = 16 };

/* ---- hello ----------------------------------------------------------------------------------- */

void gf_wire_write_hello(gf_buffer *b, const char *holder)
{
    gf_buffer_str(b, MAGIC);
    gf_buffer_u32be(b, GF_WIRE_VERSION);
    gf_buffer_str(b, holder);
}

bool gf_wire_read_hello(gf_slice bytes, uint32_t *version, gf_slice *holder)
{
    gf_slice magic;
    if (!gf_slice_take_bytes(&bytes, sizeof MAGIC - 1, &magic) ||
        !gf_slice_equal(magic, GF_SLICE(MAGIC)))
        return false;
    if (!gf_slice_take_u32be(&bytes, version)) return false;
    *holder = bytes;
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

void gf_wire_write_call(gf_buffer *b, const gf_wire_call *c)
{
    gf_buffer_varint(b, (c->input ? HAS_INPUT : 0U) | (c->notice ? HAS_NOTICE : 0U) |
                            (c->progress ? HAS_PROGRESS : 0U) | (c->write ? HAS_WRITE : 0U) |
                            (c->reject ? HAS_REJECT : 0U));
    gf_buffer_string(b, c->operation);
    gf_buffer_string(b, c->name_space);
    gf_buffer_string(b, c->store_path);
    gf_buffer_varint(b, c->n_arguments);
    for (size_t i = 0; i < c->n_arguments; i++) {
        gf_buffer_string(b, c->arguments[i].name);
        gf_buffer_string(b, c->arguments[i].value);
    }
}

static bool read_arguments(gf_slice *bytes, gf_wire_call *c)
{
    for (size_t i = 0; i < c->n_arguments; i++)
        if (!gf_slice_take_string(bytes, &c->arguments[i].name) ||
            !gf_slice_take_string(bytes, &c->arguments[i].value))
            return false;
    return bytes->len == 0;
}

static gf_status fail_call(gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "the store's socket: what came is no call");
}

gf_status gf_wire_read_call(gf_slice bytes, gf_wire_call *call, gf_error *err)
{
    uint64_t flags, n;
    gf_wire_call c = {0};
    bool good = gf_slice_take_varint(&bytes, &flags) &&
                gf_slice_take_string(&bytes, &c.operation) &&
                gf_slice_take_string(&bytes, &c.name_space) &&
                gf_slice_take_string(&bytes, &c.store_path) && gf_slice_take_varint(&bytes, &n);
    /* An argument has two bytes at least: what there is bounds what is allocated. */
    if (!good || n > bytes.len / 2 ||
        (c.store_path.len && memchr(c.store_path.ptr, '\0', c.store_path.len)))
        return fail_call(err);
    c.input = flags & HAS_INPUT;
    c.notice = flags & HAS_NOTICE;
    c.progress = flags & HAS_PROGRESS;
    c.write = flags & HAS_WRITE;
    c.reject = flags & HAS_REJECT;
    c.n_arguments = (size_t)n;
    c.arguments = gf_array(c.n_arguments, sizeof *c.arguments);
    if (!c.arguments) return gf_fail_memory(err, "a call");
    if (!read_arguments(&bytes, &c)) {
        gf_free(c.arguments);
        return fail_call(err);
    }
    *call = c;
    return GF_OK;
}

/* ---- notices and progress -------------------------------------------------------------------- */

/* Strings one after the other in memory, with a NUL behind each. */
static bool keep_strings(gf_buffer *memory, const gf_slice *strings, const char **kept, size_t n)
{
    gf_buffer_reset(memory);
    for (size_t i = 0; i < n; i++) {
        gf_buffer_slice(memory, strings[i]);
        gf_buffer_byte(memory, '\0');
    }
    if (memory->state != GF_OK) return false;
    const char *at = memory->ptr;
    for (size_t i = 0; i < n; i++) {
        kept[i] = at;
        at += strings[i].len + 1;
    }
    return true;
}

void gf_wire_write_notice(gf_buffer *b, const gf_notice *n)
{
    gf_buffer_string(b, gf_slice_str(n->reason));
    gf_buffer_string(b, n->source);
    gf_buffer_varint(b, n->line);
    gf_buffer_string(b, gf_slice_str(n->message));
    gf_buffer_varint(b, n->refused);
}

bool gf_wire_read_notice(gf_slice bytes, gf_buffer *memory, gf_notice *notice)
{
    gf_slice text[2];
    const char *kept[2];
    uint64_t refused;
    gf_notice n = {0};
    if (!gf_slice_take_string(&bytes, &text[0]) || !gf_slice_take_string(&bytes, &n.source) ||
        !gf_slice_take_varint(&bytes, &n.line) || !gf_slice_take_string(&bytes, &text[1]) ||
        !gf_slice_take_varint(&bytes, &refused) || !keep_strings(memory, text, kept, 2))
        return false;
    n.reason = kept[0];
    n.message = kept[1];
    n.refused = refused != 0;
    *notice = n;
    return true;
}

void gf_wire_write_progress(gf_buffer *b, const gf_wire_progress *p)
{
    gf_buffer_string(b, p->what);
    gf_buffer_string(b, gf_slice_str(p->phase));
    gf_buffer_varint(b, p->done);
    gf_buffer_varint(b, p->total);
}

bool gf_wire_read_progress(gf_slice bytes, gf_buffer *memory, gf_wire_progress *progress)
{
    gf_slice phase;
    gf_wire_progress p = {0};
    if (!gf_slice_take_string(&bytes, &p.what) || !gf_slice_take_string(&bytes, &phase) ||
        !gf_slice_take_varint(&bytes, &p.done) || !gf_slice_take_varint(&bytes, &p.total) ||
        !keep_strings(memory, &phase, &p.phase, 1))
        return false;
    *progress = p;
    return true;
}

/* ---- how it ended ---------------------------------------------------------------------------- */

void gf_wire_write_result(gf_buffer *b, const gf_wire_result *r)
{
    gf_buffer_varint(b, (uint64_t)r->status);
    gf_buffer_varint(b, (uint64_t)r->outcome);
    gf_buffer_varint(b, r->partly);
    gf_buffer_slice(b, r->message);
}

bool gf_wire_read_result(gf_slice bytes, gf_wire_result *result)
{
    uint64_t status, outcome, partly;
    if (!gf_slice_take_varint(&bytes, &status) || status > GF_EUNKNOWN) return false;
    if (!gf_slice_take_varint(&bytes, &outcome) || outcome > GF_OUTCOME_REBUILD_FAILED)
        return false;
    if (!gf_slice_take_varint(&bytes, &partly)) return false;
    *result = (gf_wire_result){(gf_status)status, (gf_outcome)outcome, partly != 0, bytes};
    return true;
}
