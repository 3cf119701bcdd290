/**
 * Records of a format out of any bytes: what targets for libFuzzer ask of a reader.
 */
#ifndef GF_TESTS_FUZZ_RECORDS_H
#define GF_TESTS_FUZZ_RECORDS_H

#include "formats/reader.h"

#include <stdint.h>

/** Abort where it does not hold. */
void fuzz_check(bool holds);

/** An input of one stream, handed out `chunk` bytes at a time. */
typedef struct fuzz_stream {
    const char *name;
    gf_slice bytes;
    size_t chunk, at;
    bool is_open;
} fuzz_stream;

gf_input fuzz_stream_input(fuzz_stream *stream);

/**
 * Read all records: the first byte chooses among options and sizes of reads, the others are the
 * stream. Documents keep the promises of gf_record, and the records are the same in reads of
 * any size. They are read as UTF-8, since how many records come before an encoding is refused depends
 * on the reads.
 */
void fuzz_records(gf_format format, const char *name, const uint8_t *bytes, size_t n);

#endif
