/*
 * The walk keeps one list of names per open folder:
 *
 *     paths[1] = "notes"                 folders[0]  ./  a  b  c.txt     at b
 *     path     = "notes/b/x.txt"         folders[1]  b/  x.txt  y.txt    at x.txt
 *                       ^ name_from
 */
#include "formats/bytes/files.h"

#include "base/grow.h"
#include "base/memory.h"
#include "grouperfish/buffer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct folder {
    char **names; /* n, sorted */
    size_t n, at, capacity;
    size_t path_length; /* of gf_files.path up to the folder, its slash included */
} folder;

struct gf_files {
    char **paths; /* n */
    size_t n, at;
    folder *folders; /* depth of them are open; capacity */
    size_t depth, capacity;
    gf_buffer path;
    size_t name_from; /* where the current file's name starts in path */
    bool in_folder;
    bool found;      /* a file of the current path */
    gf_buffer empty; /* folders without any */
    char *root;      /* the folder at hand, of the paths, without links; NULL: not known */
    bool follows;    /* links out of it are read */
    uint64_t passed; /* that were not */
    int fd;          /* of the current file, or -1 */
};

/* ---- open and close -------------------------------------------------------------------------- */

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

static gf_status copy_path(gf_files *f, const char *path, gf_error *err)
{
    struct stat s;
    if (!is_standard_input(path) && stat(path, &s) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) return gf_fail_errno(err, "cannot read %s", path);
        return gf_fail(err, GF_ENOTFOUND, "there is no file or folder %s", path);
    }
    char *copy = gf_copy_string(path, strlen(path));
    if (!copy) return gf_fail_memory(err, "a path");
    f->paths[f->n++] = copy;
    return GF_OK;
}

gf_status gf_files_open(const char *const *paths, size_t n, gf_files **files, gf_error *err)
{
    gf_files *f = gf_calloc(1, sizeof *f);
    if (!f) return gf_fail_memory(err, "a list of files");
    f->fd = -1;
    f->paths = gf_calloc(n, sizeof *f->paths);
    gf_status st = f->paths ? GF_OK : gf_fail_memory(err, "a list of files");
    for (size_t i = 0; st == GF_OK && i < n; i++)
        st = copy_path(f, paths[i], err);
    if (st != GF_OK) {
        gf_files_close(f);
        return st;
    }
    *files = f;
    return GF_OK;
}

static void close_file(gf_files *f)
{
    if (f->fd > STDIN_FILENO) close(f->fd);
    f->fd = -1;
}

static void release_folder(folder *d)
{
    for (size_t i = 0; i < d->n; i++)
        gf_free(d->names[i]);
    gf_free(d->names);
    *d = (folder){0};
}

void gf_files_close(gf_files *f)
{
    if (!f) return;
    close_file(f);
    while (f->depth)
        release_folder(&f->folders[--f->depth]);
    for (size_t i = 0; f->paths && i < f->n; i++)
        gf_free(f->paths[i]);
    gf_free(f->paths);
    gf_free(f->folders);
    gf_buffer_release(&f->path);
    gf_buffer_release(&f->empty);
    free(f->root); /* of realpath */
    gf_free(f);
}

/* ---- folders --------------------------------------------------------------------------------- */

