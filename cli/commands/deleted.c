#include "cli/commands/deleted.h"

#include "cli/terminal/member.h"
#include "cli/terminal/text.h"

static void show_purge(gf_session *s, gf_json_value row)
{
    gf_json_value purged;
    double rebuilt = gf_member_number(row, "rebuilt"), dropped = gf_member_number(row, "dropped");
    if (!gf_json_member(row, "purged", &purged)) return;
    fputs("nothing of them is left in the store's files", s->out);
    if (rebuilt > 0) {
        fputs("; rebuilt ", s->out);
        gf_text_print_count(s->out, rebuilt, "configuration");
    }
    if (dropped > 0) {
        fputs("; dropped ", s->out);
        gf_text_print_count(s->out, dropped, "build");
    }
    fputc('\n', s->out);
}

void gf_deleted_show(gf_session *s, gf_json_value row, const char *noun)
{
    double absent = gf_member_number(row, "absent");
    gf_json_value would;
    bool only_counts = gf_json_member(row, "would_delete", &would);
    fputs(only_counts ? "would delete " : "deleted ", s->out);
    gf_text_print_count(s->out, gf_member_number(row, only_counts ? "would_delete" : "deleted"),
                        noun);
    if (absent > 0) fprintf(s->out, "; %.0f %s not there", absent, absent == 1 ? "was" : "were");
    fputc('\n', s->out);
    show_purge(s, row);
}
