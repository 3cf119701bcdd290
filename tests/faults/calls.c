/*
 * The calls that stand before the C library's: each asks faults_of what is to become of it.
 */
#include "tests/faults/faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The function of that name that comes after this library. */
#define REAL(name)                                                                                 \
    static __typeof__(name) *real;                                                                 \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

static void after(faults_fate fate)
{
    if (fate != FAULTS_KILLED) return;
    for (;;)
        syscall(SYS_kill, getpid(), SIGKILL);
}

/* A function that is called, or gives `failed`: of a path, and of a descriptor. */
#define OF_PATH(call, type, failed, name, path, parameters, arguments)                             \
    type name parameters                                                                           \
    {                                                                                              \
        REAL(name);                                                                                \
        faults_fate fate = faults_of(call, path);                                                  \
        if (fate == FAULTS_FAIL) return failed;                                                    \
        type result = real arguments;                                                              \
        after(fate);                                                                               \
        return result;                                                                             \
    }
#define OF_FD(call, type, failed, name, fd, parameters, arguments)                                 \
    type name parameters                                                                           \
    {                                                                                              \
        REAL(name);                                                                                \
        faults_fate fate = faults_of_fd(call, fd);                                                 \
        if (fate == FAULTS_FAIL) return failed;                                                    \
        type result = real arguments;                                                              \
        after(fate);                                                                               \
        return result;                                                                             \
    }

/* Half of `size` bytes, where that is what is to become of a read or a write. */
#define OF_BYTES(call, name, fd, size, parameters, arguments)                                      \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        REAL(name);                                                                                \
        faults_fate fate = faults_of_fd(call, fd);                                                 \
        if (fate == FAULTS_FAIL) return -1;                                                        \
        if ((fate == FAULTS_SHORT || fate == FAULTS_TORN) && size > 1) size /= 2;                  \
        ssize_t result = real arguments;                                                           \
        after(fate);                                                                               \
        if (fate != FAULTS_TORN) return result;                                                    \
        errno = ENOSPC;                                                                            \
        return -1;                                                                                 \
    }

/* Of a path within a folder that is open, the folder's path counts. */
static faults_fate fate_at(faults_call call, int folder, const char *path)
{
    return path[0] == '/' || folder == AT_FDCWD ? faults_of(call, path)
                                                : faults_of_fd(call, folder);
}

/* ---- opening --------------------------------------------------------------------------------- */

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                    \
        va_end(list);                                                                              \
        faults_fate fate = faults_of(FAULTS_OPEN, path);                                           \
        if (fate == FAULTS_FAIL) return -1;                                                        \
        int result = real(path, flags, mode);                                                      \
        after(fate);                                                                               \
        return result;                                                                             \
    }
#define OPENAT(name)                                                                               \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                    \
        va_end(list);                                                                              \
        faults_fate fate = fate_at(FAULTS_OPEN, folder, path);                                     \
        if (fate == FAULTS_FAIL) return -1;                                                        \
        int result = real(folder, path, flags, mode);                                              \
        after(fate);                                                                               \
        return result;                                                                             \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
OF_PATH(FAULTS_OPEN, int, -1, creat, path, (const char *path, mode_t mode), (path, mode))
OF_PATH(FAULTS_OPEN, FILE *, NULL, fopen, path, (const char *path, const char *mode), (path, mode))
OF_PATH(FAULTS_OPEN, FILE *, NULL, fopen64, path, (const char *path, const char *mode),
        (path, mode))
OF_PATH(FAULTS_OPEN, DIR *, NULL, opendir, path, (const char *path), (path))
OF_FD(FAULTS_OPEN, DIR *, NULL, fdopendir, fd, (int fd), (fd))
OF_PATH(FAULTS_OPEN, FILE *, NULL, tmpfile, NULL, (void), ())

/* ---- bytes ----------------------------------------------------------------------------------- */

OF_BYTES(FAULTS_READ, read, fd, size, (int fd, void *to, size_t size), (fd, to, size))
OF_BYTES(FAULTS_PREAD, pread, fd, size, (int fd, void *to, size_t size, off_t at),
         (fd, to, size, at))
