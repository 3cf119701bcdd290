/* Commands on rules that make alerts, and on the alerts. */
#include "cli/commands/clusterings.h"
#include "cli/session.h"
#include "cli/terminal/member.h"
#include "cli/terminal/text.h"

#include <stdio.h>

static void print_watch(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "watch %.0f: ", gf_member_number(row, "watch"));
    gf_text_print(s->out, gf_member_text(row, "when"), 0);
    fputs(" -> ", s->out);
    gf_text_print(s->out, gf_member_text(row, "target"), 0);
}

static void show_added(gf_session *s, gf_json_value row)
{
    print_watch(s, row);
    fputs(gf_member_flag(row, "signed") ? ", signed\n" : "\n", s->out);
}

static void show_deleted(gf_session *s, gf_json_value row)
{
    fputs("deleted ", s->out);
    print_watch(s, row);
    fputc('\n', s->out);
}

static void show_run(gf_session *s, gf_json_value row)
{
    gf_json_value build;
    if (!gf_json_member(row, "build", &build)) {
        fputs("it is being rebuilt: nothing was looked at\n", s->out);
        return;
    }
    fprintf(s->out,
            "candidates: %.0f; alerts: %.0f new, %.0f delivered, %.0f waiting, %.0f given up\n",
            gf_member_number(row, "candidates"), gf_member_number(row, "told"),
            gf_member_number(row, "delivered"), gf_member_number(row, "waiting"),
            gf_member_number(row, "failed"));
}

static const gf_display_column watch_columns[] = {
    {"watch", "watch", GF_COLUMN_ID},    {"when", "when", GF_COLUMN_TEXT},
    {"way", "way", GF_COLUMN_WORD},      {"target", "target", GF_COLUMN_TEXT},
    {"signed", "signed", GF_COLUMN_RAW}, {"since", "since (UTC)", GF_COLUMN_TIME},
    {"away", NULL, GF_COLUMN_RAW}};

static const gf_display_column alert_columns[] = {{"alert", "alert", GF_COLUMN_ID},
                                                  {"time", "time (UTC)", GF_COLUMN_TIME},
                                                  {"watch", "watch", GF_COLUMN_ID},
                                                  {"kind", "kind", GF_COLUMN_WORD},
                                                  {"cluster", "cluster", GF_COLUMN_ID},
                                                  {"label", "label", GF_COLUMN_TEXT},
                                                  {"size", "size", GF_COLUMN_COUNT},
                                                  {"when", NULL, GF_COLUMN_TEXT},
                                                  {"p", NULL, GF_COLUMN_RAW},
                                                  {"z", NULL, GF_COLUMN_RAW},
                                                  {"period", NULL, GF_COLUMN_TEXT},
                                                  {"terms", NULL, GF_COLUMN_RAW},
                                                  {"nearest", NULL, GF_COLUMN_ID},
                                                  {"nearest_label", NULL, GF_COLUMN_TEXT},
                                                  {"build", NULL, GF_COLUMN_ID},
                                                  {"way", "way", GF_COLUMN_WORD},
                                                  {"state", "state", GF_COLUMN_WORD},
                                                  {"tries", "tries", GF_COLUMN_COUNT},
                                                  {"tried", NULL, GF_COLUMN_TIME},
                                                  {"next", NULL, GF_COLUMN_TIME},
                                                  {"problem", "problem", GF_COLUMN_PROSE}};

static const gf_positional collection_words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_positional delete_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                             {.name = "N", .argument = "watch"}};

static const gf_command watch_add_command = {
    .name = "watch add",
    .examples = "    grouperfish watch add feedback --when 'new >= 20' --mail ~/alerts.mbox\n"
                "    grouperfish watch add feedback --when 'new >= 20 or rising z >= 4' \\\n"
                "        --post https://hooks.example/topics --secret-file ~/.hook-key\n"
                "    grouperfish watch add feedback --when 'rising z >= 3 and size >= 50' --exec "
                "'notify-send topic'\n",
    .notes =
        "A rule is of tests with and, or and parentheses: new >= N (a group of documents that\n"
        "fit nowhere), rising z >= X (a cluster), size >= N, cluster = ID. Of documents in random\n"
        "order at most 5 of 100 builds have any alert, whatever the rule says. A server looks by\n"
        "itself; without one, watch run does (from cron). --mail writes mbox to a file, which\n"
        "mail programs read; nothing is sent. docs/alerts.md has more.\n",
    GF_WORDS(collection_words),
    .display = {GF_COLUMNS(watch_columns), .single = true, .show = show_added},
};

static const gf_command watch_list_command = {
    .name = "watch list",
    .examples = "    grouperfish watch list feedback\n",
    .notes = "watch delete takes the numbers; they are never used again.\n",
    GF_WORDS(collection_words),
    .display = {GF_COLUMNS(watch_columns), .nothing = "no watches"},
};

static const gf_command watch_delete_command = {
    .name = "watch delete",
    .examples = "    grouperfish watch delete feedback 2\n",
    .notes = "Its alerts stay in the list; those that wait are not sent.\n",
    GF_WORDS(delete_words),
    .display = {GF_COLUMNS(watch_columns), .single = true, .show = show_deleted},
};

static const gf_command watch_run_command = {
    .name = "watch run",
    .examples = "    grouperfish watch run feedback\n",
    .notes =
        "Groups of new documents get the ids that new shows. Alerts that wait are all tried, but\n"
        "for those of a rule whose receiver has not answered three times.\n",
    GF_WORDS(collection_words),
    .display = {.single = true, .show = show_run},
};

static const gf_command alerts_command = {
    .name = "alerts",
    .examples = "    grouperfish alerts feedback\n"
                "    grouperfish alerts feedback --after 12 --json\n",
    .notes = "The feed: what was told, when, and whether it arrived.\n",
    GF_WORDS(collection_words),
    .display = {GF_COLUMNS(alert_columns), .nothing = "no alerts"},
};

const gf_commands gf_commands_watches = {
    "What is new", GF_LIST(&watch_add_command, &watch_list_command, &watch_delete_command,
                           &watch_run_command, &alerts_command)};
