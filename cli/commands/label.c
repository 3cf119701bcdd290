#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "cluster %.0f ", gf_member_number(row, "cluster"));
    fputs(gf_member_flag(row, "pinned") ? "is called " : "has its own label again", s->out);
    gf_print_text(s->out, gf_member_text(row, "label"), 0);
    fputc('\n', s->out);
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "ID", .argument = "cluster"},
                                      {.name = "TEXT", .argument = "text", .optional = true}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                         {"configuration", NULL, GF_COLUMN_TEXT},
                                         {"cluster", NULL, GF_COLUMN_ID},
                                         {"label", NULL, GF_COLUMN_TEXT},
                                         {"pinned", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_label = {
    .name = "label",
    .examples = "    grouperfish label feedback 17 'Crash on start'\n"
                "    grouperfish label feedback 17 --unpin\n",
    .notes =
        "The label holds as long as the cluster goes on, through rebuilds. No two clusters of a\n"
        "build are called the same.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
