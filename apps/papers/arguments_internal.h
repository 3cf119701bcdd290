/**
 * Arguments of operations on papers, intakes of papers, and visits of all papers.
 */
#ifndef GF_APPS_PAPERS_ARGUMENTS_INTERNAL_H
#define GF_APPS_PAPERS_ARGUMENTS_INTERNAL_H

#include "api/app.h"
#include "api/call.h"
#include "api/intake.h"
#include "api/parameters.h"
#include "apps/papers/papers.h"

/** Open the table that "table" names; a store is made where `create`. */
gf_status gf_papers_of_call(const gf_call *call, bool create, gf_papers **papers, gf_error *err);

/** The papers that have a text, as records of put (source.c). */
gf_status gf_papers_records(const gf_call *call, gf_visit_record *visit, void *context,
                            gf_error *err);

/** Count the papers of a table in all namespaces, and check them. */
gf_status gf_papers_check(gf_app_check *check, const char *table, gf_error *err);

/** Make what derives from captures and texts anew, and drop what lost a part. */
gf_status gf_papers_repair(gf_app_repair *repair, const char *table, gf_error *err);

/** The digest that "sha1" names; GF_EINVAL. */
gf_status gf_papers_sha1_of_call(const gf_call *call, gf_sha1 *sha1, gf_error *err);

/** An intake of papers, with the counts of what becomes of its records. */
typedef struct gf_papers_intake {
    gf_intake intake;
    bool replace; /* overwrite what is there */
    gf_papers *papers;
    gf_papers_import *import; /* NULL until the first record is to be written */
    uint64_t created, replaced, existing;
} gf_papers_intake;

/**
 * Run the intake: next and take read and store records, in whose calls `context` is the
 * gf_papers_intake's owner. Flushes, emits the summary, closes.
 */
gf_status gf_papers_intake_run(gf_papers_intake *in, gf_error *err);

/** Open table and import, where they are not yet. */
gf_status gf_papers_intake_open(gf_papers_intake *in, gf_error *err);
void gf_papers_intake_count(gf_papers_intake *in, gf_papers_outcome outcome);

/* ---- visit.c --------------------------------------------------------------------------------- */

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

/* ---- the operations, each behind its handler ------------------------------------------------- */

extern const gf_operation gf_papers_import_cdx_operation, gf_papers_import_tei_operation,
    gf_papers_extract_operation, gf_papers_show_operation, gf_papers_list_operation,
    gf_papers_counts_operation, gf_papers_missing_operation, gf_papers_dump_operation,
    gf_papers_match_operation;

/* clang-format off */
#define P_PAPERS P_TEXT("table", "VERSION-ENV", "of the table wbgrp-journal-extract-... (0-prod)")
/* clang-format on */

#endif
