/**
 * Shared by the tests of storage/: databases in folders of their own, keys, rows.
 */
#ifndef GF_TESTS_STORAGE_STORE_H
#define GF_TESTS_STORAGE_STORE_H

#include "tests/support/test.h"

#include "base/random.h"
#include "grouperfish/table.h"
#include "storage/backend.h"
#include "storage/folder/folder.h"

/** A new database over LevelDB, in a folder of its own; over the model. */
gf_database *gf_test_leveldb(void);
gf_database *gf_test_model(void);

/** A store that is held and open. */
typedef struct gf_test_store {
    gf_folder *folder;
    gf_database *db;
} gf_test_store;

/** Hold and open the store in `path`, made where there is none; the first failure's status. */
gf_status gf_test_store_open(gf_test_store *s, const char *path, gf_error *err);
void gf_test_store_close(gf_test_store *s);

/** A path in a folder (which may be such a path); ours until 8 further calls. */
const char *gf_test_in(const char *folder, const char *name);

/** Hold a store's folder for "test"; where that fails, with its status, *f is NULL. */
gf_status gf_test_hold(const char *path, bool create, gf_folder **f, gf_error *err);

/** The path of a new store with one row in a table of this schema, closed again. */
extern const gf_schema gf_test_store_schema;
const char *gf_test_store_make(void);

/** Open such a store, and that row is there. */
void gf_test_store_has_its_row(const char *path);

/** Write a file anew. */
void gf_test_write_file(const char *path, const char *text);

/** A row key with one string part, in memory that is ours until 64 further calls by the thread. */
gf_slice gf_test_key(const char *part);
gf_slice gf_test_key2(gf_slice a, gf_slice b);

/** Write a batch of one change; the status of that. */
gf_status gf_test_put(gf_database *db, gf_table *t, gf_slice key, unsigned family,
                      const char *qualifier, gf_slice value, int64_t timestamp, gf_error *err);

/** The value of a cell is `text`; NULL: there is none. */
void gf_test_cell_is(gf_table *t, const gf_snapshot *snapshot, gf_slice key, unsigned family,
                     const char *qualifier, const char *text);

/** Append all cells of all families of a table, in their order, as text. */
void gf_test_dump(gf_table *t, const gf_snapshot *snapshot, gf_buffer *out);

/** Random bytes, of few kinds, so that there is something to compress and to collide. */
void gf_test_random_bytes(gf_random *r, gf_buffer *out, size_t n);

/** A copy of a folder and all below it. */
void gf_test_copy_folder(const char *from, const char *to);

#endif
