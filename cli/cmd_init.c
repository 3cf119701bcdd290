#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    bool made = gf_row_flag(row, "made");
    fprintf(s->out, made ? "made a store at " : "there is a store already at ");
    gf_print_text(s->out, gf_row_text(row, "store"), 0);
    fputc('\n', s->out);
}

static const gf_show_column columns[] = {{"store", NULL, GF_COLUMN_TEXT},
                                         {"made", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_init = {
    .name = "init",
    .operation = "init",
    .summary = "Make a store",
    .examples = "    grouperfish init\n"
                "    grouperfish init --store /srv/feedback\n",
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .show = show,
};
