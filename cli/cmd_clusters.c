#include "cli/session.h"

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_show_column columns[] = {{"cluster", "id", GF_COLUMN_ID},
                                         {"label", "label", GF_COLUMN_TEXT},
                                         {"size", "documents", GF_COLUMN_COUNT},
                                         {"share", "share", GF_COLUMN_SHARE},
                                         {"terms", "terms", GF_COLUMN_TERMS}};

static const gf_show_column trend_columns[] = {{"cluster", "id", GF_COLUMN_ID},
                                               {"label", "label", GF_COLUMN_TEXT},
                                               {"size", "documents", GF_COLUMN_COUNT},
                                               {"trend", "trend", GF_COLUMN_TEXT},
                                               {"change", NULL, GF_COLUMN_SCORE},
                                               {"z", "z", GF_COLUMN_SIGNED},
                                               {"recent", NULL, GF_COLUMN_COUNT},
                                               {"earlier", NULL, GF_COLUMN_COUNT},
                                               {"before", "before", GF_COLUMN_RARE},
                                               {"undated", "no time", GF_COLUMN_RARE},
                                               {"from", NULL, GF_COLUMN_TEXT},
                                               {"to", "up to", GF_COLUMN_TEXT},
                                               {"periods", "documents in each", GF_COLUMN_COUNTS}};
static const gf_display trend_display = {GF_COLUMNS(trend_columns),
                                         .nothing = "no clusters: the build has no documents"};

static const gf_display *choose(const gf_session *s)
{
    if (gf_session_argument(s, "by").len) return &trend_display;
    return &gf_command_clusters.display;
}

const gf_command gf_command_clusters = {
    .name = "clusters",
    .examples = "    grouperfish clusters feedback\n"
                "    grouperfish clusters feedback --config fine --sort label\n"
                "    grouperfish clusters feedback --by week\n"
                "    grouperfish clusters feedback --format json\n",
    .notes =
        "With --by, z compares each cluster's share of the last quarter of the periods with its\n"
        "share of those before: rising from 2 up, falling from -2 down.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .choose = choose,
    .display = {GF_COLUMNS(columns), .nothing = "no clusters: the build has no documents"},
};
