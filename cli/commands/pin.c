/* pin and unpin: which builds are kept however many come after them. */
#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "build %.0f is pinned%s\n", gf_member_number(row, "build"),
            gf_member_flag(row, "pinned") ? ": it is kept until it is unpinned" : " no more");
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "BUILD", .argument = "build"}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                         {"configuration", NULL, GF_COLUMN_TEXT},
                                         {"build", NULL, GF_COLUMN_ID},
                                         {"pinned", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_pin = {
    .name = "pin",
    .examples = "    grouperfish pin feedback 1795181177213\n",
    .notes = "A pinned build is never dropped, however many come after it.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};

const gf_command gf_command_unpin = {
    .name = "unpin",
    .examples = "    grouperfish unpin feedback 1795181177213\n",
    .notes = "The next rebuild drops it, if it is not one of those that are kept.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
