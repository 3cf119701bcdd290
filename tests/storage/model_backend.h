/**
 * A second backend, for tests: naive, in memory, written without a look at the first.
 *
 * A sorted array of versions (table, family, row key, cell, timestamp), searched from its start;
 * a snapshot is a copy of all of it. It shows that the seam is one, and says what LevelDB must
 * give.
 */
#ifndef GF_TESTS_STORAGE_MODEL_BACKEND_H
#define GF_TESTS_STORAGE_MODEL_BACKEND_H

#include "storage/backend.h"

gf_backend *gf_model_create(void);

#endif
