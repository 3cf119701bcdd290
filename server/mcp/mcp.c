/* The connection from its beginning to its end: lines are read, and what they ask is handed on. */
#include "server/mcp/connection.h"

#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10 };

static const char batch_revision[] = "2025-03-26";

static void take_message(gf_mcp_connection *s, gf_mcp_batch *b, gf_json_value value)
{
    gf_buffer id = {0};
    gf_mcp_message m;
    bool answered = true;
    if (gf_mcp_message_read(value, &id, &m, NULL) != GF_OK)
        gf_mcp_refuse(s, b, (gf_slice){"", 0}, GF_MCP_FAILED, "out of memory");
    else if (m.fault && (m.id.len || m.fault == GF_MCP_NO_REQUEST))
        gf_mcp_refuse(s, b, m.id, m.fault, m.why);
    else if (!m.fault && !m.is_answer && m.id.len)
        gf_mcp_answer_request(s, b, &m);
    else
        answered = false;
    if (!answered && gf_slice_equal(m.method, GF_SLICE("notifications/cancelled")))
        gf_mcp_cancel_call(s, &m);
    if (!answered && b) gf_mcp_finish_in_batch(s, b, NULL);
    gf_buffer_release(&id);
}

static size_t count_items(gf_json_value array)
{
    gf_json_value item;
    gf_json_iterator it = gf_json_items(array);
    size_t n = 0;
    while (n <= GF_MCP_MOST_WAITING && gf_json_next(&it, NULL, &item))
        n++;
    return n;
}

static void take_batch(gf_mcp_connection *s, gf_json_value array)
{
    const gf_slice none = {"", 0};
    size_t n = count_items(array);
    gf_json_value item;
    if (!s->session || strcmp(s->session, batch_revision) != 0) {
        gf_mcp_refuse(s, NULL, none, GF_MCP_NO_REQUEST, "only revision 2025-03-26 has batches");
        return;
    }
    if (n == 0 || n > GF_MCP_MOST_WAITING) {
        gf_mcp_refuse(s, NULL, none, GF_MCP_NO_REQUEST, "a batch has 1 to 64 messages");
        return;
    }
    gf_mcp_batch *b = gf_calloc(1, sizeof *b);
    if (!b) {
        gf_mcp_refuse(s, NULL, none, GF_MCP_FAILED, "out of memory");
        return;
    }
    b->pending = (unsigned)n + 1; /* one of our own, so that it lasts until all were taken */
    gf_json_iterator it = gf_json_items(array);
    while (gf_json_next(&it, NULL, &item))
        take_message(s, b, item);
    gf_mcp_finish_in_batch(s, b, NULL);
}

static bool is_blank(gf_slice line)
{
    for (size_t i = 0; i < line.len; i++)
        if (!strchr(" \t\r", line.ptr[i]) || !line.ptr[i]) return false;
    return true;
}

static void take_line(gf_mcp_connection *s, gf_slice line)
{
    gf_json_value root;
    gf_error err = {GF_OK, ""};
    if (is_blank(line)) return;
    gf_status st = gf_json_parse_copy(s->parser, line, &root, &err);
    if (st != GF_OK)
        gf_mcp_refuse(s, NULL, (gf_slice){"", 0}, st == GF_ENOMEM ? GF_MCP_FAILED : GF_MCP_NO_JSON,
                      err.message);
    else if (gf_json_kind_of(root) == GF_JSON_ARRAY)
        take_batch(s, root);
    else
        take_message(s, NULL, root);
}

/* Bytes of the stream in: the whole lines of them are taken, and a line that is too long is not. */
typedef struct incoming {
    gf_buffer bytes;
    size_t seen; /* bytes without the end of a line */
    bool skips;  /* the line that is too long has not ended */
} incoming;

static void take_lines(gf_mcp_connection *s, incoming *in)
{
    size_t from = 0;
    const char *end;
    while (in->seen < in->bytes.len &&
           (end = memchr(in->bytes.ptr + in->seen, '\n', in->bytes.len - in->seen))) {
        size_t to = (size_t)(end - in->bytes.ptr);
        if (!in->skips) take_line(s, gf_slice_of(in->bytes.ptr + from, to - from));
        in->skips = false;
        from = in->seen = to + 1;
    }
    in->bytes.len -= from;
    if (from && in->bytes.len) memmove(in->bytes.ptr, in->bytes.ptr + from, in->bytes.len);
    in->seen = in->bytes.len;
    if (in->skips) in->seen = in->bytes.len = 0;
    if (in->bytes.len <= s->options.max_line) return;
    char text[100];
    snprintf(text, sizeof text, "a message has more than %" PRIu64 " bytes", s->options.max_line);
    gf_mcp_refuse(s, NULL, (gf_slice){"", 0}, GF_MCP_NO_REQUEST, text);
    in->skips = true;
    in->seen = in->bytes.len = 0;
}

/* *ended: at the end of the stream, or where the client has gone. */
static gf_status read_some(gf_mcp_connection *s, incoming *in, bool *ended, gf_error *err)
{
    struct pollfd p = {.fd = s->options.in, .events = POLLIN};
    int ready = poll(&p, 1, GF_MCP_POLL_MS);
    if (ready < 0 && errno != EINTR) return gf_fail_errno(err, "cannot wait for a message");
    if (ready <= 0) return GF_OK;
    char *to = gf_buffer_reserve(&in->bytes, READ_BYTES);
    if (!to) return gf_buffer_check(&in->bytes, err);
    ssize_t n = read(s->options.in, to, READ_BYTES);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return GF_OK;
    if (n < 0 && errno != ECONNRESET) return gf_fail_errno(err, "cannot read a message");
    *ended = n <= 0;
    if (n <= 0) return GF_OK;
    in->bytes.len += (size_t)n;
    take_lines(s, in);
    return GF_OK;
}

static gf_status read_all(gf_mcp_connection *s, gf_error *err)
{
    incoming in = {.seen = 0};
    bool ended = false;
    gf_status st = GF_OK;
    while (st == GF_OK && !ended && !gf_mcp_is_stopped(s))
        st = read_some(s, &in, &ended, err);
    /* The last line may have no end: whether it was cut shows when it is read. */
    if (ended && !in.skips && in.bytes.len) take_line(s, gf_buffer_view(&in.bytes));
    gf_buffer_release(&in.bytes);
    return st;
}

gf_status gf_mcp_serve(const gf_mcp_options *options, gf_error *err)
{
    gf_mcp_connection s = {.options = *options,
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .telling = PTHREAD_MUTEX_INITIALIZER,
                           .writing = PTHREAD_MUTEX_INITIALIZER,
                           .changed = PTHREAD_COND_INITIALIZER};
    if (!s.options.max_rows) s.options.max_rows = 100;
    if (!s.options.max_bytes) s.options.max_bytes = 64 << 10;
    if (!s.options.max_line) s.options.max_line = 16 << 20;
    gf_status st = gf_json_parser_create(&s.parser, err);
    if (st == GF_OK) st = gf_mcp_start_calls(&s, err);
    if (st == GF_OK) {
        st = read_all(&s, err);
        gf_mcp_finish_calls(&s);
        if (st == GF_OK && s.failed != GF_OK)
            st = gf_fail(err, s.failed, "cannot write to the client");
    }
    gf_json_parser_free(s.parser);
    return st;
}
