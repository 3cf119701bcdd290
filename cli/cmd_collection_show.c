#include "cli/session.h"

#include "base/json_writer.h"

static void show_configuration(gf_session *s, gf_json_value c)
{
    gf_buffer line = {0};
    gf_buffer_slice(&line, gf_row_text(c, "configuration"));
    gf_buffer_str(&line, ": build ");
    gf_buffer_double(&line, gf_row_number(c, "build"));
    fputs("rebuilt     ", s->out);
    gf_print_text(s->out, gf_buffer_view(&line), 0);
    fputs(" of ", s->out);
    gf_print_text(s->out, gf_row_text(c, "rebuilt"), 0);
    fputc('\n', s->out);
    gf_buffer_release(&line);
}

static void show_column(gf_session *s, gf_json_value row)
{
    gf_print_text(s->out, gf_row_text(row, "family"), 0);
    fputc(':', s->out);
    gf_print_text(s->out, gf_row_text(row, "column"), 0);
    fputs("  ", s->out);
    gf_print_text(s->out, gf_row_text(row, "value"), s->output.width);
    fputc('\n', s->out);
}

static void show(gf_session *s, gf_json_value row)
{
    gf_json_value list, item;
    gf_slice name;
    gf_buffer n = {0};
    if (gf_json_member(row, "family", &list)) {
        show_column(s, row);
        return;
    }
    fputs("collection  ", s->out);
    gf_print_text(s->out, gf_row_text(row, "collection"), 0);
    gf_buffer_count(&n, (uint64_t)gf_row_number(row, "size"));
    fprintf(s->out, "\ndocuments   %s\nmodified    ", gf_buffer_cstr(&n));
    gf_print_text(s->out, gf_row_text(row, "modified"), 0);
    fputc('\n', s->out);
    gf_buffer_release(&n);
    if (!gf_json_member(row, "configurations", &list)) return;
    gf_json_iterator it = gf_json_items(list);
    while (gf_json_next(&it, &name, &item))
        show_configuration(s, item);
}

static const gf_positional positionals[] = {{"COLLECTION", "collection", false}};
static const gf_show_column columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                         {"size", NULL, GF_COLUMN_COUNT},
                                         {"modified", NULL, GF_COLUMN_TIME},
                                         {"configurations", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_collection_show = {
    .name = "collection show",
    .operation = "collection show",
    .summary = "Show a collection",
    .examples = "    grouperfish collection show feedback\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .show = show,
};
