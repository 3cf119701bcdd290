/** Checks of builds, for repairs. */
#ifndef GF_ENGINE_UPKEEP_VERIFY_H
#define GF_ENGINE_UPKEEP_VERIFY_H

#include "grouperfish/collections.h"

/** Check a build; *whole: it is there, finished, and agrees with itself throughout. */
gf_status gf_verify_build(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                          const gf_cancel *cancel, bool *whole, gf_error *err);

#endif
