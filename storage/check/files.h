/**
 * Checks of LevelDB's files byte by byte, beyond what LevelDB itself notices.
 *
 * LevelDB takes a log or MANIFEST whose last records are cut off for one that ended there; so a
 * damaged length near its end would silently drop what follows, and of a MANIFEST that lost its end
 * the tables that it does not name any more would be deleted. And LevelDB never looks at the
 * filling of a table's footer, nor reports a damaged filter. These checks account for every byte:
 *
 *     CURRENT             names a MANIFEST that is there
 *     MANIFEST-*, *.log   every record's checksum and place; an incomplete record only at the very
 *                         end, where no shorter length makes its checksum right (then the length is
 *                         damaged); zeros that a crash left at the end are an end (gf_check_log_end)
 *     the MANIFEST        decodes; the log it begins with is there, and each of its tables with the
 *                         stated size and a sound footer (which has no checksum: LevelDB would
 *                         allocate what a damaged one says)
 *     *.ldb               footer, filling, every block's checksum; the blocks tile the file
 *
 * Files that the MANIFEST does not want (tables half written, logs older than the one it names) are
 * left over, and LevelDB removes them: they are not looked at.
 *
 * Formats: LevelDB's doc/log_format.md and doc/table_format.md, and its db/version_edit.cc.
 */
#ifndef GF_STORAGE_CHECK_FILES_H
#define GF_STORAGE_CHECK_FILES_H

#include "grouperfish/cancel.h"
#include "grouperfish/slice.h"

#include <stdint.h>

/** Gets each damage: the file's name and what is wrong with it. */
typedef void gf_damage_report(void *context, const char *file, const char *what);

/**
 * Check CURRENT, the MANIFEST and the logs in a folder; cheap, done before every opening.
 *
 * @param[out] clean  true after a clean close: the log is empty, and the MANIFEST is short, whole,
 *                    and deletes nothing; both can then be appended to. May be NULL
 * @return GF_OK; GF_ECORRUPT with the first damage; GF_EIO, GF_ENOMEM
 */
gf_status gf_check_logs(const char *folder, bool *clean, gf_error *err);

/**
 * Check all files and report every damage.
 * @return GF_OK, whatever was reported; GF_EIO, GF_ENOMEM, GF_ECANCELLED where it could not go on
 */
gf_status gf_check_files(const char *folder, gf_damage_report *report, void *context,
                         const gf_cancel *cancel, gf_error *err);

/** True for names that LevelDB gives its files. */
bool gf_check_is_leveldb_file(const char *name);

typedef enum gf_check_kind {
    GF_CHECK_TABLE,
    GF_CHECK_LOG,
    GF_CHECK_MANIFEST,
    GF_CHECK_OTHER
} gf_check_kind;

/** The kind of a file by its name; *number is that of the first three. */
gf_check_kind gf_check_kind_of(const char *name, uint64_t *number);

/* ---- contents; each returns GF_OK, GF_ECORRUPT or GF_ENOMEM ---------------------------------- */

/** A whole record of a log, borrowed for the call. */
typedef gf_status gf_check_log_record(void *context, gf_slice record, gf_error *err);

/** Check a log (or MANIFEST); `each` (may be NULL) gets its records. */
gf_status gf_check_log(gf_slice content, gf_check_log_record *each, void *context, gf_error *err);

/**
 * The records of a log that are whole, whatever lies between them.
 * @param[out] damage  the first, as gf_check_log has it; status GF_OK: there is none
 */
gf_status gf_check_log_sound(gf_slice content, gf_check_log_record *each, void *context,
                             gf_error *damage, gf_error *err);

/**
 * The end of a log's records where zeros follow: behind the last whole one, if all that comes after
 * it is zeros, or begins in the middle of a record with a disk's block and goes on as zeros to the
 * end. LevelDB would take such a record for damage. In all other cases the content's length.
 */
size_t gf_check_log_end(gf_slice content);

enum { GF_CHECK_LEAST_ZEROS = 8 }; /* a block of fewer at the very end is damage */

/** True where a checked log ends with a whole record, so that more can be appended. */
bool gf_check_log_is_whole(gf_slice content);

/** Check a table file; its footer alone, of a file of that size. */
gf_status gf_check_table(gf_slice content, gf_error *err);
gf_status gf_check_footer(gf_slice footer, uint64_t file_size, gf_error *err);

enum { GF_CHECK_FOOTER = 48 }; /* bytes */

/** A file that a MANIFEST wants to be there; size 0 for a log, whose size it does not state. */
typedef gf_status gf_check_manifest_file(void *context, uint64_t number, uint64_t size,
                                         gf_error *err);

/**
 * Check a MANIFEST; `each` gets the files that it wants: its log (size 0), then its tables.
 * *deletes (may be NULL) becomes true where it also names deleted files.
 */
gf_status gf_check_manifest(gf_slice content, gf_check_manifest_file *each, void *context,
                            bool *deletes, gf_error *err);

/** The sequence number that a MANIFEST says was the last; GF_ECORRUPT, GF_ENOMEM. */
gf_status gf_check_manifest_sequence(gf_slice content, uint64_t *sequence, gf_error *err);

/** A table that a MANIFEST wants to be there, with its lowest key; borrowed for the call. */
typedef gf_status gf_check_manifest_table(void *context, uint64_t number, gf_slice lowest,
                                          gf_error *err);

/** List the tables that a MANIFEST wants. */
gf_status gf_check_list_tables(gf_slice content, gf_check_manifest_table *each, void *context,
                               gf_error *err);

#endif
