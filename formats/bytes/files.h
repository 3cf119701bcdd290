/**
 * An input over paths, for callers who read files in their own process.
 *
 * A path is a file, a folder, or "-" for standard input. A folder is walked with all below it, the
 * names of each folder in byte order; its files are named by their path inside it. Skipped are
 * hidden names (they start with a dot), devices and the like, and links to folders, so that a
 * loop of links does no harm. A link to a file is read where that lies in the folder that was given;
 * one that leads out of it could make documents of any file that the reader may read, and is read
 * only where that is asked for. A path that was given itself is always read, hidden or a link.
 */
#ifndef GF_FORMATS_BYTES_FILES_H
#define GF_FORMATS_BYTES_FILES_H

#include "formats/bytes/input.h"

typedef struct gf_files gf_files;

/**
 * @param paths  n NUL-terminated paths, copied; all are looked up before any is read
 * @return GF_OK; GF_ENOTFOUND naming the first path that is missing; GF_EIO; GF_ENOMEM
 */
gf_status gf_files_open(const char *const *paths, size_t n, gf_files **files, gf_error *err);

/** Read also files that links lead to out of a folder. Before anything is read. */
void gf_files_follow_links(gf_files *files);

/** Take the number of links out of their folders that were passed over so far. */
uint64_t gf_files_take_passed(gf_files *files);

/** The input, for one reader; lasts until close. */
gf_input gf_files_input(gf_files *files);

/**
 * Take the names of folders, of the paths that were given and have been read, in which no file was
 * found; they are written with ", " between them, and borrowed until the input is read on.
 */
gf_slice gf_files_take_empty(gf_files *files);

void gf_files_close(gf_files *files);

#endif
