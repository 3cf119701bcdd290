#include "base/arena.h"

#include "base/memory.h"

#include <assert.h>
#include <stdint.h>

typedef struct gf_arena_block {
    struct gf_arena_block *next;
    size_t size; /* bytes of data */
    uint64_t data[];
} gf_arena_block;

enum { FIRST_BLOCK = 1 << 10, LARGEST_BLOCK = 1 << 20 };

void gf_arena_init(gf_arena *a)
{
    *a = (gf_arena){0};
}

static void free_blocks(gf_arena_block *b)
{
    while (b) {
        gf_arena_block *next = b->next;
        gf_free(b);
        b = next;
    }
}

void gf_arena_release(gf_arena *a)
{
    free_blocks(a->blocks);
    gf_arena_init(a);
}

void gf_arena_reset(gf_arena *a)
{
    a->used = 0;
    if (!a->blocks) return;
    free_blocks(a->blocks->next);
    a->blocks->next = NULL;
    a->total = a->blocks->size;
}

/* Blocks double until LARGEST_BLOCK; a request beyond that gets a block of its own size. */
static int add_block(gf_arena *a, size_t n)
{
    size_t size = a->blocks ? a->blocks->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
    if (size < n) size = n;
    if (size > SIZE_MAX - sizeof(gf_arena_block)) return 0;
    gf_arena_block *b = gf_malloc(sizeof *b + size);
    if (!b) return 0;
    b->next = a->blocks;
    b->size = size;
    a->blocks = b;
    a->used = 0;
    a->total += size;
    return 1;
}

void *gf_arena_alloc(gf_arena *a, size_t n)
{
    if (n > SIZE_MAX - 8) return NULL;
    n = (n + 7) & ~(size_t)7;
    if (!a->blocks || n > a->blocks->size - a->used)
        if (!add_block(a, n)) return NULL;
    char *p = (char *)a->blocks->data + a->used;
    a->used += n;
    assert(a->used <= a->blocks->size);
    return p;
}

gf_slice gf_arena_copy(gf_arena *a, gf_slice s)
{
    char *p = gf_arena_alloc(a, s.len + 1);
    if (!p) return (gf_slice){NULL, 0};
    if (s.len) memcpy(p, s.ptr, s.len);
    p[s.len] = '\0';
    return (gf_slice){p, s.len};
}
