/**
 * Wide-column tables.
 *
 * A table has rows in byte order of their keys; a row has column families; a family has cells
 * (qualifier, value, timestamp). The families of a table lie apart on disk, so that scanning one
 * never reads another. A family is
 *
 *     packed   its columns in one value, read and written together: for a few columns per row
 *     wide     one entry per cell, unbounded: for lists
 *
 * and keeps a number of versions per cell, may drop cells of an age, and may be compressed. An
 * empty cell differs from an absent one. Column names are unique across a table's families, but for
 * families whose names differ only in digits at their end (extract0, extract1), which may share them.
 *
 * A timestamp is the caller's or, where none is given and the family needs one, the time of the
 * write. In a family with one version it only says how old a cell is: the last put stays. Where
 * several are kept it names the version: reads give the newest, a put of an older one goes behind
 * it, and only the newest stay. A packed family has one timestamp for all columns of a row, that of
 * the last put, and its versions are those of the row: each has all columns as they were then.
 *
 * Threads: a database, its tables and a snapshot may be used by several threads at once; a batch, a
 * scan and a row by one at a time.
 */
#ifndef GF_GROUPERFISH_TABLE_H
#define GF_GROUPERFISH_TABLE_H

#include "grouperfish/buffer.h"
#include "grouperfish/cancel.h"
#include "grouperfish/export.h"
#include "grouperfish/key.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

GF_PUBLIC_BEGIN

typedef struct gf_database gf_database;
typedef struct gf_table gf_table;
typedef struct gf_snapshot gf_snapshot;
typedef struct gf_batch gf_batch;
typedef struct gf_scan gf_scan;

/* ---- schemas --------------------------------------------------------------------------------- */

typedef enum gf_part_kind {
    GF_PART_STRING, /* gf_key_string */
    GF_PART_U64,    /* gf_key_u64 */
    GF_PART_FIXED   /* `width` bytes as they are */
} gf_part_kind;

typedef struct gf_key_part {
    const char *name;
    gf_part_kind kind;
    unsigned width; /* of GF_PART_FIXED: 1..255 */
} gf_key_part;

typedef enum gf_layout { GF_LAYOUT_PACKED, GF_LAYOUT_WIDE } gf_layout;
typedef enum gf_compression { GF_COMPRESSION_NONE, GF_COMPRESSION_SNAPPY } gf_compression;

typedef struct gf_family {
    const char *name;
    gf_layout layout;
    uint32_t versions;          /* kept per cell (wide) or per row (packed); 0 means 1 */
    uint64_t ttl_seconds;       /* cells older than this read as absent; 0 keeps them */
    gf_compression compression; /* of each value, beside that of the store's blocks */
    /* Names of known columns, NULL at the end; stored as numbers where packed. */
    const char *const *columns;
    /* A run: its entries are written once, in rising order, and never changed, so that they can lie
     * in blocks of many (storage/run.h). With one version, and without a time to live. A family that
     * is in use may become one; what it has stays as it is. */
    bool run;
} gf_family;

typedef struct gf_schema {
    const char *name;
    const gf_key_part *parts;  /* n_parts: what the row key is made of */
    unsigned n_parts;          /* 1..8 */
    const gf_family *families; /* n_families */
    unsigned n_families;       /* 1..32 */
} gf_schema;

enum {
    GF_MAX_KEY = 64 << 10, /* bytes of a row key, of a qualifier */
    GF_MAX_VALUE = 1 << 30 /* bytes of a value, and of all columns of a packed row */
};

/**
 * The table of that schema, made where the database has none of its name. A table that is there
 * gets the further families and known columns that the schema has at its ends, and keeps those that
 * the schema lacks there (gf_table_schema has them all). Times to live, and the number of several
 * versions, are those that it has (gf_table_alter_family changes them); any other difference is
 * refused. Families keep their numbers.
 *
 * @return GF_OK; GF_EINVAL (a column name in families of two stems, a bad part, a schema that
 *         differs);
 *         GF_EIO, GF_ECORRUPT, GF_ENOMEM. *table belongs to the database.
 */
gf_status gf_table_open(gf_database *db, const gf_schema *schema, gf_table **table, gf_error *err);

/**
 * The table of that name as it is stored.
 * @return GF_OK; GF_ENOTFOUND, also of a backend that does not list its tables; as gf_table_open
 */
