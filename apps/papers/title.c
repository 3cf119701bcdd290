/* Titles: slugs and scores, by ICU's characters. */
#include "apps/papers/title.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

enum { MOST_COMPARED = 1000 };

/* Letters and digits of a character's full compatibility decomposition, folded. */
static void fold_char(const UNormalizer2 *nfkd, UChar32 c, gf_buffer *out)
{
    UChar parts[64];
    UErrorCode failed = U_ZERO_ERROR;
    int32_t n = unorm2_getDecomposition(nfkd, c, parts, 64, &failed);
    if (U_FAILURE(failed) || n < 0) {
        n = 0;
        U16_APPEND_UNSAFE(parts, n, c);
    }
    for (int32_t i = 0; i < n;) {
        UChar32 part = parts[i++];
        if (U16_IS_LEAD(parts[i - 1]) && i < n) part = U16_GET_SUPPLEMENTARY(part, parts[i++]);
        if (u_isalnum(part)) gf_utf8_append(out, (uint32_t)u_foldCase(part, U_FOLD_CASE_DEFAULT));
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

/* Lower-case characters, white space as one space, none at the ends. */
static size_t read_title(gf_slice title, UChar32 *to)
{
    size_t n = 0;
    for (size_t at = 0; at < title.len && n < MOST_COMPARED;) {
        UChar32 c = (UChar32)gf_utf8_next(title, &at);
        if (!u_isUWhiteSpace(c))
            to[n++] = u_tolower(c);
        else if (n && to[n - 1] != ' ')
            to[n++] = ' ';
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

gf_status gf_title_score(gf_slice a, gf_slice b, int *score, gf_error *err)
{
    UChar32 *titles = gf_array(2 * MOST_COMPARED, sizeof *titles);
    uint32_t *row = gf_array(MOST_COMPARED + 1, sizeof *row);
    gf_status st = GF_OK;
    if (titles && row) {
        size_t n = read_title(a, titles), m = read_title(b, titles + MOST_COMPARED);
        size_t longer = n > m ? n : m;
        *score = longer
                     ? (int)(GF_SCORE_MOST *
                             (longer - edit_distance(titles, n, titles + MOST_COMPARED, m, row)) /
                             longer)
                     : 0;
    } else {
        st = gf_fail_memory(err, "a comparison of titles");
    }
    gf_free(titles);
    gf_free(row);
    return st;
}
