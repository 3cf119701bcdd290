#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fputs("restored ", s->out);
    gf_print_count(s->out, gf_member_number(row, "collections"), "collection");
    fputs(", ", s->out);
    gf_print_count(s->out, gf_member_number(row, "documents"), "document");
    fputs(", ", s->out);
    gf_print_count(s->out, gf_member_number(row, "builds"), "build");
    fputs(" to ", s->out);
    gf_print_text(s->out, gf_member_text(row, "to"), 0);
    fputc('\n', s->out);
}

static const gf_positional words[] = {{.name = "DIR", .argument = "from"}};
static const gf_show_column columns[] = {{"to", NULL, GF_COLUMN_TEXT},
                                         {"collections", NULL, GF_COLUMN_COUNT},
                                         {"documents", NULL, GF_COLUMN_COUNT},
                                         {"builds", NULL, GF_COLUMN_COUNT},
                                         {"bytes", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_restore = {
    .name = "restore",
    .examples = "    grouperfish restore /srv/backups/2026-11-20 --to grouperfish.store\n",
    .notes = "The backup is checked as grouperfish verify does; where it is damaged (exit code 5)\n"
             "nothing is made of it.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
