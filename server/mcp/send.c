/* Sending to the client: lines, each written as a whole, and answers of a batch together. */
#include "server/mcp/connection.h"

#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { WRITE_BYTES = 4096 /* PIPE_BUF: a pipe that can be written to takes so much at once */ };

bool gf_mcp_is_stopped(const gf_mcp_connection *s)
{
    return __atomic_load_n(&s->gone, __ATOMIC_RELAXED) ||
           gf_cancel_check(s->options.cancel, NULL) != GF_OK;
}

/* A message that was cut short is the last that is written. */
static void give_up(gf_mcp_connection *s)
{
    __atomic_store_n(&s->gone, true, __ATOMIC_RELAXED);
}

static void write_all(gf_mcp_connection *s, gf_slice text)
{
    while (text.len && !__atomic_load_n(&s->gone, __ATOMIC_RELAXED)) {
        struct pollfd p = {.fd = s->options.out, .events = POLLOUT};
        int ready = poll(&p, 1, GF_MCP_POLL_MS);
        bool stopped = gf_cancel_check(s->options.cancel, NULL) != GF_OK;
        if ((ready == 0 && stopped) || (ready < 0 && errno != EINTR)) give_up(s);
        if (ready <= 0) continue;
        size_t n = text.len < WRITE_BYTES ? text.len : WRITE_BYTES;
        ssize_t written = write(s->options.out, text.ptr, n);
        if (written >= 0) {
            text = gf_slice_skip(text, (size_t)written);
        } else if (errno != EINTR && errno != EAGAIN) {
            if (errno != EPIPE) s->failed = GF_EIO;
            give_up(s);
        }
    }
}

void gf_mcp_send_line(gf_mcp_connection *s, gf_buffer *line)
{
    gf_buffer_byte(line, '\n');
    pthread_mutex_lock(&s->writing);
    write_all(s, gf_buffer_view(line));
    if (line->state != GF_OK) write_all(s, GF_SLICE("\n")); /* there was no memory for it */
    pthread_mutex_unlock(&s->writing);
}

/* An answer for which there is no memory. */
static void write_shortage(gf_buffer *out, gf_slice id)
{
    gf_buffer_release(out);
    gf_mcp_put_error(out, id, GF_MCP_FAILED, "out of memory");
}

void gf_mcp_finish_in_batch(gf_mcp_connection *s, gf_mcp_batch *b, const gf_buffer *answer)
{
    pthread_mutex_lock(&s->lock);
    if (answer) {
        gf_buffer_byte(&b->answers, b->n++ ? ',' : '[');
        gf_buffer_slice(&b->answers, gf_buffer_view(answer));
    }
    bool last = --b->pending == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last) return;
    if (b->n) {
        gf_buffer_byte(&b->answers, ']');
        if (b->answers.state != GF_OK) write_shortage(&b->answers, (gf_slice){"", 0});
        gf_mcp_send_line(s, &b->answers);
    }
    gf_buffer_release(&b->answers);
    gf_free(b);
}

void gf_mcp_send_answer(gf_mcp_connection *s, gf_mcp_batch *b, gf_slice id, gf_buffer *answer)
{
    if (answer->state != GF_OK) write_shortage(answer, id);
    if (answer->state == GF_OK) {
        if (b)
            gf_mcp_finish_in_batch(s, b, answer);
        else
            gf_mcp_send_line(s, answer);
    } else if (b) {
        gf_mcp_finish_in_batch(s, b, NULL);
    }
    gf_buffer_release(answer);
}

void gf_mcp_refuse(gf_mcp_connection *s, gf_mcp_batch *b, gf_slice id, int code,
                   const char *message)
{
    gf_buffer out = {0};
    gf_mcp_put_error(&out, id, code, message);
    gf_mcp_send_answer(s, b, id, &out);
}
