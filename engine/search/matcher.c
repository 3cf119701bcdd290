#include "engine/search/matcher.h"

#include "base/arena.h"
#include "base/grow.h"
#include "base/memory.h"
#include "vectorize/rows/analyser.h"

enum { MOST_REMEMBERED = 1 << 20 /* terms of texts; beyond that they are forgotten */ };

/* The query in a language, and for each term of the analyser the bits that it matches. */
typedef struct language_query {
    gf_query_terms terms;
    uint64_t starts, ends;
    uint64_t *mask; /* n_masks of capacity, by term id */
    size_t n_masks, capacity;
} language_query;

struct gf_matcher {
    gf_analysis_options options;
    char *more_stop_words; /* the options' text, ours */
    const gf_query *query;
    gf_analyser *analyser;
    gf_analyser *plain;                          /* no stemming: of prefixes */
    gf_arena memory;                             /* of the terms */
    language_query *languages[GF_LANGUAGES + 1]; /* 0: none; else index + 1; NULL until needed */
    uint32_t count[GF_QUERY_ITEMS];
    uint32_t item_of[GF_QUERY_ITEMS]; /* of each bit; of the language at hand */
    uint32_t *word_at;                /* capacity: token of each word of the text */
    size_t capacity;
};

/* ---- life ------------------------------------------------------------------------------------ */

static gf_status make_analysers(gf_matcher *m, gf_error *err)
{
    gf_analysis_options plain = m->options;
    plain.stem = false;
    gf_status st = gf_analyser_create(&m->options, &m->analyser, err);
    return st == GF_OK ? gf_analyser_create(&plain, &m->plain, err) : st;
}

gf_status gf_matcher_create(const gf_analysis_options *options, const gf_query *query,
                            gf_matcher **matcher, gf_error *err)
{
    gf_matcher *m = gf_calloc(1, sizeof *m);
    if (!m) return gf_fail_memory(err, "a search");
    m->options = *options;
    m->query = query;
    m->more_stop_words = gf_copy_string(options->more_stop_words.ptr, options->more_stop_words.len);
    gf_status st = m->more_stop_words ? GF_OK : gf_fail_memory(err, "a search");
    m->options.more_stop_words.ptr = m->more_stop_words;
    if (st == GF_OK) st = make_analysers(m, err);
    if (st == GF_OK)
        *matcher = m;
    else
        gf_matcher_free(m);
    return st;
}

void gf_matcher_free(gf_matcher *m)
{
    if (!m) return;
    for (size_t i = 0; i <= GF_LANGUAGES; i++) {
        if (m->languages[i]) gf_free(m->languages[i]->mask);
        gf_free(m->languages[i]);
    }
    gf_analyser_free(m->analyser);
    gf_analyser_free(m->plain);
    gf_arena_release(&m->memory);
    gf_free(m->word_at);
    gf_free(m->more_stop_words);
    gf_free(m);
}

/* ---- the query in a language ----------------------------------------------------------------- */

static gf_status fail_at(const gf_query_item *item, const char *what, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "query, character %zu: %s", item->position, what);
}

static gf_status copy_term(gf_matcher *m, const gf_analyser *a, const gf_word *word, gf_slice *out,
                           gf_error *err)
{
    *out = gf_arena_copy(&m->memory, gf_strings_at(gf_analyser_terms(a), word->term));
    return out->ptr ? GF_OK : gf_fail_memory(err, "a search");
}

static gf_status add_prefix(gf_matcher *m, const gf_query_item *item, const gf_language *language,
                            gf_query_terms *t, gf_error *err)
{
    gf_analysis a;
    gf_status st = gf_analyser_run(m->plain, item->text, language, &a, err);
    size_t words = 0;
    for (size_t i = 0; i < a.n && st == GF_OK; i++) {
        if (a.words[i].use == GF_WORD_NONE) continue;
        words++;
        st = copy_term(m, m->plain, &a.words[i], &t->prefix[t->n - 1], err);
    }
    if (st == GF_OK && words != 1) return fail_at(item, "a star goes behind one single word", err);
    return st;
}

static gf_status add_item(gf_matcher *m, const gf_query_item *item, const gf_language *language,
                          gf_query_terms *t, gf_error *err)
{
    gf_analysis a;
    size_t before = t->n;
    gf_status st = gf_analyser_run(m->analyser, item->text, language, &a, err);
    for (size_t i = 0; st == GF_OK && i < a.n; i++) {
        if (a.words[i].use == GF_WORD_NONE) continue;
        if (t->n == GF_QUERY_ITEMS) return fail_at(item, "more than 64 words", err);
        t->prefix[t->n] = (gf_slice){0};
        st = copy_term(m, m->analyser, &a.words[i], &t->term[t->n++], err);
    }
    if (st != GF_OK) return st;
    if (t->n == before) return fail_at(item, "there is no word here", err);
    if (!item->is_prefix) return GF_OK;
    if (t->n != before + 1) return fail_at(item, "a star goes behind one single word", err);
    return add_prefix(m, item, language, t, err);
}

