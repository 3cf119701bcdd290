/**
 * Checks of LevelDB's files byte by byte, beyond what LevelDB itself notices.
 *
 * LevelDB takes a log or MANIFEST whose last records are cut off for one that ended there; so a
 * damaged length near its end would silently drop what follows. And it never looks at the padding
 * of a table's footer, nor reports a damaged filter. These checks account for every byte:
 *
 *     CURRENT    names a MANIFEST that is there
 *     MANIFEST,  every record's checksum; an incomplete record is accepted only at the very end,
 * and
 *     *.log      only where no shorter length makes its checksum right (then the length is damaged)
 *     *.ldb      footer, padding, and the checksum of every block; the blocks tile the file
 *
 * Formats: LevelDB's doc/log_format.md and doc/table_format.md.
 */
#ifndef GF_STORAGE_LEVELDB_CHECK_H
#define GF_STORAGE_LEVELDB_CHECK_H

#include "base/cancel.h"
#include "base/slice.h"

/** Told of each damage: the file's name and what is wrong with it. */
typedef void gf_damage_report(void *context, const char *file, const char *what);

/**
 * Check CURRENT, the MANIFEST and the logs in a folder; cheap, done before every opening.
 * @return GF_OK; GF_ECORRUPT with the first damage; GF_EIO, GF_ENOMEM
 */
gf_status gf_leveldb_check_logs(const char *folder, gf_error *err);

/**
 * Check all files and report every damage.
 * @return GF_OK, whatever was reported; GF_EIO, GF_ENOMEM, GF_ECANCELLED where it could not go on
 */
gf_status gf_leveldb_check_files(const char *folder, gf_damage_report *report, void *context,
                                 const gf_cancel *cancel, gf_error *err);

/** One file's content, as a log (or MANIFEST) or as a table: GF_OK or GF_ECORRUPT; GF_ENOMEM. */
gf_status gf_leveldb_check_log(gf_slice content, gf_error *err);
gf_status gf_leveldb_check_table(gf_slice content, gf_error *err);

#endif
