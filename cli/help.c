/* Help: examples first, then words and options. */
#include "cli/session.h"

#include <string.h>

enum { NAME_WIDTH = 26, LEAST_MEANING = 24, WRITTEN_WIDTH = 100 };

/* The terminal's width; elsewhere the one that the texts are written for. */
static unsigned help_width(FILE *out)
{
    unsigned width = gf_text_terminal_width(out);
    return width ? width : WRITTEN_WIDTH;
}

static void print_option(FILE *out, const char *name, const char *value, const char *meaning)
{
    const char *dashes = strlen(name) == 1 ? "-" : "--", *between = value ? " " : "";
    int n = fprintf(out, "  %s%s%s%s", dashes, name, between, value ? value : "");
    unsigned width = help_width(out), left = NAME_WIDTH + 2;
    width = width > left + LEAST_MEANING ? width - left : LEAST_MEANING;
    if (n > NAME_WIDTH) {
        fputc('\n', out);
        n = 0;
    }
    for (gf_slice rest = gf_slice_str(meaning); rest.len; n = 0) {
        gf_slice line = gf_text_take_line(&rest, width);
        fprintf(out, "%*s%.*s\n", (int)left - n, "", GF_SLICE_ARG(line));
    }
}

static void print_command(FILE *out, const gf_command *c)
{
    fprintf(out, "  %-*s%s\n", NAME_WIDTH, c->name, gf_command_operation(c)->meaning);
}

bool gf_help_group(const char *group, FILE *out)
{
    gf_command_cursor cursor = {0, 0};
    const gf_command *c;
    const char *heading;
    bool any = false;
    while ((c = gf_command_next(&cursor, &heading))) {
        if (!gf_command_is_in(c, group)) continue;
        any = true;
        print_command(out, c);
    }
    if (any) fprintf(out, "\nSee: grouperfish help %s COMMAND\n", group);
    return any;
}

const char gf_help_summary[] =
    "Grouperfish groups documents: put collections, cluster them, read the clusters.";

const char gf_help_first_commands[] =
    "    grouperfish put feedback feedback.jsonl     store documents (makes "
    "./grouperfish.store)\n"
    "    grouperfish rebuild feedback                cluster them\n"
    "    grouperfish clusters feedback               read the clusters\n";

const char gf_help_dashes[] = "all behind it are words, also those that begin with -";

const gf_help_code gf_help_codes[] = {{GF_EXIT_DONE, "done"},
                                      {GF_EXIT_ABSENT, "asked-for thing absent"},
                                      {GF_EXIT_USAGE, "usage"},
                                      {GF_EXIT_REFUSED, "some records refused"},
                                      {GF_EXIT_HELD, "store held by another process"},
                                      {GF_EXIT_DAMAGE, "damage found"},
                                      {GF_EXIT_DISK, "disk or I/O"},
                                      {GF_EXIT_REBUILD, "a rebuild failed or was cancelled"},
                                      {GF_EXIT_STOPPED, "stopped by Ctrl-C (143: by SIGTERM)"},
                                      {0, NULL}};

/* In two columns: the second begins with the fifth code, and the last is below it. */
static void print_codes(FILE *out)
{
    enum { ROWS = 4, LAST = 2 * ROWS, LEFT = 22 };
    const gf_help_code *c = gf_help_codes;
    fputs("\nExit codes\n", out);
    for (size_t i = 0; i < ROWS; i++)
        fprintf(out, "  %d %-*s  %d %s\n", c[i].code, LEFT, c[i].meaning, c[i + ROWS].code,
                c[i + ROWS].meaning);
    fprintf(out, "    %-*s  %d %s\n", LEFT, "", c[LAST].code, c[LAST].meaning);
}

void gf_help(FILE *out)
{
    gf_command_cursor cursor = {0, 0};
    const gf_command *c;
    const char *heading;
    fprintf(out, "%s\n\n%s", gf_help_summary, gf_help_first_commands);
    while ((c = gf_command_next(&cursor, &heading))) {
        if (heading) fprintf(out, "\n%s\n", heading);
        print_command(out, c);
    }
    fputs("\nFor every command\n", out);
    for (size_t i = 0; i < GF_COMMAND_GLOBAL_OPTIONS; i++)
        print_option(out, gf_command_global_options[i].name, gf_command_global_options[i].value,
                     gf_command_global_options[i].meaning);
    print_option(out, "", NULL, gf_help_dashes);
    print_codes(out);
}

static void print_usage(FILE *out, const gf_command *c)
{
    const gf_operation *o = gf_command_operation(c);
    fprintf(out, "Usage: grouperfish %s", c->name);
    for (size_t i = 0; i < c->n_positionals; i++) {
        const gf_positional *p = &c->positionals[i];
        fprintf(out, p->optional ? " [%s%s]" : " %s%s", p->name, p->repeats ? "..." : "");
    }
    for (size_t i = 0; i < o->n_parameters; i++) {
        const gf_parameter *p = &o->parameters[i];
        if (p->required && !gf_command_has_word(c, p->name))
            fprintf(out, " --%s %s", p->name, p->value);
    }
    fputs(" [options]\n", out);
}

/* The lines as they are, or folded to a narrow terminal. */
static void print_notes(FILE *out, const char *notes)
{
    unsigned width = help_width(out);
    fputc('\n', out);
    if (width < WRITTEN_WIDTH)
        gf_text_print_prose(out, gf_slice_str(notes), 0, width);
    else
        fputs(notes, out);
}

void gf_help_command(const gf_command *c, FILE *out)
{
    const gf_operation *o = gf_command_operation(c);
    gf_option option;
    fprintf(out, "%s.\n\n%s\n", o->meaning, c->examples);
    print_usage(out, c);
    if (gf_command_option(c, GF_COMMAND_GLOBAL_OPTIONS, &option)) fputc('\n', out);
    /* The operation's options come before the command's own. */
    for (size_t i = GF_COMMAND_GLOBAL_OPTIONS + c->n_options; gf_command_option(c, i, &option); i++)
        print_option(out, option.name, option.value, option.meaning);
    for (size_t i = 0; i < c->n_options; i++)
        print_option(out, c->options[i].name, c->options[i].value, c->options[i].meaning);
    if (c->notes) print_notes(out, c->notes);
    print_notes(out, "Also --store, --server, --token-file, --namespace, --format, --wait: see "
                     "grouperfish help.\n");
}
