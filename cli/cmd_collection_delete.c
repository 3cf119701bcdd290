#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "deleted collection ");
    gf_print_text(s->out, gf_row_text(row, "collection"), 0);
    fputc('\n', s->out);
}

static const gf_positional positionals[] = {{"COLLECTION", "collection", false}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_collection_delete = {
    .name = "collection delete",
    .operation = "collection delete",
    .summary = "Delete a collection with all that is in it",
    .examples = "    grouperfish collection delete feedback\n",
    .notes = "Documents, clusters and settings go, and nothing brings them back.\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .show = show,
};
