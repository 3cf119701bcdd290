#include "vectorize/rows/analyser_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "vectorize/rows/lexicon_internal.h"

#include <assert.h>

enum { KINDS = GF_TOKEN_HASHTAG + 1 };

struct gf_analyser {
    gf_analysis_options options;
    gf_lexicon *lexicon; /* of the options, or own */
    gf_lexicon *own;
    gf_tokeniser tokeniser;
    gf_word *words; /* word_capacity */
    size_t word_capacity;
    gf_dictionary *dictionary; /* of others, or own_dictionary */
    gf_dictionary *own_dictionary;
    bool counts;     /* how often surfaces are met */
    uint32_t *early; /* GF_EARLY_SURFACES, of a shared dictionary */
    struct kept {
        size_t most; /* tokens; 0: nothing is kept */
        gf_token *tokens;
        gf_word *words;
        size_t n_tokens, token_capacity, word_capacity;
        size_t *end; /* n: where the tokens of each text end */
        size_t n, capacity;
    } kept;
    bool skips[KINDS]; /* kinds of token that are no words */
    bool verbatim[KINDS];
};

static gf_token_options token_options(const gf_analysis_options *o)
{
    return (gf_token_options){.max_length = o->max_length,
                              .links = o->urls != GF_LINKS_SPLIT,
                              .mention_signs = o->mentions == GF_SIGNS_KEEP,
                              .hashtag_signs = o->hashtags == GF_SIGNS_KEEP,
                              .references = o->entities,
                              .bigrams = o->cjk == GF_CJK_BIGRAMS};
}

static void decide_kinds(gf_analyser *a)
{
    const gf_analysis_options *o = &a->options;
    a->skips[GF_TOKEN_NUMBER] = !o->numbers;
    a->skips[GF_TOKEN_URL] = a->skips[GF_TOKEN_ADDRESS] = o->urls == GF_LINKS_SKIP;
    a->verbatim[GF_TOKEN_URL] = a->verbatim[GF_TOKEN_ADDRESS] = true;
    a->skips[GF_TOKEN_MENTION] = o->mentions == GF_SIGNS_SKIP;
    a->skips[GF_TOKEN_HASHTAG] = o->hashtags == GF_SIGNS_SKIP;
}

gf_status gf_analyser_create_on(const gf_analysis_options *options, gf_dictionary *dictionary,
                                bool counts, gf_analyser **analyser, gf_error *err)
{
    gf_vectorizer_options all = gf_vectorizer_options_default();
    all.analysis = *options;
    gf_status st = gf_vectorizer_options_check(&all, err);
    if (st != GF_OK) return st;
    gf_analyser *a = gf_calloc(1, sizeof *a);
    if (!a) return gf_fail_memory(err, "an analyser");
    gf_tokeniser_init(&a->tokeniser, token_options(options));
    a->options = *options;
    a->options.more_stop_words = (gf_slice){0}; /* the lexicon has its own copy */
    a->counts = counts;
    st = options->lexicon ? GF_OK : gf_lexicon_create(&a->own, err);
    a->lexicon = options->lexicon ? options->lexicon : a->own;
    if (a->own) a->own->remembers = false;
    if (st == GF_OK) st = gf_lexicon_suit(a->lexicon, options, err);
    if (st == GF_OK && !dictionary) st = gf_dictionary_create(false, &a->own_dictionary, err);
    if (st == GF_OK && counts && dictionary && dictionary->shared) {
        a->early = gf_calloc(GF_EARLY_SURFACES, sizeof *a->early);
        if (!a->early) st = gf_fail_memory(err, "an analyser");
    }
    if (st != GF_OK) {
        gf_analyser_free(a);
        return st;
    }
    a->dictionary = dictionary ? dictionary : a->own_dictionary;
    decide_kinds(a);
    *analyser = a;
    return GF_OK;
}

gf_status gf_analyser_create(const gf_analysis_options *options, gf_analyser **analyser,
                             gf_error *err)
{
    return gf_analyser_create_on(options, NULL, false, analyser, err);
}

static void release_kept(gf_analyser *a)
{
    gf_free(a->kept.tokens);
    gf_free(a->kept.words);
    gf_free(a->kept.end);
    a->kept = (struct kept){0};
}

void gf_analyser_free(gf_analyser *a)
{
    if (!a) return;
    release_kept(a);
    gf_tokeniser_release(&a->tokeniser);
    gf_lexicon_free(a->own);
    gf_dictionary_free(a->own_dictionary);
    gf_free(a->early);
    gf_free(a->words);
    gf_free(a);
}

