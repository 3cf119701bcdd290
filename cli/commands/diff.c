/* diff: what changed from one build to another, as a table of clusters and as a list of documents. */
#include "cli/commands/clusterings.h"

#include <string.h>

static const gf_positional diff_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                           {.name = "FROM", .argument = "from", .optional = true},
                                           {.name = "TO", .argument = "to", .optional = true}};
static const gf_display_column diff_columns[] = {{"change", "change", GF_COLUMN_TEXT},
                                                 {"cluster", "id", GF_COLUMN_ID},
                                                 {"label", "label", GF_COLUMN_TEXT},
                                                 {"label_before", NULL, GF_COLUMN_TEXT},
                                                 {"size_before", "before", GF_COLUMN_COUNT},
                                                 {"size", "now", GF_COLUMN_COUNT},
                                                 {"stayed", NULL, GF_COLUMN_COUNT},
                                                 {"came", "came", GF_COLUMN_COUNT},
                                                 {"left", "left", GF_COLUMN_COUNT},
                                                 {"added", "new", GF_COLUMN_COUNT},
                                                 {"removed", "gone", GF_COLUMN_COUNT},
                                                 {"split", NULL, GF_COLUMN_RAW},
                                                 {"merged", NULL, GF_COLUMN_RAW},
                                                 {"candidate", NULL, GF_COLUMN_COUNT}};
static const gf_display_column moved_columns[] = {{"id", "id", GF_COLUMN_TEXT},
                                                  {"from", "from", GF_COLUMN_ID},
                                                  {"from_label", "label", GF_COLUMN_TEXT},
                                                  {"to", "to", GF_COLUMN_ID},
                                                  {"to_label", "label", GF_COLUMN_TEXT}};
static const gf_other_display diff_others[] = {
    {"docs", {GF_COLUMNS(moved_columns), .nothing = "no document is in another cluster"}}};

/* Labels come last, so that long ones do not move the numbers out of their columns. */
enum {
    CHANGE = 9,
    SIZE = 8,
    FLOW = 7,
    WORD = 6,
    LEAST = 16,
    LABEL = CHANGE + 2 * SIZE + 4 * FLOW + 2
};

static void print_number(FILE *out, int width, double n)
{
    gf_buffer b = {0};
    gf_buffer_count(&b, (uint64_t)n);
    fprintf(out, " %*s", width - 1, n > 0 ? gf_buffer_cstr(&b) : "-");
    gf_buffer_release(&b);
}

/* Print b and the label up to the end of the line; the line is at that column. */
static void print_label(gf_session *s, unsigned column, gf_buffer *b, gf_slice label)
{
    unsigned width = s->output.width;
    gf_text_fold(b, label);
    if (width) gf_text_cut(b, width > column + LEAST ? width - column : LEAST);
    fprintf(s->out, "%s\n", gf_buffer_cstr(b));
    gf_buffer_release(b);
}

/* "[7] hockey" */
static void print_cluster(gf_session *s, unsigned column, gf_json_value row)
{
    gf_buffer b = {0};
    gf_buffer_format(&b, "[%.0f] ", gf_member_number(row, "cluster"));
    print_label(s, column, &b, gf_member_text(row, "label"));
}

/*
 *          split       50 now in [7] hockey
 *                       40 now in [12] baseball
 */
static void print_parts(gf_session *s, gf_json_value row, const char *name, const char *relation)
{
    gf_json_value list, part;
    if (!gf_json_member(row, name, &list)) return;
    gf_json_iterator it = gf_json_items(list);
    for (bool first = true; gf_json_next(&it, NULL, &part); first = false) {
        fprintf(s->out, "%*s%-*s", CHANGE, "", WORD, first ? name : "");
        print_number(s->out, SIZE, gf_member_number(part, "documents"));
        fprintf(s->out, " %s ", relation);
        print_cluster(s, CHANGE + WORD + SIZE + 2 + (unsigned)strlen(relation), part);
    }
}

static void show_diff(gf_session *s, gf_json_value row)
{
    gf_buffer b = {0};
    static const char *const flows[] = {"came", "left", "added", "removed"};
    if (s->output.n_rows == 0)
        fprintf(s->out, "%-*s%*s%*s%*s%*s%*s%*s  %s\n", CHANGE, "change", SIZE, "before", SIZE,
                "now", FLOW, "came", FLOW, "left", FLOW, "new", FLOW, "gone", "cluster");
    fprintf(s->out, "%-*.*s", CHANGE, GF_SLICE_ARG(gf_member_text(row, "change")));
    print_number(s->out, SIZE, gf_member_number(row, "size_before"));
    print_number(s->out, SIZE, gf_member_number(row, "size"));
    for (size_t i = 0; i < GF_COUNT(flows); i++)
        print_number(s->out, FLOW, gf_member_number(row, flows[i]));
    fputs("  ", s->out);
    print_cluster(s, LABEL, row);
    if (gf_member_text(row, "label_before").len) {
        fprintf(s->out, "%*swas ", LABEL, "");
        print_label(s, LABEL + 4, &b, gf_member_text(row, "label_before"));
    }
    if (gf_member_number(row, "candidate") > 0) {
        fprintf(s->out, "%*sa candidate of ", CHANGE, "");
        gf_text_print_count(s->out, gf_member_number(row, "candidate"), "document");
        fputs(" before\n", s->out);
    }
    print_parts(s, row, "split", "now in");
    print_parts(s, row, "merged", "from");
}

const gf_command gf_diff_command = {
    .name = "diff",
    .examples = "    grouperfish diff feedback\n"
                "    grouperfish diff feedback 1795182177597\n"
                "    grouperfish diff feedback 1795182177597 1795189377597 --config fine\n"
                "    grouperfish diff feedback --docs --format csv\n"
                "    grouperfish diff --all\n",
    .notes =
        "FROM and TO are builds that are kept (grouperfish builds lists them): by default the\n"
        "one that is served, and the one before. Clusters that are gone and new ones come first,\n"
        "then those that went on, by the documents that changed their cluster; these came and\n"
        "left. New documents are in TO only; gone ones in FROM only, or deleted since. A cluster\n"
        "is split, or merged, where two or more clusters each have a quarter of its documents.\n",
    GF_WORDS(diff_words),
    .display = {GF_COLUMNS(diff_columns), .nothing = "no clusters in either build",
                .show = show_diff},
    GF_OTHERS(diff_others),
};
