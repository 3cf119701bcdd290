/**
 * What the files of the engine share: the store, and rows read from it.
 */
#ifndef GF_ENGINE_INTERNAL_H
#define GF_ENGINE_INTERNAL_H

#include "base/buffer.h"
#include "engine/grouperfish.h"
#include "storage/folder.h"
#include "storage/tables.h"

#include <pthread.h>

struct gf_store {
    gf_folder *folder;
    gf_database *db;
    gf_tables tables;

    /*
     * Held while rows are read in order to be written: by puts, deletions, settings, and the first
     * and last steps of a rebuild. Readers never take it.
     */
    pthread_mutex_t write_lock;
    bool tidied;                  /* what a crash had left has been cleared away; under the lock */
    struct gf_rebuilding *active; /* configurations being rebuilt now; under the lock */
};

/* ---- names.c: what may be a name --------------------------------------------------------------
 */

/** GF_EINVAL where a part is empty, longer than GF_MAX_NAME bytes, or not UTF-8. */
gf_status gf_check_place(gf_place where, gf_error *err);
gf_status gf_check_name(const char *what, gf_slice name, gf_error *err);
gf_status gf_check_id(gf_slice id, gf_error *err);

/* ---- collection_row.c: one row of the table of collections ------------------------------------
 */

/** A collection's row as it was read; slices are borrowed from `row`. */
typedef struct gf_collection_row {
    gf_row row;
    uint64_t size, seq;
    int64_t modified;
    gf_slice settings; /* JSON: {"configuration": {"key": "value"}}; empty where there are none */
} gf_collection_row;

/** GF_ENOTFOUND, naming it, where there is no such collection or it is being deleted. */
gf_status gf_collection_row_read(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                                 gf_collection_row *row, gf_error *err);
/** What a row of the scan of collections:main says; row->row has been read. */
gf_status gf_collection_row_decode(gf_collection_row *row, gf_error *err);
void gf_collection_row_release(gf_collection_row *row);

/** Whether the collection is marked as being deleted. */
gf_status gf_collection_is_going(gf_store *store, const gf_snapshot *snapshot, gf_slice key,
                                 bool *going, gf_error *err);

/** A number in base 10. False where the cell is missing or holds something else. */
bool gf_cell_number(const gf_cell *cell, uint64_t *v);
void gf_buffer_number(gf_buffer *b, uint64_t v);

/** Column of a configuration: "configuration:<name>:rebuilt" or ":processed". */
void gf_configuration_column(gf_buffer *b, gf_slice configuration, const char *what);

/** The served build of a configuration, or 0. */
int64_t gf_collection_row_served(const gf_collection_row *row, gf_slice configuration);

/** Visit the configurations that have a served build. */
gf_status gf_collection_row_states(const gf_collection_row *row, gf_configuration_state **states,
                                   size_t *n, gf_error *err);

/* ---- reclaim.c: deleting much, in chunks ------------------------------------------------------
 */

/** Delete all rows whose keys start with prefix, all families, some thousand entries a batch. */
gf_status gf_delete_rows(gf_store *store, gf_table *table, gf_slice prefix, gf_error *err);

/** Delete the rows with start <= key < end. */
gf_status gf_delete_range(gf_store *store, gf_table *table, gf_slice start, gf_slice end,
                          gf_error *err);

/** Delete a build's rows, its own last. */
gf_status gf_drop_build(gf_store *store, gf_slice build_key, gf_error *err);

/**
 * Once per opening, before the first write: finish deletions and drop builds that were cut short.
 * With the write lock held.
 */
gf_status gf_tidy(gf_store *store, gf_error *err);

/** Take the write lock, and tidy. Unlock with gf_unlock, also after a failure. */
gf_status gf_lock(gf_store *store, gf_error *err);
void gf_unlock(gf_store *store);

/** Finish deleting a collection that is marked. With the write lock held. */
gf_status gf_finish_deletion(gf_store *store, gf_slice collection_key, gf_error *err);

/** Whether a build whose key starts so is being made by this process. Lock held. */
bool gf_is_active(const gf_store *store, gf_slice key_start);

/* ---- document_row.c: documents as columns -----------------------------------------------------
 */

/** Columns of a document, borrowed from it and from names. */
typedef struct gf_document_cells {
    gf_column *columns; /* n, in stored order */
    size_t n;
    gf_buffer names; /* of fields that had to be renamed */
    char seq[20];
} gf_document_cells;

/** Write a document's columns but seq. The cells are reused; release them at the end. */
gf_status gf_document_to_cells(const gf_document *document, gf_document_cells *cells,
                               gf_error *err);
void gf_document_cells_release(gf_document_cells *cells);

/** A document from its row; fields is room for row->n_cells. Everything is borrowed from the row.
 */
void gf_document_from_row(const gf_row *row, gf_slice id, gf_field *fields, gf_document *document,
                          uint64_t *seq);

/** Whether the row holds just these columns, seq aside. */
bool gf_document_same(const gf_row *row, const gf_document_cells *cells);

#endif
