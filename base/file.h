/**
 * Files as wholes. Paths are NUL-terminated.
 */
#ifndef GF_BASE_FILE_H
#define GF_BASE_FILE_H

#include "grouperfish/buffer.h"

/** Append the file's content. GF_ENOTFOUND where there is none; GF_ELIMIT past out->max; GF_EIO. */
gf_status gf_file_read(const char *path, gf_buffer *out, gf_error *err);

/**
 * Write a file so that, after a crash or power loss, either the old content or the new is there:
 * a neighbour is written, synced, renamed over path, and the folder is synced.
 */
gf_status gf_file_write(const char *path, gf_slice content, gf_error *err);

/** Make the folder and those above it, where they are missing. */
gf_status gf_file_make_folders(const char *path, gf_error *err);

/** Sync a folder's list of files. */
gf_status gf_file_sync_folder(const char *path, gf_error *err);

bool gf_file_exists(const char *path);
bool gf_file_is_folder(const char *path);

#endif
