/** Stores: opened, closed, checked, copied, repaired. */
#ifndef GF_GROUPERFISH_STORE_H
#define GF_GROUPERFISH_STORE_H

#include "grouperfish/archive.h"
#include "grouperfish/cancel.h"
#include "grouperfish/export.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"
#include "grouperfish/table.h"

GF_PUBLIC_BEGIN

typedef struct gf_store gf_store;

typedef struct gf_verified gf_verified;
typedef struct gf_repaired gf_repaired;

/** A fault that a check found: where it is, and what. */
typedef gf_status gf_visit_fault(void *context, const char *where, const char *what, gf_error *err);

/** A check of tables that are not the engine's own: adds to *verified what it found. */
typedef gf_status gf_verify_more(gf_store *store, const gf_cancel *cancel, gf_visit_fault *visit,
                                 void *context, gf_verified *verified, gf_error *err);

/** A repair of tables that are not the engine's own: adds to *repaired, tells what it does. */
typedef gf_status gf_repair_more(gf_store *store, const gf_cancel *cancel, gf_visit_fault *visit,
                                 void *context, gf_repaired *repaired, gf_error *err);

typedef struct gf_store_options {
    unsigned version;        /* GF_STORE_OPTIONS_VERSION: set by GF_STORE_OPTIONS() */
    bool create;             /* make the store where there is none */
    double wait_seconds;     /* how long to wait while another process holds it */
    const char *purpose;     /* shown to those who wait, such as "rebuild"; may be NULL */
    const gf_cancel *cancel; /* ends the waiting; may be NULL */
    bool small_buffers; /* 12 MB of buffers in place of 192: for a rebuild with little memory */
    gf_verify_more
        *more; /* of gf_verify, gf_backup_restore, gf_repair: what else to check; or NULL */
    gf_repair_more *more_repair; /* of gf_repair: what else to set right; may be NULL */
    bool drop_unreadable;        /* of gf_repair: tables that cannot be read are left out */
    bool read_only;              /* change nothing in the folder: writes are refused (GF_EINVAL) */
    bool
        reads; /* nothing will be written: read_only where the folder, or a full disk, takes nothing */
    bool in_memory; /* a new store without a folder: no other option but small_buffers counts */
    gf_archive_give *archive; /* of one in_memory: it begins with what this archive has; or NULL */
    void *archive_context;    /* of archive */
} gf_store_options;

#define GF_STORE_OPTIONS_VERSION 1
/** Options with these members, as in GF_STORE_OPTIONS(.member = value), and all others 0. */
#define GF_STORE_OPTIONS(...) ((gf_store_options){.version = GF_STORE_OPTIONS_VERSION, __VA_ARGS__})

/**
 * Open the store in a folder. One process holds a store at a time, or several that are read_only.
 * Those keep in memory what the last writer left in its log, and its bytes at most.
 *
 * With in_memory there is no folder (path may be NULL): the store is a new one, its memory is that
 * of the files which it would have, and it is gone when it is closed; nothing is synced. Rebuilds
 * that keep words or rows in files have them in TMPDIR (/tmp), without a name. Such a store can be
 * archived (gf_backup_archive), and begin as such an archive.
 * @return GF_OK; GF_ENOTFOUND (there is none), GF_EBUSY (held; the message says by whom),
 *         GF_ECORRUPT (damaged), GF_EINVAL (not a store, or of a newer format), GF_EIO, GF_ENOMEM
 */
gf_status gf_store_open(const char *path, const gf_store_options *options, gf_store **store,
                        gf_error *err);
void gf_store_close(gf_store *store);

/**
 * True if a write failed (a full disk): no more writes are possible until the store is opened
 * again, while it can still be read.
 */
bool gf_store_has_failed(gf_store *store);

/** Check that the disk has room for gf_store_reopen; GF_EIO with the message of the system. */
gf_status gf_store_check_room(const gf_store *store, gf_error *err);

/**
 * Open a store again after a write failed; it stays held. Nothing of it may be open (views, puts,
 * tables), and nobody may use it meanwhile.
 * @return as gf_store_open. A failure leaves the store closed: it may only be opened again, or be
 *         done with (gf_store_close). So see whether there is room before.
 */
gf_status gf_store_reopen(gf_store *store, gf_error *err);

/** True where writes are refused: it was opened as read_only, or is because it only `reads`. */
bool gf_store_is_read_only(const gf_store *store);

/** True if gf_store_open made the store just now. */
bool gf_store_is_new(const gf_store *store);

/** The database of wide-column tables (include/grouperfish/table.h), for further tables, too. */
gf_database *gf_store_database(gf_store *store);

typedef struct gf_store_status {
    uint64_t collections, documents, builds; /* builds: finished ones, of all configurations */
    uint64_t unfinished;                     /* builds and deletions that were cut short */
    uint64_t bytes;                          /* of the store's files */
} gf_store_status;

gf_status gf_store_read_status(gf_store *store, gf_store_status *status, gf_error *err);

struct gf_verified {
    uint64_t collections, documents, builds, memberships;
    uint64_t tables, rows; /* of users; a row counts in each of its families */
    uint64_t faults;
};

/**
 * Check a store that nobody holds, and change nothing (as read_only): every byte of its files, then that the tables agree with each
 * other (sizes with documents, clusters with memberships, pointers with builds, models with both).
 * @return GF_OK, whatever was found; else why it could not be checked to the end
 */
gf_status gf_verify(const char *path, const gf_store_options *options, gf_visit_fault *visit,
                    void *context, gf_verified *verified, gf_error *err);

