#include "cli/commands/import_files.h"
#include "formats/reader.h"

/* The first file's name tells what all are. */
static gf_status prepare(gf_session *s, gf_error *err)
{
    bool csv = gf_format_of_name(gf_slice_str(s->words[0])) == GF_FORMAT_CSV;
    gf_status st = GF_OK;
    if (csv && !gf_session_argument(s, "from").len) st = gf_session_add(s, "from", "csv", err);
    return st == GF_OK ? gf_import_prepare(s, err) : st;
}

static void show(gf_session *s, gf_json_value row)
{
    gf_print_count(s->out, gf_member_number(row, "rows"), "row");
    fputs(", ", s->out);
    gf_print_count(s->out, gf_member_number(row, "put"), "cell");
    fputs(" put into ", s->out);
    gf_print_text(s->out, gf_member_text(row, "table"), 0);
    gf_import_end_line(s, row);
}

static const gf_positional words[] = {{.name = "TABLE", .argument = "table"},
                                      {.name = "FILE", .repeats = true}};
static const gf_show_column columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                         {"read", NULL, GF_COLUMN_COUNT},
                                         {"rows", NULL, GF_COLUMN_COUNT},
                                         {"put", NULL, GF_COLUMN_COUNT},
                                         {"refused", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_table_import = {
    .name = "table import",
    .examples =
        "    grouperfish table import users users.jsonl\n"
        "    grouperfish table import users more.csv.gz\n"
        "    grouperfish table export users | grouperfish table import copy -\n"
        "    grouperfish table export users | grouperfish table import users - --store other\n",
    .notes =
        "A line of JSON Lines is a row as table scan gives it; the header of a CSV file has the\n"
        "parts of the key, and cells as FAMILY:COLUMN. Cells that are not named stay as they are.\n"
        "gzip, zstd, xz, tar and zip are read as they are. What cannot be put is refused (exit\n"
        "code 3), all else is put.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = gf_import_options,
    .n_options = GF_IMPORT_OPTIONS,
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .prepare = prepare,
    .answers = true,
};
