/**
 * First step of a rebuild: the documents of the plan's snapshot as rows of weights.
 */
#ifndef GF_ENGINE_BUILD_GATHER_H
#define GF_ENGINE_BUILD_GATHER_H

#include "base/pool.h"
#include "base/row_file.h"
#include "engine/build/plan.h"
#include "engine/ranks/analyse.h"
#include "engine/rows/languages.h"
#include "vectorize/rows/vectorizer.h"
#include "vectorize/rows/words.h"

/** The documents that the configuration is about, in the order of their ids. {0} to begin with. */
typedef struct gf_build_gathered {
    uint32_t n;
    uint64_t *id_start; /* n + 1 */
    size_t id_capacity; /* of id_start */
    gf_buffer ids;      /* id i is ids[id_start[i] .. id_start[i + 1]) */
    int32_t *hours;     /* n: hours of the documents' times, or GF_NO_HOUR */
    size_t hours_capacity;
    int64_t
        *moments; /* n, where the settings let near-duplicates count once, else NULL: milliseconds
                         since 1970; INT64_MAX: it has no time */
    size_t moments_capacity;
    gf_vectors vectors; /* n rows */
    gf_fallback fallback;
    gf_text_counts counts; /* of all documents that the configuration is about; n were gathered */

    /* All words of all documents, or NULL. They are kept if plan->keeps_words, and if no document
       of the collection is left out. */
    gf_words *words;

    /* The indexes that ranks have made of the documents, where they have analysed. */
    gf_ranks_cells cells;

    /* By ranks: those that cluster, and may have analysed; else NULL. */
    struct gf_ranks_session *ranks;

    /* Without a pool, for naming: the analyser that knows the words, and the texts of one batch. */
    gf_analyser *analyser; /* or NULL */
    gf_text *texts;        /* n, or NULL; in text_memory */
    gf_arena text_memory;
} gf_build_gathered;

void gf_build_gathered_release(gf_build_gathered *gathered);

/** The id of a document; borrowed. */
gf_slice gf_build_gathered_id(const gf_build_gathered *gathered, uint32_t document);

/** The first document whose id is not below this one, by bisection; n: there is none. */
uint32_t gf_build_gathered_from(const gf_build_gathered *gathered, gf_slice id);

#define GF_BUILD_NONE UINT32_MAX

/** The document of that id, or GF_BUILD_NONE. */
uint32_t gf_build_gathered_find(const gf_build_gathered *gathered, gf_slice id);

/**
 * The row of a document, or GF_BUILD_NONE.
 * @param row_of  n: the document of each row, rising
 */
uint32_t gf_build_find_row(const uint32_t *row_of, uint32_t n, uint32_t document);

/** The rows of vectors that lie in a file: vectors.entries is not NULL. */
gf_row_file gf_build_gathered_row_file(const gf_build_gathered *gathered);

/**
 * Read and analyse the documents: all of them, or one in plan->every. The result is the same for
 * any number of threads, and the same where ranks analyse; plan->spills decides whether rows lie in
 * memory or in a file.
 *
 * @param pool  NULL: this thread alone
 * @param[out] out  to be released, also after a failure
 * @return GF_OK; GF_ENOMEM, GF_EIO, GF_ECORRUPT, GF_ECANCELLED, GF_ELIMIT
 */
gf_status gf_build_gather(const gf_build_plan *plan, gf_pool *pool, gf_build_gathered *out,
                          gf_error *err);

#endif
