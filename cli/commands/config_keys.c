#include "cli/session.h"

static const gf_show_column columns[] = {{"key", "key", GF_COLUMN_TEXT},
                                         {"initial", "default", GF_COLUMN_TEXT},
                                         {"values", "values", GF_COLUMN_PROSE},
                                         {"meaning", "meaning", GF_COLUMN_PROSE}};

const gf_command gf_command_config_keys = {
    .name = "config keys",
    .examples = "    grouperfish config keys\n",
    .display = {GF_COLUMNS(columns)},
};
