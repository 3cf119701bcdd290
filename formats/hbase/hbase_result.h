/**
 * HBase's Result, the cells of a row, as its ResultSerialization writes it into files.
 *
 * Since 0.96 it is a message of Protocol Buffers behind its length (a varint):
 *
 *     Result { repeated Cell cell = 1; ... }
 *     Cell   { bytes row = 1, family = 2, qualifier = 3; uint64 timestamp = 4; enum cell_type = 5;
 *              bytes value = 6, tags = 7; }
 *
 * Until 0.94 it was KeyValues behind the length of all (u32) and of each (u32), big-endian:
 *
 *     | u32 key | u32 value | u16 row | row | u8 family | family | qualifier | i64 time | u8 kind | value |
 *
 * The two are told apart by their lengths: in the one form the varint is that of all bytes behind it,
 * in the other the u32 is, and begins with a zero byte up to 16 MiB.
 *
 * Source: ClientProtos (Client.proto, Cell.proto), KeyValue and Result of HBase 0.94 and 2.5.
 */
#ifndef GF_FORMATS_HBASE_HBASE_RESULT_H
#define GF_FORMATS_HBASE_HBASE_RESULT_H

#include "formats/hbase/wide_row.h"

/** The classes that an export's file names. */
#define GF_HBASE_KEY_CLASS   "org.apache.hadoop.hbase.io.ImmutableBytesWritable"
#define GF_HBASE_VALUE_CLASS "org.apache.hadoop.hbase.client.Result"

/**
 * @param key    of the record: an ImmutableBytesWritable, the row's key behind its length
 * @param value  of the record
 * @param[out] row  its cells are replaced; borrows from key and value
 * @return GF_OK; GF_EINVAL, which says why it is none; GF_ENOMEM
 */
gf_status gf_hbase_result_read(gf_slice key, gf_slice value, gf_wide_row *row, gf_error *err);

#endif
