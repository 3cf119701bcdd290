#include "cli/commands/show_table.h"

/* "info:age      34", a line for each cell. */
static void show_cells(gf_session *s, gf_json_value row)
{
    gf_json_value families, cells, value;
    gf_slice family, column;
    gf_buffer name = {0}, text = {0};
    if (!gf_json_member(row, "cells", &families)) return;
    gf_json_iterator f = gf_json_items(families);
    while (gf_json_next(&f, &family, &cells)) {
        gf_json_iterator c = gf_json_items(cells);
        while (gf_json_next(&c, &column, &value)) {
            gf_buffer_reset(&name);
            gf_buffer_reset(&text);
            gf_buffer_slice(&name, family);
            gf_buffer_byte(&name, ':');
            gf_buffer_slice(&name, column);
            if (gf_json_kind_of(value) == GF_JSON_STRING)
                gf_buffer_slice(&text, gf_json_get_string(value));
            else
                gf_json_write(value, &text, NULL);
            gf_print_text(s->out, gf_buffer_view(&name), 0);
            unsigned width = gf_text_width(gf_buffer_view(&name));
            fprintf(s->out, "%*s", width < 24 ? (int)(26 - width) : 2, "");
            gf_print_text(s->out, gf_buffer_view(&text), 0);
            fputc('\n', s->out);
        }
    }
    gf_buffer_release(&name);
    gf_buffer_release(&text);
}

static const gf_positional words[] = {{.name = "TABLE", .argument = "table"},
                                      {.name = "PART", .argument = "key", .repeats = true}};
static const gf_show_column columns[] = {
    {"table", NULL, GF_COLUMN_TEXT}, {"key", NULL, GF_COLUMN_RAW}, {"cells", NULL, GF_COLUMN_RAW}};
static const gf_show_column version_columns[] = {{"column", "column", GF_COLUMN_TEXT},
                                                 {"value", "value", GF_COLUMN_RAW},
                                                 {"timestamp", "timestamp", GF_COLUMN_ID}};
static const gf_other_display others[] = {{"column", {GF_COLUMNS(version_columns)}}};

const gf_command gf_command_table_get = {
    .name = "table get",
    .examples = "    grouperfish table get users u1\n"
                "    grouperfish table get users u1 --family info\n"
                "    grouperfish table get users u1 --column info:age --versions 3\n",
    .notes = "An empty cell is shown, an absent one is not.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show_cells},
    .others = others,
    .n_others = GF_COUNT(others),
};
