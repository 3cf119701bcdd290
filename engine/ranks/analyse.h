/**
 * Texts that ranks analyse, as the holder of the store sees it: texts go out in the order of their
 * documents, rows come back.
 *
 *     begin    settings
 *     add ...  some texts each, which go to the ranks in turn
 *     again    all texts follow once more: their language is another than it seemed
 *     finish   terms are numbered over all ranks; rows and vocabulary come back, and the cells of the
 *              indexes of all documents, where they are wanted
 *
 * The ranks hold the rows, too, for gf_ranks_cluster in the same session: those that have terms.
 * The rows, the vocabulary and the indexes are those that one process makes, byte for byte, whatever the number of ranks and threads. A session that is lost (engine/ranks/session.h) begins
 * with begin again.
 */
#ifndef GF_ENGINE_RANKS_ANALYSE_H
#define GF_ENGINE_RANKS_ANALYSE_H

#include "engine/index/search.h"
#include "engine/ranks/session.h"
#include "engine/rows/languages.h"
#include "engine/text/group.h"
#include "grouperfish/table.h"
#include "vectorize/rows/vectorizer.h"

/**
 * Whether ranks are to analyse: unless GROUPERFISH_RANKS_ANALYSIS is "here". Then the process of the
 * store does, and rows go out, which is less to send than texts, rows and words.
 */
bool gf_ranks_analyse_is_wanted(void);

/** Indexes that are wanted of the documents, beside their rows. */
typedef struct gf_ranks_wants {
    bool index_of_words, index_of_rows; /* engine/rows/index_cells.h */
    bool compressed;                    /* cells as gf_value_compress makes them */
} gf_ranks_wants;

/** Cells of the indexes, but for ids and heads: in a file without a name. {0} to begin with. */
typedef struct gf_ranks_cells {
    gf_ranks_wants of;
    gf_index_words_head head; /* of the index of words, where there is one */
    gf_spill *spill;          /* NULL: there are none */
    uint64_t size;            /* of it: frames, each its length and its bytes */
} gf_ranks_cells;

typedef gf_status gf_ranks_each_cell(void *context, gf_slice qualifier, const gf_compressed *value,
                                     gf_error *err);

/** Each cell in turn. Memory: that of the cells of one part (engine/index/search.h). */
gf_status gf_ranks_cells_each(const gf_ranks_cells *cells, gf_ranks_each_cell *each, void *context,
                              gf_error *err);
void gf_ranks_cells_release(gf_ranks_cells *cells);

/**
 * Begin, in a session that is open; or begin again, where all texts follow once more.
 *
 * @param wants          as of finish
 * @param has_languages  the settings have no language: texts have their own, or a fallback
 */
gf_status gf_ranks_analyse_begin(gf_ranks_session *session, const gf_vectorizer_options *options,
                                 const gf_ranks_wants *wants, bool has_languages, gf_error *err);

/** Add texts; the fallback is that of gf_batch_texts_make, for those of this call. */
gf_status gf_ranks_analyse_add(gf_ranks_session *session, const gf_text_group *texts,
                               const gf_fallback *fallback, gf_error *err);

/**
 * The rows of all texts, whose entries lie in a file on the disk of that folder.
 *
 * @param wants  as begin was told
 * @param[out] vectors  as of gf_vectorizer_finish; gf_vectors_release it
 * @param[out] cells    what was wanted; gf_ranks_cells_release
 * @return GF_OK; GF_EIO, GF_ENOMEM, GF_ECORRUPT, GF_ECANCELLED, what ranks fail with. On failure nothing
 *         is set
 */
gf_status gf_ranks_analyse_finish(gf_ranks_session *session, const char *folder,
                                  const gf_ranks_wants *wants, gf_vectors *vectors,
                                  gf_ranks_cells *cells, gf_error *err);

#endif
