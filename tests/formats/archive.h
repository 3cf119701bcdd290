/**
 * Builds archives in memory, by libarchive's writer.
 */
#ifndef GF_TESTS_FORMATS_ARCHIVE_H
#define GF_TESTS_FORMATS_ARCHIVE_H

#include "grouperfish/buffer.h"

typedef enum member_type { A_FILE, A_FOLDER, A_SYMLINK, A_HARDLINK } member_type;

typedef struct archive_member {
    const char *name;
    gf_slice bytes; /* of a link: what it leads to */
    member_type type;
} archive_member;

/**
 * Append an archive to out.
 * @param format  "pax", "gnutar", "zip" or "raw" (one member, its bytes alone)
 * @param filter  NULL, or "gzip", "zstd", "xz", "bzip2", "lz4"
 */
void make_archive(const char *format, const char *filter, const archive_member *members, size_t n,
                  gf_buffer *out);

/** Append bytes to out, compressed. */
void compress_bytes(const char *filter, gf_slice bytes, gf_buffer *out);

#endif
