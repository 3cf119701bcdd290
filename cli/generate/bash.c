/* Completion of bash: one function, with a case for each command. */
#include "cli/generate/generate.h"

#include <string.h>

static void put_dashed(FILE *out, const char *name)
{
    fprintf(out, "%s%s", strlen(name) == 1 ? "-" : "--", name);
}

/* "--id --text": options of the command, from the i-th on; or only those that take a value. */
static void put_options(FILE *out, const gf_command *c, size_t i, size_t end, bool valued)
{
    gf_option o;
    const char *before = "";
    for (; i < end && gf_command_option(c, i, &o); i++) {
        if (valued && !o.value) continue;
        fputs(before, out);
        put_dashed(out, o.name);
        before = " ";
    }
}

/* A mark for each word: f for a file, d for a folder, choices, else -; + where it repeats. */
static void put_words(FILE *out, const gf_command *c)
{
    for (size_t i = 0; i < c->n_positionals; i++) {
        gf_generate_value v = gf_generate_value_of_word(c, &c->positionals[i]);
        fprintf(out, "%s%s%s", i ? " " : "",
                v.kind == GF_GENERATE_CHOICE   ? v.choices
                : v.kind == GF_GENERATE_FILE   ? "f"
                : v.kind == GF_GENERATE_FOLDER ? "d"
                                               : "-",
                v.repeats ? "+" : "");
    }
}

/* Cases for values of options, but for any text. */
static void put_values(FILE *out, const gf_command *c, size_t i, size_t end, const char *name)
{
    gf_option o;
    for (; i < end && gf_command_option(c, i, &o); i++) {
        gf_generate_value v = gf_generate_value_of_option(&o);
        if (v.kind == GF_GENERATE_FLAG || v.kind == GF_GENERATE_TEXT) continue;
        fprintf(out, "        %s' ", name);
        put_dashed(out, o.name);
        fputs("') _grouperfish_", out);
        if (v.kind == GF_GENERATE_CHOICE) {
            fputs("words '", out);
            gf_generate_choices(out, v.choices, ' ');
            fputs("' ;;\n", out);
        } else {
            fputs(v.kind == GF_GENERATE_FILE ? "paths -f ;;\n" : "paths -d ;;\n", out);
        }
    }
}

static const char functions[] = "_grouperfish_words()\n"
                                "{\n"
                                "    COMPREPLY=($(compgen -W \"$1\" -- \"$cur\"))\n"
                                "}\n"
                                "\n"
                                "_grouperfish_paths()\n"
                                "{\n"
                                "    local IFS=$'\\n'\n"
                                "    compopt -o filenames 2> /dev/null\n"
                                "    COMPREPLY=($(compgen \"$1\" -- \"$cur\"))\n"
                                "}\n"
                                "\n"
                                "# The next word: one of $1, or behind one of two words.\n"
                                "_grouperfish_names()\n"
                                "{\n"
                                "    case $1 in\n";

static const char begin[] =
    "    esac\n"
    "}\n"
    "\n"
    "_grouperfish()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local start=1 first command options='' valued='' words='' word at=0 i\n"
    "    COMPREPLY=()\n"
    "    # --option=value is three words.\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=''\n"
    "    elif [[ $prev == = ]] && ((COMP_CWORD > 1)); then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    [[ ${COMP_WORDS[1]} == help ]] && start=2\n"
    "    if ((COMP_CWORD == start)); then\n"
    "        _grouperfish_names ''\n"
    "        return\n"
    "    fi\n"
    "    first=${COMP_WORDS[start]}\n"
    "    command=$first\n"
    "    i=$((start + 1))\n"
    "    case $first in\n"
    "    ";

static const char middle[] = ")\n"
                             "        if ((COMP_CWORD == start + 1)) && [[ $cur != -* ]]; then\n"
                             "            _grouperfish_names \"$first\"\n"
                             "            return\n"
                             "        fi ;;\n"
                             "    esac\n"
                             "    case \"$first ${COMP_WORDS[start + 1]}\" in\n";

static const char two_words[] = ")\n"
                                "        command=\"$first ${COMP_WORDS[start + 1]}\"\n"
                                "        i=$((start + 2)) ;;\n"
                                "    esac\n"
                                "    ((start == 2)) && return\n"
                                "    case $command in\n";

