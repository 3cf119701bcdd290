/**
 * The seam below the tables: what a store of rows and cells must be able to do.
 *
 * A backend sees tables (by number), row keys, families, qualifiers and values. How it lays them
 * out is its own business: packing, versions, time to live, compression, cutting into blocks. The
 * layers above rely on one row's atomicity alone unless the backend has GF_BACKEND_BATCH; there
 * gf_database_hold_in_rows makes batches of what is written under a hold.
 *
 * Keys, families, columns and the ranges of scans were checked against the schema before they come
 * here. Every operation but close may be called from several threads at once.
 */
#ifndef GF_STORAGE_BACKEND_H
#define GF_STORAGE_BACKEND_H

#include "base/arena.h"
#include "grouperfish/table.h"

enum {
    GF_BACKEND_BATCH = 1,      /* a write of several rows happens as a whole or not at all */
    GF_BACKEND_SNAPSHOT = 2,   /* reads can be made from a fixed state */
    GF_BACKEND_COMPRESSED = 4, /* takes values as gf_value_compress makes them */
    GF_BACKEND_SHARED = 8,     /* other processes may write to the same tables */
    /* Others know its tables by their names: that of a user's is "table:" and the name that the
       user gave, and dropping one leaves what was not made here. */
    GF_BACKEND_NAMED = 32
};

/* The start of the name of a table that others know, where the backend has GF_BACKEND_NAMED. */
#define GF_BACKEND_USERS_TABLE "table:"
/* And what the names begin with there that others see of the engine's tables. */
#define GF_BACKEND_OWN_TABLE "grouperfish."

typedef enum gf_change_kind {
    GF_CHANGE_PUT,         /* qualifier, value, timestamp */
    GF_CHANGE_REPLACE,     /* columns, of equal names the last counts; timestamp; a packed family */
    GF_CHANGE_DELETE_CELL, /* qualifier */
    GF_CHANGE_DELETE_ROW,  /* families */
    GF_CHANGE_PUT_BLOCK    /* key: of its last entry; value: its bytes (storage/run.h) */
} gf_change_kind;

/* A put's value is as it was given, or as gf_value_compress made it. */
typedef enum gf_value_form { GF_VALUE_GIVEN, GF_VALUE_NOT_SMALLER, GF_VALUE_SMALLER } gf_value_form;

/**
 * What gf_value_compress was given. GF_ENOMEM; GF_ECORRUPT.
 * @param memory  its content is replaced; *expanded borrows from it, or from the value
 */
gf_status gf_value_expand(const gf_compressed *value, gf_buffer *memory, gf_slice *expanded,
                          gf_error *err);

typedef struct gf_change {
    gf_change_kind kind;
    gf_value_form form;
    unsigned table;
    unsigned family;
    uint32_t families;
    gf_slice key, qualifier, value;
    const gf_column *columns;
    size_t n_columns;
    /* 0: none was given. In a backend without GF_BACKEND_BATCH one with a time, also a deletion,
       changes nothing that is newer. */
    int64_t timestamp;
} gf_change;

/** Write only where this cell has this value, or is absent. */
typedef struct gf_expectation {
    unsigned table, family;
    gf_slice key, qualifier;
    const gf_slice *expected; /* NULL: absent */
} gf_expectation;

/* The memory of the cells that a backend reads: everything is copied into the row. */
struct gf_row_memory {
    gf_arena arena;
    size_t capacity; /* of row->cells */
};

/** Empty the row and give it a memory; GF_ENOMEM. */
gf_status gf_row_begin(gf_row *row, gf_error *err);
/** Empty the row. */
void gf_row_clear(gf_row *row);
/** n bytes of the row's memory, not initialised; NULL on failure. */
char *gf_row_room(gf_row *row, size_t n);
/** Copy bytes into the row's memory; ptr NULL on failure. */
gf_slice gf_row_keep(gf_row *row, gf_slice bytes);
/** Set the key (copied). */
gf_status gf_row_set_key(gf_row *row, gf_slice key, gf_error *err);
/** Room for more cells. */
gf_status gf_row_grow(gf_row *row, gf_error *err);

/** Add a cell whose slices live at least as long as the row's content. */
static inline gf_status gf_row_add(gf_row *row, const gf_cell *cell, gf_error *err)
{
    gf_status st = row->n_cells < row->memory->capacity ? GF_OK : gf_row_grow(row, err);
    if (st == GF_OK) row->cells[row->n_cells++] = *cell;
    return st;
}

/** The cells of a row that a get wants. */
typedef struct gf_selection {
    uint32_t families; /* bits; all cells of those */
    bool one_cell;     /* only the qualifier, in the single family of `families` */
    gf_slice qualifier;
    uint32_t versions; /* per cell; >= 1 */
} gf_selection;

