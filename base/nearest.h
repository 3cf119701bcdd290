/**
 * The known name that a mistyped one most likely meant.
 */
#ifndef GF_BASE_NEAREST_H
#define GF_BASE_NEAREST_H

#include "grouperfish/slice.h"

/**
 * The name of smallest edit distance (insert, delete, replace, swap of neighbours; bytes), the
 * first of several; NULL where even that is more than a third of the word plus one edits away.
 *
 * @param names  n NUL-terminated names of at most 63 bytes
 */
const char *gf_nearest(gf_slice word, const char *const *names, size_t n);

#endif
