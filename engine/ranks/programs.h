/**
 * The programs that ranks are started by and are, and starting one.
 *
 * GROUPERFISH_RANK names another program than the grouperfish-rank that lies beside this one or is
 * in the path; GROUPERFISH_MPIRUN another mpirun.
 */
#ifndef GF_ENGINE_RANKS_PROGRAMS_H
#define GF_ENGINE_RANKS_PROGRAMS_H

#include "grouperfish/buffer.h"

#include <sys/types.h>

enum { GF_RANKS_WORDS = 32 };

/** A command line: the program's path, then its arguments; what words point to is another's. */
typedef struct gf_ranks_words {
    char *words[GF_RANKS_WORDS + 1];
    size_t n;
} gf_ranks_words;

/** Path of mpirun; GF_EINVAL says what is missing. */
gf_status gf_ranks_programs_mpirun(gf_buffer *out, gf_error *err);

/** Likewise of grouperfish-rank. */
gf_status gf_ranks_programs_rank(gf_buffer *out, gf_error *err);

void gf_ranks_programs_add(gf_ranks_words *c, const char *word);

/**
 * Start it, in a group of processes of its own, so that a terminal's Ctrl-C is ours to pass on.
 *
 * @param in    its standard input; -1: nothing
 * @param said  a file for its output and errors
 * @return 0, or the errno of why not
 */
int gf_ranks_programs_spawn(gf_ranks_words *c, int in, int said, pid_t *process);

#endif
