/* Access logs. */
#include "cli/commands/import_files.h"

/* ---- log import ------------------------------------------------------------------------------ */

static void show_import(gf_session *s, gf_json_value row)
{
    gf_text_print_count(s->out, gf_member_number(row, "lines"), "line");
    fputs(" added to ", s->out);
    gf_text_print(s->out, gf_member_text(row, "log"), 0);
    if (gf_member_number(row, "known") > 0) {
        gf_buffer n = {0};
        gf_buffer_count(&n, (uint64_t)gf_member_number(row, "known"));
        fprintf(s->out, "; %s had been imported before", gf_buffer_cstr(&n));
        gf_buffer_release(&n);
    }
    gf_import_end_line(s, row);
}

static const gf_positional import_words[] = {
    {.name = "LOG", .argument = "log"},
    {.name = "FILE", .optional = true, .repeats = true, .path = true}};
static const gf_display_column import_columns[] = {{"log", NULL, GF_COLUMN_TEXT},
                                                   {"read", NULL, GF_COLUMN_COUNT},
                                                   {"lines", NULL, GF_COLUMN_COUNT},
                                                   {"known", NULL, GF_COLUMN_COUNT},
                                                   {"refused", NULL, GF_COLUMN_COUNT}};

static const gf_command import_command = {
    .name = "log import",
    .examples = "    grouperfish log import web access.log.gz\n"
                "    grouperfish log import web access.log --domain www.example.org\n"
                "    grouperfish log import web /var/log/apache2/access.log*\n",
    .notes =
        "Apache's formats common and combined, also with the domain and port before the address,\n"
        "or with the cookie in quotes behind the rest. Damaged lines are told with their\n"
        "numbers and refused (exit code 3), all else is added. A line counts once, however often\n"
        "its file is imported: one that has grown since, was renamed or packed, or whose import\n"
        "was cut short, goes on where it was.\n",
    GF_WORDS(import_words),
    GF_OPTIONS(gf_import_options),
    .display = {GF_COLUMNS(import_columns), .single = true, .show = show_import},
    .prepare = gf_import_prepare,
    .answers = true,
};

/* ---- log report ------------------------------------------------------------------------------ */

static const gf_positional log_word[] = {{.name = "LOG", .argument = "log"}};
static const gf_display_column report_columns[] = {{"bucket", NULL, GF_COLUMN_ID},
                                                   {"time", "time", GF_COLUMN_TIME},
                                                   {"requests", "requests", GF_COLUMN_COUNT},
                                                   {"bytes", "bytes", GF_COLUMN_COUNT},
                                                   {"value", "value", GF_COLUMN_TEXT}};

static const gf_command report_command = {
    .name = "log report",
    .examples = "    grouperfish log report web\n"
                "    grouperfish log report web --every hour --by url --limit 10\n"
                "    grouperfish log report web --every month --by status --format csv\n",
    .notes = "Times are UTC. The counts come from the lines each time, and nothing is stored.\n",
    GF_WORDS(log_word),
    .display = {GF_COLUMNS(report_columns), .nothing = "no lines"},
    .streams_jsonl = true,
};

/* ---- log find -------------------------------------------------------------------------------- */

static const gf_display_column find_columns[] = {{"time", "time", GF_COLUMN_TIME},
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

static const gf_command find_command = {
    .name = "log find",
    .examples = "    grouperfish log find web --ip 83.149.9.216 --newest --limit 10\n"
                "    grouperfish log find web --login frank --from 2015-05-17\n",
    .notes = "One of --ip, --cookie and --login; the lines come by their time.\n",
    GF_WORDS(log_word),
    .display = {GF_COLUMNS(find_columns), .nothing = "no lines"},
    .streams_jsonl = true,
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_logs = {"Access logs",
                                      GF_LIST(&import_command, &report_command, &find_command)};
