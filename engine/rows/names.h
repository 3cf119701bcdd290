/** Names and ids: what they may be. */
#ifndef GF_ENGINE_ROWS_NAMES_H
#define GF_ENGINE_ROWS_NAMES_H

#include "grouperfish/collections.h"

/** GF_EINVAL where a part is empty, longer than GF_MAX_NAME bytes, or not UTF-8. */
gf_status gf_name_check_place(gf_place where, gf_error *err);
gf_status gf_name_check(const char *what, gf_slice name, gf_error *err);
gf_status gf_name_check_id(gf_slice id, gf_error *err);

#endif
