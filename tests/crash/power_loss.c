#include "tests/crash/power_loss.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 4096, PATH = 4096, DISK_BLOCK = 512, LEAST_ZEROS = 8 };

typedef struct synced_file {
    dev_t device;
    ino_t inode;
    off_t length; /* of it that is synced */
} synced_file;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static synced_file files[MAX_FILES]; /* n_files; those that were never synced are not here */
static size_t n_files;
static char watched[PATH];
static power_loss_moment *told;
static void *told_context;
static unsigned seed = 1;

/* ---- which part of a file is synced ---------------------------------------------------------- */

static synced_file *find(const struct stat *s)
{
    for (size_t i = 0; i < n_files; i++)
        if (files[i].inode == s->st_ino && files[i].device == s->st_dev) return &files[i];
    return NULL;
}

static void set(const struct stat *s)
{
    synced_file *f = find(s);
    if (!f && n_files == MAX_FILES) abort();
    if (!f) f = &files[n_files++];
    *f = (synced_file){s->st_dev, s->st_ino, s->st_size};
}

/* A file that is gone: its number may come again. */
static void forget(int folder, const char *name)
{
    struct stat s;
    if (fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) != 0 || s.st_nlink > 1) return;
    synced_file *f = find(&s);
    if (f) *f = files[--n_files];
}

static void tell(int result)
{
    if (result == 0 && told) told(told_context);
}

/* ---- the watched functions ------------------------------------------------------------------- */

static int sync_file(int fd)
{
    struct stat s;
    pthread_mutex_lock(&lock);
    int result = fstat(fd, &s);
    if (result == 0 && S_ISREG(s.st_mode)) set(&s);
    tell(result);
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int fd)
{
    return sync_file(fd);
}

int fdatasync(int fd)
{
    return sync_file(fd);
}

int rename(const char *from, const char *to)
{
    pthread_mutex_lock(&lock);
    forget(AT_FDCWD, to);
    int result = renameat(AT_FDCWD, from, AT_FDCWD, to);
    tell(result);
    pthread_mutex_unlock(&lock);
    return result;
}

static int remove_file(int folder, const char *name, int flags)
{
    typedef int unlinkat_function(int, const char *, int);
    static unlinkat_function *real;
    pthread_mutex_lock(&lock);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "unlinkat");
    forget(folder, name);
    int result = real(folder, name, flags);
    tell(result);
    pthread_mutex_unlock(&lock);
    return result;
}

int unlink(const char *path)
{
    return remove_file(AT_FDCWD, path, 0);
}

int unlinkat(int folder, const char *name, int flags)
{
    return remove_file(folder, name, flags);
}

void power_loss_watch(const char *folder, power_loss_moment *moment, void *context)
{
    pthread_mutex_lock(&lock);
    snprintf(watched, sizeof watched, "%s", folder);
    told = moment;
    told_context = context;
    pthread_mutex_unlock(&lock);
}

void power_loss_now(void)
{
    pthread_mutex_lock(&lock);
    tell(0);
    pthread_mutex_unlock(&lock);
}

/* ---- an image -------------------------------------------------------------------------------- */

static bool copy_part(int in, int out, off_t length)
{
    char piece[1 << 16];
    while (length > 0) {
        size_t want = length < (off_t)sizeof piece ? (size_t)length : sizeof piece;
        ssize_t n = read(in, piece, want);
        if (n <= 0 || write(out, piece, (size_t)n) != n) return false;
        length -= n;
    }
    return true;
}

static bool copy_file(const char *from, const char *to, power_loss_tail tail)
{
    struct stat s;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = in >= 0 && out >= 0 && fstat(in, &s) == 0;
    if (good) {
        const synced_file *f = find(&s);
        off_t kept = f && f->length < s.st_size ? f->length : f ? s.st_size : 0;
        bool torn = tail == POWER_LOSS_TORN || tail == POWER_LOSS_TORN_ZEROS;
        bool zeros = tail == POWER_LOSS_ZEROS || tail == POWER_LOSS_TORN_ZEROS;
        if (torn) kept += (off_t)rand_r(&seed) % (s.st_size - kept + 1);
        if (torn && zeros) {
            kept += DISK_BLOCK - 1 - (kept + DISK_BLOCK - 1) % DISK_BLOCK;
            zeros = kept + LEAST_ZEROS <= s.st_size; /* fewer are taken for damage */
        }
        if (kept > s.st_size) kept = s.st_size;
        good = copy_part(in, out, kept);
        if (good && zeros) good = ftruncate(out, s.st_size) == 0;
    }
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return good;
}

static bool copy_folder(const char *from, const char *to, power_loss_tail tail)
{
    char source[PATH], target[PATH];
    DIR *dir = opendir(from);
    bool good = dir && mkdir(to, 0700) == 0;
    for (struct dirent *e; good && (e = readdir(dir)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        struct stat s;
        snprintf(source, sizeof source, "%s/%s", from, e->d_name);
        snprintf(target, sizeof target, "%s/%s", to, e->d_name);
        good = stat(source, &s) == 0;
        if (good && S_ISDIR(s.st_mode))
            good = copy_folder(source, target, tail);
        else if (good && S_ISREG(s.st_mode)) /* and no socket */
            good = copy_file(source, target, tail);
    }
    if (dir) closedir(dir);
    return good;
}

bool power_loss_image(const char *to, power_loss_tail tail)
{
    return copy_folder(watched, to, tail);
}
