/**
 * Search by reading every document: what gf_search and gf_similar are held against. It knows
 * nothing of the index, nor of how a query is taken apart or matched: texts are sequences of terms,
 * an item of a query is one too, and BM25 is written down as the paper has it.
 */
#ifndef GF_TESTS_ENGINE_SEARCH_REFERENCE_H
#define GF_TESTS_ENGINE_SEARCH_REFERENCE_H

#include "tests/engine/fixture.h"

#include "base/arena.h"
#include "vectorize/text/language.h"

typedef struct reference_text {
    gf_slice id;
    gf_slice *words; /* n: terms */
    size_t n;
} reference_text;

typedef struct reference {
    gf_arena memory;
    reference_text *texts; /* n, by id */
    size_t n, capacity;
} reference;

/** All documents of a collection, in one language. */
void reference_read(reference *r, fixture *f, const char *collection, const gf_language *language);
void reference_release(reference *r);

typedef struct reference_hit {
    gf_slice id;
    double score;
} reference_hit;

/**
 * The documents that a query finds, best first; free the list.
 * @param query  words, word*, "phrases" and - before them, with single spaces between
 */
reference_hit *reference_search(const reference *r, const gf_language *language, const char *query,
                                size_t *n);

#endif
