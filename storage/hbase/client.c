#include "storage/hbase/client.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "storage/hbase/connection.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static const char scheme[] = "hbase://";

/* The gateway closes a connection that was idle for a minute, unless it is set up otherwise. */
static const double idle_seconds = 30;

enum { MOST_IDLE = 64, HEAD = 4 /* bytes of a frame's length */ };

static _Thread_local double
    most_seconds; /* that a call of this thread has; 0: as the client says */

struct gf_hbase_client {
    gf_hbase_address address;
    double seconds; /* that a call has */
    atomic_uint number;
    pthread_mutex_t lock;      /* of the list */
    gf_hbase_connection *idle; /* n_idle */
    unsigned n_idle;
};

/* ---- addresses ------------------------------------------------------------------------------- */

bool gf_hbase_is_url(const char *url)
{
    return url && gf_slice_starts(gf_slice_str(url), gf_slice_str(scheme));
}

static gf_status bad_url(const char *url, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "\"%.200s\" is not of the form hbase://HOST[:PORT][/NAMESPACE]",
                   url);
}

static bool copy_part(char *to, size_t size, gf_slice part)
{
    if (part.len == 0 || part.len >= size || memchr(part.ptr, 0, part.len)) return false;
    memcpy(to, part.ptr, part.len);
    to[part.len] = '\0';
    return true;
}

/* Letters, digits and _, as HBase has its namespaces. */
static bool is_name_space(gf_slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool good =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!good) return false;
    }
    return name.len > 0;
}

static size_t find_byte(gf_slice s, char c)
{
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;
    return at ? (size_t)(at - s.ptr) : s.len;
}

gf_status gf_hbase_address_read(const char *url, gf_hbase_address *address, gf_error *err)
{
    gf_hbase_address a;
    uint64_t port;
    if (!gf_hbase_is_url(url)) return bad_url(url, err);
    gf_slice rest = gf_slice_skip(gf_slice_str(url), sizeof scheme - 1);
    gf_slice place = gf_slice_of(rest.ptr, find_byte(rest, '/'));
    gf_slice name_space = GF_SLICE("default");
    if (place.len < rest.len) name_space = gf_slice_skip(rest, place.len + 1);
    gf_slice host = place, after = {0};
    if (place.len && place.ptr[0] == '[') {
        size_t end = find_byte(place, ']');
        if (end == place.len) return bad_url(url, err);
        host = gf_slice_of(place.ptr + 1, end - 1);
        after = gf_slice_skip(place, end + 1);
    } else {
        host.len = find_byte(place, ':');
        after = gf_slice_skip(place, host.len);
    }
    gf_slice digits = GF_SLICE("9090");
    if (after.len && after.ptr[0] != ':') return bad_url(url, err);
    if (after.len) digits = gf_slice_skip(after, 1);
    if (!gf_number_read(digits, &port) || port == 0 || port > UINT16_MAX ||
        !is_name_space(name_space) || !copy_part(a.host, sizeof a.host, host) ||
        !copy_part(a.port, sizeof a.port, digits) ||
        !copy_part(a.name_space, sizeof a.name_space, name_space))
        return bad_url(url, err);
    *address = a;
    return GF_OK;
}

/* ---- connections ----------------------------------------------------------------------------- */

gf_status gf_hbase_client_create(const gf_hbase_address *address, unsigned milliseconds,
                                 gf_hbase_client **client, gf_error *err)
{
    gf_hbase_client *c = gf_calloc(1, sizeof *c);
    if (!c) return gf_fail_memory(err, "a client of HBase");
    c->address = *address;
    c->seconds = milliseconds / 1000.0;
    pthread_mutex_init(&c->lock, NULL);
    *client = c;
    return GF_OK;
}

void gf_hbase_client_limit(double seconds)
{
    most_seconds = seconds;
}

