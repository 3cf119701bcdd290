/**
 * The parts of a search:
 *
 *     source.c   the state of the collection, the analysis of its texts, the index over them
 *     fresh.c    documents that the index does not have as they are now
 *     items.c    documents of the index that have an item of the query
 *     search.c   their ranks
 */
#ifndef GF_ENGINE_SEARCH_INTERNAL_H
#define GF_ENGINE_SEARCH_INTERNAL_H

#include "engine/search/index.h"
#include "engine/search/matcher.h"
#include "engine/text/group.h"
#include "engine/view/view.h"
#include "grouperfish/search.h"

#include <math.h>

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
    unsigned char *outdated; /* index.n: 1 where the document is not as the index has it */
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

/** The documents of the index that have an item, without outdated ones. */
gf_status gf_search_item(gf_search_source *s, gf_matcher *matcher, size_t item, gf_postings *out,
                         gf_error *err);

/* ---- ranks ----------------------------------------------------------------------------------- */

/** ln(1 + (n - df + 1/2) / (df + 1/2)): never below 0 (Lucene's form of Robertson's weight). */
static inline double gf_bm25_idf(uint64_t n, uint64_t df)
{
    return log(1 + ((double)(n - df) + 0.5) / ((double)df + 0.5));
}

/** The score of an item that occurs `count` times in a document; mean: words of a document. */
static inline double gf_bm25_part(double idf, uint32_t count, uint64_t length, double mean)
{
    const double k1 = 1.2, b = 0.75;
    double c = count;
    return idf * c * (k1 + 1) / (c + k1 * (1 - b + b * (double)length / mean));
}

#endif
