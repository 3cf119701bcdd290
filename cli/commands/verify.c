#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    double faults = gf_member_number(row, "faults");
    gf_print_count(s->out, gf_member_number(row, "collections"), "collection");
    fputs(", ", s->out);
    gf_print_count(s->out, gf_member_number(row, "documents"), "document");
    fputs(", ", s->out);
    gf_print_count(s->out, gf_member_number(row, "builds"), "build");
    if (gf_member_number(row, "tables") > 0) {
        fputs(", ", s->out);
        gf_print_count(s->out, gf_member_number(row, "tables"), "table");
    }
    if (gf_member_number(row, "tweets") > 0) {
        fputs(", ", s->out);
        gf_print_count(s->out, gf_member_number(row, "tweets"), "tweet");
    }
    if (gf_member_number(row, "papers") > 0) {
        fputs(", ", s->out);
        gf_print_count(s->out, gf_member_number(row, "papers"), "paper");
    }
    fputs(": ", s->out);
    if (faults > 0)
        gf_print_count(s->out, faults, "fault");
    else
        fputs("sound", s->out);
    fputc('\n', s->out);
}

static const gf_show_column columns[] = {{"collections", NULL, GF_COLUMN_COUNT},
                                         {"documents", NULL, GF_COLUMN_COUNT},
                                         {"builds", NULL, GF_COLUMN_COUNT},
                                         {"memberships", NULL, GF_COLUMN_COUNT},
                                         {"faults", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_verify = {
    .name = "verify",
    .examples = "    grouperfish verify\n"
                "    grouperfish verify --store /srv/feedback\n",
    .notes = "Reads every byte of the store's files, then checks that its tables agree with each "
             "other.\n",
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
