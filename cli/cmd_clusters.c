#include "cli/session.h"

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_show_column columns[] = {{"cluster", "id", GF_COLUMN_ID},
                                         {"label", "label", GF_COLUMN_TEXT},
                                         {"size", "documents", GF_COLUMN_COUNT},
                                         {"share", "share", GF_COLUMN_SHARE},
                                         {"terms", "terms", GF_COLUMN_TERMS}};
static const gf_show_column pending_columns[] = {
    {"id", "id", GF_COLUMN_TEXT},          {"cluster", "cluster", GF_COLUMN_ID},
    {"label", "label", GF_COLUMN_TEXT},    {"score", "score", GF_COLUMN_SCORE},
    {"runner_up", "next", GF_COLUMN_ID},   {"runner_up_label", NULL, GF_COLUMN_TEXT},
    {"margin", "margin", GF_COLUMN_SCORE}, {"replaced", NULL, GF_COLUMN_RAW},
    {"text", "text", GF_COLUMN_TEXT}};
static const gf_other_display others[] = {
    {"pending", {GF_COLUMNS(pending_columns), .nothing = "every document is in the build"}}};

const gf_command gf_command_clusters = {
    .name = "clusters",
    .examples = "    grouperfish clusters feedback\n"
                "    grouperfish clusters feedback --config fine --sort label\n"
                "    grouperfish clusters feedback --min-score 0.2\n"
                "    grouperfish clusters feedback --pending\n"
                "    grouperfish clusters feedback --format json\n"
                "    grouperfish clusters 'feedback-*'\n",
    .notes =
        "--min-score leaves out of the sizes what fits its cluster badly. --pending lists the\n"
        "documents that came or were put anew after the build, in the order of the puts, each\n"
        "with the cluster where it would be; they count in none until a rebuild.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .nothing = "no clusters: the build has no documents"},
    .others = others,
    .n_others = GF_COUNT(others),
};
