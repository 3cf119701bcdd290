#include "support/test.h"

#include "base/file.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>

void gf_test_read_source(const char *path, gf_buffer *out)
{
    const char *root = getenv("GROUPERFISH_SOURCE");
    gf_error err;
    gf_buffer name = {0};
    gf_buffer_format(&name, "%s/%s", root ? root : ".", path);
    if (gf_file_read(gf_buffer_cstr(&name), out, &err) != GF_OK) fail_msg("%s", err.message);
    gf_buffer_release(&name);
}

int gf_test_has_data(void)
{
    const char *folder = getenv("GROUPERFISH_DATA");
    return folder && *folder;
}

const char *gf_test_data_path(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("GROUPERFISH_DATA"), name);
    return path;
}

void gf_test_read_data(const char *name, gf_buffer *out)
{
    struct archive *a = archive_read_new();
    struct archive_entry *entry;
    archive_read_support_filter_all(a);
    archive_read_support_format_raw(a);
    if (archive_read_open_filename(a, gf_test_data_path(name), 1 << 16) != ARCHIVE_OK ||
        archive_read_next_header(a, &entry) != ARCHIVE_OK)
        fail_msg("%s", archive_error_string(a));
    for (;;) {
        char *to = gf_buffer_reserve(out, 1 << 16);
        assert_non_null(to);
        la_ssize_t n = archive_read_data(a, to, 1 << 16);
        if (n < 0) fail_msg("%s: %s", name, archive_error_string(a));
        if (n == 0) break;
        out->len += (size_t)n;
    }
    archive_read_free(a);
}

int gf_test_next_line(gf_slice *rest, gf_slice *line)
{
    if (rest->len == 0) return 0;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    *line = gf_slice_of(rest->ptr, n);
    *rest = gf_slice_skip(*rest, end ? n + 1 : n);
    return 1;
}

int gf_test_skipped(const char *what)
{
    printf("SKIPPED: %s (set GROUPERFISH_DATA to the folder of the data sets)\n", what);
    return 77;
}
