#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    gf_buffer n = {0};
    gf_buffer_count(&n, (uint64_t)gf_row_number(row, "documents"));
    fprintf(s->out,
            "%.0f collections, %s documents, %.0f builds: ", gf_row_number(row, "collections"),
            gf_buffer_cstr(&n), gf_row_number(row, "builds"));
    if (gf_row_number(row, "faults") > 0)
        fprintf(s->out, "%.0f faults\n", gf_row_number(row, "faults"));
    else
        fputs("sound\n", s->out);
    gf_buffer_release(&n);
}

static const gf_show_column columns[] = {{"collections", NULL, GF_COLUMN_COUNT},
                                         {"documents", NULL, GF_COLUMN_COUNT},
                                         {"builds", NULL, GF_COLUMN_COUNT},
                                         {"memberships", NULL, GF_COLUMN_COUNT},
                                         {"faults", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_verify = {
    .name = "verify",
    .operation = "verify",
    .summary = "Check a store for damage",
    .examples = "    grouperfish verify\n"
                "    grouperfish verify --store /srv/feedback\n",
    .notes = "Reads every byte of the store's files, then checks that its tables agree with each "
             "other.\n",
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .show = show,
};
