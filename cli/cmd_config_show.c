#include "cli/session.h"

static const gf_positional positionals[] = {{"COLLECTION", "collection", false},
                                            {"NAME", "config", true}};
static const gf_show_column columns[] = {{"key", "key", GF_COLUMN_TEXT},
                                         {"value", "value", GF_COLUMN_TEXT},
                                         {"from", "from", GF_COLUMN_TEXT},
                                         {"meaning", "meaning", GF_COLUMN_TEXT}};

const gf_command gf_command_config_show = {
    .name = "config show",
    .operation = "config show",
    .summary = "Show a configuration",
    .examples = "    grouperfish config show feedback\n"
                "    grouperfish config show feedback fine\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
};
