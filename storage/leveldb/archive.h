/**
 * An archive: all entries of a database in one stream of bytes, as it is in one state.
 *
 *     "grouperfish archive 1\n"
 *     blocks    u32 length of what follows but the CRC, u32 its CRC-32C; Snappy of entries:
 *               varint length and key, varint length and value, one behind the other
 *     the end   u32 0, u32 CRC-32C of the eight bytes behind, u64 number of entries
 *
 * Integers are big-endian. A block holds about a megabyte of entries. A stream that was cut, or of
 * which a bit changed, is damaged: it has no end, or a CRC differs.
 */
#ifndef GF_STORAGE_LEVELDB_ARCHIVE_H
#define GF_STORAGE_LEVELDB_ARCHIVE_H

#include "grouperfish/archive.h"
#include "grouperfish/cancel.h"
#include "storage/backend.h"

/**
 * Hand the database's entries to `take`, block after block; others may use it meanwhile.
 * @return GF_OK; what take gives; GF_ECORRUPT, GF_EIO, GF_ENOMEM, GF_ECANCELLED
 */
gf_status gf_leveldb_archive_write(gf_backend *from, gf_archive_take *take, void *taker,
                                   const gf_cancel *cancel, gf_error *err);

/** Reader of an archive, which is given piece by piece. */
typedef struct gf_archive_reader gf_archive_reader;

/** Entries go into `to`, a new database, synced. */
gf_status gf_archive_reader_create(gf_backend *to, gf_archive_reader **reader, gf_error *err);
void gf_archive_reader_free(gf_archive_reader *reader);

/** Take the next bytes, a gf_archive_take. GF_ECORRUPT, GF_EIO, GF_ENOMEM */
gf_status gf_archive_reader_take(void *reader, gf_slice bytes, gf_error *err);

/** The stream has ended. GF_ECORRUPT where it was cut; *entries: how many there were. */
gf_status gf_archive_reader_end(gf_archive_reader *reader, uint64_t *entries, gf_error *err);

#endif
