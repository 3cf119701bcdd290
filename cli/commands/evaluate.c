/* evaluate: how well clusters meet known classes, or how they stand where there are none. */
#include "cli/commands/clusterings.h"

#include "cli/commands/import_files.h"

#include <string.h>

static gf_status prepare_evaluate(gf_session *s, gf_error *err)
{
    if (gf_session_has(s, "label-field") && s->file)
        return gf_fail(err, GF_EINVAL, "give either --label-field F or --labels FILE");
    return gf_import_prepare_option(s, err);
}

static void show_measures(gf_session *s, gf_json_value row)
{
    static const char *const keys[] = {"nmi",         "ari",          "purity",
                                       "homogeneity", "completeness", "v_measure"};
    gf_text_print_count(s->out, gf_member_number(row, "documents"), "document");
    fprintf(s->out, ", %.0f classes, %.0f clusters\n", gf_member_number(row, "classes"),
            gf_member_number(row, "clusters"));
    for (size_t i = 0; i < GF_COUNT(keys); i++)
        fprintf(s->out, "%-12s  %.4f\n", keys[i], gf_member_number(row, keys[i]));
    fputc('\n', s->out);
}

static const gf_display_column class_columns[] = {
    {"class", "class", GF_COLUMN_TEXT},    {"size", "documents", GF_COLUMN_COUNT},
    {"recall", "recall", GF_COLUMN_SCORE}, {"precision", "precision", GF_COLUMN_SCORE},
    {"f1", "f1", GF_COLUMN_SCORE},         {"label", "mostly in cluster", GF_COLUMN_TEXT}};
static const gf_display class_display = {GF_COLUMNS(class_columns)};

static void show_classes(gf_session *s, gf_json_value row)
{
    show_measures(s, row);
    gf_session_table(s, &class_display, row, "per_class");
}

/* Also of csv and plain: what is of one cluster, and the words on all. */
static const gf_display_column evaluate_columns[] = {{"cluster", "id", GF_COLUMN_ID},
                                                     {"label", "label", GF_COLUMN_TEXT},
                                                     {"size", "documents", GF_COLUMN_COUNT},
                                                     {"clarity", "word", GF_COLUMN_WORD},
                                                     {"mean_score", "score", GF_COLUMN_SCORE},
                                                     {"mean_margin", "margin", GF_COLUMN_SCORE},
                                                     {"weak", "weak", GF_COLUMN_SHARE},
                                                     {"label_recall", "finds", GF_COLUMN_SHARE},
                                                     {"label_precision", "of it", GF_COLUMN_SHARE},
                                                     {"label_f1", NULL, GF_COLUMN_SCORE},
                                                     {"npmi", "npmi", GF_COLUMN_SCORE},
                                                     {"own_terms", "own terms", GF_COLUMN_SHARE},
                                                     {"nearest", "near", GF_COLUMN_ID},
                                                     {"nearest_label", NULL, GF_COLUMN_TEXT},
                                                     {"similarity", "similar", GF_COLUMN_SCORE},
                                                     {"stability_seeds", NULL, GF_COLUMN_SCORE},
                                                     {"stability_halves", NULL, GF_COLUMN_SCORE}};
static const gf_display figures_display = {GF_COLUMNS(evaluate_columns)};
static const gf_display_column stable_columns[] = {{"cluster", "id", GF_COLUMN_ID},
                                                   {"label", "label", GF_COLUMN_TEXT},
                                                   {"size", "documents", GF_COLUMN_COUNT},
                                                   {"clarity", "word", GF_COLUMN_WORD},
                                                   {"mean_score", "score", GF_COLUMN_SCORE},
                                                   {"weak", "weak", GF_COLUMN_SHARE},
                                                   {"label_recall", "finds", GF_COLUMN_SHARE},
                                                   {"label_precision", "of it", GF_COLUMN_SHARE},
                                                   {"npmi", "npmi", GF_COLUMN_SCORE},
                                                   {"stability_seeds", "seeds", GF_COLUMN_SCORE},
                                                   {"stability_halves", "halves", GF_COLUMN_SCORE}};
static const gf_display stable_display = {GF_COLUMNS(stable_columns)};

