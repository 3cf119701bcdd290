/** rebuild within a cluster or a group: the configuration that it makes. */
#ifndef GF_API_BUILDS_WITHIN_H
#define GF_API_BUILDS_WITHIN_H

#include "api/call.h"

/**
 * Make the configuration that the call's arguments `within`, `config` and `k` ask for: with the settings
 * of the one whose cluster or group it is, where it is new.
 *
 * @param[out] name    of the configuration; to be released
 * @param[out] is_new  it was not there before
 */
gf_status gf_within_make(gf_call *call, gf_store *store, gf_buffer *name, bool *is_new,
                         gf_error *err);

#endif
