/**
 * Tables that the program keeps itself, shown as tables of users are: keys in parts, values by
 * type. They are read only, and of one namespace: no key of another can be written, and no walk
 * leaves it.
 */
#ifndef GF_ENGINE_USER_TABLES_SYSTEM_H
#define GF_ENGINE_USER_TABLES_SYSTEM_H

#include "grouperfish/store.h"
#include "grouperfish/user_tables.h"
#include "storage/description.h"

/** Whether the description is of the database's table of that name; of none of users' tables. */
bool gf_system_table_is(const gf_table_description *d, const char *name);

/** Whether the description is of the user's table: its parts, and families of all of its names. */
bool gf_system_table_is_user(const gf_table_description *d, const gf_user_table *table);

/**
 * Open the database's table of that name, which `d` describes and which is there. To be closed as a
 * table of a user's; gf_user_table_key_write refuses keys of other namespaces, and gf_rows_open
 * walks no others.
 * @return GF_OK; GF_EIO, GF_ECORRUPT, GF_ENOMEM
 */
gf_status gf_system_table_open(gf_store *store, const gf_table_description *d,
                               const gf_schema *stored, gf_slice name_space, gf_user_table **table,
                               gf_error *err);

/** True of a table that gf_system_table_open opened. */
bool gf_user_table_is_system(const gf_user_table *table);

#endif
