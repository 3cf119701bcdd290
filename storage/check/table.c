/* Every block of a LevelDB table file. */
#include "storage/check/files.h"

#include "base/grow.h"
#include "base/memory.h"
#include "grouperfish/buffer.h"
#include "storage/check/crc32c.h"

#include <snappy-c.h>
#include <stdlib.h>

/*
 *     file    data blocks, filter block, metaindex block, index block, footer
 *     block   data | compression (u8: 0 none, 1 Snappy) | masked CRC-32C of both (u32 LE)
 *     footer  handles of metaindex and index, zeros up to byte 40, magic (u64 LE)
 *     handle  offset, size (varints)
 *     data    entries: shared, unshared, value length (varints), rest of the key, value;
 *             then restart offsets (u32 LE each) and their number (u32 LE)
 */
enum { FOOTER = GF_CHECK_FOOTER, HANDLES = 40, TRAILER = 5 };
static const unsigned char MAGIC[8] = {0x57, 0xFB, 0x80, 0x8B, 0x24, 0x75, 0x47, 0xDB};

typedef struct handle {
    uint64_t offset, size;
} handle;

typedef struct table_check {
    gf_slice file;
    handle *blocks; /* n of capacity: all that were seen */
    size_t n, capacity;
} table_check;

static gf_status fail_at(gf_error *err, uint64_t at, const char *what)
{
    return gf_fail(err, GF_ECORRUPT, "at byte %llu: %s", (unsigned long long)at, what);
}

/* A varint in its shortest form, as it was written: another form of the number is damage. */
static bool take_number(gf_slice *s, uint64_t *v)
{
    const char *start = s->ptr;
    return gf_slice_take_varint(s, v) && (s->ptr - start == 1 || s->ptr[-1] != 0);
}

static bool take_handle(gf_slice *s, handle *h)
{
    return take_number(s, &h->offset) && take_number(s, &h->size);
}

static bool is_within(handle h, uint64_t end)
{
    return h.offset <= end && h.size <= end - h.offset && end - h.offset - h.size >= TRAILER;
}

/* Check a block's place and checksum, and remember it. */
static gf_status check_block(table_check *t, handle h, gf_error *err)
{
    if (!is_within(h, t->file.len - FOOTER))
        return fail_at(err, h.offset, "a block lies outside the file");
    const char *p = t->file.ptr + h.offset;
    const unsigned char *c = (const unsigned char *)p + h.size + 1;
    uint32_t stored =
        (uint32_t)c[0] | (uint32_t)c[1] << 8 | (uint32_t)c[2] << 16 | (uint32_t)c[3] << 24;
    if (gf_crc32c_mask(gf_crc32c(0, p, (size_t)h.size + 1)) != stored)
        return fail_at(err, h.offset, "a block's checksum is wrong");
    if (!gf_grow(&t->blocks, &t->capacity, t->n + 1, sizeof *t->blocks))
        return gf_fail_memory(err, "a table check");
    t->blocks[t->n++] = h;
    return GF_OK;
}

/* The block's content, decompressed into `scratch` where it has to be. */
static gf_status open_block(const table_check *t, handle h, gf_buffer *scratch, gf_slice *content,
                            gf_error *err)
{
    const char *p = t->file.ptr + h.offset;
    *content = gf_slice_of(p, (size_t)h.size);
    if (p[h.size] == 0) return GF_OK;
    size_t n = 0;
    if (p[h.size] != 1 || snappy_uncompressed_length(p, (size_t)h.size, &n) != SNAPPY_OK)
        return fail_at(err, h.offset, "a block's compression is damaged");
    gf_buffer_reset(scratch);
    char *to = gf_buffer_reserve(scratch, n ? n : 1);
    if (!to) return gf_fail_memory(err, "a table check");
    if (snappy_uncompress(p, (size_t)h.size, to, &n) != SNAPPY_OK)
        return fail_at(err, h.offset, "a block's compression is damaged");
    *content = gf_slice_of(to, n);
    return GF_OK;
}

