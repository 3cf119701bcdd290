/**
 * Copies of a store: what a command needs that makes a backup of a server's store.
 */
#ifndef GF_API_STORE_COPIES_H
#define GF_API_STORE_COPIES_H

#include "api/call.h"

/** It writes the store as an archive beside its row (gf_backup_archive). */
extern const gf_operation gf_archive_operation;

/**
 * A new backup. Its path is argument "to"; with argument "keep" a folder below that, named by the
 * time ("2026-11-20T031500Z"). Once it is made, the oldest of such folders are removed until `keep`
 * are left.
 */
typedef struct gf_backup_place {
    gf_buffer path;
    gf_buffer all; /* the folder of all backups; empty without "keep" */
    uint64_t keep;
} gf_backup_place;

/** @return GF_OK; GF_EINVAL, GF_EIO (the folder of all), GF_ENOMEM */
gf_status gf_backup_place_choose(const gf_call *call, gf_backup_place *place, gf_error *err);
void gf_backup_place_release(gf_backup_place *place);

/** The backup is made: remove what is beyond `keep`, and give the row about it. */
gf_status gf_backup_place_end(gf_call *call, gf_backup_place *place, const char *store,
                              const gf_store_status *status, gf_error *err);

#endif
