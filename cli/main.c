/* grouperfish: the command. */
#include "cli/options_file.h"

#include "apps/apps.h"
#include "base/memory.h"
#include "storage/leveldb/database.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A reader that closes the pipe early, as head does, is no failure. */
static int end_help(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return GF_EXIT_DONE;
    if (errno == EPIPE) return GF_EXIT_DONE;
    perror("grouperfish: cannot write the help");
    return GF_EXIT_DISK;
}

static int command_help(const gf_command *command)
{
    gf_help_command(command, stdout);
    return end_help();
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run_help(int n_words, char **words)
{
    int used;
    if (n_words == 0 || (n_words == 1 && strcmp(words[0], "help") == 0)) {
        gf_help(stdout);
        return end_help();
    }
    const gf_command *c = gf_command_find(n_words, (const char *const *)words, &used);
    if (c) return command_help(c);
    if (n_words == 1 && gf_help_group(words[0], stdout)) return end_help();
    return gf_usage_unknown_command(n_words, words);
}

/*
 * A caller may have closed standard input, output or error. The next file that is opened would get
 * that number: rows and messages would go into the store. /dev/null takes the number instead,
 * opened the wrong way, so that reading or writing it fails as on a closed file.
 */
static bool reserve_standard_files(void)
{
    static const int ways[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY};
    for (int number = 0; number < (int)GF_COUNT(ways); number++)
        if (fcntl(number, F_GETFD) < 0 && open("/dev/null", ways[number]) != number) return false;
    return true;
}

/* The first signal asks for a clean end; a second one ends the process at once. */
static void on_signal(int number)
{
    gf_session_signal = number;
    gf_cancel_request(&gf_session_stop);
    signal(number, SIG_DFL);
}

/* Memory that the store's database does not get: what it holds cannot be given up any more. */
static void on_database_end(const char *why)
{
    fprintf(stderr, "grouperfish: %s; what was acknowledged is in the store\n", why);
    _exit(GF_EXIT_DISK);
}

/* A file that is read by its pages: its disk failed, or somebody cut it meanwhile. */
static void on_lost_page(int number)
{
    static const char words[] = "grouperfish: a file of the store cannot be read: its disk failed, "
                                "or it was cut while it was in use\n";
    (void)number;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) _exit(GF_EXIT_DISK);
    _exit(GF_EXIT_DISK);
}

static void set_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGBUS, &(struct sigaction){.sa_handler = on_lost_page}, NULL);
    signal(SIGPIPE, SIG_IGN);
    gf_leveldb_set_ending(on_database_end);
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error of the write */
}

/* Printed as it is: what makes texts fit for a terminal takes memory. */
static int fail_memory(const gf_command *command)
{
    fprintf(stderr, "grouperfish %s: out of memory\n", command->name);
    return GF_EXIT_DISK;
}

static int run_command(const gf_command *command, int n_words, char **words)
{
    gf_error err = {GF_OK, ""};
    gf_session s = {
        .command = command, .operation = gf_command_operation(command), .wait_seconds = 5};
    int code = GF_EXIT_DONE;
    gf_status st = gf_session_parse(&s, n_words, words, &err);
    if (st == GF_OK && !s.help) st = gf_options_file_read(&s, &err);
    if (st == GF_ENOMEM)
        code = fail_memory(command);
    else if (st != GF_OK)
        code = gf_usage_error(command, err.message);
    else
        code = s.help ? command_help(command) : gf_session_run(&s);
    gf_buffer_release(&s.options_text);
    gf_free(s.arguments);
    gf_free(s.kept_options);
    gf_free(s.words);
    return code;
}

/* Words of the command line that are options of every command and stand before it. */
static int count_leading_options(int n_words, char **words)
{
    int n = 0;
    while (n < n_words && words[n][0] == '-' && words[n][1] == '-') {
        const char *word = words[n] + 2;
        size_t length = strcspn(word, "=");
        const gf_own_option *o = NULL;
        for (int i = 0; i < GF_COMMAND_GLOBAL_OPTIONS && !o; i++) {
            const gf_own_option *at = &gf_command_global_options[i];
            if (strlen(at->name) == length && memcmp(at->name, word, length) == 0) o = at;
        }
        if (!o || !o->value) break;
        n += word[length] == '=' ? 1 : 2;
    }
    return n < n_words ? n : 0;
}

/* "--store DIR put FILE" is "put --store DIR FILE": the command's words go to the front. */
static void put_command_first(int n_leading, char **words, int used)
{
    char *command[2];
    memcpy(command, words + n_leading, (size_t)used * sizeof *words);
    memmove(words + used, words, (size_t)n_leading * sizeof *words);
    memcpy(words, command, (size_t)used * sizeof *words);
}

int main(int argc, char **argv)
{
    int used = 0;
    if (!reserve_standard_files()) return GF_EXIT_DISK;
    if (!setlocale(LC_CTYPE, "C.UTF-8")) setlocale(LC_CTYPE, "");
    set_signals();
    gf_apps_register();
    if (argc < 2) {
        gf_help(stderr);
        return GF_EXIT_USAGE;
    }
    bool is_help = strcmp(argv[1], "help") == 0 || asks_for_help(argv[1]);
    if (is_help) return run_help(argc > 2 && argv[2][0] == '-' ? 0 : argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0) argv[1] += 2;
    int n_leading = count_leading_options(argc - 1, argv + 1), at = 1 + n_leading;
    if (argv[at][0] == '-')
        return gf_usage_error(NULL, "the command comes first, then its options");
    const gf_command *command = gf_command_find(argc - at, (const char *const *)argv + at, &used);
    if (!command && argc == at + 2 && asks_for_help(argv[at + 1])) return run_help(1, argv + at);
    if (!command) return gf_usage_unknown_command(argc - at, argv + at);
    put_command_first(n_leading, argv + 1, used);
    return run_command(command, argc - 1 - used, argv + 1 + used);
}
