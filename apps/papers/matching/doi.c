#include "apps/papers/matching/doi.h"

#include "apps/papers/matching/trim.h"
#include "base/utf8.h"

#include <string.h>

/* Some have two of them: "doi:https://doi.org/10.1000/abc". */
static bool take_doi_prefix(gf_slice *doi, bool *is_address)
{
    gf_slice s = *doi;
    bool has_scheme = gf_take_prefix(&s, "https://") || gf_take_prefix(&s, "http://");
    if (!gf_take_prefix(&s, "dx.")) gf_take_prefix(&s, "www.");
    bool is_resolver = gf_take_prefix(&s, "doi.org/");
    if (!is_resolver) {
        s = *doi;
        if (has_scheme || (!gf_take_prefix(&s, "info:doi/") && !gf_take_prefix(&s, "doi:")))
            return false;
    }
    *is_address = *is_address || is_resolver;
    *doi = gf_trim(s);
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* The byte at *at; where it is escaped, "%2F", that of the escape. Control characters stay escaped. */
static char next_byte(gf_slice s, bool is_escaped, size_t *at)
{
    char c = s.ptr[(*at)++];
    if (!is_escaped || c != '%' || s.len - *at < 2) return c;
    int high = hex_digit(s.ptr[*at]), low = hex_digit(s.ptr[*at + 1]);
    if (high < 0 || low < 0 || high < 2 || (high == 7 && low == 15)) return c;
    *at += 2;
    return (char)(high << 4 | low);
}

static void append_doi(gf_slice doi, bool is_escaped, gf_buffer *out)
{
    for (size_t at = 0; at < doi.len;) {
        char c = next_byte(doi, is_escaped, &at);
        gf_buffer_byte(out, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
}

/* "10.1000/abc", or a short one, "10/abc" */
static bool is_doi(gf_slice s)
{
    const char *slash = s.len ? memchr(s.ptr, '/', s.len) : NULL;
    if (!slash || (!gf_take_prefix(&s, "10.") && !gf_take_prefix(&s, "10/"))) return false;
    return slash + 1 < s.ptr + s.len;
}

void gf_doi_append(gf_slice doi, gf_buffer *out)
{
    size_t start = out->len;
    bool is_address = false;
    doi = gf_trim(doi);
    while (take_doi_prefix(&doi, &is_address)) {
    }
    append_doi(doi, is_address, out);
    if (out->state != GF_OK || out->len == start) return;
    if (is_address && !gf_utf8_is_valid(gf_slice_skip(gf_buffer_view(out), start))) {
        out->len = start; /* its escapes are of another encoding */
        append_doi(doi, false, out);
    }
    if (out->state != GF_OK) return;
    gf_slice plain = gf_trim(gf_slice_skip(gf_buffer_view(out), start));
    out->len = is_doi(plain) ? (size_t)(plain.ptr - out->ptr) + plain.len : start;
}
