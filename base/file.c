#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 64 << 10 };

/* A buffer filled to its maximum holds the file if there is no further byte. */
static gf_status read_all(int fd, const char *path, gf_buffer *out, gf_error *err)
{
    char beyond;
    for (;;) {
        size_t room = out->max ? out->max - out->len : READ_STEP;
        size_t step = room < READ_STEP ? room : READ_STEP;
        char *to = step ? gf_buffer_reserve(out, step) : &beyond;
        if (!to) return gf_buffer_check(out, err);
        ssize_t n = read(fd, to, step ? step : 1);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return gf_fail_errno(err, "cannot read %s", path);
        if (n && step)
            out->len += (size_t)n;
        else if (n == 0 || !gf_buffer_reserve(out, 1))
            return gf_buffer_check(out, err);
    }
}

gf_status gf_file_read(const char *path, gf_buffer *out, gf_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int code = errno;
        gf_status st = gf_fail_errno(err, "cannot open %s", path);
        if (code == ENOENT) {
            st = GF_ENOTFOUND;
            if (err) err->status = st;
        }
        return st;
    }
    size_t before = out->len;
    gf_status st = read_all(fd, path, out, err);
    if (st != GF_OK) out->len = before;
    close(fd);
    return st;
}

static gf_status check_secret(int fd, const char *path, gf_error *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0) return gf_fail_errno(err, "cannot look at %s", path);
    if (!S_ISREG(status.st_mode)) return gf_fail(err, GF_EINVAL, "%s is not a file", path);
    if (status.st_mode & 077)
        return gf_fail(err, GF_EINVAL, "%s: others may look at it; chmod 600 it", path);
    return GF_OK;
}

gf_status gf_file_read_secret(const char *path, gf_buffer *out, gf_error *err)
{
    /* Without O_NONBLOCK a pipe of that name would be waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return gf_fail(err, GF_ENOTFOUND, "there is no file %s", path);
    if (fd < 0) return gf_fail_errno(err, "cannot open %s", path);
    size_t before = out->len;
    gf_status st = check_secret(fd, path, err);
    if (st == GF_OK) st = read_all(fd, path, out, err);
    if (st != GF_OK) out->len = before;
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

int gf_file_make_own(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT) return -1;
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

int gf_file_open_own(const char *path, int flags)
{
    struct stat s;
    int fd = open(path, (flags & ~O_TRUNC) | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return -1;
    bool own = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_nlink <= 1;
    if (own && !((flags & O_TRUNC) && ftruncate(fd, 0) != 0)) return fd;
    int number = own ? errno : ELOOP;
    close(fd);
    errno = number;
    return -1;
}

gf_status gf_file_fail_own(const char *path, gf_error *err)
{
    if (errno == ELOOP)
        return gf_fail(err, GF_EIO,
                       "%s is a link, or no plain file: nothing is written through it; remove it",
                       path);
    return gf_fail_errno(err, "cannot open %s", path);
}

static gf_status write_neighbour(const char *path, gf_slice content, gf_error *err)
{
    int fd = gf_file_make_own(path);
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

static void append_folder_of(gf_buffer *b, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        gf_buffer_str(b, ".");
    else
        gf_buffer_append(b, path, slash == path ? 1 : (size_t)(slash - path));
}

gf_status gf_file_write(const char *path, gf_slice content, gf_error *err)
{
    /* Both names before anything is written, so that want of memory leaves the old file. */
    gf_buffer names = {0};
    gf_buffer_format(&names, "%s.new", path);
    gf_buffer_byte(&names, '\0');
    size_t folder_at = names.len;
    append_folder_of(&names, path);
    gf_buffer_byte(&names, '\0');
    gf_status st = gf_buffer_check(&names, err);
    const char *neighbour = names.ptr;
    if (st == GF_OK) st = write_neighbour(neighbour, content, err);
    if (st == GF_OK && rename(neighbour, path) != 0) {
        st = gf_fail_errno(err, "cannot rename %s", neighbour);
        unlink(neighbour);
    }
    if (st == GF_OK) st = gf_file_sync_folder(neighbour + folder_at, err);
    gf_buffer_release(&names);
    return st;
}

gf_status gf_file_make_folders(const char *path, gf_error *err)
{
    char *copy = gf_copy_string(path, strlen(path));
    if (!copy) return gf_fail_memory(err, "a path");
    gf_status st = GF_OK;
    for (char *p = *copy ? copy + 1 : copy;; p++) {
        if (*p != '/' && *p != '\0') continue;
        char saved = *p;
        *p = '\0';
        if (mkdir(copy, saved ? 0777 : 0700) != 0 &&
            (errno != EEXIST || !gf_file_is_folder(copy))) {
            st = errno == EEXIST ? gf_fail(err, GF_EIO, "%s is there, and is not a folder", copy)
                                 : gf_fail_errno(err, "cannot make folder %s", copy);
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
    return stat(path, &s) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

bool gf_file_is_folder(const char *path)
{
    struct stat s;
    if (stat(path, &s) == 0) return S_ISDIR(s.st_mode);
    return errno != ENOENT && errno != ENOTDIR;
}
