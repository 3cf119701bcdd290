#include "cli/session.h"

#include <string.h>
#include <strings.h>

/* The first file's name tells what all are. */
static gf_status prepare(gf_session *s, gf_error *err)
{
    const char *dot = strrchr(s->words[0], '.');
    gf_status st = GF_OK;
    if (!gf_session_argument(s, "from").len && dot && strcasecmp(dot, ".csv") == 0)
        st = gf_session_add(s, "from", "csv", err);
    return st == GF_OK ? gf_files_open(s->words, s->n_words, &s->files, err) : st;
}

static void show(gf_session *s, gf_json_value row)
{
    gf_print_count(s->out, gf_member_number(row, "rows"), "row");
    fputs(", ", s->out);
    gf_print_count(s->out, gf_member_number(row, "put"), "cell");
    fputs(" put into ", s->out);
    gf_print_text(s->out, gf_member_text(row, "table"), 0);
    if (gf_member_number(row, "refused") > 0)
        fprintf(s->out, "; %.0f refused", gf_member_number(row, "refused"));
    fputc('\n', s->out);
}

static const gf_positional words[] = {{.name = "TABLE", .argument = "table"},
                                      {.name = "FILE", .repeats = true}};
static const gf_own_option options[] = {
    {"rejects", "FILE", "write refused lines there, as they were (JSON Lines)"},
    {"force", NULL, "replace that file"},
    {"progress", "auto|none|jsonl", "what standard error tells meanwhile (auto)"}};
static const gf_show_column columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                         {"read", NULL, GF_COLUMN_COUNT},
                                         {"rows", NULL, GF_COLUMN_COUNT},
                                         {"put", NULL, GF_COLUMN_COUNT},
                                         {"refused", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_table_import = {
    .name = "table import",
    .examples =
        "    grouperfish table import users users.jsonl\n"
        "    grouperfish table import users more.csv\n"
        "    grouperfish table export users | grouperfish table import users - --store other\n",
    .notes =
        "A line of JSON Lines is a row as table scan gives it; the header of a CSV file has the\n"
        "parts of the key, and cells as FAMILY:COLUMN. Cells that are not named stay as they are.\n"
        "What cannot be put is refused (exit code 3), all else is put.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .prepare = prepare,
};
