#include "cli/commands/show_table.h"

static void show(gf_session *s, gf_json_value row)
{
    fputs("deleted ", s->out);
    gf_print_count(s->out, gf_member_number(row, "deleted"), "cell");
    fputs(" of ", s->out);
    gf_print_key(s->out, row);
    fputc('\n', s->out);
}

static const gf_show_column columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                         {"key", NULL, GF_COLUMN_RAW},
                                         {"deleted", NULL, GF_COLUMN_COUNT}};
static const gf_positional words[] = {{.name = "TABLE", .argument = "table"},
                                      {.name = "PART", .argument = "key", .repeats = true}};

const gf_command gf_command_table_delete = {
    .name = "table delete",
    .examples = "    grouperfish table delete users u1\n"
                "    grouperfish table delete users u1 --column info:age --column friend:u2\n"
                "    grouperfish table delete users u1 --family friend\n",
    .notes = "Exit code 1 where none of it was there.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
