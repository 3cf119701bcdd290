/**
 * Lays out the entries of a build's runs anew: one by one, as builds lay before there were blocks, or
 * in blocks. Between the two a test may change entries.
 */
#ifndef GF_TESTS_ENGINE_FIXTURE_RUNS_H
#define GF_TESTS_ENGINE_FIXTURE_RUNS_H

#include "engine/store/store_internal.h"

void fixture_runs_singly(gf_store *store);
void fixture_runs_in_blocks(gf_store *store);

/** How many entries the runs have as they are stored, and how many in all. */
void fixture_runs_count(gf_store *store, uint64_t *stored, uint64_t *entries);

#endif
