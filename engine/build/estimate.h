/**
 * What a rebuild holds in memory, before it is made: counts from the documents, and the formula
 * over them (docs/algorithms.md, "Memory").
 */
#ifndef GF_ENGINE_BUILD_ESTIMATE_H
#define GF_ENGINE_BUILD_ESTIMATE_H

#include "engine/text/group.h"
#include "grouperfish/rebuild.h"

struct gf_job;

enum { GF_LEAST_NAMING = 8 /* documents of a cluster that its label is chosen from, at least */ };

/**
 * Threads of a rebuild whose memory is bound, at most, and that it is reckoned for: whether its
 * rows lie in a file, and how large its sample is, must not depend on how many there are.
 */
enum { GF_BOUND_THREADS = 4 };

/** What the formula is about. */
typedef struct gf_memory_counts {
    uint64_t documents, text;        /* bytes */
    uint64_t cut_text[GF_TEXT_CUTS]; /* of texts cut at GF_LEAST_CUT << i bytes */
    uint64_t id_bytes;
    double entries, terms; /* of the matrix */
    double words;          /* terms before min_df and max_df */
    double centre_entries; /* of k centres */
    double tokens;         /* words of each document */
    double indexed; /* the same of all documents, a filter's too: entries of the search index */
    uint32_t k;
    unsigned threads;
    uint64_t buffers;   /* of the store */
    bool index, search; /* of terms, of all words; kept with the build */
} gf_memory_counts;

/** How a build with little memory divides it. */
typedef struct gf_memory_plan {
    uint32_t sample;    /* rows that seeds are found in */
    uint64_t text;      /* bytes of texts that labels are chosen from */
    bool index, search; /* are kept */
} gf_memory_plan;

/** The formula for a build that holds all rows. *e has the parts and their peak. */
void gf_memory_of_build(const gf_memory_counts *c, gf_memory_estimate *e);

/**
 * For one whose rows lie in a file: how it divides `memory`, and its peak. Where that is above
 * `memory`, no less will do.
 */
uint64_t gf_memory_of_spilled(const gf_memory_counts *c, uint64_t memory, gf_memory_plan *plan);

/**
 * Count what the job's documents will come to: all are read, and of many an even part analysed.
 * Nothing is changed. Cost: reading the texts, analysing 20,000 of them.
 */
gf_status gf_job_count(struct gf_job *job, gf_memory_counts *counts, gf_error *err);

gf_status gf_job_estimate(struct gf_job *job, gf_memory_estimate *estimate, gf_error *err);

/**
 * Set job->spills and job->plan where the options bound the memory.
 * @return GF_OK; GF_ELIMIT (the message names the least that would do), as reading texts
 */
gf_status gf_job_plan_memory(struct gf_job *job, gf_error *err);

#endif