static gf_hbase_connection *take_idle(gf_hbase_client *client)
{
    pthread_mutex_lock(&client->lock);
    gf_hbase_connection *c = client->idle;
    if (c) {
        client->idle = c->next;
        client->n_idle--;
    }
    pthread_mutex_unlock(&client->lock);
    return c;
}

void gf_hbase_client_free(gf_hbase_client *client)
{
    if (!client) return;
    for (gf_hbase_connection *c; (c = take_idle(client));)
        gf_hbase_connection_close(c);
    pthread_mutex_destroy(&client->lock);
    gf_free(client);
}

static gf_status take_connection(gf_hbase_client *client, bool fresh, double deadline,
                                 gf_hbase_connection **connection, gf_error *err)
{
    for (gf_hbase_connection *c; (c = take_idle(client));) {
        if (!fresh && gf_clock_seconds() - c->used < idle_seconds &&
            gf_hbase_connection_is_idle(c)) {
            *connection = c;
            return GF_OK;
        }
        gf_hbase_connection_close(c);
    }
    return gf_hbase_connection_open(client->address.host, client->address.port, deadline,
                                    connection, err);
}

static void give_back(gf_hbase_client *client, gf_hbase_connection *c)
{
    c->used = gf_clock_seconds();
    pthread_mutex_lock(&client->lock);
    bool keeps = client->n_idle < MOST_IDLE;
    if (keeps) {
        c->next = client->idle;
        client->idle = c;
        client->n_idle++;
    }
    pthread_mutex_unlock(&client->lock);
    if (!keeps) gf_hbase_connection_close(c);
}

/* ---- answers --------------------------------------------------------------------------------- */

static gf_status no_answer(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "what answers is no gateway of HBase");
}

/* The first line of what Java says, without the rest of a stack. */
static gf_slice first_line(gf_slice words)
{
    words.len = find_byte(words, '\n');
    return words;
}

/*
 * TIOError and TIllegalArgument: 1 the message, 2 whether it is worth another try. TApplicationException has
 * a kind in the place of the latter, which comes of a gateway that lacks the call.
 */
static gf_status read_exception(gf_thrift_reader *r, bool is_io, gf_error *err)
{
    gf_thrift_type type;
    uint16_t id;
    gf_slice words = {0};
    bool retries = false;
    while (gf_thrift_take_field(r, &type, &id)) {
        if (id == 1 && type == GF_THRIFT_STRING)
            words = first_line(gf_thrift_take_string(r));
        else if (id == 2 && type == GF_THRIFT_BOOL)
            retries = gf_thrift_take_bool(r);
        else
            gf_thrift_skip(r, type);
    }
    if (r->bad) return no_answer(err);
    return gf_fail(err, is_io && retries ? GF_EIO : GF_EINVAL, "HBase: %.*s",
                   (int)(words.len < 300 ? words.len : 300), words.len ? words.ptr : "");
}

