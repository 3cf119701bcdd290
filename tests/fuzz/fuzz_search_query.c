/*
 * A query of any bytes, and a text of any: the query is refused or taken apart, and matched against
 * the text without reading outside of either. The input is the query, a line feed, and the text.
 */
#include "engine/search/matcher.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(bool holds)
{
    if (!holds) abort();
}

/* Texts are valid UTF-8 wherever a store has them; bytes that are not separate words. */
static void match(const gf_query *query, gf_slice text)
{
    gf_error err;
    gf_matcher *m;
    gf_matched matched;
    gf_analysis_options o = gf_vectorizer_options_default().analysis;
    const gf_language *english = gf_language_find(GF_SLICE("english"));
    check(gf_matcher_create(&o, query, &m, &err) == GF_OK);
    gf_status st = gf_matcher_match(m, text, english, &matched, &err);
    check(st == GF_OK || st == GF_EINVAL);
    if (st == GF_OK)
        check(matched.first_start <= matched.first_end && matched.first_end <= text.len);
    gf_matcher_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    gf_slice all = gf_slice_of((const char *)bytes, n), query = all, text = {"", 0};
    const char *end = n ? memchr(bytes, '\n', n) : NULL;
    gf_query q;
    gf_error err = {GF_OK, ""};
    if (end) {
        query.len = (size_t)(end - all.ptr);
        text = gf_slice_skip(all, query.len + 1);
    }
    gf_status st = gf_query_parse(query, &q, &err);
    check(st == GF_OK || (st == GF_EINVAL && err.message[0]));
    if (st == GF_OK) match(&q, text);
    return 0;
}
