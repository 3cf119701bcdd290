/**
 * What the files about papers share.
 */
#ifndef GF_SOURCES_PAPERS_INTERNAL_H
#define GF_SOURCES_PAPERS_INTERNAL_H

#include "sources/papers.h"

struct gf_papers {
    gf_database *db;
    gf_table *table;
    gf_buffer name;       /* of the table, with a NUL */
    gf_buffer name_space; /* as the first part of a row key */
};

#endif
