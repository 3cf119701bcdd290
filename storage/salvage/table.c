/*
 * The sound entries of one table file.
 *
 * Blocks are read one at a time. A block counts where its checksum is right, it decompresses, its
 * entries fill it, and its keys rise, also on those of the block before. The others are stepped
 * over.
 */
#include "storage/salvage/salvage.h"

#include "base/file.h"
#include "base/grow.h"
#include "base/memory.h"
#include "storage/check/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <snappy-c.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRAILER = 5, TAG = 8 };

static void note(gf_salvage_table *t, uint64_t at, const char *what)
{
    if (!t->damage[0]) snprintf(t->damage, sizeof t->damage, "at byte %" PRIu64 ": %s", at, what);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* GF_ENOTFOUND where the file ends before. */
static gf_status read_bytes(gf_salvage_table *t, uint64_t offset, uint64_t n, gf_buffer *to,
                            gf_error *err)
{
    gf_buffer_reset(to);
    char *p = gf_buffer_reserve(to, n ? (size_t)n : 1);
    if (!p) return gf_fail_memory(err, "a table");
    while (to->len < n) {
        ssize_t got = pread(t->fd, p + to->len, (size_t)n - to->len, (off_t)(offset + to->len));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return gf_fail_errno(err, "cannot read %s", t->name);
        if (got == 0) return GF_ENOTFOUND;
        to->len += (size_t)got;
    }
    return GF_OK;
}

static uint32_t read_u32le(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

/* Its entries, without the restart offsets behind them; false where the block is none. */
static bool trim_restarts(gf_slice *block)
{
    if (block->len < 4) return false;
    uint64_t tail = 4 + 4 * (uint64_t)read_u32le(block->ptr + block->len - 4);
    if (tail > block->len || tail == 4) return false;
    block->len -= (size_t)tail;
    return true;
}

/* `block` has its trailer behind it, and a checksum that is right: its entries. */
static gf_status unpack_block(gf_slice block, gf_buffer *plain, gf_slice *entries, bool *sound,
                              gf_error *err)
{
    size_t n = 0;
    char kind = block.ptr[block.len - TRAILER];
    block.len -= TRAILER;
    *sound = kind == 0;
    *entries = block;
    if (kind == 1 && snappy_uncompressed_length(block.ptr, block.len, &n) == SNAPPY_OK) {
        gf_buffer_reset(plain);
        char *to = gf_buffer_reserve(plain, n ? n : 1);
        if (!to) return gf_fail_memory(err, "a table");
        *sound = snappy_uncompress(block.ptr, block.len, to, &n) == SNAPPY_OK;
        *entries = gf_slice_of(to, n);
    }
    *sound = *sound && trim_restarts(entries);
    return GF_OK;
}

static bool checksum_is_right(gf_slice block)
{
    size_t n = block.len - 4;
    return gf_crc32c_mask(gf_crc32c(0, block.ptr, n)) == read_u32le(block.ptr + n);
}

/* GF_ENOTFOUND where the block is damaged. */
static gf_status read_block(gf_salvage_table *t, gf_salvage_block b, gf_slice *entries,
                            gf_error *err)
{
    bool sound = false;
    gf_status st = read_bytes(t, b.offset, b.size + TRAILER, &t->raw, err);
    if (st == GF_ENOTFOUND) note(t, b.offset, "a block lies outside the file");
    if (st != GF_OK) return st;
    if (!checksum_is_right(gf_buffer_view(&t->raw))) {
        note(t, b.offset, "a block's checksum is wrong");
        return GF_ENOTFOUND;
    }
    st = unpack_block(gf_buffer_view(&t->raw), &t->plain, entries, &sound, err);
    if (st == GF_OK && !sound) note(t, b.offset, "a block is damaged");
    return st == GF_OK && !sound ? GF_ENOTFOUND : st;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* An entry off the front; its key is made of the one before. False where it is none. */
static bool take_entry(gf_slice *entries, gf_buffer *key, gf_slice *value)
{
    uint64_t shared, unshared, size;
    gf_slice rest;
    if (!gf_slice_take_varint(entries, &shared) || !gf_slice_take_varint(entries, &unshared) ||
        !gf_slice_take_varint(entries, &size) || shared > key->len || unshared > entries->len ||
        !gf_slice_take_bytes(entries, (size_t)unshared, &rest) || size > entries->len ||
        !gf_slice_take_bytes(entries, (size_t)size, value))
        return false;
    key->len = (size_t)shared;
    gf_buffer_slice(key, rest);
    return true;
}

/* The tag behind a key: little-endian. */
static bool split_key(gf_slice inner, gf_salvage_item *item)
{
    if (inner.len < TAG) return false;
    item->tag = 0;
    for (int i = TAG - 1; i >= 0; i--)
        item->tag = item->tag << 8 | (unsigned char)inner.ptr[inner.len - TAG + (size_t)i];
    item->key = gf_slice_of(inner.ptr, inner.len - TAG);
    return (item->tag & 0xFF) <= 1;
}

/* All entries of the block are ones, and rise from `last` on (its tag with it; empty: none). */
static gf_status check_entries(gf_slice entries, gf_slice last, gf_buffer *key, gf_buffer *before,
                               bool *sound, gf_error *err)
{
    gf_salvage_item item, previous;
    gf_slice value;
    *sound = true;
    gf_buffer_reset(key);
    gf_buffer_reset(before);
    gf_buffer_slice(before, last);
    if (before->state != GF_OK) return gf_fail_memory(err, "a table");
    while (*sound && entries.len) {
        *sound = take_entry(&entries, key, &value) && key->state == GF_OK &&
                 split_key(gf_buffer_view(key), &item);
        if (*sound && before->len && split_key(gf_buffer_view(before), &previous))
            *sound = gf_salvage_compare(&previous, &item) < 0;
        gf_buffer_reset(before);
        gf_buffer_slice(before, gf_buffer_view(key));
        if (key->state != GF_OK || before->state != GF_OK) return gf_fail_memory(err, "a table");
    }
    gf_buffer_reset(key);
    return GF_OK;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static gf_status add_block(gf_salvage_table *t, gf_salvage_block b, gf_error *err)
{
    if (!gf_grow(&t->blocks, &t->capacity, t->n_blocks + 1, sizeof *t->blocks))
        return gf_fail_memory(err, "a table");
    t->blocks[t->n_blocks++] = b;
    return GF_OK;
}

static bool take_handle(gf_slice *s, gf_salvage_block *b)
{
    return gf_slice_take_varint(s, &b->offset) && gf_slice_take_varint(s, &b->size);
}

static bool is_within(gf_salvage_block b, uint64_t end)
{
    return b.offset <= end && b.size <= end - b.offset && end - b.offset - b.size >= TRAILER;
}

/* The blocks that the index names. GF_ENOTFOUND where footer or index are damaged. */
static gf_status list_by_index(gf_salvage_table *t, uint64_t size, gf_error *err)
{
    gf_salvage_block metaindex, index, b;
    gf_slice entries, value;
    if (size < GF_CHECK_FOOTER) return GF_ENOTFOUND;
    gf_status st = read_bytes(t, size - GF_CHECK_FOOTER, GF_CHECK_FOOTER, &t->raw, err);
    if (st != GF_OK) return st;
    gf_error why;
    gf_slice footer = gf_buffer_view(&t->raw);
    if (gf_check_footer(footer, size, &why) != GF_OK || !take_handle(&footer, &metaindex) ||
        !take_handle(&footer, &index) || !is_within(index, size - GF_CHECK_FOOTER))
        return GF_ENOTFOUND;
    st = read_block(t, index, &entries, err);
    gf_buffer_reset(&t->key);
    while (st == GF_OK && entries.len) {
        bool good = take_entry(&entries, &t->key, &value) && take_handle(&value, &b) &&
                    is_within(b, size - GF_CHECK_FOOTER);
        if (t->key.state != GF_OK) return gf_fail_memory(err, "a table");
        st = good ? add_block(t, b, err) : GF_ENOTFOUND;
    }
    gf_buffer_reset(&t->key);
    return st;
}

/* The length of the block at the front of `rest`, by its checksum; false where none fits. */
static bool find_length(gf_slice rest, size_t *length)
{
    uint32_t crc = 0;
    for (size_t n = 0; n + TRAILER <= rest.len; n++) {
        crc = gf_crc32c(crc, rest.ptr + n, 1);
        if ((unsigned char)rest.ptr[n] > 1 || gf_crc32c_mask(crc) != read_u32le(rest.ptr + n + 1))
            continue;
        *length = n;
        return true;
    }
    return false;
}

/*
 * Without an index: data blocks lie one behind the other from the beginning on. The first that is
 * none ends them: damage, or the block of the filter, whose end can be no number of restarts.
 */
static gf_status list_by_checksums(gf_salvage_table *t, uint64_t size, gf_error *err)
{
    gf_buffer whole = {0}, before = {0}, last = {0};
    bool sound = true;
    t->n_blocks = 0;
    gf_status st = read_bytes(t, 0, size, &whole, err);
    gf_slice rest = gf_buffer_view(&whole);
    for (size_t n; st == GF_OK && sound && find_length(rest, &n);) {
        gf_slice entries, block = gf_slice_of(rest.ptr, n + TRAILER);
        st = unpack_block(block, &t->plain, &entries, &sound, err);
        if (st == GF_OK && sound)
            st = check_entries(entries, gf_buffer_view(&last), &t->key, &before, &sound, err);
        if (st != GF_OK || !sound) break;
        st = add_block(t, (gf_salvage_block){(uint64_t)(rest.ptr - whole.ptr), n}, err);
        gf_buffer_reset(&last);
        gf_buffer_slice(&last, gf_buffer_view(&before));
        if (st == GF_OK) st = gf_buffer_check(&last, err);
        rest = gf_slice_skip(rest, n + TRAILER);
    }
    gf_buffer_release(&whole);
    gf_buffer_release(&before);
    gf_buffer_release(&last);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- the walk -------------------------------------------------------------------------------- */

gf_status gf_salvage_table_open(gf_salvage_table *t, const char *path, gf_error *err)
{
    struct stat info;
    *t = (gf_salvage_table){.fd = open(path, O_RDONLY | O_CLOEXEC), .name = path};
    if (t->fd < 0) return gf_fail_errno(err, "cannot open %s", path);
    gf_status st = GF_OK;
    if (fstat(t->fd, &info) != 0) st = gf_fail_errno(err, "cannot read %s", path);
    uint64_t size = st == GF_OK ? (uint64_t)info.st_size : 0;
    if (st == GF_OK) st = list_by_index(t, size, err);
    if (st == GF_ENOTFOUND) {
        note(t, size, "the index of the table's blocks is damaged");
        st = list_by_checksums(t, size, err);
    }
    if (st != GF_OK) gf_salvage_table_close(t);
    return st;
}

/* The next sound block's entries; GF_ENOTFOUND behind the last. */
static gf_status enter_block(gf_salvage_table *t, gf_error *err)
{
    gf_buffer before = {0};
    while (t->next < t->n_blocks) {
        gf_salvage_block b = t->blocks[t->next++];
        bool sound = false;
        gf_slice entries;
        gf_status st = read_block(t, b, &entries, err);
        if (st == GF_ENOTFOUND) continue;
        if (st == GF_OK)
            st = check_entries(entries, gf_buffer_view(&t->last), &t->key, &before, &sound, err);
        gf_buffer_release(&before);
        before = (gf_buffer){0};
        if (st != GF_OK) return st;
        if (!sound) note(t, b.offset, "a block's entries are damaged");
        t->entries = sound ? entries : (gf_slice){0};
        if (t->entries.len) return GF_OK;
    }
    return GF_ENOTFOUND;
}

gf_status gf_salvage_table_next(gf_salvage_table *t, gf_error *err)
{
    if (t->entries.len == 0) {
        gf_status st = enter_block(t, err);
        if (st != GF_OK) return st;
    }
    bool good = take_entry(&t->entries, &t->key, &t->item.value) &&
                split_key(gf_buffer_view(&t->key), &t->item);
    gf_buffer_reset(&t->last);
    gf_buffer_slice(&t->last, gf_buffer_view(&t->key));
    if (t->key.state != GF_OK || t->last.state != GF_OK) return gf_fail_memory(err, "a table");
    return good ? GF_OK : gf_fail(err, GF_EIO, "%s changes while it is read", t->name);
}

void gf_salvage_table_close(gf_salvage_table *t)
{
    if (t->fd >= 0) close(t->fd);
    gf_free(t->blocks);
    gf_buffer_release(&t->raw);
    gf_buffer_release(&t->plain);
    gf_buffer_release(&t->key);
    gf_buffer_release(&t->last);
    *t = (gf_salvage_table){.fd = -1};
}
