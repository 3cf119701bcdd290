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

/* "   12,345      hockey  [17]": two columns to the right for each step down. */
static void show_node(gf_session *s, gf_json_value row)
{
    enum { SIZE = 10, DEEPEST = 1000 };
    gf_buffer size = {0}, label = {0};
    double cluster = gf_member_number(row, "cluster"), clusters = gf_member_number(row, "clusters");
    double depth = gf_member_number(row, "depth");
    int indent = 2 * (depth > 0 && depth < DEEPEST ? (int)depth : 0);
    gf_slice text = gf_member_text(row, "label");
    gf_buffer_count(&size, (uint64_t)gf_member_number(row, "size"));
    gf_text_fold(&label, text.len ? text : GF_SLICE("all"));
    fprintf(s->out, "%*s  %*s%s", SIZE, gf_buffer_cstr(&size), indent, "", gf_buffer_cstr(&label));
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
static const gf_other_display others[] = {
    {"pending", {GF_COLUMNS(pending_columns), .nothing = "every document is in the build"}},
    {"by", {GF_COLUMNS(trend_columns), .nothing = "no clusters: the build has no documents"}},
    {"tree",
     {GF_COLUMNS(tree_columns), .nothing = "no clusters: the build has no documents",
      .show = show_node}}};

const gf_command gf_command_clusters = {
    .name = "clusters",
    .examples = "    grouperfish clusters feedback\n"
                "    grouperfish clusters feedback --config fine --sort label\n"
                "    grouperfish clusters feedback --min-score 0.2\n"
                "    grouperfish clusters feedback --pending\n"
                "    grouperfish clusters feedback --by week\n"
                "    grouperfish clusters feedback --tree --depth 2\n"
                "    grouperfish clusters feedback --format json\n"
                "    grouperfish clusters 'feedback-*'\n",
    .notes =
        "--min-score leaves out of the sizes what fits its cluster badly. --pending lists the\n"
        "documents that came or were put anew after the build, in the order of the puts, each\n"
        "with the cluster where it would be; they count in none until a rebuild. With --by,\n"
        "z compares each cluster's share of the last quarter of the periods with its share of "
        "those\n"
        "before: rising from 2 up, falling from -2 down.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .nothing = "no clusters: the build has no documents"},
    .others = others,
    .n_others = GF_COUNT(others),
};