OF_BYTES(FAULTS_PREAD, pread64, fd, size, (int fd, void *to, size_t size, off_t at),
         (fd, to, size, at))
OF_BYTES(FAULTS_WRITE, write, fd, size, (int fd, const void *from, size_t size), (fd, from, size))
OF_BYTES(FAULTS_WRITE, pwrite, fd, size, (int fd, const void *from, size_t size, off_t at),
         (fd, from, size, at))
OF_BYTES(FAULTS_WRITE, pwrite64, fd, size, (int fd, const void *from, size_t size, off_t at),
         (fd, from, size, at))
OF_BYTES(FAULTS_READ, readv, fd, n, (int fd, const struct iovec *to, int n), (fd, to, n))
OF_BYTES(FAULTS_WRITE, writev, fd, n, (int fd, const struct iovec *from, int n), (fd, from, n))

OF_FD(FAULTS_SYNC, int, -1, fsync, fd, (int fd), (fd))
OF_FD(FAULTS_SYNC, int, -1, fdatasync, fd, (int fd), (fd))

int close(int fd)
{
    REAL(close);
    faults_fate fate = faults_of_fd(FAULTS_CLOSE, fd);
    int before = errno, result = real(fd);
    after(fate);
    if (fate != FAULTS_FAIL) return result;
    errno = before;
    return -1;
}

int fflush(FILE *file)
{
    REAL(fflush);
    faults_fate fate = file ? faults_of_fd(FAULTS_FLUSH, fileno(file)) : FAULTS_NONE;
    if (fate == FAULTS_FAIL) return EOF;
    int result = real(file);
    after(fate);
    return result;
}

int fclose(FILE *file)
{
    REAL(fclose);
    faults_fate fate = faults_of_fd(FAULTS_FLUSH, fileno(file));
    int before = errno, result = real(file);
    after(fate);
    if (fate != FAULTS_FAIL) return result;
    errno = before;
    return EOF;
}

/* ---- names ----------------------------------------------------------------------------------- */

OF_PATH(FAULTS_RENAME, int, -1, rename, to, (const char *from, const char *to), (from, to))
OF_PATH(FAULTS_RENAME, int, -1, renameat, to, (int a, const char *from, int b, const char *to),
        (a, from, b, to))
OF_PATH(FAULTS_UNLINK, int, -1, unlink, path, (const char *path), (path))
OF_PATH(FAULTS_UNLINK, int, -1, rmdir, path, (const char *path), (path))
OF_PATH(FAULTS_MKDIR, int, -1, mkdir, path, (const char *path, mode_t mode), (path, mode))
OF_PATH(FAULTS_LINK, int, -1, link, to, (const char *from, const char *to), (from, to))
OF_PATH(FAULTS_LINK, int, -1, symlink, to, (const char *from, const char *to), (from, to))
OF_PATH(FAULTS_STAT, int, -1, access, path, (const char *path, int how), (path, how))
OF_PATH(FAULTS_STAT, int, -1, stat, path, (const char *path, struct stat *s), (path, s))
OF_PATH(FAULTS_STAT, int, -1, lstat, path, (const char *path, struct stat *s), (path, s))
OF_FD(FAULTS_STAT, int, -1, fstat, fd, (int fd, struct stat *s), (fd, s))
OF_PATH(FAULTS_STAT, int, -1, stat64, path, (const char *path, struct stat64 *s), (path, s))
OF_PATH(FAULTS_STAT, int, -1, lstat64, path, (const char *path, struct stat64 *s), (path, s))
OF_FD(FAULTS_STAT, int, -1, fstat64, fd, (int fd, struct stat64 *s), (fd, s))
OF_PATH(FAULTS_TRUNCATE, int, -1, truncate, path, (const char *path, off_t size), (path, size))
OF_FD(FAULTS_TRUNCATE, int, -1, ftruncate, fd, (int fd, off_t size), (fd, size))
OF_FD(FAULTS_TRUNCATE, int, -1, ftruncate64, fd, (int fd, off_t size), (fd, size))
OF_FD(FAULTS_TRUNCATE, int, errno, posix_fallocate, fd, (int fd, off_t at, off_t size),
      (fd, at, size))

