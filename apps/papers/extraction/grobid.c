/* Clients of GROBID by libcurl: each has a connection, which is kept from file to file. */
#include "apps/papers/extraction/grobid.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/http/curl.h"
#include "base/memory.h"
#include "formats/documents/tei.h"

#include <pthread.h>
#include <stdio.h>

#define ROUTE "/api/processFulltextDocument"
enum {
    BUSY = 503,
    MOST_WAIT_MS = 60000,
    CONNECT_SECONDS = 30,
    ANSWER_SECONDS = 600,
    MOST_HEADERS = 64 << 10,
    PATIENCE_MS = 100, /* before a cancel is looked for */
    FEWEST_GOOD = 8,   /* answers before one more is sent at once; twice as many each next time */
    MOST_GOOD = 4096
};

/* ---- the gate -------------------------------------------------------------------------------- */

struct gf_grobid_gate {
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    unsigned jobs, limit; /* requests at once: wanted, and allowed for now */
    unsigned at_once;
    unsigned good, enough; /* answers since the last 503; and how many allow one more at once */
    double backoff, wait;  /* seconds: the first, and the next */
    double until, next, between; /* nothing is sent before both of the first two */
    uint64_t round;              /* counts the waits that 503 began */
};

gf_status gf_grobid_gate_create(unsigned jobs, uint64_t rate, uint64_t backoff_ms,
                                gf_grobid_gate **gate, gf_error *err)
{
    gf_grobid_gate *g = gf_calloc(1, sizeof *g);
    if (!g) return gf_fail_memory(err, "an HTTP client");
    pthread_mutex_init(&g->lock, NULL);
    gf_condition_init(&g->changed);
    g->jobs = g->limit = jobs;
    g->enough = FEWEST_GOOD;
    g->backoff = g->wait = (double)backoff_ms / 1000;
    g->between = rate ? 1.0 / (double)rate : 0;
    *gate = g;
    return GF_OK;
}

void gf_grobid_gate_free(gf_grobid_gate *g)
{
    if (!g) return;
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->changed);
    gf_free(g);
}

/* Milliseconds to wait before it is worth looking again: 0 where a request may go. */
static unsigned time_to_wait(const gf_grobid_gate *g, double now)
{
    double until = g->until > g->next ? g->until : g->next;
    if (g->at_once >= g->limit) return PATIENCE_MS;
    if (now >= until) return 0;
    double ms = (until - now) * 1000 + 1;
    return ms < PATIENCE_MS ? (unsigned)ms : PATIENCE_MS;
}

static gf_status enter_gate(gf_grobid_gate *g, const gf_cancel *cancel, uint64_t *round,
                            gf_error *err)
{
    unsigned ms;
    gf_status st;
    pthread_mutex_lock(&g->lock);
    while ((st = gf_cancel_check(cancel, err)) == GF_OK &&
           (ms = time_to_wait(g, gf_clock_seconds())) > 0)
        gf_condition_wait_ms(&g->changed, &g->lock, ms);
    if (st == GF_OK) {
        double now = gf_clock_seconds();
        g->next = (g->next > now ? g->next : now) + g->between;
        g->at_once++;
        *round = g->round;
    }
    pthread_mutex_unlock(&g->lock);
    return st;
}

