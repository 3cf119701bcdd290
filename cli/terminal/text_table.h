/**
 * A table: columns as wide as their content, and cut or folded to the terminal's width.
 *
 *     id  documents   share  label           terms
 *      1      2,066  16.7 %  edu             edu, science, culture, ...
 *
 * The first thousand rows are kept until the columns' widths are known; those that follow are
 * printed as they come. Where there is no room texts are cut, then the last columns are left
 * out.
 */
#ifndef GF_CLI_TERMINAL_TEXT_TABLE_H
#define GF_CLI_TERMINAL_TEXT_TABLE_H

#include "base/arena.h"
#include "cli/terminal/display.h"

#include <stdio.h>

typedef struct gf_text_table {
    const gf_display *display;
    FILE *out;
    unsigned width; /* columns of the terminal; 0: no limit */
    gf_arena memory;
    gf_slice *cells; /* n_kept rows of display->n_columns */
    size_t n_kept, capacity;
    bool begun;                               /* the widths are known, and the header is printed */
    unsigned widths[GF_DISPLAY_MOST_COLUMNS]; /* 0: empty, or no room for it */
    bool no_room[GF_DISPLAY_MOST_COLUMNS];
    gf_buffer cell, folded;
} gf_text_table;

void gf_text_table_init(gf_text_table *t, const gf_display *display, FILE *out, unsigned width);
void gf_text_table_release(gf_text_table *t);

gf_status gf_text_table_row(gf_text_table *t, gf_json_value row, gf_error *err);

/** Print the kept rows, or that there are none. */
void gf_text_table_end(gf_text_table *t);

#endif
