#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "made collection ");
    gf_print_text(s->out, gf_row_text(row, "collection"), 0);
    fputc('\n', s->out);
}

static const gf_positional positionals[] = {{"NAME", "collection", false}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_collection_create = {
    .name = "collection create",
    .operation = "collection create",
    .summary = "Make an empty collection",
    .examples = "    grouperfish collection create feedback\n",
    .notes =
        "grouperfish put makes collections by itself: this is for settings before the first put.\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .show = show,
};
