/**
 * White space and prefixes of values.
 */
#ifndef GF_APPS_PAPERS_TRIM_H
#define GF_APPS_PAPERS_TRIM_H

#include "grouperfish/slice.h"

#include <stdbool.h>

/** Text without Unicode's white space at its ends, such as no-break spaces. */
gf_slice gf_trim(gf_slice text);

/** Take a prefix off, whatever the case of its letters; false, and *text as it was, where it is not there. */
bool gf_take_prefix(gf_slice *text, const char *prefix);

#endif
