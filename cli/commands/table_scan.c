#include "cli/session.h"

static const gf_positional words[] = {
    {.name = "TABLE", .argument = "table"},
    {.name = "PART", .argument = "key", .optional = true, .repeats = true}};
static const gf_show_column columns[] = {{"key", "key", GF_COLUMN_RAW},
                                         {"cells", "cells", GF_COLUMN_RAW}};

const gf_command gf_command_table_scan = {
    .name = "table scan",
    .examples = "    grouperfish table scan users --limit 10\n"
                "    grouperfish table scan users --prefix u --where 'info:age>=18'\n"
                "    grouperfish table scan actions u1 --from 1247443200000 --reverse\n",
    .notes =
        "Rows come from one state of the table, whatever is written meanwhile. With --where a\n"
        "row is given only where all of it holds; numbers are compared by their size, by the\n"
        "type of the column.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .nothing = "no rows"},
    .streams_jsonl = true,
};
