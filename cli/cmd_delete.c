#include "cli/session.h"

static bool has_id(const gf_session *s)
{
    for (size_t i = 0; i < s->n_arguments; i++)
        if (gf_slice_equal(s->arguments[i].name, GF_SLICE("id"))) return true;
    return false;
}

static gf_status prepare(gf_session *s, gf_error *err)
{
    if (s->file && has_id(s)) return gf_fail(err, GF_EINVAL, "give either ids or --ids FILE");
    if (s->file) return gf_files_open(&s->file, 1, &s->files, err);
    if (!has_id(s)) return gf_fail(err, GF_EINVAL, "ID... or --ids FILE is missing");
    return GF_OK;
}

static void show(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "deleted %.0f", gf_row_number(row, "deleted"));
    if (gf_row_number(row, "absent") > 0)
        fprintf(s->out, ", %.0f were not there", gf_row_number(row, "absent"));
    fputc('\n', s->out);
}

static const gf_positional positionals[] = {{"COLLECTION", "collection", false},
                                            {"ID...", "id", true}};
static const gf_own_option options[] = {
    {"ids", "FILE", "ids to delete, one on each line; - reads them"}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                         {"asked", NULL, GF_COLUMN_COUNT},
                                         {"deleted", NULL, GF_COLUMN_COUNT},
                                         {"absent", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_delete = {
    .name = "delete",
    .operation = "delete",
    .summary = "Delete documents",
    .examples = "    grouperfish delete feedback 1042 1043\n"
                "    grouperfish delete feedback --ids gone.txt\n",
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
