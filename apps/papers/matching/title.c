/* Titles: slugs and scores, by ICU's characters. */
#include "apps/papers/matching/title.h"

#include "base/utf8.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

enum { MOST_COMPARED = 1000, MOST_FOLDED = 3 /* characters that one is folded to */ };

/* Letters that no decomposition takes apart, and how catalogues without them write them. */
static const struct {
    UChar32 letter;
    const char *plain;
} letters[] = {{0xE6, "ae"}, {0xF8, "o"},  {0x111, "d"},
               {0x131, "i"}, {0x142, "l"}, {0x153, "oe"}}; /* of lower case: ae, o, d, i, l, oe */

static UChar32 next_char(const UChar *text, int32_t n, int32_t *at)
{
    UChar first = text[(*at)++];
    return U16_IS_LEAD(first) && *at < n ? U16_GET_SUPPLEMENTARY(first, text[(*at)++]) : first;
}

/* Full case folding: sharp s is ss; @return how many characters there are, 1..3 */
static size_t fold_case(UChar32 c, UChar32 to[MOST_FOLDED])
{
    UChar from[2], folded[MOST_FOLDED];
    UErrorCode failed = U_ZERO_ERROR;
    int32_t n = 0, m;
    size_t n_to = 0;
    if (c < 0x80) {
        to[0] = c >= 'A' && c <= 'Z' ? c | 0x20 : c;
        return 1;
    }
    U16_APPEND_UNSAFE(from, n, c);
    m = u_strFoldCase(folded, MOST_FOLDED, from, n, U_FOLD_CASE_DEFAULT, &failed);
    for (int32_t i = 0; i < m && i < MOST_FOLDED && !U_FAILURE(failed);)
        to[n_to++] = next_char(folded, m, &i);
    if (n_to == 0) to[n_to++] = u_foldCase(c, U_FOLD_CASE_DEFAULT);
    return n_to;
}

static void append_plain(UChar32 c, gf_buffer *out)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (c == letters[i].letter) {
            gf_buffer_str(out, letters[i].plain);
            return;
        }
    if (u_isalnum(c)) gf_utf8_append(out, (uint32_t)c);
}

/* Letters and digits of a character's full compatibility decomposition, folded. */
static void fold_char(const UNormalizer2 *nfkd, UChar32 c, gf_buffer *out)
{
    UChar parts[64];
    UChar32 folded[MOST_FOLDED];
    UErrorCode failed = U_ZERO_ERROR;
    int32_t n = unorm2_getDecomposition(nfkd, c, parts, 64, &failed);
    if (U_FAILURE(failed) || n < 0) {
        n = 0;
        U16_APPEND_UNSAFE(parts, n, c);
    }
    for (int32_t i = 0; i < n;) {
        UChar32 part = next_char(parts, n, &i);
        size_t m = u_isalnum(part) ? fold_case(part, folded) : 0;
        for (size_t k = 0; k < m; k++)
            append_plain(folded[k], out);
    }
}

gf_status gf_title_fold(gf_slice text, gf_buffer *out, gf_error *err)
{
    UErrorCode failed = U_ZERO_ERROR;
    const UNormalizer2 *nfkd = unorm2_getNFKDInstance(&failed);
    if (U_FAILURE(failed)) return gf_fail(err, GF_ENOMEM, "ICU has no normaliser");
    for (size_t at = 0; at < text.len;)
        fold_char(nfkd, (UChar32)gf_utf8_next(text, &at), out);
    return gf_buffer_check(out, err);
}

gf_status gf_title_slug(gf_slice title, gf_buffer *out, gf_error *err)
{
    size_t start = out->len;
    gf_status st = gf_title_fold(title, out, err);
    if (st != GF_OK) return st;
    gf_slice slug = gf_slice_skip(gf_buffer_view(out), start);
    if (slug.len == 0 || gf_utf8_count(slug) < GF_SLUG_LEAST) out->len = start;
    return GF_OK;
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* Characters without case, white space as one space, none at the ends. */
static size_t read_title(gf_slice title, UChar32 *to)
{
    size_t n = 0;
    for (size_t at = 0; at < title.len && n < MOST_COMPARED;) {
        UChar32 c = (UChar32)gf_utf8_next(title, &at);
        if (u_isUWhiteSpace(c)) {
            if (n && to[n - 1] != ' ') to[n++] = ' ';
            continue;
        }
        UChar32 folded[MOST_FOLDED];
        size_t m = fold_case(c, folded);
        for (size_t i = 0; i < m && n < MOST_COMPARED; i++)
            to[n++] = folded[i];
    }
    return n && to[n - 1] == ' ' ? n - 1 : n;
}

/* row[j] is the distance of the first i characters of a to the first j of b. */
static uint32_t edit_distance(const UChar32 *a, size_t n, const UChar32 *b, size_t m, uint32_t *row)
{
    for (size_t j = 0; j <= m; j++)
        row[j] = (uint32_t)j;
    for (size_t i = 1; i <= n; i++) {
        uint32_t diagonal = row[0];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= m; j++) {
            uint32_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

int gf_title_score(gf_slice a, gf_slice b)
{
    UChar32 first[MOST_COMPARED], second[MOST_COMPARED];
    uint32_t row[MOST_COMPARED + 1];
    size_t n = read_title(a, first), m = read_title(b, second);
    size_t longer = n > m ? n : m, start = 0;
    if (longer == 0) return 0;
    while (start < n && start < m && first[start] == second[start])
        start++;
    while (n > start && m > start && first[n - 1] == second[m - 1])
        n--, m--; /* what is the same at both ends has no part in the distance */
    uint32_t distance = edit_distance(first + start, n - start, second + start, m - start, row);
    return (int)(GF_SCORE_MOST * (longer - distance) / longer);
}
