#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fputs("made collection ", s->out);
    gf_print_text(s->out, gf_member_text(row, "collection"), 0);
    fputc('\n', s->out);
}

static const gf_positional words[] = {{.name = "NAME", .argument = "collection"}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_collection_create = {
    .name = "collection create",
    .examples = "    grouperfish collection create feedback\n",
    .notes =
        "grouperfish put makes collections by itself: this is for settings before the first put.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
