/**
 * The lines of a source that were read before: an access log that is imported again, has grown, was
 * renamed or packed since, or whose import was cut short, adds its new lines alone.
 *
 * A line is identified by all lines before it in its source: the chain of line n is
 *
 *     chain(0) = 0      chain(n) = XXH3(line n, seed chain(n - 1))
 *
 * Sources are kept in blocks of 1,024 lines, rows of LOG-by that are named by the chain before the
 * block (before the first: by the chain of the first line, which is in the block as well; by 0
 * where a source is but one line, without a line end):
 *
 *     row ("read", chain in hexadecimal, variant, 0)   entry:lines   of each line the upper 4 bytes
 *                                                                    of its chain
 *                                                      entry:tail    8 bytes, its number (all set:
 *                                                                    refused), and the text of a
 *                                                                    last line without a line end
 *
 * Sources that begin alike share blocks; where they part, a block has variants. Those that part
 * within their first block are two sources, and all lines of both count; of those that part later
 * the lines before it count once. A tail is no line yet: it is known when it comes again, and is
 * replaced by the line that it became the start of.
 *
 * Rows are written in the batch of the lines that they list: after a crash they agree.
 */
#ifndef GF_APPS_LOGS_READ_H
#define GF_APPS_LOGS_READ_H

#include "apps/logs/internal.h"
#include "formats/text/lines.h"

typedef struct gf_logs_read gf_logs_read;

/**
 * @param log, batch  borrowed until free
 * @param again       take no line for known
 */
gf_status gf_logs_read_create(gf_logs *log, gf_batch *batch, bool again, gf_logs_read **read,
                              gf_error *err);
void gf_logs_read_free(gf_logs_read *read);

/** Forget all lines that were read: their log was dropped. */
gf_status gf_logs_read_forget(gf_logs_read *read, gf_error *err);

/** A source begins. Lines that were read before it are in the store, not in the batch. */
void gf_logs_read_begin(gf_logs_read *read);

typedef enum gf_logs_verdict {
    GF_LOGS_KNOWN,
    GF_LOGS_NEW,
    GF_LOGS_PARTED /* new, and so are the lines that gf_logs_read_take_held gives, which come first */
} gf_logs_verdict;

/** Judge the source's next line; `good`: it can be added. */
gf_status gf_logs_read_judge(gf_logs_read *read, const gf_text_line *line, bool good,
                             gf_logs_verdict *verdict, gf_error *err);

/** A line that was taken for known, and is not; false after the last. */
bool gf_logs_read_take_held(gf_logs_read *read, gf_slice *text);

/** A tail that was added and has grown into the line: it is to be deleted. False: none. */
bool gf_logs_read_take_replaced(gf_logs_read *read, gf_slice *text, uint64_t *number);

/**
 * The line, and what the two before gave, is in the batch: go to the next.
 * @param number  that the line was added with; UINT64_MAX where it was refused
 */
gf_status gf_logs_read_pass(gf_logs_read *read, const gf_text_line *line, uint64_t number,
                            gf_error *err);

/**
 * Put the lines that were read into the batch: before it is written, and between two lines.
 * @param[out] changed  whether any line was new since the last time
 */
gf_status gf_logs_read_flush(gf_logs_read *read, bool *changed, gf_error *err);

#endif
