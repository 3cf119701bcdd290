/**
 * A running GROBID: PDF in, TEI out, over HTTP.
 *
 *     POST <url>/api/processFulltextDocument, multipart/form-data, the file as "input"
 */
#ifndef GF_APPS_PAPERS_GROBID_H
#define GF_APPS_PAPERS_GROBID_H

#include "grouperfish/buffer.h"
#include "grouperfish/cancel.h"

/**
 * The gate that all requests to one GROBID pass: so many at once, so many in a second, and none for a
 * while after one was answered 503 (busy). A busy GROBID gets no more at once than it was working
 * on, and one more now and then after that. Threads: any.
 */
typedef struct gf_grobid_gate gf_grobid_gate;

/**
 * @param jobs        requests at once; 1 or more
 * @param rate        requests in a second at most; 0: any number
 * @param backoff_ms  that nothing is sent after an answer of 503; twice as long after each next,
 *                    until an answer is another, and a minute at most
 */
gf_status gf_grobid_gate_create(unsigned jobs, uint64_t rate, uint64_t backoff_ms,
                                gf_grobid_gate **gate, gf_error *err);
void gf_grobid_gate_free(gf_grobid_gate *gate);

/** A client, for one request at a time. */
typedef struct gf_grobid gf_grobid;

typedef struct gf_grobid_options {
    gf_slice url;            /* http:// or https://, without a path of the API */
    unsigned retries;        /* of a file, after an answer of 503 */
    unsigned seconds;        /* that an answer may take, to its end; 0: 600 */
    gf_grobid_gate *gate;    /* borrowed until close */
    const gf_cancel *cancel; /* may be NULL */
} gf_grobid_options;

/** @return GF_EINVAL for a URL that is none of the two kinds; GF_ENOMEM */
gf_status gf_grobid_open(const gf_grobid_options *options, gf_grobid **grobid, gf_error *err);
void gf_grobid_close(gf_grobid *grobid);

/**
 * Send a file and set `answer` to what comes back, its first GF_TEI_MOST + 1 bytes at most: one that
 * is longer is cut off.
 *
 * @param[out] code  the HTTP status, whatever it is but 503
 * @return GF_OK; GF_EBUSY (503 also after the last retry); GF_EIO (no connection, it broke off, or
 *         the answer did not end in time);
 *         GF_ECANCELLED, GF_ENOMEM
 */
gf_status gf_grobid_extract(gf_grobid *grobid, gf_slice pdf, long *code, gf_buffer *answer,
                            gf_error *err);

#endif
