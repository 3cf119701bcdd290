#include "storage/leveldb/archive.h"

#include "base/memory.h"
#include "storage/check/crc32c.h"
#include "storage/leveldb/internal.h"

#include <snappy-c.h>
#include <string.h>

static const char magic[] = "grouperfish archive 1\n";

enum {
    MAGIC_BYTES = sizeof magic - 1,
    HEAD_BYTES = 8,        /* of a block: length and CRC */
    END_BYTES = 8,         /* the number of entries */
    BLOCK_BYTES = 1 << 20, /* entries of a block, or one longer entry */
    MOST_BLOCK = 1 << 30   /* a longer block is damage */
};

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct writer {
    gf_archive_take *take;
    void *taker;
    const gf_cancel *cancel;
    gf_buffer entries; /* of the block that is being filled */
    gf_buffer block;
    uint64_t n;
} writer;

static gf_status hand_over(writer *w, uint32_t length, gf_slice bytes, gf_error *err)
{
    gf_buffer head = {0};
    gf_buffer_u32be(&head, length);
    gf_buffer_u32be(&head, gf_crc32c(0, bytes.ptr, bytes.len));
    gf_status st = gf_buffer_check(&head, err);
    if (st == GF_OK) st = w->take(w->taker, gf_buffer_view(&head), err);
    if (st == GF_OK) st = w->take(w->taker, bytes, err);
    gf_buffer_release(&head);
    return st;
}

static gf_status write_block(writer *w, gf_error *err)
{
    if (w->entries.len == 0) return GF_OK;
    size_t n = snappy_max_compressed_length(w->entries.len);
    gf_buffer_reset(&w->block);
    char *to = gf_buffer_reserve(&w->block, n);
    if (!to || snappy_compress(w->entries.ptr, w->entries.len, to, &n) != SNAPPY_OK)
        return gf_fail_memory(err, "an archive");
    gf_buffer_reset(&w->entries);
    gf_status st = gf_cancel_check(w->cancel, err);
    return st == GF_OK ? hand_over(w, (uint32_t)n, gf_slice_of(to, n), err) : st;
}

static gf_status write_entries(writer *w, gf_leveldb_iterator *it, gf_error *err)
{
    gf_leveldb_iterator_first(it);
    for (; gf_leveldb_iterator_valid(it); gf_leveldb_iterator_next(it)) {
        gf_status st = gf_leveldb_iterator_status(it, err);
        gf_buffer_string(&w->entries, gf_leveldb_iterator_key(it));
        gf_buffer_string(&w->entries, gf_leveldb_iterator_value(it));
        w->n++;
        if (st == GF_OK) st = gf_buffer_check(&w->entries, err);
        if (st == GF_OK && w->entries.len >= BLOCK_BYTES) st = write_block(w, err);
        if (st != GF_OK) return st;
    }
    gf_status st = gf_leveldb_iterator_status(it, err);
    return st == GF_OK ? write_block(w, err) : st;
}

gf_status gf_leveldb_archive_write(gf_backend *from, gf_archive_take *take, void *taker,
                                   const gf_cancel *cancel, gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)from;
    writer w = {.take = take, .taker = taker, .cancel = cancel};
    gf_buffer end = {0};
    gf_leveldb_view view = gf_leveldb_view_open(b);
    gf_leveldb_iterator *it = gf_leveldb_iterator_create(b->db, view.snapshot, false);
    gf_status st = take(taker, gf_slice_of(magic, MAGIC_BYTES), err);
    if (st == GF_OK) st = write_entries(&w, it, err);
    gf_leveldb_iterator_free(it);
    gf_leveldb_view_close(b, &view);
    gf_buffer_u64be(&end, w.n);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    if (st == GF_OK) st = hand_over(&w, 0, gf_buffer_view(&end), err);
    gf_buffer_release(&end);
    gf_buffer_release(&w.entries);
    gf_buffer_release(&w.block);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef enum reading_state { READING_MAGIC, READING_HEAD, READING_BLOCK, READING_END, READ } state;

struct gf_archive_reader {
    gf_leveldb *to;
    gf_leveldb_batch *batch;
    state state;
    size_t wanted;     /* bytes of the piece that is being read */
    gf_buffer piece;   /* what there is of it */
    gf_buffer entries; /* of a block */
    uint32_t crc;
    uint64_t n;
};

