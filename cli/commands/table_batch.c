#include "cli/commands/import_files.h"

static void show(gf_session *s, gf_json_value row)
{
    gf_print_count(s->out, gf_member_number(row, "lines"), "line");
    fputs(": ", s->out);
    gf_print_count(s->out, gf_member_number(row, "put"), "cell");
    fputs(" put, ", s->out);
    gf_print_count(s->out, gf_member_number(row, "deleted"), "deletion");
    fputs(", in ", s->out);
    gf_print_count(s->out, gf_member_number(row, "tables"), "table");
    fputc('\n', s->out);
}

static const gf_show_column columns[] = {{"lines", NULL, GF_COLUMN_COUNT},
                                         {"tables", NULL, GF_COLUMN_COUNT},
                                         {"put", NULL, GF_COLUMN_COUNT},
                                         {"deleted", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_table_batch = {
    .name = "table batch",
    .examples =
        "    grouperfish table batch enrol.jsonl\n"
        "    printf '%s\\n' "
        "'{\"table\":\"students\",\"key\":[\"s1\"],\"cells\":{\"course\":{\"c9\":\"major\"}}}' \\\n"
        "        "
        "'{\"table\":\"courses\",\"key\":[\"c9\"],\"cells\":{\"student\":{\"s1\":\"major\"}}}' | "
        "\\\n"
        "        grouperfish table batch -\n",
    .notes =
        "A line puts \"cells\" into a row, or deletes: \"delete\":true the row,\n"
        "\"delete\":{\"course\":[\"c9\"]} cells, \"delete\":{\"course\":true} a family of it. All\n"
        "lines of all files are done together, or none.\n",
    .positionals = gf_import_files,
    .n_positionals = 1,
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .prepare = gf_import_prepare,
};
