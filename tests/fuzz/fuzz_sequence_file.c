/*
 * A SequenceFile of any bytes: the same cells in reads of any size, and the same end; what was cut or
 * damaged is told. Values are read as HBase's Results.
 */
#include "formats/hbase/hbase_result.h"
#include "formats/hbase/sequence_file.h"
#include "tests/fuzz/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

typedef struct seen {
    uint64_t records, cells, bytes;
    gf_status ended;
} seen;

static void check_within(gf_slice part, gf_slice whole)
{
    fuzz_check(part.len == 0 ||
               (part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len));
}

static void count_cells(const gf_sequence_record *record, gf_wide_row *row, seen *s)
{
    gf_error err = {GF_OK, ""};
    gf_status st = gf_hbase_result_read(record->key, record->value, row, &err);
    fuzz_check(st == GF_OK || (st == GF_EINVAL && err.message[0]));
    if (st != GF_OK) return;
    check_within(row->key, record->key);
    for (size_t i = 0; i < row->n; i++) {
        check_within(row->cells[i].family, record->value);
        check_within(row->cells[i].qualifier, record->value);
        check_within(row->cells[i].value, record->value);
        s->cells++;
        s->bytes +=
            row->cells[i].value.len + row->cells[i].family.len + row->cells[i].qualifier.len;
    }
}

static seen read_all(gf_slice bytes, size_t chunk)
{
    gf_error err = {GF_OK, ""};
    fuzz_stream stream = {"part-m-00000", bytes, chunk, 0, false};
    gf_input input = fuzz_stream_input(&stream);
    gf_sequence_reader *reader;
    gf_sequence_record record;
    gf_wide_row row = {0};
    seen s = {0};
    fuzz_check(gf_sequence_reader_open(&input, GF_HBASE_KEY_CLASS, GF_HBASE_VALUE_CLASS, &reader,
                                       &err) == GF_OK);
    while ((s.ended = gf_sequence_reader_next(reader, &record, &err)) == GF_OK) {
        s.records++;
        fuzz_check(record.number > 0);
        count_cells(&record, &row, &s);
    }
    fuzz_check(s.ended == GF_ENOTFOUND || s.ended == GF_ECORRUPT || s.ended == GF_EINVAL ||
               s.ended == GF_ELIMIT);
    fuzz_check(s.ended == GF_ENOTFOUND || err.message[0]);
    gf_wide_row_release(&row);
    gf_sequence_reader_close(reader);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    gf_slice all = gf_slice_of((const char *)bytes, n);
    seen once = read_all(all, 4096), again = read_all(all, 5);
    fuzz_check(once.records == again.records && once.cells == again.cells &&
               once.bytes == again.bytes && once.ended == again.ended);
    return 0;
}
