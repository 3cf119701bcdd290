/**
 * One run of the command: its arguments, the store, what goes to the terminal.
 */
#ifndef GF_CLI_SESSION_H
#define GF_CLI_SESSION_H

#include "base/arena.h"
#include "cli/command.h"
#include "cli/output.h"
#include "sources/files.h"

#include <stdio.h>

enum { GF_MOST_ARGUMENTS = 65536 };

struct gf_session {
    const gf_command *command;
    const gf_operation *operation;
    gf_arena memory; /* of the arguments */

    /* what was said */
    gf_argument *arguments; /* n_arguments: of the operation */
    size_t n_arguments, argument_capacity;
    const char **words; /* n_words: positionals that the command keeps */
    size_t n_words, word_capacity;
    const char *store_path, *name_space, *format, *progress, *out_path, *rejects, *file;
    double wait_seconds;
    bool force_output, help;

    /* while it runs */
    gf_store *store;
    gf_files *files;
    gf_call call;
    gf_output output;
    FILE *out;       /* stdout, or what -o names */
    char *part_path; /* of that, until it is whole */
    FILE *rejects_file;
    uint64_t n_notices;
    double progress_shown;
    bool progress_line; /* a progress line stands on the terminal */
    double started;
};

/** Append an argument of the operation; value is NUL-terminated and lasts. */
gf_status gf_session_add(gf_session *s, const char *name, const char *value, gf_error *err);

/** Take the words of the command line apart. */
gf_status gf_session_parse(gf_session *s, int n_words, char **words, gf_error *err);

/** Run the operation and end; the exit code. */
int gf_session_run(gf_session *s);

/** Take away a line of progress, so that something else can be written. */
void gf_session_clear_line(gf_session *s);

/** Exit codes: docs and help list them. */
enum {
    GF_EXIT_DONE = 0,
    GF_EXIT_ABSENT = 1,
    GF_EXIT_USAGE = 2,
    GF_EXIT_REFUSED = 3,
    GF_EXIT_HELD = 4,
    GF_EXIT_DAMAGE = 5,
    GF_EXIT_DISK = 6,
    GF_EXIT_REBUILD = 7,
    GF_EXIT_STOPPED = 130
};

/** The cancel that signals request. */
extern gf_cancel gf_stop;

/** Say what was wrong with the command line, and how to get help; returns the exit code. */
int gf_usage_error(const gf_command *command, const char *message);

void gf_help(FILE *out);
void gf_help_command(const gf_command *command, FILE *out);

#endif
