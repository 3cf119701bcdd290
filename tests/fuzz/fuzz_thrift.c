/*
 * Whatever a gateway of HBase may answer: an answer is read as each call reads it, and what is read
 * lies within its bytes.
 */
#include "storage/hbase/client.h"
#include "storage/hbase/internal.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_within(gf_slice part, gf_slice whole)
{
    if (part.len && (part.ptr < whole.ptr || part.ptr + part.len > whole.ptr + whole.len)) abort();
}

static void read_row(gf_thrift_reader *r, gf_slice all)
{
    gf_hbase_result row;
    gf_hbase_cell cell;
    if (!gf_hbase_take_result(r, &row)) return;
    check_within(row.row, all);
    for (uint32_t i = 0; i < row.n_cells; i++) {
        if (!gf_hbase_take_cell(&row.cells, &cell)) return;
        check_within(cell.family, all);
        check_within(cell.qualifier, all);
        check_within(cell.value, all);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const gf_thrift_type results[] = {GF_THRIFT_STOP, GF_THRIFT_BOOL, GF_THRIFT_I32,
                                             GF_THRIFT_LIST, GF_THRIFT_STRUCT};
    gf_slice all = gf_slice_of((const char *)bytes, n);
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        gf_error err = {GF_OK, ""};
        gf_thrift_reader at = {0};
        bool has = false;
        gf_status st = gf_hbase_answer_read(all, "get", 1, results[i], &at, &has, &err);
        if (st != GF_OK && !err.message[0]) abort();
        if (st != GF_OK || !has) continue;
        if (results[i] == GF_THRIFT_STRUCT) read_row(&at, all);
        if (results[i] == GF_THRIFT_LIST)
            for (uint32_t rows = gf_thrift_take_list(&at, GF_THRIFT_STRUCT); rows && !at.bad;
                 rows--)
                read_row(&at, all);
    }
    gf_thrift_reader any = {.rest = all};
    gf_thrift_skip(&any, GF_THRIFT_STRUCT);
    return 0;
}
