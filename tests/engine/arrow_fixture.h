/**
 * Arrow arrays for tests: streams of batches over the caller's buffers, which count how often they and
 * what came out of them were released, and what a stream of the library's holds.
 */
#ifndef GF_TESTS_ENGINE_ARROW_FIXTURE_H
#define GF_TESTS_ENGINE_ARROW_FIXTURE_H

#include "tests/engine/fixture.h"

#include "grouperfish/arrow.h"

enum { ARROW_COLUMNS = 8 };

/** A column of the batch: what its schema and its array say. Buffers are borrowed. */
typedef struct arrow_column {
    const char *format, *name;
    int64_t null_count, offset, n_buffers;
    const void *buffers[4];
    const struct arrow_column *child, *dictionary; /* may be NULL */
    int64_t length; /* of a child or a dictionary; else the batch's */
} arrow_column;

typedef struct arrow_given {
    struct ArrowArrayStream stream;
    arrow_column columns[ARROW_COLUMNS];
    int64_t n_columns, rows, batches;
    int fails_at; /* get_next of this number, from 1 on, fails; 0: none */
    int asked;
    int64_t wrong_children; /* added to what the batch says that it has */
    int held; /* schemas, arrays and streams that are not released; once too often: below 0 */
} arrow_given;

/** Set the stream up over what is filled in. */
void arrow_given_open(arrow_given *g);

/** Everything was released, once. */
void arrow_given_check(const arrow_given *g);

/** A utf8 column of n strings; offsets and bytes are kept in it. */
typedef struct arrow_texts {
    int32_t offsets[32];
    char bytes[1024];
    unsigned char valid[4];
} arrow_texts;

/** NULL among the strings is null. */
arrow_column arrow_texts_column(arrow_texts *t, const char *name, const char *const *texts,
                                size_t n);

#endif
