/**
 * The lines of an input: of its files, compressed files and the members of archives. A byte order
 * mark is left out, and so are lines of white space alone.
 *
 * Memory: a line up to the bound, and a few hundred kilobytes.
 * Threads: a reader is for one thread.
 */
#ifndef GF_FORMATS_TEXT_LINES_H
#define GF_FORMATS_TEXT_LINES_H

#include "formats/bytes/decoding.h"
#include "formats/bytes/input.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct gf_lines gf_lines;

/** Everything is borrowed until the next line. */
typedef struct gf_text_line {
    gf_slice source; /* file, or archive and member: "a.zip/b.log" */
    bool first;      /* of its source */
    uint64_t number; /* from 1 in each source */
    gf_slice text;   /* without LF or CR LF; GF_JSON_PADDING bytes behind it may be read */
    bool too_long;   /* over the bound: text is the start of it */
    bool has_end;    /* all but the last of a source do: more may be written behind that one */
} gf_text_line;

/**
 * @param input     copied; its context is borrowed until close
 * @param most      bytes of a line without its end that are read
 * @param decoding  NULL: lines are as they are, but for UTF-16
 * @return GF_OK; GF_EINVAL (an encoding that is not known); GF_ENOMEM. On failure *lines is unchanged.
 */
gf_status gf_lines_open(const gf_input *input, size_t most, const gf_decoding_options *decoding,
                        gf_lines **lines, gf_error *err);
void gf_lines_close(gf_lines *lines);

/**
 * @return GF_OK; GF_ENOTFOUND at the end; GF_EINVAL (no text, or an encoding that is not clear),
 *         GF_ECORRUPT (a damaged archive), the input's failure, GF_ENOMEM: once one of these, the
 *         same again
 */
gf_status gf_lines_next(gf_lines *lines, gf_text_line *line, gf_error *err);

#endif
