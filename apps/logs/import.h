/**
 * Adding lines to an access log: each new line gets the next number and is put with its entries by
 * ip, cookie and login; lines that were imported before are found by read.h.
 *
 * Lines are put in batches of whole lines: after a crash there is none without its entries.
 */
#ifndef GF_APPS_LOGS_IMPORT_H
#define GF_APPS_LOGS_IMPORT_H

#include "apps/logs/internal.h"
#include "formats/logs/accesslog.h"
#include "formats/text/lines.h"

enum { GF_LOGS_LINE = GF_MAX_KEY / 2 }; /* bytes of a line */

/** Most bytes of an answer: sums of them have room. */
#define GF_LOGS_BYTES (UINT64_C(1) << 60)

typedef struct gf_logs_import gf_logs_import;

/**
 * Open the log that argument "log" of log->call names, or make it.
 * @param log    begun with {.call = call}; borrowed until close, and then still to be closed
 * @param again  add also lines that were imported before
 * @return GF_OK; GF_EBUSY (another import adds lines); a failure of the store
 */
gf_status gf_logs_import_open(gf_logs *log, bool again, gf_logs_import **import, gf_error *err);
void gf_logs_import_close(gf_logs_import *import);

/** Parse a line, whose length, UTF-8 and size are checked, too. @return GF_OK; GF_EINVAL */
gf_status gf_logs_import_parse(const gf_text_line *line, gf_accesslog_line *parsed, gf_error *err);

/**
 * Add the next line of a source, or find that it is known, or damaged.
 * @param[out] why  status GF_EINVAL: the line is damaged; else GF_OK
 * @return GF_OK, also for a damaged line; a failure of the store: nothing more is to be added
 */
gf_status gf_logs_import_add(gf_logs_import *import, const gf_text_line *line, gf_error *why,
                             gf_error *err);

/** Write the lines that were added where there are many, or a second has passed. */
gf_status gf_logs_import_write_if_due(gf_logs_import *import, gf_error *err);

/** Write the lines that were added; none where adding the last one failed. */
gf_status gf_logs_import_flush(gf_logs_import *import, gf_error *err);

typedef struct gf_logs_counts {
    uint64_t written; /* lines in the store */
    uint64_t known;   /* lines that were imported before */
} gf_logs_counts;

gf_logs_counts gf_logs_import_counted(const gf_logs_import *import);

#endif