gf_status gf_table_find(gf_database *db, const char *name, gf_table **table, gf_error *err);

/**
 * Drop a table with all that is in it, and free its name. It is deleted in chunks, each synced, its
 * entry in the catalogue last: what a failure, a cancel or a crash leaves is a table with fewer
 * rows, to be dropped again. Nobody may use the table meanwhile. Where this gives GF_OK, `table`
 * and what was borrowed from it are gone.
 *
 * A database holds 1,023 tables; a dropped one counts until the database is opened again.
 *
 * @return GF_OK; GF_ECANCELLED; GF_EINVAL (a backend that cannot); GF_EIO, GF_ECORRUPT, GF_ENOMEM
 */
gf_status gf_table_drop(gf_table *table, const gf_cancel *cancel, gf_error *err);

/**
 * Let a family of a table in use keep cells for another time, or another number of several versions.
 * Nothing that was expired, or beyond the versions that were kept, is shown again: where more is
 * kept than before, that is deleted first. Cells that were put without a time, while nothing
 * expired, have the time of the change.
 *
 * @param versions     1 where the family keeps one; from 2 on where it keeps several
 * @param ttl_seconds  0: nothing expires
 * @return GF_OK; GF_EINVAL (one version to several or back; a backend that cannot); GF_ECANCELLED
 *         (nothing is lost; the same call goes on); GF_EIO, GF_ECORRUPT, GF_ENOMEM
 * Cost: up to two walks over the family. Others may read and write meanwhile.
 */
gf_status gf_table_alter_family(gf_table *table, unsigned family, uint32_t versions,
                                uint64_t ttl_seconds, const gf_cancel *cancel, gf_error *err);

/** The number of a family, as the calls below take it; GF_EINVAL for an unknown one. */
gf_status gf_table_family(const gf_table *table, const char *name, unsigned *family, gf_error *err);

/** The table's schema as it is now, borrowed for the life of the database. */
const gf_schema *gf_table_schema(const gf_table *table);

/* ---- types of values and of key parts: user_tables.h has their text forms -------------------- */

typedef enum gf_type {
    GF_TYPE_TEXT,
    GF_TYPE_BYTES,
    GF_TYPE_INT64,
    GF_TYPE_UINT64,
    GF_TYPE_DECIMAL,
    GF_TYPE_FLOAT,
    GF_TYPE_JSON,
    /* Types of the program's own tables alone: no schema of a user's has them. */
    GF_TYPE_NUMBER,  /* the text of a number, decimals and all */
    GF_TYPE_VARINT,  /* a whole number as a varint */
    GF_TYPE_SIGNED,  /* likewise, 0, -1, 1, -2, ... as 0, 1, 2, 3, ... */
    GF_TYPE_FLOAT32, /* 4 bytes, big-endian */
    GF_TYPE_POINT,   /* latitude and longitude, each such a float */
    GF_TYPE_RANK,    /* 2^32 - 1 - a float's bits, 4 bytes; then a document's id */
    GF_TYPE_ESCAPED, /* text in which any byte may stand as \x and two digits */
    GF_TYPE_BINARY   /* bytes that only the program reads: long ones are not printed */
} gf_type;

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct gf_cell {
    unsigned family;
    gf_slice qualifier; /* of a packed family the column's name */
    gf_slice value;
    int64_t timestamp; /* milliseconds since 1970; 0 where none was given */
} gf_cell;

/**
 * The cells of a read. Start with {0}; every read replaces the content (a failed one leaves it
 * empty), so no argument of a read may lie in the row that it fills; release at the end.
 *
 * Cells come by family; of a wide family by qualifier, then newest first; of a packed one in the
 * order in which they are stored: known columns as the schema has them, then the others by name.
 */
typedef struct gf_row {
    gf_slice key;   /* borrowed until the row's next read */
    gf_cell *cells; /* n_cells, likewise */
    size_t n_cells;
    struct gf_row_memory *memory;
} gf_row;

void gf_row_release(gf_row *row);

/** The newest cell of that qualifier in a row that was read; NULL where there is none. */
const gf_cell *gf_row_find(const gf_row *row, unsigned family, const char *qualifier);

#define GF_ALL_FAMILIES UINT32_MAX