static gf_status analyse_query(gf_matcher *m, language_query *l, const gf_language *language,
                               gf_error *err)
{
    gf_status st = GF_OK;
    l->terms.n = 0;
    l->starts = l->ends = 0;
    for (size_t i = 0; i < m->query->n && st == GF_OK; i++) {
        l->terms.start[i] = l->terms.n;
        st = add_item(m, &m->query->items[i], language, &l->terms, err);
        if (st != GF_OK) break;
        l->starts |= UINT64_C(1) << l->terms.start[i];
        l->ends |= UINT64_C(1) << (l->terms.n - 1);
    }
    l->terms.start[m->query->n] = l->terms.n;
    l->terms.analysed = st == GF_OK;
    return st;
}

static gf_status need_language(gf_matcher *m, const gf_language *language, language_query **out,
                               gf_error *err)
{
    if (m->options.language) language = m->options.language;
    language_query **l = &m->languages[language ? gf_language_index(language) + 1 : 0];
    if (!*l) *l = gf_calloc(1, sizeof **l);
    if (!*l) return gf_fail_memory(err, "a search");
    *out = *l;
    return (*l)->terms.analysed ? GF_OK : analyse_query(m, *l, language, err);
}

gf_status gf_matcher_terms(gf_matcher *m, const gf_language *language, const gf_query_terms **terms,
                           gf_error *err)
{
    language_query *l = NULL;
    gf_status st = need_language(m, language, &l, err);
    if (st == GF_OK) *terms = &l->terms;
    return st;
}

/* ---- a text ---------------------------------------------------------------------------------- */

static uint64_t mask_of(const gf_query_terms *q, gf_slice term)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < q->n; i++) {
        bool has = gf_slice_equal(q->term[i], term) ||
                   (q->prefix[i].len && gf_slice_starts(term, q->prefix[i]));
        mask |= (uint64_t)has << i;
    }
    return mask;
}

/* Masks of the terms that the analyser has met since. */
static gf_status update_masks(gf_matcher *m, language_query *l, gf_error *err)
{
    const gf_strings *terms = gf_analyser_terms(m->analyser);
    if (!gf_grow(&l->mask, &l->capacity, terms->n, sizeof *l->mask))
        return gf_fail_memory(err, "a search");
    for (; l->n_masks < terms->n; l->n_masks++)
        l->mask[l->n_masks] = mask_of(&l->terms, gf_strings_at(terms, (uint32_t)l->n_masks));
    return GF_OK;
}

static gf_status bound_memory(gf_matcher *m, gf_error *err)
{
    if (gf_analyser_terms(m->analyser)->n < MOST_REMEMBERED) return GF_OK;
    gf_analyser *fresh;
    gf_status st = gf_analyser_create(&m->options, &fresh, err);
    if (st != GF_OK) return st;
    gf_analyser_free(m->analyser);
    m->analyser = fresh;
    for (size_t i = 0; i <= GF_LANGUAGES; i++)
        if (m->languages[i]) m->languages[i]->n_masks = 0;
    return GF_OK;
}

/* The items whose last bits these are end with word `word`. */
static void note_hits(gf_matcher *m, const language_query *l, const gf_token *tokens, uint64_t hits,
                      size_t word, gf_matched *out)
{
    for (; hits; hits &= hits - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(hits), item = m->item_of[bit];
        m->count[item] += m->count[item] != UINT32_MAX;
        size_t first = word + l->terms.start[item] + 1 - l->terms.start[item + 1];
        const gf_token *from = &tokens[m->word_at[first]], *to = &tokens[m->word_at[word]];
        bool earlier = out->first_end == 0 || from->start < out->first_start;
        if (m->query->items[item].excludes || !earlier) continue;
        out->first_start = from->start;
        out->first_end = to->start + to->length;
    }
}

static void follow_items(gf_matcher *m, const language_query *l, const gf_analysis *a,
                         gf_matched *out)
{
    uint64_t state = 0;
    size_t words = 0;
    for (size_t i = 0; i < a->n; i++) {
        if (a->words[i].use == GF_WORD_NONE) continue;
        state = ((state << 1) | l->starts) & l->mask[a->words[i].term];
        m->word_at[words] = (uint32_t)i;
        if (state & l->ends) note_hits(m, l, a->tokens, state & l->ends, words, out);
        words++;
    }
    out->length = words;
}

gf_status gf_matcher_match(gf_matcher *m, gf_slice text, const gf_language *language,
                           gf_matched *matched, gf_error *err)
{
    gf_analysis a;
    language_query *l = NULL;
    gf_matched out = {.count = m->count};
    gf_status st = bound_memory(m, err);
    if (st == GF_OK) st = need_language(m, language, &l, err);
    if (st == GF_OK) st = gf_analyser_run(m->analyser, text, language, &a, err);
    if (st == GF_OK) st = update_masks(m, l, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&m->word_at, &m->capacity, a.n, sizeof *m->word_at))
        return gf_fail_memory(err, "a search");
    for (size_t item = 0; item < m->query->n; item++) {
        m->count[item] = 0;
        for (size_t bit = l->terms.start[item]; bit < l->terms.start[item + 1]; bit++)
            m->item_of[bit] = (uint32_t)item;
    }
    follow_items(m, l, &a, &out);
    *matched = out;
    return GF_OK;
}
