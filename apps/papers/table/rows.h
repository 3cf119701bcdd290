/**
 * Rows of a table of papers as `papers dump` writes them, back into cells.
 *
 *     {"sha1": "...", "f:c": "...", "size": 22, "grobid1:tei_xml": "...", "captures": {...}}
 *     sha1 TAB value TAB value ...           columns as a header or the caller names them
 *
 * A row is checked with what is stored of it, by the rules of the table's check, before anything of
 * it is put: what is imported is sound, or refused.
 *
 * Threads: for one thread.
 */
#ifndef GF_APPS_PAPERS_ROWS_H
#define GF_APPS_PAPERS_ROWS_H

#include "apps/papers/papers.h"

typedef struct gf_papers_rows gf_papers_rows;

/**
 * @param replace  cells that are there are written over; else they stay as they are
 * @return GF_OK; GF_ENOMEM. The papers must last as long.
 */
gf_status gf_papers_rows_open(gf_papers *papers, bool replace, gf_papers_rows **rows,
                              gf_error *err);
/** Forgets what was not flushed. */
void gf_papers_rows_close(gf_papers_rows *rows);

/**
 * The columns of lines of TSV that follow: all but the first, which is the digest.
 * @return GF_OK; GF_EINVAL (no such column, one twice); GF_ENOMEM
 */
gf_status gf_papers_rows_columns(gf_papers_rows *rows, const gf_slice *names, size_t n,
                                 gf_error *err);

/** The same from a header's line, which begins with sha1 and TAB. */
gf_status gf_papers_rows_header(gf_papers_rows *rows, gf_slice line, gf_error *err);

/**
 * Read a row. GF_EINVAL: it is none, *reason is a key and err the words.
 * @param json  the line is a JSON object, with GF_JSON_PADDING bytes behind it; else TSV
 */
gf_status gf_papers_rows_read(gf_papers_rows *rows, gf_slice line, bool json, const char **reason,
                              gf_error *err);

/** Check and put the row that was read; GF_EINVAL as there. */
gf_status gf_papers_rows_put(gf_papers_rows *rows, gf_papers_outcome *outcome, const char **reason,
                             gf_error *err);

/** Write and sync what was put. */
gf_status gf_papers_rows_flush(gf_papers_rows *rows, gf_error *err);

#endif
