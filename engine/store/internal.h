/**
 * What the files of the engine share: the store, and rows read from it.
 */
#ifndef GF_ENGINE_STORE_INTERNAL_H
#define GF_ENGINE_STORE_INTERNAL_H

#include "base/number.h"
#include "grouperfish.h"
#include "grouperfish/buffer.h"
#include "storage/folder/folder.h"
#include "storage/tables.h"

#include <pthread.h>

/**
 * Something of this process that has the rows below a key to itself: a build that is made (the
 * build's key), a configuration or a collection that is being deleted (its key). Rows below the key
 * are then written and deleted without the write lock.
 */
typedef struct gf_activity {
    struct gf_activity *next;
    gf_slice key; /* borrowed from who is active */
    uint64_t seq; /* of a build: what its snapshot has; changes from then on must be kept */
} gf_activity;

enum { GF_CACHED_LISTS = 64 };

typedef struct gf_cluster_list gf_cluster_list;

/** Lists of clusters that were read last; NULL where there is none yet. */
typedef struct gf_cluster_cache {
    pthread_mutex_t lock;
    gf_cluster_list *lists[GF_CACHED_LISTS];
    uint64_t uses;
    size_t gone_bytes, most_gone_bytes; /* that the lists have of deleted documents, and may have */
} gf_cluster_cache;

void gf_cluster_cache_init(gf_cluster_cache *cache);
void gf_cluster_cache_release(gf_cluster_cache *cache);

struct gf_store {
    gf_folder *folder;
    gf_database *db;
    gf_tables tables;
    uint64_t buffers; /* bytes that the database takes at most, beside tables' indexes */

    /*
     * Held while rows are read in order to be written: by puts, settings, the first and last steps
     * of a rebuild and of a deletion. Readers never take it.
     */
    pthread_mutex_t write_lock;
    struct gf_put_line *line; /* puts of all threads on their way to disk (engine/put/group.c) */
    gf_cluster_cache cluster_cache; /* what was read of builds (engine/view/cluster_cache.c) */
    bool tidy;                      /* nothing is left of what was cut short; under the lock */
    gf_activity *active;            /* under the lock */

    pthread_mutex_t user_lock;         /* of the list, and while the table of tables changes */
    struct gf_user_table *user_tables; /* those of users that are open */
    pthread_mutex_t drop_lock;         /* while dropped tables are deleted */
};

/* ---- engine/put/group.c ---------------------------------------------------------------------- */

struct gf_put_line *gf_put_line_create(void);
void gf_put_line_free(struct gf_put_line *line);

/* ---- engine/rows/names.c: what may be a name ------------------------------------------------- */

/** GF_EINVAL where a part is empty, longer than GF_MAX_NAME bytes, or not UTF-8. */
gf_status gf_check_place(gf_place where, gf_error *err);
gf_status gf_check_name(const char *what, gf_slice name, gf_error *err);
gf_status gf_check_id(gf_slice id, gf_error *err);

/** A cell's number in base 10; false where the cell is NULL or holds anything else. */
bool gf_cell_number(const gf_cell *cell, uint64_t *v);

/* ---- engine/rows/scan.c: walks over a table -------------------------------------------------- */

/** Told of each entry; what it returns but GF_OK ends the walk, and is returned. */
typedef gf_status gf_each_row(void *context, const gf_row *row, gf_error *err);

gf_status gf_scan_each(gf_table *table, const gf_scan_options *options, gf_each_row *each,
                       void *context, gf_error *err);

/** gf_scan_next with the end in *more, so that it is not taken for something that is missing. */
gf_status gf_scan_step(gf_scan *scan, gf_row *row, bool *more, gf_error *err);

/** Whether there is any entry below prefix; how many. */
gf_status gf_scan_finds(gf_table *table, const gf_snapshot *snapshot, unsigned family,
                        gf_slice prefix, bool *found, gf_error *err);
gf_status gf_scan_count(gf_table *table, const gf_snapshot *snapshot, unsigned family,
                        gf_slice prefix, uint64_t *n, gf_error *err);

/* ---- engine/rows/collection_row.c: one row of the table of collections ----------------------- */

/** A collection's row as it was read; slices are borrowed from `row`. */
typedef struct gf_collection_row {
    gf_row row;
    uint64_t size, seq;
    int64_t modified;
    gf_slice settings; /* JSON: {"configuration": {"key": "value"}}; empty where there are none */
    gf_slice pins;     /* likewise (engine/config/pins.h) */
    bool going;        /* it is marked as being deleted, and so not there */
} gf_collection_row;

/** GF_ENOTFOUND, naming it, where there is no such collection or it is being deleted. */
gf_status gf_collection_row_read(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                                 gf_collection_row *row, gf_error *err);
/** What a row of collections:main says; row->row has been read. */
gf_status gf_collection_row_decode(gf_collection_row *row, gf_error *err);
void gf_collection_row_release(gf_collection_row *row);

