/**
 * PDFs that are at a GROBID, several at once, and what comes back.
 *
 *     owner      send 1 | send 2 | take 2 | send 3 | take 1 | ...
 *     thread 1          1 sent, read, made ready
 *     thread 2                   2 ... |         3 ...
 *
 * A file is given back when it is done, whatever was sent before it.
 *
 * Memory: of each file its bytes, the answer, and what is made of it. Threads: owner's calls only.
 */
#ifndef GF_APPS_PAPERS_SENDING_H
#define GF_APPS_PAPERS_SENDING_H

#include "apps/papers/extraction/grobid.h"
#include "apps/papers/papers.h"

/** A file that came back. Borrowed until gf_papers_sending_done. */
typedef struct gf_papers_sent {
    gf_sha1 sha1;
    gf_slice source, pdf;
    bool keeps; /* as it was sent with */
    long code;  /* GROBID's HTTP status */
    gf_slice answer;
    const gf_papers_text *text; /* of a code of 200 */
    gf_status status;           /* GF_OK; of GROBID or of reading the answer: there is no more */
    const gf_error *error;
    uint64_t number; /* of the files that were sent, from 0 on */
} gf_papers_sent;

typedef struct gf_papers_sending gf_papers_sending;

/**
 * @param jobs     files at once; 1 or more
 * @param most     bytes of files that are held at once, or one file that is longer
 * @param options  of each client
 */
gf_status gf_papers_sending_open(unsigned jobs, size_t most, const gf_grobid_options *options,
                                 gf_papers_sending **sending, gf_error *err);
void gf_papers_sending_close(gf_papers_sending *sending);

/** Is there room for so many bytes, and is this file not under way? */
bool gf_papers_sending_has_room(gf_papers_sending *sending, size_t bytes, const gf_sha1 *sha1);

/** Send a file, which is copied; there is room for it. `keeps` is for the owner. */
gf_status gf_papers_sending_send(gf_papers_sending *sending, const gf_sha1 *sha1, gf_slice source,
                                 gf_slice pdf, bool keeps, gf_error *err);

/** A file that came back; where `wait`, wait for one. False where there is none, or none under way. */
bool gf_papers_sending_take(gf_papers_sending *sending, bool wait, gf_papers_sent *sent);

/** Frees the place of the answer that was taken last. */
void gf_papers_sending_done(gf_papers_sending *sending);

#endif
