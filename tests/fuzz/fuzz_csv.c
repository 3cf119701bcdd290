/*
 * CSV of any bytes: as records with a header (tests/fuzz/records.h), and as plain rows, which are the
 * same when they are written and read again.
 */
#include "formats/text/csv.h"
#include "tests/fuzz/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { MOST_ROW = 1000, MOST_CELLS = 50 };

/* Write all rows until the first that cannot be read; how many. */
static uint64_t write_rows(gf_slice bytes, unsigned style, gf_buffer *out)
{
    gf_error err = {GF_OK, ""};
    fuzz_stream stream = {"a.csv", bytes, 7, 0, false};
    gf_input input = fuzz_stream_input(&stream);
    gf_csv_reader *reader;
    gf_csv_row row;
    uint64_t n = 0;
    gf_decoding_options as_utf8 = {
        .encoding = GF_SLICE("utf-8")}; /* what is written would else be judged anew */
    fuzz_check(gf_csv_reader_open(&input, MOST_ROW, MOST_CELLS, &as_utf8, &reader, &err) == GF_OK);
    for (; gf_csv_reader_next(reader, &row, &err) == GF_OK; n++) {
        fuzz_check(row.number == n + 1 && row.n > 0 && row.n <= MOST_CELLS);
        for (size_t i = 0; i < row.n; i++) {
            fuzz_check(!row.cells[i].is_absent || row.cells[i].text.len == 0);
            if (i) gf_buffer_byte(out, ',');
            if (!row.cells[i].is_absent) gf_csv_write_cell(out, row.cells[i].text, style);
        }
        gf_buffer_str(out, "\r\n");
    }
    gf_csv_reader_close(reader);
    return n;
}

/* A row before what is written: its bytes are then at no place where a signature would be sought. */
static void write_first_row(gf_buffer *out)
{
    for (size_t i = 0; i < MOST_ROW / 2; i++)
        gf_buffer_byte(out, i == 0 || i == MOST_ROW / 2 - 1 ? '"' : 'x');
    gf_buffer_str(out, "\r\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    gf_buffer once = {0}, twice = {0};
    fuzz_records(GF_FORMAT_CSV, "a.csv", bytes, n);
    write_first_row(&once);
    uint64_t rows = write_rows(gf_slice_of((const char *)bytes, n), GF_CSV_QUOTED, &once);
    gf_slice written = gf_buffer_view(&once);
    /* Quotes that are written may make a row longer than may be read. */
    if (n < MOST_ROW / 3 && rows) {
        fuzz_check(write_rows(written, GF_CSV_QUOTED, &twice) == rows + 1);
        fuzz_check(gf_slice_equal(written, gf_buffer_view(&twice)));
    }
    gf_buffer_release(&once);
    gf_buffer_release(&twice);
    return 0;
}
