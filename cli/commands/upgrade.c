#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "the store has format %.0f, the newest: there is nothing to upgrade\n",
            gf_member_number(row, "format"));
}

static const gf_show_column columns[] = {{"store", NULL, GF_COLUMN_TEXT},
                                         {"format", NULL, GF_COLUMN_COUNT},
                                         {"upgraded", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_upgrade = {
    .name = "upgrade",
    .examples = "    grouperfish upgrade\n",
    .notes = "So far there is one format. A store of a newer one is refused by every command: a\n"
             "newer program reads it.\n",
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
