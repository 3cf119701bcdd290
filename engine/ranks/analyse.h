/**
 * Texts that ranks analyse, as the holder of the store sees it: texts go out in the order of their
 * documents, rows come back.
 *
 *     begin    settings
 *     add ...  some texts each, which go to the ranks in turn
 *     again    all texts follow once more: their language is another than it seemed
 *     finish   terms are numbered over all ranks; rows, vocabulary and words come back
 *
 * The ranks hold the rows, too, for gf_ranks_cluster in the same session: those that have terms.
 * The rows, the vocabulary and the words of each document are those that one process makes, byte for
 * byte, whatever the number of ranks and threads. A session that is lost (engine/ranks/session.h) begins
 * with begin again.
 */
#ifndef GF_ENGINE_RANKS_ANALYSE_H
#define GF_ENGINE_RANKS_ANALYSE_H

#include "engine/ranks/session.h"
#include "engine/rows/languages.h"
#include "engine/text/group.h"
#include "vectorize/rows/vectorizer.h"
#include "vectorize/rows/words.h"

/**
 * Whether ranks are to analyse: unless GROUPERFISH_RANKS_ANALYSIS is "here". Then the process of the
 * store does, and rows go out, which is less to send than texts, rows and words.
 */
bool gf_ranks_analyse_is_wanted(void);

/**
 * Begin, in a session that is open; or begin again, where all texts follow once more.
 *
 * @param keeps_words    words of each document are wanted
 * @param has_languages  the settings have no language: texts have their own, or a fallback
 */
gf_status gf_ranks_analyse_begin(gf_ranks_session *session, const gf_vectorizer_options *options,
                                 bool keeps_words, bool has_languages, gf_error *err);

/** Add texts; the fallback is that of gf_batch_texts_make, for those of this call. */
gf_status gf_ranks_analyse_add(gf_ranks_session *session, const gf_text_group *texts,
                               const gf_fallback *fallback, gf_error *err);

/**
 * The rows of all texts, whose entries lie in a file on the disk of that folder.
 *
 * @param keeps_words  as begin was told
 * @param[out] vectors  as of gf_vectorizer_finish; gf_vectors_release it
 * @param[out] words    as of gf_vectorizer_take_words, where they are kept, else NULL. They borrow
 *                      the folder's name
 * @return GF_OK; GF_EIO, GF_ENOMEM, GF_ECORRUPT, GF_ECANCELLED, what ranks fail with. On failure nothing
 *         is set
 */
gf_status gf_ranks_analyse_finish(gf_ranks_session *session, const char *folder, bool keeps_words,
                                  gf_vectors *vectors, gf_words **words, gf_error *err);

#endif
