#include "cli/session.h"

static void show_count(gf_session *s, gf_json_value row, const char *member, const char *noun,
                       const char *what)
{
    double n = gf_member_number(row, member);
    if (n == 0) return;
    gf_print_count(s->out, n, noun);
    fprintf(s->out, " %s\n", what);
}

static void show(gf_session *s, gf_json_value row)
{
    gf_print_count(s->out, gf_member_number(row, "documents"), "document");
    fputs(" in ", s->out);
    gf_print_text(s->out, gf_member_text(row, "to"), 0);
    fputc('\n', s->out);
    show_count(s, row, "damages", "damage", "in the files of the old store");
    show_count(s, row, "rows", "row", "could not be read");
    show_count(s, row, "collections", "collection", "set right");
    show_count(s, row, "builds", "build", "dropped: grouperfish rebuild makes new ones");
}

static const gf_show_column columns[] = {
    {"to", NULL, GF_COLUMN_TEXT},           {"documents", NULL, GF_COLUMN_COUNT},
    {"damages", NULL, GF_COLUMN_COUNT},     {"rows", NULL, GF_COLUMN_COUNT},
    {"collections", NULL, GF_COLUMN_COUNT}, {"builds", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_repair = {
    .name = "repair",
    .examples = "    grouperfish repair --store damaged.store --to repaired.store\n",
    .notes = "The damaged store stays as it is. Exit code 5 where anything was lost; 0 where the "
             "store\n"
             "was sound.\n",
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
