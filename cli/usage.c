/* What is said where the command line names nothing that there is. */
#include "cli/session.h"

#include "base/nearest.h"

#include <string.h>

enum { MOST_COMMANDS = 64 };

int gf_usage_error(const gf_command *command, const char *message)
{
    fprintf(stderr, "grouperfish%s%s: ", command ? " " : "", command ? command->name : "");
    gf_print_text(stderr, gf_slice_str(message), 0);
    fprintf(stderr, "\nSee: grouperfish help%s%s\n", command ? " " : "",
            command ? command->name : "");
    return GF_EXIT_USAGE;
}

static bool is_in_group(const char *name, const char *word)
{
    size_t n = strlen(word);
    return strncmp(name, word, n) == 0 && name[n] == ' ';
}

/* "collection" alone: "collection create, collection list, ...". */
static int name_group(const char *const *names, size_t n, const char *word)
{
    gf_buffer message = {0};
    gf_buffer_format(&message, "%s what? There are", word);
    for (size_t i = 0, listed = 0; i < n; i++)
        if (is_in_group(names[i], word))
            gf_buffer_format(&message, "%s %s", listed++ ? "," : "", names[i]);
    int code = gf_usage_error(NULL, gf_buffer_cstr(&message));
    gf_buffer_release(&message);
    return code;
}

int gf_no_such_command(int n_words, char **words)
{
    const char *names[MOST_COMMANDS], *heading;
    char message[256], asked[128];
    size_t n = 0;
    bool is_group = false;
    for (const gf_command *c; n < MOST_COMMANDS && (c = gf_command_at(n, &heading)); n++) {
        names[n] = c->name;
        is_group |= is_in_group(c->name, words[0]);
    }
    if (is_group && n_words == 1) return name_group(names, n, words[0]);
    snprintf(asked, sizeof asked, "%.60s%s%.60s", words[0], is_group ? " " : "",
             is_group ? words[1] : "");
    const char *nearest = gf_nearest(gf_slice_str(asked), names, n);
    snprintf(message, sizeof message, "there is no command \"%s\"%s%s%s", asked,
             nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    return gf_usage_error(NULL, message);
}
