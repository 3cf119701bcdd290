/**
 * Input of a command that can be read again from its start, as long as little of it was read: a
 * command that finds the store held once it has read its first record hands the same bytes to the
 * holder. While nothing comes, what was printed is flushed, and a cancel ends the reading, also
 * within a line that does not end.
 */
#ifndef GF_CLI_REWIND_H
#define GF_CLI_REWIND_H

#include "formats/bytes/input.h"
#include "grouperfish/buffer.h"
#include "grouperfish/cancel.h"

#include <stdio.h>

typedef struct gf_rewind {
    gf_input from;
    FILE *out;               /* flushed before waiting; may be NULL */
    const gf_cancel *cancel; /* may be NULL */
    gf_buffer kept;          /* what was read: streams and their bytes, in order */
    size_t at;               /* of kept: the entry to give next; behind the last comes `from` */
    size_t given;            /* bytes of that entry */
    bool keeps;              /* what is read is kept */
    bool too_much;           /* more was read than is kept */
    bool in_folder;
    gf_buffer name;
} gf_rewind;

void gf_rewind_init(gf_rewind *r, gf_input from, FILE *out, const gf_cancel *cancel);
void gf_rewind_release(gf_rewind *r);

/** The input; lasts until release. */
gf_input gf_rewind_input(gf_rewind *r);

/** True while all that was read is kept; only then may it begin again with start. */
bool gf_rewind_can(const gf_rewind *r);
void gf_rewind_start(gf_rewind *r);

/** Keep nothing from now on: it need not begin again. */
void gf_rewind_end(gf_rewind *r);

#endif
