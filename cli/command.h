/**
 * Commands: what the terminal's words mean as operations, and how their rows look.
 *
 * A command has the name of its operation; its options are the operation's parameters (and their
 * help the operation's words), plus a few of its own. Rows come as JSON and are shown by columns,
 * or by a function where an operation gives a single thing.
 */
#ifndef GF_CLI_COMMAND_H
#define GF_CLI_COMMAND_H

#include "api/operation.h"
#include "base/json.h"

typedef struct gf_session gf_session;

/** How a column of a table is written. */
typedef enum gf_column_kind {
    GF_COLUMN_TEXT,
    GF_COLUMN_WORD,    /* one of a few words, never cut */
    GF_COLUMN_PROSE,   /* words, which may take several lines */
    GF_COLUMN_COUNT,   /* whole number, to the right */
    GF_COLUMN_RARE,    /* likewise; nothing where it is 0 */
    GF_COLUMN_ID,      /* likewise, without separators */
    GF_COLUMN_SCORE,   /* three decimals */
    GF_COLUMN_SIGNED,  /* one decimal, with its sign */
    GF_COLUMN_SHARE,   /* per cent */
    GF_COLUMN_SECONDS, /* 1.2 s */
    GF_COLUMN_BYTES,   /* 1229K, 83M: rounded up, as options take them */
    GF_COLUMN_TIME,    /* 2026-11-20 08:00:00, UTC */
    GF_COLUMN_MARK,    /* * where true */
    GF_COLUMN_TERMS,   /* an array of {"term": ...} */
    GF_COLUMN_COUNTS,  /* an array of {"documents": n}: the numbers */
    GF_COLUMN_RAW      /* its JSON */
} gf_column_kind;

typedef struct gf_show_column {
    const char *key;    /* member of the row */
    const char *header; /* in a table; NULL: only in csv and plain */
    gf_column_kind kind;
} gf_show_column;

/** How rows are shown. A table leaves out columns that are empty throughout. */
typedef struct gf_display {
    const gf_show_column *columns; /* n_columns, GF_MOST_COLUMNS at most */
    size_t n_columns;
    bool single;         /* there is one row: JSON is an object, not an array */
    const char *each;    /* csv and plain have a row for each item of this member */
    bool spread;         /* csv has a column for each member of any row, these first */
    const char *page;    /* but as JSON, print the text of this member as it is, and nothing else */
    const char *nothing; /* what a table says where there are no rows */
    void (*show)(gf_session *session, gf_json_value row); /* in a table's place; may be NULL */
    void (*end)(gf_session *session);                     /* behind a table; may be NULL */
} gf_display;

enum { GF_MOST_COLUMNS = 24 };

/** What is shown in place of a command's own rows where an argument is given. */
typedef struct gf_other_display {
    const char *argument;
    gf_display display;
} gf_other_display;

/** An option of the command itself. */
typedef struct gf_own_option {
    const char *name;  /* "rejects", or "o" for -o */
    const char *value; /* what help calls its value; NULL for a flag */
    const char *meaning;
} gf_own_option;

/** A word that is no option. */
typedef struct gf_positional {
    const char *name;     /* as help shows it: "COLLECTION", "FILE..." */
    const char *argument; /* of the operation; NULL: kept for the command's prepare */
    bool optional;
    bool repeats; /* the last may take all words that are left */
} gf_positional;

typedef struct gf_command {
    const char *name;                 /* and its operation's */
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
    /* Of a command that is no operation: what it is called and takes, and what it does. */
    const gf_operation *operation;
    gf_status (*run)(gf_session *session, gf_error *err);
    /* Further work on the arguments before the operation runs; may be NULL. */
    gf_status (*prepare)(gf_session *session, gf_error *err);
} gf_command;

#define GF_COUNT(array)  (sizeof(array) / sizeof((array)[0]))
#define GF_COLUMNS(list) .columns = (list), .n_columns = GF_COUNT(list)

/** One file each. */
extern const gf_command gf_command_init, gf_command_collection_create, gf_command_collection_list,
    gf_command_collection_show, gf_command_collection_delete, gf_command_put, gf_command_delete,
    gf_command_config_set, gf_command_config_show, gf_command_config_list, gf_command_config_delete,
    gf_command_config_keys, gf_command_rebuild, gf_command_builds, gf_command_clusters,
    gf_command_publish, gf_command_pin, gf_command_unpin, gf_command_label, gf_command_cluster,
    gf_command_doc, gf_command_export, gf_command_assign, gf_command_report, gf_command_evaluate,
    gf_command_status, gf_command_upgrade, gf_command_verify, gf_command_version, gf_command_backup,
    gf_command_restore, gf_command_repair, gf_command_diff, gf_command_serve, gf_command_search,
    gf_command_similar, gf_command_table_create, gf_command_table_list, gf_command_table_describe,
    gf_command_table_alter, gf_command_table_drop, gf_command_table_put, gf_command_table_get,
    gf_command_table_scan, gf_command_table_delete, gf_command_table_incr,
    gf_command_table_check_and_put, gf_command_table_batch, gf_command_table_import,
    gf_command_table_export, gf_command_tweets_import, gf_command_tweets_search,
    gf_command_tweets_map, gf_command_tweets_frequency, gf_command_tweets_top,
    gf_command_tweets_highscore, gf_command_papers_import_cdx, gf_command_papers_import_tei,
    gf_command_papers_show, gf_command_papers_list, gf_command_papers_counts,
    gf_command_papers_missing, gf_command_papers_dump, gf_command_papers_extract,
    gf_command_papers_match, gf_command_log_import, gf_command_log_report, gf_command_log_find;

/** How --columns shows the cells of a table, whatever the command. */
extern const gf_display gf_display_of_cells;

/** The i-th command in the order of help, and the heading before it (or NULL); NULL past the last.
 */
const gf_command *gf_command_at(size_t i, const char **heading);

/** Look a command up by its one or two words; *used is how many. NULL where there is none. */
const gf_command *gf_command_find(int n_words, char **words, int *used);

/** Whether the command's name begins with that word and goes on: "table put" is in the group
 * "table". */
bool gf_command_is_in(const gf_command *command, const char *group);

/** The operation that the command runs, or that stands for it. */
const gf_operation *gf_command_operation(const gf_command *command);

/** Whether the command's words, not its options, give the operation's argument of that name. */
bool gf_command_has_word(const gf_command *command, const char *argument);

/** Whether an option of that name is the command's own. */
bool gf_command_has_option(const gf_command *command, const char *name);

#endif
