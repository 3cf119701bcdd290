/**
 * What the operations on papers share.
 */
#ifndef GF_APPS_PAPERS_ARGUMENTS_INTERNAL_H
#define GF_APPS_PAPERS_ARGUMENTS_INTERNAL_H

#include "api/call.h"
#include "apps/papers/papers.h"

/** Open the table that "table" names; a store is made where `create`. */
gf_status gf_papers_of_call(const gf_call *call, bool create, gf_papers **papers, gf_error *err);

/** The digest that "sha1" names; GF_EINVAL. */
gf_status gf_papers_sha1_of_call(const gf_call *call, gf_sha1 *sha1, gf_error *err);

/** An import that counts what becomes of its records, and tells of those that are refused. */
typedef struct gf_papers_job {
    gf_call *call;
    gf_papers *papers;
    gf_papers_import *import; /* NULL until the first record is to be written */
    uint64_t read, created, replaced, existing, skipped, refused;
    bool bad; /* refused for more than being a comment or a header */
    gf_reasons reasons;
} gf_papers_job;

/** Open table and import, where they are not; `replace` is what the flag of that name says. */
gf_status gf_papers_job_begin(gf_papers_job *job, bool replace, gf_error *err);

/** Count one record more, and tell of the progress. */
gf_status gf_papers_job_next(gf_papers_job *job, gf_slice source, gf_error *err);
void gf_papers_job_outcome(gf_papers_job *job, gf_papers_outcome outcome);
void gf_papers_job_skip(gf_papers_job *job, const char *reason);
gf_status gf_papers_job_refuse(gf_papers_job *job, const gf_record *record, const char *reason,
                               const char *message, gf_error *err);

/**
 * Flush, emit the summary, close.
 * @param st, why  how reading ended: GF_ENOTFOUND is its end
 */
gf_status gf_papers_job_end(gf_papers_job *job, gf_status st, const gf_error *why, gf_error *err);

/* ---- walking.c ------------------------------------------------------------------------------- */

typedef struct gf_papers_visit {
    gf_call *call;
    void *context; /* of the operation */
    gf_papers *papers;
    gf_papers_scan *walk;
    gf_row row; /* of the cell that was read last */
    gf_row_writer to;
    gf_json_parser *json;
    uint64_t n, limit; /* rows given, which the visit counts; and how many there may be */
} gf_papers_visit;

typedef gf_status gf_papers_visitor(gf_papers_visit *w, const gf_sha1 *sha1, gf_error *err);

/** Call `each` for every paper, until so many rows as "limit" says, and `end` (may be NULL). */
gf_status gf_papers_visit_all(gf_call *call, gf_papers_visitor *each, gf_papers_visitor *end,
                              void *context, gf_error *err);

/** A cell of the paper, borrowed until the next; empty and not found where there is none. */
gf_status gf_papers_visit_cell(gf_papers_visit *w, const gf_sha1 *sha1, unsigned family,
                               const char *column, gf_slice *value, bool *found, gf_error *err);

/** A text member of a cell's JSON, borrowed until the next; empty where there is none. */
gf_status gf_papers_visit_member(gf_papers_visit *w, gf_slice json, const char *name,
                                 gf_slice *text, gf_error *err);

/** The status code of the paper's extraction. */
gf_status gf_papers_visit_code(gf_papers_visit *w, const gf_sha1 *sha1, int64_t *code, bool *found,
                               gf_error *err);

#endif
