/**
 * Reads whole files of an input, one after the other: TEI and PDF files of folders and archives.
 */
#ifndef GF_APPS_PAPERS_FILES_H
#define GF_APPS_PAPERS_FILES_H

#include "formats/bytes/input.h"

typedef struct gf_papers_files gf_papers_files;

typedef struct gf_papers_file {
    gf_slice source; /* as messages give it */
    gf_slice path;   /* inside the folder or archive */
    gf_slice bytes;  /* of one that is too long: a byte more than the most */
    bool too_long;
} gf_papers_file;

/** @param most  bytes of a file that are read */
gf_status gf_papers_files_open(const gf_input *input, size_t most, gf_papers_files **files,
                               gf_error *err);
void gf_papers_files_close(gf_papers_files *files);

/** The next file, borrowed until the next call; GF_ENOTFOUND at the end, and as gf_unpacked_next. */
gf_status gf_papers_files_next(gf_papers_files *files, gf_papers_file *file, gf_error *err);

#endif
