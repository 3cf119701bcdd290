/**
 * The operations on the store as a whole, and what they share.
 */
#ifndef GF_API_STORE_INTERNAL_H
#define GF_API_STORE_INTERNAL_H

#include "api/app.h"
#include "api/parameters.h"
#include "api/store/copies.h"

/** Each stands behind its handler. */
extern const gf_operation gf_backup_operation, gf_restore_operation, gf_copy_operation;

/** The value of an argument as a path. */
gf_status gf_copies_path(const gf_call *call, const char *name, gf_buffer *path, gf_error *err);

/** A check of a whole store: of verify, and of a backup before it is restored. */
typedef struct gf_store_checking {
    gf_call *call;
    gf_app_count counts[GF_MOST_APPS];
} gf_store_checking;

/** Tell of a fault, a gf_visit_fault; the context is a gf_store_checking. */
gf_status gf_store_checking_fault(void *context, const char *where, const char *what,
                                  gf_error *err);

/** Check what the applications keep, a gf_verify_more with the same context. */
gf_status gf_store_checking_apps(gf_store *store, const gf_cancel *cancel, gf_visit_fault *visit,
                                 void *context, gf_verified *verified, gf_error *err);

#endif
