/**
 * One batch of columns as an ArrowArrayStream: arrays that are filled here, and handed out without
 * a copy.
 *
 * Owner: a column that was made is the maker's until gf_arrow_export takes it. Each column is an array of its own, which whoever
 * reads the stream may keep beyond the others.
 */
#ifndef GF_ENGINE_ARROW_EXPORT_H
#define GF_ENGINE_ARROW_EXPORT_H

#include "grouperfish/arrow.h"

enum { GF_ARROW_BUFFERS = 3, GF_ARROW_MOST_COLUMNS = 12 };

/** A column: its format and buffers, all from base/memory.h. */
typedef struct gf_arrow_made {
    const char *name; /* a literal */
    char format[24];
    int64_t flags;
    int64_t length, null_count;
    int64_t n_buffers;
    void *buffers[GF_ARROW_BUFFERS];  /* validity (may be NULL), values or offsets, bytes */
    struct gf_arrow_made *child;      /* a fixed list's values; or NULL */
    struct gf_arrow_made *dictionary; /* or NULL */
} gf_arrow_made;

/** A column without buffers; NULL where there is no memory. Free it, or hand it to gf_arrow_export. */
gf_arrow_made *gf_arrow_made_create(const char *name, const char *format);
void gf_arrow_made_free(gf_arrow_made *column);

/** Bits for n values, all set; NULL where there is no memory. Clear one. */
unsigned char *gf_arrow_made_bits(int64_t n);
void gf_arrow_made_clear_bit(unsigned char *bits, int64_t i);

/**
 * Make the stream of one batch of `length` rows. The columns belong to it, also where it fails: then
 * they are freed.
 */
gf_status gf_arrow_export(gf_arrow_made **columns, size_t n, int64_t length,
                          struct ArrowArrayStream *out, gf_error *err);

#endif
