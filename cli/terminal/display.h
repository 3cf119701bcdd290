/**
 * Display of rows: the columns of tables, csv and plain, or functions that print a row.
 */
#ifndef GF_CLI_TERMINAL_DISPLAY_H
#define GF_CLI_TERMINAL_DISPLAY_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

/** Handed on to the functions of a display. */
typedef struct gf_session gf_session;

/** Form of a column in a table. */
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
    GF_COLUMN_OTHERS,  /* documents of a cluster, with its status: 400 others; planned */
    GF_COLUMN_COUNTS,  /* an array of {"documents": n}: the numbers */
    GF_COLUMN_RAW      /* its JSON */
} gf_column_kind;

typedef struct gf_display_column {
    const char *key;    /* member of the row */
    const char *header; /* in a table; NULL: only in csv and plain */
    gf_column_kind kind;
} gf_display_column;

/** Display of rows. A table leaves out columns that are empty throughout. */
typedef struct gf_display {
    const gf_display_column *columns; /* n_columns, GF_DISPLAY_MOST_COLUMNS at most */
    size_t n_columns;
    bool single;        /* one row: JSON is an object, not an array */
    const char *each;   /* csv and plain have a row for each item of this member */
    bool spread;        /* csv has a column for each member of any row, after these */
    const char *listed; /* table and plain have those that this argument lists, behind these */
    const char *usual;  /* with listed: the list where the argument is not given */
    const char *inner;  /* with spread: these, and one for each member of this member of any row, or
                            of several members with | between them */
    const char *page;   /* print only this member's text, as it is; not as JSON */
    bool prints_file;   /* but as JSON, print the file that the operation writes, and no rows */
    bool prints_lines;  /* likewise in any format: the file is JSON Lines */
    bool of_file;       /* as another: also where the command reads a file of its own option */
    const char *nothing; /* text in place of a table without rows */
    /* Prints a row, in place of a table; or NULL. */
    void (*show)(gf_session *session, gf_json_value row);
    /* Prints something after the table; or NULL. */
    void (*end)(gf_session *session);
} gf_display;

enum { GF_DISPLAY_MOST_COLUMNS = 24 };

#define GF_COUNT(array)  (sizeof(array) / sizeof((array)[0]))
#define GF_COLUMNS(list) .columns = (list), .n_columns = GF_COUNT(list)

#endif
