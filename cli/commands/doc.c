#include "cli/session.h"

enum { TEXT_SHOWN = 600, FIELD_SHOWN = 200, TERM_SHOWN = 60 };

static void show_reason(gf_session *s, gf_json_value t)
{
    fprintf(s->out, "    %.3f  = %.3f x %.3f  ", gf_member_number(t, "part"),
            gf_member_number(t, "in_document"), gf_member_number(t, "in_cluster"));
    gf_print_text(s->out, gf_member_text(t, "term"), TERM_SHOWN);
    fputc('\n', s->out);
}

static void show_why(gf_session *s, gf_json_value m)
{
    gf_json_value why;
    if (!gf_json_member(m, "why", &why)) return;
    fputs("    part     document x cluster\n", s->out);
    gf_member_each(s, why, "terms", show_reason);
    fprintf(s->out, "    %.3f  by further terms\n    %.3f  in all\n", gf_member_number(why, "rest"),
            gf_member_number(why, "sum"));
}

/* "default: hockey (cluster 3), score 0.312; next nhl (9), margin 0.120" */
static void show_place(gf_session *s, gf_json_value m)
{
    gf_print_text(s->out, gf_member_text(m, "configuration"), 0);
    fputs(": ", s->out);
    gf_print_text(s->out, gf_member_text(m, "label"), 0);
    if (gf_member_number(m, "cluster") > 0)
        fprintf(s->out, " (cluster %.0f), score %.3f", gf_member_number(m, "cluster"),
                gf_member_number(m, "score"));
    if (gf_member_number(m, "runner_up") > 0) {
        fputs("; next ", s->out);
        gf_print_text(s->out, gf_member_text(m, "runner_up_label"), 0);
        fprintf(s->out, " (%.0f), margin %.3f", gf_member_number(m, "runner_up"),
                gf_member_number(m, "margin"));
    }
    if (gf_member_text(m, "language").len) {
        fputs("; read as ", s->out);
        gf_print_text(s->out, gf_member_text(m, "language"), 0);
    }
    if (gf_member_flag(m, "provisional")) {
        fputs("; provisional: ", s->out);
        gf_print_text(s->out, gf_member_text(m, "note"), 0);
    } else if (gf_member_text(m, "note").len) {
        fputs(gf_member_number(m, "cluster") > 0 ? "; " : "", s->out);
        gf_print_text(s->out, gf_member_text(m, "note"), 0);
    }
    fputc('\n', s->out);
    show_why(s, m);
}

static void show_field(gf_session *s, gf_slice name, gf_json_value value)
{
    gf_buffer b = {0};
    if (gf_json_kind_of(value) == GF_JSON_STRING)
        gf_buffer_slice(&b, gf_json_get_string(value));
    else
        gf_json_write(value, &b, NULL);
    gf_print_text(s->out, name, FIELD_SHOWN);
    fputs(": ", s->out);
    gf_print_text(s->out, gf_buffer_view(&b), FIELD_SHOWN);
    fputc('\n', s->out);
    gf_buffer_release(&b);
}

static void show_fields(gf_session *s, gf_json_value row)
{
    gf_json_value v, field;
    gf_slice name;
    if (gf_json_member(row, "time", &v)) show_field(s, GF_SLICE("time"), v);
    if (gf_json_member(row, "lang", &v)) show_field(s, GF_SLICE("lang"), v);
    if (!gf_json_member(row, "fields", &v)) return;
    gf_json_iterator it = gf_json_items(v);
    while (gf_json_next(&it, &name, &field))
        show_field(s, name, field);
}

static void show(gf_session *s, gf_json_value row)
{
    gf_json_value places, place;
    gf_slice name;
    gf_print_prose(s->out, gf_member_text(row, "text"), TEXT_SHOWN, s->output.width);
    fputc('\n', s->out);
    show_fields(s, row);
    gf_member_each(s, row, "memberships", show_place);
    if (!gf_json_member(row, "memberships", &places)) return;
    gf_json_iterator it = gf_json_items(places);
    if (gf_json_next(&it, &name, &place)) return;
    fputs("in no cluster yet; to cluster the collection:\n", s->out);
    gf_session_suggest(s, "rebuild", gf_member_text(row, "collection"));
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "ID", .argument = "id"}};
static const gf_show_column columns[] = {{"id", NULL, GF_COLUMN_TEXT},
                                         {"configuration", NULL, GF_COLUMN_TEXT},
                                         {"cluster", NULL, GF_COLUMN_ID},
                                         {"label", NULL, GF_COLUMN_TEXT},
                                         {"score", NULL, GF_COLUMN_SCORE},
                                         {"runner_up", NULL, GF_COLUMN_ID},
                                         {"runner_up_label", NULL, GF_COLUMN_TEXT},
                                         {"margin", NULL, GF_COLUMN_SCORE},
                                         {"provisional", NULL, GF_COLUMN_RAW},
                                         {"language", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_doc = {
    .name = "doc",
    .examples = "    grouperfish doc feedback 1042\n"
                "    grouperfish doc feedback 1042 --why\n",
    .notes =
        "--why lists the weighted terms that the document shares with its cluster, each with "
        "its part of\n"
        "the score; the parts and the rest sum to it. A document that came or was put anew after\n"
        "the build is shown where it would be: its place is provisional until a rebuild. csv and "
        "plain\n"
        "leave the terms out.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .each = "memberships", .show = show},
};
