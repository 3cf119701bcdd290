/*
 * A connection: lines in, lines out, calls in turn.
 *
 *     mcp.c       reads lines, and hands on what they ask
 *     requests.c  answers all but calls
 *     calls.c     runs the calls by one more thread, in the order they came, and cancels them
 *     send.c      what is sent, alone or with the other answers of a batch, from any thread
 *
 * `lock` guards the queue and the batches, `telling` the progress of the running call, `writing` the
 * stream out; who holds the first takes none of the others, who holds the second only the third.
 */
#ifndef GF_SERVER_MCP_CONNECTION_H
#define GF_SERVER_MCP_CONNECTION_H

#include "server/mcp/internal.h"

#include <pthread.h>

enum { GF_MCP_POLL_MS = 100, GF_MCP_MOST_WAITING = 64 /* calls; and messages of a batch */ };

/** Answers of a batch (revision 2025-03-26), which are sent together. */
typedef struct gf_mcp_batch {
    gf_buffer answers; /* with commas between */
    unsigned n, pending;
} gf_mcp_batch;

typedef struct gf_mcp_connection {
    gf_mcp_options options;
    gf_json_parser *parser;
    pthread_t caller;
    pthread_mutex_t lock, telling, writing;
    pthread_cond_t changed;
    struct gf_mcp_job *jobs; /* the first one runs; n_jobs, with so many bytes of arguments */
    size_t n_jobs, bytes;
    bool ending;         /* no more jobs come */
    bool gone;           /* the client does not read any more; atomic */
    gf_status failed;    /* of the stream out; under `writing` */
    const char *session; /* the revision of initialize; NULL: there was none */
} gf_mcp_connection;

/* ---- send.c ---------------------------------------------------------------------------------- */

/** The client does not read any more, or the program is told to end. */
bool gf_mcp_is_stopped(const gf_mcp_connection *s);

void gf_mcp_send_line(gf_mcp_connection *s, gf_buffer *line);

/** One message of the batch is done with, answered or not; the last one sends all answers. */
void gf_mcp_finish_in_batch(gf_mcp_connection *s, gf_mcp_batch *b, const gf_buffer *answer);

/** Send an answer, which is released, alone (b NULL) or with its batch. */
void gf_mcp_send_answer(gf_mcp_connection *s, gf_mcp_batch *b, gf_slice id, gf_buffer *answer);

void gf_mcp_refuse(gf_mcp_connection *s, gf_mcp_batch *b, gf_slice id, int code,
                   const char *message);

/* ---- requests.c ------------------------------------------------------------------------------ */

void gf_mcp_answer_request(gf_mcp_connection *s, gf_mcp_batch *b, const gf_mcp_message *m);

/* ---- calls.c --------------------------------------------------------------------------------- */

/** Start the thread that runs calls. */
gf_status gf_mcp_start_calls(gf_mcp_connection *s, gf_error *err);

/** A call waits for those before it, or is refused. */
void gf_mcp_take_call(gf_mcp_connection *s, gf_mcp_batch *b, const gf_mcp_message *m,
                      bool stateless);

/** A call that waits is taken out of the queue; one that runs is stopped. */
void gf_mcp_cancel_call(gf_mcp_connection *s, const gf_mcp_message *m);

/** Wait a moment for the calls that came, cancel the others, and end their thread. */
void gf_mcp_finish_calls(gf_mcp_connection *s);

#endif
