#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "build %.0f is served\n", gf_member_number(row, "build"));
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "BUILD", .argument = "build"}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                         {"configuration", NULL, GF_COLUMN_TEXT},
                                         {"build", NULL, GF_COLUMN_ID},
                                         {"served", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_publish = {
    .name = "publish",
    .examples = "    grouperfish builds feedback\n"
                "    grouperfish publish feedback 1795181177213\n",
    .notes = "Reads go to that build at once. The next rebuild that is due publishes its own.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
