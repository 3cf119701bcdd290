#include "vectorize/text/word_breaker_internal.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <unicode/ubrk.h>

struct gf_word_breaker {
    UBreakIterator *icu;
    UChar units[GF_BREAK_UNITS];
    uint32_t offset[GF_BREAK_UNITS + 1]; /* where unit i starts in the run, in bytes */
    uint32_t ends[GF_BREAK_UNITS];
};

static gf_status failed(UErrorCode code, gf_error *err)
{
    if (code == U_MEMORY_ALLOCATION_ERROR) return gf_fail_memory(err, "a word breaker");
    return gf_fail(err, GF_EIO, "ICU's word breaker: %s", u_errorName(code));
}

gf_status gf_word_breaker_create(gf_word_breaker **breaker, gf_error *err)
{
    gf_word_breaker *b = gf_malloc(sizeof *b);
    if (!b) return gf_fail_memory(err, "a word breaker");
    UErrorCode code = U_ZERO_ERROR;
    b->icu = ubrk_open(UBRK_WORD, "", NULL, 0, &code);
    if (U_FAILURE(code)) {
        gf_free(b);
        return failed(code, err);
    }
    *breaker = b;
    return GF_OK;
}

void gf_word_breaker_free(gf_word_breaker *breaker)
{
    if (!breaker) return;
    ubrk_close(breaker->icu);
    gf_free(breaker);
}

/* Fills units and offset from the start of run; returns the number of units. */
static int32_t decode(gf_word_breaker *b, gf_slice run)
{
    size_t at = 0;
    int32_t n = 0;
    while (at < run.len && n + 2 <= GF_BREAK_UNITS) {
        b->offset[n] = (uint32_t)at;
        uint32_t c = gf_utf8_next(run, &at);
        if (c >= 0x10000) {
            b->units[n++] = (UChar)(0xD7C0 + (c >> 10));
            b->offset[n] = b->offset[n - 1];
            b->units[n++] = (UChar)(0xDC00 + (c & 0x3FF));
        } else {
            b->units[n++] = (UChar)c;
        }
    }
    b->offset[n] = (uint32_t)at;
    return n;
}

gf_status gf_word_break(gf_word_breaker *b, gf_slice run, const uint32_t **ends, size_t *n,
                        gf_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    int32_t n_units = decode(b, run);
    ubrk_setText(b->icu, b->units, n_units, &code);
    if (U_FAILURE(code)) return failed(code, err);
    size_t count = 0;
    for (int32_t to = ubrk_next(b->icu); to != UBRK_DONE; to = ubrk_next(b->icu))
        b->ends[count++] = b->offset[to];
    /* ICU swallows a failure inside its dictionaries; the run is then one word. */
    if (count == 0 || b->ends[count - 1] != b->offset[n_units])
        b->ends[count++] = b->offset[n_units];
    *ends = b->ends;
    *n = count;
    return GF_OK;
}
