#include "cli/session.h"

static const gf_positional positionals[] = {{"COLLECTION", "collection", false}};
static const gf_show_column columns[] = {{"configuration", "configuration", GF_COLUMN_TEXT}};

const gf_command gf_command_config_list = {
    .name = "config list",
    .operation = "config list",
    .summary = "List a collection's configurations",
    .examples = "    grouperfish config list feedback\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
};
