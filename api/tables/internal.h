/**
 * Shared by the operations of users' tables: rows, keys and cells as JSON and as arguments.
 *
 *     {"key":["u1",7],"cells":{"info":{"name":"Ann","age":34},"friend":{"u2":"close"}}}
 *
 * A key part or a value is a number where its type is one, any JSON where that is its type, else a
 * string. A value whose bytes are not of its type is {"hex":"..."}, and is read back so.
 */
#ifndef GF_API_TABLES_INTERNAL_H
#define GF_API_TABLES_INTERNAL_H

#include "api/call.h"
#include "api/parameters.h"
#include "base/json/json.h"

/* ---- json.c: rows to and from JSON ----------------------------------------------------------- */

/** Append `"key":[...]` and `"cells":{...}` as members; text is room to work in. */
gf_status gf_table_put_key(gf_json_writer *w, const gf_user_table *t, gf_slice key, gf_buffer *text,
                           gf_error *err);
gf_status gf_table_put_cells(gf_json_writer *w, const gf_user_table *t, const gf_row *row,
                             size_t most, gf_buffer *text);

/** A cell as a member of its family's object. */
void gf_table_put_cell(gf_json_writer *w, const gf_user_table *t, const gf_cell *cell, size_t most,
                       gf_buffer *text);

/**
 * A value alone, behind its key. Bytes that have no text form are {"hex":...} up to `most` of them,
 * and {"not_shown":N} beyond.
 */
void gf_table_put_value(gf_json_writer *w, gf_type type, gf_slice value, size_t most,
                        gf_buffer *text);

/** Bytes of a value that are shown where the program's own are not asked for in full. */
enum { GF_TABLE_SHOWN = 64 };

/** Append the row key that a JSON array (or, of one part, its value alone) says. */
gf_status gf_table_read_key(const gf_user_table *t, gf_json_value v, gf_buffer *key,
                            gf_buffer *text, gf_error *err);

/** Append the bytes of a value; `text` is room to work in. */
gf_status gf_table_read_value(gf_type type, gf_json_value v, gf_buffer *bytes, gf_buffer *text,
                              gf_error *err);

/** Told of each cell that an object {"family":{"qualifier":value}} has. */
typedef gf_status gf_each_cell(void *context, unsigned family, gf_slice qualifier, gf_slice value,
                               gf_error *err);
typedef struct gf_cell_reader {
    const gf_user_table *table;
    gf_buffer qualifier, value, text;
} gf_cell_reader;
gf_status gf_table_read_cells(gf_cell_reader *r, gf_json_value cells, gf_each_cell *each,
                              void *context, gf_error *err);
void gf_cell_reader_release(gf_cell_reader *r);

/* ---- call.c: what the arguments name --------------------------------------------------------- */

/** A table that the call names, and the row of it; begin with {.call = call}. */
typedef struct gf_table_call {
    gf_call *call;
    gf_store *store;
    gf_user_table *table;
    gf_batch *batch;
    gf_buffer key, qualifier, value, text;
    gf_row row;
    gf_row_writer writer;
} gf_table_call;

/** Open the store and argument "table"; by the flag "system" one of the program's own. */
gf_status gf_table_call_open(gf_table_call *c, gf_error *err);

/** How many bytes of a value that is no text are shown: by the flag "full". */
size_t gf_table_call_shown(const gf_table_call *c);
/** And the row key that the arguments "key" say, a whole one. */
gf_status gf_table_call_open_row(gf_table_call *c, gf_error *err);
void gf_table_call_close(gf_table_call *c);

/** Append the row key of all arguments of that name, at most n parts. */
gf_status gf_table_call_key(gf_table_call *c, const char *name, gf_buffer *key, unsigned *n,
                            gf_error *err);

/** Begin a row with the table's name and the row's key. */
gf_status gf_table_call_begin(gf_table_call *c, gf_json_writer **w, gf_error *err);

/** Put the cells that the arguments "set" say into the batch. */
gf_status gf_table_call_sets(gf_table_call *c, uint64_t *n, gf_error *err);

/** Argument `name`, "family:column=value": *family; c->qualifier and c->value are filled. */
gf_status gf_table_call_cell(gf_table_call *c, const char *name, gf_slice text, unsigned *family,
                             gf_error *err);

