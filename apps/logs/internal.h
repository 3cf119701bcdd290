/**
 * Access logs in users' tables, as the operations "log ..." keep them.
 *
 *     table LOG      row (time, line)               families http and user: a line's fields
 *     table LOG-by   row (kind, value, time, line)  family entry: where to find what has that ip,
 *                                                   cookie or login; one empty cell
 *
 * Time is in seconds since 1970. Line is a number that was never used before in this log, so that
 * lines of one time stay apart and in the order in which they came; the next one is in the row
 * ("next", "", 0, 0) of LOG-by. A line, its entries and that number are written in one batch. Rows
 * of kind "read" tell which lines were imported (read.h).
 */
#ifndef GF_APPS_LOGS_INTERNAL_H
#define GF_APPS_LOGS_INTERNAL_H

#include "api/tables/internal.h"

typedef struct gf_logs {
    gf_call *call;
    gf_store *store;
    gf_user_table *lines, *by;  /* lines: NULL where it is still to be made */
    unsigned http, user, entry; /* families */
    gf_buffer key, text;
    gf_row_writer writer;
} gf_logs;

/**
 * Open the log that argument "log" names, begin with {.call = call}. Where it is missing and
 * `make` is set, LOG-by is made, and LOG is for gf_logs_make: what LOG-by still tells of lines that
 * were dropped with it is to be forgotten before. LOG without LOG-by is GF_ENOTFOUND: which numbers
 * its lines have is lost.
 */
gf_status gf_logs_open(gf_logs *l, bool make, gf_error *err);
gf_status gf_logs_make(gf_logs *l, gf_error *err);
void gf_logs_close(gf_logs *l);

/** Write a row key of LOG, or of LOG-by; the times and lines are numbers. */
gf_status gf_logs_line_key(gf_logs *l, int64_t time, uint64_t line, gf_buffer *key, gf_error *err);
gf_status gf_logs_entry_key(gf_logs *l, gf_slice kind, gf_slice value, int64_t time, uint64_t line,
                            gf_buffer *key, gf_error *err);

/** Append the starts of keys that arguments "from" and "to" mean behind `prefix`: empty for none.
 */
gf_status gf_logs_range(gf_logs *l, gf_slice prefix, gf_buffer *start, gf_buffer *end,
                        gf_error *err);

/** Take a time and a line, the last parts of a key of LOG or LOG-by. */
gf_status gf_logs_take(gf_slice *key, int64_t *time, uint64_t *line, gf_error *err);

/* ---- the operations, each behind its handler ------------------------------------------------- */

extern const gf_operation gf_log_import_operation, gf_log_report_operation, gf_log_find_operation;

/* clang-format off */
#define P_LOG   P_REQUIRED("log", "LOG", "the access log")
#define P_SINCE {"from", GF_PARAMETER_MOMENT, false, "TIME", "only lines of this time and later", 0, 0}
#define P_UNTIL {"to", GF_PARAMETER_MOMENT, false, "TIME", "only lines before this time", 0, 0}
/* clang-format on */

#endif
