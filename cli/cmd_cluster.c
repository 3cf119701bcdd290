#include "cli/session.h"

static void show_terms(gf_session *s, gf_json_value row)
{
    static const gf_show_column terms = {"terms", "terms", GF_COLUMN_TERMS};
    gf_buffer b = {0};
    gf_write_cell(&b, row, &terms, true);
    unsigned width = s->output.width;
    gf_print_text(s->out, gf_buffer_view(&b), width);
    fputs("\n", s->out);
    gf_buffer_release(&b);
}

static void show_document(gf_session *s, gf_json_value d)
{
    unsigned width = s->output.width, used = 9;
    gf_slice id = gf_row_text(d, "id");
    fprintf(s->out, "  %.3f  ", gf_row_number(d, "score"));
    gf_print_text(s->out, id, 24);
    used += gf_text_width(id) < 24 ? gf_text_width(id) : 24;
    fputs("  ", s->out);
    gf_print_text(s->out, gf_row_text(d, "text"),
                  width ? (width > used + 22 ? width - used - 2 : 20) : 160);
    fputc('\n', s->out);
}

static void show(gf_session *s, gf_json_value row)
{
    gf_json_value list, item;
    gf_slice name;
    gf_buffer n = {0};
    if (gf_json_member(row, "family", &list)) {
        fprintf(s->out, "%.*s:", GF_SLICE_ARG(gf_row_text(row, "family")));
        gf_print_text(s->out, gf_row_text(row, "column"), 0);
        fputs("  ", s->out);
        gf_print_text(s->out, gf_row_text(row, "value"), s->output.width);
        fputc('\n', s->out);
        return;
    }
    gf_print_text(s->out, gf_row_text(row, "label"), 0);
    gf_buffer_count(&n, (uint64_t)gf_row_number(row, "size"));
    fprintf(s->out, "  (cluster %.0f, %s documents)\n", gf_row_number(row, "cluster"),
            gf_buffer_cstr(&n));
    gf_buffer_release(&n);
    show_terms(s, row);
    if (!gf_json_member(row, "documents", &list)) return;
    gf_json_iterator it = gf_json_items(list);
    while (gf_json_next(&it, &name, &item))
        show_document(s, item);
}

static const gf_positional positionals[] = {{"COLLECTION", "collection", false},
                                            {"ID|label:TEXT", "cluster", false}};
static const gf_show_column columns[] = {{"cluster", NULL, GF_COLUMN_ID},
                                         {"label", NULL, GF_COLUMN_TEXT},
                                         {"size", NULL, GF_COLUMN_COUNT},
                                         {"terms", NULL, GF_COLUMN_TERMS},
                                         {"documents", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_cluster = {
    .name = "cluster",
    .operation = "cluster",
    .summary = "Show one cluster with its best documents",
    .examples = "    grouperfish cluster feedback 17\n"
                "    grouperfish cluster feedback label:crash --docs 50 --terms 30\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .show = show,
};
