/* grouperfish: the command. */
#include "cli/session.h"

#include "base/memory.h"
#include "base/nearest.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const gf_command *const commands[] = {&gf_command_put,
                                             &gf_command_delete,
                                             &gf_command_doc,
                                             &gf_command_collection_list,
                                             &gf_command_collection_show,
                                             &gf_command_collection_create,
                                             &gf_command_collection_delete,
                                             &gf_command_config_set,
                                             &gf_command_config_show,
                                             &gf_command_config_list,
                                             &gf_command_config_delete,
                                             &gf_command_config_keys,
                                             &gf_command_rebuild,
                                             &gf_command_builds,
                                             &gf_command_clusters,
                                             &gf_command_cluster,
                                             &gf_command_export,
                                             &gf_command_evaluate,
                                             &gf_command_init,
                                             &gf_command_status,
                                             &gf_command_verify,
                                             &gf_command_version};

const gf_command *gf_command_at(size_t i)
{
    return i < GF_COUNT(commands) ? commands[i] : NULL;
}

const gf_command *gf_command_find(int n_words, char **words, int *used)
{
    char two[64] = "";
    if (n_words > 1) snprintf(two, sizeof two, "%s %s", words[0], words[1]);
    for (size_t i = 0; i < GF_COUNT(commands); i++) {
        bool both = strcmp(commands[i]->name, two) == 0;
        if (!both && strcmp(commands[i]->name, words[0]) != 0) continue;
        *used = both ? 2 : 1;
        return commands[i];
    }
    return NULL;
}

int gf_usage_error(const gf_command *command, const char *message)
{
    fprintf(stderr, "grouperfish%s%s: ", command ? " " : "", command ? command->name : "");
    gf_print_text(stderr, gf_slice_str(message), 0);
    fprintf(stderr, "\nSee: grouperfish help%s%s\n", command ? " " : "",
            command ? command->name : "");
    return GF_EXIT_USAGE;
}

/* "collection" alone, or a word that is no command: what may have been meant. */
static int no_such_command(int n_words, char **words)
{
    const char *names[GF_COUNT(commands)];
    char message[256], two[64];
    size_t length = strlen(words[0]);
    bool starts = false;
    for (size_t i = 0; i < GF_COUNT(commands); i++) {
        names[i] = commands[i]->name;
        starts |= strncmp(names[i], words[0], length) == 0 && names[i][length] == ' ';
    }
    snprintf(two, sizeof two, "%s%s%s", words[0], n_words > 1 ? " " : "",
             n_words > 1 ? words[1] : "");
    const char *nearest = gf_nearest(gf_slice_str(starts ? two : words[0]), names, GF_COUNT(names));
    if (starts && n_words == 1)
        snprintf(message, sizeof message, "%s what? create, list, show, set, delete ...", words[0]);
    else
        snprintf(message, sizeof message, "there is no command \"%s\"%s%s%s",
                 starts ? two : words[0], nearest ? "; did you mean \"" : "",
                 nearest ? nearest : "", nearest ? "\"?" : "");
    return gf_usage_error(NULL, message);
}

static int help(int n_words, char **words)
{
    int used;
    if (n_words == 0) {
        gf_help(stdout);
        return GF_EXIT_DONE;
    }
    const gf_command *c = gf_command_find(n_words, words, &used);
    if (!c) return no_such_command(n_words, words);
    gf_help_command(c, stdout);
    return GF_EXIT_DONE;
}

/* The first signal asks for a clean end; a second one ends the process at once. */
static void on_signal(int number)
{
    gf_cancel_request(&gf_stop);
    signal(number, SIG_DFL);
}

static void set_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static int run(const gf_command *command, int n_words, char **words)
{
    gf_error err = {GF_OK, ""};
    gf_session s = {
        .command = command, .operation = gf_operation_find(command->operation), .wait_seconds = 5};
    int code;
    if (gf_session_parse(&s, n_words, words, &err) != GF_OK)
        code = gf_usage_error(command, err.message);
    else if (s.help)
        code = help(1, (char *[]){(char *)command->name});
    else
        code = gf_session_run(&s);
    gf_free(s.arguments);
    gf_free(s.words);
    gf_arena_release(&s.memory);
    return code;
}

int main(int argc, char **argv)
{
    int used = 0;
    if (!setlocale(LC_CTYPE, "C.UTF-8")) setlocale(LC_CTYPE, "");
    set_signals();
    if (argc < 2) {
        gf_help(stderr);
        return GF_EXIT_USAGE;
    }
    bool is_help = strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
                   strcmp(argv[1], "-h") == 0;
    if (is_help) return help(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0) argv[1] += 2;
    const gf_command *command = gf_command_find(argc - 1, argv + 1, &used);
    if (!command) return no_such_command(argc - 1, argv + 1);
    return run(command, argc - 1 - used, argv + 1 + used);
}
