/* Help: examples first, then what there is. */
#include "cli/session.h"

enum { NAME_WIDTH = 26 };

static const struct {
    const char *heading;
    size_t first; /* command where it begins */
} groups[] = {{"Documents and collections", 0},
              {"Configurations", 7},
              {"Clusterings", 12},
              {"The store", 18}};

void gf_help(FILE *out)
{
    fputs("Grouperfish groups documents: put collections, cluster them, read the clusters.\n\n"
          "    grouperfish put feedback feedback.jsonl     store documents (makes "
          "./grouperfish.store)\n"
          "    grouperfish rebuild feedback                cluster them\n"
          "    grouperfish clusters feedback               read the clusters\n",
          out);
    size_t group = 0;
    for (size_t i = 0; gf_command_at(i); i++) {
        if (group < GF_COUNT(groups) && groups[group].first == i)
            fprintf(out, "\n%s\n", groups[group++].heading);
        fprintf(out, "  %-*s%s\n", NAME_WIDTH, gf_command_at(i)->name, gf_command_at(i)->summary);
    }
    fputs("\nFor every command\n"
          "  --store DIR               the store (GROUPERFISH_STORE, else ./grouperfish.store)\n"
          "  --namespace NAME          whose collections (GROUPERFISH_NAMESPACE, else default)\n"
          "  --format FORMAT           table, json, jsonl, csv or plain; table on a terminal\n"
          "  --wait SECONDS            wait while another process holds the store (5)\n"
          "  --help                    as grouperfish help COMMAND\n"
          "\nExit codes\n"
          "  0 done                    4 store held by another process\n"
          "  1 asked-for thing absent  5 damage found\n"
          "  2 usage                   6 disk or I/O\n"
          "  3 some records refused    7 a rebuild failed or was cancelled\n",
          out);
}

static bool is_positional(const gf_command *c, const char *argument)
{
    for (size_t i = 0; i < c->n_positionals; i++)
        if (c->positionals[i].argument && strcmp(c->positionals[i].argument, argument) == 0)
            return true;
    return false;
}

static void print_option(FILE *out, const char *name, const char *value, const char *meaning)
{
    char text[64];
    const char *dashes = strlen(name) == 1 ? "-" : "--";
    snprintf(text, sizeof text, "%s%s%s%s", dashes, name, value ? " " : "", value ? value : "");
    fprintf(out, "  %-*s%s\n", NAME_WIDTH, text, meaning);
}

static const char *value_name(const gf_parameter *p)
{
    switch (p->kind) {
    case GF_FLAG:
        return NULL;
    case GF_NUMBER:
        return "N";
    case GF_BYTES:
        return "SIZE";
    case GF_LIST:
        return "F[,F...]";
    default:
        return "TEXT";
    }
}

void gf_help_command(const gf_command *c, FILE *out)
{
    const gf_operation *o = gf_operation_find(c->operation);
    fprintf(out, "%s.\n\n%s\nUsage: grouperfish %s", c->summary, c->examples, c->name);
    for (size_t i = 0; i < c->n_positionals; i++)
        fprintf(out, c->positionals[i].optional ? " [%s]" : " %s", c->positionals[i].name);
    fputs(" [options]\n", out);
    bool any = false;
    for (size_t i = 0; i < o->n_parameters; i++) {
        const gf_parameter *p = &o->parameters[i];
        if (is_positional(c, p->name)) continue;
        if (!any) fputc('\n', out);
        any = true;
        bool several = p->kind == GF_LIST && strcmp(p->name, "also") == 0;
        print_option(out, p->name, several ? "PATTERN" : value_name(p), p->meaning);
    }
    for (size_t i = 0; i < c->n_options; i++) {
        if (!any) fputc('\n', out);
        any = true;
        print_option(out, c->options[i].name, c->options[i].value, c->options[i].meaning);
    }
    if (c->notes) fprintf(out, "\n%s", c->notes);
    fputs("\nAlso --store, --namespace, --format, --wait: see grouperfish help.\n", out);
}