/* "weak          12.3 %   documents that ..." */
static void show_figures(gf_session *s, gf_json_value row)
{
    static const struct {
        gf_display_column column;
        const char *meaning;
    } lines[] = {
        {{"mean_score", "score", GF_COLUMN_SCORE}, "similarity of a document to its cluster"},
        {{"mean_margin", "margin", GF_COLUMN_SCORE}, "how much less similar the next one is"},
        {{"weak", "weak", GF_COLUMN_SHARE}, "documents that fit the next nearly as well"},
        {{"label_recall", "label recall", GF_COLUMN_SHARE}, "members that the label finds"},
        {{"label_precision", "label precision", GF_COLUMN_SHARE},
         "members among what the label finds"},
        {{"npmi", "npmi", GF_COLUMN_SCORE}, "terms together: 0 as by chance, 1 always"},
        {{"diversity", "diversity", GF_COLUMN_SHARE}, "different terms among the clusters' ten"},
        {{"similarity", "similarity", GF_COLUMN_SCORE}, "of a cluster to the nearest other"},
        {{"seeds_nmi", "seeds nmi", GF_COLUMN_SCORE}, "agreement when clustered from other seeds"},
        {{"seeds_ari", "seeds ari", GF_COLUMN_SCORE}, ""},
        {{"halves_nmi", "halves nmi", GF_COLUMN_SCORE}, "agreement when half of it is clustered"},
        {{"halves_ari", "halves ari", GF_COLUMN_SCORE}, ""}};
    gf_buffer b = {0};
    gf_text_print_count(s->out, gf_member_number(row, "documents"), "document");
    fputs(" in ", s->out);
    gf_text_print_count(s->out, gf_member_number(row, "clusters"), "cluster");
    fprintf(s->out, ": %.0f clear, %.0f fair, %.0f mixed\n", gf_member_number(row, "clear"),
            gf_member_number(row, "fair"), gf_member_number(row, "mixed"));
    for (size_t i = 0; i < GF_COUNT(lines); i++) {
        gf_buffer_reset(&b);
        gf_member_write(&b, row, &lines[i].column, true);
        if (b.len)
            fprintf(s->out, "%-16s%8s%s%s\n", lines[i].column.header, gf_buffer_cstr(&b),
                    lines[i].meaning[0] ? "   " : "", lines[i].meaning);
    }
    fputc('\n', s->out);
    gf_buffer_release(&b);
}

static void show_evaluate(gf_session *s, gf_json_value row)
{
    gf_json_value member;
    show_figures(s, row);
    gf_session_table(s,
                     gf_json_member(row, "seeds_nmi", &member) ? &stable_display : &figures_display,
                     row, "per_cluster");
}

static const gf_own_option evaluate_options[] = {
    {"labels", "FILE", "classes: an id, a tab (or comma) and a class on each line", GF_OPTION_FILE},
    {"progress", "auto|none|jsonl", "what standard error tells meanwhile (auto)",
     GF_OPTION_PROGRESS}};
static const gf_display_column class_rows[] = {{"documents", "documents", GF_COLUMN_COUNT},
                                               {"classes", "classes", GF_COLUMN_COUNT},
                                               {"clusters", "clusters", GF_COLUMN_COUNT},
                                               {"nmi", "nmi", GF_COLUMN_SCORE},
                                               {"ari", "ari", GF_COLUMN_SCORE},
                                               {"purity", "purity", GF_COLUMN_SCORE},
                                               {"homogeneity", NULL, GF_COLUMN_SCORE},
                                               {"completeness", NULL, GF_COLUMN_SCORE},
                                               {"v_measure", "v", GF_COLUMN_SCORE},
                                               {"class", NULL, GF_COLUMN_TEXT},
                                               {"size", NULL, GF_COLUMN_COUNT},
                                               {"recall", NULL, GF_COLUMN_SCORE},
                                               {"precision", NULL, GF_COLUMN_SCORE},
                                               {"f1", NULL, GF_COLUMN_SCORE},
                                               {"cluster", NULL, GF_COLUMN_ID},
                                               {"label", NULL, GF_COLUMN_TEXT}};
static const gf_other_display evaluate_others[] = {
    {"label-field",
     {GF_COLUMNS(class_rows), .single = true, .each = "per_class", .show = show_classes,
      .of_file = true}}};

const gf_command gf_evaluate_command = {
    .name = "evaluate",
    .examples = "    grouperfish evaluate news\n"
                "    grouperfish evaluate news --stability\n"
                "    grouperfish evaluate news --label-field topic\n"
                "    grouperfish evaluate news --labels topics.tsv --format json\n",
    .notes =
        "Without classes: figures of the build and of each cluster, and a word on each: clear,\n"
        "fair or mixed. docs/figures.md says what they mean. --stability clusters the documents\n"
        "again, three times from other seeds and each half of them, and compares; nothing is\n"
        "changed. With classes: how well clusters agree with them. csv and plain have a row for\n"
        "each cluster, or class; before it the measures of all of them.\n",
    GF_WORDS(gf_collection_word),
    GF_OPTIONS(evaluate_options),
    .display = {GF_COLUMNS(evaluate_columns), .single = true, .each = "per_cluster",
                .show = show_evaluate},
    GF_OTHERS(evaluate_others),
    .prepare = prepare_evaluate,
    .answers = true,
};
