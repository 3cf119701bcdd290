/**
 * Paths into JSON: the steps of RFC 9535 that lead to one value.
 *
 *     $   $.data.tickets   $['next page']   $["a"][0].b
 */
#ifndef GF_FORMATS_SOURCES_JSON_PATH_H
#define GF_FORMATS_SOURCES_JSON_PATH_H

#include "base/json/json.h"

typedef struct gf_json_path gf_json_path;

/** @return GF_OK; GF_EINVAL, saying where the path is no such; GF_ENOMEM. On failure *path is unchanged. */
gf_status gf_json_path_create(const char *text, gf_json_path **path, gf_error *err);
void gf_json_path_free(gf_json_path *path);

/** The value that the path leads to; false where there is none. */
bool gf_json_path_find(const gf_json_path *path, gf_json_value root, gf_json_value *found);

#endif
