/**
 * Changes of users' tables, checked before the first of several is made.
 */
#ifndef GF_ENGINE_USER_TABLES_ALTER_H
#define GF_ENGINE_USER_TABLES_ALTER_H

#include "grouperfish/store.h"
#include "grouperfish/user_tables.h"

/**
 * Whether gf_user_table_alter_family can change the family of that name so; its number then.
 * @return GF_OK; GF_EINVAL
 */
gf_status gf_user_table_check_kept(const gf_user_table *table, gf_slice family,
                                   const uint32_t *versions, const uint64_t *ttl_seconds,
                                   unsigned *number, gf_error *err);

/** Whether gf_user_table_alter can make the additions: its status, and nothing is changed. */
gf_status gf_user_table_check_additions(gf_store *store, gf_slice name_space, gf_slice name,
                                        gf_slice additions, gf_error *err);

#endif
