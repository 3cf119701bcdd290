#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    gf_print_text(s->out, gf_member_text(row, "libraries"), 0);
    fputc('\n', s->out);
}

static const gf_show_column columns[] = {{"version", NULL, GF_COLUMN_TEXT},
                                         {"libraries", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_version = {
    .name = "version",
    .examples = "    grouperfish version\n",
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
