#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fputs("deleted configuration ", s->out);
    gf_print_text(s->out, gf_row_text(row, "configuration"), 0);
    fputs(" of ", s->out);
    gf_print_text(s->out, gf_row_text(row, "collection"), 0);
    fputc('\n', s->out);
}

static const gf_positional positionals[] = {{"COLLECTION", "collection", false},
                                            {"NAME", "config", false}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                         {"configuration", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_config_delete = {
    .name = "config delete",
    .operation = "config delete",
    .summary = "Delete a configuration with its builds",
    .examples = "    grouperfish config delete feedback fine\n",
    .notes = "The configuration default is always there: its settings and builds go.\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .show = show,
};
