#include "cli/session.h"

static const gf_positional words[] = {{.name = "LOG", .argument = "log"}};
static const gf_show_column columns[] = {{"time", "time", GF_COLUMN_TIME},
                                         {"line", "line", GF_COLUMN_ID},
                                         {"ip", "ip", GF_COLUMN_TEXT},
                                         {"login_id", "login", GF_COLUMN_TEXT},
                                         {"browser_cookie", "cookie", GF_COLUMN_TEXT},
                                         {"status", "status", GF_COLUMN_ID},
                                         {"bytes", "bytes", GF_COLUMN_COUNT},
                                         {"method", "method", GF_COLUMN_TEXT},
                                         {"domain", "domain", GF_COLUMN_TEXT},
                                         {"url", "url", GF_COLUMN_TEXT},
                                         {"protocol", NULL, GF_COLUMN_TEXT},
                                         {"referrer", "referrer", GF_COLUMN_TEXT},
                                         {"agent", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_log_find = {
    .name = "log find",
    .examples = "    grouperfish log find web --ip 83.149.9.216 --newest --limit 10\n"
                "    grouperfish log find web --login frank --from 2015-05-17\n",
    .notes = "One of --ip, --cookie and --login; the lines come by their time.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .nothing = "no lines"},
    .streams_jsonl = true,
};
