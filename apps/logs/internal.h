/**
 * Access logs in users' tables, as the operations "log ..." keep them.
 *
 *     table LOG         row (time, line)               families http and user: a line's fields
 *     table LOG-by      row (kind, value, time, line)  family entry: where to find what has that
 *                                                      ip, cookie or login; one empty cell
 *     table LOG-counts  row (every, by, time, value)   roll-ups of the lines (rollups.h)
 *
 * Time is in seconds since 1970. Line is a number that was never used before in this log, so that
 * lines of one time stay apart and in the order in which they came; the next one is in the row
 * ("next", "", 0, 0) of LOG-by. A line, its entries, that number and what it adds to the roll-ups
 * are written in one batch. Rows of kind "read" tell which lines were imported (read.h).
 *
 * Where several processes have the store open, the same row has a cell `turn`, which each batch
 * raises, on the condition that it is as it was read when the log was claimed: so of two that change
 * one log at once the second is told so before it takes a number twice, or counts by old roll-ups.
 *
 * Logs of earlier versions have the column http:referrer in place of http:referer, which an import
 * adds; what the old one holds is read as the new one. They have no LOG-counts, which the next
 * import, deletion or `log rollup` makes of the lines.
 */
#ifndef GF_APPS_LOGS_INTERNAL_H
#define GF_APPS_LOGS_INTERNAL_H

#include "api/tables/internal.h"
#include "formats/logs/accesslog.h"
#include "storage/description.h"

typedef struct gf_logs {
    gf_call *call;             /* NULL: of a check */
    gf_slice name_space, name; /* borrowed */
    const gf_cancel *cancel;
    gf_store *store;
    gf_user_table *lines, *by;         /* lines: NULL where it is still to be made */
    gf_user_table *counts;             /* NULL where there are no roll-ups */
    unsigned http, user, entry;        /* families */
    unsigned count, visitors, rollups; /* of counts */
    uint64_t turn; /* so many changes the log has had, where other processes may change it, too */
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

/** The tables alone: of a log whose store, name_space and name are set. */
gf_status gf_logs_open_tables(gf_logs *l, bool make, gf_error *err);

/** Make the table LOG-counts, where it is missing. */
gf_status gf_logs_make_counts(gf_logs *l, gf_error *err);

/**
 * Claim the log for adding lines or deleting some, until it is closed; GF_EBUSY. What it decides by is
 * read after this, and written by gf_logs_write.
 */
gf_status gf_logs_claim(gf_logs *l, gf_error *err);

/**
 * Write the batch as a whole. In a store that other processes change as well it is written only where
 * none of them has changed the log since it was claimed: GF_EBUSY, and nothing is written.
 */
gf_status gf_logs_write(gf_logs *l, gf_batch *batch, gf_sync sync, gf_error *err);

/** Write a row key of LOG, or of LOG-by; the times and lines are numbers. */
gf_status gf_logs_line_key(gf_logs *l, int64_t time, uint64_t line, gf_buffer *key, gf_error *err);
gf_status gf_logs_entry_key(gf_logs *l, gf_slice kind, gf_slice value, int64_t time, uint64_t line,
                            gf_buffer *key, gf_error *err);

/** Append the part of a row key that a time is. */
void gf_logs_put_time(gf_buffer *key, int64_t time);

/* ---- lines as they are stored ---------------------------------------------------------------- */

/** A row of LOG without its time; borrowed from the row. */
void gf_logs_line_of_row(const gf_logs *l, const gf_row *row, gf_accesslog_line *line);

/** Told of each line, by time. */
typedef gf_status gf_logs_each_line(void *context, uint64_t number, const gf_accesslog_line *line,
                                    gf_error *err);

/**
 * Walk the lines with from <= time < to, as they are in `snapshot` (NULL: now).
 * @param of_user  with what is in the family `user`, too, which costs a second read
 */
gf_status gf_logs_walk(gf_logs *l, const gf_snapshot *snapshot, int64_t from, int64_t to,
                       bool of_user, gf_logs_each_line *each, void *context, gf_error *err);

/** The times that arguments "from" and "to" mean: INT64_MIN, INT64_MAX where they are not given. */
void gf_logs_times(const gf_call *call, int64_t *from, int64_t *to);

/** Append the starts of keys that arguments "from" and "to" mean behind `prefix`: empty for none.
 */
gf_status gf_logs_range(gf_logs *l, gf_slice prefix, gf_buffer *start, gf_buffer *end,
                        gf_error *err);

/** Take a time and a line, the last parts of a key of LOG or LOG-by. */
gf_status gf_logs_take(gf_slice *key, int64_t *time, uint64_t *line, gf_error *err);

/* ---- the operations, each behind its handler ------------------------------------------------- */

extern const gf_operation gf_log_import_operation, gf_log_report_operation, gf_log_find_operation,
    gf_log_delete_operation, gf_log_rollup_operation;

/* clang-format off */
#define P_LOG   P_REQUIRED("log", "LOG", "the access log")
#define P_SINCE {"from", GF_PARAMETER_MOMENT, false, "TIME", "only lines of this time and later", 0, 0}
#define P_UNTIL {"to", GF_PARAMETER_MOMENT, false, "TIME", "only lines before this time", 0, 0}
/* clang-format on */

/** Its tables, as `table list --system` shows them. */
enum { GF_LOGS_TABLES = 3 };
extern const gf_table_description gf_logs_descriptions[GF_LOGS_TABLES];

#endif
