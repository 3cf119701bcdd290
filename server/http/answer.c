/* Answers: whole ones, streamed ones, and problems (RFC 9457). */
#include "server/http/answer.h"
#include "server/http/rows.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <unistd.h>

/* ---- what is answered ------------------------------------------------------------------------ */

const char *gf_http_reason(unsigned status)
{
    const char *reason = MHD_get_reason_phrase_for(status);
    return reason ? reason : "";
}

void gf_answer(gf_request *r, unsigned status, const char *content_type, gf_slice bytes)
{
    r->status = status;
    r->content_type = content_type;
    gf_buffer_reset(&r->answer);
    gf_buffer_slice(&r->answer, bytes);
}

void gf_answer_problem(gf_request *r, unsigned status, const char *detail)
{
    r->status = status;
    r->content_type = "application/problem+json";
    gf_buffer_reset(&r->answer);
    gf_json_writer w = gf_json_writer_to(&r->answer);
    gf_json_begin(&w, '{');
    gf_json_put_str(&w, "type", "about:blank");
    gf_json_put_str(&w, "title", gf_http_reason(status));
    gf_json_put_uint(&w, "status", status);
    gf_json_put_str(&w, "detail", detail);
    gf_json_end(&w, '}');
    if (status == 503 && !r->retry_after) r->retry_after = 1;
}

static bool is_disk_full(const char *message)
{
    return strstr(message, "No space left on device") || strstr(message, "Disk quota exceeded");
}

unsigned gf_http_status_of(const gf_error *err)
{
    switch (err->status) {
    case GF_OK:
        return 200;
    case GF_ENOTFOUND:
        return 404;
    case GF_EINVAL:
        return 400;
    case GF_EEXISTS:
    case GF_ECONFLICT:
        return 409;
    case GF_ELIMIT:
        return 413;
    case GF_EBUSY:
    case GF_ENOMEM:
    case GF_ECANCELLED:
        return 503;
    default:
        return is_disk_full(err->message) ? 507 : 500;
    }
}

void gf_answer_failure(gf_request *r, const gf_error *err)
{
    gf_answer_problem(r, gf_http_status_of(err), err->message);
}

/* ---- on its way ------------------------------------------------------------------------------ */

void gf_request_wake(gf_request *r)
{
    if (!r->suspended) return;
    r->suspended = false;
    r->asked = gf_clock_seconds();
    MHD_resume_connection(r->connection);
}

static gf_status make_ring(gf_ring *ring, gf_error *err)
{
    if (ring->bytes) return GF_OK;
    ring->bytes = gf_malloc(GF_RING_BYTES);
    if (!ring->bytes) return gf_fail_memory(err, "an answer");
    ring->size = GF_RING_BYTES;
    return GF_OK;
}

/* An answer to a body that is still coming waits for the body's end on disk, whatever its size. */
static gf_status keep_on_disk(gf_request *r, gf_slice bytes, gf_error *err)
{
    if (!r->spool) r->spool = tmpfile();
    if (!r->spool) return gf_fail_errno(err, "cannot make a temporary file");
    if (fwrite(bytes.ptr, 1, bytes.len, r->spool) == bytes.len) return GF_OK;
    return gf_fail_errno(err, "cannot write a temporary file");
}

static gf_status send_out(gf_request *r, gf_slice bytes, gf_error *err)
{
    gf_status st = make_ring(&r->outgoing, err);
    if (st != GF_OK) return st;
    pthread_mutex_lock(&r->lock);
    if (!r->streams) r->streams = r->ready = true; /* once: from then on MHD's thread reads them */
    while (bytes.len && !r->gone) {
        bytes = gf_slice_skip(bytes, gf_ring_write(&r->outgoing, bytes.ptr, bytes.len));
        gf_request_wake(r);
        if (bytes.len) pthread_cond_wait(&r->changed, &r->lock);
    }
    if (r->gone) st = gf_fail(err, GF_ECANCELLED, "nobody takes the answer any more");
    pthread_mutex_unlock(&r->lock);
    return st;
}

static bool body_is_coming(gf_request *r)
{
    pthread_mutex_lock(&r->lock);
    bool coming = r->has_body && !r->body_ended;
    pthread_mutex_unlock(&r->lock);
    return coming;
}