/* Requests sent together wait together: the first that is answered 503 begins it. */
static void leave_gate(gf_grobid_gate *g, uint64_t round, bool answered, bool busy)
{
    pthread_mutex_lock(&g->lock);
    g->at_once--;
    if (busy) {
        g->limit = g->at_once ? g->at_once : 1;
        g->good = 0;
        if (round == g->round) {
            g->round++;
            g->until = gf_clock_seconds() + g->wait;
            g->wait = 2 * g->wait * 1000 < MOST_WAIT_MS ? 2 * g->wait : MOST_WAIT_MS / 1000.0;
            if (g->enough < MOST_GOOD) g->enough *= 2;
        }
    } else if (answered) {
        g->wait = g->backoff;
        if (g->limit < g->jobs && ++g->good >= g->enough) {
            g->limit++;
            g->good = 0;
        }
    }
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

/* ---- a client -------------------------------------------------------------------------------- */

struct gf_grobid {
    CURL *curl;
    gf_buffer url;
    gf_grobid_options options;
    size_t header_bytes; /* of the answer at hand */
    char why[CURL_ERROR_SIZE];
};

static bool starts_with(gf_slice s, const char *with)
{
    return gf_slice_starts(s, gf_slice_str(with));
}

static gf_status set_url(gf_grobid *g, gf_slice url, gf_error *err)
{
    if ((!starts_with(url, "http://") && !starts_with(url, "https://")) ||
        memchr(url.ptr, '\0', url.len))
        return gf_fail(err, GF_EINVAL,
                       "\"%.*s\" is not the URL of a GROBID, such as "
                       "http://localhost:8070",
                       (int)(url.len > 200 ? 200 : url.len), url.ptr ? url.ptr : "");
    while (url.ptr[url.len - 1] == '/')
        url.len--;
    gf_buffer_slice(&g->url, url);
    gf_buffer_str(&g->url, ROUTE);
    return gf_buffer_check(&g->url, err);
}

/* The options of a transfer; setopt fails only for want of memory. */
static gf_status set_options(gf_grobid *g, gf_error *err)
{
    CURL *c = g->curl;
    bool good = curl_easy_setopt(c, CURLOPT_URL, gf_buffer_cstr(&g->url)) == CURLE_OK &&
                curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
                curl_easy_setopt(c, CURLOPT_ERRORBUFFER, g->why) == CURLE_OK &&
                curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
                curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS) == CURLE_OK &&
                curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)g->options.seconds) == CURLE_OK &&
                curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
    return good ? GF_OK : gf_fail_memory(err, "an HTTP client");
}

gf_status gf_grobid_open(const gf_grobid_options *options, gf_grobid **grobid, gf_error *err)
{
    gf_status st = gf_curl_load(err);
    if (st != GF_OK) return st;
    gf_grobid *g = gf_calloc(1, sizeof *g);
    if (!g) return gf_fail_memory(err, "an HTTP client");
    g->options = *options;
    if (g->options.seconds == 0) g->options.seconds = ANSWER_SECONDS;
    st = set_url(g, options->url, err);
    if (st == GF_OK && !(g->curl = curl_easy_init())) st = gf_fail_memory(err, "an HTTP client");
    if (st == GF_OK) st = set_options(g, err);
    if (st != GF_OK) {
        gf_grobid_close(g);
        return st;
    }
    *grobid = g;
    return GF_OK;
}

void gf_grobid_close(gf_grobid *g)
{
    if (!g) return;
    if (g->curl) curl_easy_cleanup(g->curl);
    gf_buffer_release(&g->url);
    gf_free(g);
}

/* An answer with more bytes than can be stored is cut off: only their presence matters. */
static size_t take_answer(char *bytes, size_t size, size_t n, void *context)
{
    gf_buffer *answer = context;
    size_t all = size * n, room = GF_TEI_MOST + 1 - answer->len;
    gf_buffer_append(answer, bytes, all < room ? all : room);
    return answer->state == GF_OK && answer->len <= GF_TEI_MOST ? all : 0;
}

static size_t count_header(char *bytes, size_t size, size_t n, void *context)
{
    gf_grobid *g = context;
    (void)bytes;
    g->header_bytes += size * n;
    return g->header_bytes <= MOST_HEADERS ? size * n : 0;
}

static int look_for_cancel(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return gf_cancel_check(context, NULL) != GF_OK;
}

static curl_mime *make_form(gf_grobid *g, gf_slice pdf)
{
    curl_mime *form = curl_mime_init(g->curl);
    curl_mimepart *part = form ? curl_mime_addpart(form) : NULL;
    if (part && curl_mime_name(part, "input") == CURLE_OK &&
        curl_mime_filename(part, "paper.pdf") == CURLE_OK &&
        curl_mime_type(part, "application/pdf") == CURLE_OK &&
        curl_mime_data(part, pdf.ptr ? pdf.ptr : "", pdf.len) == CURLE_OK)
        return form;
    curl_mime_free(form);
    return NULL;
}