/**
 * The defaults of a namespace: JSON as in `settings`, borrowed from *row, which the caller
 * releases; empty where it has none.
 */
gf_status gf_defaults_read(gf_store *store, const gf_snapshot *snapshot, gf_slice name_space,
                           gf_row *row, gf_slice *defaults, gf_error *err);

/** Whether the collection is marked as being deleted. */
gf_status gf_collection_is_going(gf_store *store, const gf_snapshot *snapshot, gf_slice key,
                                 bool *going, gf_error *err);

/** GF_EBUSY, where a collection is to be made whose namesake is still being deleted. */
gf_status gf_fail_going(gf_slice collection, gf_error *err);

/** Column of a configuration: "configuration:<name>:rebuilt", ":processed" or ":failed". */
void gf_configuration_column(gf_buffer *b, gf_slice configuration, const char *what);

/** "configuration:<name>:<what>" -> <name>; false for another column. */
bool gf_configuration_of(gf_slice column, const char *what, gf_slice *name);

/** Keep in the store that a rebuild failed, and why; where that fails, too, nothing is kept. */
void gf_note_failure(gf_store *store, gf_place where, gf_slice configuration, gf_status status,
                     const char *message);

/** The served build of a configuration, or 0. */
int64_t gf_collection_row_served(const gf_collection_row *row, gf_slice configuration);

/** The configurations that have a served build, by name; free the list with gf_free. */
gf_status gf_collection_row_states(const gf_collection_row *row, gf_configuration_state **states,
                                   size_t *n, gf_error *err);

/* ---- reclaim.c: the write lock, and deleting much -------------------------------------------- */

/**
 * Take the write lock, and clear away what was cut short: once after opening, and again after a
 * deletion failed. Unlock with gf_unlock, also after a failure.
 */
gf_status gf_lock(gf_store *store, gf_error *err);
void gf_unlock(gf_store *store);

/** Something could not be cleared away: the next gf_lock tries again. The lock is not held. */
void gf_leave_untidy(gf_store *store);

/** Enter an activity into the store's list, and take it off; with the write lock held. */
void gf_begin_activity(gf_store *store, gf_activity *activity);
void gf_end_activity(gf_store *store, gf_activity *activity);

/** Whether something is active whose key starts so. Lock held. */
bool gf_is_active(const gf_store *store, gf_slice key_start);

/**
 * Put deletions of rows into the batch, which is written (synced) whenever it is full: the rows
 * whose keys start with prefix, all families; those with start <= key < end; those of a build, its
 * progress last. What is left in the batch is the caller's to write.
 */
gf_status gf_delete_rows(gf_table *table, gf_slice prefix, gf_batch *batch, gf_error *err);
gf_status gf_delete_range(gf_table *table, gf_slice start, gf_slice end, gf_batch *batch,
                          gf_error *err);
gf_status gf_drop_build(gf_store *store, gf_slice build_key, gf_batch *batch, gf_error *err);

/** Several builds, likewise; keys are as gf_mark_builds gives them. */
gf_status gf_drop_builds(gf_store *store, gf_slice keys, gf_batch *batch, gf_error *err);

/** Delete all of a collection that is marked. Nobody else may write below its key. */
gf_status gf_finish_deletion(gf_store *store, gf_slice collection_key, gf_error *err);

/* ---- engine/upkeep/verify.c ------------------------------------------------------------------ */

/** Whether a build is there, finished, and agrees with itself throughout. */
gf_status gf_build_is_whole(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                            const gf_cancel *cancel, bool *whole, gf_error *err);

/* ---- engine/rows/document_row.c: documents as columns ---------------------------------------- */

/** Columns of a document, borrowed from it and from names. */
typedef struct gf_document_cells {
    gf_column *columns; /* n, in stored order, with room for one more: seq */
    size_t n, capacity;
    gf_buffer names; /* of fields that had to be renamed */
} gf_document_cells;

/** Write a document's columns but seq. The cells are reused; release them at the end. */
gf_status gf_document_to_cells(const gf_document *document, gf_document_cells *cells,
                               gf_error *err);
void gf_document_cells_release(gf_document_cells *cells);

/** Append the column that a field which is neither text, time nor lang lies in. */
void gf_document_column(gf_buffer *column, gf_slice field);

/** A document from its row; fields is room for row->n_cells. Everything is borrowed from the row.
 */
void gf_document_from_row(const gf_row *row, gf_slice id, gf_field *fields, gf_document *document,
                          uint64_t *seq);

/** A document's time, as it is kept (JSON), in milliseconds since 1970; false where it is none. */
bool gf_document_moment(gf_slice json, int64_t *ms);

/** Whether the row holds just these columns, seq aside. */
bool gf_document_same(const gf_row *row, const gf_document_cells *cells);

#endif
