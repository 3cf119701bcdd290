#include "cli/session.h"

static const gf_show_column columns[] = {{"table", "table", GF_COLUMN_TEXT},
                                         {"key", NULL, GF_COLUMN_RAW},
                                         {"families", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_table_list = {
    .name = "table list",
    .examples = "    grouperfish table list\n"
                "    grouperfish table list --format jsonl      with their schemas\n",
    .display = {GF_COLUMNS(columns), .nothing = "no tables"},
};
