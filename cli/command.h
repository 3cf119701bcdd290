/**
 * Commands: the words and options that an operation has on the command line, and its display.
 *
 * A command has the name of its operation; its options are the operation's parameters (and their
 * help the operation's words), plus a few of its own. Rows come as JSON and are shown by columns,
 * or by a function where an operation gives a single thing.
 */
#ifndef GF_CLI_COMMAND_H
#define GF_CLI_COMMAND_H

#include "api/operation.h"
#include "cli/terminal/display.h"

/** Display in place of a command's own one where an argument is given. */
typedef struct gf_other_display {
    const char *argument;
    gf_display display;
} gf_other_display;

/** Use that the command itself makes of an option. */
typedef enum gf_option_use {
    GF_OPTION_GLOBAL,   /* of every command */
    GF_OPTION_OUT,      /* -o: the file for the rows */
    GF_OPTION_FORCE,    /* replace that file */
    GF_OPTION_REJECTS,  /* the file for refused records */
    GF_OPTION_PROGRESS, /* auto, none or jsonl */
    GF_OPTION_LINKS,    /* links out of folders are read */
    GF_OPTION_FILE,     /* a file that the command reads or writes; session->file */
    GF_OPTION_KEPT      /* of the command's prepare: gf_session_kept */
} gf_option_use;

/** An option of the command itself. */
typedef struct gf_own_option {
    const char *name;  /* "rejects", or "o" for -o */
    const char *value; /* as help shows it; NULL for a flag */
    const char *meaning;
    gf_option_use use;
} gf_own_option;

/** A word that is no option. */
typedef struct gf_positional {
    const char *name;     /* as help shows it: "COLLECTION", "FILE..." */
    const char *argument; /* of the operation; NULL: kept for the command's prepare */
    bool optional;
    bool repeats; /* the last one may take all words that are left */
    bool path;    /* of a file or folder */
} gf_positional;

/** A command is data; only those that print or check in their own way have functions. */
typedef struct gf_command {
    const char *name;                 /* also the operation's */
    const char *examples;             /* lines; shown first by help */
    const char *notes;                /* lines, or NULL */
    const gf_positional *positionals; /* n_positionals */
    size_t n_positionals;
    const gf_own_option *options; /* n_options */
    size_t n_options;
    gf_display display;
    const gf_other_display *others; /* n_others: the first whose argument is given counts */
    size_t n_others;
    bool streams_jsonl; /* JSON Lines, where the output is no terminal */
    bool answers;       /* it may hold the store for long, and answers others meanwhile */
    bool shows_made;    /* its row says that a store was made; else standard error does */
    /* A command that runs no operation describes its parameters here, and does its work in run. */
    const gf_operation *operation;
    gf_status (*run)(gf_session *session, gf_error *err);
    bool runs_operations; /* that work is of operations: --server and --read-only are for it */
    /* In place of the operation where a server is asked; NULL: the server runs the operation. */
    gf_status (*run_on_server)(gf_session *session, gf_error *err);
    /* Further work on the arguments before the operation runs; may be NULL. */
    gf_status (*prepare)(gf_session *session, gf_error *err);
} gf_command;

/** The commands of one noun, in the order of help. */
typedef struct gf_commands {
    const char *heading; /* NULL: they belong to the heading before */
    const gf_command *const *list;
    size_t n;
} gf_commands;

#define GF_WORDS(list)   .positionals = (list), .n_positionals = GF_COUNT(list)
#define GF_OPTIONS(list) .options = (list), .n_options = GF_COUNT(list)
#define GF_OTHERS(list)  .others = (list), .n_others = GF_COUNT(list)

/** The members `list` and `n` of gf_commands: GF_LIST(&put_command, &delete_command). */
#define GF_LIST(...)                                                                               \
    .list = (const gf_command *const[]){__VA_ARGS__},                                              \
    .n = GF_COUNT(((const gf_command *const[]){__VA_ARGS__}))

/** One file of cli/commands/ each. */
extern const gf_commands gf_commands_documents, gf_commands_collections, gf_commands_clusterings,
    gf_commands_edits, gf_commands_watches, gf_commands_configurations, gf_commands_tables,
    gf_commands_tweets, gf_commands_papers, gf_commands_logs, gf_commands_store, gf_commands_serve,
    gf_commands_mcp, gf_commands_generate;

/** Display of cells, which every command has with --columns. */
extern const gf_display gf_command_cells_display;

/** Options of every command. */
enum { GF_COMMAND_GLOBAL_OPTIONS = 10 };
extern const gf_own_option gf_command_global_options[GF_COMMAND_GLOBAL_OPTIONS];

/** A place in the list of commands; {0} is before the first. */
typedef struct gf_command_cursor {
    size_t noun, at;
} gf_command_cursor;

/**
 * The next command in the order of help, and the heading before it (or NULL); NULL past the last.
 * A command whose operation is not built in is not listed.
 */
const gf_command *gf_command_next(gf_command_cursor *cursor, const char **heading);

/** Look a command up by its one or two words; *used is how many. NULL where there is none. */
const gf_command *gf_command_find(int n_words, const char *const *words, int *used);

/** Length of the group's name, "table" of "table put"; 0 for a command of one word. */
size_t gf_command_group(const gf_command *command);

/** Is the command in that group, as "table put" is in "table"? */
bool gf_command_is_in(const gf_command *command, const char *group);

/** The command that makes a store for the data of this one's group, such as put. */
const gf_command *gf_command_maker(const gf_command *command);

/** The operation that the command runs, or that describes its parameters. */
const gf_operation *gf_command_operation(const gf_command *command);

/** Do the command's words, not its options, give the operation's argument of that name? */
bool gf_command_has_word(const gf_command *command, const char *argument);

/** An option as the command line takes it: the command's own, or a parameter of its operation. */
typedef struct gf_option {
    const char *name, *value; /* value: as help shows it; NULL for a flag */
    const char *meaning;
    const gf_own_option *own;      /* one of these two, */
    const gf_parameter *parameter; /* the other is NULL */
} gf_option;

/**
 * The i-th option of a command: the global ones, its own, the operation's, in this order.
 * Parameters that words give, and those that an option of the command's own or a global one hides,
 * are left out.
 */
bool gf_command_option(const gf_command *command, size_t i, gf_option *option);

/** The command's own option of that name, or NULL. */
const gf_own_option *gf_command_own_option(const gf_command *command, const char *name);

#endif
