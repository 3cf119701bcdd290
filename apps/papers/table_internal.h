/**
 * The table of papers, as the files of this folder see it.
 */
#ifndef GF_APPS_PAPERS_TABLE_INTERNAL_H
#define GF_APPS_PAPERS_TABLE_INTERNAL_H

#include "apps/papers/papers.h"

struct gf_papers {
    gf_database *db;
    gf_table *table;
    gf_buffer name;       /* of the table, with a NUL */
    gf_buffer name_space; /* as the first part of a row key */
};

#endif
