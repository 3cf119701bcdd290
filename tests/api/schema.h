/**
 * Rows against the members that their operation says they have (api/row_member.h).
 */
#ifndef GF_TESTS_API_SCHEMA_H
#define GF_TESTS_API_SCHEMA_H

#include "api/operation.h"
#include "base/json/json.h"

/**
 * Check a row that the operation gave for these arguments: no member that it does not name, none missing
 * that is always there, each of its kind.
 * @param[out] fault  the reason in words
 */
bool schema_fits(const gf_operation *operation, const gf_argument *arguments, size_t n,
                 gf_json_value row, char fault[256]);

#endif