gf_status gf_answer_flush(gf_request *r, gf_error *err)
{
    gf_status st = gf_buffer_check(&r->answer, err);
    if (st != GF_OK || r->answer.len == 0 || r->whole) return st;
    if (r->spool || (!r->streams && body_is_coming(r)))
        st = keep_on_disk(r, gf_buffer_view(&r->answer), err);
    else
        st = send_out(r, gf_buffer_view(&r->answer), err);
    if (st == GF_OK) gf_buffer_reset(&r->answer);
    return st;
}

gf_status gf_answer_piece(gf_request *r, gf_slice bytes, gf_error *err)
{
    gf_buffer_slice(&r->answer, bytes);
    if (r->answer.len >= GF_PIECE_BYTES) return gf_answer_flush(r, err);
    return gf_buffer_check(&r->answer, err);
}

/* ---- handing it to MHD ----------------------------------------------------------------------- */

static ssize_t give(void *context, uint64_t at, char *to, size_t most)
{
    gf_request *r = context;
    ssize_t n;
    (void)at;
    pthread_mutex_lock(&r->lock);
    n = (ssize_t)gf_ring_read(&r->outgoing, to, most);
    if (n == 0 && r->finished) {
        n = r->broken ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    } else if (n == 0) {
        r->suspended = true;
        MHD_suspend_connection(r->connection);
    }
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return n;
}

static void header(struct MHD_Response *response, const char *name, const char *value)
{
    if (value && *value) MHD_add_response_header(response, name, value);
}

static void header_slice(struct MHD_Response *response, const char *name, gf_slice value)
{
    char *copy = value.len ? gf_copy_string(value.ptr, value.len) : NULL;
    header(response, name, copy);
    gf_free(copy);
}

static void put_headers(gf_request *r, struct MHD_Response *response)
{
    char number[16];
    header(response, MHD_HTTP_HEADER_CONTENT_TYPE, r->content_type);
    header(response, "Content-Security-Policy", r->policy ? r->policy : GF_STRICT_POLICY);
    header(response, "X-Content-Type-Options", "nosniff");
    header(response, "Cache-Control", r->etag[0] ? "no-cache" : "no-store");
    header(response, MHD_HTTP_HEADER_ETAG, r->etag);
    header(response, MHD_HTTP_HEADER_ALLOW, r->allow);
    if (r->etag[0]) header(response, MHD_HTTP_HEADER_VARY, "Accept, Authorization");
    header_slice(response, MHD_HTTP_HEADER_LOCATION, r->location);
    header_slice(response, "Link", r->link);
    if (r->status == 401) header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (r->retry_after) {
        snprintf(number, sizeof number, "%u", r->retry_after);
        header(response, MHD_HTTP_HEADER_RETRY_AFTER, number);
    }
    if (r->close_after || __atomic_load_n(&r->http->stopping.requested, __ATOMIC_RELAXED))
        header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

/* The file is MHD's from now on. */
static struct MHD_Response *response_of_spool(gf_request *r)
{
    off_t size = fflush(r->spool) == 0 ? ftello(r->spool) : -1;
    int file = size < 0 ? -1 : dup(fileno(r->spool));
    if (file < 0) return NULL;
    struct MHD_Response *response = MHD_create_response_from_fd64((uint64_t)size, file);
    if (!response) close(file);
    return response;
}

static struct MHD_Response *make_response(gf_request *r)
{
    if (r->upgrades) return gf_upgrade_response(r);
    if (r->spool) return response_of_spool(r);
    if (r->streams)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, GF_PIECE_BYTES, give, r, NULL);
    size_t n = r->answer.len;
    void *bytes = r->answer.ptr;
    if (n == 0) return MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    r->answer = (gf_buffer){0};
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(n, bytes, gf_free);
    if (!response) gf_free(bytes);
    return response;
}

enum MHD_Result gf_answer_queue(gf_request *r)
{
    if (!r->streams && !r->spool && r->answer.state != GF_OK) {
        gf_buffer_release(&r->answer);
        gf_answer_problem(r, 503, "out of memory");
        if (r->answer.state != GF_OK) return MHD_NO;
    }
    struct MHD_Response *response = make_response(r);
    if (!response) return MHD_NO;
    if (!r->upgrades) put_headers(r, response);
    r->told = r->status;
    enum MHD_Result queued = MHD_queue_response(r->connection, r->status, response);
    MHD_destroy_response(response);
    return queued;
}
