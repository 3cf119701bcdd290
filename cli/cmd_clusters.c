#include "cli/session.h"

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_show_column columns[] = {{"cluster", "id", GF_COLUMN_ID},
                                         {"label", "label", GF_COLUMN_TEXT},
                                         {"size", "documents", GF_COLUMN_COUNT},
                                         {"share", "share", GF_COLUMN_SHARE},
                                         {"terms", "terms", GF_COLUMN_TERMS}};

const gf_command gf_command_clusters = {
    .name = "clusters",
    .examples = "    grouperfish clusters feedback\n"
                "    grouperfish clusters feedback --config fine --sort label\n"
                "    grouperfish clusters feedback --format json\n"
                "    grouperfish clusters 'feedback-*'\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .nothing = "no clusters: the build has no documents"},
};
