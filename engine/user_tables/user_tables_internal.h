/**
 * Tables of users: the schema of an open table, and the types of its values and key parts.
 */
#ifndef GF_ENGINE_TABLES_INTERNAL_H
#define GF_ENGINE_TABLES_INTERNAL_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/strings.h"
#include "engine/rows/audit.h"
#include "engine/store/store_internal.h"
#include "grouperfish/user_tables.h"

/* ---- types.c --------------------------------------------------------------------------------- */

/**
 * A part of a row key: text, bytes, int64 or uint64; raw: bytes of a width. In the program's own
 * tables text and numbers may have a width, too (storage/description.h).
 */
typedef struct gf_user_part {
    const char *name;
    gf_type type;
    unsigned width;  /* of raw, else 0 */
    bool descending; /* a number whose greatest comes first */
} gf_user_part;

/** "int64", "int64-desc", "raw", ...: the word of a schema; and back, false where it is none. */
const char *gf_user_table_part_word(const gf_user_part *part);
bool gf_user_table_part_named(gf_slice word, gf_user_part *part, bool *raw);

/** Append a part from its text form; take one off *key, its text form appended. */
gf_status gf_user_table_part_write(const gf_user_part *part, gf_slice text, gf_buffer *key,
                                   gf_error *err);
gf_status gf_user_table_part_take(const gf_user_part *part, gf_slice *key, gf_buffer *text,
                                  gf_error *err);
/** Append a part from its bytes, as gf_user_table_key_divide has them; of its width, if it has one. */
gf_status gf_user_table_part_put(const gf_user_part *part, gf_slice bytes, gf_buffer *key,
                                 gf_error *err);

/* ---- schema.c -------------------------------------------------------------------------------- */

/** A schema of a user's table; all of it in the arena that it was read into. */
typedef struct gf_user_schema {
    gf_schema schema;           /* without a name */
    gf_user_part parts[8];      /* schema.n_parts */
    gf_type types[32];          /* schema.n_families: of cells that are not declared */
    gf_type qualifiers[32];     /* likewise: of a wide family's qualifiers */
    const gf_type *columns[32]; /* likewise: of the columns that the family declares */
    gf_family families[32];     /* schema.families points here */
    gf_key_part key_parts[8];   /* schema.parts points here */
} gf_user_schema;

/**
 * Read a schema from JSON (docs/tables.md); GF_EINVAL says what is wrong with it. As an addition it
 * is without a key, and may have no families.
 */
gf_status gf_user_table_schema_read(gf_slice json, bool addition, gf_arena *memory,
                                    gf_user_schema *s, gf_error *err);

/** Add families and columns; what is there stays as it is. */
gf_status gf_user_table_schema_add(gf_user_schema *s, const gf_user_schema *more, gf_arena *memory,
                                   gf_error *err);

/** Append the schema as JSON, in one form whatever it was read from. */
void gf_user_table_schema_write(const gf_user_schema *s, gf_buffer *json);

/* ---- tables.c -------------------------------------------------------------------------------- */

struct gf_user_table {
    gf_user_table *next; /* in the store's list of those that are open */
    gf_store *store;
    bool claimed; /* under the store's user_lock */
    gf_slice key; /* of its row in the table of tables */
    gf_slice name, json;
    gf_slice space; /* of the program's own: its namespace, as all of its keys begin; else empty */
    gf_table *rows;
    gf_user_schema schema;
    gf_arena memory; /* of all of these */
};

/** Delete what drops have left; called before the store is written to. */
gf_status gf_user_tables_reclaim(gf_store *store, const gf_cancel *cancel, gf_error *err);

/** The users' table that the database calls so; *rows NULL: none is. A gf_find_table. */
gf_status gf_user_tables_find(void *store, const char *id, gf_table **rows, gf_error *err);

/** Told of each table of the store: of the one at hand, or of why it cannot be opened. */
typedef gf_status gf_each_user_table(void *context, const char *name, gf_user_table *table,
                                     const gf_error *why, gf_error *err);
gf_status gf_user_tables_each(gf_store *store, gf_each_user_table *each, void *context,
                              gf_error *err);

/* ---- mend.c ---------------------------------------------------------------------------------- */

/**
 * Set the table of tables right after damage: the counter of names is behind all that were given;
 * rows that no table can be opened by are deleted where `drops`. What the database calls the
 * tables: *there of those that there are, being dropped among them; *gone of those that went.
 */
gf_status gf_user_tables_mend(gf_store *store, bool drops, gf_strings *there, gf_strings *gone,
                              gf_error *err);

/* ---- verify.c -------------------------------------------------------------------------------- */

/** Read all rows of all tables, add to the counts of tables and rows, and report damage. */
gf_status gf_user_tables_verify(gf_audit *audit, gf_verified *verified, gf_error *err);

#endif
