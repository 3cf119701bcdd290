/* Pages of the reference in Markdown, one a command: how it is called, and by which other ways. */
#include "cli/generate/generate.h"

#include "cli/session.h"

#include <ctype.h>
#include <string.h>

/* Characters that Markdown or HTML would read are written as entities. */
static void put_text(FILE *out, gf_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c && strchr("\\`*_{}[]<>|&#~$", c))
            fprintf(out, "&#%d;", c);
        else
            fputc(c, out);
    }
}

static void put_str(FILE *out, const char *text)
{
    put_text(out, gf_slice_str(text));
}

static void put_lines(FILE *out, const char *lines)
{
    enum { INDENT = 4 };
    fputs("```text\n", out);
    while (*lines) {
        size_t n = strcspn(lines, "\n"), skip = strspn(lines, " ");
        if (skip > INDENT) skip = INDENT;
        fprintf(out, "%.*s\n", (int)(n - skip), lines + skip);
        lines += n + (lines[n] == '\n');
    }
    fputs("```\n\n", out);
}

/* "--min-score" at the start of a word: bytes of it; 0 where there is none. */
static size_t option_at(const char *at)
{
    size_t n = 2;
    if (strncmp(at, "--", 2) != 0 || !islower((unsigned char)at[2])) return 0;
    while (islower((unsigned char)at[n]) || at[n] == '-')
        n++;
    return n;
}

/* "docs/figures.md": bytes of it; 0 where there is none. */
static size_t page_at(const char *at)
{
    static const char folder[] = "docs/", ending[] = ".md";
    size_t n = strlen(folder);
    if (strncmp(at, folder, n) != 0) return 0;
    while (islower((unsigned char)at[n]) || at[n] == '-')
        n++;
    return strncmp(at + n, ending, strlen(ending)) == 0 ? n + strlen(ending) : 0;
}

/*
 * Notes have line ends of their own; a blank line is a paragraph's end here as there. Options are
 * code, pages of the documentation are links.
 */
static void put_prose(FILE *out, const char *text)
{
    for (const char *at = text; *at;) {
        bool begins = at == text || strchr(" \n(", at[-1]);
        size_t option = begins ? option_at(at) : 0, page = begins ? page_at(at) : 0;
        if (option)
            fprintf(out, "`%.*s`", (int)option, at);
        else if (page)
            fprintf(out, "[%.*s](../%.*s)", (int)(page - 5), at + 5, (int)(page - 5), at + 5);
        else
            put_text(out, gf_slice_of(at, 1));
        at += option ? option : page ? page : 1;
    }
    fputs(strlen(text) && text[strlen(text) - 1] == '\n' ? "\n" : "\n\n", out);
}

static void put_file_name(FILE *out, const gf_command *c)
{
    fputs("grouperfish", out);
    if (c) fputc('-', out);
    for (const char *p = c ? c->name : ""; *p; p++)
        fputc(*p == ' ' ? '-' : *p, out);
    fputs(".md", out);
}

static void put_usage(FILE *out, const gf_command *c)
{
    const gf_operation *o = gf_command_operation(c);
    fprintf(out, "```text\ngrouperfish %s", c->name);
    for (size_t i = 0; i < c->n_positionals; i++) {
        const gf_positional *p = &c->positionals[i];
        fprintf(out, p->optional ? " [%s%s]" : " %s%s", p->name,
                p->repeats && !strstr(p->name, "...") ? "..." : "");
    }
    for (size_t i = 0; i < o->n_parameters; i++) {
        const gf_parameter *p = &o->parameters[i];
        if (p->required && !gf_command_has_word(c, p->name))
            fprintf(out, " --%s %s", p->name, p->value);
    }
    fputs(" [options]\n```\n\n", out);
}

static void put_option(FILE *out, const char *name, const char *value, const char *meaning)
{
    fprintf(out, "| `%s%s%s", strlen(name) == 1 ? "-" : "--", name, value ? " " : "");
    for (const char *p = value ? value : ""; *p; p++)
        fprintf(out, *p == '|' ? "\\%c" : "%c", *p);
    fputs("` | ", out);
    put_str(out, meaning);
    fputs(" |\n", out);
}