/** A database's tables have the numbers 1 to this, not included. */
enum { GF_MAX_TABLES = 1024 };

typedef struct gf_backend gf_backend;
typedef struct gf_backend_scan gf_backend_scan;
typedef struct gf_backend_hold gf_backend_hold;

/** Told of a name, which is borrowed until the call returns. */
typedef gf_status gf_visit_name(void *context, gf_slice name, gf_error *err);

typedef struct gf_backend_operations {
    unsigned capabilities;

    /* Make the table, or find it, and join the schemas (gf_schema_join). The other calls name it by
     * *number. A table that is made gets the number that *number has before the call, unless that
     * is 0 or another table's. `stored` is the schema as it is now kept, borrowed for the backend's
     * life. One call at a time. */
    gf_status (*open_table)(gf_backend *b, const gf_schema *schema, unsigned *number,
                            const gf_schema **stored, gf_error *err);

    /* The schema of the table of that number as it is now, borrowed likewise; NULL where there is
     * none. The call may be NULL: the backend does not list its tables. */
    const gf_schema *(*schema_of)(gf_backend *b, unsigned number);

    /* Whether there is a table of that name, made here or by others. NULL where schema_of tells of
     * all that there are; with GF_BACKEND_NAMED it tells of those alone that are open. */
    gf_status (*has_table)(gf_backend *b, const char *name, bool *has, gf_error *err);

    /* As gf_database_keeps; NULL: it keeps any. */
    bool (*keeps)(gf_backend *b, const char *name);

    /* As gf_database_visit_tables and gf_database_visit_families. NULL where schema_of knows all
     * tables that there are. */
    gf_status (*visit_tables)(gf_backend *b, gf_visit_name *visit, void *context, gf_error *err);
    gf_status (*visit_families)(gf_backend *b, const char *name, gf_visit_name *visit,
                                void *context, gf_error *err);

    /* Cells are added to an emptied row, in the order of gf_row, all from one state; none is no
     * error. snapshot may be NULL: the newest state. */
    gf_status (*get)(gf_backend *b, const void *snapshot, unsigned table, gf_slice key,
                     const gf_selection *what, gf_row *row, gf_error *err);

    /* Whether the database can make these changes, n > 0 of one row; NULL where it can make any. */
    gf_status (*check_row)(gf_backend *b, const gf_change *changes, size_t n, gf_error *err);

    /* As gf_scan_open, gf_scan_next and gf_scan_close; the limit and emptying the row are the
     * caller's, who does not go on behind the end or an error. Each entry
     * follows the one before without a gap: an error is returned at once, not at the end. */
    gf_status (*scan_open)(gf_backend *b, const void *snapshot, unsigned table,
                           const gf_scan_options *options, gf_backend_scan **scan, gf_error *err);
    gf_status (*scan_next)(gf_backend_scan *scan, gf_row *row, gf_error *err);
    void (*scan_close)(gf_backend_scan *scan);

    /* As gf_scan_cut; NULL where the backend cannot. */
    gf_status (*scan_cut)(gf_backend *b, const void *snapshot, unsigned table,
                          const gf_scan_options *options, uint64_t bytes, gf_buffer *key,
                          gf_error *err);

    /* Apply the changes in their order. GF_ECONFLICT, and nothing is written, where the condition
     * (may be NULL) does not hold, or where the hold (may be NULL) was lost. */
    gf_status (*write)(gf_backend *b, const gf_change *changes, size_t n,
                       const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                       gf_error *err);

    /* As gf_hold_take, for keys that rise; *hold is the backend's, and lasts until let_go. */
    gf_status (*hold)(gf_backend *b, unsigned table, const gf_slice *keys, size_t n,
                      gf_backend_hold **hold, gf_error *err);
    void (*let_go)(gf_backend *b, gf_backend_hold *hold);

    /* As gf_table_increment; `put` names the cell. */
    gf_status (*increment)(gf_backend *b, const gf_change *put, int64_t delta, gf_sync sync,
                           int64_t *result, gf_error *err);

    gf_status (*snapshot_create)(gf_backend *b, const void **snapshot, gf_error *err);
    void (*snapshot_free)(gf_backend *b, const void *snapshot);

    /* As gf_table_drop; NULL where the backend cannot. */
    gf_status (*drop_table)(gf_backend *b, unsigned table, const gf_cancel *cancel, gf_error *err);

    /* As gf_table_alter_family; `stored` as open_table has it. NULL where the backend cannot. */
    gf_status (*alter_family)(gf_backend *b, unsigned table, unsigned family, uint32_t versions,
                              uint64_t ttl_seconds, const gf_cancel *cancel,
                              const gf_schema **stored, gf_error *err);

    /* As gf_database_flush; NULL where nothing is left to a later time. */
    void (*flush)(gf_backend *b);

    /* As gf_database_begin_upkeep; NULL where the backend needs no time of ours for it. */
    void (*begin_upkeep)(gf_backend *b);

    /* As gf_table_reclaim; NULL where deleting gives back room at once. */
    gf_status (*reclaim)(gf_backend *b, unsigned table, gf_slice prefix, gf_error *err);

    /* As gf_database_purge; 0 milliseconds: as gf_database_compact. */
    gf_status (*compact)(gf_backend *b, unsigned milliseconds, const gf_cancel *cancel,
                         gf_error *err);

    /* As gf_database_has_failed; NULL where the backend never does. */
    bool (*has_failed)(gf_backend *b);

    void (*close)(gf_backend *b);
} gf_backend_operations;

