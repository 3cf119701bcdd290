#include "base/spill.h"

#include "base/memory.h"
#include "grouperfish/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gf_spill {
    int file;
    char folder[]; /* for messages */
};

static gf_status fail_file(const gf_spill *s, const char *what, gf_error *err)
{
    return gf_fail(err, GF_EIO, "a temporary file in %s cannot be %s: %s", s->folder, what,
                   strerror(errno));
}

/* For file systems without nameless files: the file has a name for a moment. */
static int open_named(const char *folder)
{
    gf_buffer path = {0};
    gf_buffer_format(&path, "%s/spill-XXXXXX", folder);
    if (gf_buffer_check(&path, NULL) != GF_OK) {
        errno = ENOMEM;
        return -1;
    }
    char *name = gf_copy_string(path.ptr, path.len);
    gf_buffer_release(&path);
    int file = -1;
    if (name)
        file = mkostemp(name, O_CLOEXEC);
    else
        errno = ENOMEM;
    if (file >= 0) unlink(name);
    gf_free(name);
    return file;
}

gf_status gf_spill_create(const char *folder, gf_spill **spill, gf_error *err)
{
    size_t length = strlen(folder) + 1;
    gf_spill *s = gf_malloc(sizeof *s + length);
    if (!s) return gf_fail_memory(err, "a temporary file");
    memcpy(s->folder, folder, length);
    s->file = -1;
#ifdef O_TMPFILE
    s->file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (s->file < 0) s->file = open_named(folder);
    if (s->file < 0) {
        gf_status st =
            errno == ENOMEM ? gf_fail_memory(err, "a temporary file") : fail_file(s, "made", err);
        gf_free(s);
        return st;
    }
    *spill = s;
    return GF_OK;
}

void gf_spill_free(gf_spill *s)
{
    if (!s) return;
    close(s->file);
    gf_free(s);
}

gf_status gf_spill_write(gf_spill *s, uint64_t offset, const void *bytes, size_t n, gf_error *err)
{
    const char *p = bytes;
    while (n) {
        ssize_t done = pwrite(s->file, p, n, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail_file(s, "written", err);
        p += done;
        offset += (uint64_t)done;
        n -= (size_t)done;
    }
    return GF_OK;
}

gf_status gf_spill_read(const gf_spill *s, uint64_t offset, void *bytes, size_t n, gf_error *err)
{
    char *p = bytes;
    while (n) {
        ssize_t done = pread(s->file, p, n, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_file(s, "read", err);
        if (done == 0)
            return gf_fail(err, GF_EIO, "a temporary file in %s is shorter than it was", s->folder);
        p += done;
        offset += (uint64_t)done;
        n -= (size_t)done;
    }
    return GF_OK;
}
