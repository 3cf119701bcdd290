/**
 * Papers: one row for each full-text file, by the SHA-1 of the file.
 *
 *     table wbgrp-journal-extract-<version>-<env>, row: the namespace, then the SHA-1 as 20 bytes
 *
 *     family   layout           columns
 *     f        packed           c
 *     file     packed           size, mime, cdx, meta
 *     grobid0  wide, snappy     status_code, quality, status, tei_xml, tei_json, metadata
 *     match0   packed           mstatus, doi, minfo
 *     captures wide             one for each further capture (captures.c)
 *
 * size is a uint64, status_code an int64, both of 8 bytes, big-endian; all else is text, of which
 * c, cdx, meta, status, tei_json, metadata and minfo are JSON. docs/papers.md says what is in them.
 * Further groups (grobid1, match1) have the columns of the first, and lie behind these families.
 *
 * Threads: a gf_papers may be used by several threads at once, everything else by one.
 * Source: sandcrawler, extra/hbase/schema_design.md (Internet Archive, 2018).
 */
#ifndef GF_APPS_PAPERS_PAPERS_H
#define GF_APPS_PAPERS_PAPERS_H

#include "formats/bytes/sha1.h"
#include "formats/documents/tei.h"
#include "formats/logs/cdx.h"
#include "grouperfish.h"

/* ---- the table ------------------------------------------------------------------------------- */

/* Roles of families. A family of a table has a number of its own there (gf_papers_family). */
enum {
    GF_PAPERS_F,
    GF_PAPERS_FILE,
    GF_PAPERS_GROBID,
    GF_PAPERS_MATCH,
    GF_PAPERS_CAPTURES,
    GF_PAPERS_FAMILIES
};
enum { GF_PAPERS_MOST_FAMILIES = 32 }; /* of a table: groups and families of users, too */

/** The prefix of the tables' names, and the table that is used where none is named. */
#define GF_PAPERS_PREFIX "wbgrp-journal-extract-"
#define GF_PAPERS_TABLE  "0-prod"

typedef struct gf_papers gf_papers;

/**
 * Open the table; one that the store lacks is made.
 * @param table  its <version>-<env>, such as GF_PAPERS_TABLE: lower-case letters, digits, - and _
 */
gf_status gf_papers_open(gf_store *store, gf_slice name_space, gf_slice table, gf_papers **papers,
                         gf_error *err);
/** The same of a table that is there; GF_ENOTFOUND. */
gf_status gf_papers_find(gf_store *store, gf_slice name_space, gf_slice table, gf_papers **papers,
                         gf_error *err);
void gf_papers_close(gf_papers *papers);

/** The table's schema as this code has it. */
const gf_schema *gf_papers_schema(void);
gf_table *gf_papers_table(const gf_papers *papers);

/* ---- its families (families.c) --------------------------------------------------------------- */

/**
 * Let a group of the stem of `role` (GF_PAPERS_GROBID, GF_PAPERS_MATCH) stand for it in all calls
 * that follow: "grobid1". Until then "grobid0" and "match0" do.
 *
 * @param create  add a group that the table lacks
 * @return GF_OK; GF_EINVAL (no name of such a group); GF_ENOTFOUND; GF_ELIMIT (32 families);
 *         as gf_table_open
 */
gf_status gf_papers_choose_group(gf_papers *papers, unsigned role, gf_slice name, bool create,
                                 gf_error *err);

/** Add families at the end of the table; those of a name that it has are passed over. */
gf_status gf_papers_add(gf_papers *papers, const gf_family *more, unsigned n, gf_error *err);

/**
 * Add families, and columns of families that were added so, at the ends of the table's. Those of a
 * role (f, file, grobid1, ...) are refused: GF_EINVAL, as are column names that are not unique.
 */
gf_status gf_papers_alter(gf_papers *papers, const gf_family *more, unsigned n, gf_error *err);

/** The number of the family that stands for a role; the role of a family, or of a name. */
unsigned gf_papers_family(const gf_papers *papers, unsigned role);
unsigned gf_papers_role(const gf_papers *papers, unsigned family); /* GF_PAPERS_FAMILIES: none */
unsigned gf_papers_role_named(gf_slice name);

/**
 * The numbers of the table's families, by role, then by group; those without a role come last, by
 * name. Tables of equal families have one order, however these were added.
 */
void gf_papers_families(const gf_papers *papers, unsigned families[GF_PAPERS_MOST_FAMILIES]);

/**
 * The cell that "family:column" names, or "column" alone, of groups the one that stands for its
 * role. *column is borrowed from the name. GF_EINVAL for an unknown one.
 */
gf_status gf_papers_column(const gf_papers *papers, gf_slice name, unsigned *family,
                           gf_slice *column, gf_error *err);

/** The same, and a family that declares no columns by its name alone: column->ptr is NULL then. */
gf_status gf_papers_column_or_family(const gf_papers *papers, gf_slice name, unsigned *family,
                                     gf_slice *column, gf_error *err);

/* ---- keys and cells -------------------------------------------------------------------------- */

/** Append the row key. */
void gf_papers_key(const gf_papers *papers, const gf_sha1 *sha1, gf_buffer *key);

/** Read families of a row (bit f for the family of number f); GF_ENOTFOUND. */
gf_status gf_papers_get(gf_papers *papers, const gf_snapshot *snapshot, const gf_sha1 *sha1,
                        uint32_t families, gf_row *row, gf_error *err);

/** Read one cell, of a role or of the family of that number: row->cells[0]; GF_ENOTFOUND. */
gf_status gf_papers_get_cell(gf_papers *papers, const gf_snapshot *snapshot, const gf_sha1 *sha1,
                             unsigned role, const char *column, gf_row *row, gf_error *err);
