/**
 * The table of papers, as the files of this folder see it.
 */
#ifndef GF_APPS_PAPERS_TABLE_INTERNAL_H
#define GF_APPS_PAPERS_TABLE_INTERNAL_H

#include "apps/papers/papers.h"
#include "base/json/json.h"
#include "storage/description.h"

/** Its tables, as `table scan --system` and its siblings show them. */
extern const gf_table_description gf_papers_description;

struct gf_papers {
    gf_database *db;
    gf_table *table;
    gf_buffer name;       /* of the table, with a NUL */
    gf_buffer name_space; /* as the first part of a row key; nothing where keys have none */
    unsigned family[GF_PAPERS_FAMILIES]; /* the number of the one that stands for a role */
};

/** Give the table the families that it lacks, and let each role's first stand for it. */
gf_status gf_papers_complete(gf_papers *papers, gf_error *err);

/**
 * Open a table of a database whose tables others know, with the families that it has there, whoever
 * made it: those of a role, or all, of which the others are wide. Keys are without the namespace there.
 */
gf_status gf_papers_open_as_kept(gf_database *db, const char *name, bool all, gf_table **table,
                                 gf_error *err);

/** Open all of these that a store has, with all families (gf_app.open_tables). */
gf_status gf_papers_open_all(gf_store *store, bool cut_short, gf_error *err);

/** Let a family stand for its role, where it has one. */
void gf_papers_choose(gf_papers *papers, unsigned family);

/**
 * Check a row as the table's check does (check.c); its cells are of the numbers of the table's
 * families. GF_EINVAL with what is wrong.
 */
gf_status gf_papers_check_row(gf_papers *papers, gf_json_parser *json, const gf_row *row,
                              gf_error *err);

#endif
