/*
 * Cells of the engine's tables. A value has a byte in front, so none is empty, and says what it is:
 *
 *     value     kind (1 byte), bytes
 *     kinds     0 the value   1 a block of a run (storage/run.h)   2 is cut   3 a block that is cut
 *     cut       id (8 bytes), length (8 bytes): the bytes are those of the parts, one behind the other
 *     part      a cell of the family `parts` of the same row
 *               family (1 byte), length of the qualifier (4 bytes), qualifier, id (8 bytes),
 *               number of the part from 0 on (4 bytes) -> PART_BYTES of the value, the last fewer
 *
 * Integers are big-endian. HBase takes no cell beyond 10 MB and its gateway no request beyond 2 MB,
 * unless they are told to: so a value of more than PART_BYTES is cut, and the larger values of a row
 * that has more in all. Parts are written before the cell that names them, each by itself, as of the
 * same time; they are deleted when the cell is, or another value with parts takes its place.
 */
#include "storage/hbase/internal.h"

#include "base/clock.h"

#include <stdatomic.h>

enum { ID_BYTES = 8, CUT_BYTES = 1 + ID_BYTES + 8 };

/* ---- names of parts -------------------------------------------------------------------------- */

static void write_part_name(gf_buffer *to, unsigned family, gf_slice qualifier, uint64_t id,
                            uint32_t number)
{
    gf_buffer_byte(to, (char)family);
    gf_buffer_u32be(to, (uint32_t)qualifier.len);
    gf_buffer_slice(to, qualifier);
    gf_buffer_u64be(to, id);
    gf_buffer_u32be(to, number);
}

bool gf_hbase_part_read(gf_slice name, gf_hbase_part *part)
{
    uint32_t length, number;
    if (name.len < 1) return false;
    part->family = (unsigned char)name.ptr[0];
    name = gf_slice_skip(name, 1);
    if (!gf_slice_take_u32be(&name, &length) || length > name.len) return false;
    part->qualifier = gf_slice_of(name.ptr, length);
    name = gf_slice_skip(name, length);
    return gf_slice_take_u64be(&name, &part->id) && gf_slice_take_u32be(&name, &number) &&
           name.len == 0;
}

uint64_t gf_hbase_new_id(int64_t timestamp)
{
    static atomic_uint counter;
    if (timestamp) return (uint64_t)timestamp; /* a change that is made again has the same parts */
    uint64_t nanoseconds = (uint64_t)(gf_clock_seconds() * 1e9);
    return (uint64_t)gf_clock_ms() << 24 ^ nanoseconds << 8 ^
           (uint64_t)(atomic_fetch_add(&counter, 1) & 0xFF);
}

/* ---- writing --------------------------------------------------------------------------------- */

void gf_hbase_put_value(gf_buffer *to, uint16_t id, gf_slice value, bool is_block,
                        const uint64_t *cut)
{
    gf_thrift_field(to, GF_THRIFT_STRING, id);
    gf_buffer_u32be(to, (uint32_t)(cut ? CUT_BYTES : value.len + 1));
    gf_buffer_byte(to, (char)((is_block ? GF_HBASE_BLOCK : 0) | (cut ? GF_HBASE_CUT : 0)));
    if (cut) {
        gf_buffer_u64be(to, *cut);
        gf_buffer_u64be(to, value.len);
    } else {
        gf_buffer_slice(to, value);
    }
}

gf_status gf_hbase_write_parts(gf_hbase *b, const gf_hbase_table *t, gf_slice row, unsigned family,
                               gf_slice qualifier, gf_slice value, uint64_t id, int64_t timestamp,
                               gf_error *err)
{
    enum { FSYNC_WAL = 4 };
    gf_hbase_call call = {0};
    gf_buffer name = {0}, *to = &call.request;
    gf_status st = GF_OK;
    for (uint32_t i = 0; st == GF_OK && (size_t)i * GF_HBASE_PART_BYTES < value.len; i++) {
        gf_slice rest = gf_slice_skip(value, (size_t)i * GF_HBASE_PART_BYTES);
        if (rest.len > GF_HBASE_PART_BYTES) rest.len = GF_HBASE_PART_BYTES;
        gf_buffer_reset(&name);
        write_part_name(&name, family, qualifier, id, i);
        st = gf_buffer_check(&name, err);
        if (st != GF_OK) break;
        gf_hbase_begin_on_table(&call, "put", t);
        gf_thrift_field(to, GF_THRIFT_STRUCT, 2);
        gf_thrift_string_field(to, 1, row);
        gf_thrift_field(to, GF_THRIFT_LIST, 2);
        gf_thrift_list(to, GF_THRIFT_STRUCT, 1);
        gf_thrift_string_field(to, 1, gf_slice_str(gf_hbase_parts));
        gf_thrift_string_field(to, 2, gf_buffer_view(&name));
        gf_thrift_string_field(to, 3, rest);
        if (timestamp) gf_thrift_i64_field(to, 4, timestamp);
        gf_thrift_stop(to);
        gf_thrift_i32_field(to, 6, FSYNC_WAL);
        gf_thrift_stop(to);
        /* The same bytes again do no harm. */
        st = gf_hbase_call_run(b->client, &call, GF_THRIFT_STOP, GF_HBASE_WRITES_AGAIN, err);
    }
    gf_hbase_call_release(&call);
    gf_buffer_release(&name);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "a cell in HBase is none of a table of Grouperfish");
}

