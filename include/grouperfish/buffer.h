/**
 * A growable run of bytes with a stated maximum.
 *
 * Appending never returns an error: the first failure (memory, or the maximum) is kept, later
 * appends do nothing, and the caller asks once with gf_buffer_check() before it uses the bytes.
 *
 * Life: gf_buffer_init (or {0} for no maximum), append..., gf_buffer_release. gf_buffer_reset keeps
 * the memory and clears the failure.
 */
#ifndef GF_GROUPERFISH_BUFFER_H
#define GF_GROUPERFISH_BUFFER_H

#include "grouperfish/export.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

GF_PUBLIC_BEGIN

typedef struct gf_buffer {
    char *ptr;       /* capacity bytes, len of them used; NULL before the first append */
    size_t len;      /* bytes used */
    size_t capacity; /* bytes allocated */
    size_t max;      /* most bytes allowed; 0 is no maximum */
    gf_status state; /* GF_OK, GF_ENOMEM or GF_ELIMIT */
} gf_buffer;

void gf_buffer_init(gf_buffer *b, size_t max);
void gf_buffer_release(gf_buffer *b);
void gf_buffer_reset(gf_buffer *b);

/** GF_OK, or the first failure since init or reset. */
gf_status gf_buffer_check(const gf_buffer *b, gf_error *err);

/** Room for `more` further bytes; NULL on failure, else where they go. Add to len what was written.
 */
char *gf_buffer_reserve(gf_buffer *b, size_t more);

void gf_buffer_append(gf_buffer *b, const void *bytes, size_t n);
void gf_buffer_slice(gf_buffer *b, gf_slice s);
void gf_buffer_str(gf_buffer *b, const char *s);
void gf_buffer_byte(gf_buffer *b, char c);
void gf_buffer_format(gf_buffer *b, const char *format, ...) GF_PRINTF(2, 3);
void gf_buffer_count(gf_buffer *b, uint64_t n); /* for people: 1,234,567 */

/** Little-endian base-128 integer, 1 to 10 bytes. */
void gf_buffer_varint(gf_buffer *b, uint64_t v);
void gf_buffer_u32be(gf_buffer *b, uint32_t v);
void gf_buffer_u64be(gf_buffer *b, uint64_t v);

/** The bytes as a slice, borrowed until the next change of b. */
static inline gf_slice gf_buffer_view(const gf_buffer *b)
{
    return (gf_slice){b->ptr, b->len};
}

/** The bytes with a NUL behind them (not counted in len); "" on failure. Borrowed likewise. */
const char *gf_buffer_cstr(gf_buffer *b);

/** A varint length and that many bytes. */
void gf_buffer_string(gf_buffer *b, gf_slice s);

GF_PUBLIC_END

#endif
