/** Documents found by words, and those like another. */
#ifndef GF_GROUPERFISH_SEARCH_H
#define GF_GROUPERFISH_SEARCH_H

#include "grouperfish/buffer.h"
#include "grouperfish/export.h"
#include "grouperfish/views.h"

GF_PUBLIC_BEGIN

/** A document that was found. */
typedef struct gf_hit {
    const gf_document *document;
    double score;                    /* of gf_search BM25, of gf_similar the cosine, 0..1 */
    const gf_membership *membership; /* where it is in the build; NULL where it is nowhere */
    gf_slice found;                  /* the part of the text that was found first; may be empty */
    uint64_t total; /* documents that gf_search has found, before where, times and cluster choose */
} gf_hit;

typedef gf_status gf_visit_hit(void *context, const gf_hit *hit, gf_error *err);

typedef struct gf_search_options {
    unsigned version;       /* GF_SEARCH_OPTIONS_VERSION: set by GF_SEARCH_OPTIONS() */
    gf_slice configuration; /* whose served build says where documents are; empty: "default" */
    uint32_t cluster;       /* only documents of this cluster, by id */
    gf_slice cluster_label; /* or, where that is 0, by label; empty: of any */
    const gf_slice *where;  /* n_where: as of gf_document_choice */
    size_t n_where;
    gf_slice since, until;   /* since <= time < until; as `before` of gf_document_choice */
    uint64_t limit;          /* documents at most; 0: all that are found */
    const gf_cancel *cancel; /* may be NULL */
} gf_search_options;

#define GF_SEARCH_OPTIONS_VERSION 1
/** Options with these members, as in GF_SEARCH_OPTIONS(.member = value), and all others 0. */
#define GF_SEARCH_OPTIONS(...)                                                                     \
    ((gf_search_options){.version = GF_SEARCH_OPTIONS_VERSION, __VA_ARGS__})

/**
 * The documents of a collection that have any of a query's words and all its phrases, and nothing
 * that it excludes, by falling BM25 score (k1 = 1.2, b = 0.75), then by id. Text and query are
 * analysed as by the configuration "default": its served build, or its settings where there is
 * none. A document is found as soon as its put has returned, as its text is then. docs/search.md.
 *
 * @param query  words, words with * at their end, "phrases", and any of them with - before it
 * @return GF_OK; GF_EINVAL (the query: the message says where; a filter); GF_ENOTFOUND (collection,
 *         configuration, cluster); GF_ECANCELLED, GF_ECORRUPT, GF_EIO, GF_ENOMEM
 * Cost: with an index (store_index) which documents have the words, a bit or a byte each; lengths and
 *       counts of those that may be among the best, `limit` of them; memory 140 KB for each word and
 *       24 bytes for each that is told. A text's analysis for each document put since, that has all
 *       words of a phrase, or that is told. Without one the analysis of all texts, on all processors.
 * Source: Robertson & Zaragoza, Foundations and Trends in Information Retrieval 3 (2009) 333-389.
 */
gf_status gf_search(gf_store *store, gf_place where, gf_slice query,
                    const gf_search_options *options, gf_visit_hit *visit, void *context,
                    gf_error *err);

typedef struct gf_similar_options {
    unsigned version;        /* GF_SIMILAR_OPTIONS_VERSION: set by GF_SIMILAR_OPTIONS() */
    gf_slice id;             /* of a document that is there; or, where that is empty, */
    gf_slice text, language; /* a text, and its language as of gf_document; empty: not known */
    uint64_t limit;          /* documents at most; 0: all that share a term */
    const gf_cancel *cancel; /* may be NULL */
    gf_slice configuration;  /* whose served build has the rows; empty: "default" */
} gf_similar_options;

#define GF_SIMILAR_OPTIONS_VERSION 1
/** Options with these members, as in GF_SIMILAR_OPTIONS(.member = value), and all others 0. */
#define GF_SIMILAR_OPTIONS(...)                                                                    \
    ((gf_similar_options){.version = GF_SIMILAR_OPTIONS_VERSION, __VA_ARGS__})

/**
 * The documents most similar to one, or to a text: by the cosine of their rows in the space of the
 * configuration's served build, then by id; without the document itself, and without those that
 * share no term with it. Those put after the build count as their texts are now, those that the
 * build's filter or bounds leave out do not. Where the build's rows were made elsewhere, they are
 * compared, with those of documents put since (gf_view_assign_document): all whose cosine is above 0.
 *
 * @return GF_OK; GF_ENOTFOUND (collection, document, or there is no build yet); GF_ECONFLICT (given
 *         rows, and a text, or a document without a row); GF_ECANCELLED, GF_ECORRUPT, GF_EIO,
 *         GF_ENOMEM
 * Cost: with an index (store_index) the documents of the row's terms, 24 bytes of memory for each
 *       document, the build's vocabulary, and the analysis of each text that may be among the best
 *       or was put since; without one that of all texts.
 */
gf_status gf_similar(gf_store *store, gf_place where, const gf_similar_options *options,
                     gf_visit_hit *visit, void *context, gf_error *err);

/** A document of a group of near-duplicates. */
typedef struct gf_near_duplicate {
    const gf_document *document;
    double score;                    /* the cosine with the group's representative, 0..1 */
    const gf_membership *membership; /* where it is in the build; NULL where it is nowhere */
    bool representative;             /* the first visited of its group, with a score of 1 */
    uint64_t group;                  /* 1, 2, ... */
    uint64_t size;                   /* documents of the group, also where fewer are visited */
    uint64_t groups, copies;         /* groups of the collection, and documents of them that are no
                                representatives */
} gf_near_duplicate;

