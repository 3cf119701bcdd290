/**
 * The index that search reads: which words each document of a collection has, and how often. It is
 * written with a build and kept in its row, in builds:model, as the cells
 *
 *     search:h                 head: a byte 1 (the format), then varints and strings (a varint
 *                              length and the bytes): documents n, their words in all, languages
 *                              m, m names ("" for none), cells of ids c, the first id of each
 *     search:i <cell, u32 BE>  GF_INDEX_IDS ids, strings, in the order of ids
 *     search:l                 words of each document, n varints
 *     search:t <term>          terms from this one on, by bytes, as many as fit some 16 KB: each a
 *                              string, then the documents that have it and the bytes that follow
 *                              (varints), then for each document (its number less the one before)
 *                              * 2 + more, and where more is 1 how often it has it, less 2
 *
 * A term here is a byte for the number of the language in which its documents are analysed, and the
 * analyser's term: so one text's "die" is not another's. Documents are numbered by id. Every word
 * counts, stop words and those that no clustering uses too, whatever the configuration's filter.
 *
 * A build without these cells (of an older version, or store_index=off) is searched by its texts.
 */
#ifndef GF_ENGINE_SEARCH_INDEX_H
#define GF_ENGINE_SEARCH_INDEX_H

#include "engine/build/similar_index.h"
#include "vectorize/rows/words.h"

enum { GF_INDEX_IDS = 256, GF_INDEX_FORMAT = 1 };

#define GF_INDEX_HEAD    "search:h"
#define GF_INDEX_ID      "search:i"
#define GF_INDEX_LENGTHS "search:l"
#define GF_INDEX_TERM    "search:t"

/* ---- writing: engine/build/search_cells.c, engine/build/search_words.c ----------------------- */

/**
 * The words of all documents of the job's snapshot: job->words, which are then no longer there, or
 * where it has none counted from the texts. *ids gets the documents' ids, as strings in their
 * order.
 */
gf_status gf_job_take_words(gf_job *job, gf_words **words, gf_buffer *ids, gf_error *err);

/**
 * Index all documents of the job's snapshot; takes job->words.
 * Cost: that of gf_invert_words, and without job->words the analysis of all texts.
 */
gf_status gf_write_search(gf_job *job, gf_put_cell *put, void *context, gf_error *err);

/* ---- reading: index.c ------------------------------------------------------------------------ */

/** Where an index lies, and its head. */
typedef struct gf_search_index {
    gf_store *store;
    const gf_snapshot *snapshot;
    gf_slice build_key;
    gf_row head_row;      /* slices below borrow from it */
    uint32_t n;           /* documents */
    uint64_t words;       /* of all documents */
    uint32_t n_languages; /* at most 256 */
    const gf_language *languages[256];
    gf_slice *first_id; /* n_cells */
    uint32_t n_cells;
    uint32_t *length; /* n: words of each document */

    gf_row ids_row; /* the cell of ids read last */
    uint32_t ids_cell;
    gf_slice ids[GF_INDEX_IDS];
} gf_search_index;

/** GF_ENOTFOUND where the build has none of this format; on failure it is empty. */
gf_status gf_search_index_open(gf_search_index *x, gf_store *store, const gf_snapshot *snapshot,
                               gf_slice build_key, gf_error *err);
void gf_search_index_release(gf_search_index *x);

/** The id of a document; borrowed until the next call. */
gf_status gf_search_index_id(gf_search_index *x, uint32_t document, gf_slice *id, gf_error *err);

/** How many ids are below this one, and whether it is there itself (then that is its number). */
gf_status gf_search_index_rank(gf_search_index *x, gf_slice id, uint32_t *rank, bool *there,
                               gf_error *err);

/** Documents that have something, by number, and how often. */
typedef struct gf_postings {
    uint32_t *document; /* n of capacity, rising */
    uint32_t *count;    /* n */
    size_t n, capacity;
} gf_postings;

void gf_postings_release(gf_postings *p);
gf_status gf_postings_add(gf_postings *p, uint32_t document, uint32_t count, gf_error *err);

/**
 * Append a term's postings, or those of all terms that start so; `language` is a number of the
 * index. Of several terms they are not in order: *lists tells how many were appended.
 */
gf_status gf_search_index_term(gf_search_index *x, uint32_t language, gf_slice term,
                               gf_postings *postings, size_t *lists, gf_error *err);
gf_status gf_search_index_prefix(gf_search_index *x, uint32_t language, gf_slice prefix,
                                 gf_slice besides, gf_postings *postings, size_t *lists,
                                 gf_error *err);

#endif
