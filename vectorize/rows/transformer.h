/**
 * One text at a time into the space of a vocabulary that is there: for assigning a new document,
 * for saying why one is where it is, and for reading a cluster's documents again to name it.
 *
 * A text of the collection gets exactly the row that gf_vectorizer_finish gave it, bit for bit. A
 * new text gets the row of those of its terms that the vocabulary has; where none of them is
 * regular it is GF_ROW_RESCUED, and its row has what rescue terms it shares, maybe none.
 *
 * It remembers words between calls, up to a bound. One per thread; the vocabulary is shared, and so
 * is what transformers of one group remember: each word is found out once for all of them, and met
 * again without a lock or an allocation.
 */
#ifndef GF_VECTORIZE_ROWS_TRANSFORMER_H
#define GF_VECTORIZE_ROWS_TRANSFORMER_H

#include "vectorize/rows/vectorizer.h"

typedef struct gf_transformer gf_transformer;

/**
 * @param options     as the vocabulary was made with; copied
 * @param vocabulary  borrowed until free
 * @return GF_OK; GF_EINVAL (bad options, or another idf than the vocabulary's); GF_ENOMEM
 */
gf_status gf_transformer_create(const gf_vectorizer_options *options,
                                const gf_vocabulary *vocabulary, gf_transformer **transformer,
                                gf_error *err);

/**
 * Transformers for n threads, which remember words together.
 *
 * @param[out] group  n; each to be freed, in any order
 * @return as gf_transformer_create; on failure there are none
 */
gf_status gf_transformer_create_group(const gf_vectorizer_options *options,
                                      const gf_vocabulary *vocabulary, unsigned n,
                                      gf_transformer **group, gf_error *err);

/**
 * Begin to remember anew where a group remembers too much: while none of it is at work, after some
 * ten thousand texts. GF_ENOMEM.
 */
gf_status gf_transformer_bound_group(gf_transformer *const *group, unsigned n, gf_error *err);

/**
 * Have it analyse by an analyser of the same options, borrowed until free, which may have met words
 * before; what comes of a text is the same.
 */
void gf_transformer_borrow(gf_transformer *transformer, gf_analyser *analyser);
void gf_transformer_free(gf_transformer *transformer);

/**
 * The row of a text.
 *
 * @param language  of the text, NULL where it is not known (the options' own goes before it)
 * @param row       out; borrowed until the next call on this transformer
 * @param kind      out; may be NULL
 * @return GF_OK; GF_ELIMIT (a text of 4 GiB); GF_ENOMEM
 */
gf_status gf_transformer_row(gf_transformer *transformer, gf_slice text,
                             const gf_language *language, gf_row_view *row, gf_row_kind *kind,
                             gf_error *err);

enum {
    GF_SEQUENCE_BREAK = 1,    /* punctuation stands before it: no phrase goes across */
    GF_SEQUENCE_STOP = 2,     /* a stop word */
    GF_SEQUENCE_OTHER = 4,    /* a word too short or too long to be a term */
    GF_SEQUENCE_NUMBER = 8,   /* digits only */
    GF_SEQUENCE_LINK = 16,    /* a URL or an e-mail address */
    GF_SEQUENCE_MENTION = 32, /* of @name */
    GF_SEQUENCE_HASHTAG = 64, /* of #tag */
    GF_SEQUENCE_PIECE = 128   /* cut out of a run without spaces: phrases join without one */
};

typedef struct gf_sequence_token {
    uint32_t start, length; /* bytes in the text */
    uint32_t term;          /* of the vocabulary, or GF_TERM_NONE */
    uint32_t flags;
} gf_sequence_token;

/**
 * The tokens of a text in order, with their terms: what phrases are made of. n-grams are not among
 * them. A stop word has a term only where the vocabulary happens to have its string.
 *
 * @param tokens  out: n tokens, borrowed until the next call on this transformer
 * @return as gf_transformer_row
 */
gf_status gf_transformer_sequence(gf_transformer *transformer, gf_slice text,
                                  const gf_language *language, const gf_sequence_token **tokens,
                                  size_t *n, gf_error *err);

/**
 * The same of the i-th text whose words the borrowed analyser has kept (gf_analyser_keep), without
 * the text. *kept is false, and nothing else is set, where it has not.
 */
gf_status gf_transformer_sequence_kept(gf_transformer *transformer, size_t i, bool *kept,
                                       const gf_sequence_token **tokens, size_t *n, gf_error *err);

#endif
