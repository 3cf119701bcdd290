#include "cli/commands/show_table.h"

static void show(gf_session *s, gf_json_value row)
{
    gf_print_count(s->out, gf_member_number(row, "put"), "cell");
    fputs(" put into ", s->out);
    gf_print_key(s->out, row);
    fputc('\n', s->out);
}

static const gf_show_column columns[] = {
    {"table", NULL, GF_COLUMN_TEXT}, {"key", NULL, GF_COLUMN_RAW}, {"put", NULL, GF_COLUMN_COUNT}};
static const gf_positional words[] = {{.name = "TABLE", .argument = "table"},
                                      {.name = "PART", .argument = "key", .repeats = true}};

const gf_command gf_command_table_put = {
    .name = "table put",
    .examples = "    grouperfish table put users u1 --set info:name=Ann --set info:age=34\n"
                "    grouperfish table put users u1 --set friend:u2=close\n"
                "    grouperfish table put temperatures --set main:days=3 -- -5\n",
    .notes =
        "Cells that are not named stay as they are. A column that the schema declares needs no\n"
        "family before it. All cells are put, or none. A key part that begins with - comes\n"
        "behind --.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
