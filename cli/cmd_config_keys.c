#include "cli/session.h"

static const gf_show_column columns[] = {{"key", "key", GF_COLUMN_TEXT},
                                         {"initial", "default", GF_COLUMN_TEXT},
                                         {"values", "values", GF_COLUMN_TEXT},
                                         {"meaning", "meaning", GF_COLUMN_TEXT}};

const gf_command gf_command_config_keys = {
    .name = "config keys",
    .operation = "config keys",
    .summary = "List all keys that configurations have",
    .examples = "    grouperfish config keys\n",
    .columns = columns,
    .n_columns = GF_COUNT(columns),
};
