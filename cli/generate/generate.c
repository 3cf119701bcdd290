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

/* Set *c's words; those of a name are parted by a space. */
static void part_name(gf_generate_cursor *c)
{
    size_t group = gf_command_group(c->command);
    c->second = group ? c->command->name + group + 1 : NULL;
    c->first_length = (int)(group ? group : strlen(c->command->name));
}

static bool have_same_first(const gf_generate_cursor *a, const gf_generate_cursor *b)
{
    return a->first_length == b->first_length &&
           strncmp(a->command->name, b->command->name, (size_t)a->first_length) == 0;
}

bool gf_generate_next(gf_generate_cursor *c)
{
    const char *heading;
    c->command = gf_command_next(&c->cursor, &heading);
    if (!c->command) return false;
    part_name(c);
    c->begins = true;
    c->begins_group = c->second != NULL;
    gf_generate_cursor before = {.command = NULL};
    while ((before.command = gf_command_next(&before.cursor, &heading)) != c->command) {
        part_name(&before);
        if (!have_same_first(&before, c)) continue;
        c->begins = false;
        if (before.second) c->begins_group = false;
    }
    return true;
}

bool gf_generate_is_of(const gf_generate_cursor *c, const gf_generate_cursor *group)
{
    return c->second && have_same_first(c, group);
}

void gf_generate_groups(FILE *out)
{
    gf_generate_cursor c = {.command = NULL};
    for (const char *between = ""; gf_generate_next(&c);) {
        if (!c.begins_group) continue;
        fprintf(out, "%s%.*s", between, c.first_length, c.command->name);
        between = "|";
    }
}
