/* Completion of fish: a line for each command and each option. */
#include "cli/generate/generate.h"

#include <string.h>

static void put_text(FILE *out, const char *text)
{
    fputc('\'', out);
    gf_generate_quoted(out, text, "\\", "\\'");
    fputc('\'', out);
}

/* " -x -a 'a b'" */
static void put_value(FILE *out, const gf_generate_value *v, bool of_option)
{
    switch (v->kind) {
    case GF_GENERATE_FLAG:
        break;
    case GF_GENERATE_TEXT:
        if (of_option) fputs(" -x", out);
        break;
    case GF_GENERATE_FILE:
        fputs(of_option ? " -r -F" : " -F", out);
        break;
    case GF_GENERATE_FOLDER:
        fputs(of_option ? " -x" : "", out);
        fputs(" -a '(__fish_complete_directories)'", out);
        break;
    case GF_GENERATE_CHOICE:
        fputs(of_option ? " -x -a '" : " -a '", out);
        gf_generate_choices(out, v->choices, ' ');
        fputc('\'', out);
    }
}

static void put_options(FILE *out, const gf_command *c, size_t i, size_t end, const char *condition)
{
    gf_option o;
    for (; i < end && gf_command_option(c, i, &o); i++) {
        gf_generate_value v = gf_generate_value_of_option(&o);
        fprintf(out, "complete -c grouperfish%s -%c %s", condition, strlen(o.name) == 1 ? 's' : 'l',
                o.name);
        put_value(out, &v, true);
        fputs(" -d ", out);
        put_text(out, o.meaning);
        fputc('\n', out);
    }
}

static const char functions[] = "# The words so far, without the program, help and options.\n"
                                "function __grouperfish_words\n"
                                "    set -l words (commandline -opc)\n"
                                "    set -e words[1]\n"
                                "    test \"$words[1]\" = help; and set -e words[1]\n"
                                "    string match -v -- '-*' $words\n"
                                "end\n"
                                "\n"
                                "function __grouperfish_is\n"
                                "    set -l words (__grouperfish_words)\n"
                                "    test \"$words\" = \"$argv\"\n"
                                "end\n"
                                "\n"
                                "function __grouperfish_in\n"
                                "    set -l words (__grouperfish_words)\n"
                                "    string match -q -- \"$argv *\" \"$words \"\n"
                                "end\n"
                                "\n"
                                "function __grouperfish_goes_on\n"
                                "    set -l words (__grouperfish_words)\n"
                                "    contains -- \"$words[2]\" $argv\n"
                                "end\n"
                                "\n"
                                "complete -c grouperfish -f\n"
                                "complete -c grouperfish -n '__grouperfish_is' -a help -d 'Show "
                                "help of all, or of a command'\n";

/* " -n '__grouperfish_in doc; and not __grouperfish_goes_on move keep'" */
static void make_condition(const gf_generate_cursor *of, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, " -n '__grouperfish_in %s", of->command->name);
    gf_generate_cursor c = {.command = NULL};
    const char *before = "; and not __grouperfish_goes_on ";
    while (!of->second && gf_generate_next(&c)) {
        if (!gf_generate_is_of(&c, of)) continue;
        n += (size_t)snprintf(text + n, size - n, "%s%s", before, c.second);
        before = " ";
    }
    snprintf(text + n, size - n, "'");
}

void gf_generate_fish(FILE *out)
{
    gf_generate_cursor c = {.command = NULL};
    fprintf(out, "# Completion of grouperfish %s for fish, made by: grouperfish generate fish\n\n",
            GF_VERSION);
    fputs(functions, out);
    while (gf_generate_next(&c)) {
        const char *meaning = gf_command_operation(c.command)->meaning;
        char in[400];
        if (!c.second || c.begins) {
            fprintf(out, "\ncomplete -c grouperfish -n '__grouperfish_is' -a %.*s -d ",
                    c.first_length, c.command->name);
            put_text(out, c.second ? "a group of commands" : meaning);
        }
        if (c.second) {
            fprintf(out, "\ncomplete -c grouperfish -n '__grouperfish_is %.*s' -a %s -d ",
                    c.first_length, c.command->name, c.second);
            put_text(out, meaning);
        }
        fputc('\n', out);
        make_condition(&c, in, sizeof in);
        put_options(out, c.command, GF_COMMAND_GLOBAL_OPTIONS, SIZE_MAX, in);
        for (size_t i = 0; i < c.command->n_positionals; i++) {
            gf_generate_value v = gf_generate_value_of_word(c.command, &c.command->positionals[i]);
            if (v.kind == GF_GENERATE_TEXT) continue;
            fprintf(out, "complete -c grouperfish%s", in);
            put_value(out, &v, false);
            fputc('\n', out);
        }
    }
    fputc('\n', out);
    c = (gf_generate_cursor){.command = NULL};
    if (gf_generate_next(&c)) put_options(out, c.command, 0, GF_COMMAND_GLOBAL_OPTIONS, "");
}
