/* The file that batches.cpp writes and replay.c reads: changes as LevelDB got them, one behind another. */
#ifndef GF_BENCH_BATCHES_H
#define GF_BENCH_BATCHES_H

#include <stdint.h>

enum {
    BATCHES_PUT = 'p',    /* the key's bytes, the value's */
    BATCHES_DELETE = 'd', /* the key's */
    BATCHES_END = 'e',    /* of a batch; a value of 1 byte where it was synced, no bytes follow */
};

typedef struct batches_change {
    uint32_t kind, key, value; /* lengths */
} batches_change;

#endif
