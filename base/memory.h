/**
 * Allocation. Everything of ours is allocated here, so that tests can make the n-th allocation fail
 * and see that the call reports it, leaks nothing and leaves its outputs unchanged.
 */
#ifndef GF_BASE_MEMORY_H
#define GF_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/** n bytes, not initialised; NULL on failure. Size 0 gives a pointer that can be freed. */
void *gf_malloc(size_t size);

/** n zeroed elements of `size` bytes; NULL on failure and where n * size overflows. */
void *gf_calloc(size_t n, size_t size);

/**
 * As gf_calloc, for tables of megabytes that are read here and there: asks the system for huge
 * pages, so that a look at such a table does not walk the page tables as well.
 */
void *gf_calloc_large(size_t n, size_t size);

/** As gf_array, with huge pages likewise: for megabytes that are written once and read often. */
void *gf_array_large(size_t n, size_t size);

/** p grown or cut to n elements of `size` bytes; NULL on failure, and p is then unchanged. */
void *gf_realloc(void *p, size_t n, size_t size);

/** n elements of `size` bytes, not initialised; NULL on failure and on overflow. */
void *gf_array(size_t n, size_t size);

/** Copies n bytes of p and adds a NUL; NULL on failure. */
char *gf_copy_string(const char *p, size_t n);

void gf_free(void *p);

/** Give memory that is free back to the system, where it can be. */
void gf_memory_trim(void);

/**
 * For a process that runs for long: pieces of a megabyte and more go back to the system once they
 * are freed. glibc would raise that bound with each larger piece that is freed, up to 32 MB, and
 * keep what lies between others.
 */
void gf_memory_keep_little(void);

/**
 * For tests: let the n-th allocation from now (0 is the next one) fail, once; a negative n lets all
 * succeed. Counts the allocations of every thread.
 */
void gf_memory_fail_at(int64_t n);

/** For tests: from now on no allocation of this thread fails, or counts; false: as before. */
void gf_memory_spare(int spared);

/** For tests: whether the failure that was asked for has happened. */
int gf_memory_failed(void);

#endif