/* Was there a connection, new or kept? One that does not come has a limit of its own. */
static bool answer_began(const gf_grobid *g)
{
    curl_off_t ready = 0;
    curl_easy_getinfo(g->curl, CURLINFO_PRETRANSFER_TIME_T, &ready);
    return ready > 0;
}

static gf_status send_once(gf_grobid *g, gf_slice pdf, long *code, gf_buffer *answer, gf_error *err)
{
    curl_mime *form = make_form(g, pdf);
    if (!form) return gf_fail_memory(err, "a request");
    gf_buffer_reset(answer);
    g->why[0] = '\0';
    g->header_bytes = 0;
    curl_easy_setopt(g->curl, CURLOPT_MIMEPOST, form);
    curl_easy_setopt(g->curl, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(g->curl, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(g->curl, CURLOPT_HEADERFUNCTION, count_header);
    curl_easy_setopt(g->curl, CURLOPT_HEADERDATA, g);
    curl_easy_setopt(g->curl, CURLOPT_XFERINFOFUNCTION, look_for_cancel);
    curl_easy_setopt(g->curl, CURLOPT_XFERINFODATA, g->options.cancel);
    CURLcode failed = curl_easy_perform(g->curl);
    curl_easy_setopt(g->curl, CURLOPT_MIMEPOST, NULL);
    curl_mime_free(form);
    gf_status st = gf_cancel_check(g->options.cancel, err);
    if (st == GF_OK) st = gf_buffer_check(answer, err);
    if (st != GF_OK) return st;
    if (failed == CURLE_COULDNT_CONNECT)
        return gf_fail(err, GF_EIO, "GROBID at %s: nothing answers there; is it running?",
                       gf_buffer_cstr(&g->url));
    if (g->header_bytes > MOST_HEADERS)
        return gf_fail(err, GF_EIO, "GROBID at %s: the headers of its answer have more than 64 KiB",
                       gf_buffer_cstr(&g->url));
    if (failed == CURLE_OPERATION_TIMEDOUT && answer_began(g))
        return gf_fail(err, GF_EIO,
                       "GROBID at %s: no whole answer came within %u seconds (--timeout)",
                       gf_buffer_cstr(&g->url), g->options.seconds);
    if (failed != CURLE_OK && answer->len <= GF_TEI_MOST)
        return gf_fail(err, GF_EIO, "GROBID at %s: %s", gf_buffer_cstr(&g->url),
                       g->why[0] ? g->why : curl_easy_strerror(failed));
    curl_easy_getinfo(g->curl, CURLINFO_RESPONSE_CODE, code);
    return GF_OK;
}

/* Once, when the gate lets it through. */
static gf_status send_through(gf_grobid *g, gf_slice pdf, long *code, gf_buffer *answer,
                              gf_error *err)
{
    uint64_t round = 0;
    gf_status st = enter_gate(g->options.gate, g->options.cancel, &round, err);
    if (st != GF_OK) return st;
    st = send_once(g, pdf, code, answer, err);
    leave_gate(g->options.gate, round, st == GF_OK, st == GF_OK && *code == BUSY);
    return st;
}

gf_status gf_grobid_extract(gf_grobid *g, gf_slice pdf, long *code, gf_buffer *answer,
                            gf_error *err)
{
    long got = 0;
    gf_status st = send_through(g, pdf, &got, answer, err);
    for (unsigned i = 0; st == GF_OK && got == BUSY && i < g->options.retries; i++)
        st = send_through(g, pdf, &got, answer, err);
    if (st == GF_OK && got == BUSY)
        return gf_fail(err, GF_EBUSY, "GROBID at %s was busy %u times", gf_buffer_cstr(&g->url),
                       g->options.retries + 1);
    if (st == GF_OK) *code = got;
    return st;
}
