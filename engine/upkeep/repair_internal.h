/** A repair under way, for its files. */
#ifndef GF_ENGINE_UPKEEP_REPAIR_INTERNAL_H
#define GF_ENGINE_UPKEEP_REPAIR_INTERNAL_H

#include "engine/store/store_internal.h"
#include "grouperfish/collections.h"

enum { GF_REPAIR_CHANGES = 4000 }; /* per batch */

typedef struct gf_repairing {
    const char *from;
    const gf_store_options *options; /* of the caller */
    gf_store *store;                 /* the new one */
    gf_batch *batch;
    gf_visit_fault *visit;
    void *context;
    const gf_cancel *cancel;
    gf_error visit_error; /* of a visitor that failed meanwhile */
    gf_folder_rescued rescued;
    uint64_t unreadable;         /* tables that must go, and may not */
    char what[GF_ERROR_MESSAGE]; /* the first of them */
    gf_repaired found;
} gf_repairing;

/** Tell the caller; "collection "c", configuration "f", build 5" as *where* (parts may be empty). */
gf_status gf_repair_tell(gf_repairing *r, const char *where, const char *what, gf_error *err);
gf_status gf_repair_tell_of(gf_repairing *r, gf_place where, gf_slice configuration, uint64_t build,
                            const char *what, gf_error *err);

/** Write the batch where it has more than so many changes; 0: in any case, as a put may have failed. */
gf_status gf_repair_flush(gf_repairing *r, size_t most, gf_error *err);

/** Put a number into a column of a collection's row. */
void gf_repair_put_number(gf_repairing *r, gf_slice collection_key, gf_slice column, uint64_t v);

/** Each collection's size and seq as its rows have them; rows of none are deleted. */
gf_status gf_repair_collections(gf_repairing *r, gf_error *err);

/** Builds are whole, or dropped; pointers lead to builds; lost documents count as deleted. */
gf_status gf_repair_builds(gf_repairing *r, gf_error *err);

#endif
