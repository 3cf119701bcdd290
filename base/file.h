/**
 * Files as wholes. Paths are NUL-terminated.
 */
#ifndef GF_BASE_FILE_H
#define GF_BASE_FILE_H

#include "grouperfish/buffer.h"

/** Append the file's content. GF_ENOTFOUND where there is none; GF_ELIMIT past out->max; GF_EIO. */
gf_status gf_file_read(const char *path, gf_buffer *out, gf_error *err);

/**
 * Append the content of a file that keeps a secret: nobody but its owner may look at it.
 * @return GF_OK; GF_EINVAL (others may, or it is no file); GF_ENOTFOUND; GF_ELIMIT past out->max;
 *         GF_EIO, GF_ENOMEM
 */
gf_status gf_file_read_secret(const char *path, gf_buffer *out, gf_error *err);

/**
 * Write a file so that, after a crash or power loss, either the old content or the new is there:
 * a neighbour is written (0600), synced, renamed over path, and the folder is synced.
 */
gf_status gf_file_write(const char *path, gf_slice content, gf_error *err);

/**
 * Make a file anew, for its owner alone (0600). Whatever has its name is removed, not written to: it
 * may be a link to somebody's file. @return a descriptor, or -1 with errno
 */
int gf_file_make_own(const char *path);

/**
 * Open a file of the program's own to be written; with O_CREAT it is made for its owner alone. A
 * link, also a further name of a file, is refused. @return a descriptor, or -1 with errno (ELOOP)
 */
int gf_file_open_own(const char *path, int flags);

/** The failure of gf_file_open_own in words, by errno. */
gf_status gf_file_fail_own(const char *path, gf_error *err);

/**
 * Make the folder, for its owner alone (0700), and those above it by the umask, where they are
 * missing.
 */
gf_status gf_file_make_folders(const char *path, gf_error *err);

/** Sync a folder's list of files. */
gf_status gf_file_sync_folder(const char *path, gf_error *err);

/** A path that cannot be looked at counts as there, unless it is missing: opening it tells why. */
bool gf_file_exists(const char *path);
bool gf_file_is_folder(const char *path);

#endif
