/**
 * The phrases of a document, and how many documents have each.
 *
 * A phrase's key is its words', one behind the other: 't' and the term (u32 BE), or where a word
 * has no term 'w', its length (varint) and its letters in lower case.
 */
#ifndef GF_CLUSTER_LABEL_PHRASES_H
#define GF_CLUSTER_LABEL_PHRASES_H

#include "base/strings.h"
#include "cluster/label/labels.h"
#include "grouperfish/buffer.h"

enum {
    GF_PHRASE_WORDS = 4,  /* of the longest phrase */
    GF_PHRASE_BYTES = 80, /* of a phrase as written */
    GF_PHRASE_WORD_BYTES = 5
};

/**
 * Words by what makes them the same, in fewer slots than there may be: two words may share one, so
 * what holds of a slot need not hold of all its words.
 */
typedef struct gf_phrase_slots {
    uint32_t *count; /* mask + 1 */
    uint32_t *last;  /* mask + 1; may be NULL */
    uint32_t mask;
} gf_phrase_slots;

/** Slots for the words of a cluster, or for so many; all 0. GF_ENOMEM. */
gf_status gf_phrase_slots_init(gf_phrase_slots *s, uint64_t words, bool last, gf_error *err);
void gf_phrase_slots_release(gf_phrase_slots *s);

/** The documents that each word of a cluster is in, or more where words share a slot. */
gf_status gf_phrase_slots_count(gf_phrase_slots *s, const gf_label_cluster *c, gf_error *err);

/** Mark the words of a phrase's key: their counts become 1. */
void gf_phrase_slots_mark(gf_phrase_slots *s, gf_slice key);

/**
 * Walks the phrases of a document: for each first word those of 1, 2, ... words; where it has
 * slots, only those whose words all count `least` or more.
 */
typedef struct gf_phrase_walk {
    const gf_label_document *d;
    const gf_phrase_slots *slots; /* may be NULL */
    uint32_t least;
    uint32_t first, n_words; /* the phrase */
    gf_buffer key; /* its key; handed from walk to walk, checked and released in the end */
} gf_phrase_walk;

gf_phrase_walk gf_phrase_start(const gf_label_document *d, gf_buffer key);
gf_phrase_walk gf_phrase_start_among(const gf_label_document *d, gf_buffer key,
                                     const gf_phrase_slots *slots, uint32_t least);

/** The next phrase; false at the end. */
bool gf_phrase_next(gf_phrase_walk *w);

/** How many of the phrase's words are stop words. */
uint32_t gf_phrase_inner(const gf_phrase_walk *w);

/** How good a phrase's words are for a label, apart from what they say. */
typedef enum gf_phrase_kind {
    GF_PHRASE_PLAIN,
    /* A single ideograph, as often as not a piece of a word that was cut; or what begins with a
       digit, as codes and numbers of parts do. */
    GF_PHRASE_WEAK,
    /* Words that say nothing alone, and nothing else; a reporting word or a unit at an end; a full
       stop inside a word, as names of hosts have it. */
    GF_PHRASE_VAGUE,
    /* A single Latin letter; a word twice, or one and its beginning. */
    GF_PHRASE_NEVER
} gf_phrase_kind;

gf_phrase_kind gf_phrase_kind_of(const gf_phrase_walk *w);

/** The phrase as it is written. */
gf_slice gf_phrase_text(const gf_phrase_walk *w);

/** Append the key of one word. */
void gf_phrase_word_key(gf_buffer *key, const gf_label_document *d, const gf_label_word *w);

/** True if the key `part` is made of words that stand one behind the other in `whole`. */
bool gf_phrase_holds(gf_slice whole, gf_slice part);

/** The term of a key of one word, or GF_LABEL_NO_TERM. */
uint32_t gf_phrase_single_term(gf_slice key);

/** Bytes of the first word of a key. */
size_t gf_phrase_word_length(gf_slice key);

typedef struct gf_phrase_tallied {
    uint32_t count, last; /* documents that have it; the last of them, plus 1 */
    uint8_t n_words, n_inner;
    uint8_t kind; /* gf_phrase_kind */
} gf_phrase_tallied;

/** Documents per phrase. Set to {0}. */
typedef struct gf_phrase_tally {
    gf_strings keys;
    gf_phrase_tallied *at; /* keys.n of capacity */
    size_t capacity;
} gf_phrase_tally;

/** All phrases that `least` or more of a cluster's documents have; and some that fewer have. */
gf_status gf_phrase_tally_cluster(gf_phrase_tally *t, const gf_label_cluster *c, uint32_t least,
                                  gf_error *err);
void gf_phrase_tally_release(gf_phrase_tally *t);

/** Count a phrase, or any other key, for a document: once for each. */
gf_status gf_phrase_tally_add(gf_phrase_tally *t, gf_slice key, gf_phrase_tallied fresh,
                              uint32_t document, gf_error *err);

/** Append the text with runs of white space as one space. */
void gf_phrase_fold_spaces(gf_slice text, gf_buffer *out);

/** The ideograph that follows the phrase at once; empty where none does. */
gf_slice gf_phrase_next_ideograph(const gf_phrase_walk *w);

/**
 * The form in which the cluster's documents write the phrase most often, of equals the lowest, with
 * runs of white space as one space; and with the ideograph behind it that follows it in 90 % of its
 * places, as then it is one word. It is put in form, which is empty where none has the phrase.
 */
gf_status gf_phrase_common_form(const gf_label_cluster *c, gf_slice key, gf_buffer *form,
                                gf_error *err);

#endif
