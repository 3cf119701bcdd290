/* Messages for unknown commands and mistakes in the command line, with suggestions. */
#include "cli/session.h"

#include "base/nearest.h"

#include <string.h>

enum { MOST_NAMES = 128, MOST_GROUPS = 16, LONGEST_GROUP = 16 };

int gf_usage_error(const gf_command *command, const char *message)
{
    fprintf(stderr, "grouperfish%s%s: ", command ? " " : "", command ? command->name : "");
    gf_text_print(stderr, gf_slice_str(message), 0);
    fprintf(stderr, "\nSee: grouperfish help%s%s\n", command ? " " : "",
            command ? command->name : "");
    return GF_EXIT_USAGE;
}

/* "collection" alone: "collection create, collection list, ...". */
static int explain_group(const char *word)
{
    gf_buffer message = {0};
    gf_command_cursor cursor = {0, 0};
    const gf_command *c;
    const char *heading, *between = "";
    gf_buffer_format(&message, "%s what? There are", word);
    while ((c = gf_command_next(&cursor, &heading))) {
        if (!gf_command_is_in(c, word)) continue;
        gf_buffer_format(&message, "%s %s", between, c->name);
        between = ",";
    }
    int code = gf_usage_error(NULL, gf_buffer_cstr(&message));
    gf_buffer_release(&message);
    return code;
}

/* Every command, then every group, then help. */
typedef struct command_names {
    const char *names[MOST_NAMES];
    char groups[MOST_GROUPS][LONGEST_GROUP];
    size_t n, n_commands, n_groups;
} command_names;

static void add_group(command_names *k, const gf_command *c)
{
    size_t length = gf_command_group(c);
    if (!length || length >= LONGEST_GROUP || k->n_groups == MOST_GROUPS) return;
    for (size_t g = 0; g < k->n_groups; g++)
        if (gf_command_is_in(c, k->groups[g])) return;
    memcpy(k->groups[k->n_groups++], c->name, length); /* the rest is 0 */
}

static void collect_names(command_names *k)
{
    gf_command_cursor cursor = {0, 0};
    const gf_command *c;
    const char *heading;
    while (k->n < MOST_NAMES - MOST_GROUPS - 1 && (c = gf_command_next(&cursor, &heading))) {
        k->names[k->n++] = c->name;
        add_group(k, c);
    }
    k->n_commands = k->n;
    for (size_t g = 0; g < k->n_groups; g++)
        k->names[k->n++] = k->groups[g];
    k->names[k->n++] = "help";
}

/* The only command whose last word that is, as "cluster merge" of "merge"; NULL. */
static const char *find_by_last_word(const command_names *known, const char *word)
{
    const char *found = NULL;
    for (size_t i = 0; i < known->n_commands; i++) {
        const char *last = strrchr(known->names[i], ' ');
        if (strcmp(known->names[i], word) == 0) return NULL;
        if (!last || strcmp(last + 1, word) != 0) continue;
        if (found) return NULL;
        found = known->names[i];
    }
    return found;
}

int gf_usage_unknown_command(int n_words, char **words)
{
    command_names known = {.n = 0};
    char message[256], asked[128] = "", lower[128];
    bool is_group = false;
    collect_names(&known);
    for (size_t g = 0; g < known.n_groups; g++)
        is_group |= strcmp(known.groups[g], words[0]) == 0;
    if (is_group && n_words == 1) return explain_group(words[0]);
    snprintf(asked, sizeof asked, "%.60s%s%.60s", words[0], is_group ? " " : "",
             is_group ? words[1] : "");
    for (size_t i = 0; i < sizeof asked; i++) /* PUT is put; ASCII letters only */
        lower[i] = (char)(asked[i] >= 'A' && asked[i] <= 'Z' ? asked[i] + ('a' - 'A') : asked[i]);
    const char *nearest = find_by_last_word(&known, lower);
    if (!nearest)
        nearest =
            gf_nearest(gf_slice_str(lower), known.names, is_group ? known.n_commands : known.n);
    snprintf(message, sizeof message, "there is no command \"%s\"%s%s%s", asked,
             nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    return gf_usage_error(NULL, message);
}
