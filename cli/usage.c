/* What is said where the command line names nothing that there is. */
#include "cli/session.h"

#include "base/nearest.h"

#include <string.h>

enum { MOST_NAMES = 128, MOST_GROUPS = 16, LONGEST_GROUP = 16 };

int gf_usage_error(const gf_command *command, const char *message)
{
    fprintf(stderr, "grouperfish%s%s: ", command ? " " : "", command ? command->name : "");
    gf_print_text(stderr, gf_slice_str(message), 0);
    fprintf(stderr, "\nSee: grouperfish help%s%s\n", command ? " " : "",
            command ? command->name : "");
    return GF_EXIT_USAGE;
}

/* "collection" alone: "collection create, collection list, ...". */
static int name_group(const char *word)
{
    gf_buffer message = {0};
    const gf_command *c;
    const char *heading, *between = "";
    gf_buffer_format(&message, "%s what? There are", word);
    for (size_t i = 0; (c = gf_command_at(i, &heading)); i++) {
        if (!gf_command_is_in(c, word)) continue;
        gf_buffer_format(&message, "%s %s", between, c->name);
        between = ",";
    }
    int code = gf_usage_error(NULL, gf_buffer_cstr(&message));
    gf_buffer_release(&message);
    return code;
}

/* Every command, and every word that several of them begin with. */
typedef struct known_names {
    const char *names[MOST_NAMES];
    char groups[MOST_GROUPS][LONGEST_GROUP];
    size_t n, n_commands, n_groups;
} known_names;

static void add_group(known_names *k, const char *name)
{
    size_t length = strcspn(name, " ");
    if (!name[length] || length >= LONGEST_GROUP || k->n_groups == MOST_GROUPS) return;
    for (size_t g = 0; g < k->n_groups; g++)
        if (strncmp(k->groups[g], name, length) == 0 && !k->groups[g][length]) return;
    memcpy(k->groups[k->n_groups++], name, length); /* the rest is 0 */
}

static void collect(known_names *k)
{
    const gf_command *c;
    const char *heading;
    for (size_t i = 0; k->n < MOST_NAMES - MOST_GROUPS - 1 && (c = gf_command_at(i, &heading));
         i++) {
        k->names[k->n++] = c->name;
        add_group(k, c->name);
    }
    k->n_commands = k->n;
    for (size_t g = 0; g < k->n_groups; g++)
        k->names[k->n++] = k->groups[g];
    k->names[k->n++] = "help";
}

int gf_no_such_command(int n_words, char **words)
{
    known_names known = {.n = 0};
    char message[256], asked[128] = "", lower[128];
    bool is_group = false;
    collect(&known);
    for (size_t g = 0; g < known.n_groups; g++)
        is_group |= strcmp(known.groups[g], words[0]) == 0;
    if (is_group && n_words == 1) return name_group(words[0]);
    snprintf(asked, sizeof asked, "%.60s%s%.60s", words[0], is_group ? " " : "",
             is_group ? words[1] : "");
    for (size_t i = 0; i < sizeof asked; i++) /* PUT is put; what is no letter of ASCII stays */
        lower[i] = (char)(asked[i] >= 'A' && asked[i] <= 'Z' ? asked[i] + ('a' - 'A') : asked[i]);
    const char *nearest =
        gf_nearest(gf_slice_str(lower), known.names, is_group ? known.n_commands : known.n);
    snprintf(message, sizeof message, "there is no command \"%s\"%s%s%s", asked,
             nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    return gf_usage_error(NULL, message);
}
