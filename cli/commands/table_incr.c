#include "cli/commands/show_table.h"

static void show(gf_session *s, gf_json_value row)
{
    gf_print_text(s->out, gf_member_text(row, "column"), 0);
    fputs(" of ", s->out);
    gf_print_key(s->out, row);
    gf_json_value sum;
    gf_buffer text = {0};
    if (gf_json_member(row, "value", &sum)) gf_json_write(sum, &text, NULL);
    fprintf(s->out, " is %s\n", gf_buffer_cstr(&text));
    gf_buffer_release(&text);
}

static const gf_show_column columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                         {"key", NULL, GF_COLUMN_RAW},
                                         {"column", NULL, GF_COLUMN_TEXT},
                                         {"value", NULL, GF_COLUMN_RAW}};
static const gf_positional words[] = {{.name = "TABLE", .argument = "table"},
                                      {.name = "PART", .argument = "key", .repeats = true}};

const gf_command gf_command_table_incr = {
    .name = "table incr",
    .examples = "    grouperfish table incr frequency 201605051430 --column count:en\n"
                "    grouperfish table incr users u1 --column info:age --by -1\n",
    .notes =
        "The cell is of type int64, uint64 or decimal, or a text of digits; one that is not there\n"
        "counts as 0.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
