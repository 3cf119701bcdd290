/**
 * One run of a command: its arguments, its access to the store, its output.
 */
#ifndef GF_CLI_SESSION_H
#define GF_CLI_SESSION_H

#include "cli/command.h"
#include "cli/out_file.h"
#include "cli/store_access.h"
#include "cli/terminal/member.h"
#include "cli/terminal/meter.h"
#include "cli/terminal/output.h"
#include "cli/terminal/text.h"
#include "formats/sources/source.h"

#include <signal.h>
#include <stdio.h>

/** An option that waits for the command's prepare. */
typedef struct gf_kept_option {
    const char *name, *value;
} gf_kept_option;

struct gf_session {
    const gf_command *command;
    const gf_operation *operation;

    /* From the command line. */
    gf_argument *arguments; /* n_arguments: of the operation */
    size_t n_arguments, argument_capacity;
    const char **words; /* n_words: those that the command keeps for its prepare */
    size_t n_words, word_capacity;
    const char *store_option, *namespace_option, *server_option, *token_option, *format,
        *progress_option, *out_path, *rejects;
    gf_kept_option *kept_options; /* n_kept */
    size_t n_kept, kept_capacity;
    const char *file; /* of an option that the command itself uses, such as --ids FILE */
    double wait_seconds;
    bool read_only;    /* --read-only */
    bool bom;          /* --bom */
    bool no_defuse;    /* --no-defuse */
    bool follow_links; /* --follow-links */
    bool wait_given, force, help;

    /* From the file of options (cli/options_file.h): after the command line and the environment. */
    struct {
        const char *store, *name_space, *server, *token;
    } kept;
    gf_buffer options_text; /* what the values above and arguments of the file point into */

    /* While it runs. */
    const char *store_path, *name_space;
    gf_store_access access;
    gf_buffer token;   /* for the server */
    gf_files *files;   /* of the operation's input */
    gf_source *source; /* in their place */
    gf_call call;
    gf_output output;
    FILE *out; /* stdout, or the file of -o */
    gf_out_file out_file;
    gf_out_file bytes_file; /* of the bytes that the operation writes beside its rows */
    FILE *rejects_file;
    gf_meter meter;
    uint64_t n_notices, n_refused;
    char n_ranks[16]; /* an argument, where mpirun started this process and others */
    gf_buffer text;   /* of a file, as an argument */
    gf_buffer notice; /* the last one, not yet printed: a count may follow it on its line */
};

/** Append an argument of the operation; value is NUL-terminated and lasts. */
gf_status gf_session_add(gf_session *s, const char *name, const char *value, gf_error *err);

/** The argument's last value; empty where it was not given. */
gf_slice gf_session_argument(const gf_session *s, const char *name);

/** True where the argument was given, and is not empty. */
bool gf_session_has(const gf_session *s, const char *name);

/** The value of an option that is kept for the command's prepare, or NULL; of a flag "". */
const char *gf_session_kept(const gf_session *s, const char *name);

/** Take an option by its name; a flag's value is true or false. value lasts (cli/parse.c). */
gf_status gf_session_take_option(gf_session *s, const char *name, const char *value, gf_error *err);

/** Read options and words of the command line (cli/parse.c). */
gf_status gf_session_parse(gf_session *s, int n_words, char **words, gf_error *err);

/** Run the operation and end; the exit code. */
int gf_session_run(gf_session *s);

/**
 * Print a command that may come next: "    grouperfish clusters feedback", with --store and
 * --namespace as they were given; argument may be empty.
 */
void gf_session_suggest(gf_session *s, const char *command, gf_slice argument);

/** Print the items of a row's list as a table. */
void gf_session_table(gf_session *s, const gf_display *display, gf_json_value row,
                      const char *list);

/** Exit codes, which docs/operations.md and gf_help_codes list. */
enum {
    GF_EXIT_DONE = 0,
    GF_EXIT_ABSENT = 1,
    GF_EXIT_USAGE = 2,
    GF_EXIT_REFUSED = 3,
    GF_EXIT_HELD = 4,
    GF_EXIT_DAMAGE = 5,
    GF_EXIT_DISK = 6,
    GF_EXIT_REBUILD = 7,
    GF_EXIT_SIGNAL = 128, /* and the signal's number: */
    GF_EXIT_STOPPED = 130 /* Ctrl-C; 143: SIGTERM */
};

/** Requested by SIGINT and SIGTERM; and which of them it was, or 0. */
extern gf_cancel gf_session_stop;
extern volatile sig_atomic_t gf_session_signal;

/** Print a mistake in the command line and how to get help; returns the exit code. */
int gf_usage_error(const gf_command *command, const char *message);

/** Print that there is no such command, and the nearest one; returns the exit code. */
int gf_usage_unknown_command(int n_words, char **words);

/** Text of help that manual pages have too: what Grouperfish does, and its first commands. */
extern const char gf_help_summary[], gf_help_first_commands[];

/** Meaning of the word "--". */
extern const char gf_help_dashes[];

/** Meaning of an exit code, NULL behind the last of them. */
typedef struct gf_help_code {
    int code;
    const char *meaning;
} gf_help_code;
extern const gf_help_code gf_help_codes[];

void gf_help(FILE *out);
/** The commands of a group, such as table; false, and nothing, where there is no such group. */
bool gf_help_group(const char *group, FILE *out);
void gf_help_command(const gf_command *command, FILE *out);

#endif