/* A part goes when its cell does: then the cell that was read is of before, and is read once more. */
static gf_status lost_part(gf_error *err)
{
    return gf_fail(err, GF_ECONFLICT, "a large value was deleted while it was read");
}

static gf_status read_part(gf_hbase *b, const gf_hbase_table *t, gf_slice row, gf_slice name,
                           char *to, size_t n, gf_error *err)
{
    gf_hbase_call call = {0};
    gf_hbase_result result = {0};
    gf_hbase_cell cell = {0};
    gf_buffer *request = &call.request;
    gf_hbase_begin_on_table(&call, "get", t);
    gf_thrift_field(request, GF_THRIFT_STRUCT, 2);
    gf_thrift_string_field(request, 1, row);
    gf_thrift_field(request, GF_THRIFT_LIST, 2);
    gf_thrift_list(request, GF_THRIFT_STRUCT, 1);
    gf_thrift_string_field(request, 1, gf_slice_str(gf_hbase_parts));
    gf_thrift_string_field(request, 2, name);
    gf_thrift_stop(request);
    gf_thrift_stop(request);
    gf_status st = gf_hbase_call_run(b->client, &call, GF_THRIFT_STRUCT, GF_HBASE_READS, err);
    if (st == GF_OK && call.has_result &&
        (!gf_hbase_take_result(&call.result, &result) ||
         (result.n_cells && !gf_hbase_take_cell(&result.cells, &cell))))
        st = gf_fail(err, GF_EIO, "the gateway of HBase sent a row that cannot be read");
    if (st == GF_OK && result.n_cells == 0) st = lost_part(err);
    if (st == GF_OK && cell.value.len != n) st = damaged(err);
    if (st == GF_OK) memcpy(to, cell.value.ptr, n);
    gf_hbase_call_release(&call);
    return st;
}

static gf_status read_parts(gf_hbase *b, const gf_hbase_table *t, gf_slice row, unsigned family,
                            gf_slice qualifier, uint64_t id, char *to, size_t length, gf_error *err)
{
    gf_buffer name = {0};
    gf_status st = GF_OK;
    for (uint32_t i = 0; st == GF_OK && (size_t)i * GF_HBASE_PART_BYTES < length; i++) {
        size_t at = (size_t)i * GF_HBASE_PART_BYTES;
        size_t n = length - at < GF_HBASE_PART_BYTES ? length - at : GF_HBASE_PART_BYTES;
        gf_buffer_reset(&name);
        write_part_name(&name, family, qualifier, id, i);
        st = gf_buffer_check(&name, err);
        if (st == GF_OK) st = read_part(b, t, row, gf_buffer_view(&name), to + at, n, err);
    }
    gf_buffer_release(&name);
    return st;
}

gf_status gf_hbase_read_value(gf_hbase *b, const gf_hbase_table *t, gf_slice row, unsigned family,
                              const gf_hbase_cell *cell, gf_row *into, gf_slice *value,
                              bool *is_block, gf_error *err)
{
    gf_slice rest = cell->value;
    uint64_t id, length;
    if (rest.len < 1) return damaged(err);
    unsigned kind = (unsigned char)rest.ptr[0];
    if (kind > (GF_HBASE_BLOCK | GF_HBASE_CUT)) return damaged(err);
    rest = gf_slice_skip(rest, 1);
    *is_block = kind & GF_HBASE_BLOCK;
    if (!(kind & GF_HBASE_CUT)) {
        *value = gf_row_keep(into, rest);
        return value->ptr ? GF_OK : gf_fail_memory(err, "a row");
    }
    if (!gf_slice_take_u64be(&rest, &id) || !gf_slice_take_u64be(&rest, &length) || rest.len ||
        length > GF_MAX_VALUE)
        return damaged(err);
    char *to = gf_row_room(into, (size_t)length);
    if (!to) return gf_fail_memory(err, "a row");
    *value = gf_slice_of(to, (size_t)length);
    return read_parts(b, t, row, family, cell->qualifier, id, to, (size_t)length, err);
}
