/**
 * Text for people: texts of documents, files and arguments must neither break a table nor reach the
 * terminal as a command to it.
 */
#ifndef GF_CLI_TERMINAL_TEXT_H
#define GF_CLI_TERMINAL_TEXT_H

#include "grouperfish/buffer.h"

#include <stdio.h>

/** Columns of the terminal that the stream goes to; 0 where it goes elsewhere. */
unsigned gf_text_terminal_width(FILE *stream);

/** Columns that text takes on a terminal. */
unsigned gf_text_width(gf_slice text);

/**
 * Append text on one line: white space folded, and spaces for control characters and for marks that
 * turn the direction of writing. Bytes that are no UTF-8 become U+FFFD.
 */
void gf_text_fold(gf_buffer *out, gf_slice text);

/** Cut b to so many columns, with an ellipsis where something is lost; 0 leaves it whole. */
void gf_text_cut(gf_buffer *b, unsigned width);

/** Cut the words that fit in so many columns off *rest, at least one character. */
gf_slice gf_text_take_line(gf_slice *rest, unsigned width);

/** Print text folded and cut. */
void gf_text_print(FILE *out, gf_slice text, unsigned width);

/** Print text folded, on lines of so many columns; at most `most` columns in all. */
void gf_text_print_prose(FILE *out, gf_slice text, unsigned most, unsigned width);

/** Print "1 document" or "2,000 documents". */
void gf_text_print_count(FILE *out, double n, const char *thing);

/** Print a word for a shell, in quotes where it needs them. */
void gf_text_print_word(FILE *out, const char *word);

#endif
