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
    if (gf_member_number(row, "deleted") > 0) {
        fputs("; ", s->out);
        gf_text_print_count(s->out, gf_member_number(row, "deleted"), "old line");
        fputs(" deleted", s->out);
    }
    gf_import_end_line(s, row);
}

static const gf_positional import_words[] = {
    {.name = "LOG", .argument = "log"},
    {.name = "FILE", .optional = true, .repeats = true, .path = true}};
static const gf_display_column import_columns[] = {
    {"log", NULL, GF_COLUMN_TEXT},      {"read", NULL, GF_COLUMN_COUNT},
    {"lines", NULL, GF_COLUMN_COUNT},   {"known", NULL, GF_COLUMN_COUNT},
    {"refused", NULL, GF_COLUMN_COUNT}, {"deleted", NULL, GF_COLUMN_COUNT}};

static const gf_command import_command = {
    .name = "log import",
    .examples = "    grouperfish log import web access.log.gz\n"
                "    grouperfish log import web access.log --domain www.example.org\n"
                "    grouperfish log import web /var/log/apache2/access.log* --keep 365d\n",
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
                                                   {"value", "value", GF_COLUMN_TEXT},
                                                   {"visitors", "visitors", GF_COLUMN_COUNT}};

static const gf_command report_command = {
    .name = "log report",
    .examples = "    grouperfish log report web\n"
                "    grouperfish log report web --every hour --by url --limit 10\n"
                "    grouperfish log report web --every month --by status --format csv\n"
                "    grouperfish log report web --every week --visitors\n",
    .notes =
        "Times are UTC. The counts come from roll-ups, which are stored with the lines, and where\n"
        "these do not have them (5 minutes and hours by url, referer, ip, agent and login) from\n"
        "the lines: both give the same.\n",
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
                                                 {"referer", "referer", GF_COLUMN_TEXT},
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

/* ---- log delete ------------------------------------------------------------------------------ */

static void show_delete(gf_session *s, gf_json_value row)
{
    gf_text_print_count(s->out, gf_member_number(row, "lines"), "line");
    fputs(" before ", s->out);
    gf_text_print(s->out, gf_member_text(row, "before"), 0);
    fputs(gf_member_flag(row, "dry_run") ? " would go from " : " deleted from ", s->out);
    gf_text_print(s->out, gf_member_text(row, "log"), 0);
    if (gf_member_number(row, "counts") > 0) {
        fputs("; and ", s->out);
        gf_text_print_count(s->out, gf_member_number(row, "counts"), "count");
    }
    fputc('\n', s->out);
}

static const gf_display_column delete_columns[] = {{"log", NULL, GF_COLUMN_TEXT},
                                                   {"before", NULL, GF_COLUMN_TIME},
                                                   {"lines", NULL, GF_COLUMN_COUNT},
                                                   {"counts", NULL, GF_COLUMN_COUNT},
                                                   {"dry_run", NULL, GF_COLUMN_TEXT}};

static const gf_command delete_command = {
    .name = "log delete",
    .examples = "    grouperfish log delete web --keep 365d --dry-run\n"
                "    grouperfish log delete web --keep 365d\n"
                "    grouperfish log delete web --before 2015-05-01 --counts impersonal --purge\n",
    .notes =
        "Lines of whole days, UTC, go with what they are found by, and their counts stay in the\n"
        "reports. They are not added again when their file is imported. --purge writes the\n"
        "store's files anew, without them.\n",
    GF_WORDS(log_word),
    .display = {GF_COLUMNS(delete_columns), .single = true, .show = show_delete},
};

/* ---- log rollup ------------------------------------------------------------------------------ */

static void show_rollup(gf_session *s, gf_json_value row)
{
    gf_text_print_count(s->out, gf_member_number(row, "lines"), "line");
    fputs(" of ", s->out);
    gf_text_print(s->out, gf_member_text(row, "log"), 0);
    fputs(" rolled up\n", s->out);
}

static const gf_display_column rollup_columns[] = {{"log", NULL, GF_COLUMN_TEXT},
                                                   {"lines", NULL, GF_COLUMN_COUNT},
                                                   {"deleted_before", NULL, GF_COLUMN_TIME}};

static const gf_command rollup_command = {
    .name = "log rollup",
    .examples = "    grouperfish log rollup web\n",
    .notes =
        "log import keeps the roll-ups; this makes them of the lines that are there, after other\n"
        "commands have changed the log's tables. Counts of days whose lines log delete deleted\n"
        "stay as they are.\n",
    GF_WORDS(log_word),
    .display = {GF_COLUMNS(rollup_columns), .single = true, .show = show_rollup},
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_logs = {
    "Access logs",
    GF_LIST(&import_command, &report_command, &find_command, &delete_command, &rollup_command)};
