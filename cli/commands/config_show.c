#include "cli/session.h"

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "NAME", .argument = "config", .optional = true}};
static const gf_show_column columns[] = {{"key", "key", GF_COLUMN_TEXT},
                                         {"value", "value", GF_COLUMN_TEXT},
                                         {"from", "from", GF_COLUMN_TEXT},
                                         {"meaning", "meaning", GF_COLUMN_PROSE},
                                         {"initial", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_config_show = {
    .name = "config show",
    .examples = "    grouperfish config show feedback\n"
                "    grouperfish config show feedback fine\n"
                "    grouperfish config show --all\n",
    .notes =
        "A value is from the collection where config set has set it there, from the namespace\n"
        "where config set --all has, else the default.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns)},
};
