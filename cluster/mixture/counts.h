/**
 * How often each cluster has each word, with what that adds to a document's likelihood:
 *
 *     word ->  dense   k counts and k logarithms by cluster, where many documents have the word
 *              list    (cluster, count), where fewer than k / 8 do
 *
 * A list has room for one cluster per document that has the word, so nothing ever grows: at most 64
 * bytes an entry of the documents, where 8 bytes x words x clusters would be more.
 *
 * A word is written by one thread at a time, other words by others meanwhile; any may read while
 * nothing is written. The order of a list does not matter.
 */
#ifndef GF_CLUSTER_MIXTURE_COUNTS_H
#define GF_CLUSTER_MIXTURE_COUNTS_H

#include "cluster/mixture/logs.h"

#include <stddef.h>

#define GF_COUNTS_DENSE UINT32_MAX

typedef struct gf_word_place {
    uint64_t at; /* first item of its list, or first of its k in the dense arrays */
    uint32_t n;  /* clusters in its list; GF_COUNTS_DENSE where it is dense */
} gf_word_place;

typedef struct gf_cluster_count {
    uint32_t cluster, n; /* n > 0 */
} gf_cluster_count;

typedef struct gf_mixture_counts {
    uint32_t k, n_words;
    const gf_mixture_logs *logs; /* borrowed */
    gf_word_place *place;        /* n_words */
    uint32_t *dense;             /* counts of dense words, k each */
    float *value;                /* value(count, 1) of each */
    gf_cluster_count *lists;
    uint64_t *words;     /* k: of all documents of the cluster, with repeats */
    uint64_t *documents; /* k */
} gf_mixture_counts;

/**
 * Empty clusters.
 *
 * @param df    n_words: documents that have the word, which is as many as will ever be counted
 * @param logs  borrowed until release
 * @return GF_OK; GF_ENOMEM, and *counts is unchanged
 */
gf_status gf_mixture_counts_init(gf_mixture_counts *counts, const uint32_t *df, uint32_t n_words,
                                 uint32_t k, const gf_mixture_logs *logs, gf_error *err);
void gf_mixture_counts_release(gf_mixture_counts *counts);

/** Bytes that gf_mixture_counts_init would take. */
uint64_t gf_mixture_counts_bytes(const uint32_t *df, uint32_t n_words, uint32_t k);

/** Add n occurrences of a word to a cluster. Cost: the word's list, where it has one. */
void gf_mixture_counts_add(gf_mixture_counts *counts, uint32_t word, uint32_t cluster, uint32_t n);

/** Take n of them away; the cluster has so many. */
void gf_mixture_counts_take(gf_mixture_counts *counts, uint32_t word, uint32_t cluster, uint32_t n);

/** How often a cluster has a word. */
uint32_t gf_mixture_counts_get(const gf_mixture_counts *counts, uint32_t word, uint32_t cluster);

#endif
