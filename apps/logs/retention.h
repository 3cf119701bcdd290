/**
 * Retention: old lines of an access log are deleted, by whole days, and their counts may stay.
 *
 * Before any line goes, the roll-ups are whole and say from which day on they are those of lines
 * (rollups.h). Lines go with their entries of LOG-by, in batches, the oldest first: what was cut
 * short has fewer lines, and the same call goes on. Which lines were imported stays known, so that
 * they are not added again.
 */
#ifndef GF_APPS_LOGS_RETENTION_H
#define GF_APPS_LOGS_RETENTION_H

#include "apps/logs/rollups.h"

typedef enum gf_logs_keep {
    GF_LOGS_KEEP,            /* the counts of the days stay */
    GF_LOGS_KEEP_IMPERSONAL, /* but for those by ip and login */
    GF_LOGS_DELETE           /* none stays */
} gf_logs_keep;

typedef struct gf_logs_deletion {
    int64_t before; /* the start of a day: lines before it go */
    gf_logs_keep counts;
    bool dry; /* change nothing, and count what would go */
} gf_logs_deletion;

/**
 * The start of the day, UTC, that a day's argument "before" (a moment) or "keep" (an age, such as
 * 365d) means; one of them is needed. GF_EINVAL.
 */
gf_status gf_logs_read_before(const gf_call *call, int64_t *before, gf_error *err);

/**
 * Delete lines; the log is claimed. *lines and *counts: what has gone.
 * Cost: memory of a batch.
 */
gf_status gf_logs_delete_before(gf_logs *l, const gf_logs_deletion *deletion, uint64_t *lines,
                                uint64_t *counts, gf_error *err);

#endif