/** The families that the list "family" names, as bits; 0 where it is not given. */
gf_status gf_table_call_families(gf_table_call *c, uint32_t *families, gf_error *err);

/** No row of that key: "table "users" has no row ["u9"]". */
gf_status gf_table_call_absent(gf_table_call *c, gf_error *err);

/** Rows that arguments name; begin with {.options = GF_ROWS_OPTIONS(...)}. range.c */
typedef struct gf_table_range {
    gf_buffer prefix, start, end;
    gf_slice *where;
    gf_rows_options options; /* which borrow from the others */
} gf_table_range;

gf_status gf_table_range_read(gf_table_call *c, gf_table_range *range, gf_error *err);
void gf_table_range_release(gf_table_range *range);

/**
 * Nothing of the row was found in these families. Where it has cells in others: tell so, which is
 * an outcome (GF_OUTCOME_SOME_ABSENT) and no failure; else gf_table_call_absent.
 */
gf_status gf_table_call_empty(gf_table_call *c, uint32_t families, gf_error *err);

/* ---- cells.c: a range of the cells of a wide row --------------------------------------------- */

/** Whether the arguments of `table get` ask for a range of cells. */
bool gf_table_call_pages(const gf_call *call);
gf_status gf_table_call_page(gf_table_call *c, gf_error *err);

/* ---- delete.c: rows of a range --------------------------------------------------------------- */

/** Whether the arguments of `table delete` ask for a range of rows. */
bool gf_table_call_deletes_rows(const gf_call *call);
gf_status gf_table_call_delete_rows(gf_table_call *c, gf_error *err);

/* ---- versions.c: rows with the times of their cells ------------------------------------------ */

typedef struct gf_table_versions gf_table_versions;
gf_status gf_table_versions_create(gf_table_call *c, const gf_snapshot *snapshot,
                                   gf_table_versions **versions, gf_error *err);
void gf_table_versions_free(gf_table_versions *versions);
/** A line for each time of the row's cells, with as many versions as "versions" says. */
gf_status gf_table_versions_emit(gf_table_versions *versions, const gf_row *row, gf_error *err);

/* ---- system.c: the program's own tables ------------------------------------------------------ */

/**
 * Open the engine's or an application's table of that name, as the namespace has it; *of: whose it
 * is. GF_ENOTFOUND: the store has none.
 */
gf_status gf_table_open_system(gf_store *store, gf_slice name_space, gf_slice name,
                               gf_user_table **table, const char **of, gf_error *err);

/** A user's table was not found: say so where a system table has the name. */
gf_status gf_table_absent(gf_store *store, gf_slice name, gf_status st, gf_error *err);

typedef gf_status gf_each_system_table(void *context, const gf_user_table *table, const char *of,
                                       gf_error *err);
gf_status gf_table_visit_system(gf_store *store, gf_slice name_space, gf_slice prefix,
                                gf_each_system_table *each, void *context, gf_error *err);

/* ---- the operations, each behind its handler ------------------------------------------------- */

extern const gf_operation gf_table_create_operation, gf_table_list_operation,
    gf_table_describe_operation, gf_table_alter_operation, gf_table_drop_operation,
    gf_table_put_operation, gf_table_get_operation, gf_table_delete_operation,
    gf_table_incr_operation, gf_table_check_and_put_operation, gf_table_scan_operation,
    gf_table_export_operation, gf_table_batch_operation, gf_table_import_operation;

/* clang-format off */
#define P_TABLE     P_REQUIRED("table", "TABLE", "the table")
#define P_ROW_KEY   P_SEVERAL("key", true, "PART", "the row's key, part by part")
#define P_SETS      P_SEVERAL("set", true, "F:C=V", "a cell and its value: FAMILY:COLUMN=VALUE")
#define P_TIMESTAMP P_NUMBER("timestamp", 1, 0, "milliseconds since 1970 (now, where the family needs one)")
#define P_SYSTEM    P_FLAG("system", "a table of the engine's or an application's instead")
#define P_FULL      P_FLAG("full", "with system: long binary values, too")
#define P_FAMILIES  P_LIST("family", "FAMILY,...", "only these families")
/* clang-format on */

#endif