gf_status gf_analyser_reset(gf_analyser *a, gf_error *err)
{
    release_kept(a);
    return a->own_dictionary ? gf_dictionary_reset(a->own_dictionary, err) : GF_OK;
}

const gf_strings *gf_analyser_terms(const gf_analyser *a)
{
    assert(!a->dictionary->shared);
    return &a->dictionary->terms[0].strings;
}

gf_dictionary *gf_analyser_dictionary(const gf_analyser *a)
{
    return a->dictionary;
}

void gf_analyser_settle(gf_analyser *a)
{
    if (a->early) gf_dictionary_add_early(a->dictionary, a->early);
}

/* ---- a surface that was not met before ------------------------------------------------------- */

/*
 * True if the normal form was met as a surface itself, as "word" mostly was where "Word" is new. A
 * normal form is its own normal form, so all that the lexicon would find is there.
 */
static bool known_by_normal(const gf_analyser *a, gf_slice normal, gf_slice s, uint32_t tag,
                            gf_word *word)
{
    gf_surface_key key;
    if (normal.len == 0 || normal.len > GF_SURFACE_LONGEST || gf_slice_equal(normal, s))
        return false;
    gf_surface_make_key(&key, normal, normal.len, tag);
    const gf_surface *met = gf_surfaces_find(&a->dictionary->surfaces, &key, normal);
    if (met) *word = (gf_word){met->term, met->use};
    return met != NULL;
}

/* The term of a meaning. */
static gf_status intern_meaning(gf_analyser *a, const gf_meaning *meaning, gf_word *word,
                                gf_error *err)
{
    *word = (gf_word){GF_STRING_NONE, meaning->use};
    if (meaning->use == GF_WORD_NONE) return GF_OK;
    return gf_dictionary_intern(a->dictionary, meaning->term, &word->term, err);
}

/* Find what a surface means that the lexicon does not hold. */
static gf_status find_out(gf_analyser *a, const gf_surface_key *key, gf_slice s,
                          const gf_language *language, gf_word *word, gf_error *err)
{
    gf_slice normal;
    gf_meaning meaning;
    gf_status st = gf_lexicon_normalise(a->lexicon, s, language, &normal, err);
    if (st != GF_OK) return st;
    if (known_by_normal(a, normal, s, key->tag, word)) {
        meaning = (gf_meaning){{"", 0}, word->use};
        if (word->use != GF_WORD_NONE) meaning.term = gf_dictionary_term(a->dictionary, word->term);
    } else {
        st = gf_lexicon_judge(a->lexicon, normal, language, key->tag, &meaning, err);
        if (st == GF_OK) st = intern_meaning(a, &meaning, word, err);
    }
    return st == GF_OK ? gf_lexicon_remember(a->lexicon, key, s, &meaning, err) : st;
}

static gf_status add_surface(gf_analyser *a, const gf_surface_key *key, gf_slice s,
                             const gf_language *language, gf_surface **slot, gf_error *err)
{
    gf_meaning meaning;
    gf_word word;
    gf_status st = gf_lexicon_find(a->lexicon, key, s, &meaning)
                       ? intern_meaning(a, &meaning, &word, err)
                       : find_out(a, key, s, language, &word, err);
    if (st != GF_OK) return st;
    return gf_surfaces_add(&a->dictionary->surfaces, key, s, word.term, word.use, slot, err);
}

/* ---- the tokens of a text -------------------------------------------------------------------- */

/* The first max_length characters of a word that is too long. */
static gf_slice cut(const gf_analyser *a, gf_slice s)
{
    size_t at = 0;
    for (uint32_t i = 0; i < a->options.max_length && at < s.len; i++)
        gf_utf8_next(s, &at);
    return gf_slice_of(s.ptr, at);
}

/* The bytes and the tag that a token is looked up by; false where it is no word. */
static inline bool surface_of(const gf_analyser *a, gf_slice text, const gf_token *token,
                              uint32_t language_tag, gf_slice *s, uint32_t *tag)
{
    bool verbatim = a->verbatim[token->kind] || (token->flags & GF_TOKEN_SIGN);
    if (a->skips[token->kind]) return false;
    *s = gf_slice_of(text.ptr + token->start, token->length);
    *tag = language_tag;
    if (verbatim) *tag |= GF_TAG_VERBATIM;
    if (token->flags & GF_TOKEN_PIECE) *tag |= GF_TAG_PIECE;
    if (token->flags & GF_TOKEN_LONG) {
        if (verbatim) return false;
        *tag |= GF_TAG_LONG;
        *s = cut(a, *s);
    }
    return true;
}

