/**
 * Tables of users: wide-column tables with a schema of their own, beside the engine's.
 *
 *     gf_user_table *t;
 *     gf_user_table_create(store, ns, GF_SLICE("users"), GF_SLICE("{\"key\": ..."), &err);
 *     gf_user_table_open(store, ns, GF_SLICE("users"), &t, &err);
 *     gf_user_table_key_write(t, parts, 1, &key, &err);              "u1" -> the row key's bytes
 *     gf_batch_put(batch, gf_user_table_rows(t), ...);         as with any table (table.h)
 *     gf_user_table_close(t);
 *
 * A table lives in a namespace, and its name there has nothing to do with the engine's tables: what
 * it is called in the database is a number that was never used before. docs/tables.md has the
 * format of schemas, and the bytes of each type.
 *
 * Values and key parts have a text form, by their type: what the command prints and reads.
 *
 *     text     UTF-8, as it is
 *     bytes    hexadecimal
 *     int64    base 10; 8 bytes, big-endian, two's complement
 *     uint64   base 10; 8 bytes, big-endian
 *     decimal  base 10, an integer of 64 bits; stored as that text, as gf_table_increment does
 *     float    decimal; 8 bytes, big-endian IEEE 754
 *     json     any JSON; stored without white space
 *
 * Threads: a table that is open is for one thread; each thread opens its own.
 */
#ifndef GF_GROUPERFISH_USER_TABLES_H
#define GF_GROUPERFISH_USER_TABLES_H

#include "grouperfish/buffer.h"
#include "grouperfish/cancel.h"
#include "grouperfish/export.h"
#include "grouperfish/table.h"

GF_PUBLIC_BEGIN

struct gf_store;

typedef struct gf_user_table gf_user_table;

/* ---- tables ---------------------------------------------------------------------------------- */

/**
 * Make a table by a schema, which is JSON.
 * @return GF_OK; GF_EEXISTS; GF_EINVAL (the name, the schema); GF_ELIMIT (too many tables);
 *         GF_EIO, GF_ECORRUPT, GF_ENOMEM
 */
gf_status gf_user_table_create(struct gf_store *store, gf_slice name_space, gf_slice name,
                               gf_slice schema, gf_error *err);

/**
 * Add to a table that may be in use: families, and columns of packed families, as a schema without
 * "key" lists them. Whoever has the table open sees them when it is opened next.
 * @return GF_OK; GF_ENOTFOUND; GF_EINVAL where something else would change
 */
gf_status gf_user_table_alter(struct gf_store *store, gf_slice name_space, gf_slice name,
                              gf_slice additions, gf_error *err);

/**
 * Change what a family keeps, as gf_table_alter_family; each unless it is NULL.
 * @return GF_OK; GF_ENOTFOUND; GF_EINVAL (no such family; a number that is none; one version to
 *         several or back); as gf_table_alter_family
 */
gf_status gf_user_table_alter_family(struct gf_store *store, gf_slice name_space, gf_slice name,
                                     gf_slice family, const uint32_t *versions,
                                     const uint64_t *ttl_seconds, const gf_cancel *cancel,
                                     gf_error *err);

/** GF_ENOTFOUND where there is none of that name. Close it before the store. */
gf_status gf_user_table_open(struct gf_store *store, gf_slice name_space, gf_slice name,
                             gf_user_table **table, gf_error *err);
void gf_user_table_close(gf_user_table *table);

/**
 * Claim the table, until it is closed, for what must not be done by two at once. Reading and
 * writing need no claim. @return GF_OK; GF_EBUSY: somebody else of this process has claimed it
 */
gf_status gf_user_table_claim(gf_user_table *table, gf_error *err);

/**
 * Drop a table. Its name is gone first, in a synced write, then its rows in chunks; what is cut
 * short is carried on when the store is written to next.
 * @return GF_OK; GF_ENOTFOUND; GF_EBUSY (this process has it open); GF_ECANCELLED (the rest of its
 *         rows goes later); GF_EIO, GF_ECORRUPT, GF_ENOMEM
 */
gf_status gf_user_table_drop(struct gf_store *store, gf_slice name_space, gf_slice name,
                             const gf_cancel *cancel, gf_error *err);

/** Told of each table of a namespace, by name; the schema is JSON as gf_user_table_create has it.
 */
typedef gf_status gf_visit_user_table(void *context, gf_slice name, gf_slice schema, gf_error *err);
gf_status gf_user_tables_visit(struct gf_store *store, gf_slice name_space, gf_slice prefix,
                               gf_visit_user_table *visit, void *context, gf_error *err);

/** Told of each table of all namespaces, by namespace, then by name. */
typedef gf_status gf_visit_each_user_table(void *context, gf_slice name_space, gf_slice name,
                                           gf_error *err);
gf_status gf_user_tables_visit_all(struct gf_store *store, gf_visit_each_user_table *visit,
                                   void *context, gf_error *err);

/* ---- what a table is: borrowed until it is closed -------------------------------------------- */

/** The table itself, to read from and write to. */
gf_table *gf_user_table_rows(const gf_user_table *table);

/** Its families as they were when it was opened; rows may have more by now. */
const gf_schema *gf_user_table_schema(const gf_user_table *table);
gf_slice gf_user_table_name(const gf_user_table *table);
gf_slice gf_user_table_json(const gf_user_table *table);

