/**
 * The words of a collection, each found out once for all the analysers that share the dictionary:
 *
 *     surfaces   a word as it stands in a text  ->  its term, and what use it is of
 *     ngrams     the terms of two or three words in a row  ->  the term that they make
 *     forms      texts that n-grams were met as; the tag is the n-gram's term
 *     terms      strings by id, dealt to shards by hash: number within the shard, then the shard
 *
 *     early, documents   times that early surfaces were met, documents that have a term: counted by
 *                        those who use the dictionary, settled here
 *
 * A dictionary of one thread has a single shard, so that its terms' ids are 0, 1, 2, ... in order
 * of arrival. Of several threads it depends on the threads which id a term has, and an id may be of
 * no term: ids are for looking up, never for output.
 */
#ifndef GF_VECTORIZE_ROWS_DICTIONARY_INTERNAL_H
#define GF_VECTORIZE_ROWS_DICTIONARY_INTERNAL_H

#include "base/strings.h"
#include "vectorize/rows/surfaces_internal.h"
#include "vectorize/rows/tallies_internal.h"

typedef struct gf_term_shard {
    pthread_mutex_t lock; /* where it is shared */
    gf_strings strings;
} gf_term_shard;

typedef struct gf_dictionary {
    gf_surfaces surfaces, ngrams, forms;
    gf_tallies documents;
    gf_tallies early;     /* by number of a surface; where it is shared */
    gf_term_shard *terms; /* 1 << bits */
    unsigned bits;
    bool shared;
} gf_dictionary;

/** For one thread, or for several. GF_ENOMEM. */
gf_status gf_dictionary_create(bool shared, gf_dictionary **dictionary, gf_error *err);
void gf_dictionary_free(gf_dictionary *dictionary);

/** Forget all; of a dictionary of one thread, or while no thread is at it. GF_ENOMEM. */
gf_status gf_dictionary_reset(gf_dictionary *dictionary, gf_error *err);

/** Have counts in one place, and free what only threads at work needed. While none is. */
void gf_dictionary_settle(gf_dictionary *dictionary);

/** Add a thread's counts of early surfaces, GF_EARLY_SURFACES of them, and set them to 0. */
void gf_dictionary_add_early(gf_dictionary *dictionary, uint32_t *early);

/** How often a slot of the surfaces was met, once all is settled. */
uint32_t gf_dictionary_met(const gf_dictionary *dictionary, const gf_surface *slot);

/** The id of a term, which is added where it is new. Any thread. GF_ENOMEM, GF_ELIMIT. */
gf_status gf_dictionary_intern(gf_dictionary *dictionary, gf_slice term, uint32_t *id,
                               gf_error *err);

/** The id of a term, or GF_STRING_NONE. While no term is added. */
uint32_t gf_dictionary_find(const gf_dictionary *dictionary, gf_slice term);

/** The term of an id, or a slice of NULL where it has none. Borrowed until reset. Any thread. */
gf_slice gf_dictionary_term(gf_dictionary *dictionary, uint32_t id);

/** All ids are below. While no term is added. */
uint32_t gf_dictionary_ids(const gf_dictionary *dictionary);

/** How many different terms or surfaces there are, whichever are more. Likewise. */
size_t gf_dictionary_size(const gf_dictionary *dictionary);

#endif
