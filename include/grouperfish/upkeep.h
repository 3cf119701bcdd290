/** Upkeep of a store: purging deleted texts, and the health of its collections. */
#ifndef GF_GROUPERFISH_UPKEEP_H
#define GF_GROUPERFISH_UPKEEP_H

#include "grouperfish/export.h"
#include "grouperfish/rebuild.h"

GF_PUBLIC_BEGIN

typedef struct gf_purged {
    uint64_t rebuilt; /* configurations */
    uint64_t dropped; /* builds */
} gf_purged;

/**
 * Remove from the store all that came from documents of a collection which were deleted or
 * replaced: a build that had one of them has words of its text in its terms and labels, and its id
 * in lists. A configuration whose served build had one is rebuilt, every other such build is
 * dropped, and gf_purge_store is called. It may be repeated; without such builds only
 * gf_purge_store is called.
 *
 * @return as gf_rebuild and gf_purge_store; steps before a failure are not undone
 */
gf_status gf_purge_collection(gf_store *store, gf_place where, const gf_rebuild_options *options,
                              gf_purged *purged, gf_error *err);

/**
 * Write the store's files anew, without deleted or replaced data. Others may read and write
 * meanwhile; views that are open are waited for, twenty seconds at most. The names of rows (ids,
 * labels) that lie at the ends of files are in LevelDB's MANIFEST until the store is opened again.
 * @param cancel  may be NULL
 * @return GF_EBUSY if a view is still open: its data may be left until the next purge; GF_ECANCELLED: likewise
 * Cost: time and disk space as for writing the whole store.
 */
gf_status gf_purge_store(gf_store *store, const gf_cancel *cancel, gf_error *err);

/** The state of a store's collections. */
typedef struct gf_store_health {
    unsigned format;   /* of the store (docs/storage.md) */
    uint64_t running;  /* builds under way in this process */
    uint64_t changed;  /* collections whose documents differ from those of a served build */
    uint64_t failed;   /* configurations whose last rebuild failed */
    int64_t failed_at; /* the latest of those; 0: none */
    char failed_namespace[GF_MAX_NAME + 1], failed_collection[GF_MAX_NAME + 1],
        failed_configuration[GF_MAX_NAME + 1], failed_why[GF_ERROR_MESSAGE];
    uint64_t pending; /* documents put or deleted since the oldest of their collection's builds */
    int64_t built;    /* time of the latest of the served builds; 0: none */
} gf_store_health;

/** Called for each collection that has changed since it was built. */
typedef gf_status gf_visit_changed(void *context, gf_place where, gf_error *err);

/**
 * Examine all collections of all namespaces.
 * @param visit  may be NULL
 * Cost: a look-up for each configuration that is served.
 */
gf_status gf_health_read(gf_store *store, gf_visit_changed *visit, void *context,
                         gf_store_health *health, gf_error *err);

GF_PUBLIC_END

#endif
