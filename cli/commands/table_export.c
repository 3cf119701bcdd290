#include "cli/session.h"

#include <string.h>
#include <strings.h>

/* CSV has columns of the table's own: the operation writes it. */
static gf_status prepare(gf_session *s, gf_error *err)
{
    const char *dot = s->out_path ? strrchr(s->out_path, '.') : NULL;
    bool csv = s->format ? strcmp(s->format, "csv") == 0 : dot && strcasecmp(dot, ".csv") == 0;
    return csv ? gf_session_add(s, "csv", "true", err) : GF_OK;
}

static const gf_positional words[] = {
    {.name = "TABLE", .argument = "table"},
    {.name = "PART", .argument = "key", .optional = true, .repeats = true}};
static const gf_own_option options[] = {
    {"o", "FILE", "write there: by its name .csv, .json, else JSON Lines"},
    {"force", NULL, "replace that file"}};
static const gf_show_column columns[] = {{"key", "key", GF_COLUMN_RAW},
                                         {"cells", "cells", GF_COLUMN_RAW}};
static const gf_other_display others[] = {{"csv", {.page = "csv"}}};

const gf_command gf_command_table_export = {
    .name = "table export",
    .examples = "    grouperfish table export users -o users.jsonl\n"
                "    grouperfish table export users --family info -o users.csv\n",
    .notes =
        "All rows of one state of the table. JSON Lines have everything but older versions and\n"
        "timestamps; CSV has the columns that the schema declares.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .nothing = "no rows"},
    .others = others,
    .n_others = GF_COUNT(others),
    .streams_jsonl = true,
    .prepare = prepare,
    .answers = true,
};
