#include "cli/session.h"

static const gf_positional words[] = {{.name = "LOG", .argument = "log"}};
static const gf_show_column columns[] = {{"bucket", NULL, GF_COLUMN_ID},
                                         {"time", "time", GF_COLUMN_TIME},
                                         {"requests", "requests", GF_COLUMN_COUNT},
                                         {"bytes", "bytes", GF_COLUMN_COUNT},
                                         {"value", "value", GF_COLUMN_TEXT}};

const gf_command gf_command_log_report = {
    .name = "log report",
    .examples = "    grouperfish log report web\n"
                "    grouperfish log report web --every hour --by url --limit 10\n"
                "    grouperfish log report web --every month --by status --format csv\n",
    .notes = "Times are UTC. The counts come from the lines each time, and nothing is stored.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .nothing = "no lines"},
    .streams_jsonl = true,
};
