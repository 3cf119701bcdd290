#include "cli/session.h"

static const gf_show_column columns[] = {{"collection", "collection", GF_COLUMN_TEXT},
                                         {"size", "documents", GF_COLUMN_COUNT},
                                         {"modified", "modified (UTC)", GF_COLUMN_TIME}};

const gf_command gf_command_collection_list = {
    .name = "collection list",
    .examples = "    grouperfish collection list\n"
                "    grouperfish collection list --prefix issue- --sort size --limit 10\n",
    .display = {GF_COLUMNS(columns), .nothing = "no collections"},
};