/* Tokens are looked up this many at a time: keys first, then slots, whose memory is then on its
 * way. */
enum { BLOCK = 32 };

static gf_status look_up(gf_analyser *a, gf_slice text, const gf_token *tokens, size_t n,
                         const gf_language *language, gf_word *words, gf_error *err)
{
    gf_surface_key keys[BLOCK];
    gf_slice slices[BLOCK];
    gf_dictionary *d = a->dictionary;
    const char *end = text.ptr + text.len;
    uint32_t language_tag = language ? (uint32_t)gf_language_index(language) + 1 : 0, tag;
    for (size_t i = 0; i < n; i++) {
        keys[i].length = 0;
        if (!surface_of(a, text, &tokens[i], language_tag, &slices[i], &tag)) continue;
        gf_surface_make_key(&keys[i], slices[i], (size_t)(end - slices[i].ptr), tag);
        gf_surfaces_prefetch(&d->surfaces, &keys[i]);
        gf_surfaces_prefetch(&a->lexicon->met, &keys[i]);
    }
    for (size_t i = 0; i < n; i++) {
        words[i] = (gf_word){GF_STRING_NONE, GF_WORD_NONE};
        if (keys[i].length == 0) continue;
        gf_surface *slot = gf_surfaces_find(&d->surfaces, &keys[i], slices[i]);
        if (!slot) {
            gf_status st = add_surface(a, &keys[i], slices[i], language, &slot, err);
            if (st != GF_OK) return st;
        }
        if (a->counts) gf_surfaces_meet(&d->surfaces, slot, a->early);
        words[i] = (gf_word){slot->term, slot->use};
    }
    return GF_OK;
}

static gf_status reserve_words(gf_analyser *a, size_t n, gf_error *err)
{
    if (n <= a->word_capacity) return GF_OK;
    size_t capacity = a->tokeniser.capacity;
    gf_word *words = gf_realloc(a->words, capacity, sizeof *words);
    if (!words) return gf_fail_memory(err, "words");
    a->words = words;
    a->word_capacity = capacity;
    return GF_OK;
}

void gf_analyser_keep(gf_analyser *a, size_t most_tokens)
{
    if (most_tokens) release_kept(a);
    a->kept.most = most_tokens;
}

static gf_status keep_analysis(gf_analyser *a, const gf_analysis *of, gf_error *err)
{
    struct kept *k = &a->kept;
    size_t n = k->n_tokens + of->n;
    if (n > k->most) {
        release_kept(a);
        return GF_OK;
    }
    if (!gf_grow(&k->tokens, &k->token_capacity, n, sizeof *k->tokens) ||
        !gf_grow(&k->words, &k->word_capacity, n, sizeof *k->words) ||
        !gf_grow(&k->end, &k->capacity, k->n + 1, sizeof *k->end))
        return gf_fail_memory(err, "words");
    if (of->n) memcpy(k->tokens + k->n_tokens, of->tokens, of->n * sizeof *of->tokens);
    if (of->n) memcpy(k->words + k->n_tokens, of->words, of->n * sizeof *of->words);
    k->end[k->n++] = k->n_tokens = n;
    return GF_OK;
}

bool gf_analyser_kept(const gf_analyser *a, size_t i, gf_analysis *out)
{
    const struct kept *k = &a->kept;
    if (i >= k->n) return false;
    size_t from = i ? k->end[i - 1] : 0;
    *out = (gf_analysis){k->tokens + from, k->words + from, k->end[i] - from};
    return true;
}

gf_status gf_analyser_run(gf_analyser *a, gf_slice text, const gf_language *language,
                          gf_analysis *out, gf_error *err)
{
    gf_tokeniser *t = &a->tokeniser;
    if (a->options.language) language = a->options.language;
    gf_status st = gf_tokenise(t, text, err);
    if (st == GF_OK) st = reserve_words(a, t->n, err);
    for (size_t i = 0; i < t->n && st == GF_OK; i += BLOCK) {
        size_t n = t->n - i < BLOCK ? t->n - i : BLOCK;
        st = look_up(a, text, t->tokens + i, n, language, a->words + i, err);
    }
    if (st != GF_OK) return st;
    *out = (gf_analysis){t->tokens, a->words, t->n};
    return a->kept.most ? keep_analysis(a, out, err) : GF_OK;
}