typedef gf_status gf_visit_near_duplicate(void *context, const gf_near_duplicate *duplicate,
                                          gf_error *err);

typedef struct gf_near_duplicates_options {
    unsigned version;        /* GF_NEAR_DUPLICATES_OPTIONS_VERSION: set by the initialiser */
    gf_slice configuration;  /* whose served build has the rows; empty: "default" */
    double least;            /* the least cosine, up to 1; 0: GF_NEAR_DUPLICATES_LEAST */
    uint64_t limit;          /* groups at most; 0: all */
    uint64_t members;        /* documents of each group at most, the representative too; 0: all */
    unsigned threads;        /* 0: one per processor */
    bool fresh;              /* only groups that have a document put after the build */
    const gf_cancel *cancel; /* may be NULL */
} gf_near_duplicates_options;

#define GF_NEAR_DUPLICATES_LEAST           .8
#define GF_NEAR_DUPLICATES_OPTIONS_VERSION 1
/** Options with these members, as in GF_NEAR_DUPLICATES_OPTIONS(.member = value), and all others 0. */
#define GF_NEAR_DUPLICATES_OPTIONS(...)                                                            \
    ((gf_near_duplicates_options){.version = GF_NEAR_DUPLICATES_OPTIONS_VERSION, __VA_ARGS__})

/**
 * Groups of near-duplicates among the documents of a collection, as they are now: those that the
 * build's settings select, each analysed as the build analyses texts. In the order of their times
 * (those without one last), then of their ids, a document
 *
 *     represents a group        where no representative before it has a cosine of `least` with it
 *     is a member of the group  of that of these representatives that is nearest (the first of several)
 *
 * and documents whose rows are equal count as one, at the place of the first. So a group's
 * representative is its first document, each member is at least so near to it, and what comes later
 * changes no group of what was there. Documents without terms are in none. Words that are no terms of
 * the build, as it left them out or has not met them, count for nothing: short texts that share the
 * only words it knows have a cosine of 1, whatever else they say. Exact, and the same for any
 * number of threads. Groups of two documents or more are visited, the largest first, then by
 * their representative; in a group the representative, then members by falling score.
 *
 * @return GF_OK; GF_EINVAL (least); GF_ENOTFOUND (collection, or there is no build yet); GF_ECONFLICT
 *         (the build's rows were made elsewhere); GF_ECANCELLED, GF_ECORRUPT, GF_EIO, GF_ENOMEM, also
 *         what the visitor returns
 * Cost: the analysis of all texts, which costs more than what follows, on all threads; memory 8 bytes
 *       for each term of a document, twice while they are collected, 200 and the id for a document.
 */
gf_status gf_near_duplicates(gf_store *store, gf_place where,
                             const gf_near_duplicates_options *options,
                             gf_visit_near_duplicate *visit, void *context, gf_error *err);

/**
 * A short piece of a text around a part of it, on one line: at most `most` characters and an
 * ellipsis where it was cut, which is between words if there are any.
 */
void gf_snippet(gf_slice text, gf_slice part, size_t most, gf_buffer *out);

typedef struct gf_nearest_earlier_options {
    unsigned version;       /* GF_NEAREST_EARLIER_OPTIONS_VERSION: set by the initialiser */
    gf_slice configuration; /* whose served build has the rows; empty: "default" */
    const gf_slice *ids;    /* n: documents, in the order in which they came */
    size_t n;
    double least;            /* the least cosine, up to 1; 0: GF_NEAR_DUPLICATES_LEAST */
    unsigned threads;        /* 0: one per processor */
    const gf_cancel *cancel; /* may be NULL */
} gf_nearest_earlier_options;

#define GF_NEAREST_EARLIER_OPTIONS_VERSION 1
/** Options with these members, as in GF_NEAREST_EARLIER_OPTIONS(.member = value), and all others 0. */
#define GF_NEAREST_EARLIER_OPTIONS(...)                                                            \
    ((gf_nearest_earlier_options){.version = GF_NEAREST_EARLIER_OPTIONS_VERSION, __VA_ARGS__})

/** number: of the document among the ids, of which each counts once; id: what is near to it, borrowed. */
typedef gf_status gf_visit_nearest_earlier(void *context, size_t number, gf_slice id, double cosine,
                                           gf_error *err);

/**
 * For each of some documents that are there, the nearest that was there before it: any that is not among
 * them, or that comes before it in their order. Cosines are those of gf_near_duplicates, and exact; of several the
 * first by id counts. Visited are, in their order, the documents that have one at least so near.
 *
 * @return GF_OK; GF_ENOTFOUND (collection, or there is no build yet); GF_EINVAL (least); GF_ECONFLICT (a build of
 *         given rows); GF_ECANCELLED, GF_ECORRUPT, GF_EIO, GF_ENOMEM
 * Cost: of up to eight documents gf_similar for each; of more that of gf_near_duplicates, once for all.
 */
gf_status gf_nearest_earlier(gf_store *store, gf_place where,
                             const gf_nearest_earlier_options *options,
                             gf_visit_nearest_earlier *visit, void *context, gf_error *err);

GF_PUBLIC_END

#endif
