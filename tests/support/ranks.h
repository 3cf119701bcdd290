/**
 * Ranks for tests: threads of this process that hand bytes to each other, and what is asked of any
 * transport.
 */
#ifndef GF_TESTS_SUPPORT_RANKS_H
#define GF_TESTS_SUPPORT_RANKS_H

#include "base/ranks.h"

/** The work of one rank. */
typedef gf_status gf_test_rank(gf_ranks *ranks, void *context, gf_error *err);

/**
 * Run n ranks at once. Where one fails the others' calls fail by GF_ECANCELLED, and its own status
 * comes back.
 */
gf_status gf_test_ranks_run(unsigned n, gf_test_rank *work, void *context, gf_error *err);

/** Try all calls with bytes of many sizes; GF_ECORRUPT where other bytes come than were given. */
gf_status gf_test_ranks_try(gf_ranks *ranks, gf_error *err);

#endif
