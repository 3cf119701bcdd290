#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fputs(gf_member_flag(row, "made") ? "made a store at " : "there is a store already at ",
          s->out);
    gf_print_text(s->out, gf_member_text(row, "store"), 0);
    fputc('\n', s->out);
}

static const gf_show_column columns[] = {{"store", NULL, GF_COLUMN_TEXT},
                                         {"made", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_init = {
    .name = "init",
    .examples = "    grouperfish init\n"
                "    grouperfish init --store /srv/feedback\n",
    .notes = "Seldom needed: grouperfish put makes a store where there is none.\n",
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
