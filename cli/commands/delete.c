#include "cli/session.h"

static gf_status prepare(gf_session *s, gf_error *err)
{
    bool ids = gf_session_argument(s, "id").len > 0;
    bool chooses =
        gf_session_argument(s, "before").len > 0 || gf_session_argument(s, "where").len > 0;
    if (s->file && ids) return gf_fail(err, GF_EINVAL, "give either ids or --ids FILE");
    if (s->file) return gf_files_open(&s->file, 1, &s->files, err);
    if (ids || chooses || gf_session_argument(s, "purge").len) return GF_OK;
    return gf_fail(err, GF_EINVAL, "ID..., --ids FILE, --before or --where is missing");
}

static void show_purge(gf_session *s, gf_json_value row)
{
    gf_json_value purged;
    double rebuilt = gf_member_number(row, "rebuilt"), dropped = gf_member_number(row, "dropped");
    if (!gf_json_member(row, "purged", &purged)) return;
    fputs("nothing of them is left in the store's files", s->out);
    if (rebuilt > 0) {
        fputs("; rebuilt ", s->out);
        gf_print_count(s->out, rebuilt, "configuration");
    }
    if (dropped > 0) {
        fputs("; dropped ", s->out);
        gf_print_count(s->out, dropped, "build");
    }
    fputc('\n', s->out);
}

static void show(gf_session *s, gf_json_value row)
{
    double absent = gf_member_number(row, "absent");
    gf_json_value would;
    bool only_counts = gf_json_member(row, "would_delete", &would);
    fputs(only_counts ? "would delete " : "deleted ", s->out);
    gf_print_count(s->out, gf_member_number(row, only_counts ? "would_delete" : "deleted"),
                   "document");
    if (absent > 0) fprintf(s->out, "; %.0f %s not there", absent, absent == 1 ? "was" : "were");
    fputc('\n', s->out);
    show_purge(s, row);
}

static const gf_positional words[] = {
    {.name = "COLLECTION", .argument = "collection"},
    {.name = "ID", .argument = "id", .optional = true, .repeats = true}};
static const gf_own_option options[] = {
    {"ids", "FILE", "ids to delete, one on each line; - reads them"}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                         {"asked", NULL, GF_COLUMN_COUNT},
                                         {"deleted", NULL, GF_COLUMN_COUNT},
                                         {"absent", NULL, GF_COLUMN_COUNT},
                                         {"would_delete", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_delete = {
    .name = "delete",
    .examples = "    grouperfish delete feedback 1042 1043\n"
                "    grouperfish delete feedback --ids gone.txt\n"
                "    grouperfish delete feedback --before 2025-01-01 --where type=spam --dry-run\n"
                "    grouperfish delete feedback --before 90d --purge\n",
    .notes = "Exit code 1 where one of them was not there. All of --before and --where must hold.\n"
             "--purge also rebuilds what had them and writes the store's files anew, so that "
             "nothing of\n"
             "them is left; without any ids it does so for what was deleted before.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .prepare = prepare,
    .answers = true,
};
