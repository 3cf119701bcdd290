#include "base/glob.h"

#include "base/utf8.h"

#include <stdint.h>

bool gf_glob_is_pattern(gf_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (strchr("*?[", text.ptr[i]) && text.ptr[i]) return true;
    return false;
}

gf_slice gf_glob_start(gf_slice pattern)
{
    size_t n = 0;
    while (n < pattern.len && (!strchr("*?[\\", pattern.ptr[n]) || !pattern.ptr[n]))
        n++;
    return gf_slice_of(pattern.ptr, n);
}

/* ---- one character --------------------------------------------------------------------------- */

/* A character inside brackets, which \ may precede; false at the pattern's end. */
static bool take_listed(gf_slice pattern, size_t *at, uint32_t *c)
{
    if (*at < pattern.len && pattern.ptr[*at] == '\\') ++*at;
    if (*at >= pattern.len) return false;
    *c = gf_utf8_next(pattern, at);
    return true;
}

/*
 * A bracket expression from behind its [; *at is moved behind its ]. False where it has none, and
 * the [ then stands for itself.
 */
static bool take_brackets(gf_slice pattern, size_t *at, uint32_t c, bool *listed)
{
    size_t i = *at;
    bool found = false, first = true;
    bool others = i < pattern.len && (pattern.ptr[i] == '!' || pattern.ptr[i] == '^');
    if (others) i++;
    for (; i < pattern.len && (first || pattern.ptr[i] != ']'); first = false) {
        uint32_t low, high;
        if (!take_listed(pattern, &i, &low)) return false;
        high = low;
        if (i + 1 < pattern.len && pattern.ptr[i] == '-' && pattern.ptr[i + 1] != ']') {
            i++;
            if (!take_listed(pattern, &i, &high)) return false;
        }
        found |= low <= c && c <= high;
    }
    if (i >= pattern.len) return false;
    *at = i + 1;
    *listed = found != others;
    return true;
}

/* Does the pattern's character at *at, which is no *, match c? *at is moved behind it. */
static bool match_character(gf_slice pattern, size_t *at, uint32_t c)
{
    bool listed;
    char head = pattern.ptr[*at];
    if (head == '?') {
        ++*at;
        return true;
    }
    if (head == '[') {
        size_t behind = *at + 1;
        if (take_brackets(pattern, &behind, c, &listed)) {
            *at = behind;
            return listed;
        }
    }
    if (head == '\\' && ++*at >= pattern.len) return false;
    return gf_utf8_next(pattern, at) == c;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* After a mismatch the last * matches one byte more; an earlier * could gain nothing by that. */
bool gf_glob_matches(gf_slice pattern, gf_slice name)
{
    size_t p = 0, n = 0, behind_star = SIZE_MAX, retry = 0;
    for (;;) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            behind_star = ++p;
            retry = n;
            continue;
        }
        if (n == name.len && p == pattern.len) return true;
        size_t next = n;
        if (n < name.len && p < pattern.len &&
            match_character(pattern, &p, gf_utf8_next(name, &next))) {
            n = next;
            continue;
        }
        if (behind_star == SIZE_MAX || retry >= name.len) return false;
        gf_utf8_next(name, &retry);
        n = retry;
        p = behind_star;
    }
}
