/**
 * Descriptions of the tables that the program keeps itself: the types of their keys' parts, of
 * their qualifiers and of their values. They stand as data beside each schema, and are what shows
 * such a table as a table (engine/user_tables/system.c).
 *
 *     static const gf_part_description minute_parts[] = {{"namespace", GF_TYPE_TEXT, 0},
 *                                                        {"minute", GF_TYPE_TEXT, 12}};
 *     static const gf_cell_description minute_cells[] = {
 *         {"language", NULL, GF_TYPE_TEXT, GF_TYPE_DECIMAL}};
 *
 * The first part of each key is the namespace. Where the schema has one part of fixed width, the
 * description may have several that are that wide together.
 */
#ifndef GF_STORAGE_DESCRIPTION_H
#define GF_STORAGE_DESCRIPTION_H

#include "grouperfish/table.h"

typedef struct gf_part_description {
    const char *name;
    gf_type type;
    unsigned width; /* bytes, numbers big-endian in two's complement; 0: as gf_key_... write it */
} gf_part_description;

typedef struct gf_cell_description {
    const char *family; /* also those that differ in the digits at their ends: grobid0, grobid1 */
    const char *column; /* NULL: all that have no description of their own */
    gf_type qualifier;  /* of a wide family, where column is NULL; else GF_TYPE_TEXT */
    gf_type type;
} gf_cell_description;

typedef struct gf_table_description {
    const char *name;
    bool is_start;   /* tables whose names begin so */
    bool is_of_user; /* tables of users, of any name, that have these parts and families */
    const gf_part_description *parts; /* n_parts */
    unsigned n_parts;
    const gf_cell_description *cells; /* n_cells */
    unsigned n_cells;
} gf_table_description;

#define GF_DESCRIBED_PARTS(list)                                                                   \
    .parts = (list), .n_parts = sizeof(list) / sizeof(gf_part_description)
#define GF_DESCRIBED_CELLS(list)                                                                   \
    .cells = (list), .n_cells = sizeof(list) / sizeof(gf_cell_description)

/** The descriptions of the engine's own tables (storage/tables.h): n. */
const gf_table_description *gf_tables_descriptions(size_t *n);

#endif