/** The type of a cell's value; of a wide family's qualifiers (text of all others). */
gf_type gf_user_table_cell_type(const gf_user_table *table, unsigned family, gf_slice qualifier);
gf_type gf_user_table_qualifier_type(const gf_user_table *table, unsigned family);

/** The family of that name; GF_EINVAL: there is none. */
gf_status gf_user_table_find_family(const gf_user_table *table, gf_slice name, unsigned *family,
                                    gf_error *err);

/**
 * Find the cell that "family:qualifier" names, or "column" alone where a family declares it; the
 * qualifier's bytes are appended. "family" alone is refused unless `whole` is not NULL: *whole then
 * tells that all of the family is meant.
 */
gf_status gf_user_table_find_column(const gf_user_table *table, gf_slice name, unsigned *family,
                                    gf_buffer *qualifier, bool *whole, gf_error *err);

/* ---- row keys -------------------------------------------------------------------------------- */

/** Append the first n parts of a row key, each in its text form. GF_EINVAL says which is not one.
 */
gf_status gf_user_table_key_write(const gf_user_table *table, const gf_slice *parts, unsigned n,
                                  gf_buffer *key, gf_error *err);

/**
 * Append the row key whose parts lie one behind the other in these bytes, as other systems write them: text
 * and bytes as they are, a number as 8 bytes, big-endian (int64 in two's complement; one that falls as the
 * greatest of its type less it), raw as its bytes. One part at most may be text or bytes: it takes what the
 * others leave. @return GF_OK; GF_EINVAL, which says what does not fit
 */
gf_status gf_user_table_key_divide(const gf_user_table *table, gf_slice bytes, gf_buffer *key,
                                   gf_error *err);

/**
 * Append what all keys start with whose part number `part` starts with this text: of text its
 * start, of bytes and raw whole bytes; no other type has starts (GF_EINVAL).
 */
gf_status gf_user_table_key_start(const gf_user_table *table, unsigned part, gf_slice start,
                                  gf_buffer *key, gf_error *err);

/** Take the next part, of number `part`, off *key: its text form is appended. GF_ECORRUPT. */
gf_status gf_user_table_key_take(const gf_user_table *table, unsigned part, gf_slice *key,
                                 gf_buffer *text, gf_error *err);

/** True if a part's text form is a number. */
bool gf_user_table_part_is_number(const gf_user_table *table, unsigned part);

/* ---- values ---------------------------------------------------------------------------------- */

/** Append the bytes of a value from its text form; GF_EINVAL says why it is none of that type. */
gf_status gf_user_table_value_write(gf_type type, gf_slice text, gf_buffer *bytes, gf_error *err);

/** Append the text form; false, and nothing is appended, where the bytes are not of that type. */
bool gf_user_table_value_print(gf_type type, gf_slice bytes, gf_buffer *text);

/** "int64", ...; and back. */
const char *gf_type_name(gf_type type);
bool gf_type_named(gf_slice name, gf_type *type);

/* ---- rows ------------------------------------------------------------------------------------ */

/** A demand on a cell: text such as "info:age>=18"; comparisons =, !=, <, <=, >, >=. */
typedef struct gf_rows_options {
    unsigned version;            /* GF_ROWS_OPTIONS_VERSION: set by GF_ROWS_OPTIONS() */
    const gf_snapshot *snapshot; /* NULL: the state when the walk begins */
    uint32_t families;           /* bits: what rows are given with; 0: all */
    gf_slice prefix, start, end; /* row keys or starts of them, as gf_scan_options has them */
    const gf_slice *where;       /* n_where: all must hold */
    size_t n_where;
    uint64_t offset, limit; /* of the rows for which they hold; limit 0: none */
    bool reverse;
    bool
        keys_only; /* without a demand: rows have one cell for each family, without name and value */
} gf_rows_options;

#define GF_ROWS_OPTIONS_VERSION 1
/** Options with these members, as in GF_ROWS_OPTIONS(.member = value), and all others 0. */
#define GF_ROWS_OPTIONS(...) ((gf_rows_options){.version = GF_ROWS_OPTIONS_VERSION, __VA_ARGS__})

typedef struct gf_rows gf_rows;

/**
 * Walk whole rows in key order: the cells of all families, put together from one state. A row with
 * a cell of a wide family has all of them in memory at once.
 *
 * A demand compares by the cell's type: numbers by their size, all else by its bytes. A row without
 * the cell meets != alone. Cells that are demanded need not be in `families`.
 *
 * gf_rows_next: GF_OK with the next row, GF_ENOTFOUND at the end; *row is borrowed until the next
 * call.
 */
gf_status gf_rows_open(gf_user_table *table, const gf_rows_options *options, gf_rows **rows,
                       gf_error *err);
gf_status gf_rows_next(gf_rows *rows, const gf_row **row, gf_error *err);
void gf_rows_close(gf_rows *rows);

/** Entries of the storage that the row given last has: cells of wide families, rows of packed. */
uint64_t gf_rows_entries(const gf_rows *rows);

/* ---- writing what needs to know types -------------------------------------------------------- */

/**
 * Add to a cell of type int64, uint64 or decimal; of text, too, where it holds a decimal. Absent
 * counts as 0. *result is the sum's text form, appended.
 * @return GF_OK; GF_EINVAL (another type, or it holds something else); GF_ELIMIT (no room for it)
 */
gf_status gf_user_table_increment(gf_user_table *table, gf_slice key, unsigned family,
                                  gf_slice qualifier, int64_t delta, gf_buffer *result,
                                  gf_error *err);

GF_PUBLIC_END

#endif
