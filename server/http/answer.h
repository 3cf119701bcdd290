/**
 * Answers, and the bodies of requests: bytes between a route and MHD.
 */
#ifndef GF_SERVER_HTTP_ANSWER_H
#define GF_SERVER_HTTP_ANSWER_H

#include "server/http/request.h"

/** A whole answer; the bytes are copied. */
void gf_answer(gf_request *r, unsigned status, const char *content_type, gf_slice bytes);

/** A problem (RFC 9457). */
void gf_answer_problem(gf_request *r, unsigned status, const char *detail);

/** The same for what an operation failed with. */
void gf_answer_failure(gf_request *r, const gf_error *err);

unsigned gf_http_status_of(const gf_error *err);
const char *gf_http_reason(unsigned status);

/** Append bytes to an answer that may be of any length; waits where nobody takes them. */
gf_status gf_answer_piece(gf_request *r, gf_slice bytes, gf_error *err);

/** Let what was appended go out now. */
gf_status gf_answer_flush(gf_request *r, gf_error *err);

/** Hand the answer to MHD. */
enum MHD_Result gf_answer_queue(gf_request *r);

/* ---- body.c ---------------------------------------------------------------------------------- */

/** With the lock held: whether the client keeps us waiting for its body for too long. */
bool gf_body_is_slow(const gf_request *r, double now);

/** Take bytes of the body; *n is the number of those that are left. MHD_NO ends the connection. */
enum MHD_Result gf_body_take(gf_request *r, const char *bytes, size_t *n);

/** The body as an operation's input. */
gf_input gf_body_input(gf_request *r);

size_t gf_ring_write(gf_ring *ring, const char *bytes, size_t n);
size_t gf_ring_read(gf_ring *ring, char *to, size_t n);

#endif
