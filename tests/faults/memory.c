/*
 * Memory that is not to be had: a library of its own, since a program with a sanitizer has an
 * allocator that must be the only one.
 */
#include "tests/faults/faults.h"

#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static bool fails(void)
{
    static _Thread_local bool within
        __attribute__((tls_model("initial-exec"))); /* telling may allocate */
    if (within) return false;
    within = true;
    bool failed = faults_of(FAULTS_MEMORY, NULL) == FAULTS_FAIL;
    within = false;
    if (failed) errno = ENOMEM;
    return failed;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *at, size_t size)
{
    return fails() ? NULL : __libc_realloc(at, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **at, size_t alignment, size_t size)
{
    void *got = fails() ? NULL : __libc_memalign(alignment, size);
    if (!got) return ENOMEM;
    *at = got;
    return 0;
}
