/**
 * Manual pages and completions, made from the tables of commands and operations.
 */
#ifndef GF_CLI_GENERATE_H
#define GF_CLI_GENERATE_H

#include "cli/command.h"

#include <stdio.h>

/** The manual page of a command, or of the program where command is NULL; date as YYYY-MM-DD. */
void gf_generate_man(FILE *out, const gf_command *command, const char *date);

/** The same in Markdown, for a folder beside operations.md, as the documentation's site has it. */
void gf_generate_markdown(FILE *out, const gf_command *command);

/** Completion scripts. */
void gf_generate_bash(FILE *out);
void gf_generate_zsh(FILE *out);
void gf_generate_fish(FILE *out);

/* ---- for these five -------------------------------------------------------------------------- */

/** Values that an option or a word takes. */
typedef enum gf_generate_kind {
    GF_GENERATE_FLAG, /* none */
    GF_GENERATE_TEXT,
    GF_GENERATE_CHOICE,
    GF_GENERATE_FILE,
    GF_GENERATE_FOLDER
} gf_generate_kind;

typedef struct gf_generate_value {
    gf_generate_kind kind;
    const char *choices; /* of a choice: "csv|json" */
    bool repeats;
} gf_generate_value;

gf_generate_value gf_generate_value_of_option(const gf_option *option);
gf_generate_value gf_generate_value_of_word(const gf_command *command, const gf_positional *word);

/** Print "csv|json" with other separators: "csv json". */
void gf_generate_choices(FILE *out, const char *choices, char separator);

/** Print a text with a backslash before each of some characters, and quotes as a shell has them. */
void gf_generate_quoted(FILE *out, const char *text, const char *escaped, const char *quote);

/** The commands one after the other, with their groups, whose commands need not be neighbours. */
typedef struct gf_generate_cursor {
    gf_command_cursor cursor;
    const gf_command *command;
    const char *second; /* word of the name; NULL where it is one word */
    int first_length;   /* bytes of the first word */
    bool begins;        /* it is the first of its first word, which may be a command itself (doc) */
    bool begins_group;  /* it is the first of two words of its first word */
} gf_generate_cursor;

/** False past the last. Begin with {0}. */
bool gf_generate_next(gf_generate_cursor *cursor);

/** Whether a command is of two words, the first of which is the group's. */
bool gf_generate_is_of(const gf_generate_cursor *command, const gf_generate_cursor *group);

/** Print the first words that groups have: "table|config". */
void gf_generate_groups(FILE *out);

#endif
