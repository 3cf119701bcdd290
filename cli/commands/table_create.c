#include "cli/commands/show_table.h"

static const gf_show_column columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                         {"key", NULL, GF_COLUMN_RAW},
                                         {"families", NULL, GF_COLUMN_RAW}};
static const gf_positional words[] = {{.name = "TABLE", .argument = "table"}};
static const gf_own_option options[] = {
    {"schema", "FILE", "the schema as JSON (docs/tables.md), or - for standard input"}};

const gf_command gf_command_table_create = {
    .name = "table create",
    .examples =
        "    grouperfish table create users --key id --family info --column info:age=int64 \\\n"
        "        --family friend:wide\n"
        "    grouperfish table create papers --key sha1:raw:20 --family file\n"
        "    grouperfish table create events --schema events.json\n",
    .notes = "A family is packed unless it is said to be wide: the columns of a packed one are "
             "read and\n"
             "written together, a wide one holds any number of cells in a row. The store is made\n"
             "where it is missing. Types, and schemas as files: docs/tables.md.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .single = true, .show = gf_table_show_schema},
    .prepare = gf_table_prepare_schema,
};
