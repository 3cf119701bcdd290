/** Checking the indexes of a build, all of them: whether they are what would be written. */
#ifndef GF_ENGINE_SEARCH_CHECK_H
#define GF_ENGINE_SEARCH_CHECK_H

#include "engine/search/index.h"

/**
 * The index of all words: ids rise and are found, each document has as many words as its length
 * says, each bound is the one of its postings. A build without one, or with one of another format,
 * is passed over.
 *
 * @return GF_OK; GF_ECORRUPT; GF_ECANCELLED; GF_EIO, GF_ENOMEM
 * Cost: all of it is read; memory 8 bytes for each document of a segment.
 */
gf_status gf_search_index_check(gf_store *store, const gf_snapshot *snapshot, gf_slice build_key,
                                const gf_cancel *cancel, gf_error *err);

/** The index of the matrix, likewise: of so many documents and terms. */
gf_status gf_similar_index_check(gf_store *store, const gf_snapshot *snapshot, gf_slice build_key,
                                 uint64_t documents, uint32_t terms, const gf_cancel *cancel,
                                 gf_error *err);

#endif
