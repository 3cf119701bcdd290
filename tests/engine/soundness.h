/**
 * Whether a store is sound, read off the rows of its tables, without the code of the engine that
 * writes or verifies them:
 *
 *     a  each pointer leads to a build whose row is there, and whose lists and model are whole
 *     b  `size` is the number of documents, `seq` at least every document's
 *     c  each document with a seq above a finished build's has a change row
 *     d  whatever is of no finished build carries a mark
 */
#ifndef GF_TESTS_ENGINE_SOUNDNESS_H
#define GF_TESTS_ENGINE_SOUNDNESS_H

#include "engine/store/store_internal.h"

/** What is wrong, valid until the next call; NULL: nothing. `tidied`: no mark, no lease is left. */
const char *soundness_fault(gf_store *store, bool tidied);

#endif