#define AT(call, name, parameters, arguments)                                                      \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name);                                                                                \
        faults_fate fate = fate_at(call, folder, path);                                            \
        if (fate == FAULTS_FAIL) return -1;                                                        \
        int result = real arguments;                                                               \
        after(fate);                                                                               \
        return result;                                                                             \
    }
AT(FAULTS_UNLINK, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
AT(FAULTS_MKDIR, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
AT(FAULTS_STAT, fstatat, (int folder, const char *path, struct stat *s, int flags),
   (folder, path, s, flags))
AT(FAULTS_STAT, fstatat64, (int folder, const char *path, struct stat64 *s, int flags),
   (folder, path, s, flags))

/* ---- folders, maps, locks, threads ----------------------------------------------------------- */

OF_FD(FAULTS_READDIR, struct dirent *, NULL, readdir, dirfd(dir), (DIR * dir), (dir))
OF_FD(FAULTS_READDIR, struct dirent64 *, NULL, readdir64, dirfd(dir), (DIR * dir), (dir))

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    REAL(mmap);
    faults_fate fate = fd < 0 ? FAULTS_NONE : faults_of_fd(FAULTS_MMAP, fd);
    if (fate == FAULTS_FAIL) return MAP_FAILED;
    void *result = real(at, size, protection, flags, fd, offset);
    after(fate);
    return result;
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    REAL(mmap64);
    faults_fate fate = fd < 0 ? FAULTS_NONE : faults_of_fd(FAULTS_MMAP, fd);
    if (fate == FAULTS_FAIL) return MAP_FAILED;
    void *result = real(at, size, protection, flags, fd, offset);
    after(fate);
    return result;
}

OF_FD(FAULTS_LOCK, int, -1, flock, fd, (int fd, int how), (fd, how))

#define FCNTL(name)                                                                                \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list list;                                                                              \
        va_start(list, command);                                                                   \
        void *argument = va_arg(list, void *);                                                     \
        va_end(list);                                                                              \
        bool locks = command == F_SETLK || command == F_SETLKW;                                    \
        if (locks && faults_of_fd(FAULTS_LOCK, fd) == FAULTS_FAIL) return -1;                      \
        return real(fd, command, argument);                                                        \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

OF_PATH(FAULTS_THREAD, int, errno, pthread_create, NULL,
        (pthread_t * thread, const pthread_attr_t *how, void *(*f)(void *), void *context),
        (thread, how, f, context))

/* ---- sockets --------------------------------------------------------------------------------- */

OF_PATH(FAULTS_SOCKET, int, -1, socket, NULL, (int domain, int type, int protocol),
        (domain, type, protocol))
OF_PATH(FAULTS_SOCKET, int, -1, listen, NULL, (int fd, int n), (fd, n))
OF_PATH(FAULTS_SOCKET, int, -1, bind, NULL, (int fd, const struct sockaddr *a, socklen_t n),
        (fd, a, n))
OF_PATH(FAULTS_SOCKET, int, -1, connect, NULL, (int fd, const struct sockaddr *a, socklen_t n),
        (fd, a, n))
OF_PATH(FAULTS_SOCKET, int, -1, accept, NULL, (int fd, struct sockaddr *a, socklen_t *n),
        (fd, a, n))
OF_PATH(FAULTS_SOCKET, int, -1, accept4, NULL,
        (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags))
OF_BYTES(FAULTS_SEND, send, fd, size, (int fd, const void *from, size_t size, int flags),
         (fd, from, size, flags))
OF_BYTES(FAULTS_RECEIVE, recv, fd, size, (int fd, void *to, size_t size, int flags),
         (fd, to, size, flags))
OF_PATH(FAULTS_SEND, ssize_t, -1, sendmsg, NULL, (int fd, const struct msghdr *m, int flags),
        (fd, m, flags))
OF_PATH(FAULTS_RECEIVE, ssize_t, -1, recvmsg, NULL, (int fd, struct msghdr *m, int flags),
        (fd, m, flags))
