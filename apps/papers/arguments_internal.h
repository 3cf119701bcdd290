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

/**
 * Open the table that "table" names, and let the groups that "group" and "from-group" name stand for
 * their roles. Where `create`, store, table and groups are made; else GF_ENOTFOUND for a table or a
 * group that is named and not there.
 */
gf_status gf_papers_of_call(const gf_call *call, bool create, gf_papers **papers, gf_error *err);

/** Add the group that "group" names to a table that is there. */
gf_status gf_papers_make_group(const gf_call *call, gf_error *err);

/** GF_EINVAL where the argument names a group of another stem than that of the role, or none. */
gf_status gf_papers_role_check(const gf_call *call, const char *argument, unsigned role,
                               gf_error *err);

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
 * gf_papers_intake's owner. Flushes (by intake.flush, where that is set), emits the summary, closes.
 */
gf_status gf_papers_intake_run(gf_papers_intake *in, gf_error *err);

/** Write what was put: the flush of an intake whose context begins with a gf_papers_intake. */
gf_status gf_papers_intake_flush(void *context, gf_status ended, gf_error *err);

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
    gf_papers_match_operation, gf_papers_import_operation, gf_papers_alter_operation;

/* clang-format off */
#define P_PAPERS P_TEXT("table", "VERSION-ENV", "of the table wbgrp-journal-extract-... (0-prod)")
#define P_GROUP  P_TEXT("group", "GROUP", "the group to read, such as grobid1 (grobid0)")
#define P_GROUPS P_LIST("group", "GROUP,...", "the groups to read, such as grobid1,match1 (grobid0,match0)")
#define P_INTO   P_TEXT("group", "GROUP", "the group to write, made where it is missing (grobid0)")
/* clang-format on */

#endif