gf_status gf_archive_reader_create(gf_backend *to, gf_archive_reader **reader, gf_error *err)
{
    gf_archive_reader *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "an archive");
    r->to = (gf_leveldb *)to;
    r->batch = gf_leveldb_batch_create();
    r->wanted = MAGIC_BYTES;
    *reader = r;
    return GF_OK;
}

void gf_archive_reader_free(gf_archive_reader *r)
{
    if (!r) return;
    gf_leveldb_batch_free(r->batch);
    gf_buffer_release(&r->piece);
    gf_buffer_release(&r->entries);
    gf_free(r);
}

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "the archive is damaged");
}

static gf_status read_entries(gf_archive_reader *r, gf_slice entries, gf_error *err)
{
    gf_slice key, value;
    while (entries.len) {
        if (!gf_slice_take_string(&entries, &key) || !gf_slice_take_string(&entries, &value))
            return damaged(err);
        gf_leveldb_batch_put(r->batch, key, value);
        r->n++;
    }
    gf_status st = gf_leveldb_commit(r->to, r->batch, GF_SYNC_ON, err);
    gf_leveldb_batch_clear(r->batch);
    return st;
}

static gf_status read_block(gf_archive_reader *r, gf_slice block, gf_error *err)
{
    size_t n = 0;
    if (snappy_uncompressed_length(block.ptr, block.len, &n) != SNAPPY_OK || n == 0 ||
        n > MOST_BLOCK)
        return damaged(err);
    gf_buffer_reset(&r->entries);
    char *to = gf_buffer_reserve(&r->entries, n);
    if (!to) return gf_fail_memory(err, "an archive");
    if (snappy_uncompress(block.ptr, block.len, to, &n) != SNAPPY_OK) return damaged(err);
    return read_entries(r, gf_slice_of(to, n), err);
}

static void expect(gf_archive_reader *r, state next, size_t bytes)
{
    r->state = next;
    r->wanted = bytes;
    gf_buffer_reset(&r->piece);
}

static gf_status read_head(gf_archive_reader *r, gf_slice head, gf_error *err)
{
    uint32_t length;
    gf_slice_take_u32be(&head, &length);
    gf_slice_take_u32be(&head, &r->crc);
    if (length > MOST_BLOCK) return damaged(err);
    expect(r, length ? READING_BLOCK : READING_END, length ? length : END_BYTES);
    return GF_OK;
}

static gf_status read_piece(gf_archive_reader *r, gf_error *err)
{
    gf_slice piece = gf_buffer_view(&r->piece);
    gf_status st = GF_OK;
    switch (r->state) {
    case READING_MAGIC:
        if (!gf_slice_equal(piece, gf_slice_of(magic, MAGIC_BYTES)))
            return gf_fail(err, GF_EINVAL, "this is no archive of a store");
        expect(r, READING_HEAD, HEAD_BYTES);
        return GF_OK;
    case READING_HEAD:
        return read_head(r, piece, err);
    case READING_BLOCK:
        if (gf_crc32c(0, piece.ptr, piece.len) != r->crc) return damaged(err);
        st = read_block(r, piece, err);
        expect(r, READING_HEAD, HEAD_BYTES);
        return st;
    default:
        if (gf_crc32c(0, piece.ptr, piece.len) != r->crc || gf_read_u64be(piece.ptr) != r->n)
            return damaged(err);
        expect(r, READ, 0);
        return GF_OK;
    }
}

gf_status gf_archive_reader_take(void *reader, gf_slice bytes, gf_error *err)
{
    gf_archive_reader *r = reader;
    gf_status st = GF_OK;
    while (bytes.len && st == GF_OK) {
        if (r->state == READ) return damaged(err);
        size_t n = r->wanted - r->piece.len;
        if (n > bytes.len) n = bytes.len;
        gf_buffer_append(&r->piece, bytes.ptr, n);
        st = gf_buffer_check(&r->piece, err);
        bytes = gf_slice_skip(bytes, n);
        if (st == GF_OK && r->piece.len == r->wanted) st = read_piece(r, err);
    }
    return st;
}

gf_status gf_archive_reader_end(gf_archive_reader *r, uint64_t *entries, gf_error *err)
{
    *entries = r->n;
    if (r->state == READ) return GF_OK;
    if (r->state == READING_MAGIC) return gf_fail(err, GF_EINVAL, "this is no archive of a store");
    return gf_fail(err, GF_ECORRUPT, "the archive was cut short: its end is missing");
}
