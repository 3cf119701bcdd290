/**
 * An input over bytes in memory, which hands them out in pieces of a chosen or random size.
 */
#ifndef GF_TESTS_FORMATS_MEMORY_INPUT_H
#define GF_TESTS_FORMATS_MEMORY_INPUT_H

#include "base/random.h"
#include "formats/bytes/input.h"

#include <stdint.h>

typedef struct memory_stream {
    const char *name;
    gf_slice bytes;
    bool in_folder;
} memory_stream;

typedef struct memory_input {
    const memory_stream *streams; /* n */
    size_t n;
    size_t chunk;      /* most bytes per read; 0 for as many as asked for */
    gf_random *random; /* if set: 1 to chunk bytes per read */
    uint64_t fail_at;  /* the read of this byte (1-based, over all streams) fails; 0: none does */

    size_t at, read_of; /* streams[at - 1] is current, read_of bytes of it are gone */
    uint64_t read_in_all;
} memory_input;

/** From the first stream on. */
gf_input memory_input_start(memory_input *m);

#endif
