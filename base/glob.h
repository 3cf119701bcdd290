/**
 * Patterns over names, as shells and fnmatch(3) have them.
 *
 *     *       any characters, also none
 *     ?       one character
 *     [a-z]   one of these; [!a-z] or [^a-z] one of all others; a ] that is meant comes first
 *     \c      the character c itself
 *
 * Characters are those of UTF-8; a byte that is part of none counts as U+FFFD. A [ without its ]
 * stands for itself, and nothing matches a pattern that ends in a single \.
 */
#ifndef GF_BASE_GLOB_H
#define GF_BASE_GLOB_H

#include "grouperfish/slice.h"

/** True where the pattern has *, ? or [, and so can match more than itself. */
bool gf_glob_is_pattern(gf_slice text);

/** The bytes before the first of *, ?, [ and \: what every name that matches starts with. */
gf_slice gf_glob_start(gf_slice pattern);

/** True where the pattern matches the whole name. Cost: O(pattern length * name length). */
bool gf_glob_matches(gf_slice pattern, gf_slice name);

#endif
