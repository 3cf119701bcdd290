#include "vectorize/rows/transformer.h"

#include "base/memory.h"
#include "vectorize/rows/document_counts_internal.h"
#include "vectorize/rows/sort_entries_internal.h"

#include <assert.h>

/* Surfaces and terms that are remembered; beyond that the tables start anew. */
enum { MOST_REMEMBERED = 1 << 20 };

/* The state that transformers of a group share. */
typedef struct group_words {
    gf_dictionary *dictionary; /* of several threads; NULL: the only analyser has its own */
    gf_tallies columns;        /* by the dictionary's terms: column + 1, or GF_TERM_NONE; 0 where it
                                  was not looked for yet */
    unsigned users;
} group_words;

struct gf_transformer {
    gf_weights weights;
    const gf_vocabulary *vocabulary;
    group_words *words;
    gf_counter counter;
    uint64_t *entries; /* 2 * capacity: column << 32 | count, and room for sorting them */
    uint32_t *cols, *counts;
    float *vals; /* capacity, as cols and counts */
    size_t capacity;
    gf_sequence_token *sequence; /* sequence_capacity */
    size_t sequence_capacity;
};

static gf_status create(const gf_vectorizer_options *options, const gf_vocabulary *vocabulary,
                        group_words *words, gf_transformer **transformer, gf_error *err)
{
    gf_transformer *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "a transformer");
    t->weights = options->weights;
    t->vocabulary = vocabulary;
    gf_status st =
        gf_document_counts_init(&t->counter, &options->analysis, words->dictionary, false, err);
    if (st != GF_OK) {
        gf_free(t);
        return st;
    }
    t->words = words;
    words->users++;
    *transformer = t;
    return GF_OK;
}

static void free_words(group_words *w)
{
    gf_tallies_release(&w->columns);
    gf_dictionary_free(w->dictionary);
    gf_free(w);
}

gf_status gf_transformer_create_group(const gf_vectorizer_options *options,
                                      const gf_vocabulary *vocabulary, unsigned n,
                                      gf_transformer **group, gf_error *err)
{
    gf_status st = gf_vectorizer_options_check(options, err);
    if (st != GF_OK) return st;
    if (options->weights.idf != vocabulary->idf_kind)
        return gf_fail(err, GF_EINVAL, "the vocabulary was made with another idf");
    group_words *words = gf_calloc(1, sizeof *words);
    if (!words) return gf_fail_memory(err, "a transformer");
    if (n > 1) st = gf_dictionary_create(true, &words->dictionary, err);
    unsigned made = 0;
    for (; made < n && st == GF_OK; made += st == GF_OK)
        st = create(options, vocabulary, words, &group[made], err);
    if (st == GF_OK) return GF_OK;
    if (made == 0) free_words(words);
    for (unsigned i = 0; i < made; i++) {
        gf_transformer_free(group[i]);
        group[i] = NULL;
    }
    return st;
}

gf_status gf_transformer_create(const gf_vectorizer_options *options,
                                const gf_vocabulary *vocabulary, gf_transformer **transformer,
                                gf_error *err)
{
    return gf_transformer_create_group(options, vocabulary, 1, transformer, err);
}

void gf_transformer_borrow(gf_transformer *t, gf_analyser *analyser)
{
    assert(!t->words->dictionary);
    gf_document_counts_borrow(&t->counter, analyser);
    gf_tallies_release(&t->words->columns);
}

void gf_transformer_free(gf_transformer *t)
{
    if (!t) return;
    gf_document_counts_release(&t->counter);
    if (--t->words->users == 0) free_words(t->words);
    gf_free(t->entries);
    gf_free(t->cols);
    gf_free(t->counts);
    gf_free(t->vals);
    gf_free(t->sequence);
    gf_free(t);
}

static gf_dictionary *dictionary_of(const gf_transformer *t)
{
    return gf_analyser_dictionary(t->counter.analyser);
}

