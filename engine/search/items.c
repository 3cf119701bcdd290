/* Postings of an item of a query, from the index: of one word, of a prefix, of a phrase. */
#include "engine/search/internal.h"

#include "base/memory.h"

static void drop_outdated(const gf_search_source *s, gf_postings *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (s->outdated[p->document[i]]) continue;
        p->document[kept] = p->document[i];
        p->count[kept++] = p->count[i];
    }
    p->n = kept;
}

/* Several lists, one behind the other, become one by rising document. */
static gf_status join_lists(const gf_search_source *s, gf_postings *p, gf_error *err)
{
    uint32_t *sum = gf_calloc(s->index.n, sizeof *sum);
    if (!sum) return gf_fail_memory(err, "a search");
    for (size_t i = 0; i < p->n; i++) {
        uint32_t *to = &sum[p->document[i]];
        *to = p->count[i] > UINT32_MAX - *to ? UINT32_MAX : *to + p->count[i];
    }
    p->n = 0;
    /* There are no more documents than entries before. */
    for (uint32_t d = 0; d < s->index.n; d++) {
        if (!sum[d]) continue;
        p->document[p->n] = d;
        p->count[p->n++] = sum[d];
    }
    gf_free(sum);
    return GF_OK;
}

/* The `at`-th word of an item, in all languages of the index. */
static gf_status read_word(gf_search_source *s, gf_matcher *m, size_t item, size_t at,
                           gf_postings *out, gf_error *err)
{
    size_t lists = 0;
    gf_status st = GF_OK;
    out->n = 0;
    for (uint32_t l = 0; l < s->index.n_languages && st == GF_OK; l++) {
        const gf_query_terms *t;
        st = gf_matcher_terms(m, s->index.languages[l], &t, err);
        if (st != GF_OK || t->start[item] + at >= t->start[item + 1]) continue;
        size_t word = t->start[item] + at;
        st = t->prefix[word].len
                 ? gf_search_index_prefix(&s->index, l, t->prefix[word], t->term[word], out, &lists,
                                          err)
                 : gf_search_index_term(&s->index, l, t->term[word], out, &lists, err);
    }
    if (st == GF_OK && lists > 1) st = join_lists(s, out, err);
    return st;
}

/* ---- phrases --------------------------------------------------------------------------------- */

static void intersect(gf_postings *a, const gf_postings *b)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < a->n; i++) {
        while (at < b->n && b->document[at] < a->document[i])
            at++;
        if (at == b->n) break;
        if (b->document[at] == a->document[i]) a->document[kept++] = a->document[i];
    }
    a->n = kept;
}

/*
 * The most words that an item is in a language of the index, and the fewest: in the language with
 * the fewest no more than these can be looked for.
 */
static gf_status count_words(gf_search_source *s, gf_matcher *m, size_t item, size_t *most,
                             size_t *fewest, gf_error *err)
{
    gf_status st = GF_OK;
    *most = 0;
    *fewest = SIZE_MAX;
    for (uint32_t l = 0; l < s->index.n_languages && st == GF_OK; l++) {
        const gf_query_terms *t;
        st = gf_matcher_terms(m, s->index.languages[l], &t, err);
        if (st != GF_OK) break;
        size_t n = t->start[item + 1] - t->start[item];
        if (n > *most) *most = n;
        if (n < *fewest) *fewest = n;
    }
    return st;
}

/* Keep the documents whose texts have the words side by side. */
static gf_status keep_phrases(gf_search_source *s, gf_matcher *m, size_t item, gf_postings *p,
                              gf_error *err)
{
    gf_row row = {0};
    gf_status st = GF_OK;
    size_t kept = 0;
    for (size_t i = 0; i < p->n && st == GF_OK; i++) {
        gf_slice id;
        gf_matched matched;
        const gf_language *language;
        st = gf_cancel_check(s->cancel, err);
        if (st == GF_OK) st = gf_search_index_id(&s->index, p->document[i], &id, err);
        if (st == GF_OK) st = gf_state_row(s->state, id, &row, err);
        if (st == GF_ENOTFOUND)
            st = gf_fail(err, GF_ECORRUPT, "a document of the index is missing");
        if (st != GF_OK) break;
        const gf_cell *text = gf_row_find(&row, GF_DOCUMENTS_MAIN, "text");
        const gf_cell *lang = gf_row_find(&row, GF_DOCUMENTS_MAIN, "lang");
        gf_slice bytes = text ? text->value : (gf_slice){"", 0};
        st = gf_search_language(s, lang ? lang->value : (gf_slice){"", 0}, bytes, &language, err);
        if (st == GF_OK) st = gf_matcher_match(m, bytes, language, &matched, err);
        if (st != GF_OK || matched.count[item] == 0) continue;
        p->document[kept] = p->document[i];
        p->count[kept++] = matched.count[item];
    }
    p->n = kept;
    gf_row_release(&row);
    return st;
}

gf_status gf_search_item(gf_search_source *s, gf_matcher *m, size_t item, gf_postings *out,
                         gf_error *err)
{
    gf_postings other = {0};
    size_t most, fewest;
    gf_status st = count_words(s, m, item, &most, &fewest, err);
    if (st == GF_OK) st = read_word(s, m, item, 0, out, err);
    if (st == GF_OK) drop_outdated(s, out);
    for (size_t at = 1; st == GF_OK && at < fewest && out->n; at++) {
        st = read_word(s, m, item, at, &other, err);
        if (st == GF_OK) intersect(out, &other);
    }
    if (st == GF_OK && most > 1) st = keep_phrases(s, m, item, out, err);
    gf_postings_release(&other);
    return st;
}
