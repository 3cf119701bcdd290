/**
 * The backend as its files see it.
 */
#ifndef GF_STORAGE_HBASE_INTERNAL_H
#define GF_STORAGE_HBASE_INTERNAL_H

#include "storage/backend.h"
#include "storage/hbase/client.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct gf_hbase_table {
    const gf_schema *schema; /* as it is kept: under the lock while it may be replaced */
    gf_slice name;           /* HBase's, with its namespace where that is not the default one */
    gf_slice qualifier;      /* the same without it */
    gf_slice given;          /* gf_schema_write of the schema that it was opened with last */
    bool kept;               /* false: a table that HBase does not have of us */
    bool own;                /* the engine's: values.c says how its cells are kept */
    bool waits; /* for its first use, to be looked for; for its first write, to be made */
    bool dropped;
    atomic_bool made; /* HBase has it */
} gf_hbase_table;

typedef struct gf_hbase {
    gf_backend base;
    gf_hbase_client *client;
    gf_hbase_address address;
    pthread_mutex_t hold_lock; /* backend.c */
    pthread_mutex_t make_lock; /* while a table that waits is looked for, and completed */
    pthread_mutex_t lock;      /* of the tables while one is opened or dropped, and of the memory */
    gf_arena memory;
    gf_hbase_table *tables[GF_MAX_TABLES]; /* by their numbers, from 1 on; n_tables */
    unsigned n_tables;
} gf_hbase;

/** The table of that number; GF_EINVAL in words where it is not kept in HBase. */
gf_status gf_hbase_find_table(gf_hbase *b, unsigned number, gf_hbase_table **t,
                              const gf_schema **schema, gf_error *err);

/** Whether HBase has the table; *made is then set, and a table of the engine has all its families. */
gf_status gf_hbase_look_for_table(gf_hbase *b, gf_hbase_table *t, bool *there, gf_error *err);

/** A failure of a call about a table in our words: HBase names a table that it lacks, and no more. */
gf_status gf_hbase_fail_table(const gf_hbase_table *t, gf_status st, gf_error *err);

/* ---- listing.c ------------------------------------------------------------------------------- */

gf_status gf_hbase_visit_tables(gf_backend *backend, gf_visit_name *visit, void *context,
                                gf_error *err);

/* ---- tables.c -------------------------------------------------------------------------------- */

gf_status gf_hbase_open_table(gf_backend *backend, const gf_schema *schema, unsigned *number,
                              const gf_schema **stored, gf_error *err);
gf_status gf_hbase_has_table(gf_backend *backend, const char *name, bool *has, gf_error *err);
bool gf_hbase_keeps(gf_backend *backend, const char *name);
gf_status gf_hbase_visit_families(gf_backend *backend, const char *name, gf_visit_name *visit,
                                  void *context, gf_error *err);
const gf_schema *gf_hbase_schema_of(gf_backend *backend, unsigned number);
gf_status gf_hbase_drop_table(gf_backend *backend, unsigned number, const gf_cancel *cancel,
                              gf_error *err);
gf_status gf_hbase_alter_family(gf_backend *backend, unsigned number, unsigned family,
                                uint32_t versions, uint64_t ttl_seconds, const gf_cancel *cancel,
                                const gf_schema **stored, gf_error *err);
/** Have HBase make the table where it lacks it. */
gf_status gf_hbase_make_table(gf_hbase *b, gf_hbase_table *t, gf_error *err);

/* ---- keys.c ---------------------------------------------------------------------------------- */

/** Append HBase's row of a row key; GF_EINVAL for an empty one, which HBase cannot have. */
gf_status gf_hbase_row_of_key(const gf_schema *schema, gf_slice key, gf_buffer *row, gf_error *err);
/** Append the row key of HBase's row; GF_ECORRUPT where it is no key of the schema. */
gf_status gf_hbase_key_of_row(const gf_schema *schema, gf_slice row, gf_buffer *key, gf_error *err);
/** Append the first row at which a bound lies: a row key, or the start of one. */
void gf_hbase_row_of_bound(const gf_schema *schema, gf_slice bound, gf_buffer *row);
/** Append the first and the last but one row of those that begin with a prefix; empty `end`: none. */
void gf_hbase_rows_of_prefix(const gf_schema *schema, gf_slice prefix, gf_buffer *start,
                             gf_buffer *end);

/* ---- read.c ---------------------------------------------------------------------------------- */

/** A row of HBase, of which cells are taken one after the other. */
typedef struct gf_hbase_result {
    gf_slice row;
    gf_thrift_reader cells; /* n_cells of them come next */
    uint32_t n_cells;
} gf_hbase_result;

typedef struct gf_hbase_cell {
    gf_slice family, qualifier, value;
    int64_t timestamp;
} gf_hbase_cell;

/** A TResult: where its cells are. */
bool gf_hbase_take_result(gf_thrift_reader *r, gf_hbase_result *result);
/** A TColumnValue. */
bool gf_hbase_take_cell(gf_thrift_reader *r, gf_hbase_cell *cell);

/**
 * Append a cell of the family to the row, its bytes copied; `name` is HBase's row. *is_block (may be
 * NULL) is set where the table is the engine's.
 * @return GF_OK; GF_ECONFLICT (it was cut, and has been deleted since: to be read again);
 *         GF_ECORRUPT, GF_EIO, GF_ENOMEM
 */
