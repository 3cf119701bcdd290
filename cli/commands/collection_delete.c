#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fputs("deleted collection ", s->out);
    gf_print_text(s->out, gf_member_text(row, "collection"), 0);
    fputc('\n', s->out);
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_collection_delete = {
    .name = "collection delete",
    .examples = "    grouperfish collection delete feedback\n"
                "    grouperfish collection delete feedback --purge\n",
    .notes = "Documents, clusters and settings go, and nothing brings them back.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .answers = true,
};
