#include "cli/session.h"

static const gf_positional positionals[] = {{"COLLECTION", "collection", true}};
static const gf_own_option options[] = {{"progress", "HOW", "auto, none or jsonl (auto)"}};
static const gf_show_column columns[] = {{"collection", "collection", GF_COLUMN_TEXT},
                                         {"configuration", "configuration", GF_COLUMN_TEXT},
                                         {"outcome", "outcome", GF_COLUMN_TEXT},
                                         {"build", "build", GF_COLUMN_ID},
                                         {"documents", "documents", GF_COLUMN_COUNT},
                                         {"k", "clusters", GF_COLUMN_COUNT},
                                         {"objective", "objective", GF_COLUMN_SCORE},
                                         {"without_terms", NULL, GF_COLUMN_COUNT},
                                         {"seconds", "took", GF_COLUMN_SECONDS},
                                         {"error", "error", GF_COLUMN_TEXT}};

const gf_command gf_command_rebuild = {
    .name = "rebuild",
    .operation = "rebuild",
    .summary = "Cluster a collection and publish the result",
    .examples = "    grouperfish rebuild feedback\n"
                "    grouperfish rebuild feedback --config fine --force\n"
                "    grouperfish rebuild --all\n",
    .notes =
        "A configuration is skipped where neither its settings nor the documents have changed "
        "since\n"
        "its last build. Until the new build is whole the old one is served; a rebuild that is\n"
        "stopped or fails changes nothing.\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .options = options,
    .n_options = GF_COUNT(options),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
};
