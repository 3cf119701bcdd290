#include "cli/session.h"

static void show_configuration(gf_session *s, gf_json_value c)
{
    static const gf_show_column rebuilt = {"rebuilt", "", GF_COLUMN_TIME};
    gf_buffer b = {0};
    fputs("rebuilt      ", s->out);
    gf_member_write(&b, c, &rebuilt, true);
    fprintf(s->out, "%s UTC, configuration ", gf_buffer_cstr(&b));
    gf_print_text(s->out, gf_member_text(c, "configuration"), 0);
    fprintf(s->out, " (build %.0f)\n", gf_member_number(c, "build"));
    gf_buffer_release(&b);
}

static void show(gf_session *s, gf_json_value row)
{
    static const gf_show_column lines[] = {{"collection", "collection", GF_COLUMN_TEXT},
                                           {"size", "documents", GF_COLUMN_COUNT},
                                           {"modified", "modified", GF_COLUMN_TIME}};
    for (size_t i = 0; i < GF_COUNT(lines); i++)
        gf_member_show(s->out, row, &lines[i], s->output.width);
    gf_member_each(s, row, "configurations", show_configuration);
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_show_column columns[] = {{"collection", "collection", GF_COLUMN_TEXT},
                                         {"size", "documents", GF_COLUMN_COUNT},
                                         {"modified", "modified (UTC)", GF_COLUMN_TIME},
                                         {"configurations", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_collection_show = {
    .name = "collection show",
    .examples = "    grouperfish collection show feedback\n"
                "    grouperfish collection show feedback --columns\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
