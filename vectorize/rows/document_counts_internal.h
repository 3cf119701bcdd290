/**
 * A document as counted terms, before any filter: what both the vectorizer and the transformer make
 * rows of, so that both give the same row.
 *
 * A document that has no term still has words to stand for it. They come in tiers:
 *
 *     GF_TIER_TERMS    its terms (n-grams included)
 *     GF_TIER_OTHERS   without any: its words that are no terms by themselves (too short, too long,
 *                      single words where only n-grams are terms)
 *     GF_TIER_STOPS    without these too: its stop words
 *     GF_TIER_NONE     no word at all
 *
 * One counter per thread.
 */
#ifndef GF_VECTORIZE_ROWS_DOCUMENT_COUNTS_INTERNAL_H
#define GF_VECTORIZE_ROWS_DOCUMENT_COUNTS_INTERNAL_H

#include "vectorize/rows/ngrams_internal.h"

typedef enum gf_tier { GF_TIER_NONE, GF_TIER_TERMS, GF_TIER_OTHERS, GF_TIER_STOPS } gf_tier;

/**
 * The state of the terms whose ids leave the same remainder: a slot serves the document's terms
 * (place, next), and it counts documents for the one that had it last (term, df).
 */
typedef struct gf_term_state {
    uint32_t place; /* of the last of them in the document's arrays, if there is one */
    uint32_t term;
    uint32_t df; /* documents with that term in GF_TIER_TERMS, not in the dictionary yet */
} gf_term_state;

typedef struct gf_counter {
    gf_analyser *analyser;
    bool borrows; /* the analyser is another's */
    gf_analysis_options options;
    gf_ngrams ngrams;
    bool notes_forms;     /* count the texts of n-grams */
    gf_term_state *state; /* state_capacity, a power of two: slot = id modulo that */
    size_t state_capacity;
    size_t displaced;              /* terms whose slots others took since it grew */
    uint32_t *term, *count, *next; /* capacity; of the document counted last. next: the place of the
                                      one before with the same slot, or UINT32_MAX */
    size_t capacity;
    uint32_t n;
    gf_analysis analysis; /* of that document; borrowed from the analyser */
    gf_tier tier;         /* likewise */
} gf_counter;

/** Borrowed from the counter until its next call. */
typedef struct gf_counts {
    const uint32_t *term;  /* n distinct ids of the dictionary, in order of appearance */
    const uint32_t *count; /* n, each at least 1 */
    uint32_t n;
    uint64_t length; /* the counts' sum */
    gf_tier tier;
} gf_counts;

/**
 * The counter makes its own analyser, of that dictionary or, where it is NULL, with its own. How
 * often surfaces are met, and texts of n-grams, is counted where it notes forms.
 */
gf_status gf_document_counts_init(gf_counter *c, const gf_analysis_options *options,
                                  gf_dictionary *dictionary, bool notes_forms, gf_error *err);
void gf_document_counts_release(gf_counter *c);

/** Have it analyse by another's analyser, of the same options, and forget its own. */
void gf_document_counts_borrow(gf_counter *c, gf_analyser *analyser);

/** Have all that was counted over documents in the dictionary. */
void gf_document_counts_settle(gf_counter *c);

/** Forget all terms. GF_ENOMEM. */
gf_status gf_document_counts_reset(gf_counter *c, gf_error *err);

/** Count a document; errors as of gf_analyser_run. */
gf_status gf_count(gf_counter *c, gf_slice text, const gf_language *language, gf_counts *out,
                   gf_error *err);

/**
 * All words of the document that was counted last, in place of what gf_count gave of it: whatever
 * their tier, and without n-grams. Document frequencies stay as they are.
 */
void gf_document_counts_add_words(gf_counter *c, gf_counts *out);

#endif