gf_status gf_transformer_bound_group(gf_transformer *const *group, unsigned n, gf_error *err)
{
    gf_dictionary *shared = group[0]->words->dictionary;
    if (!shared) return GF_OK; /* of one thread: it sees to that itself */
    gf_dictionary_settle(shared);
    if (gf_dictionary_size(shared) < MOST_REMEMBERED) return GF_OK;
    gf_status st = GF_OK;
    for (unsigned i = 0; i < n && st == GF_OK; i++)
        st = gf_document_counts_reset(&group[i]->counter, err);
    gf_tallies_release(&group[0]->words->columns);
    return st == GF_OK ? gf_dictionary_reset(shared, err) : st;
}

static gf_status bound_memory(gf_transformer *t, gf_error *err)
{
    if (t->words->dictionary || gf_dictionary_size(dictionary_of(t)) < MOST_REMEMBERED)
        return GF_OK;
    gf_tallies_release(&t->words->columns);
    return gf_document_counts_reset(&t->counter, err);
}

/* The column of a term, or GF_TERM_NONE. */
static inline gf_status find_column(gf_transformer *t, uint32_t term, uint32_t *column,
                                    gf_error *err)
{
    gf_tallies *columns = &t->words->columns;
    gf_status st = gf_tallies_reserve(columns, term, err);
    if (st != GF_OK) return st;
    uint32_t *place = gf_tallies_place(columns, term);
    uint32_t known = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (known == 0) {
        known = gf_vocabulary_find(t->vocabulary, gf_dictionary_term(dictionary_of(t), term));
        known += known != GF_TERM_NONE;
        __atomic_store_n(place, known, __ATOMIC_RELAXED);
    }
    *column = known == GF_TERM_NONE ? GF_TERM_NONE : known - 1;
    return GF_OK;
}

static gf_status reserve_row(gf_transformer *t, size_t n, gf_error *err)
{
    if (n <= t->capacity) return GF_OK;
    size_t capacity = t->capacity * 2 > n ? t->capacity * 2 : n;
    uint64_t *entries = gf_realloc(t->entries, capacity * 2, sizeof *entries);
    if (entries) t->entries = entries;
    uint32_t *cols = gf_realloc(t->cols, capacity, sizeof *cols);
    if (cols) t->cols = cols;
    uint32_t *counts = gf_realloc(t->counts, capacity, sizeof *counts);
    if (counts) t->counts = counts;
    float *vals = gf_realloc(t->vals, capacity, sizeof *vals);
    if (vals) t->vals = vals;
    if (!entries || !cols || !counts || !vals) return gf_fail_memory(err, "a row");
    t->capacity = capacity;
    return GF_OK;
}

/* The columns of a document's terms, in t->cols. */
static gf_status find_columns(gf_transformer *t, const gf_counts *counts, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < counts->n && st == GF_OK; i++)
        st = find_column(t, counts->term[i], &t->cols[i], err);
    return st;
}

/* Puts the entries whose column is below `most` into t->entries; returns how many. */
static uint32_t select_entries(gf_transformer *t, const gf_counts *counts, uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < counts->n; i++)
        if (t->cols[i] < most) t->entries[n++] = (uint64_t)t->cols[i] << 32 | counts->count[i];
    return n;
}

