/*
 * Documents of any bytes: pages, mails and office documents keep the promises of gf_record, and so does
 * what is read in whatever encoding was recognised.
 */
#include "base/utf8.h"
#include "formats/bytes/decoding.h"
#include "formats/bytes/encoding.h"
#include "formats/reader.h"
#include "tests/fuzz/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void read_recognised(gf_slice bytes)
{
    fuzz_stream stream = {"a.txt", bytes, SIZE_MAX, 0, false};
    gf_input input = fuzz_stream_input(&stream);
    gf_reader_options options = {.format = GF_FORMAT_DIR, .max_document = 1 << 16};
    gf_error err = {GF_OK, ""};
    gf_reader *reader;
    gf_record record;
    fuzz_check(gf_reader_open(&input, &options, &reader, &err) == GF_OK);
    while (gf_reader_next(reader, &record, &err) == GF_OK)
        if (record.kind == GF_RECORD_DOCUMENT)
            fuzz_check(gf_utf8_valid_length(record.document.text) == record.document.text.len);
    gf_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const names[] = {"a.eml", "a.html", "a.docx", "a.odt"};
    gf_encoding encoding;
    gf_error err;
    bool clear;
    gf_slice all = gf_slice_of((const char *)bytes, n);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fuzz_records(GF_FORMAT_DIR, names[i], bytes, n);
    read_recognised(all);
    if (n && n <= GF_DECODING_WINDOW)
        fuzz_check(gf_encoding_recognise(all, true, &encoding, &clear, &err) == GF_OK);
    return 0;
}
