/* The list of commands, and finding one by its words. */
#include "cli/command.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* In the order of help. */
static const gf_commands *const nouns[] = {
    &gf_commands_documents, &gf_commands_collections, &gf_commands_clusterings,
    &gf_commands_edits,     &gf_commands_watches,     &gf_commands_configurations,
    &gf_commands_tables,    &gf_commands_tweets,      &gf_commands_papers,
    &gf_commands_logs,      &gf_commands_store,       &gf_commands_serve,
    &gf_commands_mcp,       &gf_commands_generate};

static const gf_display_column cell_columns[] = {{"family", "family", GF_COLUMN_TEXT},
                                                 {"column", "column", GF_COLUMN_TEXT},
                                                 {"value", "value", GF_COLUMN_PROSE},
                                                 {"hex", "bytes (hexadecimal)", GF_COLUMN_TEXT}};
const gf_display gf_command_cells_display = {GF_COLUMNS(cell_columns)};

const gf_own_option gf_command_global_options[GF_COMMAND_GLOBAL_OPTIONS] = {
    {"store", "DIR", "the store (GROUPERFISH_STORE, else ./grouperfish.store)", GF_OPTION_GLOBAL},
    {"server", "URL",
     "ask this server instead (GROUPERFISH_SERVER), such as http://127.0.0.1:61732",
     GF_OPTION_GLOBAL},
    {"token-file", "FILE", "begins with the token for it (GROUPERFISH_TOKEN_FILE)",
     GF_OPTION_GLOBAL},
    {"namespace", "NAME", "whose collections (GROUPERFISH_NAMESPACE, else default)",
     GF_OPTION_GLOBAL},
    {"format", "FORMAT",
     "table, json, jsonl, csv, spreadsheet or plain (table on a terminal, else plain)",
     GF_OPTION_GLOBAL},
    {"bom", NULL, "CSV for spreadsheets: with a byte order mark, and no cell a formula",
     GF_OPTION_GLOBAL},
    {"no-defuse", NULL, "with --bom: cells as they are, also those that spreadsheets work out",
     GF_OPTION_GLOBAL},
    {"read-only", NULL, "change nothing in the store's folder, also where it could be written",
     GF_OPTION_GLOBAL},
    {"wait", "SECONDS", "wait for a store that is held and not answered for (5)", GF_OPTION_GLOBAL},
    {"help", NULL, "as grouperfish help COMMAND", GF_OPTION_GLOBAL}};

const gf_command *gf_command_next(gf_command_cursor *c, const char **heading)
{
    for (*heading = NULL; c->noun < GF_COUNT(nouns); c->noun++, c->at = 0) {
        const gf_commands *noun = nouns[c->noun];
        if (c->at == 0) *heading = noun->heading;
        while (c->at < noun->n) {
            const gf_command *command = noun->list[c->at++];
            if (gf_command_operation(command)) return command;
        }
    }
    return NULL;
}

const gf_command *gf_command_find(int n_words, const char *const *words, int *used)
{
    gf_command_cursor cursor = {0, 0};
    const gf_command *c, *one = NULL;
    const char *heading;
    char two[64] = "";
    if (n_words > 1) snprintf(two, sizeof two, "%s %s", words[0], words[1]);
    while (n_words > 0 && (c = gf_command_next(&cursor, &heading))) {
        if (strcmp(c->name, two) == 0) {
            *used = 2;
            return c;
        }
        if (!one && strcmp(c->name, words[0]) == 0)
            one = c; /* "cluster" where "cluster merge" is */
    }
    *used = 1;
    return one;
}

size_t gf_command_group(const gf_command *c)
{
    size_t length = strcspn(c->name, " ");
    return c->name[length] ? length : 0;
}

bool gf_command_is_in(const gf_command *c, const char *group)
{
    size_t n = strlen(group);
    return n > 0 && gf_command_group(c) == n && strncmp(c->name, group, n) == 0;
}

const gf_command *gf_command_maker(const gf_command *command)
{
    gf_command_cursor cursor = {0, 0};
    const gf_command *c, *first = NULL;
    const char *heading;
    size_t group = gf_command_group(command);
    while ((c = gf_command_next(&cursor, &heading))) {
        if (!gf_command_operation(c)->makes) continue;
        if (!first) first = c;
        if (gf_command_group(c) == group && strncmp(c->name, command->name, group) == 0) return c;
    }
    return first;
}

const gf_operation *gf_command_operation(const gf_command *c)
{
    return c->operation ? c->operation : gf_operation_find(c->name);
}

bool gf_command_has_word(const gf_command *c, const char *argument)
{
    for (size_t i = 0; i < c->n_positionals; i++)
        if (c->positionals[i].argument && strcmp(c->positionals[i].argument, argument) == 0)
            return true;
    return false;
}

const gf_own_option *gf_command_own_option(const gf_command *c, const char *name)
{
    for (size_t i = 0; i < c->n_options; i++)
        if (strcmp(c->options[i].name, name) == 0) return &c->options[i];
    return NULL;
}

static bool is_global(const char *name)
{
    for (size_t i = 0; i < GF_COMMAND_GLOBAL_OPTIONS; i++)
        if (strcmp(gf_command_global_options[i].name, name) == 0) return true;
    return false;
}

bool gf_command_option(const gf_command *c, size_t i, gf_option *option)
{
    const gf_operation *o = gf_command_operation(c);
    if (i < GF_COMMAND_GLOBAL_OPTIONS + c->n_options) {
        bool global = i < GF_COMMAND_GLOBAL_OPTIONS;
        const gf_own_option *own =
            global ? &gf_command_global_options[i] : &c->options[i - GF_COMMAND_GLOBAL_OPTIONS];
        *option = (gf_option){own->name, own->value, own->meaning, own, NULL};
        return true;
    }
    i -= GF_COMMAND_GLOBAL_OPTIONS + c->n_options;
    for (size_t n = 0; n < o->n_parameters; n++) {
        const gf_parameter *p = &o->parameters[n];
        if (gf_command_has_word(c, p->name) || gf_command_own_option(c, p->name) ||
            is_global(p->name))
            continue;
        if (i-- > 0) continue;
        assert((p->kind == GF_PARAMETER_FLAG) == (p->value == NULL));
        *option = (gf_option){p->name, p->value, p->meaning, NULL, p};
        return true;
    }
    return false;
}
