#include "cli/session.h"

static gf_status prepare(gf_session *s, gf_error *err)
{
    bool field = false;
    for (size_t i = 0; i < s->n_arguments; i++)
        field |= gf_slice_equal(s->arguments[i].name, GF_SLICE("label-field"));
    if (field == (s->file != NULL))
        return gf_fail(err, GF_EINVAL, "give either --label-field F or --labels FILE");
    return s->file ? gf_files_open(&s->file, 1, &s->files, err) : GF_OK;
}

static void show_class(gf_session *s, gf_json_value c)
{
    gf_buffer n = {0};
    gf_buffer_count(&n, (uint64_t)gf_row_number(c, "size"));
    unsigned width = gf_text_width(gf_row_text(c, "class"));
    gf_print_text(s->out, gf_row_text(c, "class"), 28);
    fprintf(s->out, "%*s  %9s  %6.3f  %9.3f  %6.3f  ", width < 28 ? (int)(28 - width) : 0, "",
            gf_buffer_cstr(&n), gf_row_number(c, "recall"), gf_row_number(c, "precision"),
            gf_row_number(c, "f1"));
    gf_print_text(s->out, gf_row_text(c, "label"), 40);
    fputc('\n', s->out);
    gf_buffer_release(&n);
}

static void show(gf_session *s, gf_json_value row)
{
    static const char *const keys[] = {"nmi",         "ari",          "purity",
                                       "homogeneity", "completeness", "v_measure"};
    gf_json_value list, item;
    gf_slice name;
    fprintf(s->out, "%.0f documents, %.0f classes, %.0f clusters\n",
            gf_row_number(row, "documents"), gf_row_number(row, "classes"),
            gf_row_number(row, "clusters"));
    for (size_t i = 0; i < GF_COUNT(keys); i++)
        fprintf(s->out, "%-12s  %.4f\n", keys[i], gf_row_number(row, keys[i]));
    fprintf(s->out, "\n%-28s  %9s  %6s  %9s  %6s  %s\n", "class", "documents", "recall",
            "precision", "f1", "mostly in cluster");
    if (!gf_json_member(row, "per_class", &list)) return;
    gf_json_iterator it = gf_json_items(list);
    while (gf_json_next(&it, &name, &item))
        show_class(s, item);
}

static const gf_positional positionals[] = {{"COLLECTION", "collection", false}};
static const gf_own_option options[] = {
    {"labels", "FILE", "classes: an id, a tab (or comma) and a class on each line"}};
static const gf_show_column columns[] = {
    {"documents", NULL, GF_COLUMN_COUNT}, {"classes", NULL, GF_COLUMN_COUNT},
    {"clusters", NULL, GF_COLUMN_COUNT},  {"nmi", NULL, GF_COLUMN_SCORE},
    {"ari", NULL, GF_COLUMN_SCORE},       {"purity", NULL, GF_COLUMN_SCORE},
    {"v_measure", NULL, GF_COLUMN_SCORE}};

const gf_command gf_command_evaluate = {
    .name = "evaluate",
    .operation = "evaluate",
    .summary = "Compare clusters with known classes",
    .examples = "    grouperfish evaluate news --label-field topic\n"
                "    grouperfish evaluate news --labels topics.tsv --format json\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .options = options,
    .n_options = GF_COUNT(options),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .prepare = prepare,
    .show = show,
};
