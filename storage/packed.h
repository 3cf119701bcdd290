/**
 * The columns of a packed family in one value.
 *
 *     column, column, ...    known columns first, by number, then the others, by name
 *     column   tag (varint: number + 1 of a known column, or 0 and the name) | value
 *     name and value are each a varint length and that many bytes
 *
 * The order is fixed, so that equal columns give equal bytes.
 */
#ifndef GF_STORAGE_PACKED_H
#define GF_STORAGE_PACKED_H

#include "storage/table.h"

/** Sort columns into their stored order, in place; of equal names the last one given stays. */
size_t gf_packed_order(const gf_family *family, gf_column *columns, size_t n);

/** Append columns, which are in stored order. */
void gf_packed_write(const gf_family *family, const gf_column *columns, size_t n, gf_buffer *out);

/** Take the next column off *rest, borrowed from it. GF_ENOTFOUND at the end; GF_ECORRUPT. */
gf_status gf_packed_next(const gf_family *family, gf_slice *rest, gf_column *column, gf_error *err);

#endif
