#include "cli/commands/show_table.h"

static const gf_show_column columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                         {"key", NULL, GF_COLUMN_RAW},
                                         {"families", NULL, GF_COLUMN_RAW}};
static const gf_positional words[] = {{.name = "TABLE", .argument = "table"}};

const gf_command gf_command_table_describe = {
    .name = "table describe",
    .examples = "    grouperfish table describe users\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = gf_table_show_schema},
};
