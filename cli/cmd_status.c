#include "cli/session.h"

static void show(gf_session *s, gf_json_value row)
{
    static const char *const keys[] = {"collections", "documents", "builds", "unfinished"};
    gf_buffer n = {0};
    fputs("store        ", s->out);
    gf_print_text(s->out, gf_row_text(row, "store"), 0);
    fputc('\n', s->out);
    for (size_t i = 0; i < GF_COUNT(keys); i++) {
        gf_buffer_reset(&n);
        gf_buffer_count(&n, (uint64_t)gf_row_number(row, keys[i]));
        fprintf(s->out, "%-11s  %s\n", keys[i], gf_buffer_cstr(&n));
    }
    fprintf(s->out, "%-11s  %.1f MB\n", "size", gf_row_number(row, "bytes") / 1e6);
    gf_buffer_release(&n);
}

static const gf_show_column columns[] = {
    {"store", NULL, GF_COLUMN_TEXT},       {"collections", NULL, GF_COLUMN_COUNT},
    {"documents", NULL, GF_COLUMN_COUNT},  {"builds", NULL, GF_COLUMN_COUNT},
    {"unfinished", NULL, GF_COLUMN_COUNT}, {"bytes", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_status = {
    .name = "status",
    .operation = "status",
    .summary = "Show what the store holds",
    .examples = "    grouperfish status\n",
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .show = show,
};
