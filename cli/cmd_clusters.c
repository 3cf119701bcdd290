#include "cli/session.h"

static const gf_positional positionals[] = {{"COLLECTION", "collection", false}};
static const gf_show_column columns[] = {{"cluster", "id", GF_COLUMN_ID},
                                         {"size", "documents", GF_COLUMN_COUNT},
                                         {"share", "share", GF_COLUMN_SHARE},
                                         {"label", "label", GF_COLUMN_TEXT},
                                         {"terms", "terms", GF_COLUMN_TERMS}};

const gf_command gf_command_clusters = {
    .name = "clusters",
    .operation = "clusters",
    .summary = "List clusters",
    .examples = "    grouperfish clusters feedback\n"
                "    grouperfish clusters feedback --config fine --sort label\n"
                "    grouperfish clusters feedback --format json\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
};