gf_status gf_papers_get_cell_of(gf_papers *papers, const gf_snapshot *snapshot, const gf_sha1 *sha1,
                                unsigned family, gf_slice column, gf_row *row, gf_error *err);

/** Is a cell's value 8 bytes of a number, not text? And append the number in base 10. */
bool gf_papers_is_number(unsigned role, gf_slice column);
gf_status gf_papers_number(unsigned role, gf_slice column, gf_slice value, gf_buffer *text,
                           gf_error *err);

/** Append 8 bytes, big-endian. */
void gf_papers_put_number(gf_buffer *b, int64_t v);

typedef struct gf_papers_scan gf_papers_scan;

/**
 * Walk over all rows by digest, from one state. A row of the wide family is stepped over by a seek,
 * so that its texts are not read.
 */
gf_status gf_papers_scan_open(gf_papers *papers, gf_papers_scan **walk, gf_error *err);
gf_status gf_papers_scan_next(gf_papers_scan *walk, gf_sha1 *sha1, gf_error *err);
const gf_snapshot *gf_papers_scan_snapshot(const gf_papers_scan *walk);
void gf_papers_scan_close(gf_papers_scan *walk);

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct gf_papers_import gf_papers_import;

typedef enum gf_papers_outcome {
    GF_PAPERS_EXISTING, /* there already, and left as it is */
    GF_PAPERS_NEW,      /* written where nothing was */
    GF_PAPERS_REPLACED, /* written over what was there, as asked for */
    GF_PAPERS_FURTHER   /* there already, and another capture of it is now counted */
} gf_papers_outcome;

/** Collects rows into batches that are written and synced, some megabytes each. */
gf_status gf_papers_import_open(gf_papers *papers, bool replace, gf_papers_import **import,
                                gf_error *err);

/** Keep so many further captures of a file; more are counted alone. GF_PAPERS_CAPTURES_KEPT else. */
enum { GF_PAPERS_CAPTURES_KEPT = 8 };
void gf_papers_import_keep(gf_papers_import *import, uint64_t captures);

/**
 * Put f:c, file:mime and file:cdx. An f:c that a crawler wrote stays. Another capture of a file (by its
 * URL and date) is kept beside the first and counted: GF_PAPERS_FURTHER; with `replace` it takes the
 * first one's place.
 */
gf_status gf_papers_import_cdx(gf_papers_import *import, const gf_cdx *cdx,
                               gf_papers_outcome *outcome, gf_error *err);

/** The stored values of TEI that was read. Start with {0}; each gf_papers_text_make replaces it. */
typedef struct gf_papers_text {
    gf_tei_result result;
    char reason[256];                          /* as of gf_tei */
    const char *quality;                       /* likewise; of GF_TEI_SUCCESS, as all below */
    gf_compressed tei_xml, tei_json, metadata; /* in memory */
    gf_buffer memory;
} gf_papers_text;

/**
 * Make it of TEI that was read from `xml`: most of that is compressing. Any thread may.
 * @param scratch  its content is replaced
 */
gf_status gf_papers_text_make(gf_slice xml, const gf_tei *tei, gf_buffer *scratch,
                              gf_papers_text *text, gf_error *err);
void gf_papers_text_release(gf_papers_text *text);

/** The result of an extraction. */
typedef struct gf_papers_extraction {
    int64_t status_code;
    gf_slice status;            /* JSON */
    const gf_papers_text *text; /* of GF_TEI_SUCCESS; NULL: none */
} gf_papers_extraction;

/** The time of extractions that are put from now on, in milliseconds since 1970: how old they are.
 * 0, as at first: none. */
void gf_papers_import_time(gf_papers_import *import, int64_t ms);

/** Put grobid0; of one that is replaced nothing stays. */
gf_status gf_papers_import_extraction(gf_papers_import *import, const gf_sha1 *sha1,
                                      const gf_papers_extraction *extraction,
                                      gf_papers_outcome *outcome, gf_error *err);

/** The same of a text that was made ready. An unsafe one that is not there yet is GF_EINVAL. */
gf_status gf_papers_import_text(gf_papers_import *import, const gf_sha1 *sha1, int64_t status_code,
                                const gf_papers_text *text, gf_papers_outcome *outcome,
                                gf_error *err);

/** The same of TEI that was read; `xml` is what it was read from. */
gf_status gf_papers_import_tei(gf_papers_import *import, const gf_sha1 *sha1, int64_t status_code,
                               gf_slice xml, const gf_tei *tei, gf_papers_outcome *outcome,
                               gf_error *err);

/** Has the row an extraction, also one that is not flushed yet? */
gf_status gf_papers_import_has_extraction(gf_papers_import *import, const gf_sha1 *sha1, bool *has,
                                          gf_error *err);

/** Put file:size, file:meta and, where it is absent, file:mime of a file that was read. */
gf_status gf_papers_import_file(gf_papers_import *import, const gf_sha1 *sha1, const char *mime,
                                gf_slice bytes, gf_error *err);

typedef struct gf_papers_match {
    const char *mstatus;
    gf_slice doi; /* empty: none */
    gf_slice minfo;
} gf_papers_match;

/** Set match0 to that and nothing else. */
gf_status gf_papers_import_match(gf_papers_import *import, const gf_sha1 *sha1,
                                 const gf_papers_match *match, gf_error *err);

/** Write and sync what was put. */
gf_status gf_papers_import_flush(gf_papers_import *import, gf_error *err);
/** Forgets what was not flushed. */
void gf_papers_import_close(gf_papers_import *import);

#endif
