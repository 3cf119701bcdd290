#include "cli/session.h"

static void show_failure(gf_session *s, gf_json_value row)
{
    static const char *const parts[] = {"time", "collection", "configuration", "error"};
    gf_json_value failure;
    if (!gf_json_member(row, "last_failure", &failure)) return;
    fprintf(s->out, "%-11s", "last");
    for (size_t i = 0; i < GF_COUNT(parts); i++) {
        fputs("  ", s->out);
        gf_print_text(s->out, gf_member_text(failure, parts[i]), 0);
    }
    fputc('\n', s->out);
}

/* What there is nothing of is not told. */
static void show_health(gf_session *s, gf_json_value row)
{
    static const gf_show_column counts[] = {{"running", "running", GF_COLUMN_COUNT},
                                            {"changed", "changed", GF_COLUMN_COUNT},
                                            {"failed", "failed", GF_COLUMN_COUNT}};
    static const gf_show_column names[] = {{"namespace", "namespace", GF_COLUMN_TEXT},
                                           {"collection", "changed", GF_COLUMN_TEXT}};
    static const gf_display changed = {GF_COLUMNS(names)};
    for (size_t i = 0; i < GF_COUNT(counts); i++)
        if (gf_member_number(row, counts[i].key) > 0)
            gf_member_show(s->out, row, &counts[i], s->output.width);
    show_failure(s, row);
    gf_session_table(s, &changed, row, "changed_collections");
}

static void show(gf_session *s, gf_json_value row)
{
    static const gf_show_column lines[] = {{"store", "store", GF_COLUMN_TEXT},
                                           {"holder", "holder", GF_COLUMN_TEXT},
                                           {"collections", "collections", GF_COLUMN_COUNT},
                                           {"documents", "documents", GF_COLUMN_COUNT},
                                           {"builds", "builds", GF_COLUMN_COUNT},
                                           {"unfinished", "unfinished", GF_COLUMN_COUNT}};
    static const gf_show_column kept[] = {{"tweets", "tweets", GF_COLUMN_COUNT},
                                          {"papers", "papers", GF_COLUMN_COUNT}};
    for (size_t i = 0; i < GF_COUNT(lines); i++)
        if (i != 1 || gf_member_text(row, "holder").len)
            gf_member_show(s->out, row, &lines[i], s->output.width);
    for (size_t i = 0; i < GF_COUNT(kept); i++)
        if (gf_member_number(row, kept[i].key) > 0)
            gf_member_show(s->out, row, &kept[i], s->output.width);
    fprintf(s->out, "%-11s  %.1f MB\n", "size", gf_member_number(row, "bytes") / 1e6);
    show_health(s, row);
}

static const gf_show_column columns[] = {
    {"store", NULL, GF_COLUMN_TEXT},       {"collections", NULL, GF_COLUMN_COUNT},
    {"documents", NULL, GF_COLUMN_COUNT},  {"builds", NULL, GF_COLUMN_COUNT},
    {"unfinished", NULL, GF_COLUMN_COUNT}, {"bytes", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_status = {
    .name = "status",
    .examples = "    grouperfish status\n"
                "    grouperfish status --changed\n",
    .notes = "Unfinished are rebuilds and deletions that were cut off: the next rebuild clears "
             "them away.\n"
             "Changed are collections with other documents than one of their builds had; failed\n"
             "are configurations until they are rebuilt, and the last of these is named.\n",
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