/**
 * Read a row's families, all from one state.
 *
 * @param snapshot  what to read from; NULL for the newest state
 * @param families  bit f set to read family f
 * @return GF_OK; GF_ENOTFOUND where the row has no cell in them; GF_ECORRUPT, GF_EIO, GF_ENOMEM
 */
gf_status gf_table_get(gf_table *table, const gf_snapshot *snapshot, gf_slice key,
                       uint32_t families, gf_row *row, gf_error *err);

/** Read one cell, with up to `versions` of its versions (1 for the newest alone). */
gf_status gf_table_get_cell(gf_table *table, const gf_snapshot *snapshot, gf_slice key,
                            unsigned family, gf_slice qualifier, uint32_t versions, gf_row *row,
                            gf_error *err);

/**
 * A fixed state of the whole database. Free it before the database is closed. Where a database has no
 * such states, but keeps collections row by row, it is NULL: the newest state at each read.
 */
gf_status gf_snapshot_create(gf_database *db, gf_snapshot **snapshot, gf_error *err);
void gf_snapshot_free(gf_snapshot *snapshot);

typedef struct gf_scan_options {
    unsigned version;            /* GF_SCAN_OPTIONS_VERSION: set by GF_SCAN_OPTIONS() */
    const gf_snapshot *snapshot; /* NULL: the state when the scan begins */
    unsigned family;
    gf_slice prefix;           /* rows that start with it; empty for all */
    gf_slice start;            /* first row key of the range, included; empty for the lowest */
    gf_slice end;              /* first row key behind the range; empty for no end */
    gf_slice qualifier_prefix; /* wide, with a whole row key as prefix: cells that start with it */
    gf_slice after_qualifier;  /* likewise, ptr not NULL: cells behind it (in reverse: before it) */
    uint64_t limit;            /* entries at most; 0 for no limit */
    bool reverse;
    bool keys_only; /* of a packed family row keys without cells, of a wide one empty values */
    /* With keys_only, of a run: not every entry, but at least one of each block. Who deletes
     * each of these (of a packed family the row, of a wide one the cell) deletes all. */
    bool as_stored;
} gf_scan_options;

#define GF_SCAN_OPTIONS_VERSION 1
/** Options with these members, as in GF_SCAN_OPTIONS(.member = value), and all others 0. */
#define GF_SCAN_OPTIONS(...) ((gf_scan_options){.version = GF_SCAN_OPTIONS_VERSION, __VA_ARGS__})

/**
 * Walk the entries of one family in key order. Of a packed family an entry is a row with all its
 * columns, of a wide one a single cell (row->n_cells is 1); both in their newest version.
 *
 * prefix, start and end are row keys or starts of such (GF_EINVAL otherwise); the options are not
 * needed any more once the scan is open.
 *
 * gf_scan_next returns GF_OK with the next entry, GF_ENOTFOUND at the end, else the error, and
 * again the same after those two: a scan that ends otherwise than by GF_ENOTFOUND has not seen
 * everything.
 */
gf_status gf_scan_open(gf_table *table, const gf_scan_options *options, gf_scan **scan,
                       gf_error *err);
gf_status gf_scan_next(gf_scan *scan, gf_row *row, gf_error *err);
void gf_scan_close(gf_scan *scan);

/**
 * The key at which a scan's range is cut so that two threads can scan its parts: about `bytes`
 * bytes of the range, as they take room on disk, lie before that row.
 *
 * @param options  snapshot, family, prefix, start, end; the parts have the key as end and as start
 * @param key      out: replaced; the key of a row, behind start and before end
 * @return GF_OK; GF_ENOTFOUND where nothing is to be cut: the range takes little more than that, is
 *         one row, or the backend does not know (LevelDB counts what it has made tables of); as
 *         gf_scan_next
 * Cost: some look-ups.
 */
gf_status gf_scan_cut(gf_table *table, const gf_scan_options *options, uint64_t bytes,
                      gf_buffer *key, gf_error *err);

/* ---- writing --------------------------------------------------------------------------------- */

/**
 * A batch collects changes of any rows of any tables of one database; written, they happen together
 * or not at all (of several rows: where the backend has GF_BACKEND_BATCH), each as if those before
 * it had happened. Keys and values are copied. The first failure is kept until gf_batch_write or
 * gf_batch_reset.
 */
gf_status gf_batch_create(gf_database *db, gf_batch **batch, gf_error *err);
void gf_batch_free(gf_batch *batch);
void gf_batch_reset(gf_batch *batch);

