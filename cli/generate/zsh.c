/* Completion of zsh: the options of each command as _arguments takes them. */
#include "cli/generate/generate.h"

#include <string.h>

static const char *const quote = "'\\''";

/* ":FILE:_files", ":MODE:(a b)" */
static void put_action(FILE *out, const char *name, const gf_generate_value *v)
{
    fputc(':', out);
    gf_generate_quoted(out, name, ":\\", quote);
    fputc(':', out);
    if (v->kind == GF_GENERATE_FILE) fputs("_files", out);
    if (v->kind == GF_GENERATE_FOLDER) fputs("_files -/", out);
    if (v->kind != GF_GENERATE_CHOICE) return;
    fputc('(', out);
    gf_generate_choices(out, v->choices, ' ');
    fputc(')', out);
}

/* '*--id=[an id]:ID:' */
static void put_option(FILE *out, const gf_option *o)
{
    gf_generate_value v = gf_generate_value_of_option(o);
    bool single = strlen(o->name) == 1;
    fprintf(out, "'%s%s%s%s[", v.repeats ? "*" : "", single ? "-" : "--", o->name,
            o->value && !single ? "=" : "");
    gf_generate_quoted(out, o->meaning, "[]\\:", quote);
    fputc(']', out);
    if (o->value) put_action(out, v.kind == GF_GENERATE_CHOICE ? o->name : o->value, &v);
    fputc('\'', out);
}

static void put_command(FILE *out, const gf_command *c)
{
    gf_option o;
    fprintf(out, "    '%s')\n        _arguments $globals", c->name);
    for (size_t i = GF_COMMAND_GLOBAL_OPTIONS; gf_command_option(c, i, &o); i++) {
        fputs(" \\\n            ", out);
        put_option(out, &o);
    }
    for (size_t i = 0; i < c->n_positionals; i++) {
        const gf_positional *p = &c->positionals[i];
        gf_generate_value v = gf_generate_value_of_word(c, p);
        fputs(" \\\n            '", out);
        if (p->repeats)
            fputc('*', out);
        else
            fprintf(out, "%zu%s", i + 1, p->optional ? ":" : "");
        put_action(out, v.kind == GF_GENERATE_CHOICE ? "word" : p->name, &v);
        fputc('\'', out);
    }
    fputs(" ;;\n", out);
}

/* 'put:Put documents into a collection' */
static void put_described(FILE *out, int length, const char *name, const char *meaning)
{
    fprintf(out, "        '%.*s:", length, name);
    gf_generate_quoted(out, meaning, ":\\", quote);
    fputs("'\n", out);
}

static const char begin[] = "_grouperfish_names()\n"
                            "{\n"
                            "    local -a names\n"
                            "    case $1 in\n"
                            "    '') names=(\n";

static const char middle[] = "    esac\n"
                             "    _describe -t commands command names\n"
                             "}\n"
                             "\n"
                             "_grouperfish()\n"
                             "{\n"
                             "    local curcontext=\"$curcontext\" command help=0\n"
                             "    local -a globals\n"
                             "    if [[ $words[2] == help ]] && (( CURRENT > 2 )); then\n"
                             "        help=1\n"
                             "        shift words\n"
                             "        (( CURRENT-- ))\n"
                             "    fi\n"
                             "    if (( CURRENT == 2 )); then\n"
                             "        _grouperfish_names ''\n"
                             "        return\n"
                             "    fi\n"
                             "    command=$words[2]\n"
                             "    shift words\n"
                             "    (( CURRENT-- ))\n"
                             "    case $command in\n";

static const char groups_end[] = ")\n"
                                 "        if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
                                 "            _grouperfish_names $command\n"
                                 "            return\n"
                                 "        fi ;;\n"
                                 "    esac\n"
                                 "    case \"$command $words[2]\" in\n";

static const char two_words[] = ")\n"
                                "        command+=\" $words[2]\"\n"
                                "        shift words\n"
                                "        (( CURRENT-- )) ;;\n"
                                "    esac\n"
                                "    (( help )) && return 1\n"
                                "    globals=(\n";

void gf_generate_zsh(FILE *out)
{
    gf_generate_cursor c = {.command = NULL};
    const gf_command *any = NULL;
    gf_option o;
    fprintf(out,
            "#compdef grouperfish\n"
            "# Completion of grouperfish %s for zsh, made by: grouperfish generate zsh\n\n",
            GF_VERSION);
    fputs(begin, out);
    while (gf_generate_next(&c)) {
        any = c.command;
        if (!c.second)
            put_described(out, c.first_length, c.command->name,
                          gf_command_operation(c.command)->meaning);
        else if (c.begins)
            put_described(out, c.first_length, c.command->name, "a group of commands");
    }
    put_described(out, 4, "help", "Show help of all, or of a command");
    gf_generate_cursor group = {.command = NULL};
    while (gf_generate_next(&group)) {
        if (!group.begins_group) continue;
        fprintf(out, "        ) ;;\n    %.*s) names=(\n", group.first_length, group.command->name);
        c = (gf_generate_cursor){.command = NULL};
        while (gf_generate_next(&c))
            if (gf_generate_is_of(&c, &group))
                put_described(out, (int)strlen(c.second), c.second,
                              gf_command_operation(c.command)->meaning);
    }
    fputs("        ) ;;\n", out);
    fputs(middle, out);
    fputs("    ", out);
    gf_generate_groups(out);
    fputs(groups_end, out);
    c = (gf_generate_cursor){.command = NULL};
    for (const char *between = "    "; gf_generate_next(&c);) {
        if (!c.second) continue;
        fprintf(out, "%s'%s'", between, c.command->name);
        between = "|";
    }
    fputs(two_words, out);
    for (size_t i = 0; i < GF_COMMAND_GLOBAL_OPTIONS && gf_command_option(any, i, &o); i++) {
        fputs("        ", out);
        put_option(out, &o);
        fputc('\n', out);
    }
    fputs("    )\n    case $command in\n", out);
    c = (gf_generate_cursor){.command = NULL};
    while (gf_generate_next(&c))
        put_command(out, c.command);
    fputs("    esac\n"
          "}\n"
          "\n"
          "if [[ $funcstack[1] == _grouperfish ]]; then\n"
          "    _grouperfish \"$@\"\n"
          "else\n"
          "    compdef _grouperfish grouperfish\n"
          "fi\n",
          out);
}