gf_status gf_transformer_row(gf_transformer *t, gf_slice text, const gf_language *language,
                             gf_row_view *row, gf_row_kind *kind, gf_error *err)
{
    const gf_vocabulary *v = t->vocabulary;
    gf_counts counts;
    gf_status st = bound_memory(t, err);
    if (st == GF_OK) st = gf_count(&t->counter, text, language, &counts, err);
    if (st == GF_OK) st = reserve_row(t, counts.n, err);
    if (st == GF_OK) st = find_columns(t, &counts, err);
    if (st != GF_OK) return st;
    gf_row_kind found = counts.tier == GF_TIER_NONE ? GF_ROW_EMPTY : GF_ROW_PLAIN;
    uint32_t n = counts.tier == GF_TIER_TERMS ? select_entries(t, &counts, v->n_regular) : 0;
    if (n == 0 && found == GF_ROW_PLAIN) {
        found = GF_ROW_RESCUED;
        n = select_entries(t, &counts, v->n_terms);
    }
    if (n) gf_sort_entries_by_high(t->entries, n, t->entries + t->capacity, v->n_terms);
    for (uint32_t i = 0; i < n; i++) {
        t->cols[i] = (uint32_t)(t->entries[i] >> 32);
        t->counts[i] = (uint32_t)t->entries[i];
    }
    const double *idf = found == GF_ROW_PLAIN ? v->idf : NULL;
    gf_weights_weigh_row(&t->weights, idf, t->cols, t->counts, n, counts.length, t->vals);
    *row = (gf_row_view){t->cols, t->vals, n};
    if (kind) *kind = found;
    return GF_OK;
}

static uint32_t flags_of(const gf_token *token, const gf_word *word)
{
    uint32_t flags = 0;
    if (token->flags & GF_TOKEN_BREAK) flags |= GF_SEQUENCE_BREAK;
    if (token->flags & GF_TOKEN_PIECE) flags |= GF_SEQUENCE_PIECE;
    if (word->use == GF_WORD_STOP) flags |= GF_SEQUENCE_STOP;
    if (word->use == GF_WORD_OTHER) flags |= GF_SEQUENCE_OTHER;
    if (token->kind == GF_TOKEN_NUMBER) flags |= GF_SEQUENCE_NUMBER;
    if (token->kind == GF_TOKEN_URL || token->kind == GF_TOKEN_ADDRESS) flags |= GF_SEQUENCE_LINK;
    if (token->kind == GF_TOKEN_MENTION) flags |= GF_SEQUENCE_MENTION;
    if (token->kind == GF_TOKEN_HASHTAG) flags |= GF_SEQUENCE_HASHTAG;
    return flags;
}

static gf_status make_sequence(gf_transformer *t, const gf_analysis *a,
                               const gf_sequence_token **tokens, size_t *n, gf_error *err)
{
    gf_status st = GF_OK;
    if (a->n > t->sequence_capacity) {
        gf_sequence_token *grown = gf_realloc(t->sequence, a->n * 2, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "a sequence");
        t->sequence = grown;
        t->sequence_capacity = a->n * 2;
    }
    for (size_t i = 0; i < a->n && st == GF_OK; i++) {
        uint32_t column = GF_TERM_NONE;
        if (a->words[i].use != GF_WORD_NONE) st = find_column(t, a->words[i].term, &column, err);
        t->sequence[i] = (gf_sequence_token){a->tokens[i].start, a->tokens[i].length, column,
                                             flags_of(&a->tokens[i], &a->words[i])};
    }
    if (st != GF_OK) return st;
    *tokens = t->sequence;
    *n = a->n;
    return GF_OK;
}

gf_status gf_transformer_sequence(gf_transformer *t, gf_slice text, const gf_language *language,
                                  const gf_sequence_token **tokens, size_t *n, gf_error *err)
{
    gf_analysis a;
    gf_status st = bound_memory(t, err);
    if (st == GF_OK) st = gf_analyser_run(t->counter.analyser, text, language, &a, err);
    return st == GF_OK ? make_sequence(t, &a, tokens, n, err) : st;
}

gf_status gf_transformer_sequence_kept(gf_transformer *t, size_t i, bool *kept,
                                       const gf_sequence_token **tokens, size_t *n, gf_error *err)
{
    gf_analysis a;
    gf_status st = bound_memory(t, err);
    if (st != GF_OK) return st;
    *kept = gf_analyser_kept(t->counter.analyser, i, &a);
    return *kept ? make_sequence(t, &a, tokens, n, err) : GF_OK;
}
