/* Help: examples first, then what there is. */
#include "cli/session.h"

#include <string.h>

enum { NAME_WIDTH = 26, LEAST_MEANING = 24, WRITTEN_WIDTH = 100 };

/* Columns that help has: the terminal's, elsewhere those that its texts are written for. */
static unsigned help_width(FILE *out)
{
    unsigned width = gf_terminal_width(out);
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
    const char *heading;
    bool any = false;
    for (size_t i = 0; gf_command_at(i, &heading); i++) {
        const gf_command *c = gf_command_at(i, &heading);
        if (!gf_command_is_in(c, group)) continue;
        any = true;
        print_command(out, c);
    }
    if (any) fprintf(out, "\nSee: grouperfish help %s COMMAND\n", group);
    return any;
}

static const gf_own_option globals[] = {
    {"store", "DIR", "the store (GROUPERFISH_STORE, else ./grouperfish.store)"},
    {"server", "URL",
     "ask this server instead (GROUPERFISH_SERVER), such as http://127.0.0.1:61732"},
    {"token-file", "FILE", "begins with the token for it (GROUPERFISH_TOKEN_FILE)"},
    {"namespace", "NAME", "whose collections (GROUPERFISH_NAMESPACE, else default)"},
    {"format", "FORMAT", "table, json, jsonl, csv or plain (table on a terminal, else plain)"},
    {"wait", "SECONDS", "wait for a store that is held and not answered for (5)"},
    {"help", NULL, "as grouperfish help COMMAND"},
    {"", NULL, "all behind it are words, also those that begin with -"}};

void gf_help(FILE *out)
{
    const char *heading;
    fputs("Grouperfish groups documents: put collections, cluster them, read the clusters.\n\n"
          "    grouperfish put feedback feedback.jsonl     store documents (makes "
          "./grouperfish.store)\n"
          "    grouperfish rebuild feedback                cluster them\n"
          "    grouperfish clusters feedback               read the clusters\n",
          out);
    for (size_t i = 0; gf_command_at(i, &heading); i++) {
        const gf_command *c = gf_command_at(i, &heading);
        if (heading) fprintf(out, "\n%s\n", heading);
        print_command(out, c);
    }
    fputs("\nFor every command\n", out);
    for (size_t i = 0; i < GF_COUNT(globals); i++)
        print_option(out, globals[i].name, globals[i].value, globals[i].meaning);
    fputs("\nExit codes\n"
          "  0 done                    4 store held by another process\n"
          "  1 asked-for thing absent  5 damage found\n"
          "  2 usage                   6 disk or I/O\n"
          "  3 some records refused    7 a rebuild failed or was cancelled\n"
          "                            130 stopped by Ctrl-C\n",
          out);
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

/* Lines as they are written, or as the terminal has room. */
static void print_notes(FILE *out, const char *notes)
{
    unsigned width = help_width(out);
    fputc('\n', out);
    if (width < WRITTEN_WIDTH)
        gf_print_prose(out, gf_slice_str(notes), 0, width);
    else
        fputs(notes, out);
}

void gf_help_command(const gf_command *c, FILE *out)
{
    const gf_operation *o = gf_command_operation(c);
    bool any = false;
    fprintf(out, "%s.\n\n%s\n", o->meaning, c->examples);
    print_usage(out, c);
    for (size_t i = 0; i < o->n_parameters; i++) {
        const gf_parameter *p = &o->parameters[i];
        if (gf_command_has_word(c, p->name) || gf_command_has_option(c, p->name)) continue;
        if (!any) fputc('\n', out);
        any = true;
        print_option(out, p->name, p->value, p->meaning);
    }
    for (size_t i = 0; i < c->n_options; i++) {
        if (!any) fputc('\n', out);
        any = true;
        print_option(out, c->options[i].name, c->options[i].value, c->options[i].meaning);
    }
    if (c->notes) print_notes(out, c->notes);
    print_notes(out, "Also --store, --server, --token-file, --namespace, --format, --wait: see "
                     "grouperfish help.\n");
}
