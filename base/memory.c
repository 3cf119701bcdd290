#include "base/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Allocations left until the one that fails; negative where none is to fail. */
static atomic_int_least64_t countdown = -1;
static atomic_int failed;
static _Thread_local int is_spared;

static int must_fail(void)
{
    if (atomic_load_explicit(&countdown, memory_order_relaxed) < 0 || is_spared) return 0;
    if (atomic_fetch_sub_explicit(&countdown, 1, memory_order_relaxed) != 0) return 0;
    atomic_store(&failed, 1);
    return 1;
}

void gf_memory_fail_at(int64_t n)
{
    atomic_store(&failed, 0);
    atomic_store(&countdown, n);
}

void gf_memory_spare(int spared)
{
    is_spared = spared;
}

int gf_memory_failed(void)
{
    return atomic_load(&failed);
}

void *gf_malloc(size_t size)
{
    if (must_fail()) return NULL;
    return malloc(size ? size : 1);
}

void *gf_calloc(size_t n, size_t size)
{
    if (must_fail()) return NULL;
    return calloc(n ? n : 1, size ? size : 1);
}

enum { HUGE_PAGE = 2 << 20 };

static bool is_large(size_t n, size_t size)
{
    return size && n >= 2 * (size_t)HUGE_PAGE / size && n <= (SIZE_MAX - HUGE_PAGE) / size;
}

void *gf_array_large(size_t n, size_t size)
{
    if (!is_large(n, size)) return gf_array(n, size);
    if (must_fail()) return NULL;
    size_t bytes = (n * size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *p = aligned_alloc(HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
    if (p) madvise(p, bytes, MADV_HUGEPAGE); /* a wish: small pages do as well */
#endif
    return p;
}

void *gf_calloc_large(size_t n, size_t size)
{
    if (!is_large(n, size)) return gf_calloc(n, size);
    void *p = gf_array_large(n, size);
    return p ? memset(p, 0, n * size) : NULL;
}

void *gf_array(size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) return NULL;
    return gf_malloc(n * size);
}

void *gf_realloc(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) return NULL;
    if (must_fail()) return NULL;
    return realloc(p, n && size ? n * size : 1);
}

char *gf_copy_string(const char *p, size_t n)
{
    char *copy = gf_array(n + 1, 1);
    if (!copy) return NULL;
    if (n) memcpy(copy, p, n);
    copy[n] = '\0';
    return copy;
}

void gf_free(void *p)
{
    free(p);
}

void gf_memory_keep_little(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void gf_memory_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
