#include "cli/session.h"

static const gf_positional positionals[] = {{"COLLECTION", "collection", false}};
static const gf_show_column columns[] = {
    {"served", "served", GF_COLUMN_MARK},     {"build", "build", GF_COLUMN_ID},
    {"time", "time", GF_COLUMN_TIME},         {"documents", "documents", GF_COLUMN_COUNT},
    {"k", "clusters", GF_COLUMN_COUNT},       {"objective", "objective", GF_COLUMN_SCORE},
    {"without_terms", NULL, GF_COLUMN_COUNT}, {"terms", NULL, GF_COLUMN_COUNT},
    {"seconds", "took", GF_COLUMN_SECONDS},   {"settings", "settings", GF_COLUMN_RAW}};

const gf_command gf_command_builds = {
    .name = "builds",
    .operation = "builds",
    .summary = "List the builds that are kept",
    .examples = "    grouperfish builds feedback\n"
                "    grouperfish builds feedback --config fine\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
};
