#include "vectorize/rows/document_counts_internal.h"

#include "base/memory.h"

/* Slots for terms: with the most, 384 KiB, which a processor's own cache holds. One thread has as
 * many as there are terms. */
enum { FIRST_STATES = 256, MOST_STATES = 1 << 15 };

gf_status gf_document_counts_init(gf_counter *c, const gf_analysis_options *options,
                                  gf_dictionary *dictionary, bool notes_forms, gf_error *err)
{
    gf_analyser *analyser;
    gf_status st = gf_analyser_create_on(options, dictionary, notes_forms, &analyser, err);
    if (st != GF_OK) return st;
    *c = (gf_counter){.analyser = analyser, .options = *options, .notes_forms = notes_forms};
    c->options.more_stop_words = (gf_slice){0}; /* the analyser has its own copy */
    return GF_OK;
}

static void forget_terms(gf_counter *c)
{
    gf_ngrams_release(&c->ngrams);
    gf_free(c->state);
    c->state = NULL;
    c->state_capacity = c->displaced = 0;
}

gf_status gf_document_counts_reset(gf_counter *c, gf_error *err)
{
    forget_terms(c);
    return gf_analyser_reset(c->analyser, err);
}

void gf_document_counts_borrow(gf_counter *c, gf_analyser *analyser)
{
    forget_terms(c);
    if (!c->borrows) gf_analyser_free(c->analyser);
    c->analyser = analyser;
    c->borrows = true;
}

void gf_document_counts_release(gf_counter *c)
{
    forget_terms(c);
    if (!c->borrows) gf_analyser_free(c->analyser);
    gf_free(c->term);
    gf_free(c->count);
    gf_free(c->next);
    *c = (gf_counter){0};
}

static void settle_states(gf_counter *c)
{
    gf_tallies *documents = &gf_analyser_dictionary(c->analyser)->documents;
    for (size_t i = 0; i < c->state_capacity; i++) {
        gf_tallies_add(documents, c->state[i].term, c->state[i].df);
        c->state[i].df = 0;
    }
}

void gf_document_counts_settle(gf_counter *c)
{
    if (!c->analyser) return;
    settle_states(c);
    gf_analyser_settle(c->analyser);
}

/*
 * Room for the states of a document of n words: more slots where terms displaced each other too
 * often, and for a long document so many that few of its terms share one.
 */
static gf_status reserve_states(gf_counter *c, size_t n, gf_error *err)
{
    size_t capacity = c->state_capacity ? c->state_capacity : FIRST_STATES;
    bool more = capacity < MOST_STATES || !gf_analyser_dictionary(c->analyser)->shared;
    if (c->displaced > capacity / 4 && more) capacity *= 2;
    while (capacity < n / 2)
        capacity *= 2;
    if (capacity == c->state_capacity) return GF_OK;
    gf_term_state *state = gf_calloc(capacity, sizeof *state);
    if (!state) return gf_fail_memory(err, "document frequencies");
    settle_states(c);
    gf_free(c->state);
    c->state = state;
    c->state_capacity = capacity;
    c->displaced = 0;
    return GF_OK;
}

/* One more than n, since a place behind the last is written to before it is known to be needed. */
static gf_status reserve_counts(gf_counter *c, size_t n, gf_error *err)
{
    if (n < c->capacity) return GF_OK;
    size_t capacity = c->capacity * 2 > n ? c->capacity * 2 : n + 1;
    uint32_t *term = gf_realloc(c->term, capacity, sizeof *term);
    if (term) c->term = term;
    uint32_t *count = gf_realloc(c->count, capacity, sizeof *count);
    if (count) c->count = count;
    uint32_t *next = gf_realloc(c->next, capacity, sizeof *next);
    if (next) c->next = next;
    if (!term || !count || !next) return gf_fail_memory(err, "a document's terms");
    c->capacity = capacity;
    return GF_OK;
}

/* A document that has a term whose slot may count another: every eighth takes the slot. */
static void count_document(gf_counter *c, gf_term_state *state, uint32_t term)
{
    gf_tallies *documents = &gf_analyser_dictionary(c->analyser)->documents;
    if (state->term == term) {
        state->df++;
    } else if (state->df && c->displaced % 8) {
        gf_tallies_add(documents, term, 1);
    } else {
        gf_tallies_add(documents, state->term, state->df);
        state->term = term;
        state->df = 1;
    }
}

