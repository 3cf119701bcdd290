#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 64 << 10 };

static gf_status read_all(int fd, const char *path, gf_buffer *out, gf_error *err)
{
    for (;;) {
        char *to = gf_buffer_reserve(out, READ_STEP);
        if (!to) return gf_buffer_check(out, err);
        ssize_t n = read(fd, to, READ_STEP);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return gf_fail_errno(err, "cannot read %s", path);
        if (n == 0) return GF_OK;
        out->len += (size_t)n;
    }
}

gf_status gf_file_read(const char *path, gf_buffer *out, gf_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        gf_status st = gf_fail_errno(err, "cannot open %s", path);
        if (errno == ENOENT) {
            st = GF_ENOTFOUND;
            if (err) err->status = st;
        }
        return st;
    }
    gf_status st = read_all(fd, path, out, err);
    close(fd);
    return st;
}

static gf_status write_all(int fd, const char *path, gf_slice content, gf_error *err)
{
    while (content.len) {
        ssize_t n = write(fd, content.ptr, content.len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return gf_fail_errno(err, "cannot write %s", path);
        content = gf_slice_skip(content, (size_t)n);
    }
    if (fsync(fd) != 0) return gf_fail_errno(err, "cannot sync %s", path);
    return GF_OK;
}

static gf_status write_neighbour(const char *path, gf_slice content, gf_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return gf_fail_errno(err, "cannot create %s", path);
    gf_status st = write_all(fd, path, content, err);
    if (close(fd) != 0 && st == GF_OK) st = gf_fail_errno(err, "cannot close %s", path);
    if (st != GF_OK) unlink(path);
    return st;
}

gf_status gf_file_sync_folder(const char *path, gf_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return gf_fail_errno(err, "cannot open folder %s", path);
    gf_status st = GF_OK;
    if (fsync(fd) != 0) st = gf_fail_errno(err, "cannot sync folder %s", path);
    close(fd);
    return st;
}

static gf_status sync_folder_of(const char *path, gf_error *err)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return gf_file_sync_folder(".", err);
    if (slash == path) return gf_file_sync_folder("/", err);
    char *folder = gf_copy_string(path, (size_t)(slash - path));
    if (!folder) return gf_fail_memory(err, "a path");
    gf_status st = gf_file_sync_folder(folder, err);
    gf_free(folder);
    return st;
}

gf_status gf_file_write(const char *path, gf_slice content, gf_error *err)
{
    gf_buffer name = {0};
    gf_buffer_format(&name, "%s.new", path);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) st = write_neighbour(gf_buffer_cstr(&name), content, err);
    if (st == GF_OK && rename(gf_buffer_cstr(&name), path) != 0) {
        st = gf_fail_errno(err, "cannot rename %s", gf_buffer_cstr(&name));
        unlink(gf_buffer_cstr(&name));
    }
    if (st == GF_OK) st = sync_folder_of(path, err);
    gf_buffer_release(&name);
    return st;
}

gf_status gf_file_make_folders(const char *path, gf_error *err)
{
    char *copy = gf_copy_string(path, strlen(path));
    if (!copy) return gf_fail_memory(err, "a path");
    gf_status st = GF_OK;
    for (char *p = copy + 1;; p++) {
        if (*p != '/' && *p != '\0') continue;
        char saved = *p;
        *p = '\0';
        if (mkdir(copy, 0777) != 0 && (errno != EEXIST || !gf_file_is_folder(copy))) {
            if (errno == EEXIST) errno = ENOTDIR;
            st = gf_fail_errno(err, "cannot make folder %s", copy);
        }
        *p = saved;
        if (saved == '\0' || st != GF_OK) break;
    }
    gf_free(copy);
    return st;
}

bool gf_file_exists(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

bool gf_file_is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}