struct gf_backend {
    const gf_backend_operations *operations;
};

/** The database over a backend, which it then owns and closes. */
gf_status gf_database_create(gf_backend *backend, gf_database **db, gf_error *err);

/** Closes the backend too. No scan, snapshot or batch may be open. */
void gf_database_close(gf_database *db);

/** The backend's capability bits. */
unsigned gf_database_capabilities(const gf_database *db);

/**
 * A fixed state for what would be better read from one, where the backend has them
 * (GF_BACKEND_SNAPSHOT); else NULL, the newest state at each read.
 */
gf_status gf_snapshot_create_if_any(gf_database *db, gf_snapshot **snapshot, gf_error *err);

/**
 * Have what was written until now lie where it stays, where it is much, so that closing finds
 * little to do. Others may write meanwhile. Durability is the same with or without.
 */
void gf_database_flush(gf_database *db);

/**
 * Begin what upkeep of the files is due, on a thread of the backend's own, and do not wait for it.
 * For work that takes some seconds anyhow: closing breaks off whatever is not done by then.
 */
void gf_database_begin_upkeep(gf_database *db);

/**
 * Much was deleted of the rows with that prefix (empty: of all): have the room given back, likewise
 * in the background, by and by, and not beyond the closing. Rows that are there stay; purging is
 * what makes sure that deleted ones are gone.
 * @return GF_OK, also where it is not worth the trouble: less than 4 MiB; GF_ENOMEM
 */
gf_status gf_table_reclaim(gf_table *table, gf_slice prefix, gf_error *err);

/**
 * Write the files anew, so that what was deleted, and no snapshot still has, is gone from them.
 * Others may read and write meanwhile. Takes as long as writing all data, and as much room again.
 */
gf_status gf_database_compact(gf_database *db, gf_error *err);

/**
 * The same, and nothing is left: snapshots and scans that are open are waited for, so long at the
 * beginning and so long at the end. The caller has none of them.
 * @param cancel  looked at between ranges of some files; may be NULL
 * @return GF_EBUSY where one is open still: what it has may be left. All else is done. GF_ECANCELLED: some
 *         files are as they were
 */
gf_status gf_database_purge(gf_database *db, unsigned milliseconds, const gf_cancel *cancel,
                            gf_error *err);

/** True once a write failed: no other is accepted until the database is opened again. */
bool gf_database_has_failed(gf_database *db);

gf_backend *gf_database_backend(gf_database *db);

/**
 * A hold: the right to change what belongs to some rows, for one at a time, over all processes that
 * have the database open. It is for one batch and what is read for it, not for hours. Who may be
 * kept out by it takes one as well; reading needs none.
 *
 * It belongs to the thread that takes it: whatever this thread writes to the database until it lets
 * go is written under the hold, and not at all where that was lost (a shared backend takes a hold
 * from a process that no longer answers). A thread has one hold of a database at a time.
 */
typedef struct gf_hold {
    struct gf_hold *outer; /* of another database, by the same thread */
    gf_database *db;       /* NULL: nothing is held */
    gf_backend_hold *of_backend;
    struct gf_held_row *row; /* where the row holds itself; else NULL */
} gf_hold;

/**
 * Wait until nobody else holds any of those rows, which need not be there, and hold them.
 *
 * @param keys  n, rising
 * @param hold  stays where it is until gf_hold_let_go
 */
gf_status gf_hold_take(gf_table *table, const gf_slice *keys, size_t n, gf_hold *hold,
                       gf_error *err);

/**
 * Have rows of the table hold themselves from now on, since the backend has no GF_BACKEND_BATCH and
 * its own hold keeps only the threads of this process apart. One row is held at a time. What is
 * written under the hold is written as a whole as far as those see it who hold that row: what was cut
 * short is finished by the next one, before anything else. Readers may see a part of it. No row is
 * changed by what was written under a hold of that row before the one that it was last changed
 * under. storage/journal.h has the protocol.
 *
 * @param owner, journal  wide families of the table, for this alone
 */
