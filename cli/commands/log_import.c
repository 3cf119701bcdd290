#include "cli/commands/import_files.h"

static void show(gf_session *s, gf_json_value row)
{
    gf_print_count(s->out, gf_member_number(row, "lines"), "line");
    fputs(" added to ", s->out);
    gf_print_text(s->out, gf_member_text(row, "log"), 0);
    if (gf_member_number(row, "known") > 0) {
        gf_buffer n = {0};
        gf_buffer_count(&n, (uint64_t)gf_member_number(row, "known"));
        fprintf(s->out, "; %s had been imported before", gf_buffer_cstr(&n));
        gf_buffer_release(&n);
    }
    gf_import_end_line(s, row);
}

static const gf_positional words[] = {{.name = "LOG", .argument = "log"},
                                      {.name = "FILE", .repeats = true}};
static const gf_show_column columns[] = {{"log", NULL, GF_COLUMN_TEXT},
                                         {"read", NULL, GF_COLUMN_COUNT},
                                         {"lines", NULL, GF_COLUMN_COUNT},
                                         {"known", NULL, GF_COLUMN_COUNT},
                                         {"refused", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_log_import = {
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
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = gf_import_options,
    .n_options = GF_IMPORT_OPTIONS,
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .prepare = gf_import_prepare,
    .answers = true,
};
