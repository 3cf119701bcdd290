/**
 * Versions of options: each public struct of options begins with one, so that a program that was
 * compiled for another version, or did not initialise its options, is refused in words.
 */
#ifndef GF_BASE_OPTIONS_H
#define GF_BASE_OPTIONS_H

#include "grouperfish/status.h"

/** GF_EINVAL where the version of options named "gf_store_options" is not the one that is known. */
static inline gf_status gf_options_check(unsigned version, unsigned known, const char *name,
                                         gf_error *err)
{
    if (version == known) return GF_OK;
    return gf_fail(err, GF_EINVAL, "%s: version %u, not %u; its macro in capitals initialises it",
                   name, version, known);
}

#endif