gf_status gf_hbase_answer_read(gf_slice message, const char *method, uint32_t number,
                               gf_thrift_type result, gf_thrift_reader *at, bool *has_result,
                               gf_error *err)
{
    gf_thrift_reader r = {.rest = message};
    gf_thrift_message head;
    gf_thrift_type type;
    uint16_t id;
    if (!gf_thrift_take_message(&r, &head) || head.number != number ||
        !gf_slice_equal(head.name, gf_slice_str(method)) || head.kind == GF_THRIFT_CALL)
        return no_answer(err);
    if (head.kind == GF_THRIFT_EXCEPTION) return read_exception(&r, false, err);
    while (gf_thrift_take_field(&r, &type, &id)) {
        if (id == 0 && type == result) {
            *at = r;
            *has_result = true;
            return GF_OK;
        }
        if (id && type == GF_THRIFT_STRUCT) return read_exception(&r, id == 1, err);
        gf_thrift_skip(&r, type);
    }
    if (r.bad) return no_answer(err);
    *at = r;
    *has_result = false;
    return GF_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

void gf_hbase_call_begin(gf_hbase_call *call, const char *method)
{
    call->method = method;
    gf_thrift_begin(&call->request, GF_THRIFT_CALL, method, 0);
}

void gf_hbase_call_release(gf_hbase_call *call)
{
    gf_buffer_release(&call->request);
    gf_buffer_release(&call->answer);
    *call = (gf_hbase_call){0};
}

/* The number of a call is at the end of its message's head. */
static void set_number(gf_hbase_call *call, uint32_t number)
{
    char *at = call->request.ptr + HEAD + 4 + 4 + strlen(call->method);
    for (int i = 0; i < 4; i++)
        at[i] = (char)(number >> (8 * (3 - i)) & 0xFF);
}

/* *sent: the whole request is on its way, and may be carried out whatever comes now. */
static gf_status try_call(gf_hbase_client *client, gf_hbase_call *call, gf_thrift_type result,
                          gf_hbase_effect effect, bool fresh, double deadline, bool *sent,
                          gf_error *err)
{
    gf_hbase_connection *c;
    size_t n;
    *sent = false;
    gf_status st = take_connection(client, fresh, deadline, &c, err);
    if (st != GF_OK) return st;
    /* An answer to a write is worth the waiting. */
    c->breakable = effect == GF_HBASE_READS || effect == GF_HBASE_READS_ONCE;
    uint32_t number = atomic_fetch_add(&client->number, 1) + 1;
    set_number(call, number);
    st = gf_hbase_connection_send(c, gf_buffer_view(&call->request), deadline, &n, err);
    *sent = n == call->request.len;
    if (st == GF_OK) st = gf_hbase_connection_receive(c, &call->answer, deadline, err);
    if (st == GF_OK) {
        st = gf_hbase_answer_read(gf_buffer_view(&call->answer), call->method, number, result,
                                  &call->result, &call->has_result, err);
        if (st != GF_ECORRUPT) {
            give_back(client, c);
            return st;
        }
    }
    gf_hbase_connection_close(c);
    return st;
}

/* A gateway that closes the connection may have got a request of more than it takes. */
static void add_size(const gf_hbase_call *call, gf_error *why)
{
    enum { USUAL = 2 << 20 };
    if (call->request.len <= USUAL || why->status == GF_EINVAL) return;
    size_t n = strlen(why->message);
    snprintf(why->message + n, sizeof why->message - n,
             "; the request has %zu bytes, and a gateway takes 2 MB unless "
             "hbase.regionserver.thrift.framed.max_frame_size_in_mb says more",
             call->request.len);
}

gf_status gf_hbase_call_run(gf_hbase_client *client, gf_hbase_call *call, gf_thrift_type result,
                            gf_hbase_effect effect, gf_error *err)
{
    bool sent = false;
    gf_error why = {GF_OK, ""};
    bool limited = most_seconds > 0 && most_seconds < client->seconds;
    double deadline = gf_clock_seconds() + (limited ? most_seconds : client->seconds);
    gf_status st = gf_thrift_end(&call->request, err);
    if (st != GF_OK) return st;
    st = try_call(client, call, result, effect, false, deadline, &sent, &why);
    bool harmless = effect == GF_HBASE_READS || effect == GF_HBASE_WRITES_AGAIN;
    bool writes = effect == GF_HBASE_WRITES || effect == GF_HBASE_WRITES_AGAIN;
    bool again = (st == GF_EIO || st == GF_ECORRUPT) && (harmless || !sent);
    bool was_sent = sent;
    if (again && gf_clock_seconds() < deadline) {
        st = try_call(client, call, result, effect, true, deadline, &sent, &why);
        was_sent |= sent;
    }
    if (st == GF_OK) return st;
    add_size(call, &why);
    if (st == GF_ECORRUPT) st = GF_EIO;
    bool is_known = st == GF_EINVAL || !writes || !was_sent;
    if (is_known) return gf_fail(err, st, "%s", why.message);
    return gf_fail(err, GF_EUNKNOWN, "whether it was written is not known: %s", why.message);
}
