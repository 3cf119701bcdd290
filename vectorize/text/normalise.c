#include "vectorize/text/normalise.h"

#include "base/memory.h"

#include <unicode/unorm2.h>
#include <unicode/ustring.h>

enum {
    ON_STACK = 512,      /* UTF-16 units that need no allocation */
    GROWTH = 6,          /* most units per UTF-8 byte: U+FDFA, 3 bytes, becomes 18 units */
    MOST_BYTES = 1 << 28 /* ICU counts units in 32 bits with a sign */
};

static bool is_ascii(gf_slice s)
{
    unsigned char all = 0;
    for (size_t i = 0; i < s.len; i++)
        all |= (unsigned char)s.ptr[i];
    return all < 0x80;
}

static void lower_ascii(gf_slice word, bool turkish, gf_buffer *out)
{
    char *to = gf_buffer_reserve(out, word.len * (turkish ? 2 : 1));
    if (!to) return;
    size_t n = 0;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        if (turkish && c == 'I') {
            to[n++] = '\xC4'; /* ı, U+0131 */
            c = '\xB1';
        }
        to[n++] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
    }
    out->len += n;
}

static void fold_turkish(UChar *units, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (units[i] == 'I') units[i] = 0x131;
        if (units[i] == 0x130) units[i] = 'i';
    }
}

static gf_status failed(UErrorCode code, gf_error *err)
{
    if (code == U_MEMORY_ALLOCATION_ERROR) return gf_fail_memory(err, "a word's normal form");
    return gf_fail(err, GF_ELIMIT, "a word cannot be normalised: %s", u_errorName(code));
}

static gf_status append_utf8(const UChar *units, int32_t n, gf_buffer *out, gf_error *err)
{
    size_t most = (size_t)n * 3;
    char *to = gf_buffer_reserve(out, most ? most : 1);
    if (!to) return gf_buffer_check(out, err);
    UErrorCode code = U_ZERO_ERROR;
    int32_t written = 0;
    u_strToUTF8WithSub(to, (int32_t)most, &written, units, n, 0xFFFD, NULL, &code);
    if (U_FAILURE(code)) return failed(code, err);
    out->len += (size_t)written;
    return GF_OK;
}

/* units: room for word.len units, and behind them for `room` more. */
static gf_status normalise_in(UChar *units, size_t room, gf_slice word, bool turkish,
                              gf_buffer *out, gf_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    UChar *normal = units + word.len;
    int32_t n = 0;
    u_strFromUTF8WithSub(units, (int32_t)word.len, &n, word.ptr, (int32_t)word.len, 0xFFFD, NULL,
                         &code);
    if (U_FAILURE(code) && code != U_BUFFER_OVERFLOW_ERROR) return failed(code, err);
    if (turkish) fold_turkish(units, n);
    code = U_ZERO_ERROR;
    const UNormalizer2 *form = unorm2_getNFKCCasefoldInstance(&code);
    if (U_FAILURE(code)) return failed(code, err);
    int32_t length = unorm2_normalize(form, units, n, normal, (int32_t)room, &code);
    if (U_FAILURE(code)) return failed(code, err);
    return append_utf8(normal, length, out, err);
}

gf_status gf_normalise(gf_slice word, const gf_language *language, gf_buffer *out, gf_error *err)
{
    bool turkish = language && strcmp(language->iso1, "tr") == 0;
    if (is_ascii(word)) {
        lower_ascii(word, turkish, out);
        return gf_buffer_check(out, err);
    }
    if (word.len >= MOST_BYTES)
        return gf_fail(err, GF_ELIMIT, "a word of %zu bytes is too long", word.len);
    UChar stack[ON_STACK], *units = stack;
    size_t room = word.len * GROWTH;
    if (word.len + room > ON_STACK) units = gf_array(word.len + room, sizeof *units);
    if (!units) return gf_fail_memory(err, "a word's normal form");
    gf_status st = normalise_in(units, room, word, turkish, out, err);
    if (units != stack) gf_free(units);
    return st;
}
