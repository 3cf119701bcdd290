/* The program itself: its version. */
#include "cli/session.h"

static void show_version(gf_session *s, gf_json_value row)
{
    gf_text_print(s->out, gf_member_text(row, "libraries"), 0);
    fputc('\n', s->out);
}

static const gf_show_column version_columns[] = {{"version", NULL, GF_COLUMN_TEXT},
                                                 {"libraries", NULL, GF_COLUMN_TEXT}};

static const gf_command version_command = {
    .name = "version",
    .examples = "    grouperfish version\n",
    .display = {GF_COLUMNS(version_columns), .single = true, .show = show_version},
};

const gf_commands gf_commands_program = {NULL, GF_LIST(&version_command)};