static void put_options(FILE *out, const gf_command *c)
{
    gf_option o;
    size_t first = GF_COMMAND_GLOBAL_OPTIONS + c->n_options;
    if (!gf_command_option(c, GF_COMMAND_GLOBAL_OPTIONS, &o)) return;
    fputs("## Options\n\n| Option | Meaning |\n|---|---|\n", out);
    for (size_t i = first; gf_command_option(c, i, &o); i++)
        put_option(out, o.name, o.value, o.meaning);
    for (size_t i = 0; i < c->n_options; i++)
        put_option(out, c->options[i].name, c->options[i].value, c->options[i].meaning);
    fputs("\nEvery command also takes [those of all](grouperfish.md#options).\n\n", out);
}

/* "collection list" -> "collection-list", as headings are linked to. */
static void put_joined(FILE *out, const char *name, char with)
{
    for (; *name; name++)
        fputc(*name == ' ' ? with : *name, out);
}

/* The same operation by other ways; a command of its own has none. */
static void put_other_ways(FILE *out, const gf_command *c)
{
    const gf_operation *o = gf_command_operation(c);
    bool file = o->file_only || (o->file_type && !o->file_flag);
    if (!o->method) return;
    fputs("## The operation\n\n| | |\n|---|---|\n| Arguments, rows, examples | [", out);
    put_str(out, o->name);
    fputs("](../operations.md#", out);
    put_joined(out, o->name, '-');
    fputs(") |\n", out);
    if (!o->local) fprintf(out, "| [HTTP](../http.md) | `%s /v1%s` |\n", o->method, o->path);
    if (!file) {
        fputs("| [MCP](../mcp.md) | `", out);
        put_joined(out, o->name, '_');
        fprintf(out, "`%s%s%s |\n", gf_operation_writes(o) ? ", with `--allow-writes`" : "",
                o->local ? " and `--allow-files`" : "", o->network ? " and `--allow-network`" : "");
    }
    fprintf(out, "| It changes the store | %s |\n\n", gf_operation_changes_store(o) ? "yes" : "no");
}

static void put_command_page(FILE *out, const gf_command *c)
{
    fprintf(out, "# %s\n\n", c->name);
    put_str(out, gf_command_operation(c)->meaning);
    fputs(".\n\n", out);
    put_lines(out, c->examples);
    put_usage(out, c);
    if (c->notes) put_prose(out, c->notes);
    put_options(out, c);
    put_other_ways(out, c);
}

static void put_program_page(FILE *out)
{
    gf_command_cursor cursor = {0, 0};
    const gf_command *c;
    const char *heading;
    fputs("# Commands\n\n", out);
    put_prose(out, gf_help_summary);
    put_lines(out, gf_help_first_commands);
    while ((c = gf_command_next(&cursor, &heading))) {
        if (heading) {
            fputs("\n## ", out);
            put_str(out, heading);
            fputs("\n\n| Command | |\n|---|---|\n", out);
        }
        fprintf(out, "| [%s](", c->name);
        put_file_name(out, c);
        fputs(") | ", out);
        put_str(out, gf_command_operation(c)->meaning);
        fputs(" |\n", out);
    }
    fputs("\n## Options\n\nThese are for every command.\n\n| Option | Meaning |\n|---|---|\n", out);
    for (size_t i = 0; i < GF_COMMAND_GLOBAL_OPTIONS; i++)
        put_option(out, gf_command_global_options[i].name, gf_command_global_options[i].value,
                   gf_command_global_options[i].meaning);
    fputs("\n## Exit codes\n\n| Code | Meaning |\n|---|---|\n", out);
    for (const gf_help_code *code = gf_help_codes; code->meaning; code++) {
        fprintf(out, "| %d | ", code->code);
        put_str(out, code->meaning);
        fputs(" |\n", out);
    }
}

void gf_generate_markdown(FILE *out, const gf_command *c)
{
    if (c)
        put_command_page(out, c);
    else
        put_program_page(out);
}
