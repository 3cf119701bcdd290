#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fputs("copied ", s->out);
    gf_print_count(s->out, gf_member_number(row, "collections"), "collection");
    fputs(", ", s->out);
    gf_print_count(s->out, gf_member_number(row, "documents"), "document");
    fputs(", ", s->out);
    gf_print_count(s->out, gf_member_number(row, "builds"), "build");
    fputs(" to ", s->out);
    gf_print_text(s->out, gf_member_text(row, "to"), 0);
    fputc('\n', s->out);
}

static const gf_positional words[] = {{.name = "DIR", .argument = "to"}};
static const gf_show_column columns[] = {{"to", NULL, GF_COLUMN_TEXT},
                                         {"collections", NULL, GF_COLUMN_COUNT},
                                         {"documents", NULL, GF_COLUMN_COUNT},
                                         {"builds", NULL, GF_COLUMN_COUNT},
                                         {"bytes", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_backup = {
    .name = "backup",
    .examples = "    grouperfish backup /srv/backups/2026-11-20\n",
    .notes =
        "The copy is a store, which --store reads. It appears whole or not at all, and never in\n"
        "the place of anything.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .answers = true,
};