static const char end[] = "    # Which word it is: options and their values do not count.\n"
                          "    for (( ; i < COMP_CWORD; i++)); do\n"
                          "        word=${COMP_WORDS[i]}\n"
                          "        if [[ \" $valued \" == *\" $word \"* ]]; then\n"
                          "            [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))\n"
                          "            ((i++))\n"
                          "        elif [[ $word != -?* ]]; then\n"
                          "            ((at++))\n"
                          "        fi\n"
                          "    done\n"
                          "    for word in $words; do\n"
                          "        if ((at == 0)) || [[ $word == *+ ]]; then\n"
                          "            case ${word%+} in\n"
                          "            f) _grouperfish_paths -f ;;\n"
                          "            d) _grouperfish_paths -d ;;\n"
                          "            -) ;;\n"
                          "            *) _grouperfish_words \"${word//|/ }\" ;;\n"
                          "            esac\n"
                          "            return\n"
                          "        fi\n"
                          "        ((at--))\n"
                          "    done\n"
                          "}\n"
                          "complete -F _grouperfish grouperfish\n";

/* A case for each group: its second words. */
static void put_groups(FILE *out)
{
    gf_generate_cursor group = {.command = NULL};
    while (gf_generate_next(&group)) {
        if (!group.begins_group) continue;
        fprintf(out, "    %.*s) _grouperfish_words '", group.first_length, group.command->name);
        gf_generate_cursor c = {.command = NULL};
        for (const char *between = ""; gf_generate_next(&c);) {
            if (!gf_generate_is_of(&c, &group)) continue;
            fprintf(out, "%s%s", between, c.second);
            between = " ";
        }
        fputs("' ;;\n", out);
    }
}

void gf_generate_bash(FILE *out)
{
    gf_generate_cursor c = {.command = NULL};
    const gf_command *any = NULL;
    fprintf(out, "# Completion of grouperfish %s for bash, made by: grouperfish generate bash\n",
            GF_VERSION);
    fputs(functions, out);
    fputs("    '') _grouperfish_words '", out);
    while (gf_generate_next(&c))
        if (c.begins) fprintf(out, "%.*s ", c.first_length, c.command->name);
    fputs("help' ;;\n", out);
    put_groups(out);
    fputs(begin, out);
    gf_generate_groups(out);
    fputs(middle, out);
    c = (gf_generate_cursor){.command = NULL};
    for (const char *between = "    "; gf_generate_next(&c);) {
        if (!c.second) continue;
        fprintf(out, "%s'%s'", between, c.command->name);
        between = "|";
    }
    fputs(two_words, out);
    c = (gf_generate_cursor){.command = NULL};
    while (gf_generate_next(&c)) {
        any = c.command;
        fprintf(out, "    '%s')\n        options='", c.command->name);
        put_options(out, c.command, GF_COMMAND_GLOBAL_OPTIONS, SIZE_MAX, false);
        fputs("'\n        valued='", out);
        put_options(out, c.command, GF_COMMAND_GLOBAL_OPTIONS, SIZE_MAX, true);
        fputs("'\n        words='", out);
        put_words(out, c.command);
        fputs("' ;;\n", out);
    }
    fputs("    *) return ;;\n    esac\n    options+=' ", out);
    put_options(out, any, 0, GF_COMMAND_GLOBAL_OPTIONS, false);
    fputs("'\n    valued+=' ", out);
    put_options(out, any, 0, GF_COMMAND_GLOBAL_OPTIONS, true);
    fputs("'\n    if [[ \" $valued \" == *\" $prev \"* ]]; then\n"
          "        case \"$command $prev\" in\n",
          out);
    put_values(out, any, 0, GF_COMMAND_GLOBAL_OPTIONS, "*");
    c = (gf_generate_cursor){.command = NULL};
    while (gf_generate_next(&c)) {
        char name[64];
        snprintf(name, sizeof name, "'%s'", c.command->name);
        put_values(out, c.command, GF_COMMAND_GLOBAL_OPTIONS, SIZE_MAX, name);
    }
    fputs("        esac\n        return\n    fi\n"
          "    if [[ $cur == -* ]]; then\n"
          "        _grouperfish_words \"$options\"\n"
          "        return\n    fi\n",
          out);
    fputs(end, out);
}
