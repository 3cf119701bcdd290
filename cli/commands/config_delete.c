#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fputs("deleted configuration ", s->out);
    gf_print_text(s->out, gf_member_text(row, "configuration"), 0);
    gf_print_owner(s->out, row);
    fputc('\n', s->out);
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "NAME", .argument = "config"}};
static const gf_show_column columns[] = {{"collection", "collection", GF_COLUMN_TEXT},
                                         {"configuration", "configuration", GF_COLUMN_TEXT},
                                         {"namespace", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_config_delete = {
    .name = "config delete",
    .examples = "    grouperfish config delete feedback fine\n",
    .notes = "The configuration default is always there: its settings and builds go.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
