/**
 * How schemas and rows of users' tables are shown.
 */
#ifndef GF_CLI_COMMANDS_SHOW_TABLE_H
#define GF_CLI_COMMANDS_SHOW_TABLE_H

#include "cli/session.h"

/** "u1 7": the parts of a row's key. */
void gf_print_key(FILE *out, gf_json_value row);

/** A schema: the key, then each family with its columns. */
void gf_table_show_schema(gf_session *s, gf_json_value row);

/** Files that a table's schema is read from: option --schema. */
gf_status gf_table_prepare_schema(gf_session *s, gf_error *err);

#endif
