/** The store as the rooms of the engine see it. */
#ifndef GF_ENGINE_STORE_STORE_INTERNAL_H
#define GF_ENGINE_STORE_STORE_INTERNAL_H

#include "grouperfish/collections.h"
#include "grouperfish/store.h"
#include "storage/folder/folder.h"
#include "storage/tables.h"

#include <pthread.h>

struct gf_store {
    gf_folder *folder; /* NULL: the store is in HBase */
    gf_database *db;
    gf_tables tables;
    uint64_t buffers; /* bytes that the database uses at most, beside tables' indexes */

    /*
     * Held while rows are read in order to be written: by puts, settings, the first and last steps
     * of a rebuild and of a deletion. Readers never take it.
     */
    pthread_mutex_t write_lock;
    bool tidy;                  /* no interrupted work is left to clear away; under the lock */
    struct gf_activity *active; /* a list (engine/store/lock.h); under the lock */

    pthread_mutex_t user_lock;         /* of the list, and while the table of tables changes */
    struct gf_user_table *user_tables; /* the users' tables that are open */
    pthread_mutex_t drop_lock;         /* while dropped tables are deleted */

    /* Parts that later rooms of the engine own; engine/upkeep/store.c makes and frees them. */
    struct gf_put_line *put_line;           /* puts on their way to disk (engine/put/group.h) */
    struct gf_cluster_cache *cluster_cache; /* lists read last (engine/view/cluster_cache.h) */
    /* Deletes what drops of users' tables have left (engine/user_tables); called by gf_store_lock. */
    gf_status (*reclaim_tables)(gf_store *store, const gf_cancel *cancel, gf_error *err);
    /* Makes edits of a number above `since` in the served build, which was begun before them
       (engine/edit/edit.c); called under the write lock, when that build has been published. */
    gf_status (*catch_up_edits)(gf_store *store, gf_place where, gf_slice configuration,
                                uint64_t since, gf_error *err);
};

/** Open the folder and the tables, without the parts of later rooms. As gf_store_open. */
gf_status gf_store_create(const char *path, const gf_store_options *options, gf_store **store,
                          gf_error *err);

/** GF_EINVAL in words where the store has no folder, but is in HBase. */
gf_status gf_store_check_folder(const gf_store *store, gf_error *err);

/** Close what gf_store_create opened. */
void gf_store_free(gf_store *store);

#endif
