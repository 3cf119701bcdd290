/**
 * Failed rebuilds. A failure is a cell of the collection's row until the configuration is published
 * again:
 *
 *     configuration:<name>:failed = <milliseconds since 1970> <why>
 */
#ifndef GF_ENGINE_CONFIG_FAILURE_H
#define GF_ENGINE_CONFIG_FAILURE_H

#include "grouperfish/collections.h"

/** Keep in the store that a rebuild failed, and why; if that fails, too, nothing is kept. */
void gf_failure_note(gf_store *store, gf_place where, gf_slice configuration, gf_status status,
                     const char *message);

#endif
