/**
 * Worth of the words of texts in a label: the flags of cluster/label/labels.h.
 *
 * Weak words (weak_terms.h) are looked up by term, in the language of the document.
 * The most frequent function words of English stand in texts of any language, and are in no label.
 * Where a language has no stop list, one is made of the texts that are read: words that most texts
 * have, or short ones that many have, about alike in all clusters.
 */
#ifndef GF_ENGINE_BUILD_LABEL_WORDS_H
#define GF_ENGINE_BUILD_LABEL_WORDS_H

#include "cluster/label/labels.h"
#include "engine/build/weak_terms.h"
#include "vectorize/rows/transformer.h"

/** Set to {0}. */
typedef struct gf_label_words {
    const gf_weak_terms *lists;
    const gf_vocabulary *vocabulary;
    uint32_t *weak;      /* n_terms: of each term its bits in the lists */
    uint32_t n_terms;    /* of the vocabulary */
    gf_strings frequent; /* function words of English */
} gf_label_words;

/**
 * Look the lists up in a vocabulary.
 *
 * @param lists       by the analysis that made the vocabulary; both are borrowed until release
 * @return GF_OK; GF_ENOMEM. In any case to be released.
 */
gf_status gf_label_words_init(gf_label_words *w, const gf_weak_terms *lists,
                              const gf_vocabulary *vocabulary, gf_error *err);
void gf_label_words_release(gf_label_words *w);

/** The words of a text with their flags. words has room for n. */
void gf_label_words_of_text(const gf_label_words *w, gf_slice text, const gf_language *language,
                            const gf_sequence_token *tokens, size_t n, gf_label_word *words);

/** True where texts of that language are analysed with a stop list. */
bool gf_label_words_have_list(const gf_vectorizer_options *options, const gf_language *language);

/**
 * Find function words in documents without a stop list, and mark them.
 *
 * @param clusters  k; the words of their documents are changed
 * @param unlisted  k, of n_documents: whether a document is in a language without a list
 * @return GF_OK; GF_ENOMEM
 * Cost: O(words of these documents).
 */
gf_status gf_label_words_mark_frequent(const gf_label_words *w, gf_label_cluster *clusters,
                                       uint32_t k, bool *const *unlisted, gf_error *err);

#endif
