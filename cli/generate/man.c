/* Manual pages in roff's man macros, read by groff and mandoc. */
#include "cli/generate/generate.h"

#include "base/utf8.h"
#include "cli/session.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
} variables[] = {
    {"GROUPERFISH_STORE", "The store, where --store does not name one."},
    {"GROUPERFISH_SERVER", "The server to ask, where neither --server nor --store is given."},
    {"GROUPERFISH_TOKEN_FILE", "The file that begins with the token for the server."},
    {"GROUPERFISH_NAMESPACE", "The namespace, where --namespace does not name one."},
    {"GROUPERFISH_OPTIONS",
     "The file of options in place of /etc/grouperfish.conf; none where this is empty."},
    {"COLUMNS", "The width of tables and help on a terminal."}};

/* ---- text ------------------------------------------------------------------------------------ */

/*
 * Text as roff takes it: a hyphen is one to copy, and what roff would read as an escape, as a
 * quotation mark or as a request at the start of a line is its character.
 */
static void put_text(FILE *out, gf_slice text)
{
    if (text.len && (text.ptr[0] == '.' || text.ptr[0] == '\'')) fputs("\\&", out);
    for (size_t at = 0; at < text.len;) {
        uint32_t c = gf_utf8_next(text, &at);
        switch (c) {
        case '\\':
            fputs("\\e", out);
            break;
        case '-':
            fputs("\\-", out);
            break;
        case '\'':
            fputs("\\(aq", out);
            break;
        case '`':
            fputs("\\(ga", out);
            break;
        case '^':
            fputs("\\(ha", out);
            break;
        case '~':
            fputs("\\(ti", out);
            break;
        default:
            if (c < 0x80)
                fputc((int)c, out);
            else
                fprintf(out, "\\[u%04X]", (unsigned)c);
        }
    }
}

static void put_str(FILE *out, const char *text)
{
    put_text(out, gf_slice_str(text));
}

/* "\fBtext\fR"; the font is B or I. */
static void put_font(FILE *out, char font, const char *text)
{
    fprintf(out, "\\f%c", font);
    put_str(out, text);
    fputs("\\fR", out);
}

/* Lines of text, filled anew; a sentence begins a line, as roff wants it. */
static void put_prose(FILE *out, const char *text)
{
    enum { WIDTH = 72 };
    gf_buffer b = {0};
    gf_text_fold(&b, gf_slice_str(text));
    for (gf_slice rest = gf_buffer_view(&b); rest.len;) {
        size_t end = 0;
        while (end < rest.len && !(rest.ptr[end] == ' ' && end && rest.ptr[end - 1] == '.'))
            end++;
        for (gf_slice sentence = gf_slice_of(rest.ptr, end); sentence.len;) {
            put_text(out, gf_text_take_line(&sentence, WIDTH));
            fputc('\n', out);
        }
        rest = gf_slice_skip(rest, end < rest.len ? end + 1 : end);
    }
    gf_buffer_release(&b);
}

/* Lines as they are, without the four blanks before each. */
static void put_lines(FILE *out, const char *lines)
{
    enum { INDENT = 4 };
    fputs(".RS 4\n.nf\n", out);
    while (*lines) {
        size_t n = strcspn(lines, "\n"), skip = strspn(lines, " ");
        if (skip > INDENT) skip = INDENT;
        put_text(out, gf_slice_of(lines + skip, n - skip));
        fputc('\n', out);
        lines += n + (lines[n] == '\n');
    }
    fputs(".fi\n.RE\n", out);
}

/* "GROUPERFISH\-TABLE\-PUT" */
static void put_page_name(FILE *out, const gf_command *c, bool upper)
{
    char name[64] = "grouperfish";
    if (c) snprintf(name, sizeof name, "grouperfish-%s", c->name);
    for (char *p = name; *p; p++)
        *p = *p == ' ' ? '-' : upper ? (char)toupper((unsigned char)*p) : *p;
    put_str(out, name);
}

static void put_reference(FILE *out, const gf_command *c, const char *behind)
{
    fputs(".BR ", out);
    put_page_name(out, c, false);
    fprintf(out, " (1)%s\n", behind);
}

/* ---- sections -------------------------------------------------------------------------------- */

static void put_option(FILE *out, const char *name, const char *value, const char *meaning)
{
    char dashed[64];
    snprintf(dashed, sizeof dashed, "%s%s", strlen(name) == 1 ? "-" : "--", name);
    fputs(".TP\n", out);
    put_font(out, 'B', dashed);
    if (value) {
        fputc(' ', out);
        put_font(out, 'I', value);
    }
    fputc('\n', out);
    put_prose(out, meaning);
}

static void put_head(FILE *out, const gf_command *c, const char *meaning, const char *date)
{
    fputs(".TH ", out);
    put_page_name(out, c, true);
    fprintf(out, " 1 %s \"grouperfish %s\" \"Grouperfish\"\n.SH NAME\n", date, GF_VERSION);
    put_page_name(out, c, false);
    /* "Put documents" -> "put documents" */
    fprintf(out, " \\- %c", tolower((unsigned char)*meaning));
    put_str(out, meaning + 1);
    fputc('\n', out);
}

