/**
 * The parts of a search:
 *
 *     source.c   the state of the collection, the analysis of its texts, the index over them
 *     fresh.c    documents that the index does not have as they are now
 *     items.c    what the index has of the items of a query
 *     best.c     the best documents of the index
 *     search.c   they and the others, by rank
 *
 * similar.c and near_duplicates.c compare documents by the rows of a build.
 */
#ifndef GF_ENGINE_SEARCH_INTERNAL_H
#define GF_ENGINE_SEARCH_INTERNAL_H

#include "engine/config/settings.h"
#include "engine/search/chunk.h"
#include "engine/search/matcher.h"
#include "engine/search/postings.h"
#include "engine/text/group.h"
#include "engine/view/view.h"
#include "grouperfish/search.h"

/* ---- source.c -------------------------------------------------------------------------------- */

/** One state of the collection, the analysis of its texts, and the index over them. */
typedef struct gf_search_source {
    gf_state *state;
    gf_store *store; /* the state's, as are where and snapshot */
    gf_place where;
    const gf_snapshot *snapshot;
    const gf_cancel *cancel;      /* may be NULL */
    gf_view *view;                /* of the served build of "default"; NULL where there is none */
    gf_analysis_options analysis; /* as that build's, or as the settings say */
    bool detect;
    gf_fallback fallback;             /* unknown until texts were seen, where there is no build */
    gf_settings_map settings;         /* what `analysis` borrows from, or */
    gf_model_analysis build_analysis; /* this */
    gf_search_index index;
    bool has_index;
    uint32_t *outdated; /* n_outdated of capacity: documents that are not as the index has them */
    size_t n_outdated, outdated_capacity;
} gf_search_source;

/** On failure it is empty; it must stay where it is. */
gf_status gf_search_source_open(gf_search_source *s, gf_store *store, gf_place where,
                                const gf_cancel *cancel, gf_error *err);
void gf_search_source_close(gf_search_source *s);

/** The language that a document is analysed in; NULL for none. */
gf_status gf_search_language(const gf_search_source *s, gf_slice lang, gf_slice text,
                             const gf_language **language, gf_error *err);

/* ---- fresh.c --------------------------------------------------------------------------------- */

/** A document that has something of the query, and is not read from the index. */
typedef struct gf_fresh_hit {
    gf_slice id;
    uint64_t length;
    const uint32_t *count; /* of each item */
} gf_fresh_hit;

/** Documents that were matched by their texts. */
typedef struct gf_fresh {
    gf_search_source *source;
    const gf_query *query;
    gf_pool *pool;
    gf_matcher **matchers; /* n_workers; NULL until needed */
    unsigned n_workers;
    uint64_t n, words;  /* of all documents */
    gf_fresh_hit *hits; /* n_hits of capacity, by id */
    size_t n_hits, capacity;
    gf_arena memory;
    uint32_t *counts; /* of the group at hand: n_items for each document */
    uint64_t *lengths;
    size_t group_capacity;
    const gf_text_group *group;
} gf_fresh;

/**
 * Match all documents that the index does not have as they are now: those that have changed since,
 * or where there is no index all of the collection. Marks them in source->outdated.
 * Cost: the analysis of their texts.
 */
gf_status gf_fresh_find(gf_fresh *f, gf_search_source *source, const gf_query *query,
                        gf_error *err);
void gf_fresh_release(gf_fresh *f);

/* ---- items.c --------------------------------------------------------------------------------- */

/** An item in the index: one word or all that begin so, or several that must be looked for. */
typedef struct gf_search_item {
    bool prefix, several;
    uint64_t documents;    /* that have it, without outdated ones */
    gf_postings found;     /* of several words: these documents */
    gf_index_lists *lists; /* by segment, of one word, where they are open */
    bool *open;
} gf_search_item;

typedef struct gf_search_items {
    gf_search_source *source;
    gf_matcher *matcher;
    gf_search_item item[GF_QUERY_ITEMS]; /* n */
    size_t n;
} gf_search_items;

/**
 * Find what the index has of all items of a query; outdated documents are known.
 * Cost: the words' places in each segment; of a prefix its postings; the texts of the documents that
 *       have all of several words.
 */
gf_status gf_search_items_open(gf_search_items *items, gf_search_source *source,
                               gf_matcher *matcher, size_t n, gf_error *err);
void gf_search_items_release(gf_search_items *items);

/** Load a chunk of a segment of an item; chunks rise, but for those of another walk. */
gf_status gf_search_items_load(gf_search_items *items, size_t item, uint32_t segment,
                               uint32_t chunk, const double bound[256], gf_index_chunk *c,
                               gf_error *err);

/** The lists of an item of one word in a segment, open, in front of the first chunk. */
gf_status gf_search_items_begin(gf_search_items *items, size_t item, uint32_t segment,
                                gf_error *err);
void gf_search_items_end(gf_search_items *items, size_t item, uint32_t segment);

/** Take outdated documents off a chunk's bits, the first of which is document `first`. */
void gf_search_drop_outdated(const gf_search_source *s, uint32_t first, uint32_t n, uint64_t *bits);

/* ---- similar.c ------------------------------------------------------------------------------- */

/**
 * A document as it is now, and where it is in the view's build. It borrows from the row; the caller
 * frees *fields.
 * @param[out] placed  false where the build has no place for it
 */
gf_status gf_search_read_placed(gf_view *view, gf_slice id, gf_row *row, gf_document *document,
                                gf_field **fields, gf_membership *m, bool *placed, gf_error *err);

/* ---- best.c ---------------------------------------------------------------------------------- */

/** A document of the index, or a fresh one; by rising key is by rising id. */
typedef struct gf_candidate {
    double score;
    uint64_t
        key; /* documents of the index with lower ids << 32 | GF_FROM_INDEX, or the fresh hit */
} gf_candidate;

#define GF_FROM_INDEX UINT32_MAX

static inline bool gf_candidate_is_better(const gf_candidate *a, const gf_candidate *b)
{
    return a->score != b->score ? a->score > b->score : a->key < b->key;
}

/** Weights of a query, by which documents are ranked. */
typedef struct gf_search_weights {
    const gf_query *query;
    double idf[GF_QUERY_ITEMS];
    double mean; /* words of a document */
} gf_search_weights;

/** The score of a document with these counts; false where the query does not find it. */
bool gf_search_weigh(const gf_search_weights *w, const uint32_t *count, uint64_t length,
                     double *score);

/** The best documents of the index: {.most = ...}, 0 for all. In no order. */
typedef struct gf_best_found {
    uint64_t most;
    gf_candidate *at; /* n of capacity */
    size_t n, capacity;
    uint64_t total; /* that the query finds in the index */
} gf_best_found;

/**
 * Find them. Exactly as weighing each: ranges of documents that cannot be among the best are passed
 * over.
 * Cost: which documents have the words, and the counts and lengths of those that may be among the
 *       best. Memory 140 KB for each item.
 */
gf_status gf_search_best(gf_search_items *items, const gf_search_weights *weights,
                         gf_best_found *best, gf_error *err);

#endif
