#include "cli/session.h"

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_show_column columns[] = {{"configuration", "configuration", GF_COLUMN_TEXT},
                                         {"from", "from", GF_COLUMN_TEXT},
                                         {"rebuild", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_config_list = {
    .name = "config list",
    .examples = "    grouperfish config list feedback\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns)},
};
