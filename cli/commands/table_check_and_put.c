#include "cli/commands/show_table.h"

static void show(gf_session *s, gf_json_value row)
{
    gf_json_value found;
    gf_buffer text = {0};
    if (gf_member_flag(row, "done")) {
        gf_print_count(s->out, gf_member_number(row, "put"), "cell");
        fputs(" put into ", s->out);
        gf_print_key(s->out, row);
        fputc('\n', s->out);
        return;
    }
    fputs("nothing put: ", s->out);
    gf_print_text(s->out, gf_member_text(row, "column"), 0);
    if (gf_json_member(row, "found", &found)) {
        gf_json_write(found, &text, NULL);
        fputs(" is ", s->out);
        gf_print_text(s->out, gf_buffer_view(&text), 0);
    } else {
        fputs(" is not there", s->out);
    }
    fputc('\n', s->out);
    gf_buffer_release(&text);
}

static const gf_show_column columns[] = {
    {"table", NULL, GF_COLUMN_TEXT},  {"key", NULL, GF_COLUMN_RAW},
    {"done", NULL, GF_COLUMN_RAW},    {"put", NULL, GF_COLUMN_COUNT},
    {"column", NULL, GF_COLUMN_TEXT}, {"found", NULL, GF_COLUMN_RAW}};
static const gf_positional words[] = {{.name = "TABLE", .argument = "table"},
                                      {.name = "PART", .argument = "key", .repeats = true}};

const gf_command gf_command_table_check_and_put = {
    .name = "table check-and-put",
    .examples = "    grouperfish table check-and-put users u1 --if info:age=34 --set info:age=35\n"
                "    grouperfish table check-and-put locks job --if-absent main:owner --set "
                "main:owner=me\n",
    .notes = "Exit code 1 where the check fails; the row then says what is there.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
