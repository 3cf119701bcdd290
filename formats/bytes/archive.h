/** The functions of libarchive, which is loaded when it is needed: see base/library.h. */
#ifndef GF_FORMATS_BYTES_ARCHIVE_H
#define GF_FORMATS_BYTES_ARCHIVE_H

#include "base/library.h"

#include <archive.h>
#include <archive_entry.h>

/* clang-format off */
#define GF_ARCHIVE_FUNCTIONS(F) \
    F(archive_entry_clear) \
    F(archive_entry_filetype) \
    F(archive_entry_free) \
    F(archive_entry_hardlink) \
    F(archive_entry_new) \
    F(archive_entry_pathname) \
    F(archive_entry_set_filetype) \
    F(archive_entry_set_mtime) \
    F(archive_entry_set_pathname) \
    F(archive_entry_set_perm) \
    F(archive_entry_set_size) \
    F(archive_errno) \
    F(archive_error_string) \
    F(archive_read_append_filter) \
    F(archive_read_data) \
    F(archive_read_free) \
    F(archive_read_new) \
    F(archive_read_next_header) \
    F(archive_read_open) \
    F(archive_read_open1) \
    F(archive_read_set_callback_data) \
    F(archive_read_set_format) \
    F(archive_read_set_read_callback) \
    F(archive_read_set_seek_callback) \
    F(archive_read_support_format_tar) \
    F(archive_read_support_format_zip) \
    F(archive_read_support_format_zip_seekable) \
    F(archive_read_support_format_zip_streamable) \
    F(archive_set_error) \
    F(archive_write_close) \
    F(archive_write_data) \
    F(archive_write_free) \
    F(archive_write_header) \
    F(archive_write_new) \
    F(archive_write_open) \
    F(archive_write_set_bytes_in_last_block) \
    F(archive_write_set_format_zip) \
    F(archive_write_zip_set_compression_store)
/* clang-format on */
GF_LIBRARY_DECLARE(gf_archive, GF_ARCHIVE_FUNCTIONS)

#define archive_entry_clear             gf_archive_functions.archive_entry_clear
#define archive_entry_filetype          gf_archive_functions.archive_entry_filetype
#define archive_entry_free              gf_archive_functions.archive_entry_free
#define archive_entry_hardlink          gf_archive_functions.archive_entry_hardlink
#define archive_entry_new               gf_archive_functions.archive_entry_new
#define archive_entry_pathname          gf_archive_functions.archive_entry_pathname
#define archive_entry_set_filetype      gf_archive_functions.archive_entry_set_filetype
#define archive_entry_set_mtime         gf_archive_functions.archive_entry_set_mtime
#define archive_entry_set_pathname      gf_archive_functions.archive_entry_set_pathname
#define archive_entry_set_perm          gf_archive_functions.archive_entry_set_perm
#define archive_entry_set_size          gf_archive_functions.archive_entry_set_size
#define archive_errno                   gf_archive_functions.archive_errno
#define archive_error_string            gf_archive_functions.archive_error_string
#define archive_read_append_filter      gf_archive_functions.archive_read_append_filter
#define archive_read_data               gf_archive_functions.archive_read_data
#define archive_read_free               gf_archive_functions.archive_read_free
#define archive_read_new                gf_archive_functions.archive_read_new
#define archive_read_next_header        gf_archive_functions.archive_read_next_header
#define archive_read_open               gf_archive_functions.archive_read_open
#define archive_read_open1              gf_archive_functions.archive_read_open1
#define archive_read_set_callback_data  gf_archive_functions.archive_read_set_callback_data
#define archive_read_set_format         gf_archive_functions.archive_read_set_format
#define archive_read_set_read_callback  gf_archive_functions.archive_read_set_read_callback
#define archive_read_set_seek_callback  gf_archive_functions.archive_read_set_seek_callback
#define archive_read_support_format_tar gf_archive_functions.archive_read_support_format_tar
#define archive_read_support_format_zip gf_archive_functions.archive_read_support_format_zip
#define archive_read_support_format_zip_seekable                                                   \
    gf_archive_functions.archive_read_support_format_zip_seekable
#define archive_read_support_format_zip_streamable                                                 \
    gf_archive_functions.archive_read_support_format_zip_streamable
#define archive_set_error    gf_archive_functions.archive_set_error
#define archive_write_close  gf_archive_functions.archive_write_close
#define archive_write_data   gf_archive_functions.archive_write_data
#define archive_write_free   gf_archive_functions.archive_write_free
#define archive_write_header gf_archive_functions.archive_write_header
#define archive_write_new    gf_archive_functions.archive_write_new
#define archive_write_open   gf_archive_functions.archive_write_open
#define archive_write_set_bytes_in_last_block                                                      \
    gf_archive_functions.archive_write_set_bytes_in_last_block
#define archive_write_set_format_zip gf_archive_functions.archive_write_set_format_zip
#define archive_write_zip_set_compression_store                                                    \
    gf_archive_functions.archive_write_zip_set_compression_store

#endif