/* A term whose slot another term of the document has, or counts another's documents. */
static void count_in_taken_slot(gf_counter *c, gf_term_state *state, uint32_t term,
                                uint32_t adds_df)
{
    uint32_t mask = (uint32_t)c->state_capacity - 1, place = state->place;
    bool holds = place < c->n && ((c->term[place] ^ term) & mask) == 0;
    for (uint32_t at = holds ? place : UINT32_MAX; at != UINT32_MAX; at = c->next[at])
        if (c->term[at] == term) {
            c->count[at]++;
            return;
        }
    c->displaced++;
    c->term[c->n] = term;
    c->count[c->n] = 1;
    c->next[c->n] = holds ? place : UINT32_MAX;
    state->place = c->n++;
    if (adds_df) count_document(c, state, term);
}

/*
 * A slot's place is only true where the arrays agree, so it needs no clearing between documents
 * (Briggs & Torczon, "An efficient representation for sparse sets", 1993): of a hash table with
 * chains as of a plain set. No branch depends on whether the term is new in the document, which
 * nothing can foresee.
 */
static inline void count_term(gf_counter *c, uint32_t term, uint32_t adds_df)
{
    uint32_t mask = (uint32_t)c->state_capacity - 1;
    gf_term_state *state = &c->state[term & mask];
    uint32_t *terms = c->term, *counts = c->count;
    uint32_t n = c->n, place = state->place, there = terms[place];
    uint32_t holds = place < n, same = holds & (there == term), new = 1 - same, df = adds_df &new;
    if (__builtin_expect(
            (holds & new &(((there ^ term) & mask) == 0)) | (df & (state->term != term)), 0)) {
        count_in_taken_slot(c, state, term, adds_df);
        return;
    }
    place = new ? n : place;
    counts[place] = new ? 1 : counts[place] + 1;
    terms[place] = term;
    c->next[n] = UINT32_MAX;
    state->place = place;
    state->df += df;
    c->n = n + new;
}

/* The last words that an n-gram may still go on from. */
typedef struct window {
    uint32_t term[GF_MOST_NGRAM];
    uint32_t start[GF_MOST_NGRAM]; /* where the word starts in the text */
    bool stop[GF_MOST_NGRAM];
    uint32_t n;
} window;

static void remember(window *w, const gf_token *token, const gf_word *word)
{
    if (w->n == GF_MOST_NGRAM) {
        w->n--;
        memmove(w->term, w->term + 1, w->n * sizeof *w->term);
        memmove(w->start, w->start + 1, w->n * sizeof *w->start);
        memmove(w->stop, w->stop + 1, w->n * sizeof *w->stop);
    }
    w->term[w->n] = word->term;
    w->start[w->n] = token->start;
    w->stop[w->n++] = word->use == GF_WORD_STOP;
}

/* Counts the n-grams that end with the window's last word, at `end` in the text. */
static gf_status count_ngrams(gf_counter *c, const window *w, gf_slice text, uint32_t end,
                              gf_error *err)
{
    uint32_t least = c->options.ngrams_min > 2 ? c->options.ngrams_min : 2;
    gf_status st = GF_OK;
    for (uint32_t n = least; n <= c->options.ngrams_max && n <= w->n && st == GF_OK; n++) {
        uint32_t first = w->n - n, term;
        if (w->stop[first]) continue;
        st = gf_ngrams_term(&c->ngrams, gf_analyser_dictionary(c->analyser), w->term + first, n,
                            &term, err);
        if (st != GF_OK) break;
        count_term(c, term, 1);
        gf_slice span = gf_slice_of(text.ptr + w->start[first], end - w->start[first]);
        if (c->notes_forms)
            st = gf_ngrams_note(&c->ngrams, gf_analyser_dictionary(c->analyser), term, span, err);
    }
    return st;
}

static bool is_link(const gf_token *token)
{
    return token->kind == GF_TOKEN_URL || token->kind == GF_TOKEN_ADDRESS;
}

