#include "apps/papers/matching/trim.h"

#include "base/utf8.h"

#include <string.h>
#include <strings.h>
#include <unicode/uchar.h>

gf_slice gf_trim(gf_slice s)
{
    size_t at = 0;
    while (s.len && u_isUWhiteSpace((UChar32)gf_utf8_next(s, &at))) {
        s = gf_slice_skip(s, at);
        at = 0;
    }
    while (s.len) {
        size_t last = at = gf_utf8_cut(s, s.len - 1).len;
        if (!u_isUWhiteSpace((UChar32)gf_utf8_next(s, &at)) || at != s.len) break;
        s.len = last;
    }
    return s;
}

bool gf_take_prefix(gf_slice *s, const char *prefix)
{
    size_t n = strlen(prefix);
    if (s->len < n || strncasecmp(s->ptr, prefix, n) != 0) return false;
    *s = gf_slice_skip(*s, n);
    return true;
}
