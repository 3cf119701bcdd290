/**
 * The records of a reader, as lines of text that tests compare.
 *
 *     name:line id="1" text="..." time=... lang=de product="firefox"     a document
 *     name:line broken_json (refused): message                           another record
 *     i/o: message                                                       an error at the end
 *
 * A document with replaced bytes says replaced=n, one with a hashed id says id=hash.
 */
#ifndef GF_TESTS_FORMATS_RECORDS_H
#define GF_TESTS_FORMATS_RECORDS_H

#include "formats/reader.h"
#include "grouperfish/buffer.h"
#include "tests/formats/memory_input.h"

/** Append the lines of everything that `input` holds. `raw` appends each record's bytes, too. */
gf_status list_records(const gf_input *input, const gf_reader_options *options, bool raw,
                       gf_buffer *out, gf_error *err);

/** One stream in memory gives these lines; the test fails where it does not. */
void check_records(const char *name, gf_slice bytes, const gf_reader_options *options,
                   const char *expected);

/** Several do. */
void check_streams(const memory_stream *streams, size_t n, const gf_reader_options *options,
                   const char *expected);

/** Every allocation of a run over one stream is made to fail: see gf_test_sweep. */
void sweep_records(const char *name, gf_slice bytes, const gf_reader_options *options);

/**
 * The stream gives the same lines, raw bytes included, however its bytes are cut into reads: one by
 * one, in small and in large random pieces.
 */
void check_chunking(const char *name, gf_slice bytes, const gf_reader_options *options);

/**
 * n damaged versions of the stream (bytes changed, cut out, repeated) are read to an end, with as
 * many records as there are bytes at most.
 */
void fuzz_records(const char *name, gf_slice bytes, const gf_reader_options *options, int n);

#endif
