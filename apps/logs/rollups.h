/**
 * Roll-ups of an access log, so that a report does not walk all lines: table LOG-counts.
 *
 *     row (every, by, time, value)   count:requests, count:bytes    of the lines of one bucket that
 *                                                                   have the value
 *     row ("day", "visitors", time, "-")  visitors:00 .. visitors:3f   a sketch of the day's
 *                                         visitors (base/distinct.h), 256 registers a cell; one that
 *                                         is not there has zeros
 *     row ("state", "-", 0, "-")     state:whole           "yes": all lines are counted
 *                                    state:deleted_before  days before that time are no longer those
 *                                                          of the lines: lines were deleted
 *                                    state:impersonal_before, state:counts_deleted_before
 *                                                          with their counts by ip and login, and
 *                                                          with all of them; digits
 *
 * Buckets are of 5 minutes and of days, UTC. Hours are counted from those of 5 minutes, weeks,
 * months and years from days. All lines together ("total", value "-"), status and domain are in both;
 * url, referer, ip, agent and login, whose values are many, in days alone. A value that a line lacks
 * is "-". A count that falls to 0 has no row; a day with any row has one of "total". Bytes that are
 * more than 64 bits hold are UINT64_MAX, in roll-ups as in reports, and stay so where a line is taken
 * back, until they are made anew.
 *
 * A visitor is a cookie; without one a login; without that an address with a browser.
 *
 * What lines add is written in their batch. So roll-ups that are whole equal a walk over the lines
 * of each day since `deleted_before`, but for sketches, which keep a visitor of the start of a line
 * that was replaced.
 */
#ifndef GF_APPS_LOGS_ROLLUPS_H
#define GF_APPS_LOGS_ROLLUPS_H

#include "apps/logs/internal.h"
#include "base/distinct.h"

typedef enum gf_logs_unit { GF_LOGS_5_MINUTES, GF_LOGS_DAY, GF_LOGS_UNITS } gf_logs_unit;

typedef enum gf_logs_by {
    GF_LOGS_TOTAL,
    GF_LOGS_STATUS,
    GF_LOGS_DOMAIN,
    GF_LOGS_URL,
    GF_LOGS_REFERER,
    GF_LOGS_IP,
    GF_LOGS_AGENT,
    GF_LOGS_LOGIN,
    GF_LOGS_BYS
} gf_logs_by;

enum { GF_LOGS_5_MINUTES_SECONDS = 300, GF_LOGS_DAY_SECONDS = 86400 };

/** "status", ... */
const char *gf_logs_by_name(gf_logs_by by);

/** Whether there are such rows; seconds of a unit; the start of the one that a time is in. */
bool gf_logs_rolled_up(gf_logs_unit unit, gf_logs_by by);
int64_t gf_logs_unit_seconds(gf_logs_unit unit);
int64_t gf_logs_unit_start(gf_logs_unit unit, int64_t time);

/** The value of a line, borrowed from it or from `digits`; "-": it has none, and of the total. */
gf_slice gf_logs_value(const gf_accesslog_line *line, gf_logs_by by, char digits[4]);

/** The sum of two numbers of bytes; of what is more, UINT64_MAX. */
uint64_t gf_logs_sum(uint64_t a, uint64_t b);

/** A hash of who sent the line. */
uint64_t gf_logs_visitor(const gf_accesslog_line *line);

void gf_logs_count_key(gf_buffer *key, gf_logs_unit unit, gf_logs_by by, int64_t time,
                       gf_slice value);
void gf_logs_sketch_key(gf_buffer *key, int64_t day);

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct gf_logs_state {
    bool whole;                    /* the roll-ups can be read */
    int64_t deleted_before;        /* the start of a day; 0: no lines were deleted */
    int64_t impersonal_before;     /* likewise: with their counts by ip and login, */
    int64_t counts_deleted_before; /* and with all; neither is later than deleted_before */
} gf_logs_state;

/** The start of the day before which counts by a value were deleted; 0: none were. */
int64_t gf_logs_counts_start(const gf_logs_state *state, gf_logs_by by);

/** Without the table there are none. `snapshot` may be NULL. */
gf_status gf_logs_read_state(gf_logs *l, const gf_snapshot *snapshot, gf_logs_state *state,
                             gf_error *err);

/** Told of each count of a unit, by time, then by value. */
typedef gf_status gf_logs_each_count(void *context, int64_t time, gf_slice value, uint64_t requests,
                                     uint64_t bytes, gf_error *err);
gf_status gf_logs_visit_counts(gf_logs *l, const gf_snapshot *snapshot, gf_logs_unit unit,
                               gf_logs_by by, int64_t from, int64_t to, gf_logs_each_count *each,
                               void *context, gf_error *err);

/** Told of the parts of each day's sketch: registers 256 * part and on. */
typedef gf_status gf_logs_each_sketch(void *context, int64_t day, unsigned part,
                                      const uint8_t registers[256], gf_error *err);
gf_status gf_logs_visit_sketches(gf_logs *l, const gf_snapshot *snapshot, int64_t from, int64_t to,
                                 gf_logs_each_sketch *each, void *context, gf_error *err);

/**
 * Roll up all lines since `deleted_before`, where that was not done, or `again`. The log must be
 * claimed. What is cut short is not whole, and is begun anew. *lines, unless NULL: how many.
 */
gf_status gf_logs_roll_up(gf_logs *l, bool again, uint64_t *lines, gf_error *err);

/** Forget all: the lines were dropped. Likewise. */
gf_status gf_logs_forget_rollups(gf_logs *l, gf_error *err);

/**
 * Mark that lines before that time are going to be deleted, the start of a day, with the roll-ups of
 * those `by` whose bit is set; on disk. Nothing is marked where no day before that time has any.
 */
gf_status gf_logs_mark_deleted(gf_logs *l, int64_t before, unsigned by, gf_error *err);

/**
 * Delete roll-ups of days before that time: of those `by` whose bit is set, and the sketches where
 * all are. *rows: how many.
 */
gf_status gf_logs_delete_counts(gf_logs *l, int64_t before, unsigned by, uint64_t *rows,
                                gf_error *err);

/* ---- counting lines -------------------------------------------------------------------------- */

/** Additions of lines to the roll-ups, until they are put into a batch. One at a time: the log is claimed. */
typedef struct gf_logs_sums gf_logs_sums;

gf_status gf_logs_sums_create(gf_logs *l, gf_logs_sums **sums, gf_error *err);
void gf_logs_sums_free(gf_logs_sums *sums);

/** Count a line, or take one back that was counted. */
gf_status gf_logs_sums_add(gf_logs_sums *sums, const gf_accesslog_line *line, bool take_back,
                           gf_error *err);

/** Put what has changed into the batch, which is to be written before the next line is counted. */
gf_status gf_logs_sums_put(gf_logs_sums *sums, gf_batch *batch, gf_error *err);

#endif