/**
 * Copy the store, as it is now, into a folder that is not there yet; the copy is a store. Others
 * may read and write meanwhile. *status tells what the copy has.
 * @return GF_OK; GF_EEXISTS; GF_ECORRUPT (the store is damaged), GF_EIO, GF_ENOMEM, GF_ECANCELLED:
 *         there is then no copy
 */
gf_status gf_backup_create(gf_store *store, const char *path, const gf_cancel *cancel,
                           gf_store_status *status, gf_error *err);

/**
 * Check a backup that nobody holds, as gf_verify does, and where it is sound copy it likewise.
 * @return as gf_backup_create; GF_ECORRUPT where the backup has faults, of which `visit` is told
 */
gf_status gf_backup_restore(const char *backup, const char *path, const gf_store_options *options,
                            gf_visit_fault *visit, void *context, gf_store_status *status,
                            gf_error *err);

/**
 * Remove a backup, which nobody may hold, and of its folder nothing but a store's files.
 * @return GF_OK; GF_EINVAL (no store), GF_EIO, GF_ENOMEM
 */
gf_status gf_backup_remove(const char *path, gf_error *err);

/**
 * Hand the store, as it is now, to `take` as an archive: one stream of bytes, for a file or a
 * connection. Others may read and write meanwhile.
 * @return GF_OK; what take gives; GF_ECORRUPT, GF_EIO, GF_ENOMEM, GF_ECANCELLED
 */
gf_status gf_backup_archive(gf_store *store, gf_archive_take *take, void *taker,
                            const gf_cancel *cancel, gf_error *err);

/**
 * Make a store of an archive, in a folder that is not there yet; *status tells what it has.
 * @return as gf_backup_create; what give gives; GF_ECORRUPT (damaged or cut short), GF_EINVAL (no
 *         archive of a store)
 */
gf_status gf_backup_unpack(const char *path, gf_archive_give *give, void *context,
                           gf_store_status *status, gf_error *err);

/** Told of a copy's progress: entries of a table that were copied, and how many there are, or 0. */
typedef void gf_copy_progress(void *context, gf_slice table, uint64_t done, uint64_t total);

typedef struct gf_copy_options {
    unsigned version;           /* GF_COPY_OPTIONS_VERSION: set by GF_COPY_OPTIONS() */
    double wait_seconds;        /* how long to wait while another process holds the source */
    const gf_cancel *cancel;    /* may be NULL */
    gf_copy_progress *progress; /* may be NULL */
    void *context;              /* of progress */
    /* Opens the tables that applications have in an HBase, which does not list them: those that can be
     * copied; of what a copy that was cut short has left, all. NULL: a copy from there leaves them
     * behind, and one of them to there, cut short, has to be dropped by hand. */
    gf_status (*open_more)(gf_store *store, bool cut_short, gf_error *err);
} gf_copy_options;

#define GF_COPY_OPTIONS_VERSION 1
/** Options with these members, as in GF_COPY_OPTIONS(.member = value), and all others 0. */
#define GF_COPY_OPTIONS(...) ((gf_copy_options){.version = GF_COPY_OPTIONS_VERSION, __VA_ARGS__})

typedef struct gf_copied {
    uint64_t collections, documents, builds; /* that the copy has */
    uint64_t tables;                         /* of users */
    uint64_t entries; /* of all tables: rows of packed families, cells of wide ones */
    uint64_t bytes;   /* of their keys and values */
} gf_copied;

/**
 * Copy a store through its tables: from a folder or an HBase (hbase://HOST:PORT/NAMESPACE) into a
 * folder that is not there yet, or a namespace of HBase without tables. Where the source has one
 * state of all its tables it is that which is copied; where it has none, nobody may change its
 * collections meanwhile. In a folder the copy appears whole or not at all. In HBase one that was cut
 * short is marked, and is opened by nobody; copying there again drops it and begins anew.
 *
 * @return GF_OK; GF_EEXISTS (something is there), GF_EINVAL (the other cannot keep what the source
 *         has: nothing was written; or both are one store), GF_EBUSY (the source is held, or its
 *         collections were changed), GF_ENOTFOUND, GF_ECANCELLED, GF_ECORRUPT, GF_EIO, GF_ENOMEM
 * Threads: nobody else may use either store of this process.
 */
gf_status gf_store_copy(const char *from, const char *to, const gf_copy_options *options,
                        gf_copied *copied, gf_error *err);

struct gf_repaired {
    uint64_t documents;   /* that the new store has */
    uint64_t damages;     /* of the old store's files */
    uint64_t rows;        /* that were there and could not be read */
    uint64_t collections; /* whose numbers had to be set right */
    uint64_t builds;      /* that were not whole, and were dropped */
    uint64_t pointers;    /* of configurations, that led to no whole build */
    uint64_t remade;      /* tables that were made anew from what they derive from */
    uint64_t tables;      /* that could not be read, and were left out */
};

/**
 * Make a new store of all that can be read of a damaged one, which nobody may hold and which stays
 * as it is. `visit` is told of each damage, of rows that could not be read, and of all that was
 * dropped or made anew. The new store is verified before it gets its name.
 *
 * A table whose name or schema is lost cannot be read, though its rows are there: it is left out
 * where options->drop_unreadable says so, and else nothing is made (GF_ECORRUPT).
 * @return GF_OK, however much was lost: *repaired says; GF_EEXISTS, GF_ENOTFOUND, GF_EBUSY, GF_EIO
 *         (also: a file that cannot be read, which is no damage), GF_ENOMEM, GF_ECORRUPT. Where it
 *         fails there is nothing at `to`.
 */
gf_status gf_repair(const char *path, const char *to, const gf_store_options *options,
                    gf_visit_fault *visit, void *context, gf_repaired *repaired, gf_error *err);

GF_PUBLIC_END

#endif