static void put_synopsis(FILE *out, const gf_command *c)
{
    const gf_operation *o = gf_command_operation(c);
    fputs(".SH SYNOPSIS\n\\fBgrouperfish ", out);
    put_str(out, c->name);
    fputs("\\fR", out);
    for (size_t i = 0; i < c->n_positionals; i++) {
        const gf_positional *p = &c->positionals[i];
        fputs(p->optional ? " [" : " ", out);
        put_font(out, 'I', p->name);
        fputs(p->repeats ? "..." : "", out);
        fputs(p->optional ? "]" : "", out);
    }
    for (size_t i = 0; i < o->n_parameters; i++) {
        const gf_parameter *p = &o->parameters[i];
        if (!p->required || gf_command_has_word(c, p->name)) continue;
        fputs(" \\fB\\-\\-", out);
        put_str(out, p->name);
        fputs("\\fR ", out);
        put_font(out, 'I', p->value);
    }
    fputs(" [\\fIoptions\\fR]\n", out);
}

static void put_options(FILE *out, const gf_command *c)
{
    gf_option o;
    fputs(".SH OPTIONS\n", out);
    for (size_t i = GF_COMMAND_GLOBAL_OPTIONS + c->n_options; gf_command_option(c, i, &o); i++)
        put_option(out, o.name, o.value, o.meaning);
    for (size_t i = 0; i < c->n_options; i++)
        put_option(out, c->options[i].name, c->options[i].value, c->options[i].meaning);
    if (gf_command_option(c, GF_COMMAND_GLOBAL_OPTIONS, &o)) fputs(".PP\n", out);
    fputs("Every command also takes\n", out);
    for (size_t i = 0; i < GF_COMMAND_GLOBAL_OPTIONS; i++) {
        bool last = i + 1 == GF_COMMAND_GLOBAL_OPTIONS;
        fprintf(out, "%s.BR \\-\\-", last ? "and\n" : "");
        put_str(out, gf_command_global_options[i].name);
        fputs(last ? " ;\n" : " ,\n", out);
    }
    fputs("see\n", out);
    put_reference(out, NULL, ".");
}

static void put_environment(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
    for (const gf_help_code *c = gf_help_codes; c->meaning; c++)
        fprintf(out, ".TP\n.B %d\n%s\n", c->code, c->meaning);
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < GF_COUNT(variables); i++) {
        fprintf(out, ".TP\n.B %s\n", variables[i].name);
        put_prose(out, variables[i].meaning);
    }
}

static void put_command_page(FILE *out, const gf_command *c, const char *date)
{
    const gf_operation *o = gf_command_operation(c);
    gf_generate_cursor other = {.command = NULL};
    size_t group = gf_command_group(c);
    put_head(out, c, o->meaning, date);
    put_synopsis(out, c);
    fputs(".SH DESCRIPTION\n", out);
    put_str(out, o->meaning);
    fputs(".\n", out);
    if (c->notes) {
        fputs(".PP\n", out);
        put_prose(out, c->notes);
    }
    put_options(out, c);
    fputs(".SH EXAMPLES\n", out);
    put_lines(out, c->examples);
    put_environment(out);
    fputs(".SH SEE ALSO\n", out);
    while (group && gf_generate_next(&other))
        if (other.command != c && gf_command_group(other.command) == group &&
            strncmp(other.command->name, c->name, group) == 0)
            put_reference(out, other.command, ",");
    put_reference(out, NULL, "");
}

static void put_program_page(FILE *out, const char *date)
{
    gf_command_cursor cursor = {0, 0};
    const gf_command *c;
    const char *heading;
    put_head(out, NULL, "Group documents: put collections, cluster them, read the clusters", date);
    fputs(".SH SYNOPSIS\n\\fBgrouperfish\\fR \\fIcommand\\fR [\\fIwords\\fR] [\\fIoptions\\fR]\n"
          ".br\n\\fBgrouperfish help\\fR [\\fIcommand\\fR]\n.SH DESCRIPTION\n",
          out);
    put_prose(out, gf_help_summary);
    fputs(".PP\n", out);
    put_lines(out, gf_help_first_commands);
    fputs(".PP\nEvery command has a page of its own, such as\n.BR grouperfish\\-put (1).\n"
          ".SH COMMANDS\n",
          out);
    while ((c = gf_command_next(&cursor, &heading))) {
        if (heading) {
            fputs(".SS ", out);
            put_str(out, heading);
            fputc('\n', out);
        }
        fputs(".TP\n", out);
        put_font(out, 'B', c->name);
        fputc('\n', out);
        put_prose(out, gf_command_operation(c)->meaning);
    }
    fputs(".SH OPTIONS\nThese are for every command.\n", out);
    for (size_t i = 0; i < GF_COMMAND_GLOBAL_OPTIONS; i++)
        put_option(out, gf_command_global_options[i].name, gf_command_global_options[i].value,
                   gf_command_global_options[i].meaning);
    put_option(out, "", NULL, gf_help_dashes);
    put_environment(out);
    fputs(".SH SEE ALSO\n", out);
    cursor = (gf_command_cursor){0, 0};
    for (c = gf_command_next(&cursor, &heading); c;) {
        const gf_command *next = gf_command_next(&cursor, &heading);
        put_reference(out, c, next ? "," : "");
        c = next;
    }
}

void gf_generate_man(FILE *out, const gf_command *c, const char *date)
{
    if (c)
        put_command_page(out, c, date);
    else
        put_program_page(out, date);
}
