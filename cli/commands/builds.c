#include "cli/session.h"

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_show_column columns[] = {{"served", "*", GF_COLUMN_MARK},
                                         {"build", "build", GF_COLUMN_ID},
                                         {"time", "time (UTC)", GF_COLUMN_TIME},
                                         {"documents", "documents", GF_COLUMN_COUNT},
                                         {"without_terms", "wordless", GF_COLUMN_RARE},
                                         {"k", "clusters", GF_COLUMN_COUNT},
                                         {"objective", "objective", GF_COLUMN_SCORE},
                                         {"seconds", "took", GF_COLUMN_SECONDS},
                                         {"settings", "settings", GF_COLUMN_RAW},
                                         {"terms", NULL, GF_COLUMN_COUNT},
                                         {"distinct", NULL, GF_COLUMN_COUNT},
                                         {"pinned", "pinned", GF_COLUMN_MARK}};

const gf_command gf_command_builds = {
    .name = "builds",
    .examples = "    grouperfish builds feedback\n"
                "    grouperfish builds feedback --config fine\n"
                "    grouperfish builds --all\n",
    .notes =
        "The build marked * is served; --build TIME of other commands reads one of the others.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .nothing = "no builds yet: grouperfish rebuild makes one"},
};
