#include "tests/formats/archive.h"

#include "support/test.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

static la_ssize_t append(struct archive *a, void *out, const void *bytes, size_t n)
{
    (void)a;
    gf_buffer_append(out, bytes, n);
    return (la_ssize_t)n;
}

static void set_type(struct archive_entry *e, const archive_member *m)
{
    static char target[256];
    snprintf(target, sizeof target, "%.*s", GF_SLICE_ARG(m->bytes));
    archive_entry_set_filetype(e, m->type == A_FOLDER    ? AE_IFDIR
                                  : m->type == A_SYMLINK ? AE_IFLNK
                                                         : AE_IFREG);
    if (m->type == A_SYMLINK) archive_entry_set_symlink(e, target);
    if (m->type == A_HARDLINK) archive_entry_set_hardlink(e, target);
    archive_entry_set_size(e, m->type == A_FILE ? (la_int64_t)m->bytes.len : 0);
}

static void write_member(struct archive *a, const archive_member *m)
{
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, m->name);
    archive_entry_set_perm(e, 0644);
    set_type(e, m);
    if (archive_write_header(a, e) != ARCHIVE_OK) fail_msg("%s", archive_error_string(a));
    if (m->type == A_FILE && m->bytes.len &&
        archive_write_data(a, m->bytes.ptr, m->bytes.len) != (la_ssize_t)m->bytes.len)
        fail_msg("%s", archive_error_string(a));
    archive_entry_free(e);
}

void make_archive(const char *format, const char *filter, const archive_member *members, size_t n,
                  gf_buffer *out)
{
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    assert_true(utf8 != (locale_t)0);
    locale_t before = uselocale(utf8);
    struct archive *a = archive_write_new();
    if (archive_write_set_format_by_name(a, format) != ARCHIVE_OK ||
        (filter && archive_write_add_filter_by_name(a, filter) != ARCHIVE_OK) ||
        archive_write_set_bytes_per_block(a, 0) != ARCHIVE_OK ||
        archive_write_open(a, out, NULL, append, NULL) != ARCHIVE_OK)
        fail_msg("%s", archive_error_string(a));
    for (size_t i = 0; i < n; i++)
        write_member(a, &members[i]);
    if (archive_write_close(a) != ARCHIVE_OK) fail_msg("%s", archive_error_string(a));
    archive_write_free(a);
    uselocale(before);
    freelocale(utf8);
}

void compress_bytes(const char *filter, gf_slice bytes, gf_buffer *out)
{
    archive_member only = {"data", bytes, A_FILE};
    make_archive("raw", filter, &only, 1, out);
}