/** Changes collected so far, and about the bytes they take. */
size_t gf_batch_changes(const gf_batch *batch);
size_t gf_batch_bytes(const gf_batch *batch);

/** Forget all changes but the first n; a failure stays. */
void gf_batch_cut(gf_batch *batch, size_t n);

/**
 * Set one cell. Of a packed family the other columns stay, those of the newest version that is not
 * newer than this one. timestamp 0: none; a family with versions or a time to live takes now for
 * it, or a millisecond more than the newest version where that is later. The puts of one batch that
 * give none to a row's family share a time.
 */
void gf_batch_put(gf_batch *batch, gf_table *table, gf_slice key, unsigned family,
                  gf_slice qualifier, gf_slice value, int64_t timestamp);

/** A value as a family that compresses keeps it: smaller, or as it was where that was no help. */
typedef struct gf_compressed {
    gf_slice bytes;
    bool smaller;
} gf_compressed;

/**
 * Compress a value before it is put, by any thread; of other values the batch's writer does it.
 *
 * @param memory  its content is replaced; *compressed borrows from it, or from the value
 * @return GF_OK; GF_ELIMIT (more than GF_MAX_VALUE); GF_ENOMEM
 */
gf_status gf_value_compress(gf_slice value, gf_buffer *memory, gf_compressed *compressed,
                            gf_error *err);

/**
 * gf_batch_put of a value that was compressed before; without a timestamp. For wide
 * families that are compressed, keep one version and let nothing expire: else the batch fails with
 * GF_EINVAL. A database that keeps values as they are, as HBase, gets this one so.
 */
void gf_batch_put_compressed(gf_batch *batch, gf_table *table, gf_slice key, unsigned family,
                             gf_slice qualifier, const gf_compressed *value);

typedef struct gf_column {
    gf_slice name, value;
} gf_column;

/**
 * Set a packed family of a row to these columns and no others, without reading it (unless it has
 * versions). Of equal names the last counts; no columns at all is gf_batch_delete_row.
 */
void gf_batch_replace(gf_batch *batch, gf_table *table, gf_slice key, unsigned family,
                      const gf_column *columns, size_t n_columns, int64_t timestamp);

/** The same without copying the values, which stay as they are until the batch is written. */
void gf_batch_replace_borrowed(gf_batch *batch, gf_table *table, gf_slice key, unsigned family,
                               const gf_column *columns, size_t n_columns, int64_t timestamp);
/** A copy that lasts until the batch is written or reset, for values that are borrowed. */
gf_slice gf_batch_keep(gf_batch *batch, gf_slice bytes);

/** Delete a cell with all its versions. */
void gf_batch_delete_cell(gf_batch *batch, gf_table *table, gf_slice key, unsigned family,
                          gf_slice qualifier);

/** Delete all cells of some families of a row (bit f for family f). */
void gf_batch_delete_row(gf_batch *batch, gf_table *table, gf_slice key, uint32_t families);

typedef enum gf_sync { GF_SYNC_OFF, GF_SYNC_ON } gf_sync;

/**
 * Write the batch and empty it, whatever comes of it. With GF_SYNC_ON it is on disk when this returns
 * GF_OK. Where the disk failed (GF_EIO, or GF_ECORRUPT from LevelDB's own work) the database takes
 * no further writes until it is opened again, and only then is it known whether the batch that
 * failed is there: as a whole, or not at all.
 */
gf_status gf_batch_write(gf_batch *batch, gf_sync sync, gf_error *err);

/**
 * Write the batch where a cell has an expected value (NULL: where it is absent).
 * @return GF_OK; GF_ECONFLICT, and nothing was written; as gf_batch_write
 */
gf_status gf_batch_write_if(gf_batch *batch, gf_table *table, gf_slice key, unsigned family,
                            gf_slice qualifier, const gf_slice *expected, gf_sync sync,
                            gf_error *err);

/**
 * Add to a cell that holds a base-10 integer of 64 bits (absent counts as 0); *result is the sum.
 * @return GF_OK; GF_EINVAL (the cell holds something else); GF_ELIMIT (the sum does not fit)
 */
gf_status gf_table_increment(gf_table *table, gf_slice key, unsigned family, gf_slice qualifier,
                             int64_t delta, gf_sync sync, int64_t *result, gf_error *err);

GF_PUBLIC_END

#endif
