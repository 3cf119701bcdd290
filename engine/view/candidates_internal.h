/**
 * Candidates: what finding new terms, gathering groups and telling of them share (candidates.c).
 */
#ifndef GF_ENGINE_VIEW_CANDIDATES_INTERNAL_H
#define GF_ENGINE_VIEW_CANDIDATES_INTERNAL_H

#include "engine/view/kept_candidates.h"
#include "engine/view/view.h"
#include "grouperfish/changes.h"
#include "vectorize/rows/vectorizer.h"

typedef struct gf_candidate_pending {
    gf_slice id, text; /* in the memory */
    const gf_language *language;
    uint32_t cluster; /* the nearest; 0: none */
    float score;
    bool has_time, fits;
    int64_t time;
} gf_candidate_pending;

typedef struct gf_candidate_search {
    gf_view *view;
    const gf_cancel *cancel;
    uint32_t least;
    gf_arena memory;
    gf_candidate_pending *at; /* n pending ones, then a sample of the build's up to n_all */
    size_t n, n_all, capacity;
    gf_vectors rows; /* n_all */

    /* For each column of rows that is a regular term: */
    uint32_t n_terms;
    uint32_t *df;    /* here */
    uint32_t *known; /* in the build; GF_TERM_NONE: the build does not have it */
    double *weight;  /* idf over both; 0: passed over */
    double *p;       /* of a new term, corrected; else 1 */

    /* For each of the view's clusters the score that three quarters of its members reach; -1: not read. */
    float *quartile;
    gf_kept_candidates kept;
    gf_visit_candidate *visit;
    void *context;
} gf_candidate_search;

/* The weight of an entry, before the row is of unit length. */
static inline double gf_candidate_weight(const gf_candidate_search *s, gf_row_view row, uint32_t e)
{
    return row.col[e] < s->n_terms ? (double)row.val[e] * s->weight[row.col[e]] : 0;
}

/* A group as it is told of. */
typedef struct gf_candidate_group {
    const uint32_t *member; /* n documents, the most central first */
    const float *score;     /* s->n: of members the similarity to the group's centre */
    uint32_t n;
} gf_candidate_group;

typedef struct gf_candidate_term {
    uint32_t term;
    double weight;
} gf_candidate_term;

/**
 * Analyse and weigh the terms of all documents, say which documents fit, and find new terms.
 * @param n_new  the new terms, which have s->p < 1
 */
gf_status gf_candidates_find_terms(gf_candidate_search *s, uint32_t *n_new, gf_error *err);

/** Gather documents with new terms into groups, have those grow, and tell of each by falling size. */
gf_status gf_candidates_find_groups(gf_candidate_search *s, gf_error *err);

/**
 * Tell of a group: its label, terms, times, nearest cluster and documents.
 * @param p        of its best new term
 * @param weighed  n terms of its centre, sorted here
 */
gf_status gf_candidates_tell(gf_candidate_search *s, const gf_candidate_group *g, double p,
                             gf_candidate_term *weighed, uint32_t n, gf_error *err);

#endif
