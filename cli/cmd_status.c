#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    static const gf_show_column lines[] = {{"store", "store", GF_COLUMN_TEXT},
                                           {"collections", "collections", GF_COLUMN_COUNT},
                                           {"documents", "documents", GF_COLUMN_COUNT},
                                           {"builds", "builds", GF_COLUMN_COUNT},
                                           {"unfinished", "unfinished", GF_COLUMN_COUNT}};
    static const gf_show_column kept[] = {{"tweets", "tweets", GF_COLUMN_COUNT},
                                          {"papers", "papers", GF_COLUMN_COUNT}};
    for (size_t i = 0; i < GF_COUNT(lines); i++)
        gf_member_show(s->out, row, &lines[i], s->output.width);
    for (size_t i = 0; i < GF_COUNT(kept); i++)
        if (gf_member_number(row, kept[i].key) > 0)
            gf_member_show(s->out, row, &kept[i], s->output.width);
    fprintf(s->out, "%-11s  %.1f MB\n", "size", gf_member_number(row, "bytes") / 1e6);
}

static const gf_show_column columns[] = {
    {"store", NULL, GF_COLUMN_TEXT},       {"collections", NULL, GF_COLUMN_COUNT},
    {"documents", NULL, GF_COLUMN_COUNT},  {"builds", NULL, GF_COLUMN_COUNT},
    {"unfinished", NULL, GF_COLUMN_COUNT}, {"bytes", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_status = {
    .name = "status",
    .examples = "    grouperfish status\n",
    .notes = "Unfinished are rebuilds and deletions that were cut off: the next rebuild clears "
             "them away.\n",
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
