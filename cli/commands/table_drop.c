#include "cli/commands/show_table.h"

static void show(gf_session *s, gf_json_value row)
{
    fputs("dropped table ", s->out);
    gf_print_text(s->out, gf_member_text(row, "table"), 0);
    fputc('\n', s->out);
}

static const gf_show_column columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                         {"dropped", NULL, GF_COLUMN_RAW}};
static const gf_positional words[] = {{.name = "TABLE", .argument = "table"}};

const gf_command gf_command_table_drop = {
    .name = "table drop",
    .examples = "    grouperfish table drop users\n",
    .notes = "Its name is free at once; its rows go in chunks. What is cut short is carried on "
             "when the\n"
             "store is written to next.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
