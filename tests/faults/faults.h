/**
 * Calls of the system that fail: a library for LD_PRELOAD, which the tests of this folder run the
 * program with.
 *
 * FAULTS        what fails: CALL:NTH:TIMES:ERROR, several with commas between them. CALL is a group
 *               of faults.c (open, read, write, ...), NTH counts its calls from 1; ~N is each with a
 *               chance of one in N. TIMES calls fail in a row, of ~N in all; 0: every one from there on.
 *               ERROR is an errno (EIO, ENOSPC, ...), or
 *                 SHORT  half of a read or a write is done, and told so
 *                 TORN   half of a write is done, and then it fails with ENOSPC
 *                 KILL   the process is killed before the call, KILLED behind it
 * FAULTS_PATH   only calls on paths that match this pattern (fnmatch), such as "/tmp/x/store/?*"; a
 *               descriptor's path is the one it was opened by. Without it, on any.
 * FAULTS_SEED   of the chances
 * FAULTS_WHILE  nothing is counted and nothing fails but while a file of this name is there
 * FAULTS_TOLD   a file of the size of faults_told, which is mapped: what was counted and done, also by
 *               a process that was killed
 *
 * Calls that libc makes within itself (fread, fprintf) are not seen; fopen, fflush and fclose are.
 *
 * Threads: any; counters are atomic.
 */
#ifndef GF_TESTS_FAULTS_FAULTS_H
#define GF_TESTS_FAULTS_FAULTS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum faults_call {
    FAULTS_OPEN, /* open, openat, creat, fopen, opendir */
    FAULTS_READ,
    FAULTS_PREAD,
    FAULTS_WRITE,    /* write, writev, pwrite */
    FAULTS_SYNC,     /* fsync, fdatasync */
    FAULTS_FLUSH,    /* fflush, fclose */
    FAULTS_CLOSE,    /* which is done, and then tells the error */
    FAULTS_RENAME,   /* rename, renameat */
    FAULTS_UNLINK,   /* unlink, unlinkat, rmdir */
    FAULTS_MKDIR,    /* mkdir, mkdirat */
    FAULTS_LINK,     /* link, linkat, symlink */
    FAULTS_STAT,     /* stat, lstat, fstat, fstatat, access */
    FAULTS_TRUNCATE, /* ftruncate, truncate, posix_fallocate */
    FAULTS_MMAP,     /* of files alone where there is a FAULTS_PATH */
    FAULTS_READDIR,
    FAULTS_LOCK,   /* flock, and fcntl's locks */
    FAULTS_THREAD, /* pthread_create; has no path, as what follows */
    FAULTS_SOCKET, /* socket, accept, connect, bind, listen */
    FAULTS_SEND,
    FAULTS_RECEIVE,
    FAULTS_MEMORY, /* malloc, calloc, realloc, ...: by a library of its own, memory.c */
    FAULTS_CALLS
} faults_call;

/** The words for them, in this order. */
extern const char *const faults_calls[FAULTS_CALLS];

typedef struct faults_told {
    uint64_t counted[FAULTS_CALLS]; /* calls that FAULTS_PATH lets through */
    uint64_t done;                  /* faults */
    char last[232];                 /* the last of them: call, number, error, path */
} faults_told;

typedef enum faults_fate {
    FAULTS_NONE,  /* the call is made */
    FAULTS_FAIL,  /* with errno */
    FAULTS_SHORT, /* half of it is made */
    FAULTS_TORN,  /* half of it is made; then ENOSPC */
    FAULTS_KILLED /* it is made; then the process is to be killed */
} faults_fate;

/** What becomes of a call; of FAULTS_FAIL errno is set. path: NULL for one that has none. */
faults_fate faults_of(faults_call call, const char *path);
/** The same of a call on a descriptor. */
faults_fate faults_of_fd(faults_call call, int fd);

#endif
