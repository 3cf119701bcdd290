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

/* "   12,345      hockey  [17]": two columns to the right for each step down. */
static void show_node(gf_session *s, gf_json_value row)
{
    enum { SIZE = 10 };
    gf_buffer size = {0}, label = {0};
    double cluster = gf_member_number(row, "cluster"), clusters = gf_member_number(row, "clusters");
    int depth = (int)gf_member_number(row, "depth");
    gf_slice text = gf_member_text(row, "label");
    gf_buffer_count(&size, (uint64_t)gf_member_number(row, "size"));
    gf_text_fold(&label, text.len ? text : GF_SLICE("all"));
    fprintf(s->out, "%*s  %*s%s", SIZE, gf_buffer_cstr(&size), 2 * depth, "",
            gf_buffer_cstr(&label));
    if (cluster > 0)
        fprintf(s->out, "  [%.0f]\n", cluster);
    else
        fprintf(s->out, "  (%.0f clusters)\n", clusters);
    gf_buffer_release(&size);
    gf_buffer_release(&label);
}

static const gf_show_column tree_columns[] = {
    {"node", NULL, GF_COLUMN_ID},     {"parent", NULL, GF_COLUMN_ID},
    {"depth", NULL, GF_COLUMN_ID},    {"cluster", NULL, GF_COLUMN_ID},
    {"label", NULL, GF_COLUMN_TEXT},  {"size", NULL, GF_COLUMN_COUNT},
    {"clusters", NULL, GF_COLUMN_ID}, {"height", NULL, GF_COLUMN_SCORE}};
static const gf_display tree_display = {GF_COLUMNS(tree_columns),
                                        .nothing = "no clusters: the build has no documents",
                                        .show = show_node};

static const gf_display *choose(const gf_session *s)
{
    if (gf_session_argument(s, "by").len) return &trend_display;
    if (gf_session_argument(s, "tree").len) return &tree_display;
    return &gf_command_clusters.display;
}

const gf_command gf_command_clusters = {
    .name = "clusters",
    .examples = "    grouperfish clusters feedback\n"
                "    grouperfish clusters feedback --config fine --sort label\n"
                "    grouperfish clusters feedback --by week\n"
                "    grouperfish clusters feedback --tree --depth 2\n"
                "    grouperfish clusters feedback --format json\n",
    .notes =
        "With --by, z compares each cluster's share of the last quarter of the periods with its\n"
        "share of those before: rising from 2 up, falling from -2 down.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .choose = choose,
    .display = {GF_COLUMNS(columns), .nothing = "no clusters: the build has no documents"},
};
