/**
 * A store's folder: who holds it, which format it has, and the database in it.
 *
 *     STORE/grouperfish.store   the marker: format version and a checksum, text
 *     STORE/lock                held by one process that writes, which it names, or by any number
 *                               that only read
 *     STORE/socket              whoever holds it may answer there (server/socket/socket.h)
 *     STORE/db/                 LevelDB's files
 *
 * A store is made once: the database is built beside its place (db.new), moved there, and then the
 * marker is written. Where the marker is, a database must be, and LevelDB is never asked to create:
 * a lost CURRENT file would otherwise open as an empty store. A database of ours without a marker
 * is one whose making was cut short: asked to create, it gets its marker and keeps what it has.
 *
 * Threads: a folder is for one at a time; the database is for many (include/grouperfish/table.h).
 */
#ifndef GF_STORAGE_FOLDER_FOLDER_H
#define GF_STORAGE_FOLDER_FOLDER_H

#include "grouperfish/archive.h"
#include "grouperfish/cancel.h"
#include "grouperfish/table.h"
#include "storage/backend.h"
#include "storage/check/files.h"

typedef struct gf_folder gf_folder;

enum { GF_STORE_FORMAT = 1 };

typedef struct gf_hold_options {
    bool create;         /* make the store where there is none */
    double wait_seconds; /* how long to wait while another process holds it */
    const char *purpose; /* shown to those who wait, such as "rebuild" */
    const gf_cancel *cancel;
    bool small_buffers; /* for who has little memory (storage/leveldb/backend.h) */
    bool read_only; /* nothing in the folder is changed: what opening writes is kept in memory */
    bool reads;     /* nothing will be written: read_only where the folder, or a full disk, takes
                           nothing */
    bool in_memory; /* a new store without a folder: `path` counts for nothing */
    gf_archive_give *archive; /* of one in memory: what it is filled with; NULL: nothing */
    void *archive_context;    /* both are used by the first gf_folder_open */
} gf_hold_options;

/**
 * Hold the store in `path`.
 * @return GF_OK; GF_ENOTFOUND (no store there), GF_EBUSY (held; the message names the holder),
 *         GF_ECORRUPT (marker), GF_EINVAL (not a store, or a newer format), GF_EIO, GF_ENOMEM
 */
gf_status gf_folder_hold(const char *path, const gf_hold_options *options, gf_folder **folder,
                         gf_error *err);
void gf_folder_release(gf_folder *folder);

/** Its path, borrowed: for temporary files. Of a store in memory TMPDIR or /tmp. */
const char *gf_folder_path(const gf_folder *folder);

/** True where nothing in the folder is changed: batches and increments are refused. */
bool gf_folder_is_read_only(const gf_folder *folder);

/** True where gf_folder_hold made the store. */
bool gf_folder_is_new(const gf_folder *folder);

/**
 * Check the logs and open the database. Close it before the folder is released. One in memory can be
 * opened once: GF_EIO where it was closed.
 */
gf_status gf_folder_open(gf_folder *folder, gf_database **db, gf_error *err);

/** Check every byte of the marker and of LevelDB's files (the database is not open). */
gf_status gf_folder_check(const gf_folder *folder, gf_damage_report *report, void *context,
                          const gf_cancel *cancel, gf_error *err);

/** Fill a new store's database. */
typedef gf_status gf_folder_fill(void *context, gf_database *db, gf_error *err);

/** The last look at a new store, closed and under the name that it has while it is made. */
typedef gf_status gf_folder_finish(void *context, const char *building, gf_error *err);

/**
 * Make a store in a folder that is not there yet: it appears there whole, or not at all.
 * @param finish  may be NULL; where it fails nothing is left
 * @return GF_OK; GF_EEXISTS where something is there; what `fill` and `finish` give; GF_EIO,
 *         GF_ENOMEM
 */
gf_status gf_folder_make(const char *path, gf_folder_fill *fill, gf_folder_finish *finish,
                         void *context, gf_error *err);

/** The same, filled with what an open database has now; others may use that meanwhile. */
gf_status gf_folder_copy(gf_database *db, const char *path, gf_folder_finish *finish, void *context,
                         const gf_cancel *cancel, gf_error *err);

/** True where tables, logs or a MANIFEST are left of a store, though it may have lost its marker. */
bool gf_folder_has_remains(const char *path);

/** The findings of a rescue. */
typedef struct gf_folder_rescued {
    bool names;                            /* of any table */
    unsigned char used[GF_MAX_TABLES / 8]; /* bit n: the table of that number has entries */
} gf_folder_rescued;

/**
 * Remove a copy, which nobody may hold. What is of a store is removed, and nothing else.
 * @return GF_OK; GF_EINVAL (no store), GF_EIO (a part of it is left, as DIR.old), GF_ENOMEM
 */
gf_status gf_folder_remove(const char *path, gf_error *err);

/** All that an open database has now, as an archive (storage/leveldb/archive.h). */
gf_status gf_folder_archive(gf_database *db, gf_archive_take *take, void *taker,
                            const gf_cancel *cancel, gf_error *err);

/** Put into a new database what an archive has, which `give` hands over. GF_ECORRUPT */
gf_status gf_folder_unpack_into(gf_backend *to, gf_archive_give *give, void *context,
                                gf_error *err);

/** A store filled with an archive, which `give` hands over, as gf_folder_make. GF_ECORRUPT */
gf_status gf_folder_unpack(const char *path, gf_archive_give *give, void *context,
                           gf_folder_finish *finish, void *finisher, gf_error *err);

/**
 * Put into a new database all that can be read of a damaged store's, whose files stay as they are;
 * nobody may hold that store. Each damage is reported, and what is left out.
 * @return GF_OK, however little that was; GF_ENOTFOUND (no database), GF_EIO, GF_ENOMEM, ...: files
 *         that cannot be read for another reason than damage
 */
gf_status gf_folder_rescue(const char *path, gf_database *to, gf_damage_report *report,
                           void *context, const gf_cancel *cancel, gf_folder_rescued *rescued,
                           gf_error *err);

/** Empty LevelDB's journals of its own work (LOG), which name keys; the database may be open. */
gf_status gf_folder_clear_journals(const gf_folder *folder, gf_error *err);

/**
 * Check that the disk has room for all that opening the database may write: its logs as tables, and
 * a little. A file is tried, since a disk's figures leave out quotas.
 * @return GF_OK; GF_EIO with the disk's words
 */
gf_status gf_folder_check_room(const gf_folder *folder, gf_error *err);

/** Bytes that the store's files take. */
gf_status gf_folder_size(const gf_folder *folder, uint64_t *bytes, gf_error *err);

#endif