static gf_status add_name(folder *d, const char *name, gf_error *err)
{
    if (!gf_grow(&d->names, &d->capacity, d->n + 1, sizeof *d->names))
        return gf_fail_memory(err, "a folder's list");
    d->names[d->n] = gf_copy_string(name, strlen(name));
    if (!d->names[d->n]) return gf_fail_memory(err, "a folder's list");
    d->n++;
    return GF_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static gf_status list_folder(const char *path, folder *d, gf_error *err)
{
    DIR *dir = opendir(path);
    if (!dir) return gf_fail_errno(err, "cannot open folder %s", path);
    gf_status st = GF_OK;
    struct dirent *entry;
    while (errno = 0, st == GF_OK && (entry = readdir(dir)))
        if (entry->d_name[0] != '.') st = add_name(d, entry->d_name, err);
    if (st == GF_OK && errno) st = gf_fail_errno(err, "cannot read folder %s", path);
    closedir(dir);
    if (d->n) qsort(d->names, d->n, sizeof *d->names, compare_names);
    return st;
}

/* Open the folder that path names. */
static gf_status push_folder(gf_files *f, gf_error *err)
{
    if (!gf_grow(&f->folders, &f->capacity, f->depth + 1, sizeof *f->folders))
        return gf_fail_memory(err, "a list of folders");
    const char *path = gf_buffer_cstr(&f->path);
    gf_status st = gf_buffer_check(&f->path, err);
    if (st != GF_OK) return st;
    folder *d = &f->folders[f->depth++];
    *d = (folder){0};
    st = list_folder(path, d, err);
    if (f->path.len && f->path.ptr[f->path.len - 1] != '/') gf_buffer_byte(&f->path, '/');
    d->path_length = f->path.len;
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

static gf_status open_file(gf_files *f, bool *is_folder, gf_error *err)
{
    struct stat s;
    const char *path = gf_buffer_cstr(&f->path);
    gf_status st = gf_buffer_check(&f->path, err);
    if (st != GF_OK) return st;
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (f->fd < 0) return gf_fail_errno(err, "cannot open %s", path);
    if (fstat(f->fd, &s) != 0) return gf_fail_errno(err, "cannot read %s", path);
    *is_folder = S_ISDIR(s.st_mode);
    if (*is_folder) close_file(f);
    return GF_OK;
}

/* Is the folder at path a Grouperfish store? No documents lie in one. */
static bool is_store(gf_buffer *path)
{
    struct stat s;
    size_t length = path->len;
    gf_buffer_str(path, "/grouperfish.store");
    bool there = stat(gf_buffer_cstr(path), &s) == 0 && S_ISREG(s.st_mode);
    path->len = length;
    return there;
}

/*
 * The file that is open lies in the folder that was named, as the system tells of what was opened: a
 * link could be changed once it was looked at.
 */
static bool is_within(const gf_files *f)
{
    char link[64], path[4096];
    size_t length = f->root ? strlen(f->root) : 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", f->fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (length == 0 || n < 0 || (size_t)n <= length) return false;
    if (strcmp(f->root, "/") == 0) return true;
    return memcmp(path, f->root, length) == 0 && path[length] == '/';
}

static void pass_over(gf_files *f, bool *found)
{
    close_file(f);
    f->passed++;
    *found = false;
}

/*
 * Open the entry of a folder at path: a file is opened (*found), a folder is entered; stores, links
 * that lead nowhere or out of the folder that was named, and devices are skipped.
 */
static gf_status visit_entry(gf_files *f, bool *found, gf_error *err)
{
    struct stat s;
    bool is_folder;
    const char *path = gf_buffer_cstr(&f->path);
    gf_status st = gf_buffer_check(&f->path, err);
    if (st != GF_OK) return st;
    if (lstat(path, &s) != 0) return gf_fail_errno(err, "cannot read %s", path);
    if (S_ISDIR(s.st_mode)) return is_store(&f->path) ? GF_OK : push_folder(f, err);
    bool is_link = S_ISLNK(s.st_mode);
    if (is_link && stat(path, &s) != 0) return GF_OK; /* leads nowhere */
    *found = S_ISREG(s.st_mode);
    st = *found ? open_file(f, &is_folder, err) : GF_OK;
    if (st == GF_OK && *found && is_link && !f->follows && !is_within(f)) pass_over(f, found);
    return st;
}

static gf_status next_in_folders(gf_files *f, bool *found, gf_error *err)
{
    while (f->depth && !*found) {
        folder *d = &f->folders[f->depth - 1];
        if (d->at == d->n) {
            release_folder(d);
            f->depth--;
            continue;
        }
        f->path.len = d->path_length;
        gf_buffer_str(&f->path, d->names[d->at++]);
        gf_status st = visit_entry(f, found, err);
        if (st != GF_OK) return st;
    }
    return GF_OK;
}

static gf_status next_path(gf_files *f, bool *found, gf_error *err)
{
    const char *path = f->paths[f->at++];
    bool is_folder = false;
    gf_buffer_reset(&f->path);
    f->name_from = 0;
    f->in_folder = false;
    if (is_standard_input(path)) {
        gf_buffer_str(&f->path, "standard input");
        f->fd = STDIN_FILENO;
        *found = true;
        return gf_buffer_check(&f->path, err);
    }
    gf_buffer_str(&f->path, path);
    gf_status st = open_file(f, &is_folder, err);
    *found = !is_folder;
    if (st != GF_OK || !is_folder) return st;
    free(f->root);
    f->root = realpath(path, NULL);
    st = push_folder(f, err);
    f->name_from = f->path.len;
    f->in_folder = true;
    return st;
}

/* The current path has been read: was it a folder without files? */
static void end_path(gf_files *f)
{
    if (f->at == 0 || f->found || !f->in_folder) return;
    if (f->empty.len) gf_buffer_str(&f->empty, ", ");
    gf_buffer_str(&f->empty, f->paths[f->at - 1]);
    f->found = true; /* told */
}

gf_slice gf_files_take_empty(gf_files *f)
{
    gf_slice names = gf_buffer_view(&f->empty);
    gf_buffer_reset(&f->empty);
    return names;
}

void gf_files_follow_links(gf_files *f)
{
    f->follows = true;
}

uint64_t gf_files_take_passed(gf_files *f)
{
    uint64_t n = f->passed;
    f->passed = 0;
    return n;
}

static gf_status next_file(void *context, gf_slice *name, gf_error *err)
{
    gf_files *f = context;
    bool found = false;
    close_file(f);
    while (!found) {
        gf_status st = next_in_folders(f, &found, err);
        if (st != GF_OK) return st;
        if (found) break;
        end_path(f);
        if (f->at == f->n)
            return gf_buffer_check(&f->empty, err) == GF_OK ? GF_ENOTFOUND : GF_ENOMEM;
        f->found = false;
        st = next_path(f, &found, err);
        if (st != GF_OK) return st;
    }
    f->found = true;
    *name = gf_slice_skip(gf_buffer_view(&f->path), f->name_from);
    return GF_OK;
}

static gf_status read_file(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_files *f = context;
    for (;;) {
        ssize_t r = read(f->fd, to, n);
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) return gf_fail_errno(err, "cannot read %s", gf_buffer_cstr(&f->path));
        *got = (size_t)r;
        return GF_OK;
    }
}

static bool is_in_folder(void *context)
{
    return ((gf_files *)context)->in_folder;
}

/* A file on disk never waits: poll finds it readable. */
static bool is_waiting(void *context, unsigned milliseconds)
{
    struct pollfd p = {.fd = ((gf_files *)context)->fd, .events = POLLIN};
    int n = poll(&p, 1, (int)milliseconds);
    return n == 0 || (n < 0 && errno == EINTR);
}

gf_input gf_files_input(gf_files *f)
{
    return (gf_input){.context = f,
                      .next = next_file,
                      .read = read_file,
                      .in_folder = is_in_folder,
                      .waits = is_waiting};
}
