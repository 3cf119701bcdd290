#include "cli/generate/generate.h"

#include "cli/terminal/output.h"

#include <string.h>

static gf_generate_kind kind_of_value(const char *value)
{
    if (!value) return GF_GENERATE_FLAG;
    if (strncmp(value, "FILE", 4) == 0) return GF_GENERATE_FILE;
    return strcmp(value, "DIR") == 0 ? GF_GENERATE_FOLDER : GF_GENERATE_TEXT;
}

gf_generate_value gf_generate_value_of_option(const gf_option *o)
{
    gf_generate_value v = {.kind = kind_of_value(o->value)};
    if (o->parameter) {
        v.repeats = o->parameter->kind == GF_PARAMETER_LIST ||
                    o->parameter->kind == GF_PARAMETER_SEVERAL ||
                    o->parameter->kind == GF_PARAMETER_SETTINGS;
        if (o->parameter->kind == GF_PARAMETER_CHOICE) v.choices = o->value;
    } else {
        if (o->value && strchr(o->value, '|')) v.choices = o->value;
        if (o->value && strcmp(o->value, "FORMAT") == 0) v.choices = GF_OUTPUT_FORMATS;
    }
    if (v.choices) v.kind = GF_GENERATE_CHOICE;
    return v;
}

gf_generate_value gf_generate_value_of_word(const gf_command *c, const gf_positional *word)
{
    const gf_operation *o = gf_command_operation(c);
    gf_generate_value v = {.kind = GF_GENERATE_TEXT, .repeats = word->repeats};
    if (word->path) v.kind = strcmp(word->name, "DIR") == 0 ? GF_GENERATE_FOLDER : GF_GENERATE_FILE;
    for (size_t i = 0; word->argument && i < o->n_parameters; i++) {
        const gf_parameter *p = &o->parameters[i];
        if (p->kind != GF_PARAMETER_CHOICE || strcmp(p->name, word->argument) != 0) continue;
        v.kind = GF_GENERATE_CHOICE;
        v.choices = p->value;
    }
    return v;
}

void gf_generate_choices(FILE *out, const char *choices, char separator)
{
    for (; *choices; choices++)
        fputc(*choices == '|' ? separator : *choices, out);
}

void gf_generate_quoted(FILE *out, const char *text, const char *escaped, const char *quote)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs(quote, out);
            continue;
        }
        if (strchr(escaped, *text)) fputc('\\', out);
        fputc(*text, out);
    }
}

bool gf_generate_next(gf_generate_cursor *c)
{
    const gf_command *before = c->command;
    const char *heading;
    c->command = gf_command_next(&c->cursor, &heading);
    if (!c->command) return false;
    size_t group = gf_command_group(c->command);
    c->second = group ? c->command->name + group + 1 : NULL;
    c->first_length = (int)(group ? group : strlen(c->command->name));
    c->begins = !group || !before || strncmp(before->name, c->command->name, group + 1) != 0;
    return true;
}
