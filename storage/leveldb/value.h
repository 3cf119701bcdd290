/**
 * The bytes of a value in LevelDB: a head, and blocks of a long one.
 *
 *     head entry      flags (1 byte) | [timestamp, u64 BE] | [stored length, varint] | bytes
 *     further blocks  bytes
 *
 *     flags   1 timestamp follows    2 bytes are compressed by Snappy    4 the value is cut
 *             8 the value is a block of a run (storage/run.h)
 *
 * A value of more than GF_BLOCK_BYTES (after compression) is cut: the head entry holds the first
 * block and the length of all, the entries behind it one block each.
 */
#ifndef GF_STORAGE_LEVELDB_VALUE_H
#define GF_STORAGE_LEVELDB_VALUE_H

#include "grouperfish/buffer.h"
#include "grouperfish/table.h"

enum { GF_BLOCK_BYTES = 64 << 10 };
enum { GF_VALUE_IS_BLOCK = 8 }; /* the flag */

/** A value made ready for storing; bytes borrow from the input or from `scratch`. */
typedef struct gf_stored_value {
    gf_slice bytes; /* of all blocks */
    uint8_t flags;
    int64_t timestamp;
} gf_stored_value;

/** A head entry taken apart. */
typedef struct gf_value_head {
    uint8_t flags;
    int64_t timestamp;
    uint64_t length; /* stored bytes in all blocks */
    gf_slice first;  /* the first block, borrowed from the entry */
} gf_value_head;

/** Flag a value that was compressed before. */
gf_stored_value gf_value_of_compressed(const gf_compressed *value, int64_t timestamp);

/** Compress (where that helps) and flag a value. */
gf_status gf_value_prepare(gf_slice value, gf_compression compression, int64_t timestamp,
                           gf_buffer *scratch, gf_stored_value *out, gf_error *err);

/** Blocks that the value takes: 1 for most. */
uint32_t gf_value_blocks(const gf_stored_value *v);

/** Append the head entry's bytes. */
void gf_value_write_head(const gf_stored_value *v, gf_buffer *out);

/** The bytes of block i >= 1. */
gf_slice gf_value_block(const gf_stored_value *v, uint32_t i);

/** GF_ECORRUPT where the entry is no head. */
gf_status gf_value_read_head(gf_slice entry, gf_value_head *head, gf_error *err);

/** Blocks that a stored value of that length has. */
uint32_t gf_value_head_blocks(const gf_value_head *head);

/** The value behind its stored bytes: `stored` itself, or decompressed into scratch. */
gf_status gf_value_unpack(uint8_t flags, gf_slice stored, gf_buffer *scratch, gf_slice *value,
                          gf_error *err);

#endif
