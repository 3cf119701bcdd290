#include "cli/session.h"

static gf_status prepare(gf_session *s, gf_error *err)
{
    bool ids = gf_session_argument(s, "id").len > 0;
    if (s->file && ids) return gf_fail(err, GF_EINVAL, "give either ids or --ids FILE");
    if (s->file) return gf_files_open(&s->file, 1, &s->files, err);
    return ids ? GF_OK : gf_fail(err, GF_EINVAL, "ID... or --ids FILE is missing");
}

static void show(gf_session *s, gf_json_value row)
{
    double absent = gf_member_number(row, "absent");
    fputs("deleted ", s->out);
    gf_print_count(s->out, gf_member_number(row, "deleted"), "document");
    if (absent > 0) fprintf(s->out, "; %.0f %s not there", absent, absent == 1 ? "was" : "were");
    fputc('\n', s->out);
}

static const gf_positional words[] = {
    {.name = "COLLECTION", .argument = "collection"},
    {.name = "ID", .argument = "id", .optional = true, .repeats = true}};
static const gf_own_option options[] = {
    {"ids", "FILE", "ids to delete, one on each line; - reads them"}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                         {"asked", NULL, GF_COLUMN_COUNT},
                                         {"deleted", NULL, GF_COLUMN_COUNT},
                                         {"absent", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_delete = {
    .name = "delete",
    .examples = "    grouperfish delete feedback 1042 1043\n"
                "    grouperfish delete feedback --ids gone.txt\n",
    .notes = "Exit code 1 where one of them was not there.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .prepare = prepare,
};
