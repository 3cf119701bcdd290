#include "engine/build/weak_terms.h"

#include "base/grow.h"
#include "base/memory.h"
#include "vectorize/rows/analyser.h"
#include "vectorize/text/weak_words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The languages, by place. */
static const char *const listed[] = {"english", "german",     "french",  "spanish", "italian",
                                     "dutch",   "portuguese", "russian", "chinese", "japanese"};

static_assert(sizeof listed / sizeof *listed == GF_WEAK_LISTED, "one place each");
static_assert(2 * GF_WEAK_LISTED <= 32, "two bits for each");

enum { MOST_LETTERS = 40 };

uint32_t gf_weak_terms_place(const gf_language *language)
{
    if (!language) return GF_WEAK_LISTED;
    if (strcmp(language->name, "porter") == 0) return 0; /* English, too */
    uint32_t i = 0;
    while (i < GF_WEAK_LISTED && strcmp(language->name, listed[i]) != 0)
        i++;
    return i;
}

/* The key of a word: its bit, and its letters, small where of ASCII; empty of a long one. */
static gf_slice letters_key(char key[MOST_LETTERS + 1], uint32_t bit, gf_slice word)
{
    if (word.len > MOST_LETTERS) return (gf_slice){0};
    key[0] = (char)bit;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        key[i + 1] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    return gf_slice_of(key, word.len + 1);
}

/* ---- making ---------------------------------------------------------------------------------- */

void gf_weak_terms_release(gf_weak_terms *w)
{
    gf_strings_release(&w->terms);
    gf_strings_release(&w->letters);
    gf_free(w->more_stop_words);
    gf_free(w->bits);
    gf_free(w->words);
    gf_free(w->first);
    *w = (gf_weak_terms){0};
}

/* One word of the lists. text: its letters; term: NULL where it has none. */
static gf_status add_word(gf_weak_terms *w, uint32_t bit, gf_slice text, const gf_slice *term,
                          gf_error *err)
{
    char key[MOST_LETTERS + 1];
    gf_slice letters = letters_key(key, bit, text);
    struct gf_weak_word word = {GF_STRING_NONE, GF_STRING_NONE};
    bool added;
    gf_status st = GF_OK;
    if (term) {
        st = gf_strings_add(&w->terms, *term, &word.term, &added, err);
        if (st != GF_OK) return st;
        if (!gf_grow(&w->bits, &w->bits_capacity, w->terms.n, sizeof *w->bits))
            return gf_fail_memory(err, "labels");
        if (added) w->bits[word.term] = 0;
        w->bits[word.term] |= 1u << bit;
    }
    if (letters.len == 0) return GF_OK;
    st = gf_strings_add(&w->letters, letters, &word.letters, NULL, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&w->words, &w->words_capacity, w->n_words + 1, sizeof *w->words))
        return gf_fail_memory(err, "labels");
    w->words[w->n_words++] = word;
    return GF_OK;
}

static gf_status add_list(gf_weak_terms *w, gf_analyser *a, uint32_t place, gf_weak_kind kind,
                          gf_error *err)
{
    const gf_language *language = gf_language_find(gf_slice_str(listed[place]));
    uint32_t bit = 2 * place + (kind == GF_WEAK_UNITS);
    size_t n_lines;
    const char *const *lines = gf_weak_words(language, kind, &n_lines);
    gf_status st = GF_OK;
    for (size_t i = 0; i < n_lines && st == GF_OK; i++) {
        gf_analysis words;
        st = gf_analyser_run(a, gf_slice_str(lines[i]), language, &words, err);
        for (size_t k = 0; st == GF_OK && k < words.n; k++) {
            gf_slice text = gf_slice_of(lines[i] + words.tokens[k].start, words.tokens[k].length);
            bool is_term = words.words[k].use != GF_WORD_NONE;
            gf_slice term = {0};
            if (is_term) term = gf_strings_at(gf_analyser_terms(a), words.words[k].term);
            st = add_word(w, bit, text, is_term ? &term : NULL, err);
        }
    }
    return st;
}

static int by_letters(const void *a, const void *b)
{
    const struct gf_weak_word *x = a, *y = b;
    if (x->letters != y->letters) return x->letters < y->letters ? -1 : 1;
    return x->term < y->term ? -1 : x->term > y->term;
}

