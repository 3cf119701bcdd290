/** The store as the rooms of the engine see it. */
#ifndef GF_ENGINE_STORE_STORE_INTERNAL_H
#define GF_ENGINE_STORE_STORE_INTERNAL_H

#include "grouperfish/collections.h"
#include "grouperfish/store.h"
#include "storage/folder/folder.h"
#include "storage/tables.h"

#include <pthread.h>
#include <stdatomic.h>

struct gf_store {
    gf_folder *folder; /* NULL: the store is in HBase */
    gf_database *db;
    gf_tables tables;
    uint64_t buffers; /* bytes that the database uses at most, beside tables' indexes */

    pthread_mutex_t tidy_lock; /* while what was cut short is cleared away (engine/store/hold.h) */
    atomic_uint_least64_t left_untidy; /* so many times, the opening being the first */
    atomic_uint_least64_t tidied;      /* up to that one */
    atomic_uint_least64_t look_again;  /* in a shared store, by gf_clock_seconds, in milliseconds */

    /* Leases (engine/store/lease.h): of this process, and how those of others were seen. */
    double lease_seconds; /* of this process' */
    double patience; /* seconds after which one of another process, seen unchanged, has ended */
    double grace;    /* seconds that a mark stays, where there are no snapshots: hold.c */
    uint64_t token;  /* tells this store from all others that are open anywhere */
    pthread_mutex_t lease_lock; /* of the fields below */
    pthread_cond_t lease_changed;
    struct gf_lease *leases;
    uint64_t lease_number;
    struct gf_seen_lease *seen; /* n_seen of seen_capacity */
    size_t n_seen, seen_capacity;
    pthread_t renewer; /* where it `renews` */
    bool renews, stops_renewing;

    pthread_mutex_t user_lock;         /* of the list, and while the table of tables changes */
    struct gf_user_table *user_tables; /* the users' tables that are open */
    pthread_mutex_t drop_lock;         /* while dropped tables are deleted */

    /* Parts that later rooms of the engine own; engine/upkeep/store.c makes and frees them. */
    struct gf_put_line *put_line;           /* puts on their way to disk (engine/put/group.h) */
    struct gf_cluster_cache *cluster_cache; /* lists read last (engine/view/cluster_cache.h) */
    struct gf_shelf *shelf; /* parts of views that are not in use (engine/view/shelf.h) */
    /* Deletes what drops of users' tables have left (engine/user_tables); called by gf_store_tidy. */
    gf_status (*reclaim_tables)(gf_store *store, const gf_cancel *cancel, gf_error *err);
    /* Makes edits of a number above `since` in the served build, which was begun before them
       (engine/edit/edit.c); called while the collection is held, when that build has been published. */
    gf_status (*catch_up_edits)(gf_store *store, gf_place where, gf_slice configuration,
                                uint64_t since, gf_error *err);
};

/** Open the folder and the tables, without the parts of later rooms. As gf_store_open. */
gf_status gf_store_create(const char *path, const gf_store_options *options, gf_store **store,
                          gf_error *err);

/** A folder for files that nobody finds again: the store's, or the one for temporary files. */
const char *gf_store_scratch(const gf_store *store);

/** GF_EINVAL in words where the store has no folder, but is in HBase. */
gf_status gf_store_check_folder(const gf_store *store, gf_error *err);

/** Close what gf_store_create opened. */
void gf_store_free(gf_store *store);

#endif
