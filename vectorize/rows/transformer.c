#include "vectorize/rows/transformer.h"

#include "base/memory.h"
#include "vectorize/rows/document_counts_internal.h"
#include "vectorize/rows/sort_entries_internal.h"

/* Surfaces and terms that are remembered; beyond that the tables start anew. */
enum { MOST_REMEMBERED = 1 << 20 };

struct gf_transformer {
    gf_weights weights;
    const gf_vocabulary *vocabulary;
    gf_counter counter;
    uint32_t *column; /* n_columns: of each of the counter's terms; GF_TERM_NONE */
    size_t n_columns, column_capacity;
    uint64_t *entries; /* 2 * capacity: column << 32 | count, and room for sorting them */
    uint32_t *cols, *counts;
    float *vals; /* capacity, as cols and counts */
    size_t capacity;
    gf_sequence_token *sequence; /* sequence_capacity */
    size_t sequence_capacity;
};

gf_status gf_transformer_create(const gf_vectorizer_options *options,
                                const gf_vocabulary *vocabulary, gf_transformer **transformer,
                                gf_error *err)
{
    gf_status st = gf_vectorizer_options_check(options, err);
    if (st != GF_OK) return st;
    if (options->weights.idf != vocabulary->idf_kind)
        return gf_fail(err, GF_EINVAL, "the vocabulary was made with another idf");
    gf_transformer *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "a transformer");
    t->weights = options->weights;
    t->vocabulary = vocabulary;
    st = gf_document_counts_init(&t->counter, &options->analysis, false, err);
    if (st != GF_OK) {
        gf_free(t);
        return st;
    }
    *transformer = t;
    return GF_OK;
}

void gf_transformer_borrow(gf_transformer *t, gf_analyser *analyser)
{
    gf_document_counts_reset(&t->counter);
    if (!t->counter.borrows) gf_analyser_free(t->counter.analyser);
    t->counter.analyser = analyser;
    t->counter.borrows = true;
    t->n_columns = 0;
}

void gf_transformer_free(gf_transformer *t)
{
    if (!t) return;
    gf_document_counts_release(&t->counter);
    gf_free(t->column);
    gf_free(t->entries);
    gf_free(t->cols);
    gf_free(t->counts);
    gf_free(t->vals);
    gf_free(t->sequence);
    gf_free(t);
}

static void bound_memory(gf_transformer *t)
{
    const gf_analyser *a = t->counter.analyser;
    if (gf_analyser_terms(a)->n < MOST_REMEMBERED && gf_analyser_surfaces(a)->n < MOST_REMEMBERED)
        return;
    gf_document_counts_reset(&t->counter);
    t->n_columns = 0;
}

/* Looks up the columns of the counter's terms that are new. */
static gf_status find_columns(gf_transformer *t, gf_error *err)
{
    const gf_strings *terms = gf_analyser_terms(t->counter.analyser);
    if (terms->n > t->column_capacity) {
        size_t capacity = t->column_capacity ? t->column_capacity : 256;
        while (capacity < terms->n)
            capacity *= 2;
        uint32_t *column = gf_realloc(t->column, capacity, sizeof *column);
        if (!column) return gf_fail_memory(err, "a transformer");
        t->column = column;
        t->column_capacity = capacity;
    }
    for (; t->n_columns < terms->n; t->n_columns++)
        t->column[t->n_columns] =
            gf_vocabulary_find(t->vocabulary, gf_strings_at(terms, (uint32_t)t->n_columns));
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

/* Puts the entries whose column is below `most` into t->entries; returns how many. */
static uint32_t select_entries(gf_transformer *t, const gf_counts *counts, uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < counts->n; i++) {
        uint32_t column = t->column[counts->term[i]];
        if (column < most) t->entries[n++] = (uint64_t)column << 32 | counts->count[i];
    }
    return n;
}

gf_status gf_transformer_row(gf_transformer *t, gf_slice text, const gf_language *language,
                             gf_row_view *row, gf_row_kind *kind, gf_error *err)
{
    const gf_vocabulary *v = t->vocabulary;
    gf_counts counts;
    bound_memory(t);
    gf_status st = gf_count(&t->counter, text, language, &counts, err);
    if (st == GF_OK) st = find_columns(t, err);
    if (st == GF_OK) st = reserve_row(t, counts.n, err);
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

gf_status gf_transformer_sequence(gf_transformer *t, gf_slice text, const gf_language *language,
                                  const gf_sequence_token **tokens, size_t *n, gf_error *err)
{
    gf_analysis a;
    bound_memory(t);
    gf_status st = gf_analyser_run(t->counter.analyser, text, language, &a, err);
    if (st == GF_OK) st = find_columns(t, err);
    if (st != GF_OK) return st;
    if (a.n > t->sequence_capacity) {
        gf_sequence_token *grown = gf_realloc(t->sequence, a.n * 2, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "a sequence");
        t->sequence = grown;
        t->sequence_capacity = a.n * 2;
    }
    for (size_t i = 0; i < a.n; i++)
        t->sequence[i] = (gf_sequence_token){
            a.tokens[i].start, a.tokens[i].length,
            a.words[i].use == GF_WORD_NONE ? GF_TERM_NONE : t->column[a.words[i].term],
            flags_of(&a.tokens[i], &a.words[i])};
    *tokens = t->sequence;
    *n = a.n;
    return GF_OK;
}
