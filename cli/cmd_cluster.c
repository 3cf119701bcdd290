#include "cli/session.h"

static void show_document(gf_session *s, gf_json_value d)
{
    enum { ID_SHOWN = 24, TEXT_SHOWN = 160, LEAST_TEXT = 20 };
    unsigned width = s->output.width, used = 11;
    gf_slice id = gf_member_text(d, "id");
    fprintf(s->out, "  %.3f  ", gf_member_number(d, "score"));
    gf_print_text(s->out, id, ID_SHOWN);
    used += gf_text_width(id) < ID_SHOWN ? gf_text_width(id) : ID_SHOWN;
    fputs("  ", s->out);
    unsigned room = width > used + LEAST_TEXT ? width - used : LEAST_TEXT;
    gf_print_text(s->out, gf_member_text(d, "text"), width ? room : TEXT_SHOWN);
    fputc('\n', s->out);
}

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
    fputc('\n', s->out);
    gf_buffer_release(&b);
    gf_member_each(s, row, "documents", show_document);
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "ID|label:TEXT", .argument = "cluster"}};
static const gf_show_column columns[] = {
    {"cluster", NULL, GF_COLUMN_ID},   {"label", NULL, GF_COLUMN_TEXT},
    {"id", NULL, GF_COLUMN_TEXT},      {"score", NULL, GF_COLUMN_SCORE},
    {"runner_up", NULL, GF_COLUMN_ID}, {"margin", NULL, GF_COLUMN_SCORE},
    {"text", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_cluster = {
    .name = "cluster",
    .examples = "    grouperfish cluster feedback 17\n"
                "    grouperfish cluster feedback label:crash --docs 50 --terms 30\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .each = "documents", .show = show},
};
