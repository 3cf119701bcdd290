#include "cli/session.h"

static const gf_show_column document_columns[] = {{"score", "score", GF_COLUMN_SCORE},
                                                  {"id", "id", GF_COLUMN_TEXT},
                                                  {"text", "text", GF_COLUMN_TEXT}};
static const gf_display document_display = {GF_COLUMNS(document_columns)};

static void show(gf_session *s, gf_json_value row)
{
    static const gf_show_column terms = {"terms", "terms", GF_COLUMN_TERMS};
    gf_buffer b = {0};
    gf_print_text(s->out, gf_member_text(row, "label"), 0);
    fprintf(s->out, "  (cluster %.0f, ", gf_member_number(row, "cluster"));
    gf_print_count(s->out, gf_member_number(row, "size"), "document");
    fputs(")\n", s->out);
    gf_member_write(&b, row, &terms, true);
    gf_print_text(s->out, gf_buffer_view(&b), s->output.width);
    fputs("\n\n", s->out);
    gf_buffer_release(&b);
    gf_session_table(s, &document_display, row, "documents");
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "ID|label:TEXT", .argument = "cluster"}};
static const gf_show_column columns[] = {
    {"cluster", NULL, GF_COLUMN_ID},   {"label", NULL, GF_COLUMN_TEXT},
    {"id", NULL, GF_COLUMN_TEXT},      {"score", NULL, GF_COLUMN_SCORE},
    {"runner_up", NULL, GF_COLUMN_ID}, {"margin", NULL, GF_COLUMN_SCORE},
    {"text", NULL, GF_COLUMN_TEXT},    {"terms", NULL, GF_COLUMN_TERMS}};

const gf_command gf_command_cluster = {
    .name = "cluster",
    .examples = "    grouperfish cluster feedback 17\n"
                "    grouperfish cluster feedback label:crash --docs 50 --terms 30\n"
                "    grouperfish cluster feedback 17 --weakest 20\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .each = "documents", .show = show},
};