static gf_status count_with_ngrams(gf_counter *c, gf_slice text, const gf_analysis *a,
                                   gf_error *err)
{
    size_t most = a->n * (1 + c->options.ngrams_max - c->options.ngrams_min);
    gf_status st = reserve_counts(c, most, err);
    if (st == GF_OK) st = reserve_states(c, most, err);
    window w = {.n = 0};
    for (size_t i = 0; i < a->n && st == GF_OK; i++) {
        const gf_token *token = &a->tokens[i];
        const gf_word *word = &a->words[i];
        if (token->flags & GF_TOKEN_BREAK && !c->options.ngrams_over_punctuation) w.n = 0;
        if (word->use == GF_WORD_NONE || is_link(token)) w.n = 0;
        if (word->use == GF_WORD_STOP) {
            w.n = c->options.ngrams_over_stop_words ? w.n : 0;
            if (w.n) remember(&w, token, word);
        }
        if (word->use != GF_WORD_TERM) continue;
        if (c->options.ngrams_min == 1) count_term(c, word->term, 1);
        if (is_link(token)) continue;
        remember(&w, token, word);
        st = count_ngrams(c, &w, text, token->start + token->length, err);
    }
    return st;
}

/* The words of a block that have that use are listed first, again without a branch. */
static void count_use(gf_counter *c, const gf_analysis *a, gf_word_use use, uint32_t adds_df)
{
    enum { BLOCK = 64 };
    for (size_t from = 0; from < a->n; from += BLOCK) {
        size_t to = a->n - from > BLOCK ? from + BLOCK : a->n, n = 0;
        uint32_t terms[BLOCK];
        for (size_t i = from; i < to; i++) {
            terms[n] = a->words[i].term;
            n += a->words[i].use == use;
        }
        for (size_t i = 0; i < n; i++)
            __builtin_prefetch(&c->state[terms[i] & (c->state_capacity - 1)], 1);
        for (size_t i = 0; i < n; i++)
            count_term(c, terms[i], adds_df);
    }
}

static gf_counts counted(const gf_counter *c)
{
    uint64_t length = 0;
    for (uint32_t i = 0; i < c->n; i++)
        length += c->count[i];
    return (gf_counts){c->term, c->count, c->n, length, c->tier};
}

gf_status gf_count(gf_counter *c, gf_slice text, const gf_language *language, gf_counts *out,
                   gf_error *err)
{
    gf_analysis a;
    gf_tier tier = GF_TIER_TERMS;
    gf_status st = gf_analyser_run(c->analyser, text, language, &a, err);
    if (st == GF_OK) st = reserve_states(c, a.n, err);
    if (st == GF_OK) st = reserve_counts(c, a.n, err);
    if (st != GF_OK) return st;
    c->n = 0;
    if (c->options.ngrams_max > 1)
        st = count_with_ngrams(c, text, &a, err);
    else
        count_use(c, &a, GF_WORD_TERM, 1);
    if (st != GF_OK) return st;
    if (c->n == 0) {
        tier = GF_TIER_OTHERS;
        count_use(c, &a, GF_WORD_TERM, 0);
        count_use(c, &a, GF_WORD_OTHER, 0);
    }
    if (c->n == 0) {
        tier = GF_TIER_STOPS;
        count_use(c, &a, GF_WORD_STOP, 0);
    }
    c->analysis = a;
    c->tier = c->n ? tier : GF_TIER_NONE;
    *out = counted(c);
    return GF_OK;
}

void gf_document_counts_add_words(gf_counter *c, gf_counts *out)
{
    gf_tier has = c->tier;
    if (c->options.ngrams_max > 1 || has == GF_TIER_NONE) {
        c->n = 0;
        count_use(c, &c->analysis, GF_WORD_TERM, 0);
        has = GF_TIER_TERMS;
    }
    if (has == GF_TIER_TERMS) count_use(c, &c->analysis, GF_WORD_OTHER, 0);
    if (has != GF_TIER_STOPS) count_use(c, &c->analysis, GF_WORD_STOP, 0);
    *out = counted(c);
}
