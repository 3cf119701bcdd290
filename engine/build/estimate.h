/**
 * The memory of a rebuild, estimated before it is made: counts of the documents, and the formula
 * over them (docs/algorithms.md, "Memory").
 */
#ifndef GF_ENGINE_BUILD_ESTIMATE_H
#define GF_ENGINE_BUILD_ESTIMATE_H

#include "base/pool.h"
#include "engine/text/group.h"
#include "grouperfish/rebuild.h"

struct gf_build_plan;

/** Documents that labels are chosen from (name.c). */
enum {
    GF_NAMING_LEAST = 8,        /* of a cluster, if memory is bounded */
    GF_NAMING_USUAL_LEAST = 20, /* of a cluster, otherwise */
    GF_NAMING_MOST = 200,       /* of a cluster */
    GF_NAMING_ALL = 200000,     /* of all clusters, about */
    GF_NAMING_TEXT = 64 << 20   /* bytes of all their texts, about; words need 3 times as much */
};

/**
 * Most threads of a rebuild whose memory is bounded. Its memory is estimated for so many, however
 * many there are: whether the rows lie in a file, and how large the sample is, must not depend on
 * the threads.
 */
enum { GF_BOUND_THREADS = 4 };

/** The counts that the formula needs. */
typedef struct gf_memory_counts {
    uint64_t documents, text;        /* bytes */
    uint64_t cut_text[GF_TEXT_CUTS]; /* of texts cut at GF_LEAST_CUT << i bytes */
    uint64_t id_bytes;
    double entries, terms; /* of the matrix */
    double words;          /* terms before min_df and max_df */
    double centre_entries; /* of k centres */
    double word_counts;    /* counts of words in clusters that there is room for */
    double tokens;         /* words of each document */
    double indexed;        /* entries of the search index: tokens, filtered ones, too */
    double given;          /* bytes of given rows as floats; 0: the texts' are clustered */
    double given_columns;  /* of those */
    uint32_t k;
    unsigned threads;
    uint64_t buffers;   /* of the store */
    bool index, search; /* of terms, of all words; kept with the build */
    bool refine;        /* word counts of clusters are held */
    bool once;          /* near-duplicates count once */
    bool thorough;      /* clusters are found from term vectors, too */
} gf_memory_counts;

/** How a build whose rows lie in a file divides its memory. */
typedef struct gf_memory_plan {
    uint32_t sample;    /* rows that seeds are found in */
    uint64_t text;      /* bytes of texts that labels are chosen from */
    bool index, search; /* are kept */
} gf_memory_plan;

/** The formula for a build that holds all rows. *e has the parts and their peak. */
void gf_estimate_of_build(const gf_memory_counts *c, gf_memory_estimate *e);

/**
 * The formula for a build whose rows lie in a file: how it divides `memory` (*plan).
 * @return its peak; where that is above `memory`, it is the least that would do
 */
uint64_t gf_estimate_of_spilled(const gf_memory_counts *c, uint64_t memory, gf_memory_plan *plan);

/**
 * Count what the plan's documents will come to: all are read, and of many an even part analysed.
 * Nothing is changed (count_memory.c). Cost: reading the texts, analysing 20,000 of them.
 */
gf_status gf_build_count(const struct gf_build_plan *plan, gf_pool *pool, gf_memory_counts *counts,
                         gf_error *err);

/** Estimate the memory of a build whose memory is not bounded, and the least that would do. */
gf_status gf_build_estimate(const struct gf_build_plan *plan, gf_pool *pool,
                            gf_memory_estimate *estimate, gf_error *err);

/**
 * Set the last part of a plan: spills, memory (where the options bound it) and keeps_words.
 * @return GF_OK; GF_ELIMIT (the message names the least that would do); as gf_build_gather
 */
gf_status gf_build_plan_memory(struct gf_build_plan *plan, gf_pool *pool, gf_error *err);

#endif