/* The entries of an index or metaindex block, without their restart offsets. */
static bool entries_of(gf_slice content, gf_slice *entries)
{
    if (content.len < 4) return false;
    const unsigned char *p = (const unsigned char *)content.ptr + content.len - 4;
    uint64_t restarts =
        (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
    uint64_t tail = 4 * restarts + 4;
    if (tail > content.len) return false;
    *entries = gf_slice_of(content.ptr, content.len - (size_t)tail);
    return true;
}

static bool take_entry(gf_slice *entries, handle *h)
{
    uint64_t shared, unshared, size;
    gf_slice key, value;
    return gf_slice_take_varint(entries, &shared) && gf_slice_take_varint(entries, &unshared) &&
           gf_slice_take_varint(entries, &size) && unshared <= entries->len &&
           gf_slice_take_bytes(entries, (size_t)unshared, &key) && size <= entries->len &&
           gf_slice_take_bytes(entries, (size_t)size, &value) && take_handle(&value, h);
}

/* Check all blocks that an index block names. */
static gf_status check_named(table_check *t, handle index, gf_error *err)
{
    gf_buffer scratch = {0};
    gf_slice content, entries;
    gf_status st = open_block(t, index, &scratch, &content, err);
    if (st == GF_OK && !entries_of(content, &entries))
        st = fail_at(err, index.offset, "an index block is damaged");
    while (st == GF_OK && entries.len) {
        handle h;
        if (take_entry(&entries, &h))
            st = check_block(t, h, err);
        else
            st = fail_at(err, index.offset, "an index block is damaged");
    }
    gf_buffer_release(&scratch);
    return st;
}

static int by_offset(const void *a, const void *b)
{
    const handle *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Every byte before the footer belongs to exactly one block. */
static gf_status check_tiling(table_check *t, gf_error *err)
{
    uint64_t at = 0;
    qsort(t->blocks, t->n, sizeof *t->blocks, by_offset);
    for (size_t i = 0; i < t->n; i++) {
        if (t->blocks[i].offset != at) return fail_at(err, at, "bytes belong to no block");
        at += t->blocks[i].size + TRAILER;
    }
    if (at != t->file.len - FOOTER) return fail_at(err, at, "bytes belong to no block");
    return GF_OK;
}

/* `file_size` is at least that of a footer. */
static gf_status take_footer(gf_slice footer, uint64_t file_size, handle *metaindex, handle *index,
                             gf_error *err)
{
    uint64_t at = file_size - FOOTER;
    if (memcmp(footer.ptr + HANDLES, MAGIC, sizeof MAGIC) != 0)
        return fail_at(err, at + HANDLES, "the footer's magic number is wrong");
    footer.len = HANDLES;
    if (!take_handle(&footer, metaindex) || !take_handle(&footer, index) ||
        !is_within(*metaindex, at) || !is_within(*index, at))
        return fail_at(err, at, "the footer is damaged");
    for (size_t i = 0; i < footer.len; i++)
        if (footer.ptr[i]) return fail_at(err, at, "the footer's filling is damaged");
    return GF_OK;
}

gf_status gf_check_footer(gf_slice footer, uint64_t file_size, gf_error *err)
{
    handle metaindex, index;
    if (footer.len < FOOTER || file_size < FOOTER)
        return fail_at(err, 0, "the file is too short for a table");
    return take_footer(footer, file_size, &metaindex, &index, err);
}

gf_status gf_check_table(gf_slice content, gf_error *err)
{
    table_check t = {.file = content};
    handle metaindex, index;
    if (content.len < FOOTER) return fail_at(err, 0, "the file is too short for a table");
    gf_slice footer = gf_slice_skip(content, content.len - FOOTER);
    gf_status st = take_footer(footer, content.len, &metaindex, &index, err);
    if (st == GF_OK) st = check_block(&t, metaindex, err);
    if (st == GF_OK) st = check_block(&t, index, err);
    if (st == GF_OK) st = check_named(&t, metaindex, err);
    if (st == GF_OK) st = check_named(&t, index, err);
    if (st == GF_OK) st = check_tiling(&t, err);
    gf_free(t.blocks);
    return st;
}
