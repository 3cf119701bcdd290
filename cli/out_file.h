/**
 * Output file, as of -o: written under another name and renamed once all of it is on disk, so that
 * it is either whole or not there.
 */
#ifndef GF_CLI_OUT_FILE_H
#define GF_CLI_OUT_FILE_H

#include "grouperfish/status.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct gf_out_file {
    const char *path;
    char *part_path;
    FILE *file;
} gf_out_file;

/** @return GF_EINVAL where the file exists and is not to be replaced. */
gf_status gf_out_file_open(gf_out_file *f, const char *path, bool replace, gf_error *err);

/** End with the status of the writing: the file stays only for GF_OK, and once it is on disk. */
gf_status gf_out_file_close(gf_out_file *f, gf_status status, gf_error *err);

#endif
