/**
 * What the operations on papers share.
 */
#ifndef GF_APPS_PAPERS_CALLS_INTERNAL_H
#define GF_APPS_PAPERS_CALLS_INTERNAL_H

#include "api/call.h"
#include "apps/papers/papers.h"

/** Open the table that "table" names; a store is made where `create`. */
gf_status gf_call_papers(const gf_call *call, bool create, gf_papers **papers, gf_error *err);

/** The digest that "sha1" names; GF_EINVAL. */
gf_status gf_call_sha1(const gf_call *call, gf_sha1 *sha1, gf_error *err);

/** An import that counts what becomes of its records, and tells of those that are refused. */
typedef struct gf_paper_job {
    gf_call *call;
    gf_papers *papers;
    gf_paper_import *import; /* NULL until the first record is to be written */
    uint64_t read, created, replaced, existing, skipped, refused;
    bool bad; /* refused for more than being a comment or a header */
    gf_reasons reasons;
} gf_paper_job;

/** Open table and import, where they are not; `replace` is what the flag of that name says. */
gf_status gf_paper_job_begin(gf_paper_job *job, bool replace, gf_error *err);

/** Count one record more, and tell of the progress. */
gf_status gf_paper_job_next(gf_paper_job *job, gf_slice source, gf_error *err);
void gf_paper_job_outcome(gf_paper_job *job, gf_paper_outcome outcome);
void gf_paper_job_skip(gf_paper_job *job, const char *reason);
gf_status gf_paper_job_refuse(gf_paper_job *job, const gf_record *record, const char *reason,
                              const char *message, gf_error *err);

/**
 * Flush, emit the summary, close.
 * @param st, why  how reading ended: GF_ENOTFOUND is its end
 */
gf_status gf_paper_job_end(gf_paper_job *job, gf_status st, const gf_error *why, gf_error *err);

/* ---- walking.c ------------------------------------------------------------------------------- */

typedef struct gf_paper_walking {
    gf_call *call;
    void *context; /* of the operation */
    gf_papers *papers;
    gf_paper_walk *walk;
    gf_row row; /* of the cell that was read last */
    gf_row_writer to;
    gf_json_parser *json;
    uint64_t n, limit; /* rows given, which the visit counts; and how many there may be */
} gf_paper_walking;

typedef gf_status gf_paper_visit(gf_paper_walking *w, const gf_sha1 *sha1, gf_error *err);

/** Call `each` for every paper, until so many rows as "limit" says, and `end` (may be NULL). */
gf_status gf_walk_papers(gf_call *call, gf_paper_visit *each, gf_paper_visit *end, void *context,
                         gf_error *err);

/** A cell of the paper, borrowed until the next; empty and not found where there is none. */
gf_status gf_walking_cell(gf_paper_walking *w, const gf_sha1 *sha1, unsigned family,
                          const char *column, gf_slice *value, bool *found, gf_error *err);

/** A text member of a cell's JSON, borrowed until the next; empty where there is none. */
gf_status gf_walking_member(gf_paper_walking *w, gf_slice json, const char *name, gf_slice *text,
                            gf_error *err);

/** The status code of the paper's extraction. */
gf_status gf_walking_code(gf_paper_walking *w, const gf_sha1 *sha1, int64_t *code, bool *found,
                          gf_error *err);

#endif
