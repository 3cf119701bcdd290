/**
 * The operations on builds.
 */
#ifndef GF_API_BUILDS_INTERNAL_H
#define GF_API_BUILDS_INTERNAL_H

#include "api/call.h"
#include "api/parameters.h"

/** Each stands behind its handler. */
extern const gf_operation gf_rebuild_operation, gf_builds_operation, gf_publish_operation,
    gf_pin_operation, gf_unpin_operation, gf_label_operation;

#endif
