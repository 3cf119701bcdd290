/** Check of what a build shows of its clusters first: sentences, and lists of copies. */
#ifndef GF_ENGINE_UPKEEP_VERIFY_BEST_H
#define GF_ENGINE_UPKEEP_VERIFY_BEST_H

#include "engine/rows/audit.h"
#include "engine/view/view.h"

/**
 * Each sentence is of a member of its cluster, and each list of copies is of a cluster, and can be
 * read. Faults go to the audit.
 *
 * @param view  its clusters are listed, with the sizes that the build wrote
 */
gf_status gf_verify_best(gf_audit *audit, gf_view *view, const char *where, gf_error *err);

#endif