/* Words by their letters, and where those of each begin. */
static gf_status order_words(gf_weak_terms *w, gf_error *err)
{
    uint32_t n = 0;
    w->first = gf_calloc((size_t)w->letters.n + 1, sizeof *w->first);
    if (!w->first) return gf_fail_memory(err, "labels");
    if (w->n_words) qsort(w->words, w->n_words, sizeof *w->words, by_letters);
    for (uint32_t id = 0; id <= w->letters.n; id++) {
        while (n < w->n_words && w->words[n].letters < id)
            n++;
        w->first[id] = n;
    }
    return GF_OK;
}

static gf_status make(gf_weak_terms *w, const gf_analysis_options *analysis, gf_error *err)
{
    gf_analyser *a = NULL;
    gf_status st = gf_analyser_create(analysis, &a, err);
    for (uint32_t i = 0; i < GF_WEAK_LISTED && st == GF_OK; i++) {
        if (analysis->language && gf_weak_terms_place(analysis->language) != i) continue;
        st = add_list(w, a, i, GF_WEAK_VAGUE, err);
        if (st == GF_OK) st = add_list(w, a, i, GF_WEAK_UNITS, err);
    }
    gf_analyser_free(a);
    return st == GF_OK ? order_words(w, err) : st;
}

/* Whether words have the same terms by both; n-grams do not matter. */
static bool same_terms(const gf_analysis_options *a, const gf_analysis_options *b)
{
    return a->language == b->language && a->stop_words == b->stop_words && a->stem == b->stem &&
           gf_slice_equal(a->more_stop_words, b->more_stop_words) &&
           a->min_length == b->min_length && a->max_length == b->max_length && a->urls == b->urls &&
           a->mentions == b->mentions && a->hashtags == b->hashtags && a->numbers == b->numbers &&
           a->cjk == b->cjk && a->entities == b->entities;
}

gf_status gf_weak_terms_suit(gf_weak_terms *w, const gf_analysis_options *analysis, gf_error *err)
{
    if (w->more_stop_words && same_terms(&w->analysis, analysis)) return GF_OK;
    gf_weak_terms_release(w);
    gf_slice more = analysis->more_stop_words;
    gf_status st = make(w, analysis, err);
    if (st == GF_OK) w->more_stop_words = gf_copy_string(more.ptr, more.len);
    if (st == GF_OK && !w->more_stop_words) st = gf_fail_memory(err, "labels");
    if (st != GF_OK) {
        gf_weak_terms_release(w);
        return st;
    }
    w->analysis = *analysis;
    w->analysis.lexicon = NULL;
    w->analysis.more_stop_words = gf_slice_of(w->more_stop_words, more.len);
    return GF_OK;
}

/* ---- looking up ------------------------------------------------------------------------------ */

void gf_weak_terms_mark(const gf_weak_terms *w, const gf_vocabulary *vocabulary, uint32_t *bits)
{
    uint32_t id;
    if (vocabulary->n_terms < w->terms.n) {
        for (uint32_t t = 0; t < vocabulary->n_terms; t++)
            if ((id = gf_strings_find(&w->terms, gf_vocabulary_term(vocabulary, t))) !=
                GF_STRING_NONE)
                bits[t] = w->bits[id];
        return;
    }
    for (uint32_t t = 0; t < w->terms.n; t++)
        if ((id = gf_vocabulary_find(vocabulary, gf_strings_at(&w->terms, t))) != GF_TERM_NONE)
            bits[id] = w->bits[t];
}

static bool is_without(const gf_weak_terms *w, uint32_t term, const gf_vocabulary *vocabulary)
{
    return term == GF_STRING_NONE ||
           gf_vocabulary_find(vocabulary, gf_strings_at(&w->terms, term)) == GF_TERM_NONE;
}

uint32_t gf_weak_terms_without(const gf_weak_terms *w, uint32_t place, gf_slice word,
                               const gf_vocabulary *vocabulary)
{
    char key[MOST_LETTERS + 1];
    uint32_t found = 0;
    for (uint32_t kind = 0; kind < 2; kind++) {
        gf_slice letters = letters_key(key, 2 * place + kind, word);
        if (letters.len == 0) continue;
        uint32_t id = gf_strings_find(&w->letters, letters);
        if (id == GF_STRING_NONE) continue;
        for (uint32_t i = w->first[id]; i < w->first[id + 1] && !(found >> kind & 1); i++)
            if (is_without(w, w->words[i].term, vocabulary)) found |= 1u << kind;
    }
    return found;
}
