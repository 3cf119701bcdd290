/**
 * Members of rows: a missing one reads as empty, 0, or false.
 */
#ifndef GF_CLI_TERMINAL_MEMBER_H
#define GF_CLI_TERMINAL_MEMBER_H

#include "cli/terminal/display.h"

#include <stdio.h>

gf_slice gf_member_text(gf_json_value row, const char *key);
double gf_member_number(gf_json_value row, const char *key);
bool gf_member_flag(gf_json_value row, const char *key);

/**
 * Append a member in its column's kind: as a table shows it, or exactly, as csv and plain do.
 */
void gf_member_write(gf_buffer *b, gf_json_value row, const gf_display_column *column,
                     bool readable);

/** Print a value folded and cut: a string as it is, anything else as JSON. */
void gf_member_print_value(FILE *out, gf_json_value value, unsigned width);

/** Print "documents    12,340" as one line; the column's header names it. */
void gf_member_show(FILE *out, gf_json_value row, const gf_display_column *column, unsigned width);

/** Calls `show` for each item of a list. */
typedef void gf_member_item(gf_session *session, gf_json_value item);
void gf_member_each(gf_session *session, gf_json_value row, const char *key, gf_member_item *show);

/** Print " of feedback"; for a row of a namespace's defaults " of namespace default". */
void gf_member_print_owner(FILE *out, gf_json_value row);

#endif
