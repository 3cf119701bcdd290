#include "cli/session.h"

enum { TEXT_SHOWN = 600 };

static void show_why(gf_session *s, gf_json_value why)
{
    gf_json_value terms, t;
    gf_slice name;
    if (!gf_json_member(why, "terms", &terms)) return;
    gf_json_iterator it = gf_json_items(terms);
    while (gf_json_next(&it, &name, &t)) {
        fprintf(s->out, "    %.3f  = %.3f x %.3f  ", gf_row_number(t, "part"),
                gf_row_number(t, "in_document"), gf_row_number(t, "in_cluster"));
        gf_print_text(s->out, gf_row_text(t, "term"), 60);
        fputc('\n', s->out);
    }
    fprintf(s->out, "    %.3f  by further terms\n    %.3f  in all\n", gf_row_number(why, "rest"),
            gf_row_number(why, "sum"));
}

static void show_place(gf_session *s, gf_json_value m)
{
    gf_json_value why;
    gf_slice note = gf_row_text(m, "note");
    gf_print_text(s->out, gf_row_text(m, "configuration"), 0);
    fputs(": ", s->out);
    if (gf_json_member(m, "label", &why)) {
        gf_print_text(s->out, gf_row_text(m, "label"), 0);
        if (gf_row_number(m, "cluster") > 0)
            fprintf(s->out, " (cluster %.0f), score %.3f", gf_row_number(m, "cluster"),
                    gf_row_number(m, "score"));
    }
    if (gf_row_number(m, "runner_up") > 0) {
        fputs("; next ", s->out);
        gf_print_text(s->out, gf_row_text(m, "runner_up_label"), 0);
        fprintf(s->out, " (%.0f), margin %.3f", gf_row_number(m, "runner_up"),
                gf_row_number(m, "margin"));
    }
    if (gf_row_flag(m, "replaced")) fputs("; put anew since", s->out);
    gf_print_text(s->out, note, 0);
    fputc('\n', s->out);
    if (gf_json_member(m, "why", &why)) show_why(s, why);
}

static void show_fields(gf_session *s, gf_json_value row)
{
    gf_json_value fields, v;
    gf_slice name;
    static const gf_show_column time = {"time", "time", GF_COLUMN_RAW};
    gf_buffer b = {0};
    gf_write_cell(&b, row, &time, true);
    if (b.len) fprintf(s->out, "time: %s\n", gf_buffer_cstr(&b));
    if (gf_json_member(row, "fields", &fields)) {
        gf_json_iterator it = gf_json_items(fields);
        while (gf_json_next(&it, &name, &v)) {
            gf_print_text(s->out, name, 0);
            fputs(": ", s->out);
            gf_buffer_reset(&b);
            if (gf_json_kind_of(v) == GF_JSON_STRING)
                gf_buffer_slice(&b, gf_json_get_string(v));
            else
                gf_json_write(v, &b, NULL);
            gf_print_text(s->out, gf_buffer_view(&b), 200);
            fputc('\n', s->out);
        }
    }
    gf_buffer_release(&b);
}

static void show(gf_session *s, gf_json_value row)
{
    gf_json_value list, item;
    gf_slice name;
    if (gf_json_member(row, "family", &list)) {
        fprintf(s->out, "%.*s:", GF_SLICE_ARG(gf_row_text(row, "family")));
        gf_print_text(s->out, gf_row_text(row, "column"), 0);
        fputs("  ", s->out);
        gf_print_text(s->out, gf_row_text(row, "value"), s->output.width);
        fputc('\n', s->out);
        return;
    }
    gf_print_text(s->out, gf_row_text(row, "text"), TEXT_SHOWN);
    fputs("\n\n", s->out);
    show_fields(s, row);
    if (!gf_json_member(row, "memberships", &list)) return;
    gf_json_iterator it = gf_json_items(list);
    bool any = false;
    for (; gf_json_next(&it, &name, &item); any = true)
        show_place(s, item);
    if (!any) fputs("in no cluster yet: grouperfish rebuild\n", s->out);
}

static const gf_positional positionals[] = {{"COLLECTION", "collection", false},
                                            {"ID", "id", false}};
static const gf_show_column columns[] = {{"id", NULL, GF_COLUMN_TEXT},
                                         {"text", NULL, GF_COLUMN_TEXT},
                                         {"memberships", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_doc = {
    .name = "doc",
    .operation = "doc",
    .summary = "Show a document and the clusters it is in",
    .examples = "    grouperfish doc feedback 1042\n"
                "    grouperfish doc feedback 1042 --why\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .show = show,
};
