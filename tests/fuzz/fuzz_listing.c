/*
 * A listing of any bytes, as either shell's: rows, or lines that are refused with a reason, the same in
 * reads of any size; and a row that is written as a listing is read again as it was.
 */
#include "formats/bytes/listing.h"
#include "tests/fuzz/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static bool has(gf_slice s, const char *mark)
{
    return s.len > 0 && memmem(s.ptr, s.len, mark, strlen(mark)) != NULL;
}

/* What separates the parts of a line is not escaped: where it is in them, it is not read as it was. */
static bool can_be_told(const gf_wide_row *row)
{
    bool can = !has(row->key, " column=");
    for (size_t i = 0; i < row->n && can; i++)
        can = !has(row->cells[i].family, ":") && !has(row->cells[i].family, ", timestamp=") &&
              !has(row->cells[i].qualifier, ", timestamp=");
    /* A qualifier may go on what the family began: ", timestamp=" across the colon has none. */
    return can;
}

static void check_again(const gf_wide_row *row, gf_buffer *text)
{
    gf_error err = {GF_OK, ""};
    gf_listing *listing;
    gf_record record;
    gf_wide_row read;
    gf_buffer_reset(text);
    gf_listing_write(row, text);
    fuzz_stream stream = {"a.scan", gf_buffer_view(text), 100, 0, false};
    gf_input input = fuzz_stream_input(&stream);
    fuzz_check(gf_listing_open(&input, GF_LISTING_HBASE, &listing, &err) == GF_OK);
    fuzz_check(gf_listing_next(listing, &record, &read, &err) == GF_OK);
    fuzz_check(record.kind == GF_RECORD_DOCUMENT && gf_slice_equal(read.key, row->key) &&
               read.n == row->n);
    for (size_t i = 0; i < row->n; i++) {
        const gf_wide_cell *a = &row->cells[i], *b = &read.cells[i];
        fuzz_check(gf_slice_equal(a->family, b->family) &&
                   gf_slice_equal(a->qualifier, b->qualifier) && a->timestamp == b->timestamp &&
                   a->kind == b->kind);
        fuzz_check(a->kind != GF_WIDE_PUT || gf_slice_equal(a->value, b->value));
    }
    fuzz_check(gf_listing_next(listing, &record, &read, &err) == GF_ENOTFOUND);
    gf_listing_close(listing);
}

/* Rows, cells and refused lines of all. */
static void read_all(gf_listing_kind kind, gf_slice bytes, size_t chunk, uint64_t counts[3])
{
    gf_error err = {GF_OK, ""};
    fuzz_stream stream = {"a.scan", bytes, chunk, 0, false};
    gf_input input = fuzz_stream_input(&stream);
    gf_listing *listing;
    gf_record record;
    gf_wide_row row;
    gf_buffer text = {0};
    fuzz_check(gf_listing_open(&input, kind, &listing, &err) == GF_OK);
    while (gf_listing_next(listing, &record, &row, &err) == GF_OK) {
        fuzz_check(record.line > 0 && record.raw.len > 0);
        if (record.kind == GF_RECORD_REFUSED) {
            fuzz_check(record.reason && record.message && record.message[0]);
            counts[2]++;
            continue;
        }
        fuzz_check(row.n > 0);
        counts[0]++;
        counts[1] += row.n;
        if (can_be_told(&row)) check_again(&row, &text);
    }
    gf_buffer_release(&text);
    gf_listing_close(listing);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    gf_slice all = gf_slice_of((const char *)bytes, n);
    for (int kind = 0; kind < 2; kind++) {
        uint64_t once[3] = {0}, again[3] = {0};
        read_all((gf_listing_kind)kind, all, 4096, once);
        read_all((gf_listing_kind)kind, all, 3, again);
        fuzz_check(memcmp(once, again, sizeof once) == 0);
    }
    return 0;
}