gf_status gf_database_hold_in_rows(gf_database *db, gf_table *table, unsigned owner,
                                   unsigned journal, gf_error *err);

/**
 * Families (bits) of the table whose rows hold themselves that are written while nothing is held as
 * well, each cell on a condition on itself: they get the database's times in either case, and no
 * stamps, which another host's clock may be ahead of.
 */
void gf_database_leave_to_clock(gf_database *db, uint32_t families);

/**
 * One row of that table is for batches of tables whose cells have the database's times, since others
 * write to them as well: what is written under its hold is as of a time that the database says, and no
 * earlier than any such batch before. The row itself need not be there.
 *
 * @param key  borrowed
 */
void gf_database_hold_by_time(gf_database *db, gf_slice key);

/**
 * Find a table that a journal names, made perhaps by another process: *table NULL where there is no
 * such table any more, and what was to be written to it is left out.
 */
typedef gf_status gf_find_table(void *context, const char *name, gf_table **table, gf_error *err);
void gf_database_find_by(gf_database *db, gf_find_table *find, void *context);

/** Whether rows of a table hold themselves: batches are then written row after row. */
bool gf_database_holds_in_rows(const gf_database *db);

/** Seconds after which a hold of another process, seen unchanged, has ended: 30 at first. */
void gf_database_set_patience(gf_database *db, double seconds);

/**
 * The stamp of this thread's hold, which rises from hold to hold of a row: for what is written later
 * while nothing is held (gf_batch_stamp). 0 where no rows hold themselves.
 */
uint64_t gf_hold_stamp(const gf_database *db);

/**
 * Have the changes of the batch, which is written while nothing is held, made as of a hold's stamp:
 * what was written later stays. Lasts until the batch is freed, or is given another; 0: none.
 */
void gf_batch_stamp(gf_batch *batch, uint64_t stamp);

/**
 * Finish what another process has left of a batch under the hold of this row; it is waited for while
 * that one is at it. One read where nothing was left. Nothing is held by this thread.
 */
gf_status gf_hold_finish(gf_database *db, gf_slice key, gf_error *err);

/**
 * Have deletions of the batch take cells with times that are still to come as well. Of a batch that is
 * written by gf_database_hold_by_time; costs a read of each row of which something is deleted.
 */
void gf_batch_delete_later(gf_batch *batch);

/** Let go; of {0}, or after a gf_hold_take that failed, nothing. By the thread that took it. */
void gf_hold_let_go(gf_hold *hold);

/**
 * Have all writes of the batch from now on made only where that cell has that value: GF_ECONFLICT
 * otherwise, and nothing is written. What is given is borrowed. gf_batch_write_if has its own
 * condition, in place of this one.
 */
void gf_batch_guard(gf_batch *batch, gf_table *table, gf_slice key, unsigned family,
                    gf_slice qualifier, gf_slice value);
void gf_batch_unguard(gf_batch *batch);

/** The hold that this thread has of the database; NULL where it has none. */
gf_backend_hold *gf_hold_of_thread(const gf_database *db);

/**
 * As gf_table_open; a table that has to be made gets the number `wanted`, unless that is 0 or
 * another's. So a table whose entry in the catalogue was lost finds its rows again.
 */
gf_status gf_table_open_numbered(gf_database *db, const gf_schema *schema, unsigned wanted,
                                 gf_table **table, gf_error *err);

/** The number that the backend knows a table by. */
unsigned gf_table_number(const gf_table *table);

/** Whether the database has a table of that name; of a backend with GF_BACKEND_NAMED it may be others'. */
gf_status gf_database_has_table(gf_database *db, const char *name, bool *has, gf_error *err);

/** Whether the database keeps tables of that name: one whose tables others know has those of few names. */
bool gf_database_keeps(gf_database *db, const char *name);

/**
 * Visit the names of all tables that are there, whoever made them: with GF_BACKEND_NAMED those that
 * others know them by.
 * @return GF_OK; what the visitor gives; GF_EIO, GF_ENOMEM
 */
gf_status gf_database_visit_tables(gf_database *db, gf_visit_name *visit, void *context,
                                   gf_error *err);

/**
 * Visit the names of the families that a table has, which need not be open: with GF_BACKEND_NAMED
 * others may have made it, with families that no schema of ours has.
 * @return as gf_database_visit_tables; GF_ENOTFOUND
 */
gf_status gf_database_visit_families(gf_database *db, const char *name, gf_visit_name *visit,
                                     void *context, gf_error *err);

/** The schema of the table of that number, from 1 on, as it is now; NULL where there is none. */
const gf_schema *gf_database_schema(gf_database *db, unsigned number);

#endif
