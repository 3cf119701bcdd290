#include "cli/session.h"

static gf_status prepare(gf_session *s, gf_error *err)
{
    bool field = gf_session_argument(s, "label-field").len > 0;
    if (field == (s->file != NULL))
        return gf_fail(err, GF_EINVAL, "give either --label-field F or --labels FILE");
    return s->file ? gf_files_open(&s->file, 1, &s->files, err) : GF_OK;
}

static void show_measures(gf_session *s, gf_json_value row)
{
    static const char *const keys[] = {"nmi",         "ari",          "purity",
                                       "homogeneity", "completeness", "v_measure"};
    gf_print_count(s->out, gf_member_number(row, "documents"), "document");
    fprintf(s->out, ", %.0f classes, %.0f clusters\n", gf_member_number(row, "classes"),
            gf_member_number(row, "clusters"));
    for (size_t i = 0; i < GF_COUNT(keys); i++)
        fprintf(s->out, "%-12s  %.4f\n", keys[i], gf_member_number(row, keys[i]));
    fputc('\n', s->out);
}

static const gf_show_column class_columns[] = {
    {"class", "class", GF_COLUMN_TEXT},    {"size", "documents", GF_COLUMN_COUNT},
    {"recall", "recall", GF_COLUMN_SCORE}, {"precision", "precision", GF_COLUMN_SCORE},
    {"f1", "f1", GF_COLUMN_SCORE},         {"label", "mostly in cluster", GF_COLUMN_TEXT}};
static const gf_display class_display = {GF_COLUMNS(class_columns)};

static void show(gf_session *s, gf_json_value row)
{
    show_measures(s, row);
    gf_session_table(s, &class_display, row, "per_class");
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_own_option options[] = {
    {"labels", "FILE", "classes: an id, a tab (or comma) and a class on each line"}};
static const gf_show_column columns[] = {{"documents", "documents", GF_COLUMN_COUNT},
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

const gf_command gf_command_evaluate = {
    .name = "evaluate",
    .examples = "    grouperfish evaluate news --label-field topic\n"
                "    grouperfish evaluate news --labels topics.tsv --format json\n",
    .notes = "csv and plain have a row for each class, the measures of all before it.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .single = true, .each = "per_class", .show = show},
    .prepare = prepare,
    .answers = true,
};
