#include "cli/commands/show_table.h"

static const gf_show_column columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                         {"key", NULL, GF_COLUMN_RAW},
                                         {"families", NULL, GF_COLUMN_RAW}};
static const gf_positional words[] = {{.name = "TABLE", .argument = "table"}};
static const gf_own_option options[] = {
    {"schema", "FILE", "what is to be added as JSON (docs/tables.md), or - for standard input"}};

const gf_command gf_command_table_alter = {
    .name = "table alter",
    .examples = "    grouperfish table alter papers --add-family grobid1:snappy\n"
                "    grouperfish table alter users --add-column info:city=text\n",
    .notes = "Nothing that is there changes: neither rows nor what is known of them.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .single = true, .show = gf_table_show_schema},
    .prepare = gf_table_prepare_schema,
};