gf_status gf_hbase_add_cell(gf_hbase *b, const gf_hbase_table *t, gf_slice name, gf_row *row,
                            unsigned family, const gf_hbase_cell *cell, bool *is_block,
                            gf_error *err);
/** The number of a family of the schema; -1. */
int gf_hbase_family_number(const gf_schema *schema, gf_slice name);
/** Put the cells of a row that was read in the order of gf_row. */
void gf_hbase_sort_cells(const gf_schema *schema, gf_row *row);

/** Fields 1 of arguments, and the head of field 2: a table and the struct that comes next. */
void gf_hbase_begin_on_table(gf_hbase_call *call, const char *method, const gf_hbase_table *t);

/** Append the cells as they lie, a block of a run as one; none is no error. */
gf_status gf_hbase_get_stored(gf_hbase *b, const gf_hbase_table *t, const gf_schema *schema,
                              gf_slice key, const gf_selection *what, gf_row *row, bool *is_block,
                              gf_error *err);
gf_status gf_hbase_get(gf_backend *backend, const void *snapshot, unsigned table, gf_slice key,
                       const gf_selection *what, gf_row *row, gf_error *err);

/** Write a TGet of the newest cells of some families of HBase's row without their values; of a
 * table of the engine with the parts of cut values. */
void gf_hbase_get_of_names(gf_buffer *to, const gf_hbase_table *t, const gf_schema *schema,
                           gf_slice row, uint32_t families);
/** The same read: TResult in call->result. */
gf_status gf_hbase_read_names(gf_hbase *b, const gf_hbase_table *t, const gf_schema *schema,
                              gf_slice row, uint32_t families, gf_hbase_call *call,
                              gf_hbase_result *result, gf_error *err);

/* ---- values.c -------------------------------------------------------------------------------- */

enum { GF_HBASE_BLOCK = 1, GF_HBASE_CUT = 2, GF_HBASE_PART_BYTES = 3 << 19 };

/** The family of the parts of cut values; the qualifier of a block of a packed family. */
#define gf_hbase_parts "parts"
#define gf_hbase_block "block"

/** A part's place, of its cell's qualifier. */
typedef struct gf_hbase_part {
    unsigned family;
    gf_slice qualifier; /* borrowed */
    uint64_t id;
} gf_hbase_part;

/** False where the qualifier is none of a part. */
bool gf_hbase_part_read(gf_slice name, gf_hbase_part *part);

/** The id of the parts of a value that is put as of that time, or (0) now. */
uint64_t gf_hbase_new_id(int64_t timestamp);

/** A field with a value as tables of the engine have it; *cut: the id of the parts that have it. */
void gf_hbase_put_value(gf_buffer *to, uint16_t id, gf_slice value, bool is_block,
                        const uint64_t *cut);

/** Write the parts of a value. As gf_hbase_write. */
gf_status gf_hbase_write_parts(gf_hbase *b, const gf_hbase_table *t, gf_slice row, unsigned family,
                               gf_slice qualifier, gf_slice value, uint64_t id, int64_t timestamp,
                               gf_error *err);

/** The value of a cell of the engine's, in the memory of the row. As gf_hbase_add_cell. */
gf_status gf_hbase_read_value(gf_hbase *b, const gf_hbase_table *t, gf_slice row, unsigned family,
                              const gf_hbase_cell *cell, gf_row *into, gf_slice *value,
                              bool *is_block, gf_error *err);

/* ---- scan.c ---------------------------------------------------------------------------------- */

/** A scan of what lies there, a block of a run as one cell. */
typedef struct gf_hbase_stored_scan gf_hbase_stored_scan;

/** for_run: cells behind the range of qualifiers are given, too, since a block lies under its last. */
gf_status gf_hbase_stored_scan_open(gf_hbase *b, unsigned table, const gf_scan_options *options,
                                    bool for_run, gf_hbase_stored_scan **scan, gf_error *err);
gf_status gf_hbase_stored_scan_next(gf_hbase_stored_scan *scan, gf_row *row, bool *is_block,
                                    gf_error *err);
void gf_hbase_stored_scan_close(gf_hbase_stored_scan *scan);

/** A string in a filter's language. */
void gf_hbase_put_quoted(gf_buffer *b, gf_slice s);

/* ---- runs.c ---------------------------------------------------------------------------------- */

gf_status gf_hbase_scan_open(gf_backend *backend, const void *snapshot, unsigned table,
                             const gf_scan_options *options, gf_backend_scan **scan, gf_error *err);
gf_status gf_hbase_scan_next(gf_backend_scan *scan, gf_row *row, gf_error *err);
void gf_hbase_scan_close(gf_backend_scan *scan);

/** Append the row's cells in a run, or one of a wide family; none is no error. */
gf_status gf_hbase_get_of_run(gf_hbase *b, unsigned table, unsigned family, gf_slice key,
                              const gf_slice *qualifier, gf_row *row, gf_error *err);

/* ---- write.c --------------------------------------------------------------------------------- */

gf_status gf_hbase_check_row(gf_backend *backend, const gf_change *changes, size_t n,
                             gf_error *err);
gf_status gf_hbase_write(gf_backend *backend, const gf_change *changes, size_t n,
                         const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                         gf_error *err);
gf_status gf_hbase_increment(gf_backend *backend, const gf_change *put, int64_t delta, gf_sync sync,
                             int64_t *result, gf_error *err);

#endif
